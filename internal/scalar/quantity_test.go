package scalar

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// checkQuantity holds the answer against apimachinery's, but for what is too dear for it
// and for what the comment of EqualQuantity excepts.
func checkQuantity(t *testing.T, a, b string) {
	t.Helper()
	laws(t, EqualQuantity, a, b)
	for _, s := range []string{a, b} {
		if i := strings.LastIndexAny(s, "eE"); i >= 0 && i < len(s)-1 {
			if exp, err := strconv.Atoi(strings.TrimSpace(s[i+1:])); err != nil || exp < -500 || exp > 500 {
				return
			}
		}
		if number := strings.TrimLeft(strings.TrimSpace(s), "+-."); len(s) > 2000 || number == "" || number[0] < '0' || number[0] > '9' {
			return
		}
	}
	want := a == b
	x, err := resource.ParseQuantity(strings.TrimSpace(a))
	if err == nil {
		y, err := resource.ParseQuantity(strings.TrimSpace(b))
		want = want || err == nil && x.Cmp(y) == 0
	}
	if EqualQuantity(a, b) != want {
		t.Errorf("%q, %q: equal is %v", a, b, !want)
	}
}

func TestEqualQuantityAsApimachinery(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	suffixes := []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-3", "e-12", "e18", "x", "Kii", "e"}
	random := func() string {
		num := fmt.Sprint(r.IntN([]int{2, 11, 2000, 1 << 40, 1 << 62}[r.IntN(5)]))
		if r.IntN(8) == 0 {
			num = strings.Repeat("9", 1+r.IntN(25))
		}
		if r.IntN(3) == 0 {
			num += "." + strings.Repeat([]string{"0", "9"}[r.IntN(2)], r.IntN(20)) + fmt.Sprint(r.IntN([]int{10, 1000, 1 << 40}[r.IntN(3)]))
		}
		if r.IntN(4) == 0 {
			num += strings.Repeat("0", r.IntN(12))
		}
		return []string{"", "", "-", "+"}[r.IntN(4)] + num + suffixes[r.IntN(len(suffixes))]
	}
	equal := 0
	for range 100_000 {
		a, b := random(), random()
		if q, err := resource.ParseQuantity(a); err == nil {
			switch r.IntN(4) {
			case 0:
				b = q.String() // the same as they spell it, or rounded
			case 1:
				b = q.AsDec().String()
			}
		}
		checkQuantity(t, a, b)
		if a != b && EqualQuantity(a, b) {
			equal++
		}
	}
	if equal < 10_000 {
		t.Errorf("only %d equal pairs", equal)
	}
}

// Neither digits nor exponents cost more than they are long. A quadratic step on a
// million digits, or a number of 10^9 digits, would not come to an end.
func TestEqualQuantityOfHostileTexts(t *testing.T) {
	nines := strings.Repeat("9", 1<<20)
	for _, c := range [][2]string{
		{"0." + nines, "1"},
		{"0." + nines + "Ki", "1Ki"},
		{nines + "Ei", "8Ei"},
		{nines + "." + nines, "1" + strings.Repeat("0", 1<<20)},
		{"1e2147483647", "0.1e2147483648"},
		{"1e-2147483648", "1n"},
		{"0." + strings.Repeat("0", 1<<20) + "1Ei", "1n"},
	} {
		if got, want := EqualQuantity(c[0], c[1]), !strings.HasSuffix(c[1], "648"); got != want {
			t.Errorf("%.20q, %.20q: equal is %v", c[0], c[1], got)
		}
	}
}

func FuzzEqualQuantity(f *testing.F) {
	f.Add("1000m", "1")
	f.Add("1Ki", "1024.0")
	f.Add("1e1000000000", ".1n")
	f.Add("1.5Gi", "1536Mi")
	f.Add("9223372036854775807.9999999999", "-8.Ei")
	f.Fuzz(checkQuantity)
}
