package scalar

import "time"

// EqualDuration reports whether two texts are one metav1.Duration: 60s and 1m0s.
func EqualDuration(a, b string) bool {
	if a == b {
		return true
	}
	x, err := time.ParseDuration(a)
	if err != nil {
		return false
	}
	y, err := time.ParseDuration(b)
	return err == nil && x == y
}
