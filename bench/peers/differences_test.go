package peers

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"example.com/braid/internal/node"
)

// outcome is what an applier made of a patch: a document, or a refusal. A panic counts
// as a refusal.
type outcome struct {
	doc *node.Tree
	err error
}

// equal looks at the digits of numbers too: no applier has a reason to change them.
func (o outcome) equal(p outcome) bool {
	if o.err != nil || p.err != nil {
		return (o.err == nil) == (p.err == nil)
	}
	return bytes.Equal(o.doc.JSON(), p.doc.JSON())
}

// dispute is the first operation that the two appliers disagree about.
type dispute struct {
	op           json.RawMessage
	before       *node.Tree // the document so far
	ours, theirs outcome
}

// A way is how two outcomes differ.
type way uint8

const (
	theyAccept way = 1 << iota
	theyRefuse
	bothAccept
)

func (d *dispute) way() way {
	switch {
	case d.ours.err != nil:
		return theyAccept
	case d.theirs.err != nil:
		return theyRefuse
	}
	return bothAccept
}

func (d *dispute) member(name string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(d.op, &m) != nil {
		return nil
	}
	return m[name]
}

func (d *dispute) text(name string) string {
	var s string
	if json.Unmarshal(d.member(name), &s) != nil {
		return ""
	}
	return s
}

// pointers matches the pointers of the operation.
func (d *dispute) pointers(re *regexp.Regexp) bool {
	for _, name := range []string{"path", "from"} {
		var s string
		if text := d.member(name); text != nil && json.Unmarshal(text, &s) == nil && re.MatchString(s) {
			return true
		}
	}
	return false
}

var (
	rootPointer = regexp.MustCompile(`^$`)
	emptyToken  = regexp.MustCompile(`/(/|$)`)
	noSlash     = regexp.MustCompile(`^[^/]`)
	loneTilde   = regexp.MustCompile(`~([^01]|$)`)
	looseIndex  = regexp.MustCompile(`/([+-]\d+|0\d+)(/|$)`)
)

// difference is one way in which evanphx/json-patch parts from RFC 6902 and RFC 6901,
// and braid does not.
type difference struct {
	name string
	ways way
	why  string
	is   func(d *dispute) bool
}

var patchDifferences = []difference{
	{"scalar document", theyRefuse, "they hold only maps and lists; RFC 6902 patches any JSON document",
		func(d *dispute) bool { return d.before.Kind(0) < node.List || d.ours.doc.Kind(0) < node.List }},
	{"root pointer", theyAccept | theyRefuse | bothAccept, `RFC 6901, section 5: "" is the whole document. As the target of remove, move and copy they take it for the key ""; as a source of copy, for the document before the patch; as a source of move, they refuse it`,
		func(d *dispute) bool {
			switch d.text("op") {
			case "remove", "move", "copy":
				return d.pointers(rootPointer)
			}
			return false
		}},
	{"empty key", theyAccept | theyRefuse | bothAccept, `RFC 6901, section 5: "/" is the member "". They read it as the map or list itself`,
		func(d *dispute) bool { return d.pointers(emptyToken) }},
	{"pointer without a slash", theyAccept, "RFC 6901, section 3: each token follows a slash. They drop what stands before the first",
		func(d *dispute) bool { return d.pointers(noSlash) }},
	{"lone ~", theyAccept, "RFC 6901, section 3: ~ is followed by 0 or 1. They take it as it is",
		func(d *dispute) bool { return d.pointers(loneTilde) }},
	{"loose index", theyAccept, "RFC 6901, section 4: an index has no sign and no leading zeros. They read it with strconv.Atoi",
		func(d *dispute) bool { return d.pointers(looseIndex) }},
	{"test for null of what is not there", theyAccept, "RFC 6902, section 4: the target location must exist",
		func(d *dispute) bool { return d.text("op") == "test" && string(d.member("value")) == "null" }},
	{"test without a value", theyAccept, "RFC 6902, section 4.6: the operation must have a value. They read null",
		func(d *dispute) bool { return d.text("op") == "test" && d.member("value") == nil }},
	{"test of null", theyRefuse, "in lists they panic on it, and one that the patch has put there is not one that was there",
		func(d *dispute) bool {
			return d.text("op") == "test" && bytes.Contains(d.member("value"), []byte("null"))
		}},
	{"test of numbers", theyRefuse, "RFC 6902, section 4.6: numbers are equal if their values are. They compare their digits",
		func(d *dispute) bool {
			return d.text("op") == "test" && string(parse(string(d.member("value"))).JSON()) != d.target()
		}},
	{"move into itself", theyAccept, "RFC 6902, section 4.4: from must not be a proper prefix of path. They remove the value, and another may stand there then",
		func(d *dispute) bool {
			return d.text("op") == "move" && strings.HasPrefix(d.text("path"), d.text("from")+"/")
		}},
}

// target returns the canonical JSON of what stands at the path of the operation.
func (d *dispute) target() string {
	for i := range node.ID(d.before.Len()) {
		if pointer(d.before, i) == d.text("path") {
			return string(d.before.Append(nil, i))
		}
	}
	return ""
}

// explain returns the name of the first row that explains a dispute, or "".
func explain(d *dispute) string {
	for _, row := range patchDifferences {
		if row.ways&d.way() != 0 && row.is(d) {
			return row.name
		}
	}
	return ""
}

// mergeDispute is a pair that the two appliers of JSON merge patch disagree about.
type mergeDispute struct {
	doc, patch   *node.Tree
	ours, theirs outcome
}

var mergeDifferences = []struct {
	name, why string
	is        func(d *mergeDispute) bool
}{
	{"the document is null", "they refuse it; RFC 7396 takes any JSON value",
		func(d *mergeDispute) bool { return d.theirs.err != nil && d.doc.Kind(0) == node.Null }},
	{"null in a map in a list", "RFC 7396, section 1: a list replaces what was there as it is. They drop the null fields of maps in it",
		func(d *mergeDispute) bool {
			return d.theirs.err == nil && node.Equal(prune(d.ours.doc), 0, prune(d.theirs.doc), 0) && nullInList(d.patch)
		}},
}

// nullInList reports whether a map inside a list has a null field.
func nullInList(t *node.Tree) bool {
	for i := range node.ID(t.Len()) {
		if p := t.Parent(i); t.Kind(i) == node.Null && p != node.None && t.Kind(p) == node.Map {
			for ; p != node.None; p = t.Parent(p) {
				if t.Kind(p) == node.List {
					return true
				}
			}
		}
	}
	return false
}

// prune returns t without the null fields of its maps.
func prune(t *node.Tree) *node.Tree { return parse(string(t.AppendDeclared(nil, 0))) }
