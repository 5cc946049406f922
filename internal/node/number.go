package node

import "strings"

// decimal is a JSON number in scientific form: 0.d₁d₂…dₙ × 10^exp, without
// leading or trailing zero digits. The digits are those of lead followed by
// those of tail, where they lie in the text, so that taking a number apart
// allocates nothing. Zero has no digits.
type decimal struct {
	neg        bool
	lead, tail string // integer and fraction digits, trimmed
	exp        int64
}

// maxExp bounds exponents far beyond any document's use; larger ones saturate.
const maxExp = int64(1) << 60

func parseDecimal(s string) decimal {
	var d decimal
	if s[0] == '-' {
		d.neg, s = true, s[1:]
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		d.exp, s = parseExp(s[i+1:]), s[:i]
	}
	d.lead = s
	if i := strings.IndexByte(s, '.'); i >= 0 {
		d.lead, d.tail = s[:i], strings.TrimRight(s[i+1:], "0")
	}
	d.lead = strings.TrimLeft(d.lead, "0")
	d.exp += int64(len(d.lead))
	if d.lead == "" {
		n := len(d.tail)
		d.tail = strings.TrimLeft(d.tail, "0")
		d.exp -= int64(n - len(d.tail))
	}
	if d.tail == "" {
		d.lead = strings.TrimRight(d.lead, "0")
	}
	if d.lead == "" && d.tail == "" {
		return decimal{} // 0, -0 and 0e9 are one number
	}
	return d
}

func parseExp(s string) int64 {
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	var n int64
	for i := range len(s) {
		if n = n*10 + int64(s[i]-'0'); n > maxExp {
			n = maxExp
		}
	}
	if neg {
		return -n
	}
	return n
}

func (d decimal) len() int { return len(d.lead) + len(d.tail) }

func (d decimal) digit(i int) byte {
	if i < len(d.lead) {
		return d.lead[i]
	}
	return d.tail[i-len(d.lead)]
}

// NumberEqual reports whether two JSON numbers are the same decimal: 1, 1.0 and
// 1e0 are; 9007199254740992 and 9007199254740993 are not. O(length), no
// allocation.
func NumberEqual(a, b string) bool {
	if a == b {
		return true
	}
	x, y := parseDecimal(a), parseDecimal(b)
	if x.neg != y.neg || x.exp != y.exp || x.len() != y.len() {
		return false
	}
	for i := range x.len() {
		if x.digit(i) != y.digit(i) {
			return false
		}
	}
	return true
}

// AppendNumberKey appends a text that two JSON numbers share exactly if they are
// equal.
func AppendNumberKey(dst []byte, s string) []byte {
	d := parseDecimal(s)
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(dst, d.lead...)
	dst = append(dst, d.tail...)
	dst = append(dst, 'e')
	for e := uint64(d.exp); e > 0; e >>= 7 {
		dst = append(dst, byte(e&0x7f))
	}
	return dst
}
