package apply

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/braid/internal/node"
	"example.com/braid/internal/secret"
	"example.com/braid/merge"
)

// Layout: this file is what callers see and the order of things; lastapplied_write.go
// writes objects with and without annotations, and numbers and strings as kubectl does;
// lastapplied_compact.go is the form for large objects; lastapplied_digest.go the digests
// in the place of values.
//
// What holds: a record is read before it is written, in one call. What is written is a
// function of what is read and of desired, and the same as what live has if it means the
// same, so that applying again writes nothing.

// The annotations that hold what was last applied. At most one of them is written, and the
// other is removed. If live has both, kubectl's is the later one and counts. A record with a
// name has one annotation for both forms, in a domain of its own before CompactAnnotation.
const (
	LastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"
	CompactAnnotation     = "braid.example.com/last-applied"
)

// annotationLimit is what the keys and values of an object's annotations may come to on an
// API server (apimachinery, validation.TotalAnnotationSizeLimitB).
const annotationLimit = 256 << 10

// The rules of errors about records, for errors.Is.
var (
	ErrRecord     = errors.New("last-applied cannot be read")
	ErrRecordSize = errors.New("last-applied does not fit into the annotations")
)

// Record says how last-applied is kept: what an applier declared, in an annotation of the
// object. The zero value is kubectl's way, byte for byte, but that numbers with more digits
// than a float64 holds keep them, so that both can apply the same object in turn.
//
// Where that would pass the 256 KiB that a server allows for annotations, a compact form is
// written to an annotation of our own: compressed, and if need be with digests in the place
// of long texts. kubectl then finds no last-applied and says so.
//
// A digest tells whether live or desired still has the value, so merges come out the same.
// A value that neither has any more is some other value.
//
// A Record may be used by any number of goroutines at the same time.
type Record struct {
	// Name gives an applier an annotation of its own, <name>.braid.example.com/last-applied, so
	// that several can share an object: a Planner takes back only what it alone declared, so what
	// two declare goes with the second of them. They should agree on its value, which the later
	// one sets. "" is kubectl's annotation, which
	// all who use it share: what one of them no longer declares goes, whoever did.
	//
	// Records are never part of what is declared, whosever they are.
	Name string
	// HideSecrets keeps what a Secret holds out of its record: digests stand in data, and
	// stringData is recorded as the data that it becomes. Empty values stay as they are. The
	// annotation is still good for kubectl, which needs the keys only.
	HideSecrets bool
	// DigestKey keys the digests (HMAC-SHA-256, cut to 128 bits). Without a key, who reads the
	// annotation can test guesses: values of little entropy are then hidden from nobody.
	// With a new key all values count as changed by others, once; under the policy Apply
	// that makes no difference.
	DigestKey []byte
}

// Exchange reads from live what was last applied, and returns desired with the record of
// itself, which is to be written in its place. Both go into one merge: last says what
// annotations live has for records, so that the merge replaces or removes them, under every
// policy and in every format. last is nil if live is nil or has no record.
//
// A record that cannot be read never blocks: the error has the rule [ErrRecord], and last
// and recorded are good; last then declares nothing but the annotation. After any other
// error both are nil: it is merge.ErrOption about Name, or a [*merge.Error] about desired, with
// [ErrRecordSize] if even digests do not fit. Errors hold no values.
//
// O(size of live and desired). Objects under the limit are not compressed.
func (r Record) Exchange(live, desired *merge.Doc) (last, recorded *merge.Doc, err error) {
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	want, err := parse("desired", desired)
	if err != nil {
		return nil, nil, err
	}
	declared, err := r.declared(want)
	if err != nil {
		return nil, nil, err
	}
	was := r.stored(live)
	now, err := r.next(was, declared, live, desired)
	if err != nil {
		return nil, nil, err
	}
	if recorded, err = merge.Parse(writer{tree: want}.object(nil, now)); err != nil {
		return nil, nil, node.In("desired", err)
	}
	if len(was.notes) > 0 {
		t, err := r.resolve(was, live, want)
		if err == nil {
			last, err = merge.Parse(writer{tree: t}.object(nil, was.notes...))
		}
		if err != nil {
			return nil, nil, node.In("last", err)
		}
	}
	return last, recorded, was.err
}

