package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestYAMLScalars shows what a plain scalar means. Upstream (YAMLToJSONStrict) says
// the same except where the row says what it says.
func TestYAMLScalars(t *testing.T) {
	for _, c := range []struct{ in, want, upstream string }{
		// null
		{"", "null", ""}, {"~", "null", ""}, {"null", "null", ""}, {"Null", "null", ""}, {"NULL", "null", ""}, {"nULL", `"nULL"`, ""},
		// booleans: YAML 1.1 has many
		{"true", "true", ""}, {"True", "true", ""}, {"TRUE", "true", ""}, {"yes", "true", ""}, {"YES", "true", ""}, {"on", "true", ""}, {"y", "true", ""}, {"Y", "true", ""},
		{"false", "false", ""}, {"no", "false", ""}, {"No", "false", ""}, {"off", "false", ""}, {"OFF", "false", ""}, {"n", "false", ""}, {"N", "false", ""},
		{"tRUE", `"tRUE"`, ""}, {"yEs", `"yEs"`, ""}, {"oN", `"oN"`, ""},
		// integers
		{"0", "0", ""}, {"-0", "-0", ""}, {"+1", "1", ""}, {"-12", "-12", ""}, {"1_000", "1000", ""}, {"1__0_", "10", ""}, {"_1", `"_1"`, ""},
		{"0777", "511", ""}, {"-0777", "-511", ""}, {"0o777", "511", ""}, {"08", "8", ""}, {"0_7", "7", ""}, {"00", "0", ""},
		{"0x1F", "31", ""}, {"-0x1f", "-31", ""}, {"0X_F", "15", ""}, {"0b101", "5", ""}, {"-0b11", "-3", ""}, {"0b-1", "-1", ""}, {"0b12", `"0b12"`, ""},
		{"9223372036854775807", "9223372036854775807", ""}, {"18446744073709551615", "18446744073709551615", ""},
		{"-9223372036854775808", "-9223372036854775808", ""}, {"0xFFFFFFFFFFFFFFFF", "18446744073709551615", ""}, {"0x10000000000000000", `"0x10000000000000000"`, ""},
		{"18446744073709551616", "18446744073709551616", "18446744073709552000"},
		{"-9223372036854775809", "-9223372036854775809", "-9223372036854776000"},
		{"0777777777777777777777777", "777777777777777777777777", "7.777777777777778e+23"},
		// decimals
		{"1.0", "1.0", ""}, {"1.50", "1.50", ""}, {"1.", "1", ""}, {".5", "0.5", ""}, {"-.5", "-0.5", ""}, {"+.5", "0.5", ""}, {"007.10", "7.10", ""},
		{"1e3", "1e3", ""}, {"1E+03", "1E+03", ""}, {"1.e2", "1e2", ""}, {"1e", `"1e"`, ""}, {"1e+", `"1e+"`, ""}, {".e1", `".e1"`, ""}, {"1_0.2_5", "10.25", ""},
		{"._5", `"._5"`, ""}, {".5_0", "0.50", ""}, {".5__0", `".5__0"`, ""},
		{"0.10000000000000000001", "0.10000000000000000001", "0.1"},
		{"9007199254740993.0", "9007199254740993.0", "9007199254740992"},
		{"1e-400", "1e-400", "0"},
		{"1e400", `"1e400"`, ""}, {"12e4567", `"12e4567"`, ""}, {".5e999", `".5e999"`, ""},
		// not numbers
		{".", `"."`, ""}, {"+", `"+"`, ""}, {"--1", `"--1"`, ""}, {"1.2.3", `"1.2.3"`, ""}, {"0x", `"0x"`, ""}, {"0x1p3", `"0x1p3"`, ""},
		{"190:20:30", `"190:20:30"`, ""}, {"10Gi", `"10Gi"`, ""}, {"1e3m", `"1e3m"`, ""}, {"infinity", `"infinity"`, ""}, {"nan", `"nan"`, ""}, {"0.5.", `"0.5."`, ""},
		// timestamps stay strings
		{"2001-01-01", `"2001-01-01"`, ""}, {"2001-12-14t21:59:43.10-05:00", `"2001-12-14t21:59:43.10-05:00"`, ""},
		// quotes and blocks
		{`"1"`, `"1"`, ""}, {`'yes'`, `"yes"`, ""}, {`"~"`, `"~"`, ""}, {`""`, `""`, ""}, {`'it''s'`, `"it's"`, ""}, {`"\x41\u00e9\n\e\0"`, `"Aé\n\u001b\u0000"`, ""},
		{"|\n  a\n  b\n", `"a\nb\n"`, ""}, {">-\n  a\n  b\n", `"a b"`, ""}, {"|+\n  1\n\n", `"1\n\n"`, ""}, {"a\n  b", `"a b"`, ""},
		// tags
		{"!!str 1", `"1"`, ""}, {"!!str", `""`, ""}, {"!!str ~", `"~"`, ""}, {`!!int "12"`, "12", ""}, {"!!int 0x10", "16", ""}, {"!!float 1", "1", ""}, {"!!float 1.50", "1.50", ""},
		{"!!bool yes", "true", ""}, {"!!null ''", "null", ""}, {"!!binary aGk=", `"hi"`, ""}, {"!own x", `"x"`, ""}, {"!own 12", `"12"`, ""},
		{"!!timestamp 2001-01-01", `"2001-01-01"`, ""}, {"<<", `"<<"`, ""},
		{`! "12"`, `"12"`, ""},
		{"! 12", "12", `"12"`}, // the YAML tree does not tell that the tag ! was there
		{"!!int 18446744073709551616", "18446744073709551616", "error"},
		{"!!float 18446744073709551615", "18446744073709551615", "error"},
		{"!!timestamp never", `"never"`, "error"},
	} {
		tr, err := ParseYAML([]byte("v: "+c.in), Limits{})
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		check(t, tr)
		if got := string(tr.Append(nil, tr.Lookup("v"))); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
		up := "error"
		j, err := yaml.YAMLToJSONStrict([]byte("v: " + c.in))
		if err == nil {
			v := parsed(t, string(j))
			up = string(v.Append(nil, v.Lookup("v")))
			if Equal(tr, 0, v, 0) {
				up = ""
			}
		}
		if up != c.upstream {
			t.Errorf("%q: upstream says %q, not %q", c.in, up, c.upstream)
		}
	}
}

