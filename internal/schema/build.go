package schema

// builder makes the type graphs of one source. A source meets references to shapes
// that it has not finished, so what depends on a shape waits for finish: the rules at
// a reference, and the keys of a list.
type builder struct {
	derived []*derivation
	pending map[*Type]*derivation
	keyed   []keyedList
}

// derivation is a Type that takes the shape of another over.
type derivation struct {
	to, from *Type
	own      rules
	at       *place
	open     bool  // it is being completed
	err      error // why it cannot be
}

type keyedList struct {
	list *Type
	at   *place
}

// derive returns a Type with the shape of base, and what own says over the rules of
// base. Nullable, Default and the like may be set on it; where they say nothing, base
// holds.
func (b *builder) derive(base *Type, own rules, at *place) *Type {
	t := &Type{}
	b.deriveInto(t, base, own, at)
	return t
}

func (b *builder) deriveInto(t, base *Type, own rules, at *place) {
	d := &derivation{to: t, from: base, own: own, at: at}
	b.derived = append(b.derived, d)
	if b.pending == nil {
		b.pending = map[*Type]*derivation{}
	}
	b.pending[t] = d
}

// finish completes what had to wait for other shapes. O(n).
func (b *builder) finish() error {
	for _, err := range b.faults {
		return err
	}
	return nil
}

// faults is finish for a source that has use for its sound parts: it yields each place
// that cannot be completed.
func (b *builder) faults(yield func(at *place, err error) bool) {
	for _, d := range b.derived {
		if b.complete(d); d.err != nil && !yield(d.at, d.err) {
			return
		}
	}
	for _, k := range b.keyed {
		if err := k.check(); err != nil && !yield(k.at, err) {
			return
		}
	}
}

// complete completes d.to, or sets d.err.
func (b *builder) complete(d *derivation) {
	if b.pending[d.to] == nil || d.err != nil {
		return
	}
	if d.open {
		d.err = d.at.fault("the reference leads to itself")
		return
	}
	d.open = true
	if base := b.pending[d.from]; base != nil {
		if b.complete(base); base.err != nil {
			d.err = base.err
			return
		}
	}
	delete(b.pending, d.to)
	to, from := d.to, d.from
	to.Kind, to.Fields, to.Elem = from.Kind, from.Fields, from.Elem
	to.Strategic, to.Structured = from.Strategic, from.Structured
	to.Nullable = to.Nullable || from.Nullable
	to.PreserveUnknown = to.PreserveUnknown || from.PreserveUnknown
	to.Embedded = to.Embedded || from.Embedded
	to.Union, to.StringData = from.Union, from.StringData
	if to.Default == "" {
		to.Default = from.Default
	}
	d.err = b.apply(d.own, to, d.at)
}

// apply sets the rules of t, which has its kind, and of a list awaits the check.
func (b *builder) apply(own rules, t *Type, at *place) error {
	if err := own.apply(t, at); err != nil {
		return err
	}
	if t.Strategic.Merge >= Keyed || t.Structured.Merge >= Keyed {
		b.keyed = append(b.keyed, keyedList{t, at})
	}
	return nil
}

// check holds a list that merges by element against the type of its elements, and
// gives the structured keys the defaults of their fields.
func (k keyedList) check() error {
	elem := k.list.Elem
	if elem == nil {
		return nil // what it refers to has a fault of its own
	}
	if k.list.Strategic.Merge == Set && elem.Kind == Map {
		return k.at.fault("patch strategy merge on a list of maps needs a patch merge key")
	}
	structured := append([]Key(nil), k.list.Structured.Keys...) // a derived list may share them
	for i, key := range structured {
		if f, named := elem.Lookup(key.Name); named {
			structured[i].Default = f.Default
		}
	}
	k.list.Structured.Keys = structured
	for _, keys := range [][]Key{k.list.Strategic.Keys, structured} {
		for i, key := range keys {
			_, named := elem.Lookup(key.Name)
			open := elem.Kind == Any || elem.Kind == Map && (elem.Elem != nil || elem.PreserveUnknown)
			if !named && !open {
				return k.at.fault("the elements of the list have no key field %q", key.Name)
			}
			for _, other := range keys[:i] {
				if other.Name == key.Name {
					return k.at.fault("key field %q stands twice", key.Name)
				}
			}
		}
	}
	return nil
}
