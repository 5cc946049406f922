package node

import (
	"slices"
	"strings"
	"testing"
)

// picture is the example of doc.go.
const picture = `{"b":[1,2],"a":"x"}`

func TestPicture(t *testing.T) {
	tr := parsed(t, picture)
	for i, want := range []struct {
		kind        Kind
		key, text   string
		parent, end ID
		kids        []ID
	}{
		{Map, "", "", None, 5, []ID{4, 1}},
		{List, "b", "", 0, 4, []ID{2, 3}},
		{Number, "", "1", 1, 3, nil},
		{Number, "", "2", 1, 4, nil},
		{String, "a", "x", 0, 5, nil},
	} {
		id := ID(i)
		if tr.Kind(id) != want.kind || tr.Key(id) != want.key || tr.Parent(id) != want.parent ||
			tr.End(id) != want.end || !slices.Equal(tr.Kids(id), want.kids) {
			t.Errorf("node %d: %v %q parent %d end %d kids %v", id, tr.Kind(id), tr.Key(id), tr.Parent(id), tr.End(id), tr.Kids(id))
		}
		if want.kind < List && tr.Text(id) != want.text {
			t.Errorf("node %d: text %q", id, tr.Text(id))
		}
	}
	if tr.Root() != 0 || tr.Len() != 5 {
		t.Errorf("root %d, length %d", tr.Root(), tr.Len())
	}
}

func TestKindString(t *testing.T) {
	var got []string
	for k := Null; k <= Map; k++ {
		got = append(got, k.String())
	}
	if s := strings.Join(got, " "); s != "null boolean number string list map" {
		t.Error(s)
	}
}

func TestFieldAndLookup(t *testing.T) {
	tr := parsed(t, `{"zebra":1,"a":{"b":{"c":[{"d":1}]}},"":2,"key-long-a":3,"key-long-b":4,"key-long":5,"\u0061\n":6,"a\u0000":7}`)
	for _, c := range []struct {
		key, want, why string
	}{
		{"", "2", "the empty key is a key"},
		{"key-long", "5", "a key that others begin with"},
		{"key-long-a", "3", "the first eight bytes do not tell them apart"},
		{"key-long-b", "4", "nor these"},
		{"key-long-c", "absent", "prefix is there, the key is not"},
		{"a\n", "6", "written with escapes"},
		{"a\x00", "7", "not the same as a, though zero pads prefixes"},
		{"a\x00\x00", "absent", "zeros pad this prefix too"},
		{"zebra ", "absent", "after the last key"},
		{"\x00", "absent", "before all but the empty one"},
	} {
		got := "absent"
		if i := tr.Field(0, c.key); i != None {
			got = tr.Text(i)
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s: %s", c.key, got, c.want, c.why)
		}
	}
	if i := tr.Lookup("a", "b", "c"); i == None || tr.Kind(i) != List {
		t.Error("a.b.c is there")
	}
	if tr.Lookup("a", "x", "c") != None || tr.Lookup("a", "b", "c", "d") != None || tr.Lookup("zebra", "x") != None {
		t.Error("nothing is found below what is absent, a list, a scalar")
	}
	if tr.Lookup() != 0 {
		t.Error("no fields lead to the root")
	}
}

// Maps of every size around the switch from scanning to halving.
func TestFieldAtEverySize(t *testing.T) {
	for n := range 40 {
		m := map[string]any{}
		for i := range n {
			m["shared-prefix-"+strings.Repeat("x", i)] = i
		}
		tr, err := FromMap(m, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, tr) // looks up each field
		if tr.Field(0, "shared-prefix") != None || tr.Field(0, "shared-prefiy") != None {
			t.Fatalf("%d keys: found a key that is absent", n)
		}
	}
}

func TestSubtree(t *testing.T) {
	for _, text := range []string{
		`{"a":{"k\n":[1,{"b":"\u0001"},null]},"z":1e400}`,
		`{"z":1e400,"a":{"y":1,"k\n":[1,{"b":"\u0001"},null],"b":2,"a":3}}`,
		"{\n  \"z\": 1e400,\n  \"a\": { \"k\\n\": [ 1, { \"b\" : \"\\u0001\" }, null, [ ], {\n} ]\n }\n}\n", // as people indent
	} {
		tr := parsed(t, text)
		for i := ID(0); int(i) < tr.Len(); i++ {
			sub := tr.Subtree(i)
			check(t, sub)
			if !Equal(tr, i, sub, 0) || string(sub.JSON()) != string(tr.Append(nil, i)) {
				t.Errorf("%v: %s", tr.Path(i), sub.JSON())
			}
			if again := parsed(t, string(tr.AppendSource(nil, i))); !Equal(tr, i, again, 0) {
				t.Errorf("%v: the source is %s", tr.Path(i), again.JSON())
			}
		}
	}
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	big, err := Parse([]byte(deep), Limits{Depth: 3000})
	if err != nil {
		t.Fatal(err)
	}
	if sub := big.Subtree(1); len(sub.JSON()) != len(deep)-2 {
		t.Error("the limit of the document holds for its parts")
	}
}

