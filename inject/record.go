package inject

import (
	"fmt"

	"example.com/braid/internal/compact"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/merge"
)

// RecordAnnotation holds, in the annotations of a pod template, what was injected there.
//
// It is JSON, or base64 of gzip of it where that is long:
//
//	{"v":1,"by":[{"name":"proxy","version":"…"}],"did":[
//	 {"at":"spec.containers","add":[{…}],"order":{"proxy":"First"}},   elements of a list
//	 {"at":"spec.volumes","add":[{…}],"made":true},                    of a list that was not there
//	 {"at":"spec.dnsPolicy","is":"None"},                              a field
//	 {"at":"spec.volumes[name=tmp]","is":{…},"was":{…}}]}              in the place of another value
//
// Whoever may write the object may write the record, so it proves nothing: a part of it
// counts only as far as the object has what it says. An element goes when a template drops
// it only if it is as recorded, but for a server's defaults and what others added to its
// lists. So a forged record can remove what it quotes in full, and make a value pass for a
// changed one of ours; either could be had by editing the object itself.
const RecordAnnotation = "braid.example.com/injected"

// Injection is a template that was injected.
type Injection struct {
	Name    string
	Version string
}

// record is what was done to a pod template, in the order in which it was done.
type record struct {
	by  []Injection
	did []entry
}

// entry is one thing that was done.
type entry struct {
	at    node.Path // of the list that got elements, or of the field or element that was set
	list  bool
	add   []*value
	order map[string]Order
	made  bool // the list was not there
	is    *value
	was   *value // what is stands in the place of; nil if of nothing
}

// packed is the length from which on a record is compressed.
const packed = 16 << 10

