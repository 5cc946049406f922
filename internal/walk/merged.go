package walk

import "example.com/braid/internal/node"

// AppendMerged appends the canonical JSON of the merged object. O(size).
func (s *Script) AppendMerged(dst []byte) []byte {
	if len(s.Edits) == 0 {
		return s.Live.Append(dst, 0)
	}
	return s.AppendValue(dst, 0)
}

// AppendValue appends the merged value at the position of edit i, which has one.
func (s *Script) AppendValue(dst []byte, i int32) []byte {
	e := &s.Edits[i]
	if e.Op != OpTake && e.Flags&Changes == 0 {
		return s.Live.Append(dst, e.Live)
	}
	switch e.Op {
	case OpFields:
		dst = append(dst, '{')
		dst = s.AppendFields(dst, i)
		return append(dst, '}')
	case OpElements:
		dst = append(dst, '[')
		first := true
		for k := range s.Children(i) {
			if !s.Present(k) {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = s.AppendValue(dst, k)
		}
		return append(dst, ']')
	}
	return s.AppendDesired(dst, e.Type, e.Desired)
}

// Present reports whether the merged object has a value at the position of edit i.
func (s *Script) Present(i int32) bool {
	switch e := &s.Edits[i]; e.Op {
	case OpRemove:
		return false
	case OpClash, OpKeep:
		return e.Live != node.None
	}
	return true
}

// AppendFields appends the members of the merged map of edit i, by key and
// without braces.
func (s *Script) AppendFields(dst []byte, i int32) []byte {
	first := true
	for m := range s.Members(i) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = m.Tree.AppendKey(dst, m.Node)
		if m.Edit >= 0 {
			dst = s.AppendValue(dst, m.Edit)
		} else {
			dst = m.Tree.Append(dst, m.Node)
		}
	}
	return dst
}

// Member is a field of a merged map.
type Member struct {
	Tree *node.Tree // holds Node, which has the key
	Node node.ID
	Edit int32 // -1 if live's value stays
}

// Members calls yield with the fields of the merged map of edit i, by key. O(n)
// in the fields of live.
func (s *Script) Members(i int32) func(yield func(Member) bool) {
	return func(yield func(Member) bool) {
		live := s.Live.Kids(s.Edits[i].Live)
		for k := range s.Children(i) {
			key := s.Key(k)
			for len(live) > 0 && s.Live.Key(live[0]) < key {
				if !yield(Member{s.Live, live[0], -1}) {
					return
				}
				live = live[1:]
			}
			if s.Edits[k].Live != node.None {
				live = live[1:]
			}
			if !s.Present(k) {
				continue
			}
			if t, id := s.Node(k); !yield(Member{t, id, k}) {
				return
			}
		}
		for _, id := range live {
			if !yield(Member{s.Live, id, -1}) {
				return
			}
		}
	}
}
