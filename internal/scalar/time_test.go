package scalar

import (
	"encoding/base64"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An instant is equal to all its spellings, and to no spelling of one a nanosecond away.
func TestEqualTimeOfSpellings(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	spellings := func(at time.Time) (out []string) {
		for _, minutes := range []int{0, 60, -300, 345, -23*60 - 59} {
			zone := at.In(time.FixedZone("", 60*minutes))
			out = append(out, zone.Format(time.RFC3339Nano), zone.Format("2006-01-02T15:04:05.000000000Z07:00"))
		}
		return out
	}
	for range 500 {
		at := time.Unix(r.Int64N(4e9), r.Int64N(3)*r.Int64N(1e9))
		all, near := spellings(at), spellings(at.Add(1))
		for _, a := range all {
			for i, b := range all {
				if !EqualTime(a, b) || EqualTime(a, near[i]) {
					t.Fatalf("%s, %s, %s", a, b, near[i])
				}
			}
		}
	}
}

func FuzzEqualTime(f *testing.F) {
	f.Add("2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00")
	f.Add("2020-02-29T24:00:00Z", "0000-01-01T00:00:00-23:59")
	f.Add("2020-01-01T00:00:00.000001Z", "2020-01-01T00:00:00,000001Z")
	f.Fuzz(func(t *testing.T, a, b string) {
		laws(t, EqualTime, a, b)
		x, ok := instant(a)
		y, ok2 := instant(b)
		if want := a == b || ok && ok2 && x.Equal(y); EqualTime(a, b) != want {
			t.Errorf("%q, %q: equal is %v", a, b, !want)
		}
	})
}

// instant is what a server decodes of the text of a metav1.Time.
func instant(s string) (time.Time, bool) {
	var at metav1.Time
	err := at.UnmarshalQueryParameter(s)
	return at.Time, err == nil && s != "" && s != "null" // which are no time there
}

func decoded(s string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(s)
	return string(b), err == nil
}
