package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v2"
)

// FuzzParse holds Parse against encoding/json: the same documents are good and mean
// the same, but for repeated keys, invalid UTF-8, unpaired surrogates and limits.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		picture, `{"a":{"b":[1,-0,1.5e+3,"\u00e9\n\ud83d\ude00",null,true,false,{},[]]},"":0}`, `{"b":1,"a":2,"b":3}`, `{"\u0061":1,"a":2}`,
		"\"\xff\"", `"\ud800"`, `[[[[[[[]]]]]]]`, ` [ 1 , 2 ] `, `{"a":1,}`, `01`, `1e`, `"`, `"\`, `{"abcdefgh1":1,"abcdefgh0":{"x\u0000":0,"x":1}}`,
		`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaé"`, "\ufeff1", "1 2", `{ "a": { "b": [ 1 , {} ] , "c": { } } }`,
	} {
		f.Add([]byte(s))
	}
	lim := Limits{Depth: 100, Nodes: 10_000}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		tr, err := Parse(text, lim)
		if !bytes.Equal(before, text) {
			t.Fatal("the input changed")
		}
		want, jerr := decodeJSON(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset > len(text) || tr != nil {
				t.Fatalf("error %#v", err)
			}
			_ = err.Error()
			excepted := errors.Is(err, ErrDuplicateKey) || errors.Is(err, ErrLimit) || !utf8.Valid(text) || strings.Contains(e.Detail, "surrogate")
			if jerr == nil && !excepted {
				t.Fatalf("%q: refused: %v", text, err)
			}
			return
		}
		if jerr != nil {
			t.Fatalf("%q: encoding/json: %v", text, jerr)
		}
		check(t, tr)
		if got := asJSON(tr, 0); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q:\n got %#v\nwant %#v", text, got, want)
		}
		checkRoutes(t, tr)
	})
}

// decodeJSON is encoding/json for one document, numbers as their text.
func decodeJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("data after the document")
	}
	return v, nil
}

// asJSON is Tree.Value with every number as its text.
func asJSON(tr *Tree, i ID) any {
	switch tr.Kind(i) {
	case Map:
		m := map[string]any{}
		for _, k := range tr.Kids(i) {
			m[tr.Key(k)] = asJSON(tr, k)
		}
		return m
	case List:
		l := []any{}
		for _, k := range tr.Kids(i) {
			l = append(l, asJSON(tr, k))
		}
		return l
	case Number:
		return json.Number(tr.Text(i))
	}
	return tr.Value(i)
}

// checkRoutes verifies that all ways to make a tree of one value agree.
func checkRoutes(t *testing.T, tr *Tree) {
	t.Helper()
	var r Reader
	text := tr.JSON()
	if again, err := r.Read(text, Limits{}); err != nil || !Equal(tr, 0, again, 0) {
		t.Fatalf("%s: Reader: %v", text, err)
	}
	if y, err := ParseYAML(text, Limits{}); err != nil || string(y.JSON()) != string(text) {
		t.Fatalf("%s: ParseYAML: %v", text, err)
	}
	if tr.Kind(0) != Map {
		return
	}
	m, err := FromMap(tr.Map(), Limits{})
	if err != nil || !Equal(tr, 0, m, 0) {
		t.Fatalf("%s: FromMap of Map: %v", text, err)
	}
	check(t, m)
	for i := ID(1); int(i) < min(tr.Len(), 20); i++ {
		if sub := tr.Subtree(i); !Equal(tr, i, sub, 0) {
			t.Fatalf("%s: Subtree %d", text, i)
		}
	}
}

