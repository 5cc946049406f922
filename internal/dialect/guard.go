package dialect

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// Guard makes a patch fail where live is not what it was.
type Guard uint8

const (
	// GuardVersion carries live's resourceVersion, if it has one: as a field that a
	// server compares, or as a test operation.
	GuardVersion Guard = 1 << iota
	// GuardValues has a JSON Patch test, before each edit, what stands there. Other
	// formats cannot.
	GuardValues
)

// versionOf returns live's resourceVersion, or None.
func versionOf(s *walk.Script) node.ID { return s.Live.Lookup("metadata", "resourceVersion") }

// guarded returns what a patch that is an object must say first in the map of edit i:
// the resourceVersion, in the map metadata, which it may have to make. It is "" if there
// is nothing to say.
func guarded(s *walk.Script, g Guard, i int32) string {
	if g&GuardVersion == 0 {
		return ""
	}
	v := versionOf(s)
	if v == node.None {
		return ""
	}
	member := `"resourceVersion":` + string(s.Live.Append(nil, v))
	switch {
	case i == 0 && !edits(s, 0, "metadata"):
		return `"metadata":{` + member + `}`
	case i > 0 && s.Edits[i].Parent == 0 && s.Key(i) == "metadata" && !edits(s, i, "resourceVersion"):
		return member
	}
	return ""
}

// edits reports whether the map of edit i changes under key.
func edits(s *walk.Script, i int32, key string) bool {
	for k := range s.Children(i) {
		if s.Edits[k].Changes() && s.Key(k) == key {
			return true
		}
	}
	return false
}