func TestYAMLDocuments(t *testing.T) {
	for _, c := range []struct{ in, want, why string }{
		{"a: 1\nb:\n- x\n- k: z\n", `{"a":1,"b":["x",{"k":"z"}]}`, "blocks"},
		{"{a: [1, {b: c}], 'd': \"e\"}", `{"a":[1,{"b":"c"}],"d":"e"}`, "flows"},
		{"# c\n---\n# c\n---\na: 1 # c\n...\n---\n", `{"a":1}`, "empty documents do not count"},
		{"%YAML 1.1\n---\na: 1", `{"a":1}`, "a directive"},
		{"\ufeffa: 1", `{"a":1}`, "a byte order mark"},
		{"a: 1\r\nb: 2\r\n", `{"a":1,"b":2}`, "lines as Windows ends them"},
		{"--- ~", `null`, "a null that is written is a document"},
		{"null", `null`, "JSON without a bracket"},
		{"1e400", `1e400`, "is JSON too"},
		{"1e400 # c", `"1e400"`, "which this is not"},
		{"\"\x7f\"", "\"\x7f\"", "YAML refuses this character"},
		{" \n {\"a\":1e400}", `{"a":1e400}`, "JSON is read as JSON"},
		{`{"a":"\ud83d\ude00","a b":"\/"}`, `{"a":"😀","a b":"/"}`, "also where YAML would refuse it"},
		{`{"a":1} # c`, `{"a":1}`, "what begins as JSON may be YAML"},
		{`[a, b]`, `["a","b"]`, ""},

		{"1: a\n0x10: b\n1.10: c\ntrue: d\n1e3: e\n.inf: f\n-.INF: g\n2001-01-01: h\n", `{"-.inf":"g",".inf":"f","1":"a","1.1":"c","1000":"e","16":"b","2001-01-01":"h","true":"d"}`, "keys become strings as upstream's do"},
		{"16777217.5: a", `{"16777217.5":"a"}`, "but not other numbers: upstream says 1.6777218e+07"},
		{"1e300: a\n1e301: b", `{"1e300":"a","1e301":"b"}`, "upstream calls both .inf"},
		{"18446744073709551615: a", `{"18446744073709551615":"a"}`, "upstream has no key of 64 bits"},
		{"y: a\n'y': b", `{"true":"a","y":"b"}`, "a key is a scalar as any other"},
		{"? a\n: b\n? |\n  k\n: c", `{"a":"b","k\n":"c"}`, "explicit keys"},
		{"!!binary aGk=: a", `{"hi":"a"}`, ""},

		{"a: &x [1, 2]\nb: *x\nc: *x", `{"a":[1,2],"b":[1,2],"c":[1,2]}`, "aliases"},
		{"a: &x 1\nb: &x 2\nc: *x", `{"a":1,"b":2,"c":2}`, "the nearest anchor before"},
		{"&k a: b\nc: *k", `{"a":"b","c":"a"}`, "an anchor of a key"},
		{"a: &k x\n? *k\n: z", `{"a":"x","x":"z"}`, "an alias for a key"},
		{"a: &x {p: 1, q: 2}\nb: {<<: *x, r: 3}", `{"a":{"p":1,"q":2},"b":{"p":1,"q":2,"r":3}}`, "a merge key"},
		{"a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}", `{"a":{"p":1,"q":2},"b":{"p":1,"q":3}}`, "the map's own key wins; strict upstream refuses"},
		{"a: &x {p: 1, q: 2}\nb: {q: 3, <<: *x}", `{"a":{"p":1,"q":2},"b":{"p":1,"q":3}}`, "also if it stands before; upstream takes 2"},
		{"a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc: {<<: [*x, *y, {r: 3}]}", `{"a":{"p":1},"b":{"p":2,"q":2},"c":{"p":1,"q":2,"r":3}}`, "the first source wins"},
		{"a: &x {p: 1}\nb: &y {<<: *x, q: 2}\nc: {<<: *y}", `{"a":{"p":1},"b":{"p":1,"q":2},"c":{"p":1,"q":2}}`, "sources have sources"},
		{"<<: {a: 1}\n<<: {a: 2, b: 2}", `{"a":1,"b":2}`, "two merge keys"},
		{"'<<': {a: 1}", `{"<<":{"a":1}}`, "a quoted one is a key"},
		{"<<: []", `{}`, "no sources"},
		{"!!map {a: !!seq [1]}", `{"a":[1]}`, "tags of maps and lists say nothing"},
	} {
		tr, err := ParseYAML([]byte(c.in), Limits{})
		if err != nil {
			t.Errorf("%q: %v: %s", c.in, err, c.why)
			continue
		}
		check(t, tr)
		if got := string(tr.JSON()); got != c.want {
			t.Errorf("%q: %s, want %s: %s", c.in, got, c.want, c.why)
		}
	}
}

