package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ruleWord is a rule as Override takes it, read.
type ruleWord struct {
	word string
	keys []string // of map
}

// scalarWords are the rules that say how a scalar compares, and of which kinds it may
// have been before.
var scalarWords = map[string]struct {
	kind Kind
	from []Kind
}{
	"quantity":      {Quantity, []Kind{String, Integer, Number, IntOrString}},
	"int-or-string": {IntOrString, []Kind{String, Integer, Quantity}},
	"duration":      {Duration, []Kind{String, Time, Bytes}},
	"time":          {Time, []Kind{String, Duration, Bytes}},
	"bytes":         {Bytes, []Kind{String, Duration, Time}},
	"string":        {String, []Kind{Duration, Time, Bytes}},
}

func parseRule(text string) (ruleWord, error) {
	word, keys, more := strings.Cut(text, "=")
	r := ruleWord{word: word}
	switch _, scalar := scalarWords[word]; {
	case word == "map":
		r.keys = strings.Split(keys, ",")
		for i, k := range r.keys {
			if k == "" || slices.Contains(r.keys[:i], k) {
				return r, errors.New("write map=KEY, or map=KEY,KEY with the names of different fields")
			}
		}
	case more:
		return r, errors.New("only map takes keys")
	case scalar, slices.Contains([]string{"atomic", "granular", "set", "retainKeys", "nullable", "preserve-unknown-fields"}, word):
	default:
		return r, errors.New("there is no such rule")
	}
	return r, nil
}

// fitsRoot reports whether an object may have the rule.
func (r ruleWord) fitsRoot() bool {
	return slices.Contains([]string{"granular", "retainKeys", "preserve-unknown-fields"}, r.word)
}

// override gives t, which nothing else refers to, the rule r.
func (t *Type) override(r ruleWord) error {
	isMap := t.Kind == Map || t.Kind == Any
	if t.Kind == Any && t.Elem == nil && t.Fields == nil && (r.word == "set" || r.word == "map") {
		t.makeList()
	}
	switch {
	case r.word == "nullable":
		t.Nullable = true
	case r.word == "preserve-unknown-fields" && isMap:
		t.PreserveUnknown = true
	case r.word == "atomic" && (isMap || t.Kind == List):
		t.Union = false
		t.setRule(Rule{Merge: Atomic})
	case r.word == "granular" && isMap:
		t.Union = false
		t.setRule(Rule{})
	case r.word == "retainKeys" && isMap:
		if t.Strategic.Merge == Atomic || t.Structured.Merge == Atomic {
			t.setRule(Rule{})
		}
		t.Union = true
	case r.word == "retainKeys" && t.Kind == List:
		if t.Strategic.Merge != Keyed && t.Structured.Merge != Keyed {
			return errors.New("the elements of the list do not merge; give it keys first")
		}
		t.each().Union = true
	case r.word == "set" && t.Kind == List:
		if t.Elem.Kind == Map || t.Elem.Kind == List {
			return fmt.Errorf("the elements of a set are scalars, here each is %s", t.Elem.Kind.word())
		}
		t.setRule(Rule{Merge: Set})
	case r.word == "map" && t.Kind == List:
		return t.setKeys(r.keys)
	default:
		return t.setScalar(scalarWords[r.word].kind, scalarWords[r.word].from)
	}
	return nil
}

// setRule makes r the rule of both models.
func (t *Type) setRule(r Rule) {
	server := t.Strategic
	if t.Served != nil {
		server = *t.Served
	}
	t.Strategic, t.Structured, t.Served = r, r, &server
	sameKey := func(a, b Key) bool { return a.Name == b.Name }
	if server.Merge == r.Merge && server.RetainKeys == r.RetainKeys && slices.EqualFunc(server.Keys, r.Keys, sameKey) {
		t.Strategic, t.Served = server, nil
	}
}

// setKeys makes t a keyed list.
func (t *Type) setKeys(names []string) error {
	if t.Elem.Kind != Map && t.Elem.Kind != Any {
		return fmt.Errorf("keys name maps, here each element is %s", t.Elem.Kind.word())
	}
	r := Rule{Merge: Keyed}
	for _, name := range names {
		key := Key{Name: name}
		switch f := t.Elem.Field(name); {
		case f == nil && t.Elem.Kind == Map && t.Elem.Elem == nil && !t.Elem.PreserveUnknown:
			return fmt.Errorf("the elements of the list have no field %q", name)
		case f == nil:
		case f.Type.Kind == Map || f.Type.Kind == List:
			return fmt.Errorf("the key field %q is no scalar", name)
		default:
			key.Default = f.Type.Default
		}
		r.Keys = append(r.Keys, key)
	}
	t.setRule(r)
	return nil
}

// setScalar makes t a scalar of a kind, if it may be one. Kind is Any, and from empty, of
// a rule for maps or lists that is none for t.
func (t *Type) setScalar(kind Kind, from []Kind) error {
	free := t.Kind == Any && t.Elem == nil && t.Fields == nil
	if kind == Any || !free && t.Kind != kind && !slices.Contains(from, t.Kind) {
		return fmt.Errorf("it does not fit %s", t.Kind.word())
	}
	t.Kind, t.Strategic, t.Structured, t.Served = kind, Rule{}, Rule{}, nil
	return nil
}

// word is the word for k in messages.
func (k Kind) word() string {
	return [...]string{
		"anything", "a map", "a list", "a string", "a boolean", "an integer", "a number",
		"a quantity", "an integer or a string", "a duration", "a time", "a base64 string",
	}[k]
}
