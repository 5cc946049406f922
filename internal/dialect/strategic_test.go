package dialect_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/twin"
	"example.com/braid/internal/walk"
)

var kind = func() *schema.Schema {
	s, err := schema.FromType(reflect.TypeFor[twin.Kind]())
	if err != nil {
		panic(err)
	}
	return s
}()

func parse(text string) *node.Tree {
	if text == "" {
		text = "{}"
	}
	t, err := node.Parse([]byte(text), node.Limits{})
	if err != nil {
		panic(err)
	}
	return t
}

func encode(last, live, desired string) ([]byte, error) {
	s, err := walk.Walk(walk.Input{Last: parse(last), Live: parse(live), Desired: parse(desired), Rules: walk.Rules{Schema: kind, Policy: &walk.Apply}})
	if err != nil {
		return nil, err
	}
	return dialect.EncodeStrategic(nil, &s, 0)
}

// Each line shows one form of the patch. Both appliers make the merged object of
// it.
func TestStrategicForms(t *testing.T) {
	for _, c := range []struct {
		why                        string
		last, live, desired, patch string
	}{
		{"nothing to do", ``, `{"text":"x"}`, `{"text":"x"}`, `{}`},
		{"a field is added, changed, removed", `{"kind":"x"}`, `{"kind":"x","number":1}`, `{"number":2,"text":"y"}`, `{"kind":null,"number":2,"text":"y"}`},
		{"a map is merged", ``, `{"labels":{"a":"1"}}`, `{"labels":{"b":"2"}}`, `{"labels":{"b":"2"}}`},
		{"or created without its nulls", ``, `{}`, `{"labels":{"a":"1","b":null}}`, `{"labels":{"a":"1"}}`},
		{"or replaced, where the schema says so", ``, `{"whole":{"name":"a"}}`, `{"whole":{"value":"b"}}`, `{"whole":{"value":"b"}}`},
		{"a list without keys is sent whole", ``, `{"list":["a","b"]}`, `{"list":["b"]}`, `{"list":["b"]}`},

		{"an element is changed", ``, `{"named":[{"name":"a","number":1}]}`, `{"named":[{"name":"a","number":2}]}`, `{"named":[{"name":"a","number":2}]}`},
		{"its key is spelled as in live", ``, `{"ports":[{"port":1.0}]}`, `{"ports":[{"port":1,"text":"x"}]}`, `{"ports":[{"port":1.0,"text":"x"}]}`},
		{"all elements go", `{"named":[{"name":"a"}]}`, `{"named":[{"name":"a"}]}`, `{}`, `{"named":null}`},
		{"all of ours go", `{"named":[{"name":"a"}]}`, `{"named":[{"name":"a"},{"name":"b"}]}`, `{}`, `{"named":[{"$patch":"delete","name":"a"}]}`},
		{"an element goes", `{"named":[{"name":"a"}]}`, `{"named":[{"name":"a"},{"name":"b"}]}`, `{"named":[]}`, `{"named":[{"$patch":"delete","name":"a"}]}`},
		{"an element is added where a server puts it anyway", ``, `{"named":[]}`, `{"named":[{"name":"a"},{"name":"b"}]}`, `{"named":[{"name":"a"},{"name":"b"}]}`},
		{"an order is sent only where it must", ``, `{"named":[{"name":"a"}]}`, `{"named":[{"name":"a"},{"name":"b"}]}`,
			`{"$setElementOrder/named":[{"name":"a"},{"name":"b"}],"named":[{"name":"b"}]}`},
		{"and alone, where only it changes", ``, `{"named":[{"name":"a"},{"name":"b"}]}`, `{"named":[{"name":"b"},{"name":"a"}]}`,
			`{"$setElementOrder/named":[{"name":"b"},{"name":"a"}]}`},
		{"of all elements, where the memory of the server would play tricks", `{"named":[{"name":"d"}]}`,
			`{"named":[{"name":"x"},{"name":"y"},{"name":"d"},{"name":"c"}]}`, `{"named":[{"name":"y"},{"name":"x"},{"name":"a"}]}`,
			`{"$setElementOrder/named":[{"name":"y"},{"name":"x"},{"name":"a"},{"name":"c"}],"named":[{"name":"a"},{"$patch":"delete","name":"d"}]}`},

		{"a value joins a set", ``, `{"set":["a"]}`, `{"set":["b"]}`, `{"set":["b"]}`},
		{"a value leaves it", `{"set":["a"]}`, `{"set":["a","b"]}`, `{"set":[]}`, `{"$deleteFromPrimitiveList/set":["a"]}`},
		{"a set that repeats a value is sent in full", ``, `{"set":["a","a"]}`, `{"set":["a","b"]}`, `{"set":["a","b"]}`},

		{"a union says what it keeps", ``, `{"union":{"a":{}}}`, `{"union":{"c":"x"}}`, `{"union":{"$retainKeys":["c"],"c":"x"}}`},
		{"so does an element of a list of unions", ``, `{"unions":[{"name":"n","a":{}}]}`, `{"unions":[{"name":"n","c":"x"}]}`,
			`{"unions":[{"$retainKeys":["c","name"],"c":"x","name":"n"}]}`},

		// What cannot be said is sent with what holds it.
		{"repeated keys: the list", ``, `{"named":[{"name":"a"},{"name":"a"}]}`, `{"named":[{"name":"a","number":1}]}`,
			`{"named":[{"$patch":"replace"},{"name":"a","number":1},{"name":"a"}]}`},
		{"live's element without a key: what holds the list", ``, `{"part":{"inner":[{"text":"x"}],"value":"v"}}`, `{"part":{"inner":[{"port":1}]}}`,
			`{"part":{"$patch":"replace","inner":[{"port":1},{"text":"x"}],"value":"v"}}`},
		{"an element of a wrong type: too", ``, `{"part":{"set":[{}]}}`, `{"part":{"set":["a"]}}`, `{"part":{"$patch":"replace","set":["a",{}]}}`},
		{"a map in a map of structs: the map", ``, `{"byName":{"a":{"name":"x"}}}`, `{"byName":{"a":{"value":"y"}}}`,
			`{"byName":{"$patch":"replace","a":{"name":"x","value":"y"}}}`},
		{"a map that the schema lacks: what holds it", ``, `{"part":{"new":{"a":1}}}`, `{"part":{"new":{"b":2}}}`, `{"part":{"$patch":"replace","new":{"a":1,"b":2}}}`},
		{"in an element: the list", ``, `{"named":[{"name":"n","new":{"a":1}}]}`, `{"named":[{"name":"n","new":{"b":2}}]}`,
			`{"named":[{"$patch":"replace"},{"name":"n","new":{"a":1,"b":2}}]}`},
		{"at the root: all", ``, `{"new":{"a":1}}`, `{"new":{"b":2}}`, `{"$patch":"replace","new":{"a":1,"b":2}}`},
	} {
		patch, err := encode(c.last, c.live, c.desired)
		if err != nil || string(patch) != c.patch {
			t.Errorf("%s\nlast    %s\nlive    %s\ndesired %s\npatch   %s %v\nwant    %s", c.why, c.last, c.live, c.desired, patch, err, c.patch)
			continue
		}
		story := twin.Story{Last: parse(c.last), Live: parse(c.live), Desired: parse(c.desired), Rules: walk.Rules{Schema: kind, Policy: &walk.Apply}, Theirs: twin.Theirs{Strategic: theirs}}
		if found, err := twin.Laws(story); err != nil || len(found) > 0 {
			t.Errorf("%s: %v %v", c.why, found, err)
		}
	}
}