// Read returns what was last applied to live, as of when it was applied, or nil if live is
// nil or says nothing. desired helps to tell which value a digest stands for; it may be nil.
//
// The error is a [*merge.Error] with [ErrRecord] if live has a record that cannot be read.
// To apply, use [Record.Exchange].
func (r Record) Read(live, desired *merge.Doc) (*merge.Doc, error) {
	was := r.stored(live)
	if was.tree == nil {
		return nil, was.err
	}
	var want *node.Tree
	if desired != nil {
		var err error
		if want, err = parse("desired", desired); err != nil {
			return nil, err
		}
	}
	t, err := r.resolve(was, live, want)
	if err != nil {
		return nil, node.In("last", err)
	}
	return merge.Parse(writer{tree: t}.object(nil))
}

// Strip returns doc without any record of what was applied, whosever, and without annotations
// if there are no others: doc itself if it has none, or is over [merge.DefaultLimits]. O(size).
func Strip(doc *merge.Doc) *merge.Doc {
	if doc == nil || !bytes.Contains(doc.JSON(), []byte(noteMark)) {
		return doc
	}
	t, err := parse("", doc)
	if err != nil {
		return doc
	}
	w := writer{tree: t}
	notes := w.notes()
	if len(notes) == 0 {
		return doc
	}
	annotations := w.annotations(nil)
	if len(t.Kids(t.Lookup("metadata", "annotations"))) == len(notes) {
		annotations.write = nil
	}
	out, err := merge.Parse(w.objectWith(nil, annotations))
	if err != nil {
		return doc
	}
	return out
}

// note is an annotation that holds a record.
type note struct{ key, text string }

// noteMark is in the key of every record.
const noteMark = "/last-applied"

// check returns an error unless Name makes an annotation that a server takes.
func (r Record) check() error {
	plain, _ := r.keys()
	if problems := validation.IsQualifiedName(plain); len(problems) > 0 {
		return fmt.Errorf("%w: Record.Name %q: %s", merge.ErrOption, r.Name, problems[0])
	}
	return nil
}

// keys returns the annotations of the two forms.
func (r Record) keys() (plain, compact string) {
	if r.Name != "" {
		own := r.Name + "." + CompactAnnotation
		return own, own
	}
	return LastAppliedAnnotation, CompactAnnotation
}

// notesOf returns the records of r that an object has, which may be nil, the one that counts
// last.
func (r Record) notesOf(d *merge.Doc) []note {
	var notes []note
	plain, compact := r.keys()
	for _, key := range slices.Compact([]string{compact, plain}) {
		if d == nil {
			break
		}
		if text, ok := d.Text("metadata", "annotations", key); ok {
			notes = append(notes, note{key, text})
		}
	}
	return notes
}

// record is what live has.
type record struct {
	notes []note     // all annotations; the last counts
	tree  *node.Tree // what it says, with digests; nil if there is none or err
	brief bool       // long texts are digests
	err   error
}

func (r Record) stored(live *merge.Doc) record {
	was := record{notes: r.notesOf(live)}
	if len(was.notes) == 0 {
		return was
	}
	n := was.notes[len(was.notes)-1]
	if n.text == "" {
		return was
	}
	var err error
	if n.key == CompactAnnotation || r.Name != "" && n.text[0] != '{' {
		was.tree, was.brief, err = unpack(n.text)
	} else {
		was.tree, err = node.Parse([]byte(n.text), node.Limits{})
	}
	if err == nil && was.tree.Kind(0) != node.Map {
		err = fmt.Errorf("a %s", was.tree.Kind(0))
	}
	if err != nil {
		was.tree = nil
		was.err = &merge.Error{Doc: "live", Path: annotation(n.key), Offset: -1, Rule: ErrRecord, Detail: err.Error()}
	}
	return was
}

// declared returns what is to be recorded of desired.
func (r Record) declared(t *node.Tree) (*node.Tree, error) {
	refuse := func(at node.ID, want string) error {
		return &merge.Error{Doc: "desired", Path: t.Path(at), Offset: -1, Rule: merge.ErrType, Detail: "want " + want + ", got a " + t.Kind(at).String()}
	}
	if t.Kind(0) != node.Map {
		return nil, refuse(0, "a map")
	}
	if meta := t.Field(0, "metadata"); meta != node.None {
		if t.Kind(meta) != node.Map {
			return nil, refuse(meta, "a map")
		}
		if notes := t.Field(meta, "annotations"); notes != node.None && t.Kind(notes) != node.Map && t.Kind(notes) != node.Null {
			return nil, refuse(notes, "a map")
		}
	}
	if r.HideSecrets && secret.Is(t) {
		return r.hide(t)
	}
	return t, nil
}

