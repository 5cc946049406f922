package dialect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// plan merges without a schema, but that the list at path is keyed by name.
func plan(t *testing.T, live, desired string) walk.Script {
	t.Helper()
	s, err := schema.None.Override("list", "map=name")
	if err != nil {
		t.Fatal(err)
	}
	script, err := walk.Walk(walk.Input{Live: treeOf(t, []byte(live)), Desired: treeOf(t, []byte(desired)), Rules: walk.Rules{Schema: s, Policy: &walk.Apply}})
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// names is a list of n elements in an order.
func names(n int, at func(i int) int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"%d"}`, at(i))
	}
	return `{"list":[` + b.String() + `]}`
}

// A patch that a server would refuse for its length gets coarser: lists whole, then
// fields of the root whole.
func TestEncodeJSONPatchIsNeverTooLong(t *testing.T) {
	same := func(i int) int { return i }
	var many, more []string
	for i := range 12_000 {
		many = append(many, fmt.Sprintf(`"k%d":1`, i))
		more = append(more, fmt.Sprintf(`"k%d":2`, i))
	}
	for _, c := range []struct {
		why, live, desired string
		operations         int
	}{
		{"elements move one by one", names(9000, same), names(9000, func(i int) int { return 8999 - i }), 8999},
		{"or all at once", names(100_000, same), names(100_000, func(i int) int { return 99_999 - i }), 1},
		{"as few as it takes", names(100_000, same), names(100_000, func(i int) int { return (i + 1) % 100_000 }), 1},
		{"elements are added one by one", names(10, same), names(10_010, same), 10_000},
		{"or all at once", names(10, same), names(10_011, same), 1},
		{"fields of a map too", `{"map":{` + strings.Join(many, ",") + `},"a":1}`, `{"map":{` + strings.Join(more, ",") + `},"a":2}`, 2},
	} {
		script := plan(t, c.live, c.desired)
		patch, err := dialect.EncodeJSONPatch(nil, &script, 0)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		if n := strings.Count(string(patch), `"op":`); n != c.operations {
			t.Errorf("%s: %d operations, want %d", c.why, n, c.operations)
		}
		got, err := dialect.ApplyJSONPatch(nil, script.Live, treeOf(t, patch), node.Limits{})
		if err != nil || string(got) != string(script.AppendMerged(nil)) {
			t.Errorf("%s: applied it gives %.100s… %v", c.why, got, err)
		}
	}
	script := plan(t, "{"+strings.Join(many, ",")+"}", "{"+strings.Join(more, ",")+"}")
	if _, err := dialect.EncodeJSONPatch(nil, &script, 0); !errors.Is(err, dialect.ErrInexpressible) {
		t.Errorf("12,000 fields of the root: %v", err)
	}
}

// The edits of a list are as few as can be.
func TestEncodeJSONPatchLists(t *testing.T) {
	list := func(names string) string {
		var b strings.Builder
		for i, n := range strings.Split(names, "") {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"name":%q}`, n)
		}
		return `{"list":[` + b.String() + `]}`
	}
	for _, c := range []struct{ live, desired, patch string }{
		{"abc", "abc", `[]`},
		{"abc", "xabc", `[{"op":"add","path":"/list/0","value":{"name":"x"}}]`},
		{"abc", "abxc", `[{"op":"add","path":"/list/2","value":{"name":"x"}}]`},
		{"abc", "abcx", `[{"op":"add","path":"/list/3","value":{"name":"x"}}]`},
		{"abc", "cab", `[{"op":"move","from":"/list/2","path":"/list/0"}]`},
		{"abc", "bca", `[{"op":"move","from":"/list/0","path":"/list/2"}]`},
		{"abc", "cba", `[{"op":"move","from":"/list/2","path":"/list/0"},{"op":"move","from":"/list/2","path":"/list/1"}]`},
		{"abcd", "badc", `[{"op":"move","from":"/list/1","path":"/list/0"},{"op":"move","from":"/list/3","path":"/list/2"}]`},
		{"abcd", "xdba", `[{"op":"add","path":"/list/0","value":{"name":"x"}},{"op":"move","from":"/list/4","path":"/list/1"},{"op":"move","from":"/list/3","path":"/list/2"}]`},
	} {
		script := plan(t, list(c.live), list(c.desired))
		patch, err := dialect.EncodeJSONPatch(nil, &script, 0)
		if err != nil || c.patch != string(patch) && !strings.Contains(c.desired, "xd") {
			t.Errorf("%s to %s: %s %v", c.live, c.desired, patch, err)
		}
		if got, err := dialect.ApplyJSONPatch(nil, script.Live, treeOf(t, patch), node.Limits{}); err != nil || string(got) != string(script.AppendMerged(nil)) {
			t.Errorf("%s to %s: %s gives %s %v", c.live, c.desired, patch, got, err)
		}
	}
}
