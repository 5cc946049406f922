package node

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Keys of every kind, few and many, are read into byte order, and a repeated one is found.
func TestKeyOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	units := []string{"a", "b", "\x00", "é", "\n", "\"", "12345678", "a-key-of-20-letters-"}
	for range 2000 {
		begin := strings.Repeat(units[r.IntN(len(units))], r.IntN(4))
		keys := map[string]bool{}
		for range 1 << r.IntN(10) {
			key := begin
			for range r.IntN(12) {
				key += units[r.IntN(len(units))]
			}
			keys[key] = true
		}
		var want, text []string
		for key := range keys {
			quoted, _ := json.Marshal(key)
			want, text = append(want, key), append(text, string(quoted)+":1")
		}
		slices.Sort(want)
		tr := parsed(t, "{"+strings.Join(text, ",")+"}")
		var got []string
		for _, kid := range tr.Kids(0) {
			got = append(got, tr.Key(kid))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		again := text[r.IntN(len(text))]
		text = slices.Insert(text, r.IntN(len(text)+1), again)
		_, err := Parse([]byte("{"+strings.Join(text, ",")+"}"), Limits{})
		if e := (*Error)(nil); !errors.Is(err, ErrDuplicateKey) || !errors.As(err, &e) || e.Path.String() != tr.Path(tr.Lookup(keyOf(t, again))).String() {
			t.Fatalf("%s twice: %v", again, err)
		}
	}
}

func keyOf(t *testing.T, field string) (key string) {
	if err := json.Unmarshal([]byte(strings.TrimSuffix(field, ":1")), &key); err != nil {
		t.Fatal(err)
	}
	return key
}
