package node

import (
	"strconv"
	"strings"
)

// decimal is a JSON number in scientific form: 0.d₁d₂…dₙ × 10^exp, without
// leading or trailing zero digits. The digits are those of lead followed by
// those of tail, where they lie in the text, so that taking a number apart
// allocates nothing. Zero has no digits.
type decimal struct {
	neg        bool
	lead, tail string // integer and fraction digits, trimmed
	exp        int64
	huge       string // the exponent's digits where it passes maxExp; exp goes on top
	hugeNeg    bool
}

// maxExp bounds exponents that are counted with. Those far beyond any document's use
// are compared by their text.
const maxExp = int64(1) << 60

func parseDecimal(s string) decimal {
	var d decimal
	if s[0] == '-' {
		d.neg, s = true, s[1:]
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		d.exp, d.huge, d.hugeNeg = parseExp(s[i+1:])
		s = s[:i]
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

// parseExp reads an exponent, or returns its digits if it passes maxExp.
func parseExp(s string) (exp int64, huge string, neg bool) {
	neg = s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	s = strings.TrimLeft(s, "0")
	for i := range len(s) {
		if exp = exp*10 + int64(s[i]-'0'); exp > maxExp {
			return 0, s, neg
		}
	}
	if neg {
		exp = -exp
	}
	return exp, "", false
}

func (d decimal) len() int { return len(d.lead) + len(d.tail) }

func (d decimal) digit(i int) byte {
	if i < len(d.lead) {
		return d.lead[i]
	}
	return d.tail[i-len(d.lead)]
}

// NumberEqual reports whether two JSON numbers are the same decimal: 1, 1.0 and
// 1e0 are; 9007199254740992 and 9007199254740993 are not. Exponents beyond 10^18 are
// taken as they are written: 1e(10^20) is not known to be 10e(10^20-1). O(length),
// no allocation.
func NumberEqual(a, b string) bool {
	if a == b {
		return true
	}
	x, y := parseDecimal(a), parseDecimal(b)
	if x.neg != y.neg || x.exp != y.exp || x.huge != y.huge || x.hugeNeg != y.hugeNeg || x.len() != y.len() {
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
// equal: digits, signs and the letter e. O(length).
func AppendNumberKey(dst []byte, s string) []byte {
	d := parseDecimal(s)
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(dst, d.lead...)
	dst = append(dst, d.tail...)
	dst = strconv.AppendInt(append(dst, 'e'), d.exp, 10)
	if d.huge != "" {
		dst = append(dst, 'e')
		if d.hugeNeg {
			dst = append(dst, '-')
		}
		dst = append(dst, d.huge...)
	}
	return dst
}
