package walk

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// Each line is one merge, under Apply unless it says otherwise.
var merges = []struct {
	why                         string
	last, live, desired, merged string
	policy                      *Policy
}{
	// Documents.
	{"nothing declared, nothing there", "", "", `{}`, `{}`, nil},
	{"no live object: create", "", "", `{"text":"x"}`, `{"text":"x"}`, nil},
	{"no last: nothing is removed", "", `{"number":1,"text":"x"}`, `{"text":"y"}`, `{"number":1,"text":"y"}`, nil},

	// Alignment.
	{"elements are paired by key, not by place", "",
		`{"named":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}`,
		`{"named":[{"name":"b","value":"3"}]}`,
		`{"named":[{"name":"a","value":"1"},{"name":"b","value":"3"}]}`, nil},
	{"keys are numbers, not text", "", `{"ports":[{"port":80.0}]}`, `{"ports":[{"port":80,"text":"x"}]}`, `{"ports":[{"port":80.0,"text":"x"}]}`, nil},
	{"repeated keys are paired by occurrence", "",
		`{"named":[{"name":"a","value":"1"},{"name":"a","value":"2"}]}`,
		`{"named":[{"name":"a"},{"name":"a","value":"3"}]}`,
		`{"named":[{"name":"a","value":"1"},{"name":"a","value":"3"}]}`, nil},
	{"the second occurrence goes, the first stays",
		`{"named":[{"name":"a"},{"name":"a"}]}`, `{"named":[{"name":"a"},{"name":"a"}]}`,
		`{"named":[{"name":"a"}]}`, `{"named":[{"name":"a"}]}`, nil},
	{"a value that desired repeats is one", "", `{"set":[]}`, `{"set":["a","b","a"]}`, `{"set":["a","b"]}`, nil},
	{"live may repeat values as long as we change nothing", "", `{"set":["a","a"]}`, `{"set":["a"]}`, `{"set":["a","a"]}`, nil},
	{"live's elements without a key stay", "", `{"named":[{"value":"x"},null,"odd"]}`, `{"named":[{"name":"a"}]}`,
		`{"named":[{"name":"a"},{"value":"x"},null,"odd"]}`, nil},
	{"53/TCP and 53/UDP are two", "", `{"ports":[{"port":53,"text":"t"}]}`,
		`{"ports":[{"port":53},{"port":53,"protocol":"UDP"}]}`,
		`{"ports":[{"port":53,"text":"t"},{"port":53,"protocol":"UDP"}]}`, nil},
	{"the default of a finer key counts", "", `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`,
		`{"ports":[{"port":53,"text":"t"}]}`,
		`{"ports":[{"port":53,"protocol":"TCP","text":"t"},{"port":53,"protocol":"UDP"}]}`, nil},
	{"no finer keys where the key does not repeat", "", `{"ports":[{"port":53,"protocol":"UDP"}]}`,
		`{"ports":[{"port":53,"protocol":"TCP"}]}`, `{"ports":[{"port":53,"protocol":"TCP"}]}`, nil},
	{"a finer key does not replace the key", "", `{"ports":[{},{"port":1},{"port":1}]}`, `{"ports":[{"port":1}]}`, `{"ports":[{},{"port":1},{"port":1}]}`, nil},

	// Order.
	{"desired's order", "", `{"set":["a","b","c"]}`, `{"set":["c","a","b"]}`, `{"set":["c","a","b"]}`, nil},
	{"a new element stands where desired has it", "", `{"set":["a","b"]}`, `{"set":["x","a","y","b"]}`, `{"set":["x","a","y","b"]}`, nil},
	{"live's own keep the neighbour behind", "", `{"set":["z","a","y","b"]}`, `{"set":["b","a"]}`, `{"set":["z","y","b","a"]}`, nil},
	{"touching one moves none", "", `{"named":[{"name":"c"},{"name":"a"},{"name":"b"}]}`, `{"named":[{"name":"b","value":"x"}]}`,
		`{"named":[{"name":"c"},{"name":"a"},{"name":"b","value":"x"}]}`, nil},
	{"elements of one key stand together if anything changes", "", `{"named":[]}`,
		`{"named":[{"name":"a"},{"name":"b"},{"name":"a"}]}`, `{"named":[{"name":"a"},{"name":"a"},{"name":"b"}]}`, nil},
	{"and are left as they are if nothing does", "", `{"named":[{"name":"a"},{"name":"b"},{"name":"a"}]}`,
		`{"named":[{"name":"a"},{"name":"b"},{"name":"a"}]}`, `{"named":[{"name":"a"},{"name":"b"},{"name":"a"}]}`, nil},
	{"Update lets others reorder", `{"set":["a","b"]}`, `{"set":["b","a"]}`, `{"set":["a","b"]}`, `{"set":["b","a"]}`, &Update},
	{"unless we reorder", `{"set":["b","a"]}`, `{"set":["b","a"]}`, `{"set":["a","b"]}`, `{"set":["a","b"]}`, &Update},
	{"what we add follows what it follows", `{"set":["a","b"]}`, `{"set":["b","a"]}`, `{"set":["x","a","y","b"]}`, `{"set":["x","b","a","y"]}`, &Update},

	// Whole values.
	{"a list without keys is one value", "", `{"list":["a","b"]}`, `{"list":["c"]}`, `{"list":["c"]}`, nil},
	{"a map under replace too", "", `{"whole":{"a":"x"}}`, `{"whole":{"b":"y"}}`, `{"whole":{"b":"y"}}`, nil},
	{"a server's defaults in one are no change", `{"parts":[{"name":"a"}]}`, `{"parts":[{"name":"a","value":"d"}]}`,
		`{"parts":[{"name":"a"}]}`, `{"parts":[{"name":"a","value":"d"}]}`, nil},
	{"unless we change it", `{"parts":[{"name":"a"}]}`, `{"parts":[{"name":"a","value":"d"}]}`,
		`{"parts":[{"name":"b"}]}`, `{"parts":[{"name":"b"}]}`, nil},
	{"1 and 1.0 are one value", "", `{"number":1.0}`, `{"number":1}`, `{"number":1.0}`, nil},
	{"9007199254740993 is not …992", "", `{"number":9007199254740992}`, `{"number":9007199254740993}`, `{"number":9007199254740993}`, nil},

	// Unions.
	{"another member clears the first", "", `{"union":{"a":"x"}}`, `{"union":{"b":"y"}}`, `{"union":{"b":"y"}}`, nil},
	{"unchanged, it keeps what others add", "", `{"union":{"a":"x","b":"y"}}`, `{"union":{"a":"x"}}`, `{"union":{"a":"x","b":"y"}}`, nil},

	// Nulls.
	{"null in desired removes", "", `{"text":"x"}`, `{"text":null}`, `{}`, nil},
	{"and is not created", "", `{}`, `{"named":[{"name":"a","value":null}],"text":null}`, `{"named":[{"name":"a"}]}`, nil},
	{"null in live is a value", "", `{"text":null}`, `{}`, `{"text":null}`, nil},
	{"which we remove if we declared the field", `{"text":"x"}`, `{"text":null}`, `{}`, `{}`, nil},
	{"null elements are data", "", `{"parts":[]}`, `{"parts":[null]}`, `{"parts":[null]}`, nil},
}

