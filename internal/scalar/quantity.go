package scalar

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// EqualQuantity reports whether two texts are one resource.Quantity: 1000m, 1 and 1e0;
// .5 and 500m; 1Ki and 1024. As ParseQuantity does, it rounds away from zero to whole
// nanos and cuts binary quantities at 2^63-1; as Quantity.UnmarshalJSON does, it drops
// space around the text. O(length), no allocation.
//
// Two kinds of text are no quantity here that ParseQuantity takes: those without a
// digit, such as Ki, which it calls 0, and those with an exponent beyond 32 bits, which
// it cuts to the lowest 32.
func EqualQuantity(a, b string) bool {
	if a == b {
		return true
	}
	var x, y quantity
	if !x.parse(strings.TrimSpace(a)) || !y.parse(strings.TrimSpace(b)) || x.neg != y.neg {
		return false
	}
	if x.shift > 0 || y.shift > 0 {
		i, m, ok := x.fixed()
		j, n, ok2 := y.fixed()
		return ok && ok2 && i == j && m == n
	}
	if x.top != y.top || x.len() != y.len() {
		return false
	}
	for i := range x.len() {
		if x.digit(i) != y.digit(i) {
			return false
		}
	}
	return true
}

// quantity is num.den × 10^exp × 2^shift, where one of exp and shift is 0. Without shift
// it is 0.d₁d₂…dₙ × 10^top too, with no zero at either end. The digits stay where they
// are in the text, so that nothing is allocated.
type quantity struct {
	neg      bool
	num, den string
	shift    uint // of a binary suffix

	from, to int // the digits dᵢ, counted through num and den
	top      int64
	up       bool // it was rounded: one is to be added to the last digit, or to none
}

// parse takes a text apart by the grammar of resource.Quantity.
func (q *quantity) parse(s string) bool {
	neg := strings.HasPrefix(s, "-")
	if neg || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	n := digits(s)
	q.num, s = s[:n], s[n:]
	if strings.HasPrefix(s, ".") {
		n = 1 + digits(s[1:])
		q.den, s = s[1:n], s[n:]
	}
	if q.num == "" && q.den == "" {
		return false
	}
	exp, ok := q.suffix(s)
	if !ok {
		return false
	}
	q.trim(exp)
	q.neg = neg && q.from < q.to
	if q.shift == 0 {
		q.round()
	}
	return true
}

func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// suffix sets shift, or returns the power of ten.
func (q *quantity) suffix(s string) (exp int64, ok bool) {
	const decimal, binary = "num.kMGTPE", "KMGTPE"
	switch {
	case s == "":
		return 0, true
	case len(s) == 1 && s != ".":
		i := strings.Index(decimal, s)
		return int64(3 * (i - 3)), i >= 0
	case len(s) == 2 && s[1] == 'i':
		i := strings.IndexByte(binary, s[0])
		q.shift = uint(10 * (i + 1))
		return 0, i >= 0
	case s[0] == 'e' || s[0] == 'E':
		exp, err := strconv.ParseInt(s[1:], 10, 32)
		return exp, err == nil
	}
	return 0, false
}

// trim finds the digits without zeros at either end.
func (q *quantity) trim(exp int64) {
	q.to = len(q.num) + len(q.den)
	for q.to > 0 && q.at(q.to-1) == '0' {
		q.to--
	}
	if q.to == 0 {
		return // zero has no digits
	}
	for q.at(q.from) == '0' {
		q.from++
	}
	q.top = exp + int64(len(q.num)-q.from)
}

// round drops the digits below nano.
func (q *quantity) round() {
	nanos := max(q.top+9, 0)
	if int64(q.len()) <= nanos {
		return
	}
	q.up, q.to = true, q.from+int(nanos)
	for q.to > q.from && q.at(q.to-1) == '9' {
		q.to--
	}
	if q.to == q.from { // 0.99… is 1, and so is less than one nano
		q.top = max(q.top, -9) + 1
	}
}

func (q *quantity) at(i int) byte {
	if i < len(q.num) {
		return q.num[i]
	}
	return q.den[i-len(q.num)]
}

func (q *quantity) len() int {
	if q.up && q.from == q.to {
		return 1
	}
	return q.to - q.from
}

func (q *quantity) digit(i int) byte {
	switch i += q.from; {
	case q.from == q.to:
		return '1'
	case q.up && i == q.to-1:
		return q.at(i) + 1
	}
	return q.at(i)
}

// fixed returns the magnitude as a number of ones and of nanos, if it has fewer than 20
// digits before the point.
func (q *quantity) fixed() (ones, nanos uint64, ok bool) {
	if q.shift > 0 {
		ones, nanos = q.binary()
		return ones, nanos, true
	}
	if q.top > 19 {
		return 0, 0, false
	}
	for place := int64(18); place >= -9; place-- {
		d := uint64(0)
		if i := q.top - 1 - place; i >= 0 && i < int64(q.len()) {
			d = uint64(q.digit(int(i)) - '0')
		}
		if place >= 0 {
			ones = ones*10 + d
		} else {
			nanos = nanos*10 + d
		}
	}
	return ones, nanos, true
}

// binary is fixed for quantities with a shift, rounded and cut.
func (q *quantity) binary() (ones, nanos uint64) {
	num := strings.TrimLeft(q.num, "0")
	if len(num) > 19 {
		return math.MaxInt64, 0
	}
	for i := range len(num) {
		ones = ones*10 + uint64(num[i]-'0')
	}
	over, ones := bits.Mul64(ones, 1<<q.shift)
	// den × 2^shift, one digit after the other from the last: what passes the point
	// stays below 2^60.
	carry, more := uint64(0), false
	var places [9]uint64
	for i := len(q.den) - 1; i >= 0; i-- {
		carry += uint64(q.den[i]-'0') << q.shift
		if i < len(places) {
			places[i] = carry % 10
		} else {
			more = more || carry%10 != 0
		}
		carry /= 10
	}
	for _, d := range places {
		nanos = nanos*10 + d
	}
	if more {
		nanos++
	}
	if nanos == 1e9 {
		carry, nanos = carry+1, 0
	}
	if over > 0 || ones > math.MaxInt64-carry || ones+carry == math.MaxInt64 {
		return math.MaxInt64, 0
	}
	return ones + carry, nanos
}
