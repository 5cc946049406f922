package apply

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/merge"
)

// Document is one object of a manifest.
type Document struct {
	*merge.Doc
	Place Place
}

// Place says where a document stands.
type Place struct {
	File   string
	Number int    // of the document in the file, from 1 on; empty ones do not count
	Line   int    // where the document begins
	Item   string // of a list, such as items[2]; "" for a document that is none
}

// String returns "web.yaml, document 2 (line 14), items[0]".
func (p Place) String() string {
	s := fmt.Sprintf("%s, document %d (line %d)", p.File, p.Number, p.Line)
	if p.Item != "" {
		s += ", " + p.Item
	}
	return s
}

// ManifestError says in which document what is wrong. It holds no values.
type ManifestError struct {
	Place Place
	Err   error // a *merge.Error, with the path, or an error of reading
}

// Error writes "web.yaml, document 2 (line 14): desired: metadata.name: …".
func (e *ManifestError) Error() string { return e.Place.String() + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *ManifestError) Unwrap() error { return e.Err }

// ReadManifest reads the documents of a manifest one after the other: YAML with any number of
// documents, JSON, JSON values in a row, or a mix of them. Empty documents are left out, and
// the items of lists (kind List, or a kind such as ConfigMapList) stand for themselves. file is
// the name for errors.
//
// The error is a *[ManifestError] and comes with the place. After one about what a document says
// the next document follows. Memory is bounded by the largest document, which may be as large as
// [merge.DefaultLimits] says. O(n). The sequence can be used once.
func ReadManifest(file string, r io.Reader) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		s := newSplitter(r)
		for number := 1; ; number++ {
			doc, err := s.next()
			if err == io.EOF {
				return
			}
			place := Place{File: file, Number: number, Line: s.start}
			if err == nil && doc.GVK().Kind == "" && string(doc.JSON()) == "null" {
				number--
				continue
			}
			more := false
			if out := (delivery{place, yield}); err != nil {
				more = out.fail(err)
			} else {
				more = out.document(doc)
			}
			if !more || s.err != nil && s.err != io.EOF {
				return
			}
		}
	}
}

// delivery yields what one document of a manifest holds. Its methods report whether the caller
// wants more.
type delivery struct {
	place Place
	yield func(Document, error) bool
}

// fail yields an error. The lines that it names count from the start of the file.
func (d delivery) fail(err error) bool {
	var e *merge.Error
	var n int
	if errors.As(err, &e) {
		if _, none := fmt.Sscanf(e.Detail, "line %d", &n); none == nil {
			moved := *e
			moved.Detail = fmt.Sprintf("line %d", n+d.place.Line-1) + strings.TrimPrefix(e.Detail, fmt.Sprintf("line %d", n))
			err = &moved
		}
	}
	return d.yield(Document{Place: d.place}, &ManifestError{d.place, node.In("desired", err)})
}

const listSuffix = "List"

// document yields a document, or of a list the items.
func (d delivery) document(doc *merge.Doc) bool {
	if strings.HasSuffix(doc.GVK().Kind, listSuffix) {
		t, err := parse("desired", doc)
		if err != nil {
			return d.fail(err)
		}
		if i := t.Field(0, "items"); i != node.None && (t.Kind(i) == node.List || t.Kind(i) == node.Null) {
			return items{t, d}.list(0)
		}
	}
	return d.yield(Document{doc, d.place}, nil)
}

// items walks lists of lists in one tree, so that nesting costs nothing.
type items struct {
	tree *node.Tree
	delivery
}

func (s items) list(list node.ID) bool {
	at := s.tree.Field(list, "items")
	if s.tree.Kind(at) != node.List {
		return true
	}
	for _, i := range s.tree.Kids(at) {
		if !s.item(list, i) {
			return false
		}
	}
	return true
}

func (s items) item(list, i node.ID) bool {
	where := s.tree.Path(i)
	s.place.Item = where.String()
	if s.tree.Kind(i) != node.Map {
		return s.fail(&merge.Error{Path: where, Offset: -1, Rule: merge.ErrType, Detail: "want a map, got a " + s.tree.Kind(i).String()})
	}
	kind := s.text(i, "kind")
	if inner := s.tree.Field(i, "items"); strings.HasSuffix(kind, listSuffix) && inner != node.None && s.tree.Kind(inner) == node.List {
		return s.list(i)
	}
	var defaults []field // a server leaves them out where the list has them
	if of := strings.TrimSuffix(s.text(list, "kind"), listSuffix); of != "" && kind == "" && s.text(i, "apiVersion") == "" {
		defaults = []field{quoted("apiVersion", s.text(list, "apiVersion")), quoted("kind", of)}
	}
	doc, err := merge.Parse(writer{tree: s.tree}.mapWith(nil, i, defaults...))
	if err != nil {
		return s.fail(err)
	}
	return s.yield(Document{doc, s.place}, nil)
}

func (s items) text(i node.ID, key string) string {
	if f := s.tree.Field(i, key); f != node.None && s.tree.Kind(f) == node.String {
		return s.tree.Text(f)
	}
	return ""
}

// quoted is a field with a text.
func quoted(key, text string) field {
	return field{key, func(dst []byte) []byte { return node.AppendQuoted(dst, text) }}
}

// ReadFiles reads a manifest, or those of a directory: its files *.yaml, *.yml and *.json, by
// name, without directories below it. It is [ReadManifest] otherwise, and a file is open only
// while it is read. The sequence can be used again.
func ReadFiles(fsys fs.FS, name string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		files, err := manifests(fsys, name)
		if err != nil {
			yield(Document{}, err)
			return
		}
		for _, file := range files {
			if !readFile(fsys, file, yield) {
				return
			}
		}
	}
}

func manifests(fsys fs.FS, name string) ([]string, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	entries, err := fs.ReadDir(fsys, name)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(e.Name())) && !e.IsDir() {
			files = append(files, path.Join(name, e.Name()))
		}
	}
	return files, nil
}

func readFile(fsys fs.FS, file string, yield func(Document, error) bool) bool {
	f, err := fsys.Open(file)
	if err != nil {
		return yield(Document{Place: Place{File: file}}, err)
	}
	defer f.Close()
	for doc, err := range ReadManifest(file, f) {
		if !yield(doc, err) {
			return false
		}
	}
	return true
}