func TestMerges(t *testing.T) {
	for _, c := range merges {
		if c.policy == nil {
			c.policy = &Apply
		}
		s := merge(t, c.last, c.live, c.desired, c.policy)
		if got := string(s.AppendMerged(nil)); got != c.merged {
			t.Errorf("%s\nlast    %s\nlive    %s\ndesired %s\nmerged  %s\nwant    %s", c.why, c.last, c.live, c.desired, got, c.merged)
		}
		if changed := c.merged != c.live && c.live != ""; c.live != "" && (s.Changes > 0) != changed {
			t.Errorf("%s: %d changes", c.why, s.Changes)
		}
	}
}

// A script holds what differs from live, by the rules that Edit states.
func TestScript(t *testing.T) {
	s := merge(t,
		`{"labels":{"old":"x"}}`,
		`{"labels":{"old":"x"},"named":[{"name":"a"},{"name":"b"}],"text":"same"}`,
		`{"named":[{"name":"b","value":"v"},{"name":"c"}],"text":"same"}`, &Apply)
	got := ""
	for i, e := range s.Edits {
		op := [...]string{"keep", "take", "remove", "clash", "fields", "elements"}[e.Op]
		got += fmt.Sprintf("%s %s\n", s.Path(int32(i)), op)
	}
	want := `(root) fields
labels remove
named elements
named[name=a] keep
named[name=b] fields
named[name=b].value take
named[name=c] take
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A merge that changes nothing has no edits at all.
func TestNothing(t *testing.T) {
	doc := `{"labels":{"a":"x"},"named":[{"name":"a"}],"set":["a"],"union":{"a":"x"}}`
	if s := merge(t, doc, doc, doc, &Apply); len(s.Edits) != 0 || s.Changes != 0 || s.Conflicts != 0 {
		t.Errorf("%+v", s.Edits)
	}
}

func TestClashes(t *testing.T) {
	s := merge(t, `{"named":[{"name":"a","value":"x"}],"text":"x"}`, `{"named":[{"name":"a","value":"y"}],"text":"y"}`,
		`{"named":[{"name":"a","value":"z"}]}`, &Strict)
	var got []string
	for i, e := range s.Edits {
		if e.Op == OpClash {
			got = append(got, fmt.Sprintf("%s %s", s.Path(int32(i)), e.Case))
		}
	}
	if want := "named[name=a].value BothSetOther, text WeRemoveTheySet"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if merged := string(s.AppendMerged(nil)); merged != string(s.Live.JSON()) {
		t.Errorf("a conflict leaves live, got %s", merged)
	}
}

func TestWarnings(t *testing.T) {
	s := merge(t, "", `{"new":{"a":1},"labels":{"any":"key"}}`, `{"newer":1}`, &Apply)
	var got []string
	for _, w := range s.Warnings {
		tree := s.Live
		if w.Doc == "desired" {
			tree = s.Desired
		}
		got = append(got, w.Doc+" "+tree.Path(w.Node).String())
	}
	if want := "live new, desired newer"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Only desired, and what is no map, is refused; the error says where and why.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		last, live, desired string
		rule                error
		text                string
	}{
		{"", `{}`, `{"named":[{"name":"a"},{"value":"x"}]}`, ErrKey, `desired: named[1]: list element without its key: want field "name" with a scalar`},
		{"", `{"named":[]}`, `{"named":[{"name":null}]}`, ErrKey, `desired: named[0]: list element without its key: want field "name" with a scalar`},
		{"", `{"named":[]}`, `{"named":["a"]}`, node.ErrType, `desired: named[0]: wrong type: want a map with field "name", got a string`},
		{"", `{}`, `{"named":{}}`, node.ErrType, `desired: named: wrong type: the schema wants a list, this is a map`},
		{"", `{"text":"x"}`, `{"text":1}`, node.ErrType, `desired: text: wrong type: the schema wants a string, this is a number`},
		{"", `{"set":["a"]}`, `{"set":["a",{}]}`, node.ErrType, `desired: set[1]: wrong type: the elements of a set are scalars, this is a map`},
		{"", `{"named":[{"name":"a","labels":{}}]}`, `{"named":[{"name":"a","labels":{"k":7}}]}`, node.ErrType,
			`desired: named[0].labels.k: wrong type: the schema wants a string, this is a number`},
		{"", `{}`, `[]`, node.ErrType, `desired: wrong type: an object is a map, this is a list`},
		{"", `1`, `{}`, node.ErrType, `live: wrong type: an object is a map, this is a number`},
		{`null`, `{}`, `{}`, node.ErrType, `last: wrong type: an object is a map, this is a null`},
	} {
		_, err := Walk(Input{Last: parse(c.last), Live: parse(c.live), Desired: parse(c.desired), Rules: Rules{Schema: things, Policy: &Apply}})
		var e *node.Error
		if !errors.As(err, &e) || !errors.Is(err, c.rule) || err.Error() != c.text {
			t.Errorf("%s over %s\n got %v\nwant %s", c.desired, c.live, err, c.text)
		}
	}
}

// Under Structured the finer keys are the keys, under Plain there are none.
func TestModels(t *testing.T) {
	live, desired := `{"ports":[{"port":1},{"port":2}]}`, `{"ports":[{"port":1,"protocol":"UDP"}]}`
	for model, want := range map[schema.Model]string{
		schema.Strategic:  `{"ports":[{"port":1,"protocol":"UDP"},{"port":2}]}`,
		schema.Structured: `{"ports":[{"port":1,"protocol":"UDP"},{"port":1},{"port":2}]}`,
		schema.Plain:      `{"ports":[{"port":1,"protocol":"UDP"}]}`,
	} {
		s, err := Walk(Input{Live: parse(live), Desired: parse(desired), Rules: Rules{Schema: things, Model: model, Policy: &Apply}})
		if got := string(s.AppendMerged(nil)); err != nil || got != want {
			t.Errorf("model %d: %s %v, want %s", model, got, err, want)
		}
	}
}
