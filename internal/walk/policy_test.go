package walk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// table is DESIGN.md §3: what each policy does in each case.
const table = `
Absent          – – –  Keep Keep  Keep Keep
WeAdd           – – x  Take Take  Take Take
TheyAdd         – x –  Keep Keep  Keep Keep
BothAddSame     – x x  Keep Keep  Keep Keep
BothAddOther    – x y  Take Clash Take Clash
BothRemove      x – –  Keep Keep  Keep Keep
TheyRemove      x – x  Take Clash Keep Keep
TheyRemoveWeSet x – y  Take Clash Take Clash
WeRemove        x x –  Take Take  Take Take
Unchanged       x x x  Keep Keep  Keep Keep
WeSet           x x y  Take Take  Take Take
WeRemoveTheySet x y –  Take Clash Take Clash
TheySet         x y x  Take Clash Keep Keep
BothSetSame     x y y  Keep Keep  Keep Keep
BothSetOther    x y z  Take Clash Take Clash
`

var policies = []struct {
	name   string
	policy *Policy
}{{"Apply", &Apply}, {"Strict", &Strict}, {"Update", &Update}, {"Branch", &Branch}}

// row is one line of the table: a case, its letters and the four actions.
type row struct {
	kase    Case
	letters [3]string // of last, live, desired; "–" for absence
	actions [4]string
}

func rows(t *testing.T) []row {
	t.Helper()
	var out []row
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		f := strings.Fields(line)
		r := row{kase: Case(i), letters: [3]string(f[1:4]), actions: [4]string(f[4:8])}
		if r.kase.String() != f[0] || r.kase.Pattern() != strings.Join(f[1:4], " ") {
			t.Errorf("case %d is %s %q, want %s", i, r.kase, r.kase.Pattern(), line)
		}
		out = append(out, r)
	}
	if len(out) != Cases {
		t.Fatalf("%d rows", len(out))
	}
	return out
}

func TestPolicies(t *testing.T) {
	for _, r := range rows(t) {
		for i, p := range policies {
			if got := p.policy[r.kase].String(); got != r.actions[i] {
				t.Errorf("%s %s: %s, want %s", p.name, r.kase, got, r.actions[i])
			}
		}
	}
}

// forms writes a value of the table at one position: as a field of a map, as
// the content of an element of a keyed list, as an element of it, or of a set.
var forms = []struct {
	name string
	doc  func(letter string) string
	// elements: the position is one that is there or not, so letters mean only
	// presence where all three have it.
	elements bool
}{
	{"field", func(v string) string {
		if v == "–" {
			return `{}`
		}
		return fmt.Sprintf(`{"text":%q}`, v)
	}, false},
	{"field of a map", func(v string) string {
		if v == "–" {
			return `{"labels":{"o":"o"}}`
		}
		return fmt.Sprintf(`{"labels":{"k":%q,"o":"o"}}`, v)
	}, false},
	{"field of an element", func(v string) string {
		if v == "–" {
			return `{"named":[{"name":"k"}]}`
		}
		return fmt.Sprintf(`{"named":[{"name":"k","value":%q}]}`, v)
	}, false},
	{"element", func(v string) string {
		if v == "–" {
			return `{"named":[{"name":"o"}]}`
		}
		return fmt.Sprintf(`{"named":[{"name":"k","value":%q},{"name":"o"}]}`, v)
	}, true},
	{"value of a set", func(v string) string {
		if v == "–" {
			return `{"set":["o"]}`
		}
		return `{"set":["k","o"]}`
	}, true},
}

func TestEachCase(t *testing.T) {
	for _, form := range forms {
		for _, r := range rows(t) {
			for i, p := range policies {
				if form.elements && !asElement(form.name, r) {
					continue
				}
				t.Run(form.name+"/"+r.kase.String()+"/"+p.name, func(t *testing.T) {
					last, live, desired := form.doc(r.letters[0]), form.doc(r.letters[1]), form.doc(r.letters[2])
					s := merge(t, last, live, desired, p.policy)
					want := live
					if r.actions[i] == "Take" {
						want = desired
					}
					if got := string(s.AppendMerged(nil)); got != want {
						t.Errorf("merged %s, want %s", got, want)
					}
					if got := s.Conflicts > 0; got != (r.actions[i] == "Clash") {
						t.Errorf("%d conflicts", s.Conflicts)
					}
					for k := range s.Edits {
						if s.Edits[k].Op == OpClash && s.Edits[k].Case != r.kase {
							t.Errorf("a clash in case %s", s.Edits[k].Case)
						}
					}
				})
			}
		}
	}
}

