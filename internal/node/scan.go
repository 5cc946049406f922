package node

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
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

// plainRun returns the offset of the first byte from i on that is not of class 0. It
// looks at eight bytes at once: the lowest of the high bits that are left marks it,
// for a borrow reaches only bytes above one that is marked.
func plainRun(s string, i int) int {
	for i+8 <= len(s) {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		m := (w - ones*0x20) | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones) | w
		if m &= highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	for i < len(s) && class[s[i]] == 0 {
		i++
	}
	return i
}

// str reads the string whose opening quote is at i. It stores where the decoded
// text stands, and sets flag on the node if writing it needs escapes.
func (p *parser) str(i int, at ID, text *span, flag flags) int {
	start := i + 1
	s := p.src
	i = plainRun(s, start)
	if i < len(s) && s[i] == '"' {
		*text = span{uint32(start), uint32(i - start)}
		return i + 1
	}
	for i < len(s) && class[s[i]] == 2 {
		i = plainRun(s, i+1)
	}
	switch {
	case i >= len(s):
		return p.fail(start-1, at, ErrSyntax, "string without an end")
	case s[i] == '\\':
		return p.escaped(i, at, start, text, flag)
	case s[i] != '"':
		return p.fail(i, at, ErrSyntax, "control character in a string")
	}
	if !utf8.ValidString(s[start:i]) {
		return p.fail(start, at, ErrSyntax, "string is not valid UTF-8")
	}
	*text = span{uint32(start), uint32(i - start)}
	return i + 1
}

// escaped goes on with a string that began at start and has its first backslash at
// i, decoding it into extra.
func (p *parser) escaped(i int, at ID, start int, text *span, flag flags) int {
	s := p.src
	off := len(p.extra)
	if cap(p.extra) == 0 {
		p.extra = make([]byte, 0, min(len(s)-start, 4096))
	}
	p.extra = append(p.extra, s[start:i]...)
	for {
		if i+1 < len(s) && s[i] == '\\' {
			if c := unescape[s[i+1]]; c != 0 {
				p.extra = append(p.extra, c)
				i += 2
			} else if i = p.unicode(i, at); i == bad {
				return bad
			}
		}
		from := i
		for i = plainRun(s, i); i < len(s) && class[s[i]] == 2; {
			i = plainRun(s, i+1)
		}
		p.extra = append(p.extra, s[from:i]...)
		switch {
		case i >= len(s) || i+1 == len(s) && s[i] == '\\':
			return p.fail(start-1, at, ErrSyntax, "string without an end")
		case s[i] == '"':
			out := p.extra[off:]
			if !utf8.Valid(out) {
				return p.fail(start, at, ErrSyntax, "string is not valid UTF-8")
			}
			*text = span{uint32(len(s) + off), uint32(len(out))}
			if needsEscape(out) {
				p.nodes[at].flags |= flag
			}
			return i + 1
		case s[i] != '\\':
			return p.fail(i, at, ErrSyntax, "control character in a string")
		}
	}
}

// unescape has what the letter of a simple escape stands for, and 0 for others.
var unescape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicode decodes the escape \uXXXX at i, or two that are a surrogate pair.
func (p *parser) unicode(i int, at ID) int {
	if p.src[i+1] != 'u' {
		return p.fail(i, at, ErrSyntax, "unknown escape in a string")
	}
	r := hex4(p.src, i+2)
	if r < 0 {
		return p.fail(i, at, ErrSyntax, "want four hexadecimal digits after \\u")
	}
	i += 6
	if utf16.IsSurrogate(r) {
		low := rune(-1)
		if i+1 < len(p.src) && p.src[i] == '\\' && p.src[i+1] == 'u' {
			low = hex4(p.src, i+2)
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return p.fail(i-6, at, ErrSyntax, "unpaired surrogate in a string")
		}
		i += 6
	}
	p.extra = utf8.AppendRune(p.extra, r)
	return i
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
