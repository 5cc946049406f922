package node

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestNumberEqual(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		equal bool
		why   string
	}{
		{"1", "1", true, "itself"},
		{"1", "1.0", true, "FAULTS M3"},
		{"1", "1e0", true, "FAULTS M3"},
		{"1", "10e-1", true, "exponent and zeros cancel"},
		{"1", "0.1E+1", true, "E, plus"},
		{"1000000", "1e+06", true, "zeros before the exponent's digits"},
		{"0.001", "1e-3", true, "fraction only"},
		{"100.5", "1005e-1", true, "point within the digits"},
		{"120", "12e1", true, "zeros after the digits"},
		{"1", "2", false, ""},
		{"1", "-1", false, "sign"},
		{"1", "10", false, "the same digits, another exponent"},
		{"12", "1.2", false, ""},
		{"101", "1001", false, "zeros within the digits count"},
		{"0", "-0", true, "one zero"},
		{"0", "0e5", true, "exponents of zero mean nothing"},
		{"0", "0.00e-99999999999999999999", true, "nor do huge ones"},
		{"0", "1e-400", false, "a float64 would say zero"},
		{"9007199254740992", "9007199254740993", false, "FAULTS M1: a float64 would say equal"},
		{"9223372036854775807", "9.223372036854775807e18", true, "FAULTS M2"},
		{"0.1", "0.10000000000000000001", false, "a float64 would say equal"},
		{"1e400", "1e401", false, "a float64 would say infinity"},
		{"1e400", "10e399", true, "beyond a float64, and exact"},
		{"1e1000000000000000000", "10e999999999999999999", true, "the last exponents that are counted with"},
		{"1e99999999999999999999", "1e99999999999999999998", false, "beyond 64 bits"},
		{"1e99999999999999999999", "1.0E+0099999999999999999999", true, "spelling of a huge exponent"},
		{"1e99999999999999999999", "1e-99999999999999999999", false, "its sign"},
		{"1e99999999999999999999", "2e99999999999999999999", false, "the digits count too"},
		{"1e99999999999999999999", "1e5", false, ""},
		{"10e99999999999999999999", "1e99999999999999999999", false, "the exponent that is counted goes on top"},
	} {
		if got := NumberEqual(c.a, c.b); got != c.equal {
			t.Errorf("%s = %s: %v: %s", c.a, c.b, got, c.why)
		}
		if NumberEqual(c.b, c.a) != c.equal {
			t.Errorf("%s = %s: not symmetric", c.b, c.a)
		}
		if keys := numberKey(c.a) == numberKey(c.b); keys != c.equal {
			t.Errorf("keys of %s and %s: %v: %s", c.a, c.b, keys, c.why)
		}
	}
}

func numberKey(s string) string { return string(AppendNumberKey(nil, s)) }

// spell writes digits × 10^exp in one of many ways.
func spell(r *rand.Rand, digits int64, exp int) string {
	s := big.NewInt(digits).String()
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	zeros := r.IntN(3)
	s += strings.Repeat("0", zeros)
	exp -= zeros
	if r.IntN(2) == 0 {
		point := r.IntN(len(s) + 1)
		exp += len(s) - point
		if point == 0 {
			s = "0." + s
		} else if point < len(s) {
			s = s[:point] + "." + s[point:]
		}
	}
	if whole, rest, ok := strings.Cut(s, "."); ok || len(whole) > 1 {
		if whole = strings.TrimLeft(whole, "0"); whole == "" {
			whole = "0"
		}
		if s = whole; ok {
			s += "." + rest
		}
	}
	if exp != 0 || r.IntN(3) == 0 {
		s += []string{"e", "E"}[r.IntN(2)]
		if exp >= 0 {
			s += []string{"", "+", "0"}[r.IntN(3)]
		}
		s += big.NewInt(int64(exp)).String()
	}
	if neg {
		s = "-" + s
	}
	return s
}

func TestNumberEqualAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		x, y := r.Int64N(40)-20, r.Int64N(40)-20
		a, b := spell(r, x, r.IntN(7)-3), spell(r, y, r.IntN(7)-3)
		if !isNumber(a) || !isNumber(b) {
			t.Fatal("the test writes bad numbers:", a, b)
		}
		checkNumbers(t, a, b)
	}
}

func checkNumbers(t *testing.T, a, b string) {
	t.Helper()
	p, _ := new(big.Rat).SetString(a)
	q, _ := new(big.Rat).SetString(b)
	if p == nil || q == nil {
		return
	}
	if got, want := NumberEqual(a, b), p.Cmp(q) == 0; got != want {
		t.Fatalf("%s = %s: %v", a, b, got)
	}
	if got, want := numberKey(a) == numberKey(b), p.Cmp(q) == 0; got != want {
		t.Fatalf("keys of %s and %s: %q, %q", a, b, numberKey(a), numberKey(b))
	}
}

func TestIsNumber(t *testing.T) {
	for _, s := range []string{"0", "-0", "10", "1.5", "-1.50e+07", "1E5", "0e0"} {
		if !isNumber(s) {
			t.Error(s, "is one")
		}
	}
	for _, s := range []string{"", "-", "01", "+1", "1.", ".5", "1e", "1e+", "1 ", " 1", "NaN", "0x1", "1_0", "--1", "1-"} {
		if isNumber(s) {
			t.Errorf("%q is none", s)
		}
	}
}
