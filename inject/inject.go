package inject

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/docs"
	"example.com/braid/merge"
)

// OnConflict says what happens where an object and a template say different things.
type OnConflict uint8

const (
	Fail        OnConflict = iota // an error, a ConflictError; nothing is injected
	KeepLive                      // the object's value stays, the rest is injected, and the result says so
	UseTemplate                   // the template's value, until Uninject; a ConflictError where two containers need one name or port
	Skip                          // nothing is injected, without an error, and the result says so
)

// NativeSidecars says where the containers of templates stand: beside the object's, or among
// its init containers with restartPolicy Always, where they do not keep a pod from ending.
type NativeSidecars uint8

const (
	NativeAuto   NativeSidecars = iota // native in pods that run to completion, such as those of Jobs
	NativeAlways                       // native
	NativeNever                        // beside the object's, for clusters before 1.29
)

// OnDrift says what happens where somebody has changed what was injected.
type OnDrift uint8

const (
	KeepDrift OnDrift = iota // the change stays, and the result says so
	// UndoDrift undoes it, but for what others added to maps and lists, and for elements that
	// are no longer as they were injected and that no template has any more.
	UndoDrift
)

// Options configure an Injector. The zero value is the default.
type Options struct {
	OnConflict     OnConflict
	NativeSidecars NativeSidecars
	OnDrift        OnDrift
	// PodTemplates says where custom kinds have their pod templates: the fields on the way.
	PodTemplates map[gvk.GroupKind][]string
}

// Injector injects templates. Immutable, safe for concurrent use.
type Injector struct {
	o         Options
	templates []*Template
}

// New checks the options, once for all injections. The templates are laid over an object in
// their order. The error is merge.ErrOption.
func New(o Options, templates ...*Template) (*Injector, error) {
	switch {
	case o.OnConflict > Skip:
		return nil, fmt.Errorf("%w: OnConflict %d", merge.ErrOption, o.OnConflict)
	case o.NativeSidecars > NativeNever:
		return nil, fmt.Errorf("%w: NativeSidecars %d", merge.ErrOption, o.NativeSidecars)
	case o.OnDrift > UndoDrift:
		return nil, fmt.Errorf("%w: OnDrift %d", merge.ErrOption, o.OnDrift)
	}
	in := &Injector{o: o}
	in.o.PodTemplates = make(map[gvk.GroupKind][]string, len(o.PodTemplates))
	for kind, fields := range o.PodTemplates {
		in.o.PodTemplates[kind] = append([]string(nil), fields...)
	}
	names := map[string]bool{}
	for _, t := range templates {
		if t == nil {
			return nil, fmt.Errorf("%w: a template is nil", merge.ErrOption)
		}
		if names[t.name] {
			return nil, fmt.Errorf("%w: two templates with the name %q", merge.ErrOption, t.name)
		}
		names[t.name] = true
		in.templates = append(in.templates, t)
	}
	return in, nil
}

// Inject lays the templates over the pod template of an object, or of each item of a list.
// What was injected before and nobody changed gives way, so that the outcome is that of
// injecting for the first time. The object does not change. O(size of object and templates).
//
// The error is a [*ConflictError], or a [*merge.Error] with ErrKind, ErrValue or a rule of
// package merge. A record that cannot be read is a warning: what was injected then counts
// as the object's own.
func (in *Injector) Inject(object *merge.Doc, values Values) (*Result, error) {
	return in.run(object, func(p *place, r *Result) (*work, error) { return in.inject(p, values, r) })
}

// Uninject takes out what was injected and puts back what that stood in the place of. What
// somebody has changed since then stays, and the result says so. The error is a
// [*merge.Error], with ErrRecord if a record cannot be read. O(size of object).
func (in *Injector) Uninject(object *merge.Doc) (*Result, error) {
	return in.run(object, func(p *place, r *Result) (*work, error) { return in.uninject(p, r) })
}

// Injected returns what was injected into an object by its records, in the order of its pod
// templates. The error is as with Uninject.
func (in *Injector) Injected(object *merge.Doc) ([]Injection, error) {
	places, _, err := in.open(object)
	if err != nil {
		return nil, err
	}
	var out []Injection
	for _, p := range places {
		r, err := p.read()
		if err != nil {
			return nil, err
		}
		if r != nil {
			out = append(out, r.by...)
		}
	}
	return out, nil
}

var plain = sync.OnceValue(func() *Injector { return &Injector{} })

// Uninject is [Injector.Uninject] for built-in kinds.
func Uninject(object *merge.Doc) (*Result, error) { return plain().Uninject(object) }

// Injected is [Injector.Injected] for built-in kinds.
func Injected(object *merge.Doc) ([]Injection, error) { return plain().Injected(object) }

// open finds the pod templates of an object.
func (in *Injector) open(object *merge.Doc) ([]place, *value, error) {
	if object == nil {
		return nil, nil, &merge.Error{Doc: "live", Offset: -1, Rule: merge.ErrType, Detail: "no document"}
	}
	root := valueAt(docs.Tree(object), 0)
	places, err := in.places(root)
	return places, root, err
}

