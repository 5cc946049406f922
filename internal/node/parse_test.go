package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		rule error
		path string
		off  int
		part string // of the message
	}{
		{``, ErrSyntax, "(root)", 0, "empty document"},
		{" \t\r\n", ErrSyntax, "(root)", 4, "empty document"},
		{"\ufeff{}", ErrSyntax, "(root)", 0, "want a value"},
		{`nul`, ErrSyntax, "(root)", 0, "want a value"},
		{`nullx`, ErrSyntax, "(root)", 4, "data after the document"},
		{`True`, ErrSyntax, "(root)", 0, "want a value"},
		{`{} {}`, ErrSyntax, "(root)", 3, "data after the document"},
		{`{"a":1}]`, ErrSyntax, "(root)", 7, "data after the document"},
		{`{`, ErrSyntax, "(root)", 1, "want a key, got the end"},
		{`{a:1}`, ErrSyntax, "(root)", 1, "want a key"},
		{`{"a":1,}`, ErrSyntax, "(root)", 7, "want a key, got '}'"},
		{`{'a':1}`, ErrSyntax, "(root)", 1, `want a key, got '\''`},
		{`{"a" 1}`, ErrSyntax, "a", 5, "want ':' after a key"},
		{`{"a"`, ErrSyntax, "a", 4, "want ':' after a key, got the end"},
		{`{"a":}`, ErrSyntax, "a", 5, "want a value, got '}'"},
		{`{"a":1 "b":2}`, ErrSyntax, "(root)", 7, "want ',' or '}' in a map"},
		{`{"a":[1,{"b":[tru]}]}`, ErrSyntax, "a[1].b[0]", 14, "want a value"},
		{`[1,]`, ErrSyntax, "[1]", 3, "want a value, got ']'"},
		{`[1 2]`, ErrSyntax, "(root)", 3, "want ',' or ']' in a list"},
		{`[1`, ErrSyntax, "(root)", 2, "want ',' or ']' in a list, got the end"},
		{`[`, ErrSyntax, "[0]", 1, "want a value, got the end"},
		{`{"a":"x`, ErrSyntax, "a", 5, "string without an end"},
		{`{"a":"x\`, ErrSyntax, "a", -2, "string without an end"},
		{`{"a":"x\n`, ErrSyntax, "a", 5, "string without an end"},
		{"{\"a\":\"x\ny\"}", ErrSyntax, "a", 7, "control character"},
		{"{\"a\":\"\\n\ty\"}", ErrSyntax, "a", 8, "control character"},
		{`{"a":"\x41"}`, ErrSyntax, "a", 6, "unknown escape"},
		{`{"a":"\u00g1"}`, ErrSyntax, "a", 6, "four hexadecimal digits"},
		{`{"a":"\u00`, ErrSyntax, "a", 6, "four hexadecimal digits"},
		{`{"a":"\ud800"}`, ErrSyntax, "a", 6, "unpaired surrogate"},
		{`{"a":"\ud800\u0041"}`, ErrSyntax, "a", 6, "unpaired surrogate"},
		{`{"a":"\udc00\ud800"}`, ErrSyntax, "a", 6, "unpaired surrogate"},
		{"{\"a\":\"\xff\"}", ErrSyntax, "a", 6, "not valid UTF-8"},
		{"{\"a\":\"\\n\xc3\"}", ErrSyntax, "a", 6, "not valid UTF-8"},
		{"{\"a\":\"\xed\xa0\x80\"}", ErrSyntax, "a", 6, "not valid UTF-8"},
		{`{"a":1,"b\q":2}`, ErrSyntax, "(root)", 9, "unknown escape"},
		{"{\"a\":{\"\xff\":2}}", ErrSyntax, "a", 7, "not valid UTF-8"},
		{`{"a":{"b`, ErrSyntax, "a", 6, "string without an end"},
		{`{"a":01}`, ErrSyntax, "(root)", 6, "want ',' or '}' in a map"},
		{`{"a":-}`, ErrSyntax, "a", 5, "want a value"},
		{`{"a":+1}`, ErrSyntax, "a", 5, "want a value"},
		{`{"a":.5}`, ErrSyntax, "a", 5, "want a value"},
		{`{"a":1.}`, ErrSyntax, "a", 7, "digit after the decimal point"},
		{`{"a":1e}`, ErrSyntax, "a", 7, "digit in the exponent"},
		{`{"a":1e+}`, ErrSyntax, "a", 8, "digit in the exponent"},
		{`{"a":NaN}`, ErrSyntax, "a", 5, "want a value"},
		{`{"a":0x10}`, ErrSyntax, "(root)", 6, "want ',' or '}' in a map"},
		{`{"a":1,"b":2,"a":3}`, ErrDuplicateKey, "a", 14, "more than once"},
		{`{"a":1,"a":1}`, ErrDuplicateKey, "a", 8, "more than once"},
		{`{"a":1,"\u0061":1}`, ErrDuplicateKey, "a", 17, "more than once"},
		{`{"\u0061":1,"b":0,"\u0061":1}`, ErrDuplicateKey, "a", 28, "more than once"},
		{`{"":1,"":1}`, ErrDuplicateKey, `[""]`, 7, "more than once"},
		{`[0,{"x":{"k":1,"b":[{"k":{}}],"k":1}}]`, ErrDuplicateKey, "[1].x.k", 31, "more than once"},
		{`{"x":{"k":1,"k":1},"x":2}`, ErrDuplicateKey, "x.k", 13, "more than once"},
	} {
		tr, err := Parse([]byte(c.text), Limits{})
		var e *Error
		if tr != nil || !errors.As(err, &e) || !errors.Is(err, c.rule) {
			t.Errorf("%q: %v, want %v", c.text, err, c.rule)
			continue
		}
		if e.Path.String() != c.path || !strings.Contains(e.Detail, c.part) {
			t.Errorf("%q: path %v, detail %q; want %s, %q", c.text, e.Path, e.Detail, c.path, c.part)
		}
		if c.off != -2 && e.Offset != c.off || e.Offset < 0 || e.Offset > len(c.text) {
			t.Errorf("%q: offset %d, want %d", c.text, e.Offset, c.off)
		}
	}
}

// Errors are logged, and documents are Secrets.
func TestErrorsHoldNoValues(t *testing.T) {
	const secret = "hunter2"
	for _, text := range []string{
		`{"a":"hunter2`, `{"a":"hunter2\q"}`, `{"a":hunter2}`, `{"a":"hunter2" "hunter2"}`, `["hunter2"`, `hunter2`,
		`{"a":"hunter2","a":"hunter2"}`, `{"a":"x"} "hunter2"`,
		"a: \"hunter2", "a: [hunter2", "a: hunter2: hunter2", "a: *hunter2", "a: &x hunter2\na: hunter2", "a: !!int hunter2",
		"a: !!binary hunter2!", "- hunter2\nhunter2", "a: {b: hunter2", "a: 'hunter2", "%TAG hunter2\n--- a", "a: !hunter2!x y",
		"a: hunter2\n\tb: hunter2", "? [hunter2]\n: x", "a: |hunter2", "<<: hunter2", "a: @hunter2", "a: \"\\hunter2\"", "a: hunter2\x01",
		"a: hunter2\n---\nb: hunter2",
	} {
		_, err := ParseYAML([]byte(text), Limits{})
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := Parse([]byte(text), Limits{}); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestErrorText(t *testing.T) {
	_, err := Parse([]byte(`{"spec":{"ports":[1,x]}}`), Limits{})
	named := In("desired", err)
	const want = `desired: spec.ports[1]: not valid JSON: want a value (byte 20)`
	if named.Error() != want {
		t.Errorf("%s\nwant %s", named, want)
	}
	if In("live", named) != named {
		t.Error("the first name stays")
	}
	if In("live", errors.ErrUnsupported) != errors.ErrUnsupported || In("live", nil) != nil {
		t.Error("other errors stay as they are")
	}
	if err.(*Error).Doc != "" {
		t.Error("In changed the error")
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		text string
		lim  Limits
		path string // "" if it is within the limits
		why  string
	}{
		{`[[[1]]]`, Limits{Depth: 3}, "", "scalars are no level"},
		{`[[[[]]]]`, Limits{Depth: 3}, "[0][0][0]", "the fourth list is one too deep"},
		{`{"a":{"b":{}}}`, Limits{Depth: 2}, "a.b", "maps count as lists do"},
		{`[1,2,3]`, Limits{Nodes: 4}, "", "the list counts"},
		{`[1,2,3]`, Limits{Nodes: 3}, "(root)", "and so is one too many"},
		{`{"a":{"b":1,"c":2}}`, Limits{Nodes: 3}, "a", "the path is of the map that has no room"},
		{`"abc"`, Limits{Bytes: 5}, "", "exactly as long"},
		{`"abcd"`, Limits{Bytes: 5}, "(root)", "one byte too long"},
		{`1`, Limits{Depth: -1}, "", "nothing nests"},
	} {
		tr, err := Parse([]byte(c.text), c.lim)
		y, yerr := ParseYAML([]byte(c.text), c.lim)
		if c.path == "" {
			if err != nil || yerr != nil {
				t.Errorf("%s %+v: %v %v: %s", c.text, c.lim, err, yerr, c.why)
				continue
			}
			check(t, tr)
			check(t, y)
			continue
		}
		for _, err := range []error{err, yerr} {
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, ErrLimit) || e.Path.String() != c.path {
				t.Errorf("%s %+v: %v, want a limit at %s: %s", c.text, c.lim, err, c.path, c.why)
			}
		}
	}
}

// FAULTS P6: depth 10,000 is an error, not a crash; and no limit that a caller
// gives can overflow the stack.
func TestDepth(t *testing.T) {
	deep := func(n int) []byte {
		return []byte(strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat(`}]`, n/2))
	}
	if _, err := Parse(deep(10_000), Limits{}); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
	tr, err := Parse(deep(10_000), Limits{Depth: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	check(t, tr)
	if got := len(tr.Path(ID(tr.Len() - 1))); got != 10_000 {
		t.Error("length of path", got)
	}
	if _, err := Parse(deep(4_000_000), Limits{Depth: 1 << 40, Nodes: 1 << 40, Bytes: 1 << 40}); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
	if _, err := Parse([]byte(strings.Repeat("[", 4_000_000)), Limits{Depth: 1 << 40}); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
}

func TestStrings(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`""`, ""},
		{`"abc"`, "abc"},
		{`"1234567\n"`, "1234567\n"},
		{`"12345678\n"`, "12345678\n"},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
		{`"\u0041\u00e9\u20AC\uFFFF"`, "Aé€\uffff"},
		{`"\ud83d\ude00\uD83D\uDE00"`, "😀😀"},
		{`"\u0000"`, "\x00"},
		{`"é€😀"`, "é€😀"},
		{`"aaaaaaaaaaaaaaaaé\naaaaaaaaaaaaaaaaaaaa"`, "aaaaaaaaaaaaaaaaé\naaaaaaaaaaaaaaaaaaaa"},
		{"\"\u2028\x7f\"", "\u2028\x7f"},
		{`"\ufffd"`, "\ufffd"},
		{`"\\u0041"`, `\u0041`},
		{`"\u005cn"`, `\n`},
	} {
		tr := parsed(t, c.json)
		if tr.Kind(0) != String || tr.Text(0) != c.want {
			t.Errorf("%s: %q", c.json, tr.Text(0))
		}
		// The same as a key, and beside others, with the key first and last.
		for _, doc := range []string{`{%s:1,"zz":[2]}`, `{"zz":[2],%s:1}`, `[{"a":{"b":%s}},%s]`} {
			doc = strings.ReplaceAll(doc, "%s", c.json)
			tr := parsed(t, doc)
			if tr.Kind(0) == Map && tr.Field(0, c.want) == None {
				t.Errorf("%s: no field %q", doc, c.want)
			}
		}
	}
}

// Every byte after every length of a plain run, for the loop that takes eight at once.
func TestStringBytes(t *testing.T) {
	for n := range 20 {
		for c := range 256 {
			text := `["` + strings.Repeat("x", n) + string([]byte{byte(c)}) + strings.Repeat("y", 19-n) + `"]`
			_, err := Parse([]byte(text), Limits{})
			good := c >= 0x20 && c < 0x80 && c != '"' && c != '\\'
			if (err == nil) != good {
				t.Fatalf("%q: %v", text, err)
			}
		}
	}
}

func TestManyDuplicates(t *testing.T) {
	for _, n := range []int{2, 13, 1000} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":%d`, i*7%n, i)
		}
		good := b.String()[1:]
		check(t, parsed(t, "{"+good+"}"))
		for _, extra := range []string{`"k0":0`, fmt.Sprintf(`"k%d":0`, n-1), `"\u006b0":0`} {
			for _, text := range []string{"{" + good + "," + extra + "}", "{" + extra + "," + good + "}"} {
				if _, err := Parse([]byte(text), Limits{}); !errors.Is(err, ErrDuplicateKey) {
					t.Errorf("%d keys and %s: %v", n, extra, err)
				}
			}
		}
	}
}
