package scalar

import (
	"testing"
)

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		name  string
		equal func(a, b string) bool
		same  []string // all equal
		other []string // none equal to those, nor to each other
	}{
		{"one", EqualQuantity, []string{"1", "1000m", "1.0", "1e0", "+1", "01", "1000000u", "1.", "0.001k", "1000000000n", " 1\n"}, []string{"1.001", "-1", "1k", "1ki", "1mm", "1e", "1ee1", "1..", "1.0.0", "1 k"}},
		{"half", EqualQuantity, []string{"500m", ".5", "0.5", "5e-1", "50E-2"}, []string{"5", "0.05", "-.5"}},
		{"binary", EqualQuantity, []string{"1Ki", "1024", "1.024k", "1024000m", "0.0009765625Mi", "1.Ki"}, []string{"1k", "1Mi", "1023.999999999", "-1Ki"}},
		{"part", EqualQuantity, []string{"1.5Gi", "1536Mi", "1610612736", "01.50Gi", "1.610612736G"}, []string{"1.5G"}},
		{"large", EqualQuantity, []string{"1Gi", "1024Mi", "1048576Ki", "1073741824"}, []string{"1G"}},
		{"nano", EqualQuantity, []string{"1n", "0.1n", "0.0000000001", "1e-12", "1e-2000000000", "0.0000000000000001Ki"}, []string{"0", "2n", "-1n"}},
		{"up", EqualQuantity, []string{"100", "99.9999999991", "99999999999.1n", "0.09765624999999999Ki"}, []string{"99.999999999"}},
		{"cut", EqualQuantity, []string{"8Ei", "100Ei", "9223372036854775807", "99999999999999999999Ki", "9007199254740991.9999999Ki"}, []string{"9223372036854775806", "9223372036854775808", "-8Ei", "9007199254740991Ki"}},
		{"zero", EqualQuantity, []string{"0", "-0", "0m", "0Ki", ".0Ki", "0.00", "0e5", "0e-2000000000", "0e2000000000"}, []string{"1n", "", "-", ".", "m", "Ki"}},
		{"huge", EqualQuantity, []string{"1e1000000000", "10e999999999", "0.001e1000000003"}, []string{"1e1000000001", "-1e1000000000", "1e-1000000000"}},
		{"none", EqualQuantity, []string{"1e2147483648"}, []string{"10e2147483647", "1e4294967296", "1", "1e9223372036854775808", "x"}},
		{"duration", EqualDuration, []string{"60s", "1m", "1m0s", "60000ms", "+1m"}, []string{"61s", "60", "", "-1m", "1m ", "60.000000001s"}},
		{"time", EqualTime, []string{"2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "2020-01-01T00:00:00.000Z", "2019-12-31T18:30:00-05:30"}, []string{"2020-01-01T00:00:01Z", "2020-01-01T00:00:00.000001Z", "2020-01-01", "2020-01-01T00:00:00", ""}},
		{"leap second", EqualTime, []string{"2016-12-31T23:59:60Z"}, []string{"2017-01-01T00:00:00Z"}}, // Go refuses it
		{"bytes", EqualBytes, []string{"YWI=", "YW\nI=", "YWI=\r\n", "YWJ="}, []string{"YWM=", "YWI", "", "!", "YWI==", "YWJi"}},
		{"no bytes", EqualBytes, []string{"", "\n"}, []string{"=", "AA=="}},
	} {
		texts := append(append([]string{}, c.same...), c.other...)
		for i, x := range texts {
			for j, y := range texts {
				want := i == j || i < len(c.same) && j < len(c.same)
				if c.equal(x, y) != want {
					t.Errorf("%s: %q and %q: equal is %v", c.name, x, y, !want)
				}
			}
		}
	}
}

func TestEqualDoesNotAllocate(t *testing.T) {
	for _, c := range []struct {
		name  string
		equal func(a, b string) bool
		texts []string // equal from pair to pair
	}{
		{"EqualQuantity", EqualQuantity, []string{"1000m", "1", "100m", "0.1", "1Gi", "1024Mi", "128Mi", "134217728", "1.5Gi", "1536Mi", ".5", "500m", ".5Ki", "512", "0.1n", "1n", "16Ei", "8Ei"}},
		{"EqualDuration", EqualDuration, []string{"60s", "1m0s", "1.5h", "90m"}},
		{"EqualTime", EqualTime, []string{"2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "2020-01-01T00:00:00.000000Z", "2020-01-01T00:00:00Z"}},
		{"EqualBytes", EqualBytes, []string{"YWI=", "YWI="}},
	} {
		for i := 0; i < len(c.texts); i += 2 {
			if n := testing.AllocsPerRun(100, func() {
				if !c.equal(c.texts[i], c.texts[i+1]) {
					t.Errorf("%s: %q is not %q", c.name, c.texts[i], c.texts[i+1])
				}
			}); n > 0 {
				t.Errorf("%s: %q and %q allocate %v times", c.name, c.texts[i], c.texts[i+1], n)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { EqualBytes("c2VjcmV0cyBhcmUga2VwdA==", "c2VjcmV0cyBhcmUgdG9sZA==") }); n > 0 {
		t.Errorf("bytes that differ allocate %v times", n)
	}
}

// laws holds an equality against those of any.
func laws(t *testing.T, equal func(a, b string) bool, a, b string) {
	t.Helper()
	if equal(a, b) != equal(b, a) || !equal(a, a) || !equal(b, b) {
		t.Errorf("%q, %q: no equality", a, b)
	}
}

func FuzzEqualBytes(f *testing.F) {
	f.Add("YWI=", "YWJ=")
	f.Add("YW\nI=", "YWI=")
	f.Fuzz(func(t *testing.T, a, b string) {
		laws(t, EqualBytes, a, b)
		x, ok := decoded(a)
		y, ok2 := decoded(b)
		if want := a == b || ok && ok2 && x == y; EqualBytes(a, b) != want {
			t.Errorf("%q, %q: equal is %v", a, b, !want)
		}
	})
}
