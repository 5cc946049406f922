package scalar

import "time"

// EqualTime reports whether two texts are one instant, as metav1.Time and MicroTime read
// them (RFC 3339): with and without a fraction, at any offset. The fraction counts to
// the nanosecond, also where a server would keep less of it.
func EqualTime(a, b string) bool {
	if a == b {
		return true
	}
	x, err := time.Parse(time.RFC3339, a)
	if err != nil {
		return false
	}
	y, err := time.Parse(time.RFC3339, b)
	return err == nil && x.Equal(y)
}
