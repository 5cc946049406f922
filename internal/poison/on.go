//go:build poison

package poison

// Fill overwrites the elements of s with junk.
func Fill[T any](s []T, junk T) {
	for i := range s {
		s[i] = junk
	}
}

// Byte is junk that is neither UTF-8 nor JSON.
const Byte = 0xDB

// Index is junk that is no index.
const Index = -0x24242424
