package node

import "testing"

// The three relations on one table: live against desired.
func TestRelations(t *testing.T) {
	for _, c := range []struct {
		live, desired           string
		equal, declared, covers bool
		why                     string
	}{
		{`1`, `1.0`, true, true, true, "numbers are decimals"},
		{`1`, `"1"`, false, false, false, "kinds differ"},
		{`true`, `false`, false, false, false, ""},
		{`true`, `true`, true, true, true, ""},
		{`null`, `null`, true, true, true, ""},
		{`null`, `false`, false, false, false, ""},
		{`"a\nb"`, `"a\u000ab"`, true, true, true, "escapes are spelling"},
		{`"a"`, `"\u0061"`, true, true, true, "and may stand on one side"},
		{`"\\n"`, `"\n"`, false, false, false, "the raw text of one is the text of the other"},
		{`"\u0061"`, `"\\u0061"`, false, false, false, "the same the other way round"},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true, true, true, "order of keys"},
		{`{"\u0061":1}`, `{"a":1}`, true, true, true, "escapes in keys"},
		{`[1,2]`, `[2,1]`, false, false, false, "lists have an order"},
		{`[1,2]`, `[1]`, false, false, false, "and a length, for Covers too"},
		{`[]`, `{}`, false, false, false, ""},
		{`{}`, `{}`, true, true, true, ""},
		{`{"a":1}`, `{}`, false, false, true, "live has more"},
		{`{}`, `{"a":1}`, false, false, false, "live has less"},
		{`{"a":1,"b":2}`, `{"a":1,"c":2}`, false, false, false, "as many fields, other ones"},
		{`{"b":1}`, `{"a":null,"b":1}`, false, true, true, "a null in desired is met by absence"},
		{`{"a":1,"b":1}`, `{"a":null,"b":1}`, false, false, false, "but not by a value"},
		{`{"a":null,"b":1}`, `{"a":null,"b":1}`, true, true, true, "and by null"},
		{`{"a":null,"b":1}`, `{"b":1}`, false, false, true, "a null in live is a value"},
		{`{"m":{}}`, `{"m":{"a":null}}`, false, true, true, "at depth"},
		{`{}`, `{"m":{"a":null}}`, false, false, false, "the map itself is declared"},
		{`[{}]`, `[{"a":null}]`, false, true, true, "in the elements of lists"},
		{`[]`, `[null]`, false, false, false, "FAULTS P7: a null in a list is data"},
		{`[{"a":1,"d":9}]`, `[{"a":1}]`, false, false, true, "defaults in elements"},
		{`[{"a":1,"d":9}]`, `[{"a":2}]`, false, false, false, "a change beside defaults"},
		{`{"a":1,"b":2,"c":3}`, `{"b":2,"z":null}`, false, false, true, "before, after, and a null beyond"},
		{`{"a":{"b":{"c":[1,{"d":"x"}]}}}`, `{"a":{"b":{"c":[1.0,{"d":"x"}]}}}`, true, true, true, "deep"},
		{`{"abcdefgh1":1}`, `{"abcdefgh2":1}`, false, false, false, "keys that share eight bytes"},
		{`{"a\u0000":1}`, `{"a":1}`, false, false, false, "keys that share their padded prefix"},
	} {
		live, desired := parsed(t, c.live), parsed(t, c.desired)
		for _, r := range []struct {
			name      string
			got, want bool
		}{
			{"Equal", Equal(live, 0, desired, 0), c.equal},
			{"Equal the other way round", Equal(desired, 0, live, 0), c.equal},
			{"EqualDeclared", EqualDeclared(live, 0, desired, 0), c.declared},
			{"Covers", Covers(live, 0, desired, 0), c.covers},
		} {
			if r.got != r.want {
				t.Errorf("live %s, desired %s: %s is %v: %s", c.live, c.desired, r.name, r.got, c.why)
			}
		}
		if SameScalar(live, 0, desired, 0) && !c.equal {
			t.Errorf("%s and %s are not SameScalar", c.live, c.desired)
		}
		if !Equal(live, 0, live, 0) || !EqualDeclared(live, 0, live, 0) || !Covers(live, 0, live, 0) {
			t.Errorf("%s: a relation is not reflexive", c.live)
		}
	}
}

func TestEqualBelowTheRoot(t *testing.T) {
	a, b := parsed(t, `{"x":[0,{"k":"v\n"}]}`), parsed(t, `[{"k":"v\n"},0]`)
	if !Equal(a, 3, b, 1) || Equal(a, 3, b, 0) || Equal(a, 0, b, 1) {
		t.Error("subtrees stand for themselves")
	}
}

func TestCompareKeys(t *testing.T) {
	keys := []string{"", "\x00", "\x00\x00", "a", "a\x00", "a\x00\x00\x00\x00\x00\x00\x00\x00", "ab", "abcdefg", "abcdefgh", "abcdefgh\x00", "abcdefgha", "abcdefghb", "b", "é", "😀"}
	for i, x := range keys {
		for j, y := range keys {
			a, _ := FromMap(map[string]any{x: 1}, Limits{})
			b, _ := FromMap(map[string]any{y: 1}, Limits{})
			if got := CompareKeys(a, 1, b, 1); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%q against %q: %d", x, y, got)
			}
		}
	}
}
