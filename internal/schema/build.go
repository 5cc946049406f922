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
	open     bool // it is being completed
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
	for _, d := range b.derived {
		if err := b.complete(d); err != nil {
			return err
		}
	}
	for _, k := range b.keyed {
		if err := k.check(); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) complete(d *derivation) error {
	if b.pending[d.to] == nil {
		return nil
	}
	if d.open {
		return d.at.fault("the reference leads to itself")
	}
	d.open = true
	if base := b.pending[d.from]; base != nil {
		if err := b.complete(base); err != nil {
			return err
		}
	}
	delete(b.pending, d.to)
	to, from := d.to, d.from
	to.Kind, to.Fields, to.Elem = from.Kind, from.Fields, from.Elem
	to.Strategic, to.Structured = from.Strategic, from.Structured
	to.Nullable = to.Nullable || from.Nullable
	to.PreserveUnknown = to.PreserveUnknown || from.PreserveUnknown
	to.Embedded = to.Embedded || from.Embedded
	if to.Default == "" {
		to.Default = from.Default
	}
	return b.apply(d.own, to, d.at)
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
