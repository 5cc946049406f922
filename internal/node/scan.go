package node

import (
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// number reads a number (RFC 8259, section 6) at i.
func (p *parser) number(start int, id ID) int {
	s, i := p.src, start
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case i < len(s) && '1' <= s[i] && s[i] <= '9':
		i = digits(s, i)
	default:
		return p.fail(start, id, ErrSyntax, "want a value%s", p.got(start))
	}
	if i < len(s) && s[i] == '.' {
		j := digits(s, i+1)
		if j == i+1 {
			return p.fail(j, id, ErrSyntax, "want a digit after the decimal point")
		}
		i = j
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		j := digits(s, i)
		if j == i {
			return p.fail(j, id, ErrSyntax, "want a digit in the exponent")
		}
		i = j
	}
	p.nodes[id].val = span{uint32(start), uint32(i - start)}
	return i
}

func digits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// class sorts the bytes of a string: 0 goes on, 1 ends a plain run, 2 begins a
// character that is not ASCII.
var class = func() (c [256]uint8) {
	for i := range 0x20 {
		c[i] = 1
	}
	c['"'], c['\\'] = 1, 1
	for i := 0x80; i < 0x100; i++ {
		c[i] = 2
	}
	return
}()

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// word returns the eight bytes of s from i on, the first one lowest.
func word(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// odd marks the bytes of a word that are not of class 0 by their high bits. Only the
// lowest mark is certain, for a borrow can reach bytes above one that is marked.
func odd(w uint64) uint64 {
	return ((w - ones*0x20) | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones) | w) & highs
}

// lowest returns which byte has the lowest mark, or 8 if there is none.
func lowest(marks uint64) int { return bits.TrailingZeros64(marks) / 8 }

// plainRun returns the offset of the first byte from i on that is not of class 0.
func plainRun(s string, i int) int {
	for i+8 <= len(s) {
		if n := lowest(odd(word(s, i))); n < 8 {
			return i + n
		}
		i += 8
	}
	for i < len(s) && class[s[i]] == 0 {
		i++
	}
	return i
}

// key reads the string whose opening quote is at i into the key of node id,
// decoded, and returns its Prefix too.
func (p *parser) key(i int, id ID) (int, uint64) {
	s, start := p.src, i+1
	if start+8 > len(s) {
		return p.oddKey(plainRun(s, start), id, start)
	}
	w := word(s, start)
	plain, prefix := lowest(odd(w)), bits.ReverseBytes64(w)
	if plain < 8 {
		prefix &= ^uint64(0) << (64 - 8*plain)
		i = start + plain
	} else {
		i = plainRun(s, start+8)
	}
	if at(s, i) != '"' {
		return p.oddKey(i, id, start)
	}
	n := &p.nodes[id]
	n.key, n.prefix = span{uint32(start), uint32(i - start)}, prefix
	return i + 1, prefix
}

func (p *parser) oddKey(i int, id ID, start int) (int, uint64) {
	i = p.oddStr(i, id, start, true)
	return i, p.nodes[id].prefix
}

// str reads the string whose opening quote is at i into the text of node id. One
// with escapes is left as it is until somebody asks.
func (p *parser) str(i int, id ID) int {
	s, start := p.src, i+1
	i = plainRun(s, start)
	if at(s, i) != '"' {
		return p.oddStr(i, id, start, false)
	}
	p.nodes[id].val = span{uint32(start), uint32(i - start)}
	return i + 1
}

