package scalar

import (
	"bytes"
	"encoding/base64"
	"strings"
	"time"
)

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

// EqualTime reports whether two texts are one instant (RFC 3339).
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

// EqualBytes reports whether two texts are one byte string in base64, in which line
// breaks do not count.
func EqualBytes(a, b string) bool {
	switch {
	case a == b:
		return true
	case !strings.ContainsAny(a, "\r\n") && !strings.ContainsAny(b, "\r\n"):
		// Apart from line breaks only the bits behind the last byte are free.
		if n := len(a) - 4; len(a) != len(b) || n < 0 || a[:n] != b[:n] {
			return false
		}
	}
	x, err := base64.StdEncoding.DecodeString(a)
	if err != nil {
		return false
	}
	y, err := base64.StdEncoding.DecodeString(b)
	return err == nil && bytes.Equal(x, y)
}
