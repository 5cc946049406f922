package node

import (
	"strconv"
	"strings"
	"unicode"
)

// Step is one move down a document: to a field of a map, to an index of a list,
// or to the element of a keyed list or set that Keys names.
type Step struct {
	Field string
	Index int       // of a list element, where Keys is empty
	Keys  []KeyPair // of an element of a keyed list; one pair without Name for a set
	Elem  bool      // an element, not a field
}

// KeyPair is a key field of a list element with the text of its value.
type KeyPair struct{ Name, Value string }

// Path is the way from the root to a node; the root's is empty.
type Path []Step

// String writes p as people do: spec.containers[name=nginx].ports[0], with
// unusual field names quoted in brackets: metadata.labels["app.kubernetes.io/name"].
// The root is "(root)".
func (p Path) String() string {
	if len(p) == 0 {
		return "(root)"
	}
	return string(p.append(make([]byte, 0, 128)))
}

func (p Path) append(dst []byte) []byte {
	for _, s := range p {
		switch {
		case !s.Elem && plain(s.Field):
			if len(dst) > 0 {
				dst = append(dst, '.')
			}
			dst = append(dst, s.Field...)
		case !s.Elem:
			dst = append(strconv.AppendQuote(append(dst, '['), s.Field), ']')
		case len(s.Keys) == 0:
			dst = append(strconv.AppendInt(append(dst, '['), int64(s.Index), 10), ']')
		default:
			dst = appendKeys(dst, s.Keys)
		}
	}
	return dst
}

func appendKeys(dst []byte, keys []KeyPair) []byte {
	dst = append(dst, '[')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		if k.Name != "" {
			dst = appendKeyText(dst, k.Name)
		}
		dst = appendKeyText(append(dst, '='), k.Value)
	}
	return append(dst, ']')
}

func appendKeyText(dst []byte, text string) []byte {
	if text == "" || strings.ContainsAny(text, ",=]\"") || strings.ContainsFunc(text, unicode.IsControl) {
		return strconv.AppendQuote(dst, text)
	}
	return append(dst, text...)
}

func plain(field string) bool {
	for i := range len(field) {
		c := field[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '$') {
			return false
		}
	}
	return field != ""
}

// Path returns the way to i, list elements by index. It looks at the siblings of
// each list element on the way, so it belongs on failing paths and in reports. The
// path does not refer to t.
func (t *Tree) Path(i ID) Path {
	if i == None {
		return nil
	}
	n := 0
	for j := i; t.nodes[j].parent != None; j = t.nodes[j].parent {
		n++
	}
	p := make(Path, n)
	for j := i; n > 0; j = t.nodes[j].parent {
		n--
		parent := t.nodes[j].parent
		if t.nodes[parent].kind == Map {
			p[n] = Step{Field: strings.Clone(t.Key(j))}
			continue
		}
		index := 0
		for k := parent + 1; k < j; k = t.nodes[k].end {
			index++
		}
		p[n] = Step{Index: index, Elem: true}
	}
	return p
}