// next returns the record that is to be written: what live has, if it says what is declared.
func (r Record) next(was record, declared *node.Tree, live, desired *merge.Doc) (note, error) {
	key, compact := r.keys()
	plain := note{key, string(kubectlText(declared))}
	room, err := r.space(len(plain.text), live, desired)
	if err != nil {
		return note{}, err
	}
	fits := func(n note) bool { return len(n.key)+len(n.text) <= room }
	if was.tree != nil {
		if n := was.notes[len(was.notes)-1]; fits(n) {
			same, err := r.same(was, n, plain, declared)
			if same || err != nil {
				return n, err
			}
		}
	}
	if fits(plain) {
		return plain, nil
	}
	packed := note{compact, pack([]byte(plain.text), false)}
	if !fits(packed) {
		brief, err := r.brief(declared)
		if err != nil {
			return note{}, err
		}
		packed.text = pack(kubectlText(brief), true)
	}
	if !fits(packed) {
		return note{}, &merge.Error{Doc: "desired", Path: annotation(""), Offset: -1, Rule: ErrRecordSize, Detail: fmt.Sprintf(
			"%d bytes as kubectl writes it, %d compressed and with digests; other annotations leave %d of %d",
			len(plain.text), len(packed.text), room-len(packed.key), annotationLimit)}
	}
	return packed, nil
}

// same reports whether the record n of live says what plain says.
func (r Record) same(was record, n, plain note, declared *node.Tree) (bool, error) {
	if n == plain {
		return true, nil
	}
	text := []byte(plain.text)
	if was.brief {
		brief, err := r.brief(declared)
		if err != nil {
			return false, err
		}
		text = kubectlText(brief)
	}
	t, err := node.Parse(text, node.Limits{})
	return err == nil && node.Equal(was.tree, 0, t, 0), node.In("desired", err)
}

// space returns how much of the limit other annotations leave for a record of n bytes, at
// worst: a merge may keep all those of live, and the longer value of two.
func (r Record) space(n int, live, desired *merge.Doc) (int, error) {
	var have []byte
	if live != nil {
		have = live.JSON()
	}
	plain, compact := r.keys()
	if n+len(plain)+len(have)+len(desired.JSON()) <= annotationLimit {
		return annotationLimit, nil // however they are spread
	}
	want, err := parse("desired", desired)
	if err != nil {
		return 0, err
	}
	room := annotationLimit
	ours := want.Lookup("metadata", "annotations")
	if ours != node.None {
		for _, i := range want.Kids(ours) {
			if key := want.Key(i); !isNote(key) {
				room -= len(key) + len(want.Text(i))
			}
		}
	}
	if live == nil {
		return room, nil
	}
	t, err := parse("live", live)
	if err != nil {
		return 0, err
	}
	theirs := t.Lookup("metadata", "annotations")
	if theirs == node.None {
		return room, nil
	}
	for _, i := range t.Kids(theirs) {
		key, size := t.Key(i), len(t.Text(i))
		switch {
		case key == plain || key == compact:
			continue
		case ours != node.None && want.Field(ours, key) != node.None:
			room -= max(0, size-len(want.Text(want.Field(ours, key))))
		default:
			room -= len(key) + size
		}
	}
	return room, nil
}

// isNote reports whether an annotation is somebody's record.
func isNote(key string) bool {
	return key == LastAppliedAnnotation || key == CompactAnnotation || strings.HasSuffix(key, "."+CompactAnnotation)
}

func annotation(key string) merge.Path {
	p := merge.Path{{Field: "metadata"}, {Field: "annotations"}, {Field: key}}
	if key == "" {
		return p[:2]
	}
	return p
}

// parse returns the tree of a document.
func parse(name string, d *merge.Doc) (*node.Tree, error) {
	if d == nil {
		return nil, &merge.Error{Doc: name, Offset: -1, Rule: merge.ErrType, Detail: "no document"}
	}
	t, err := node.Parse(d.JSON(), node.Limits{})
	return t, node.In(name, err)
}
