package compact_test

import (
	"bytes"
	"strings"
	"testing"

	"example.com/braid/internal/compact"
)

func TestPack(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("word ", 10000)} {
		packed := compact.Pack(text)
		if got, err := compact.Unpack(packed, len(text)); err != nil || string(got) != text {
			t.Errorf("%d bytes: %d come back, %v", len(text), len(got), err)
		}
		if len(text) > 0 {
			if _, err := compact.Unpack(packed, len(text)-1); err == nil {
				t.Errorf("%d bytes pass a limit of one less", len(text))
			}
		}
	}
	for _, bad := range []string{"!", "aGk=", compact.Pack("text")[:12]} {
		if _, err := compact.Unpack(bad, 100); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(compact.Pack("text"))
	f.Add("H4sI")
	f.Fuzz(func(t *testing.T, packed string) {
		if text, err := compact.Unpack(packed, 1<<10); err == nil {
			if again, err := compact.Unpack(compact.Pack(string(text)), 1<<10); err != nil || !bytes.Equal(again, text) {
				t.Errorf("%q comes back as %q, %v", text, again, err)
			}
		}
	})
}