func TestAppendIsCanonical(t *testing.T) {
	const want = `{"":0,"a":{"x":[{"p":1,"q":2}],"y":null},"b":1.50,"é":"\n"}`
	for _, text := range []string{
		want,
		`{"b":1.50,"a":{"y":null,"x":[{"q":2,"p":1}]},"":0,"é":"\n"}`,
		" {\t\"\\u00e9\" : \"\\u000a\" ,\r\n\"a\":{\"x\":[{\"q\":2,\"p\":1}],\"y\":null},\"b\":1.50,\"\":0}\n",
	} {
		if got := string(parsed(t, text).JSON()); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestAppendDeclared(t *testing.T) {
	for _, c := range []struct{ text, want, why string }{
		{`{"a":null,"b":1,"c":null}`, `{"b":1}`, "null fields declare absence"},
		{`{"a":{"b":null}}`, `{"a":{}}`, "at any depth, and the map stays"},
		{`[null,{"a":null},1]`, `[null,{},1]`, "nulls in lists are data"},
		{`null`, `null`, "a whole document of null"},
	} {
		if got := string(parsed(t, c.text).AppendDeclared(nil, 0)); got != c.want {
			t.Errorf("%s: %s, want %s: %s", c.text, got, c.want, c.why)
		}
	}
}

func TestAppendQuoted(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", `""`},
		{"plain é \u2028 \U0001F600 \x7f /<>&", "\"plain é \u2028 \U0001F600 \x7f /<>&\""},
		{"\"\\\b\f\n\r\t\x00\x1f", `"\"\\\b\f\n\r\t\u0000\u001f"`},
	} {
		if got := string(AppendQuoted([]byte("x"), c.in)); got != "x"+c.want {
			t.Errorf("%q: %s", c.in, got)
		}
	}
}

func TestInputsStayTheCallers(t *testing.T) {
	text := []byte(`{"a\n":"b\n","c":[1,"d"]}`)
	before := string(text)
	tr, err := Parse(text, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	y, err := ParseYAML([]byte("a: [1, x]"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != before {
		t.Error("Parse changed its input")
	}
	want := string(tr.JSON())
	for i := range text {
		text[i] = '#'
	}
	if got := string(tr.JSON()); got != want {
		t.Errorf("the tree changed with the caller's bytes: %s", got)
	}
	check(t, tr)
	check(t, y)

	list := []any{"x", map[string]any{"k": 1}}
	m := map[string]any{"l": list}
	tr, err = FromMap(m, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	list[0], m["new"] = "changed", true
	if got := string(tr.JSON()); got != `{"l":["x",{"k":1}]}` {
		t.Errorf("the tree changed with the caller's map: %s", got)
	}
	out := tr.Map()
	out["l"].([]any)[0] = "changed"
	if got := string(tr.JSON()); got != `{"l":["x",{"k":1}]}` {
		t.Errorf("the tree changed with the map it gave: %s", got)
	}
}

func TestReader(t *testing.T) {
	var r Reader
	for _, c := range []struct{ text, want string }{
		{`{"b":1,"a":"x\ny"}`, `{"a":"x\ny","b":1}`},
		{`[1,2,`, ""}, // a failure leaves nothing behind
		{`[{"k\t":[]}]`, `[{"k\t":[]}]`},
		{strings.Repeat("[", 500) + strings.Repeat("]", 500), strings.Repeat("[", 500) + strings.Repeat("]", 500)},
		{`{"z":"\u0041","\u0041":[{"b":1,"a":2}]}`, `{"A":[{"a":2,"b":1}],"z":"A"}`},
		{`{"a":1,"a":2}`, ""},
		{`7`, `7`},
	} {
		tr, err := r.Read([]byte(c.text), Limits{})
		if (err == nil) != (c.want != "") {
			t.Fatalf("%s: %v", c.text, err)
		}
		if err == nil {
			check(t, tr)
			if got := string(tr.JSON()); got != c.want {
				t.Errorf("%s: %s", c.text, got)
			}
		}
	}
	r.Reset()
	if tr, err := r.Read([]byte(picture), Limits{}); err != nil || tr.Len() != 5 {
		t.Error("a Reader works after Reset", err)
	}
}