// FuzzFromMap builds Go values that are not JSON's own and holds FromMap against
// encoding/json.
func FuzzFromMap(f *testing.F) {
	f.Add([]byte(picture), "k", "v\n", int64(-1), uint64(1), 1.5, float32(0.1))
	f.Add([]byte(`{"a":[{"b":null}]}`), "", "\xff", int64(1), uint64(1)<<63, 1e21, float32(1e-7))
	f.Fuzz(func(t *testing.T, text []byte, key, s string, n int64, u uint64, d float64, e float32) {
		m := map[string]any{
			key: s, "n": n, "u": u, "i": int(n), "b": uint8(u), "s": []string{s, ""}, "m": map[string]string{s: key},
			"l": []map[string]any{{key: []any{d, nil, e, true}}, nil}, "json": json.Number(s),
		}
		if v, err := decodeJSON(text); err == nil {
			m["x"] = v
		}
		if !isNumber(s) {
			if _, err := FromMap(m, Limits{}); !errors.Is(err, ErrValue) && !errors.Is(err, ErrLimit) {
				t.Fatalf("json.Number(%q): %v", s, err)
			}
			delete(m, "json")
		}
		tr, err := FromMap(m, Limits{})
		want, jerr := json.Marshal(m)
		if err != nil {
			if jerr == nil && utf8.ValidString(s) && utf8.ValidString(key) && !errors.Is(err, ErrLimit) {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		if jerr != nil {
			t.Fatal("encoding/json:", jerr)
		}
		check(t, tr)
		if w := parsed(t, string(want)); !Equal(tr, 0, w, 0) {
			t.Fatalf("%s\nwant %s", tr.JSON(), want)
		}
	})
}

// FuzzYAML holds ParseYAML against sigs.k8s.io/yaml. Where both read a document, they
// read the same, but for
//
//   - numbers, which are exact here, and decimal keys;
//   - text that is JSON, where Parse decides;
//   - what the tag ! stands before (see TestYAMLScalars);
//   - documents after the first, which upstream drops without a word.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"a: 1\nb:\n- x\n- y: z\n", "{a: [1, {b: c}]}", "a: &x {p: 1}\nb: {<<: *x, q: 2}", "a: |\n  x\n  y\nb: >-\n  z\n", "? a\n: b\n1: 2\n~: 3",
		"--- !!str 1\n...\n---\n- !!int \"7\"", "# c\na: yes # d\n# e\n", "a: 'x''y'\nb: \"\\x41\\u00e9\"", "- 0o7\n- 0x1f\n- 1_0\n- .5\n- 1.\n- 2001-01-01",
		"a: &a [*a]", "%YAML 1.1\n---\na: b", "a:\n  - b\n  -\n    - c\n", "a: .inf", "{a: 1, a: 2}", "a: b: c", "\ufeffa: 1\r\nb: \t2", "- - - a\n  - b\n", "a: !x y\nb: ! 1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		tr, err := ParseYAML(text, Limits{Nodes: 100_000, Depth: 200})
		if !bytes.Equal(before, text) {
			t.Fatal("the input changed")
		}
		var e *Error
		if err != nil && (tr != nil || !errors.As(err, &e)) {
			t.Fatalf("error %#v", err)
		}
		all, aerr := ParseYAMLAll(text, Limits{Nodes: 100_000, Depth: 200})
		if (err == nil) != (aerr == nil && len(all) == 1) && !strings.Contains(err.Error(), "document") {
			t.Fatalf("ParseYAML: %v; ParseYAMLAll: %d, %v", err, len(all), aerr)
		}
		j, uerr := yaml.YAMLToJSONStrict(text)
		if uerr == nil {
			uerr = restIsYAML(text)
		}
		if err != nil {
			if uerr == nil && string(j) != "null" && !bytes.Contains(text, []byte("!")) && !refusedForGood(e) {
				t.Fatalf("%q: refused: %v\nupstream: %s", text, err, j)
			}
			return
		}
		check(t, tr)
		if _, perr := Parse(text, Limits{}); perr == nil || uerr != nil || bytes.Contains(text, []byte("!")) {
			return
		}
		want, perr := Parse(j, Limits{})
		if perr != nil {
			t.Fatal(perr)
		}
		if string(j) == "null" && tr.Kind(0) != Null {
			return // upstream stops at an empty first document
		}
		if d := differs(tr, 0, want, 0); d != None && !decimalKeys(tr) {
			t.Fatalf("%q: %v differs\n    ours %s\nupstream %s", text, tr.Path(d), tr.JSON(), j)
		}
	})
}

// restIsYAML looks at the documents that upstream drops.
func restIsYAML(text []byte) error {
	d := goyaml.NewDecoder(bytes.NewReader(text))
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// refusedForGood reports errors of which upstream has no like.
func refusedForGood(e *Error) bool {
	return e.Rule == ErrLimit || e.Rule == ErrDuplicateKey || strings.Contains(e.Detail, "second document") || strings.Contains(e.Detail, "not text")
}

// decimalKeys reports whether a key may be a number that a float32 cannot hold.
func decimalKeys(tr *Tree) bool {
	for i := ID(0); int(i) < tr.Len(); i++ {
		if k := tr.Key(i); isNumber(k) && !isInteger(k) {
			return true
		}
	}
	return false
}

// FuzzNumber holds NumberEqual and AppendNumberKey against exact rationals.
func FuzzNumber(f *testing.F) {
	f.Add("1", "1.0")
	f.Add("-0", "0e5")
	f.Add("9007199254740992", "9007199254740993")
	f.Add("1e99999999999999999999", "10e99999999999999999998")
	f.Add("120.50E-3", "1205e-4")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !isNumber(a) || !isNumber(b) {
			if json.Valid([]byte(a)) && strings.Trim(a, "-0123456789.eE+") == "" && a != "" && !isNumber(a) {
				t.Fatalf("%q is a number", a)
			}
			return
		}
		equal := NumberEqual(a, b)
		if equal != NumberEqual(b, a) || !NumberEqual(a, a) || equal != (numberKey(a) == numberKey(b)) {
			t.Fatalf("%s, %s: keys %q, %q; equal %v", a, b, numberKey(a), numberKey(b), equal)
		}
		if x, y := parseDecimal(a), parseDecimal(b); max(x.exp, y.exp) < 2000 && min(x.exp, y.exp) > -2000 && x.huge+y.huge == "" {
			checkNumbers(t, a, b)
		}
		if strings.ContainsAny(a, "eE.") || len(a) > 50 {
			return // big numbers with exponents cost the oracle minutes
		}
		if x, ok := new(big.Int).SetString(a, 10); ok {
			if n, ok := goNumber(a).(int64); ok && x.Cmp(big.NewInt(n)) != 0 {
				t.Fatalf("%s became %d", a, n)
			}
		}
	})
}
