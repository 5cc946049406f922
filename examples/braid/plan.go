package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// errChanges makes the exit status of a plan that does something. It is not printed.
var errChanges = errors.New("there are changes")

// plan returns what applying a manifest does to what there is, object by object. Beside
// errChanges, and an error about objects that cannot be planned, the output is good.
func (c *command) plan(files []string) ([]byte, error) {
	if len(files) != 1 {
		return nil, fmt.Errorf("plan wants one file or directory, got %d", len(files))
	}
	if files[0] == "-" && c.live == "-" {
		return nil, fmt.Errorf("standard input can be one file only")
	}
	write, ok := map[string]func(*bytes.Buffer, apply.Step) error{
		"report": func(buf *bytes.Buffer, s apply.Step) error { return s.WriteReport(buf, colored()) },
		"merged": writeMerged, "changed": func(*bytes.Buffer, apply.Step) error { return nil },
	}[c.out]
	if !ok {
		return nil, fmt.Errorf("no output %q: want report, merged or changed", c.out)
	}
	live, desired, err := c.sets(files[0])
	if err != nil {
		return nil, err
	}
	planner, err := c.planner(live, desired)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	var counts apply.Counts
	for step := range desired.Plan(planner, apply.Live{Get: live.Get, Members: docs(live)}) {
		counts.Add(step)
		if err := write(&buf, step); err != nil && step.Err == nil {
			return nil, err
		}
	}
	switch c.out {
	case "report":
		fmt.Fprintln(&buf, counts)
	case "changed":
		fmt.Fprintln(&buf, counts.Changes() > 0)
	}
	switch {
	case counts.Fail > 0:
		return buf.Bytes(), fmt.Errorf("%d of %d objects cannot be planned", counts.Fail, desired.Len())
	case counts.Changes() > 0:
		return buf.Bytes(), errChanges
	}
	return buf.Bytes(), nil
}

func writeMerged(buf *bytes.Buffer, s apply.Step) error {
	if s.Plan == nil {
		return nil
	}
	d, err := s.Plan.Merged()
	if err == nil {
		buf.Write(d.JSON())
		buf.WriteByte('\n')
	}
	return err
}

// sets reads what there is and what is declared.
func (c *command) sets(file string) (live, desired *apply.Set, err error) {
	o := apply.SetOptions{Namespace: c.namespace}
	var there iter.Seq2[apply.Document, error] = func(func(apply.Document, error) bool) {}
	if c.live != "" {
		there = c.manifests(c.live)
	}
	if live, err = apply.NewSet(there, o); err != nil {
		return nil, nil, err
	}
	o.ClusterScoped = live.ClusterScoped
	if c.set != "" {
		o.Inventory.Parent = apply.ID{GVK: gvk.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: c.namespace, Name: c.set}
	}
	desired, err = apply.NewSet(c.manifests(file), o)
	return live, desired, err
}

func (c *command) manifests(file string) iter.Seq2[apply.Document, error] {
	if file == "-" {
		return apply.ReadManifest(file, c.stdin)
	}
	return apply.ReadFiles(disk{}, file)
}

// disk opens files by the names that a person gives, so that errors have them.
type disk struct{}

func (disk) Open(name string) (fs.File, error) { return os.Open(name) }

// planner takes the rules of custom kinds from -crd, and from definitions among the objects.
func (c *command) planner(live, desired *apply.Set) (*apply.Planner, error) {
	policy, nulls, equality, err := c.words()
	if err != nil {
		return nil, err
	}
	c.kinds = func(kind gvk.GroupVersionKind) (*merge.Schema, error) {
		if s, err := desired.Schema(kind); err == nil {
			return s, nil
		}
		return live.Schema(kind)
	}
	known := map[gvk.GroupVersionKind]*merge.Schema{}
	return apply.NewPlanner(apply.Options{
		Policy: policy, Nulls: nulls, Equality: equality, Ignore: c.ignore, HandOver: c.handover,
		Schema: func(kind gvk.GroupVersionKind) (*merge.Schema, error) {
			if known[kind] == nil {
				s, _, err := c.schema(kind)
				if err != nil {
					return nil, err
				}
				known[kind] = s
			}
			return known[kind], nil
		},
	})
}

func docs(s *apply.Set) iter.Seq2[*merge.Doc, error] {
	return func(yield func(*merge.Doc, error) bool) {
		for d, err := range s.Documents() {
			if !yield(d.Doc, err) {
				return
			}
		}
	}
}