func (in *Injector) run(object *merge.Doc, do func(*place, *Result) (*work, error)) (*Result, error) {
	places, root, err := in.open(object)
	if err != nil {
		return nil, err
	}
	r := &Result{object: object, root: root}
	for i := range places {
		p, before := &places[i], *r
		err := r.become(p, in.o.OnDrift, do)
		var broken *merge.Error
		if errors.As(err, &broken) && broken.Doc == "desired" && p.record != nil {
			// What a record says could not stand in a pod. It must not keep others from it.
			p.unfit = &merge.Error{Doc: "live", Path: broken.Path, Offset: -1, Rule: ErrRecord, Detail: "it holds what cannot stand there"}
			*r = before
			err = r.become(p, in.o.OnDrift, do)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// become computes what becomes of one pod template.
func (r *Result) become(p *place, drift OnDrift, do func(*place, *Result) (*work, error)) error {
	w, err := do(p, r)
	if err == nil {
		err = r.add(p, w, drift)
	}
	return err
}

// work is what becomes of one pod template.
type work struct {
	next *value // what is to be
	was  *value // what was made last; nil if live is just that
	odd  bool   // see undo
}

// before returns the pod template without what was injected, and what is known of that.
func before(p *place, rec *record, wants func(list, key string) bool) (u *undo, was *value) {
	u = &undo{base: valueAt(p.pod.tree, p.pod.id), exact: true}
	if rec != nil {
		u = takeOut(u.base, rec, wants, nil)
		if len(u.needs) > 0 { // again, now that we know: from the record as it was read
			if again, err := p.read(); err == nil {
				u = takeOut(valueAt(p.pod.tree, p.pod.id), again, wants, u.needs)
			}
		}
		if !u.exact {
			was = redo(u.base.clone(), u.did)
			if notes := was.path("metadata", "annotations"); notes != nil {
				notes.set(RecordAnnotation, p.pod.path("metadata", "annotations", RecordAnnotation))
			}
		}
	}
	for _, list := range containerLists {
		u.odd = u.odd || repeats(u.base.path("spec", list), func(c *value) string { _, name := c.scalar("name"); return name })
	}
	return u, was
}

func (in *Injector) inject(p *place, values Values, r *Result) (*work, error) {
	rec, err := p.read()
	u, was := before(p, rec, in.wants())
	if err != nil {
		r.Warnings = append(r.Warnings, Warning{p.at, err.Error() + ": what was injected counts as the object's own"})
		u.base.path("metadata", "annotations").remove(RecordAnnotation)
	}
	r.lost(p, u)
	s := &source{pod: u.base, object: p.object, Values: values}
	filled := make([]*value, len(in.templates))
	for i, t := range in.templates {
		if filled[i], err = fill(t.tree, t.texts, s); err != nil {
			return nil, err
		}
	}
	o := &overlay{in: in, p: p, pod: u.base, live: p.pod, was: u.did}
	o.begin()
	for i, t := range in.templates {
		o.lay(t, filled[i])
	}
	o.finish()
	r.Warnings = append(r.Warnings, o.warnings...)
	r.Conflicts = append(r.Conflicts, o.clashes...)
	if len(o.clashes) > 0 {
		switch c := in.o.OnConflict; {
		case c == Fail || o.fatal:
			return nil, &ConflictError{r.Conflicts}
		case c == Skip:
			return nil, nil
		}
	}
	o.nameDefault()
	if len(o.rec.did) > 0 {
		for _, t := range in.templates {
			o.rec.by = append(o.rec.by, Injection{t.name, t.version})
		}
		notes := o.annotations()
		if notes == nil {
			return nil, &merge.Error{Doc: "live", Path: p.below(annotationPath(RecordAnnotation)), Offset: -1, Rule: merge.ErrType, Detail: "no place for the record: metadata or its annotations are no map"}
		}
		notes.set(RecordAnnotation, textValue(o.rec.text()))
		r.Injections = append(r.Injections, o.rec.by...)
	}
	return &work{next: o.pod, was: was, odd: u.odd || o.odd}, nil
}

func (in *Injector) uninject(p *place, r *Result) (*work, error) {
	rec, err := p.read()
	if err != nil || rec == nil {
		return nil, err
	}
	u, was := before(p, rec, func(string, string) bool { return false })
	r.lost(p, u)
	return &work{next: u.base, was: was, odd: u.odd}, nil
}

// wants returns whether a template has an element of a list; of a container's name in any
// of the lists of containers. It looks when it is first asked.
func (in *Injector) wants() func(list, key string) bool {
	var all map[[2]string]bool
	return func(list, key string) bool {
		if all == nil {
			all = map[[2]string]bool{}
			for _, t := range in.templates {
				elementsOf(podType(), valueAt(t.tree, 0), "", all)
			}
		}
		if slices.Contains(containerLists[:], list) {
			return all[[2]string{"containers", key}] || all[[2]string{"initContainers", key}]
		}
		return all[[2]string{list, key}]
	}
}

// engines are the mergers of pods.
type engines struct {
	exact    *merge.Merger // where live is as we left it
	semantic *merge.Merger // where somebody else has been there: what they changed stays
	strict   *merge.Merger // says where that is
	undo     *merge.Merger // undoes it
}

// yield keeps what others have changed: theirs is a clash where it shall be told.
func yield(theirs merge.Action) *merge.Policy {
	p := merge.Apply
	for _, c := range [...]merge.Case{
		merge.BothAddOther, merge.TheyRemove, merge.TheyRemoveWeSet, merge.WeRemoveTheySet, merge.TheySet, merge.BothSetOther,
	} {
		p[c] = theirs
	}
	return &p
}

var mergers = sync.OnceValue(func() *engines {
	must := func(o merge.Options) *merge.Merger {
		o.Nulls = merge.NullStays
		m, err := merge.New(o)
		if err != nil {
			panic(err) // the options are constants
		}
		return m
	}
	pod, err := merge.SchemaFor(gvk.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if err != nil {
		panic(err) // it is built in
	}
	return &engines{
		exact:    must(merge.Options{Schema: pod, Equality: merge.Exact}),
		semantic: must(merge.Options{Schema: pod, Policy: yield(merge.Keep)}),
		strict:   must(merge.Options{Schema: pod, Policy: yield(merge.Clash)}),
		undo:     must(merge.Options{Schema: pod}),
	}
})
