package dialect

import (
	"strconv"
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// mostOperations is how many an API server takes in one JSON Patch
// (k8s.io/apiserver, maxJSONPatchOperations).
const mostOperations = 10_000

// EncodeJSONPatch appends the JSON Patch (RFC 6902) of s. Members of maps are added,
// never replaced, so that one which live has lost meanwhile does no harm. Elements of
// lists are removed, moved and added one by one, as few as it takes; each list is put
// in order before its elements are edited, so every path is right when its turn comes.
// O(n log n) in the size of the edits and of the lists that change.
//
// An API server refuses patches of more than 10,000 operations. Where that many would
// be needed, lists are sent whole, and if that does not do, the fields of the root.
func EncodeJSONPatch(dst []byte, s *walk.Script, g Guard) ([]byte, error) {
	if s.Changes == 0 {
		return append(dst, "[]"...), nil
	}
	e := jsonPatch{Script: s, dst: dst, guard: g}
	for grain := byOp; ; grain++ {
		e.dst, e.ops, e.grain = append(dst, '['), 0, grain
		if g&GuardVersion != 0 {
			e.version()
		}
		e.fields(0)
		if e.ops <= mostOperations {
			return append(e.dst, ']'), nil
		}
		if grain == byField {
			return nil, &node.Error{Offset: -1, Rule: ErrInexpressible, Detail: "it takes more than 10000 operations"}
		}
	}
}

// grain is the size of what a JSON Patch edits.
type grain uint8

const (
	byOp    grain = iota // each position
	byList               // lists whole
	byField              // the fields of the root whole
)

type jsonPatch struct {
	*walk.Script
	dst   []byte
	path  []byte // RFC 6901, of the map or list that is being written
	ops   int
	grain grain
	guard Guard
}

// fields writes the edits of the map of edit i, which stands at e.path.
func (e *jsonPatch) fields(i int32) {
	for k := range e.Children(i) {
		ed := &e.Edits[k]
		if !ed.Changes() {
			continue
		}
		n := len(e.path)
		e.path = appendToken(e.path, e.Key(k))
		switch {
		case ed.Op == walk.OpRemove:
			e.test(ed.Live)
			e.op("remove", "")
			e.dst = append(e.dst, '}')
		case ed.Op == walk.OpFields && e.grain < byField:
			e.fields(k)
		case ed.Op == walk.OpElements && e.grain == byOp:
			e.elements(k)
		case ed.Op == walk.OpTake && e.grain == byOp && e.lists(ed):
			e.whole(k)
		default:
			e.test(ed.Live)
			e.add(k)
		}
		e.path = e.path[:n]
	}
}

// lists reports whether an edit takes one list for another.
func (e *jsonPatch) lists(ed *walk.Edit) bool {
	return ed.Live != node.None && e.Live.Kind(ed.Live) == node.List && e.Desired.Kind(ed.Desired) == node.List
}

// add writes the merged value of edit k.
func (e *jsonPatch) add(k int32) {
	e.op("add", "")
	e.dst = append(e.dst, `,"value":`...)
	e.dst = append(e.AppendValue(e.dst, k), '}')
}

// op begins an operation at e.path, from another place if from is not "".
func (e *jsonPatch) op(name, from string) {
	if e.ops > 0 {
		e.dst = append(e.dst, ',')
	}
	e.ops++
	e.dst = append(append(e.dst, `{"op":"`...), name...)
	if from != "" {
		e.dst = node.AppendQuoted(append(e.dst, `","from":`...), from)
		e.dst = append(e.dst, `,"path":`...)
	} else {
		e.dst = append(e.dst, `","path":`...)
	}
	e.dst = node.AppendQuoted(e.dst, e.path)
}

// test writes a test of live's value at e.path, if tests are asked for and live has
// one.
func (e *jsonPatch) test(live node.ID) {
	if e.guard&GuardValues != 0 && live != node.None {
		e.op("test", "")
		e.dst = append(e.dst, `,"value":`...)
		e.dst = append(e.Live.Append(e.dst, live), '}')
	}
}

// version writes a test of live's resourceVersion.
func (e *jsonPatch) version() {
	if v := versionOf(e.Script); v != node.None {
		e.op("test", "")
		e.dst = append(e.dst[:len(e.dst)-len(`""`)], `"/metadata/resourceVersion","value":`...)
		e.dst = append(e.Live.Append(e.dst, v), '}')
	}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// appendToken appends a slash and one reference token (RFC 6901).
func appendToken(path []byte, key string) []byte {
	path = append(path, '/')
	if strings.ContainsAny(key, "~/") {
		key = pointerEscapes.Replace(key)
	}
	return append(path, key...)
}

func appendIndex(path []byte, i int) []byte {
	return strconv.AppendInt(append(path, '/'), int64(i), 10)
}
