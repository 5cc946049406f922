package scalar

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		name  string
		equal func(a, b string) bool
		same  []string // all equal
		other []string // none equal to the first
	}{
		{"quantity", EqualQuantity, []string{"1", "1000m", "1.0", "1e0", "+1", "01", "1000000u", "1.", "0.001k", "1000000000n"}, []string{"1.001", "-1", "1k", "", "x", "1 ", "1ki", "1mm"}},
		{"half", EqualQuantity, []string{"500m", ".5", "0.5", "5e-1", "50E-2"}, []string{"5", "0.05"}},
		{"binary", EqualQuantity, []string{"1Ki", "1024", "1.024k", "1024000m", "0.0009765625Mi"}, []string{"1k", "1Mi"}},
		{"larger", EqualQuantity, []string{"1Gi", "1024Mi", "1048576Ki", "1073741824"}, []string{"1G"}},
		{"nano", EqualQuantity, []string{"1n", "0.1n", "0.0000000001", "1e-12"}, []string{"0", "2n"}},
		{"capped", EqualQuantity, []string{"8Ei", "100Ei", "9223372036854775807"}, []string{"9223372036854775806"}},
		{"zero", EqualQuantity, []string{"0", "-0", "0m", "0Ki", "0.00", "0e5"}, []string{"1n"}},
		{"huge", EqualQuantity, []string{"1e1000000000"}, []string{"1e1000000001", "10e999999999"}},
		{"duration", EqualDuration, []string{"60s", "1m", "1m0s", "60000ms"}, []string{"61s", "60", ""}},
		{"time", EqualTime, []string{"2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "2020-01-01T00:00:00.000Z"}, []string{"2020-01-01T00:00:01Z", "2020-01-01T00:00:00.001Z", "2020-01-01"}},
		{"bytes", EqualBytes, []string{"YWI=", "YW\nI=", "YWJ="}, []string{"YWM=", "YWI", "", "!"}},
	} {
		for _, x := range c.same {
			for _, y := range c.same {
				if !c.equal(x, y) {
					t.Errorf("%s: %q is not %q", c.name, x, y)
				}
			}
			for _, y := range c.other {
				if c.equal(x, y) || c.equal(y, x) {
					t.Errorf("%s: %q is %q", c.name, x, y)
				}
			}
		}
	}
}

func TestEqualDoesNotAllocate(t *testing.T) {
	n := testing.AllocsPerRun(100, func() {
		if !EqualQuantity("1000m", "1") || !EqualQuantity("100m", "0.1") || !EqualQuantity("1Gi", "1024Mi") ||
			!EqualQuantity("128Mi", "134217728") || !EqualDuration("60s", "1m0s") ||
			!EqualTime("2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00") {
			t.Error("not equal")
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// theirs reports whether apimachinery takes two texts for one quantity; ok is false
// where it takes one for none.
func theirs(a, b string) (equal, ok bool) {
	x, err := resource.ParseQuantity(a)
	if err != nil {
		return false, false
	}
	y, err := resource.ParseQuantity(b)
	return err == nil && x.Cmp(y) == 0, err == nil
}

func checkQuantity(t *testing.T, a, b string) {
	t.Helper()
	if !strings.ContainsAny(a, "0123456789") || !strings.ContainsAny(b, "0123456789") {
		return // they take Ki for 0
	}
	if len(a)+len(b) > 200 || strings.ContainsAny(a+b, "eE") && farExponent(a, b) {
		EqualQuantity(a, b) // too dear for them
		return
	}
	if want, ok := theirs(a, b); ok && EqualQuantity(a, b) != (want || a == b) || !ok && a != b && EqualQuantity(a, b) {
		t.Errorf("%q, %q: we say %v, they %v (%v)", a, b, EqualQuantity(a, b), want, ok)
	}
}

func farExponent(texts ...string) bool {
	for _, s := range texts {
		if q, ok := parseQuantity(s); !ok || q.exp > 100 || q.exp < -100 {
			return true
		}
	}
	return false
}

func TestEqualQuantityAsApimachinery(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	suffixes := []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-3", "e-12", "e18", "x", "Kii", "e"}
	random := func() string {
		num := fmt.Sprint(r.IntN([]int{2, 11, 2000, 1 << 40}[r.IntN(4)]))
		if r.IntN(3) == 0 {
			num += "." + fmt.Sprint(r.IntN([]int{10, 1000, 1 << 40}[r.IntN(3)]))
		}
		if r.IntN(4) == 0 {
			num += strings.Repeat("0", r.IntN(12))
		}
		return []string{"", "", "-", "+"}[r.IntN(4)] + num + suffixes[r.IntN(len(suffixes))]
	}
	equal := 0
	for range 200_000 {
		a, b := random(), random()
		if q, err := resource.ParseQuantity(a); err == nil && r.IntN(2) == 0 {
			b = q.String() // the same quantity as they spell it
		}
		checkQuantity(t, a, b)
		if a != b && EqualQuantity(a, b) {
			equal++
		}
	}
	if equal < 1000 {
		t.Errorf("only %d equal pairs", equal)
	}
}

func FuzzEqualQuantity(f *testing.F) {
	f.Add("1000m", "1")
	f.Add("1Ki", "1024.0")
	f.Add("1e1000000000", ".1n")
	f.Fuzz(func(t *testing.T, a, b string) {
		checkQuantity(t, a, b)
		if EqualQuantity(a, b) != EqualQuantity(b, a) || !EqualQuantity(a, a) {
			t.Errorf("%q, %q: no equality", a, b)
		}
		for _, equal := range []func(a, b string) bool{EqualDuration, EqualTime, EqualBytes} {
			if equal(a, b) != equal(b, a) || !equal(a, a) {
				t.Errorf("%q, %q: no equality", a, b)
			}
		}
	})
}
