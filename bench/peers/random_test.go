package peers

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
)

// source makes documents and patches from small domains, so that equal keys, equal
// values and pointers that lead somewhere are common. The same seed makes the same.
type source struct {
	*rand.Rand
	nulls   int  // one scalar in so many is null
	slashes bool // keys are a, b and pairs of them with a slash between
}

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 6902)), 12, false} }

// oneIn is true once in n times.
func (r source) oneIn(n int) bool { return r.IntN(n) == 0 }

func pick[T any](r source, from ...T) T { return from[r.IntN(len(from))] }

func (r source) key() string {
	if r.slashes {
		return pick(r, "a", "b", "a/a", "a/b", "b/a")
	}
	if r.oneIn(60) {
		return ""
	}
	return pick(r, "a", "b", "c", "a/b", "b/a", "m~n", "~1", "0", "1", "-", "é", "\"<")
}

func (r source) scalar() string {
	switch {
	case r.oneIn(r.nulls):
		return "null"
	case r.oneIn(300):
		return "1e400" // more than a float64 holds
	}
	return pick(r, "0", "1", "2", "-7", "1.0", "10", "1e1", "9007199254740993", "true", "false", `""`, `"x"`, `"\u0078"`, `"é<&"`, `"1"`)
}

// value writes a JSON value of at most depth levels of maps and lists.
func (r source) value(depth int) string {
	if depth == 0 || r.oneIn(3) {
		return r.scalar()
	}
	parts := make([]string, r.IntN(4))
	if r.oneIn(2) {
		for i := range parts {
			parts[i] = r.value(depth - 1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	seen := map[string]bool{}
	fields := parts[:0]
	for range parts {
		if key := r.key(); !seen[key] {
			seen[key] = true
			fields = append(fields, quote(key)+":"+r.value(depth-1))
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// document writes a map or a list, now and then a scalar.
func (r source) document() string {
	for {
		if v := r.value(4); v[0] == '{' || v[0] == '[' || r.oneIn(60) {
			return v
		}
	}
}

// operations writes the operations of a patch for doc, one by one, each for what those
// before it have made.
func (r source) operations(doc string) []string {
	var ops []string
	for range 1 + r.IntN(6) {
		op := r.operation(parse(doc))
		ops = append(ops, op)
		if next, err := dialect.ApplyJSONPatch(nil, parse(doc), parse("["+op+"]"), node.Limits{}); err == nil {
			doc = string(next)
		} else if len(ops) > 1 && r.oneIn(2) {
			ops = ops[:len(ops)-1] // or nearly every long patch would fail
		}
	}
	return ops
}

func (r source) operation(t *node.Tree) string {
	at := node.ID(r.IntN(t.Len()))
	word := pick(r, "add", "add", "remove", "replace", "move", "copy", "test", "test")
	var members []string
	add := func(name, value string) { members = append(members, quote(name)+":"+value) }
	path := pointer(t, at)
	switch word {
	case "add":
		path = r.place(t)
		add("value", r.value(2))
	case "replace":
		add("value", r.value(2))
	case "test":
		if r.oneIn(6) {
			add("value", r.value(2))
		} else {
			add("value", r.respell(string(t.Append(nil, at))))
		}
	case "move", "copy":
		add("from", quote(r.bend(path)))
		if at, next, ok := strings.Cut(path, "~1"); ok && r.slashes && r.oneIn(2) {
			path = at + "/" + strings.Replace(next, "/", "~1", 1) // the same text, cut elsewhere
		} else {
			path = r.place(t)
		}
	}
	add("path", quote(r.bend(path)))
	add("op", quote(word))
	if r.oneIn(8) {
		add(pick(r, "xyz", "Op", "from2"), r.value(1))
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	if r.oneIn(50) {
		return r.malformed(members)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// respell sometimes writes the numbers of a value in another way.
func (r source) respell(value string) string {
	if r.oneIn(4) {
		return strings.NewReplacer("1e1", "10", "1.0", "1").Replace(value)
	}
	return value
}

// place returns a pointer to where something may be put.
func (r source) place(t *node.Tree) string {
	at := node.ID(r.IntN(t.Len()))
	switch t.Kind(at) {
	case node.Map:
		return pointer(t, at) + "/" + escape(r.key())
	case node.List:
		if r.oneIn(3) {
			return pointer(t, at) + "/-"
		}
		return pointer(t, at) + "/" + strconv.Itoa(r.IntN(len(t.Kids(at))+1))
	}
	return pointer(t, at)
}

// bend sometimes returns a pointer that is wrong, or leads somewhere else.
func (r source) bend(path string) string {
	switch r.IntN(240) {
	case 0, 1, 2, 3, 4, 5:
		return path + "/" + escape(r.key())
	case 6, 7, 8, 9, 10, 11:
		return path + "/" + strconv.Itoa(r.IntN(5))
	case 12:
		return path + pick(r, "/-1", "/00", "/+0", "/01", "/-0", "/1e0", "/0x0", "/99999999999999999999")
	case 13:
		return path + pick(r, "/~", "/~2", "/a~")
	case 14:
		return strings.TrimPrefix(path, "/")
	case 15:
		return pick(r, "a", "x", "")
	case 16, 17:
		return path[:max(0, strings.LastIndexByte(path, '/'))] + pick(r, "/-1", "/00", "/+0", "/01", "/-0", "/-")
	}
	return path
}

// malformed breaks one member of an operation.
func (r source) malformed(members []string) string {
	i := r.IntN(len(members))
	name, _, _ := strings.Cut(members[i], ":")
	switch r.IntN(4) {
	case 0:
		members = append(members[:i], members[i+1:]...)
	case 1:
		members[i] = name + ":" + r.value(1)
	case 2:
		members[i] = name + ":" + pick(r, `"spam"`, `"ADD"`, `""`, "null")
	default:
		return r.value(1)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// mergePatch writes a JSON merge patch: any value, with more nulls.
func (r source) mergePatch() string {
	r.nulls = 4
	if r.oneIn(40) {
		return r.scalar()
	}
	return r.document()
}

// pointer returns the JSON Pointer to i.
func pointer(t *node.Tree, i node.ID) string {
	var b strings.Builder
	for _, s := range t.Path(i) {
		if s.Elem {
			fmt.Fprintf(&b, "/%d", s.Index)
		} else {
			b.WriteString("/" + escape(s.Field))
		}
	}
	return b.String()
}

func escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

func quote(s string) string { return string(node.AppendQuoted(nil, s)) }

// parse panics on text that this package has made and that is not JSON.
func parse(text string) *node.Tree {
	t, err := node.Parse([]byte(text), node.Limits{})
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return t
}