func TestYAMLErrors(t *testing.T) {
	for _, c := range []struct {
		in     string
		rule   error
		path   string
		detail string
	}{
		{"", ErrYAML, "(root)", "empty document"},
		{"# only a comment\n---\n---\n", ErrYAML, "(root)", "empty document"},
		{"a: 1\n---\nb: 2\n", ErrYAML, "(root)", "line 3: a second document"},
		{"{\"a\":1}\n---\n{\"b\":2}", ErrYAML, "(root)", "line 3: a second document"},

		{"x:\n  a: 1\n  b: 2\n  a: 3\n", ErrDuplicateKey, "x.a", "line 4: the map has this key more than once"},
		{"- {1: a, '1': b}", ErrDuplicateKey, "[0].1", "line 1: the map has this key more than once"},
		{"0x1: a\n1.0: b", ErrDuplicateKey, "1", "line 2: the map has this key more than once"},
		{"a: &k b\n? *k\n: 1\nb: 2", ErrDuplicateKey, "b", "line 4: the map has this key more than once"},
		{"m:\n  <<: {a: 1, a: 2}", ErrDuplicateKey, "m.a", "line 2: the map has this key more than once"},
		{"m:\n  a: 0\n  <<: {a: 1, a: 2}", ErrDuplicateKey, "m.a", "line 3: the map has this key more than once"},
		{`{"a":1,"a":2}`, ErrDuplicateKey, "a", "the map has this key more than once"},
		{`{"a":{"b":1,"b":1}} # c`, ErrDuplicateKey, "a.b", "the map has this key more than once"},

		{"l:\n- 1\n- .inf", ErrValue, "l[1]", "line 3: NaN and infinity have no JSON form"},
		{"a: !!binary /w==", ErrValue, "a", "line 1: a !!binary value that is not text"},
		{"a: !!binary '*'", ErrYAML, "a", "line 1: a !!binary value that is not base64"},
		{"a: !!int x", ErrYAML, "a", "line 1: a value that its tag does not fit"},
		{"a: !!int 1.5", ErrYAML, "a", "line 1: a value that its tag does not fit"},
		{"a: !!bool 1", ErrYAML, "a", "line 1: a value that its tag does not fit"},
		{"a: !!null x", ErrYAML, "a", "line 1: a value that its tag does not fit"},
		{"a:\n  ? [x]\n  : y", ErrYAML, "a", "line 2: a map or list for a key"},
		{"a:\n  ? {x: 1}\n  : y", ErrYAML, "a", "line 2: a map or list for a key"},
		{"a:\n  ~: y", ErrYAML, "a", "line 2: null for a key"},
		{"!!int x: y", ErrYAML, "(root)", "line 1: a value that its tag does not fit"},

		{"a: *x", ErrYAML, "(root)", "an alias of an anchor that is not there"},
		{"a:\n- &x [*x]", ErrYAML, "a[0][0]", "line 2: an alias inside of what it names"},
		{"a: &x {b: {c: *x}}", ErrYAML, "a.b.c", "line 1: an alias inside of what it names"},
		{"a: &x {<<: *x}", ErrYAML, "a", "line 1: an alias inside of what it names"},
		{"<<: x", ErrYAML, "(root)", "line 1: a merge key needs a map or a list of maps"},
		{"a: &x [{b: 1}]\nc: {<<: *x}", ErrYAML, "c", "line 2: a merge key needs a map or a list of maps"},
		{"<<: [[{a: 1}]]", ErrYAML, "(root)", "line 1: a merge key needs a map or a list of maps"},

		{"a: b: c", ErrYAML, "(root)", "line 1: mapping values are not allowed in this context"},
		{"a: 1\nb: c: d", ErrYAML, "(root)", "line 2: mapping values are not allowed in this context"},
		{"a:\n\tb: 1", ErrYAML, "(root)", "line 2: found character that cannot start any token"},
		{"a: @x", ErrYAML, "(root)", "line 1: found character that cannot start any token"},
		{"a: \"x", ErrYAML, "(root)", "line 1: found unexpected end of stream"},
		{"a: \"\\q\"", ErrYAML, "(root)", "line 1: found unknown escape character"},
		{"a: \"\\ud800\"", ErrYAML, "(root)", "line 1: found invalid Unicode character escape code"},
		{"x: 1\na: {b: 1", ErrYAML, "(root)", "line 2: did not find expected ',' or '}'"},
		{"x: 1\nl:\n- a\nb: [1", ErrYAML, "(root)", "line 4: did not find expected ',' or ']'"},
		{"a: 1\n- b", ErrYAML, "(root)", "line 2: did not find expected key"},
		{"a: 1\nb: x\x00", ErrYAML, "(root)", "line 2: control characters are not allowed"},
		{"a: 1\n\nb: \xff", ErrYAML, "(root)", "line 3: invalid leading UTF-8 octet"},
		{"%YAML 2.0\n---\na", ErrYAML, "(root)", "line 1: found incompatible YAML document"},
		{"a: !x!y z", ErrYAML, "(root)", "line 1: found undefined tag handle"},
	} {
		tr, err := ParseYAML([]byte(c.in), Limits{})
		var e *Error
		if tr != nil || !errors.As(err, &e) || !errors.Is(err, c.rule) {
			t.Errorf("%q: %v, want %v", c.in, err, c.rule)
			continue
		}
		if e.Path.String() != c.path || e.Detail != c.detail {
			t.Errorf("%q: %s: %s\nwant %s: %s", c.in, e.Path, e.Detail, c.path, c.detail)
		}
	}
}

