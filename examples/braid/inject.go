package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/inject"
	"example.com/braid/merge"
)

// inject lays templates over the objects of a manifest.
func (c *command) inject(files []string) ([]byte, error) {
	if len(files) != 1 || len(c.templates) == 0 {
		return nil, fmt.Errorf("inject wants -template FILE, once or more, and one file or directory, got %d", len(files))
	}
	if stdin := slices.Concat(c.templates, files); len(slices.DeleteFunc(stdin, func(f string) bool { return f != "-" })) > 1 {
		return nil, fmt.Errorf("standard input can be one file only")
	}
	values := inject.Values{Namespace: c.namespace, Given: map[string]string{}}
	for _, text := range c.values {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("set %q: want NAME=VALUE", text)
		}
		values.Given[name] = value
	}
	var templates []*inject.Template
	for _, file := range c.templates {
		text, err := c.load(file)
		if err != nil {
			return nil, err
		}
		t, err := inject.ParseTemplate(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		templates = append(templates, t)
	}
	var o inject.Options
	var err error
	if o.OnConflict, err = choice("way with conflicts", c.conflict, conflicts); err != nil {
		return nil, err
	}
	if o.NativeSidecars, err = choice("kind of sidecars", c.native, natives); err != nil {
		return nil, err
	}
	in, err := c.injector(o, templates...)
	if err != nil {
		return nil, err
	}
	return c.injections(files[0], func(d *merge.Doc) (*inject.Result, error) { return in.Inject(d, values) })
}

// uninject takes out of the objects of a manifest what was injected.
func (c *command) uninject(files []string) ([]byte, error) {
	if len(files) != 1 {
		return nil, fmt.Errorf("uninject wants one file or directory, got %d", len(files))
	}
	in, err := c.injector(inject.Options{})
	if err != nil {
		return nil, err
	}
	return c.injections(files[0], in.Uninject)
}

var (
	conflicts = map[string]inject.OnConflict{"fail": inject.Fail, "keep": inject.KeepLive, "template": inject.UseTemplate, "skip": inject.Skip}
	natives   = map[string]inject.NativeSidecars{"auto": inject.NativeAuto, "always": inject.NativeAlways, "never": inject.NativeNever}
	drifts    = map[string]inject.OnDrift{"keep": inject.KeepDrift, "undo": inject.UndoDrift}
)

// injector returns the injector that the options and the flags of both commands describe.
func (c *command) injector(o inject.Options, templates ...*inject.Template) (in *inject.Injector, err error) {
	o.PodTemplates = map[gvk.GroupKind][]string{}
	if o.OnDrift, err = choice("way with drift", c.drift, drifts); err != nil {
		return nil, err
	}
	for _, text := range c.podTemplates {
		kind, path, ok := strings.Cut(text, "=")
		if !ok || kind == "" || path == "" {
			return nil, fmt.Errorf("pod-template %q: want KIND.GROUP=PATH", text)
		}
		o.PodTemplates[gvk.ParseGroupKind(kind)] = strings.Split(path, ".")
	}
	return inject.New(o, templates...)
}

// injections changes the objects of a manifest one by one, and returns what -out asks for of
// each. What has no pod template stays as it is, but one object at least has one.
func (c *command) injections(file string, do func(*merge.Doc) (*inject.Result, error)) ([]byte, error) {
	if !slices.Contains([]string{"patch", "merged", "report", "changed"}, c.out) {
		return nil, fmt.Errorf("no output %q: want patch, merged, report or changed", c.out)
	}
	format, err := choice("dialect", c.dialect, map[string]merge.PatchType{"json": merge.JSONPatch, "strategic": merge.StrategicPatch})
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	var none error // about an object without a pod template
	some, changed := false, false
	for d, err := range c.manifests(file) {
		if bad := (*apply.ManifestError)(nil); errors.As(err, &bad) {
			err = &apply.ManifestError{Place: bad.Place, Err: named("live", bad.Err)}
		}
		if err != nil {
			return nil, err
		}
		r, err := do(d.Doc)
		if errors.Is(err, inject.ErrKind) {
			none, r, err = fmt.Errorf("%s: %w", d.Place, err), &inject.Result{}, nil
		} else {
			some = true
		}
		if err == nil {
			changed = changed || r.Changed()
			err = c.injection(&buf, d.Doc, r, format)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Place, err)
		}
	}
	switch {
	case !some && none != nil:
		return nil, none
	case !some:
		return nil, fmt.Errorf("%s: no objects", file)
	case c.out == "changed":
		fmt.Fprintln(&buf, changed)
	}
	return buf.Bytes(), nil
}

// injection writes what -out asks for of one object.
func (c *command) injection(buf *bytes.Buffer, live *merge.Doc, r *inject.Result, format merge.PatchType) error {
	for _, w := range r.Warnings {
		c.warn("%s", w)
	}
	if c.out != "report" {
		for _, text := range differences(r) {
			c.warn("%s", text)
		}
	}
	switch c.out {
	case "patch":
		patch := r.Patch()
		if format == merge.StrategicPatch {
			var err error
			if patch, err = r.StrategicPatch(); err != nil {
				return err
			}
		}
		buf.Write(append(patch, '\n'))
	case "merged":
		after, err := become(live, r)
		if err != nil {
			return err
		}
		buf.Write(append(after.JSON(), '\n'))
	case "report":
		return c.reportInjection(buf, live, r)
	}
	return nil
}

// become returns what an object becomes.
func become(live *merge.Doc, r *inject.Result) (*merge.Doc, error) {
	if !r.Changed() {
		return live, nil
	}
	return r.Object()
}

// differences says where an object and what is to be in it part.
func differences(r *inject.Result) (texts []string) {
	for _, c := range r.Conflicts {
		texts = append(texts, c.String())
	}
	for _, d := range r.Drift {
		texts = append(texts, d.String()+", changed since it was injected: stays")
	}
	return texts
}

// reportInjection says what an object has of templates then, what changes, and what others have
// changed.
func (c *command) reportInjection(buf *bytes.Buffer, live *merge.Doc, r *inject.Result) error {
	id := apply.ID{GVK: live.GVK()}
	id.Namespace, _ = live.Text("metadata", "namespace")
	id.Name, _ = live.Text("metadata", "name")
	has := "nothing injected"
	if len(r.Injections) > 0 {
		var names []string
		for _, i := range r.Injections {
			names = append(names, i.Name+" "+i.Version)
		}
		has = strings.Join(names, ", ")
	}
	fmt.Fprintf(buf, "%s: %s\n", id, has)
	after, err := become(live, r)
	if err != nil {
		return err
	}
	rules, _, err := c.schema(live.GVK())
	if err != nil {
		return err
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		return err
	}
	edits, err := m.TwoWay(live, after)
	if err != nil {
		return err
	}
	if err := edits.WriteReport(buf, colored()); err != nil {
		return err
	}
	for _, text := range differences(r) {
		fmt.Fprintf(buf, "! %s\n", text)
	}
	return nil
}
