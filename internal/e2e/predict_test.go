package e2e

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

var update = flag.Bool("update", false, "write RESULTS.md")

var only = flag.String("only", "", "try changes of the manifests that match this pattern alone")

// A prediction is that a patch makes of live what our merged object is, once the server has
// added its defaults. Both are asked of the server without storing them: the patch by PATCH,
// the merged object by PUT. Either may be refused, for most changes that a machine thinks of
// are not valid; then so must be the other.
type prediction struct {
	equal, refused, explained, inexpressible int
}

// add counts another's.
func (p *prediction) add(q *prediction) {
	p.equal, p.refused = p.equal+q.equal, p.refused+q.refused
	p.explained, p.inexpressible = p.explained+q.explained, p.inexpressible+q.inexpressible
}

// TestPredictions holds every kind that the server takes, changed in every way, in every
// format.
func TestPredictions(t *testing.T) {
	s := newSettler(t)
	table := tally{}
	only := regexp.MustCompile(*only)
	for i, m := range manifests(t) {
		var err error
		if m.doc, err = labelled(m.doc); err != nil {
			t.Fatal(m, err)
		}
		desired, live, err := s.settle(m)
		if err != nil {
			s.refuse(table, m, err)
			continue
		}
		if !only.MatchString(m.String()) {
			continue
		}
		if m.kind().Kind != "CustomResourceDefinition" || i%5 == 0 { // a server takes its time with them
			s.predictAll(m, table, desired, live)
		}
		s.again(m, desired, live)
		if m.kind().Kind != "CustomResourceDefinition" {
			s.disturbed(m, desired, live)
		}
		s.remove(live)
	}
	for _, line := range strings.Split(table.details(), "\n") {
		t.Log(line)
	}
	t.Log("\n" + table.summary() + s.drift.String())
	if *update {
		write(t, table.summary()+"\n"+s.drift.String()+"\n"+table.details())
	}
}

// predictAll tries every change of one object.
func (s *settler) predictAll(m manifest, table tally, last, live *merge.Doc) {
	s.t.Helper()
	for _, c := range changes(last) {
		desired, err := merge.FromMap(c.desired)
		if err != nil {
			s.t.Fatal(m, c.name, c.at, err)
		}
		s.predict(fmt.Sprintf("%s: %s at %s", m, c.name, c.at), table.of(m.kind()), live, desired)
	}
}

// predict asks, and asks again if the server itself wrote the object meanwhile.
func (s *settler) predict(what string, count row, live, desired *merge.Doc) {
	s.t.Helper()
	for range 10 {
		if s.ask(what, count, live, desired) {
			return
		}
		id := apply.IDOf(&unstructured.Unstructured{Object: live.Map()})
		now, err := client.Get(s.t.Context(), id)
		if err == nil {
			live, err = merge.FromMap(now.Object)
		}
		if err != nil {
			s.t.Error(what, err)
			return
		}
	}
	s.t.Errorf("%s: the server does not come to rest", what)
}

// ask reports whether live was still what is stored.
func (s *settler) ask(what string, count row, live, desired *merge.Doc) bool {
	s.t.Helper()
	kind := desired.GVK()
	rules, err := s.schema(kind)
	if err != nil {
		s.t.Error(what, err)
		return true
	}
	builtin := rules.Name() != "" && s.schemas[kind] == nil
	o := merge.Options{Schema: rules, Model: merge.Structured}
	formats := []merge.PatchType{merge.JSONMergePatch, merge.JSONPatch}
	if builtin {
		o.Model, o.Ignore = merge.Strategic, []string{"status"}
		formats = append(formats, merge.StrategicPatch)
	}
	m, err := merge.New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	last, recorded, err := apply.Record{}.Exchange(live, desired)
	if err != nil {
		s.t.Error(what, err)
		return true
	}
	r, err := m.ThreeWay(last, live, recorded)
	if err != nil {
		return true // what was changed has another type now
	}
	merged, err := r.Merged()
	if err != nil {
		s.t.Error(what, err)
		return true
	}
	u := &unstructured.Unstructured{Object: merged.Map()}
	want, wantErr := client.Replace(s.t.Context(), u, apply.WriteOptions{DryRun: true})
	if apierrors.IsConflict(wantErr) {
		return false
	}
	for _, f := range formats {
		count := count.of(f)
		patch, err := r.Patch(f)
		switch {
		case errors.Is(err, merge.ErrInexpressible):
			count.inexpressible++
			continue
		case err != nil:
			s.t.Errorf("%s, %s: %v", what, f.MediaType(), err)
			continue
		}
		got, gotErr := client.Patch(s.t.Context(), apply.IDOf(u), types.PatchType(f.MediaType()), patch, apply.WriteOptions{DryRun: true})
		switch {
		case gotErr != nil && wantErr != nil:
			count.refused++
		case gotErr != nil || wantErr != nil:
			s.t.Errorf("%s, %s: the patch: %v; the object: %v\n%s", what, f.MediaType(), gotErr, wantErr, patch)
		case same(got, want):
			count.equal++
		case explained(got, want):
			count.explained++
		default:
			s.t.Errorf("%s, %s:\npatch %s\n%s", what, f.MediaType(), patch, difference(got, want))
		}
	}
	return true
}

// same compares what a server answers, but for its counters and its records of who writes.
func same(a, b *unstructured.Unstructured) bool {
	x, errX := merge.FromMap(bare(a).Object)
	y, errY := merge.FromMap(bare(b).Object)
	return errX == nil && errY == nil && x.Equal(y)
}

func bare(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	u.SetManagedFields(nil)
	u.SetResourceVersion("")
	u.SetGeneration(0)
	delete(u.Object, "status") // it has a door of its own, and the server writes it at any time
	return u
}

// explained reports whether two answers differ in what a server draws by lot alone.
func explained(a, b *unstructured.Unstructured) bool {
	if a.GetKind() != "Service" {
		return false
	}
	return same(withoutPorts(a), withoutPorts(b))
}

func withoutPorts(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	unstructured.RemoveNestedField(u.Object, "spec", "clusterIP")
	unstructured.RemoveNestedField(u.Object, "spec", "clusterIPs")
	unstructured.RemoveNestedField(u.Object, "spec", "healthCheckNodePort")
	ports, _, _ := unstructured.NestedSlice(u.Object, "spec", "ports")
	for _, p := range ports {
		delete(p.(map[string]any), "nodePort")
	}
	if len(ports) > 0 {
		_ = unstructured.SetNestedSlice(u.Object, ports, "spec", "ports")
	}
	return u
}

// difference shows where two answers part.
func difference(got, want *unstructured.Unstructured) string {
	x, _ := merge.FromMap(bare(got).Object)
	y, _ := merge.FromMap(bare(want).Object)
	m, err := merge.New(merge.Options{Schema: merge.Schemaless(), Model: merge.Plain, Equality: merge.Exact})
	if err != nil {
		return err.Error()
	}
	r, err := m.TwoWay(x, y)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	if err := r.WriteReport(&out, false); err != nil {
		return err.Error()
	}
	return out.String()
}
