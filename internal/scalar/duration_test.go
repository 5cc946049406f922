package scalar

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// A duration is equal to all its spellings, and to no spelling of one a nanosecond away.
func TestEqualDurationOfSpellings(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	spellings := func(d time.Duration) []string {
		h, rest := d/time.Hour, d%time.Hour
		return []string{
			d.String(), fmt.Sprintf("%dns", d), fmt.Sprintf("+%dus%dns", d/1000, d%1000), fmt.Sprintf("%d.%06dms", d/1e6, d%1e6),
			fmt.Sprintf("0%dh%dm%d.%09ds", h, rest/time.Minute, rest%time.Minute/time.Second, rest%time.Second),
		}
	}
	for range 2000 {
		d := time.Duration(r.Int64N([]int64{1e3, 1e9, 1e13, 1 << 62}[r.IntN(4)]))
		all, near := spellings(d), spellings(d+1)
		for _, a := range all {
			for i, b := range all {
				if !EqualDuration(a, b) || EqualDuration(a, near[i]) || EqualDuration("-"+a, b) && d != 0 {
					t.Fatalf("%s, %s, %s", a, b, near[i])
				}
			}
		}
	}
}

func FuzzEqualDuration(f *testing.F) {
	f.Add("60s", "1m0s")
	f.Add("1.5h", "90m")
	f.Add("-.5us", "-500ns")
	f.Fuzz(func(t *testing.T, a, b string) {
		laws(t, EqualDuration, a, b)
		x, err := time.ParseDuration(a)
		y, err2 := time.ParseDuration(b)
		if want := a == b || err == nil && err2 == nil && x == y; EqualDuration(a, b) != want {
			t.Errorf("%q, %q: equal is %v", a, b, !want)
		}
		if err == nil && !EqualDuration(a, x.String()) {
			t.Errorf("%q is not %q", a, x)
		}
	})
}