// asElement reports whether a row is about an element as a whole. One that live
// and desired have is merged by its content; a value of a set has none.
func asElement(form string, r row) bool {
	if r.letters[1] != "–" && r.letters[2] != "–" {
		return false
	}
	return form != "value of a set" || r.kase != WeRemoveTheySet && r.kase != TheyRemoveWeSet
}

func merge(t *testing.T, last, live, desired string, p *Policy) Script {
	t.Helper()
	s, err := Walk(Input{Last: parse(last), Live: parse(live), Desired: parse(desired), Rules: Rules{Schema: things, Policy: p}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parse reads a document; "" is none.
func parse(text string) *node.Tree {
	if text == "" {
		return nil
	}
	t, err := node.Parse([]byte(text), node.Limits{})
	if err != nil {
		panic(err)
	}
	return t
}

// things is a schema with one field of each kind.
var things = &schema.Schema{Name: "Things", Root: structOf(
	"text", str,
	"number", &schema.Type{Kind: schema.Integer},
	"labels", &schema.Type{Kind: schema.Map, Elem: str},
	"named", keyed(part, "name"),
	"set", &schema.Type{Kind: schema.List, Elem: str, Strategic: schema.Rule{Merge: schema.Set}},
	"list", &schema.Type{Kind: schema.List, Elem: str, Strategic: schema.Rule{Merge: schema.Atomic}},
	"parts", &schema.Type{Kind: schema.List, Elem: part, Strategic: schema.Rule{Merge: schema.Atomic}},
	"ports", finer(keyed(structOf("port", &schema.Type{Kind: schema.Integer}, "protocol", str, "text", str), "port"),
		schema.Key{Name: "port"}, schema.Key{Name: "protocol", Default: `"TCP"`}),
	"union", withRule(structOf("a", str, "b", str), schema.Rule{RetainKeys: true}),
	"whole", withRule(structOf("a", str, "b", str), schema.Rule{Merge: schema.Atomic}),
)}

var (
	str  = &schema.Type{Kind: schema.String}
	part = structOf("name", str, "value", str, "labels", &schema.Type{Kind: schema.Map, Elem: str})
)

func structOf(nameType ...any) *schema.Type {
	t := &schema.Type{Kind: schema.Map}
	for i := 0; i < len(nameType); i += 2 {
		name := nameType[i].(string)
		t.Fields = append(t.Fields, schema.Field{Name: name, Type: nameType[i+1].(*schema.Type), Prefix: node.Prefix(name)})
	}
	slices.SortFunc(t.Fields, func(x, y schema.Field) int { return strings.Compare(x.Name, y.Name) })
	return t
}

func keyed(elem *schema.Type, key string) *schema.Type {
	return &schema.Type{Kind: schema.List, Elem: elem, Strategic: schema.Rule{Merge: schema.Keyed, Keys: []schema.Key{{Name: key}}}}
}

func withRule(t *schema.Type, r schema.Rule) *schema.Type {
	t.Strategic = r
	return t
}

func finer(t *schema.Type, keys ...schema.Key) *schema.Type {
	t.Structured = schema.Rule{Merge: schema.Keyed, Keys: keys}
	return t
}

// A policy of the caller's own may have any action in any row: where live and desired are
// equal there is nothing to clash about, and nothing to take where neither has a value, also
// if desired says so with a null.
func TestPolicyOfOneAction(t *testing.T) {
	for _, r := range rows(t) {
		for _, action := range []Action{Keep, Take, Clash} {
			var p Policy
			for c := range p {
				p[c] = action
			}
			doc := forms[1].doc
			desired := doc(r.letters[2])
			for _, desired := range []string{desired, strings.Replace(desired, `{"o":"o"}`, `{"k":null,"o":"o"}`, 1)} {
				s := merge(t, doc(r.letters[0]), doc(r.letters[1]), desired, &p)
				differ := r.letters[1] != r.letters[2]
				untouched := r.kase == TheyAdd && !strings.Contains(desired, "null") // nobody declares it
				if got, want := s.Conflicts > 0, differ && action == Clash && !untouched; got != want {
					t.Errorf("%s, %s, desired %s: conflicts %t, want %t", r.kase, action, desired, got, want)
				}
				if got, want := s.Changes > 0, differ && action == Take && !untouched; got != want {
					t.Errorf("%s, %s, desired %s: changes %t, want %t", r.kase, action, desired, got, want)
				}
				for i := range s.Edits {
					s.Path(int32(i))
				}
			}
		}
	}
}