// FAULTS P6. Each of these is small and would be huge.
func TestYAMLBombs(t *testing.T) {
	t.Parallel()
	laughs := func(format, leaf string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "a0: &a0 %s\n", leaf)
		for i := 1; i < 30; i++ {
			a := fmt.Sprintf("*a%d", i-1)
			fmt.Fprintf(&b, "a%d: &a%d "+format+"\n", i, i, strings.Repeat(a+", ", 9)+a)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"lists of lists":    laughs("[%s]", "[]"),
		"lists of strings":  laughs("[%s]", "x"),
		"merges of merges":  laughs("{<<: [%s]}", "{x: 1}"),
		"merges of nothing": laughs("{<<: [%s]}", "{}"),
		"long strings":      "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 1<<12) + "*a]",
		"long keys":         "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("{? *a : 1}, ", 1<<12) + "*a]",
		"dense":             "# " + strings.Repeat("[],", 3<<20),
		"deep flow":         "a: " + strings.Repeat("[", 20_000),
		"deep block":        strings.Repeat("- ", 20_000) + "x",
		"deep, within yaml": strings.Repeat("- ", 5_000) + "x",
	} {
		if _, err := ParseYAML([]byte(text), Limits{}); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	lim := Limits{Nodes: 1000}
	if _, err := ParseYAML([]byte("a: &a [1, 2, 3]\nb: ["+strings.Repeat("*a, ", 244)+"*a]"), lim); err != nil {
		t.Error("exactly 1,000 values after expansion:", err)
	}
	if _, err := ParseYAML([]byte("a: &a [1, 2, 3]\nb: ["+strings.Repeat("*a, ", 248)+"*a]"), lim); !errors.Is(err, ErrLimit) {
		t.Error("more:", err)
	}
}