// text writes the record.
func (r *record) text() string {
	dst := []byte(`{"v":1,"by":[`)
	for i, by := range r.by {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = node.AppendQuoted(append(dst, `{"name":`...), by.Name)
		dst = node.AppendQuoted(append(dst, `,"version":`...), by.Version)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"did":[`...)
	for i := range r.did {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.did[i].append(dst)
	}
	dst = append(dst, ']', '}')
	if len(dst) < packed {
		return string(dst)
	}
	return compact.Pack(string(dst))
}

func (e *entry) append(dst []byte) []byte {
	dst = node.AppendQuoted(append(dst, `{"at":`...), e.at.String())
	if !e.list {
		dst = e.is.append(append(dst, `,"is":`...))
	} else {
		for i, v := range e.add {
			if i == 0 {
				dst = append(dst, `,"add":[`...)
			} else {
				dst = append(dst, ',')
			}
			dst = v.append(dst)
		}
		dst = append(dst, ']')
		if len(e.order) > 0 {
			dst = append(dst, `,"order":{`...)
			first := true
			for _, v := range e.add { // in a fixed order
				name := v.get("name").text()
				if o, ok := e.order[name]; ok {
					if !first {
						dst = append(dst, ',')
					}
					first = false
					dst = append(node.AppendQuoted(dst, name), ':')
					dst = node.AppendQuoted(dst, o.String())
				}
			}
			dst = append(dst, '}')
		}
		if e.made {
			dst = append(dst, `,"made":true`...)
		}
	}
	if e.was != nil {
		dst = e.was.append(append(dst, `,"was":`...))
	}
	return append(dst, '}')
}

// parseRecord reads a record. The error says what is wrong, without values.
func parseRecord(text string) (*record, error) {
	data := []byte(text)
	if len(text) > 0 && text[0] != '{' {
		var err error
		if data, err = compact.Unpack(text, node.DefaultLimits.Bytes); err != nil {
			return nil, err
		}
	}
	t, err := node.Parse(data, node.Limits{})
	if err != nil {
		return nil, err
	}
	root := valueAt(t, 0)
	if v := root.get("v"); v == nil || v.kind != node.Number || !node.NumberEqual(t.Text(v.id), "1") {
		return nil, fmt.Errorf("not of version 1")
	}
	by, did := root.get("by"), root.get("did")
	if by == nil || did == nil || by.kind != node.List || did.kind != node.List || root.size() != 3 {
		return nil, fmt.Errorf("want the lists by and did")
	}
	r := &record{}
	for _, b := range by.elements() {
		name, version := b.get("name"), b.get("version")
		if name == nil || version == nil || name.kind != node.String || version.kind != node.String || b.size() != 2 {
			return nil, fmt.Errorf("by holds something else than a name and a version")
		}
		r.by = append(r.by, Injection{name.text(), version.text()})
	}
	for i, d := range did.elements() {
		e, err := parseEntry(d)
		if err != nil {
			return nil, fmt.Errorf("did[%d]: %w", i, err)
		}
		r.did = append(r.did, e)
	}
	return r, nil
}

func parseEntry(d *value) (e entry, err error) {
	if d.kind != node.Map {
		return e, fmt.Errorf("a %s", d.kind)
	}
	for _, m := range d.members() {
		switch m.key {
		case "at":
			if e.at, err = parsePath(m.v.text()); err != nil {
				return e, err
			}
		case "add":
			if e.list = true; m.v.kind != node.List {
				return e, fmt.Errorf("add is a %s", m.v.kind)
			}
			e.add = m.v.elements()
		case "order":
			if m.v.kind != node.Map {
				return e, fmt.Errorf("order is a %s", m.v.kind)
			}
			e.order = make(map[string]Order, m.v.size())
			for _, o := range m.v.members() {
				if e.order[o.key], err = ParseOrder(o.v.text()); err != nil {
					return e, err
				}
			}
		case "made":
			if m.v.kind != node.Bool {
				return e, fmt.Errorf("made is a %s", m.v.kind)
			}
			e.made = m.v.tree.Text(m.v.id) == "true"
		case "is":
			e.is = m.v
		case "was":
			e.was = m.v
		default:
			return e, fmt.Errorf("an unknown field")
		}
	}
	switch {
	case len(e.at) == 0 || e.at[0].Field != "spec" && e.at[0].Field != "metadata":
		return e, fmt.Errorf("at names nothing in a pod template's metadata or spec")
	case e.list == (e.is != nil):
		return e, fmt.Errorf("want one of add and is")
	case e.list && (len(e.add) == 0 || e.at[len(e.at)-1].Elem):
		return e, fmt.Errorf("add to no list, or of nothing")
	case !e.list && (e.made || len(e.order) > 0):
		return e, fmt.Errorf("made and order belong to add")
	case len(e.at) == 1 && (e.list || e.was != nil && e.was.kind != node.Null):
		return e, fmt.Errorf("metadata and spec are made, or there before")
	case !e.list && e.was == nil && e.at[len(e.at)-1].Elem:
		return e, fmt.Errorf("an element is set in the place of none")
	}
	return e, nil
}

// parsePath reads a path that names one position.
func parsePath(text string) (node.Path, error) {
	p, err := node.ParsePattern(text)
	if err != nil {
		return nil, err
	}
	var out node.Path
	for _, s := range p {
		if s.Any || s.Elem && len(s.Keys) == 0 {
			return nil, fmt.Errorf("at names elements by key only")
		}
		out = append(out, s.Step)
	}
	return out, nil
}

// read reads the record of a pod template. Both are nil if there is none.
func (p *place) read() (*record, error) {
	note := p.pod.look("metadata", "annotations", RecordAnnotation)
	if note == nil || p.unfit != nil {
		return nil, p.unfit
	}
	r, err := parseRecord(note.text())
	if err != nil {
		return nil, &merge.Error{Doc: "live", Path: p.below(annotationPath(RecordAnnotation)), Offset: -1, Rule: ErrRecord, Detail: err.Error()}
	}
	p.record = r
	return r, nil
}

// walkTo returns what stands at a path below v and its type, or nil.
func walkTo(v *value, t *schema.Type, at node.Path) (*value, *schema.Type) {
	for _, s := range at {
		if v, t = stepInto(v, t, s); v == nil {
			return nil, nil
		}
	}
	return v, t
}

func stepInto(v *value, t *schema.Type, s node.Step) (*value, *schema.Type) {
	if !s.Elem {
		return v.get(s.Field), fieldType(t, s.Field)
	}
	keys := keysOf(t)
	if v == nil || v.kind != node.List || keys == nil {
		return nil, nil
	}
	return v.element(keys, stepKey(keys, s)), elemType(t)
}

// stepKey returns the key of the elements that a step names, as keyOf does.
func stepKey(keys []schema.Key, s node.Step) string {
	var out []byte
	for _, k := range keys {
		text := ""
		for _, p := range s.Keys {
			if p.Name == k.Name {
				text = p.Value
			}
		}
		if len(keys) == 1 {
			return text
		}
		if text == "" {
			return ""
		}
		out = node.AppendQuoted(out, text)
	}
	return string(out)
}
