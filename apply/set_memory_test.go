package apply_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"weak"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// alive counts what was seen and is not yet garbage.
type alive[T any] []weak.Pointer[T]

func (a *alive[T]) see(p *T) {
	if p != nil {
		*a = append(*a, weak.Make(p))
	}
}

// left collects garbage, and forgets what has gone.
func (a *alive[T]) left() int {
	runtime.GC()
	kept := (*a)[:0]
	for _, p := range *a {
		if p.Value() != nil {
			kept = append(kept, p)
		}
	}
	*a = kept
	return len(kept)
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// manyObjects declares Deployments, each with a text of its own, and returns their size as JSON.
func manyObjects(t testing.TB, n int, o apply.SetOptions) (set *apply.Set, size int) {
	t.Helper()
	set, err := apply.NewSet(func(yield func(apply.Document, error) bool) {
		for i := range n {
			d, err := merge.Parse(deploymentJSON(i, "app:2"))
			size += len(deploymentJSON(i, "app:2"))
			if !yield(apply.Document{Doc: d, Place: apply.Place{File: "many", Number: i + 1}}, err) {
				return
			}
		}
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	return set, size
}

func deploymentJSON(i int, image string) []byte {
	text := fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web-%d","namespace":"default"},"spec":{"template":{"spec":{"containers":[{"name":"app","image":%q,"env":[`, i, image)
	for v := range 20 {
		if v > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `{"name":"SETTING_%d","value":"%d of %d"}`, v, v, i)
	}
	return append(text, `]}]}}}}`...)
}

// many is the number of objects that have to be planned in bounded memory.
func many() int {
	if testing.Short() {
		return 1000
	}
	return 10_000
}

// While 10,000 objects are planned, what is kept is their text: no plan and no live object.
func TestSetPlanMemory(t *testing.T) {
	many := many()
	before := heap()
	set, size := manyObjects(t, many, apply.SetOptions{Inventory: inventory("many")})
	if kept := heap() - before; kept > 2*size {
		t.Errorf("the set takes %d bytes of memory for %d of JSON", kept, size)
	}
	var plans alive[apply.Plan]
	var lives alive[merge.Doc]
	live := apply.Live{Get: func(id apply.ID) (*merge.Doc, error) {
		var i int
		if _, err := fmt.Sscanf(id.Name, "web-%d", &i); err != nil {
			return nil, err
		}
		d, err := merge.Parse(deploymentJSON(i, "app:1"))
		lives.see(d)
		return d, err
	}}
	start, counts := heap(), apply.Counts{}
	for step := range set.Plan(planner(t, apply.Options{}), live) {
		counts.Add(step)
		if plans.see(step.Plan); step.Number%(many/5) != 0 {
			continue
		}
		if p, l := plans.left(), lives.left(); p > 10 || l > 10 {
			t.Fatalf("after %d of %d objects %d plans and %d live objects are kept", step.Number, step.Total, p, l)
		}
		if grown := heap() - start; grown > 4<<20 {
			t.Fatalf("after %d objects the heap has grown by %d bytes", step.Number, grown)
		}
	}
	if counts != (apply.Counts{Patch: many}) {
		t.Errorf("%v, want %d patches", counts, many)
	}
	runtime.KeepAlive(set)
}

// void is a cluster that takes all and keeps nothing.
type void struct{ apply.Client }

func (void) Get(_ context.Context, id apply.ID) (*unstructured.Unstructured, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{}, id.Name)
}

func (void) Create(_ context.Context, obj *unstructured.Unstructured, _ apply.WriteOptions) (*unstructured.Unstructured, error) {
	return obj, nil
}

func (void) List(context.Context, schema.GroupVersionKind, apply.ListOptions) (*unstructured.UnstructuredList, error) {
	return &unstructured.UnstructuredList{}, nil
}

// The same while they are applied.
func TestSetApplierMemory(t *testing.T) {
	many := many()
	set, _ := manyObjects(t, many, apply.SetOptions{})
	var plans alive[apply.Plan]
	var objects alive[unstructured.Unstructured]
	var o apply.SetApplierOptions
	o.Concurrency = 8
	o.Step = func(s apply.Step) {
		plans.see(s.Plan)
		if objects.see(s.Outcome.Object); s.Number%(many/5) != 0 {
			return
		}
		if p, u := plans.left(), objects.left(); p > 100 || u > 100 {
			t.Errorf("after %d of %d objects %d plans and %d objects are kept", s.Number, s.Total, p, u)
		}
	}
	if counts, err := applySet(t, void{}, set, o); err != nil || counts != (apply.Counts{Create: many}) {
		t.Errorf("%v, %v", counts, err)
	}
}
