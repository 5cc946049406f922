package main

import (
	"strings"
	"testing"
)

// In step, one replace of each round can land; each apply does.
func TestWriters(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, 8, 20); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{
		"replace 8 writers × 20 rounds: 20 landed, 140 refused as conflicts; fields as written last: 1",
		"apply   8 writers × 20 rounds: 160 landed, 0 refused as conflicts; fields as written last: 8",
	} {
		if len(got) != 2 || got[i] != want {
			t.Errorf("got\n%s\nwant line %d: %s", out.String(), i, want)
		}
	}
}