func theirs(live, patch []byte) ([]byte, error) {
	return strategicpatch.StrategicMergePatch(live, patch, twin.Kind{})
}

// A key that is a directive cannot be data in this dialect.
func TestStrategicInexpressible(t *testing.T) {
	for _, c := range []struct{ live, desired, path string }{
		{`{}`, `{"labels":{"$patch":"x"}}`, "labels"},
		{`{"labels":{}}`, `{"labels":{"$patch":"x"}}`, "labels.$patch"},
		{`{}`, `{"named":[{"name":"a","labels":{"$retainKeys":"x"}}]}`, "named"},
		{`{"byName":{"a":{"labels":{"$setElementOrder/x":"y"}}}}`, `{"byName":{"a":{"value":"v"}}}`, "byName"},
	} {
		_, err := encode("", c.live, c.desired)
		var e *node.Error
		if !errors.As(err, &e) || !errors.Is(err, dialect.ErrInexpressible) || e.Path.String() != c.path {
			t.Errorf("%s over %s: %v, want %s", c.desired, c.live, err, c.path)
		}
	}
	// Other keys with a dollar can.
	if patch, err := encode("", `{}`, `{"labels":{"$ref":"x"}}`); err != nil || string(patch) != `{"labels":{"$ref":"x"}}` {
		t.Errorf("%s %v", patch, err)
	}
}

