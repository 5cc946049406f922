package scalar

import (
	"bytes"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"example.com/braid/internal/node"
)

// EqualQuantity reports whether two texts are one resource.Quantity: 1000m and 1, .5 and
// 500m, 1Ki and 1024. As apimachinery does, it rounds away from zero to whole nanos, and
// cuts binary quantities at 2^63-1.
func EqualQuantity(a, b string) bool {
	if a == b {
		return true
	}
	x, ok := parseQuantity(a)
	y, ok2 := parseQuantity(b)
	if !ok || !ok2 {
		return false
	}
	if x.shift == 0 && y.shift == 0 && x.nanos() && y.nanos() {
		var buf, buf2 [96]byte
		return bytes.Equal(x.key(buf[:0]), y.key(buf2[:0]))
	}
	if m, ok := x.whole(); ok {
		if n, ok := y.whole(); ok {
			return m == n && (x.neg == y.neg || m == 0)
		}
	}
	m, ok := x.big()
	n, ok2 := y.big()
	return ok && ok2 && m.Cmp(n) == 0
}

// quantity is num.den × 10^exp × 2^shift.
type quantity struct {
	neg      bool
	num, den string // digits, den without zeros at its end
	exp      int
	shift    uint
}

// parseQuantity takes a text apart by the grammar of resource.Quantity.
func parseQuantity(s string) (q quantity, ok bool) {
	if s == "" {
		return q, false
	}
	if s[0] == '-' || s[0] == '+' {
		q.neg = s[0] == '-'
		s = s[1:]
	}
	n := digits(s)
	q.num, s = s[:n], s[n:]
	if s != "" && s[0] == '.' {
		m := digits(s[1:])
		q.den, s = strings.TrimRight(s[1:1+m], "0"), s[1+m:]
		n += m
	}
	if n == 0 {
		return q, false
	}
	return q, q.suffix(s)
}

func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// maxExponent bounds what can be told apart. No quantity that means anything comes near
// it, and arithmetic on it is cheap.
const maxExponent = 1000

func (q *quantity) suffix(s string) bool {
	switch len(s) {
	case 0:
		return true
	case 1:
		i := strings.IndexByte("num.kMGTPE", s[0])
		if i < 0 || s[0] == '.' {
			return false
		}
		q.exp = 3 * (i - 3)
		return true
	case 2:
		if s[1] == 'i' {
			i := strings.IndexByte("KMGTPE", s[0])
			q.shift = uint(10 * (i + 1))
			return i >= 0
		}
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	var err error
	q.exp, err = strconv.Atoi(s[1:])
	return err == nil && -maxExponent <= q.exp && q.exp <= maxExponent
}

// nanos reports whether a decimal quantity has no digits below nano.
func (q *quantity) nanos() bool { return q.exp-len(q.den) >= -9 }

// key appends what equal decimal quantities share.
func (q *quantity) key(dst []byte) []byte {
	var buf [96]byte
	text := buf[:0]
	if q.neg {
		text = append(text, '-')
	}
	num := strings.TrimLeft(q.num, "0")
	if num == "" {
		num = "0"
	}
	text = append(text, num...)
	if q.den != "" {
		text = append(append(text, '.'), q.den...)
	}
	text = strconv.AppendInt(append(text, 'e'), int64(q.exp), 10)
	return node.AppendNumberKey(dst, string(text))
}

// whole returns the magnitude of a whole number that fits.
func (q *quantity) whole() (uint64, bool) {
	if q.den != "" || q.exp < 0 || len(q.num) > 19 {
		return 0, false
	}
	n, err := strconv.ParseUint(q.num, 10, 64)
	for range min(q.exp, 20) {
		hi, lo := bits.Mul64(n, 10)
		if n = lo; hi != 0 {
			return 0, false
		}
	}
	return n << q.shift, err == nil && q.exp <= 20 && n < 1<<(63-q.shift)
}

// big returns the quantity in nanos. Texts of thousands of digits equal only themselves.
func (q *quantity) big() (*big.Int, bool) {
	if len(q.num)+len(q.den) > 2*maxExponent {
		return nil, false
	}
	n, ok := new(big.Int).SetString("0"+q.num+q.den, 10)
	if !ok {
		return nil, false
	}
	n.Lsh(n, q.shift)
	scale := q.exp - len(q.den) + 9
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	if scale >= 0 {
		n.Mul(n, ten)
	} else {
		rest := new(big.Int)
		if n.QuoRem(n, ten, rest); rest.Sign() != 0 {
			n.Add(n, big.NewInt(1))
		}
	}
	if q.shift > 0 && n.Cmp(most) > 0 {
		n.Set(most)
	}
	if q.neg {
		n.Neg(n)
	}
	return n, true
}

// most is 2^63-1 in nanos.
var most = new(big.Int).Mul(new(big.Int).SetUint64(1<<63-1), big.NewInt(1_000_000_000))
