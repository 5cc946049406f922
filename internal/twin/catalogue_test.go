package twin

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/braid/internal/diverge"
)

// uses counts the entries of the catalogue that have explained something.
var uses = map[string]int{}

func (j *judge) count() {
	for entry, n := range j.used {
		uses[entry] += n
	}
}

// A big run says how often it used each entry; one of all tests must use them all.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, d := range slices.Concat(diverge.Catalogue, diverge.ServerSide) {
		if *triples >= 100_000 {
			fmt.Printf("%8d %s\n", uses[d.Name], d.Name)
			if uses[d.Name] == 0 && flag.Lookup("test.run").Value.String() == "" {
				code = 1
			}
		}
	}
	os.Exit(code)
}

// examples show each entry of the catalogue at its smallest: a triple, under
// overwrite=false if strict, or a patch for live.
var examples = map[string]struct {
	last, live, desired, patch string
	strict                     bool
}{
	"directive-stored":         {live: `{"unions":[{"name":"d"}]}`, last: `{"unions":[{"name":"a","c":"x"}]}`, desired: `{"unions":[{"name":"a"}]}`},
	"null-stored":              {last: `{"named":[{"name":"a","value":"x"}]}`, live: `{"named":[{"name":"b"}]}`, desired: `{"named":[{"name":"a"}]}`},
	"defaults-in-atomic-list":  {last: `{"parts":[{"value":"x"}]}`, live: `{"parts":[{"value":"x","number":1}]}`, desired: `{"parts":[{"value":"x"}]}`},
	"defaults-in-replaced-map": {last: `{"whole":{"value":"x"}}`, live: `{"whole":{"value":"x","number":1}}`, desired: `{"whole":{"value":"x"}}`},
	"union-untouched":          {last: `{"union":{"c":"x"}}`, live: `{"union":{"c":"x","a":{"port":1}}}`, desired: `{"union":{"c":"x"}}`},
	"union-emptied":            {last: `{"union":{"b":{}}}`, live: `{"union":{"b":{},"c":"x"}}`, desired: `{"union":{}}`},
	"removed-whole":            {last: `{"labels":{"a":"x"}}`, live: `{"labels":{"a":"x","b":"y"}}`},
	"union-unknown":            {live: `{"either":{"b":"x"}}`, desired: `{"either":{"a":{}}}`},
	"alias-alone":              {last: `{"name":"a"}`, live: `{"name":"a","alias":"a"}`, desired: `{"name":"b"}`},
	"order-by-reused-memory":   {last: `{"named":[{"name":"d"}]}`, live: `{"named":[{"name":"c"},{"name":"d"}]}`, desired: `{"named":[{"name":"a"}]}`},
	"set-order-unnoticed":      {live: `{"set":["b","a"]}`, desired: `{"set":["a","b"]}`},
	"repeated-key":             {live: `{"named":[]}`, desired: `{"named":[{"name":"a"},{"name":"a","value":"x"}]}`},
	"repeated-value":           {live: `{"set":["c","e","e"]}`, desired: `{"set":["d"]}`},
	"finer-keys":               {live: `{"ports":[{"port":0},{"port":0},{"port":3,"protocol":"d"}]}`, desired: `{"ports":[{"port":3}]}`},
	"number-key":               {live: `{"ports":[{"port":2.0}]}`, desired: `{"ports":[{"port":2}]}`},
	"map-of-structs":           {live: `{"byName":{"c":{"value":"x"}}}`, desired: `{"byName":{"c":{}}}`},
	"unknown-field":            {live: `{"new":{"a":1}}`, desired: `{"new":{"b":1}}`},
	"missing-key":              {live: `{"named":[{}]}`, desired: `{"named":[{"name":"a"}]}`},
	"odd-element":              {live: `{"set":["d",[]]}`, desired: `{"set":[]}`},
	"null-element-panic":       {live: `{"named":[null]}`, desired: `{"named":[]}`},
	"container-key-panic":      {live: `{"named":[{"name":{}}]}`, desired: `{"named":[{"name":"a"}]}`},
	"wrong-type":               {desired: `{"text":1}`},
	"odd-list":                 {last: `{"set":["d"]}`, live: `{"set":"odd"}`, desired: `{"set":["c"]}`},
	"repeats-refused":          {live: `{"ports":[{"port":2}]}`, desired: `{"ports":[{"port":2},{"port":0},{"port":2,"protocol":"b"}]}`},
	"noise-order":              {last: `{"named":[{"name":"a"}]}`, live: `{"named":[{"name":"a"},{"name":"b"}]}`, desired: `{"named":[{"name":"a"}]}`},
	"noise-retain-keys":        {last: `{"union":{"a":{},"c":"x"}}`, live: `{"union":{"c":"x"}}`, desired: `{"union":{"c":"x"}}`},
	"noise-null":               {last: `{"text":"x"}`},
	"noise-delete":             {last: `{"named":[{"name":"a"}]}`, live: `{"named":[]}`, desired: `{"named":[]}`},
	"noise-replaced-map":       {live: `{"whole":{"value":"x"}}`, desired: `{"whole":{"value":"x"}}`},
	"number-spelling":          {live: `{"number":2.0}`, desired: `{"number":2}`},
	"strict-set":               {last: `{"set":["a"]}`, live: `{"set":[]}`, desired: `{"set":["a"]}`, strict: true},
	"strict-atomic-list":       {last: `{"list":["a"]}`, live: `{"list":["a","b"]}`, desired: `{"list":["b","a"]}`, strict: true},
	"strict-replaced-map":      {last: `{"whole":{"value":"x"}}`, live: `{"whole":{"value":"y"}}`, desired: `{"whole":{"value":"z"}}`, strict: true},
	"strict-union":             {live: `{"union":{"name":"b"}}`, desired: `{"union":{"a":{}}}`, strict: true},
	"strict-null":              {last: `{"kind":"e"}`, live: `{"kind":null}`, strict: true},
	"strict-order":             {live: `{"set":["a","c"]}`, desired: `{"set":["c","a"]}`, strict: true},
	"strict-set-lookup":        {last: `{"set":["c"]}`, live: `{"set":[]}`, desired: `{"set":[]}`, strict: true},
	"strict-empty-list":        {live: `{"parts":[{"args":[],"number":1}]}`, desired: `{"parts":[{"args":[]}]}`, strict: true},
	"strict-list-panic":        {live: `{"list":["a","a"]}`, desired: `{"list":["e","a"]}`, strict: true},
	"patch-merge":              {patch: `{"part":{"$patch":"merge"}}`, live: `{"part":{}}`},
	"list-in-other-field":      {patch: `{"labels":[]}`, live: `{"labels":[]}`},
	"prune-of-maps":            {patch: `{"$deleteFromPrimitiveList/ports":[{"port":1}]}`, live: `{"ports":[]}`},
	"prune-and-add":            {}, // TestPruneAndAdd
}

// example reads a document of an example. 2.0 is a json.Number, as in [Random], and 2 is
// none.
func example(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		text = "{}"
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	m := map[string]any{}
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return wholes(m).(map[string]any)
}

// wholes returns a value with int64 for the numbers that are written so.
func wholes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = wholes(e)
		}
	case []any:
		for i, e := range v {
			v[i] = wholes(e)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
	}
	return v
}

func TestCatalogue(t *testing.T) {
	for _, d := range diverge.Catalogue {
		e, ok := examples[d.Name]
		if !ok {
			t.Errorf("%s: no example", d.Name)
			continue
		}
		x := triple{example(t, e.last), example(t, e.live), example(t, e.desired)}
		j := newJudge()
		switch {
		case d.Name == "prune-and-add":
			continue
		case e.patch != "":
			bothApply(j, x.live, example(t, e.patch))
		case e.strict:
			x.strictly(j)
		default:
			x.against(j)
		}
		if j.used[d.Name] == 0 || len(j.open) > 0 {
			t.Errorf("%s: uses %v, %v", d.Name, j.used, j.open)
		}
	}
	if len(examples) != len(diverge.Catalogue) {
		t.Errorf("%d examples for %d entries", len(examples), len(diverge.Catalogue))
	}
}