func TestParseYAMLAll(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"---\n# x\n---\n", nil},
		{"a: 1", []string{`{"a":1}`}},
		{"---\na: 1\n---\n---\n- b\n...\n--- ~\n", []string{`{"a":1}`, `["b"]`, `null`}},
		{"{\"a\":1}\n---\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		{`{"a":1}`, []string{`{"a":1}`}},
		{"a: &x 1\n---\na: &x 2\nb: *x", []string{`{"a":1}`, `{"a":2,"b":2}`}},
	} {
		trees, err := ParseYAMLAll([]byte(c.in), Limits{})
		if err != nil || len(trees) != len(c.want) {
			t.Errorf("%q: %d documents, %v", c.in, len(trees), err)
			continue
		}
		for i, tr := range trees {
			if check(t, tr); string(tr.JSON()) != c.want[i] {
				t.Errorf("%q: document %d is %s", c.in, i, tr.JSON())
			}
		}
	}
	for _, c := range []struct {
		in     string
		lim    Limits
		detail string
	}{
		{"a: 1\n---\nb: [", Limits{}, "line 4: did not find expected node content"},
		{"a: &x 1\n---\nb: *x", Limits{}, "line 3: an alias of an anchor in another document"},
		{"a: 1\n---\na: 1\na: 2", Limits{}, "line 4: the map has this key more than once"},
		{"[1, 2]\n---\n[1, 2]", Limits{Nodes: 5}, "line 3: more than 5 values"},
		{"a: &x 12345678\nb: [*x]\n---\na: &x 12345678\nb: [*x]", Limits{Bytes: 54}, ""},
		{"a: &x 12345678\nb: [*x, *x]\n---\na: &x 12345678\nb: [*x, *x]", Limits{Bytes: 61}, ""},
	} {
		trees, err := ParseYAMLAll([]byte(c.in), c.lim)
		var e *Error
		if c.detail == "" {
			if err != nil {
				t.Errorf("%q: %v", c.in, err)
			}
		} else if trees != nil || !errors.As(err, &e) || !strings.Contains(e.Detail, c.detail) {
			t.Errorf("%q: %v, want %s", c.in, err, c.detail)
		}
	}
}
