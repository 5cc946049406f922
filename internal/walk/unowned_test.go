package walk

import (
	"fmt"
	"strings"
	"testing"

	"example.com/braid/internal/owner"
	"example.com/braid/internal/schema"
)

// owned is of a kind of which a server and a patch name elements by the same keys.
var owned = func() *schema.Schema {
	named := keyed(part, "name")
	named.Structured = named.Strategic
	return &schema.Schema{Root: structOf("apiVersion", str, "metadata", schema.Unknown, "named", named, "any", &schema.Type{Kind: schema.Map, Elem: part})}
}()

// handMade writes an object of n elements in a list, and as many fields in another, every other
// of which somebody made; and the rest of it, which is declared.
func handMade(n int) (live, desired string) {
	var elems, fields, keys, names, declared []string
	for i := range n {
		elems = append(elems, fmt.Sprintf(`{"name":"n%d","value":"v"}`, i))
		fields = append(fields, fmt.Sprintf(`"f%d":{"value":"v"}`, i))
		if i%2 == 0 {
			declared = append(declared, elems[i])
			continue
		}
		keys = append(keys, fmt.Sprintf(`"k:{\"name\":\"n%d\"}":{".":{},"f:name":{},"f:value":{}}`, i))
		names = append(names, fmt.Sprintf(`"f:f%d":{"f:value":{}}`, i))
	}
	managed := `{"manager":"kubectl-edit","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:named":{` + strings.Join(keys, ",") + `},"f:any":{` + strings.Join(names, ",") + `}}}`
	return `{"apiVersion":"v1","metadata":{"managedFields":[` + managed + `]},"named":[` + strings.Join(elems, ",") + `],"any":{` + strings.Join(fields, ",") + `}}`,
		`{"apiVersion":"v1","named":[` + strings.Join(declared, ",") + `]}`
}

// Twice what was made by hand is at most 2.2 times the work, whether it stays or goes.
func TestUnownedLinear(t *testing.T) {
	for _, unowned := range []Unowned{UnownedStays, UnownedGoes} {
		work := func(n int) int {
			l, d := handMade(n)
			live := parse(l)
			found, err := owner.FindHandMade(live, owned.Root, []string{"kubectl-edit"})
			if err != nil {
				t.Fatal(err)
			}
			s, err := Walk(Input{Live: live, Desired: parse(d), HandMade: found, Rules: Rules{Schema: owned, Policy: &Apply, Unowned: unowned}})
			if err != nil {
				t.Fatal(err)
			}
			if changes := map[Unowned]int{UnownedStays: 0, UnownedGoes: n}[unowned]; s.Changes != changes || len(s.Warnings) != n {
				t.Fatalf("%d changes, want %d; %d warnings, want %d", s.Changes, changes, len(s.Warnings), n)
			}
			for i, w := range s.Warnings {
				if i > 0 && s.Warnings[i-1].Node >= w.Node {
					t.Fatalf("%s is warned of before %s", live.Path(s.Warnings[i-1].Node), live.Path(w.Node))
				}
			}
			return s.Work
		}
		for n := 500; n <= 8000; n *= 2 {
			if once, twice := work(n), work(2*n); float64(twice) > 2.2*float64(once) {
				t.Errorf("%d: %d steps for %d parts, %d for twice as many", unowned, once, n, twice)
			}
		}
	}
}

// What was made by hand counts for nothing where somebody declares it, and is not looked for
// unless it is asked for.
func TestUnownedDeclared(t *testing.T) {
	live, _ := handMade(3)
	l := parse(live)
	found, err := owner.FindHandMade(l, owned.Root, []string{"kubectl-edit"})
	if err != nil || len(found.Set) == 0 {
		t.Fatal(found, err)
	}
	for _, in := range []Input{
		{Live: l, Desired: l, HandMade: found},
		{Last: l, Live: l, Desired: l, HandMade: found},
		{Live: l, Desired: parse(`{"apiVersion":"v1"}`)},
	} {
		in.Rules = Rules{Schema: owned, Policy: &Apply, Unowned: UnownedGoes}
		if s, err := Walk(in); err != nil || s.Changes > 0 || len(s.Warnings) > 0 {
			t.Errorf("%d changes, %v, %v", s.Changes, s.Warnings, err)
		}
	}
	if s, err := Walk(Input{Last: l, Live: l, Desired: parse(`{"apiVersion":"v1"}`), HandMade: found, Rules: Rules{Schema: owned, Policy: &Apply, Unowned: UnownedGoes}}); err != nil || len(s.Warnings) > 0 {
		t.Errorf("what last declared goes without a word: %v, %v", s.Warnings, err)
	}
}
