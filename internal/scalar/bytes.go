package scalar

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// EqualBytes reports whether two texts are one byte string in base64, in which line
// breaks do not count. It allocates only if the texts are as good as equal.
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
