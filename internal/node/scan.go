package node

import (
	"unicode/utf16"
	"unicode/utf8"
)

// number reads a number (RFC 8259, section 6) at pos.
func (p *parser) number(id ID) bool {
	s, i := p.src, p.pos
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case i < len(s) && '1' <= s[i] && s[i] <= '9':
		i = digits(s, i)
	default:
		return p.fail(p.pos, id, ErrSyntax, "want a value%s", p.got())
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
	p.nodes[id].val = span{uint32(p.pos), uint32(i - p.pos)}
	p.pos = i
	return true
}

func digits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// class sorts the bytes of a string: 0 goes on, the others need a look.
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

// str reads the string whose opening quote is at pos. It returns where the
// decoded text stands and whether writing it needs escapes.
func (p *parser) str(at ID) (text span, esc, ok bool) {
	start := p.pos + 1
	s, i := p.src, start
	wide := false
	for {
		for i < len(s) && class[s[i]] == 0 {
			i++
		}
		if i < len(s) && class[s[i]] == 2 {
			wide = true
			i++
			continue
		}
		break
	}
	switch {
	case i >= len(s):
		return span{}, false, p.fail(p.pos, at, ErrSyntax, "string without an end")
	case s[i] == '\\':
		return p.escaped(at, start, i)
	case s[i] != '"':
		return span{}, false, p.fail(i, at, ErrSyntax, "control character in a string")
	}
	if wide && !utf8.ValidString(s[start:i]) {
		return span{}, false, p.fail(start, at, ErrSyntax, "string is not valid UTF-8")
	}
	p.pos = i + 1
	return span{uint32(start), uint32(i - start)}, false, true
}

// escaped goes on with a string whose first backslash is at i, decoding it into
// extra.
func (p *parser) escaped(at ID, start, i int) (text span, esc, ok bool) {
	s := p.src
	off := len(p.extra)
	if cap(p.extra) == 0 {
		p.extra = make([]byte, 0, min(len(s)-start, 4096))
	}
	p.extra = append(p.extra, s[start:i]...)
	for {
		from := i
		for i < len(s) && class[s[i]] != 1 {
			i++
		}
		p.extra = append(p.extra, s[from:i]...)
		switch {
		case i >= len(s):
			return span{}, false, p.fail(start-1, at, ErrSyntax, "string without an end")
		case s[i] == '"':
			out := p.extra[off:]
			if !utf8.Valid(out) {
				return span{}, false, p.fail(start, at, ErrSyntax, "string is not valid UTF-8")
			}
			p.pos = i + 1
			return span{uint32(len(s) + off), uint32(len(out))}, needsEscape(out), true
		case s[i] != '\\':
			return span{}, false, p.fail(i, at, ErrSyntax, "control character in a string")
		}
		if i = p.escape(at, i); i < 0 {
			return span{}, false, false
		}
	}
}

// escape decodes the escape at i and returns where it ends, or -1.
func (p *parser) escape(at ID, i int) int {
	s := p.src
	if i+1 >= len(s) {
		p.fail(i, at, ErrSyntax, "string without an end")
		return -1
	}
	switch c := s[i+1]; c {
	case '"', '\\', '/':
		p.extra = append(p.extra, c)
	case 'b':
		p.extra = append(p.extra, '\b')
	case 'f':
		p.extra = append(p.extra, '\f')
	case 'n':
		p.extra = append(p.extra, '\n')
	case 'r':
		p.extra = append(p.extra, '\r')
	case 't':
		p.extra = append(p.extra, '\t')
	case 'u':
		return p.unicode(at, i)
	default:
		p.fail(i, at, ErrSyntax, "unknown escape in a string")
		return -1
	}
	return i + 2
}

func (p *parser) unicode(at ID, i int) int {
	r := hex4(p.src, i+2)
	if r < 0 {
		p.fail(i, at, ErrSyntax, "want four hexadecimal digits after \\u")
		return -1
	}
	i += 6
	if utf16.IsSurrogate(r) {
		low := rune(-1)
		if i+1 < len(p.src) && p.src[i] == '\\' && p.src[i+1] == 'u' {
			low = hex4(p.src, i+2)
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			p.fail(i-6, at, ErrSyntax, "unpaired surrogate in a string")
			return -1
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