// oddStr goes on with a string that began at start and has at i its first byte that
// is not plain.
func (p *parser) oddStr(i int, at ID, start int, key bool) int {
	s := p.src
	raw, wide, loose := false, false, false
	for {
		i = simple(s, i, &raw, &wide)
		if i >= len(s) || s[i] == '"' {
			break
		}
		if s[i] != '\\' {
			return p.fail(i, p.holder(at, key), ErrSyntax, "control character in a string")
		}
		raw, loose = true, true
		if i = p.unicode(i, p.holder(at, key)); i == bad {
			return bad
		}
	}
	if i >= len(s) {
		return p.fail(start-1, p.holder(at, key), ErrSyntax, "string without an end")
	}
	if wide && !utf8.ValidString(s[start:i]) {
		return p.fail(start, p.holder(at, key), ErrSyntax, "string is not valid UTF-8")
	}
	if loose {
		p.loose++
	}
	n := &p.nodes[at]
	text := span{uint32(start), uint32(i - start)}
	switch {
	case !key:
		n.val = text
		if raw {
			n.flags |= rawText
		}
		if raw && !loose {
			n.flags |= canon
		}
	case !raw:
		n.key, n.prefix = text, prefixAt(s, start, i-start)
	default:
		from := len(p.extra)
		p.extra = appendDecoded(p.extra, s[start:i])
		n.key = span{uint32(len(s) + from), uint32(len(p.extra) - from)}
		decoded := p.keyOf(at)
		n.prefix = Prefix(decoded)
		if needsEscape(decoded) {
			n.flags |= escKey
		}
	}
	return i + 1
}

// simple goes over plain bytes, the escapes of one letter that canonical JSON has and,
// unchecked, what is not ASCII. It stops at the first other byte from i on and says what it met.
func simple(s string, i int, raw, wide *bool) int {
	for i+9 <= len(s) {
		n := 8
		for marks := odd(word(s, i)); marks != 0; {
			k := lowest(marks)
			switch c := s[i+k]; {
			case class[c] == 0:
			case class[c] == 2:
				*wide = true
			case c == '\\' && short[s[i+k+1]]:
				*raw = true
				marks &^= highs & (0xffff << (8 * k)) // an escaped quote does not count
				n = max(n, k+2)
				continue
			default:
				return i + k
			}
			marks &= marks - 1
		}
		i += n
	}
	for i < len(s) {
		switch c := s[i]; {
		case class[c] == 0:
		case class[c] == 2:
			*wide = true
		case c == '\\' && i+1 < len(s) && short[s[i+1]]:
			*raw = true
			i++
		default:
			return i
		}
		i++
	}
	return i
}

// holder returns the node whose path an error in a string has: a field without a
// good key has none.
func (p *parser) holder(at ID, key bool) ID {
	if key {
		return p.nodes[at].parent
	}
	return at
}

// unescape has what the letter of a simple escape stands for, and 0 for others.
var unescape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// short has the letters that canonical JSON writes after a backslash: none for '/'.
var short = func() (ok [256]bool) {
	for c, letter := range unescape {
		ok[c] = letter != 0 && c != '/'
	}
	return
}()

// unicode checks the escape \uXXXX at i, two that are a surrogate pair, or \/.
func (p *parser) unicode(i int, at ID) int {
	s := p.src
	if i+1 >= len(s) {
		return p.fail(i, at, ErrSyntax, "string without an end")
	}
	if s[i+1] == '/' {
		return i + 2
	}
	if s[i+1] != 'u' {
		return p.fail(i, at, ErrSyntax, "unknown escape in a string")
	}
	r := hex4(s, i+2)
	if r < 0 {
		return p.fail(i, at, ErrSyntax, "want four hexadecimal digits after \\u")
	}
	if !utf16.IsSurrogate(r) {
		return i + 6
	}
	if i+7 >= len(s) || s[i+6] != '\\' || s[i+7] != 'u' || utf16.DecodeRune(r, hex4(s, i+8)) == utf8.RuneError {
		return p.fail(i, at, ErrSyntax, "unpaired surrogate in a string")
	}
	return i + 12
}

// decode returns the text of a string that was checked by str.
func decode(s string) string {
	out := appendDecoded(make([]byte, 0, len(s)), s)
	return unsafe.String(unsafe.SliceData(out), len(out))
}

func appendDecoded(dst []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		if s[i+1] != 'u' {
			dst = append(dst, unescape[s[i+1]])
			s = s[i+2:]
			continue
		}
		r := hex4(s, i+2)
		i += 6
		if utf16.IsSurrogate(r) {
			r = utf16.DecodeRune(r, hex4(s, i+2))
			i += 6
		}
		dst = utf8.AppendRune(dst, r)
		s = s[i:]
	}
}

// hex4 returns the value of the four hexadecimal digits at i, or -1.
func hex4(s string, i int) rune {
	if i+4 > len(s) {
		return -1
	}
	var r rune
	for _, c := range []byte(s[i : i+4]) {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}