func TestStrategicRefuses(t *testing.T) {
	for _, c := range []struct {
		live, patch string
		rule        error
		text        string
	}{
		{`[]`, `{}`, node.ErrType, "live: wrong type: want a map, got a list"},
		{`{}`, `"x"`, node.ErrType, "patch: wrong type: want a map, got a string"},
		{`{}`, `{"$patch":"remove"}`, dialect.ErrDirective, "patch: $patch: directive"},
		{`{"part":{}}`, `{"part":{"$retainKeys":"x"}}`, dialect.ErrDirective, "patch: part.$retainKeys: directive"},
		{`{"union":{}}`, `{"union":{"$retainKeys":["a"],"c":"x"}}`, dialect.ErrDirective, "patch: union.c: directive that the API server refuses: the field is not in $retainKeys"},
		{`{"named":[]}`, `{"named":[{"value":"x"}]}`, dialect.ErrNoKey, `patch: named[0]: list element without its merge key: want field "name"`},
		{`{"named":[{"value":"x"}]}`, `{"named":[{"name":"a"}]}`, dialect.ErrNoKey, "live: named[0]: list element without its merge key"},
		{`{"named":[]}`, `{"named":["a"]}`, node.ErrType, "patch: named: wrong type"},
		{`{"set":["a"]}`, `{"set":[1]}`, node.ErrType, "patch: set: wrong type"},
		{`{"set":["a"]}`, `{"$deleteFromPrimitiveList/set":[1]}`, node.ErrType, `patch: ["$deleteFromPrimitiveList/set"]: wrong type`},
		{`{"set":["a"]}`, `{"$setElementOrder/set":"a"}`, dialect.ErrDirective, `patch: ["$setElementOrder/set"]: directive that the API server refuses: want a list`},
		{`{"set":"a"}`, `{"$setElementOrder/set":["a"]}`, dialect.ErrDirective, "live has no list there"},
		{`{"set":[]}`, `{"$setElementOrder/set":[]}`, dialect.ErrDirective, "there is nothing to order"},
		{`{"set":["a"]}`, `{"$setElementOrder/set":["c","b"],"set":["b","c"]}`, dialect.ErrOrder, "patch: set[1]: patch list is not in the order of its $setElementOrder"},
		{`{"new":{"a":1}}`, `{"new":{"b":2}}`, dialect.ErrUnknown, "patch: new: the schema cannot tell how to merge this"},
	} {
		got, err := dialect.ApplyStrategic(nil, parse(c.live), parse(c.patch), kind)
		if !errors.Is(err, c.rule) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s to %s\n got %s %v\nwant %s", c.patch, c.live, got, err, c.text)
		}
		if strings.HasPrefix(c.live, "{") && strings.HasPrefix(c.patch, "{") {
			if got, err := theirs([]byte(c.live), []byte(c.patch)); err == nil {
				t.Errorf("%s to %s: theirs makes %s", c.patch, c.live, got)
			}
		}
	}
}

// Each element of a key is merged into what the ones before it made, so a hostile
// patch could cost its square.
func TestStrategicLimit(t *testing.T) {
	patch := `{"named":[{"name":"a"}` + strings.Repeat(`,{"name":"a"}`, 101) + `]}`
	_, err := dialect.ApplyStrategic(nil, parse(`{"named":[]}`), parse(patch), kind)
	if !errors.Is(err, node.ErrLimit) || !strings.Contains(err.Error(), "named[101]") {
		t.Error(err)
	}
}

// A quadratic step would take 10,000,000,000 turns, and not come to an end before
// the tests are stopped.
func TestStrategicBig(t *testing.T) {
	if testing.Short() {
		t.Skip("big documents")
	}
	list := func(n int, elem func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(elem(i) + ",")
		}
		return `{"named":[` + strings.TrimSuffix(b.String(), ",") + `]}`
	}
	same := func(n int) string { return list(n, func(int) string { return `{"name":"a"}` }) }
	each := func(n int) string { return list(n, func(i int) string { return fmt.Sprintf(`{"name":"n%d"}`, i) }) }
	back := func(n int) string {
		return list(n, func(i int) string { return fmt.Sprintf(`{"name":"n%d","value":"v"}`, n-i) })
	}
	one := func(int) string { return `{"named":[{"name":"a","value":"v"}]}` }
	none := func(int) string { return `{}` }
	for _, c := range []struct {
		name          string
		live, desired func(int) string
	}{{"one key, one changes", same, one}, {"all change and turn round", each, back}, {"all go into one", each, same}, {"new", none, same}} {
		const n = 100_000
		live, desired := c.live(n), c.desired(n)
		patch, err := encode("", live, desired)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if _, err := dialect.ApplyStrategic(nil, parse(live), parse(string(patch)), kind); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
