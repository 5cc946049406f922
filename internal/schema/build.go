package schema

// builder makes the type graphs of one source. A source meets references to
// shapes that it has not finished, and may change the rules at the place of the
// reference; such a Type takes its shape over when all shapes are there.
type builder struct {
	derived []derivation
	keyed   []*Type
}

type derivation struct{ to, from *Type }

// derive returns a Type with the shape of base and rules of its own.
func (b *builder) derive(base *Type) *Type {
	t := &Type{}
	b.derived = append(b.derived, derivation{t, base})
	return t
}

// finish completes what had to wait for other shapes. Derived types carry their
// rules; what base says of itself holds where they say nothing.
func (b *builder) finish() {
	for _, d := range b.derived {
		to, from := d.to, d.from
		to.Kind, to.Fields, to.Elem = from.Kind, from.Fields, from.Elem
		to.PreserveUnknown, to.Embedded = from.PreserveUnknown, from.Embedded
		to.Nullable = to.Nullable || from.Nullable
		if to.Default == "" {
			to.Default = from.Default
		}
	}
	for _, t := range b.keyed {
		for i, k := range t.Structured.Keys {
			if f, _ := t.Elem.Lookup(k.Name); f != nil {
				t.Structured.Keys[i].Default = f.Default
			}
		}
	}
}

// strategies is a patchStrategy tag or x-kubernetes-patch-strategy, taken apart.
type strategies struct{ merge, replace, retainKeys bool }

// listRules returns the rules of a list from its patch strategy, which structured
// merging falls back to where no list type is given.
func listRules(s strategies, key string) Rule {
	switch {
	case s.merge && key != "":
		return Rule{Merge: Keyed, RetainKeys: s.retainKeys, Keys: []Key{{Name: key}}}
	case s.merge:
		return Rule{Merge: Set}
	}
	return Rule{Merge: Atomic}
}

// structuredOf is the structured rule that a strategic one stands for.
func structuredOf(r Rule) Rule {
	keys := append([]Key(nil), r.Keys...)
	return Rule{Merge: r.Merge, Keys: keys}
}
