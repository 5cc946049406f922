package initializer_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/inject"
	"example.com/braid/inject/initializer"
	"example.com/braid/merge"
)

// webhook injects as package admission does, into what is made and changed.
func webhook(config *atomic.Pointer[initializer.Config]) memory.Hook {
	return func(_ context.Context, a *memory.Admission) error {
		if a.Object == nil || a.ID.GVK.Kind != "Deployment" {
			return nil
		}
		c := config.Load()
		doc, err := merge.FromMap(a.Object.Object)
		if err != nil || !c.Decider.Decide(inject.Candidate{Object: doc}).Inject() {
			return err
		}
		r, err := c.Injector.Inject(doc, inject.Values{})
		if err != nil {
			return err
		}
		doc, err = r.Object()
		if err == nil {
			a.Object.Object = doc.Map()
		}
		return err
	}
}

// Many loops at once on many objects, beside people who create and edit, with and without a
// webhook that injects the same: everything is injected once, nothing is lost, and what the
// next template says is there in the end.
func TestMany(t *testing.T) {
	const loops, objects, editors, edits = 6, 20, 3, 5
	for _, hooked := range []bool{false, true} {
		t.Run(fmt.Sprintf("webhook %t", hooked), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now atomic.Pointer[initializer.Config]
				c := config(t, sidecar)
				now.Store(&c)
				var o memory.Options
				if hooked {
					o.Mutate = append(o.Mutate, webhook(&now))
				}
				w := &world{T: t, Cluster: memory.New(o)}
				var running []*initializer.Initializer
				for range loops {
					i := w.loop(initializer.Options{Loop: apply.ReconcilerOptions{Workers: 3}})
					running = append(running, i)
					defer w.run(i)()
				}
				var people sync.WaitGroup
				for n := range objects {
					people.Go(func() {
						u := deployment("web"+strconv.Itoa(n), "true")
						edit(u, 0, 0) // else the record says that we made the map of annotations, until an editor has
						w.create(u)
					})
				}
				people.Wait()
				for editor := range editors {
					for n := range objects {
						people.Go(func() {
							for range edits {
								w.adds(named("web"+strconv.Itoa(n)), editor)
							}
						})
					}
				}
				people.Wait()
				settle(24 * time.Hour)
				want := func(n int) *unstructured.Unstructured {
					u := deployment("web"+strconv.Itoa(n), "true")
					for editor := range editors {
						edit(u, editor, edits)
					}
					return u
				}
				for n := range objects {
					w.holds(named("web"+strconv.Itoa(n)), want(n), sidecar)
				}
				if n := w.count(initializer.Injected); !hooked && n != objects || hooked && n != 0 {
					t.Errorf("%d patches stored, want one an object, or none beside a webhook", n)
				}

				next := config(t, newer)
				now.Store(&next)
				for _, i := range running {
					people.Go(func() {
						if err := i.Reload(next); err != nil {
							t.Error(err)
						}
					})
				}
				people.Wait()
				settle(24 * time.Hour)
				for n := range objects {
					w.holds(named("web"+strconv.Itoa(n)), want(n), newer)
				}
				settled := w.version()
				for _, i := range running {
					if err := i.Reload(next); err != nil {
						t.Fatal(err)
					}
				}
				settle(24 * time.Hour)
				if w.version() != settled {
					t.Error("something was written though nothing had changed")
				}
			})
		})
	}
}

// edit sets in an object what one of its editors has written so many times, beside the record of
// what is injected: an annotation of the pod template.
func edit(u *unstructured.Unstructured, editor, times int) {
	if err := unstructured.SetNestedField(u.Object, strconv.Itoa(times), edited(editor)...); err != nil {
		panic(err)
	}
}

func edited(editor int) []string {
	return []string{"spec", "template", "metadata", "annotations", "editor" + strconv.Itoa(editor)}
}

// adds reads, changes and replaces an object, as a person or another controller does.
func (w *world) adds(id apply.ID, editor int) {
	for {
		u := w.get(id)
		text, _, _ := unstructured.NestedString(u.Object, edited(editor)...)
		n, _ := strconv.Atoi(text)
		edit(u, editor, n+1)
		_, err := w.Replace(w.Context(), u, apply.WriteOptions{FieldManager: "user"})
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			w.Error(err)
			return
		}
	}
}

// count returns how many objects were told to have had an outcome.
func (w *world) count(outcome initializer.Outcome) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.all {
		if o.Outcome == outcome {
			n++
		}
	}
	return n
}

// version returns that of the last write.
func (w *world) version() string {
	w.Helper()
	list, err := w.List(w.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, apply.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return list.GetResourceVersion()
}

// What somebody writes between a read and its patch is not lost, whether the patch would fit
// what there is by then or not: the object is read again, and nothing is told but the outcome.
func TestBetween(t *testing.T) {
	for name, edit := range map[string]string{
		"fits":             `{"metadata":{"annotations":{"a":"b"}}}`,
		"fits as a double": `{"spec":{"template":{"spec":{"containers":[{"name":"more","image":"more:1"}]}}}}`,
		"does not fit":     `{"spec":{"template":{"spec":{"containers":[{"name":"app","$patch":"delete"}]}}}}`,
		"deletes it":       "",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, patches := &world{T: t}, 0
				w.Cluster = memory.New(memory.Options{Intercept: func(ctx context.Context, call memory.Call, next func() error) error {
					if call.Verb == memory.Patch && call.Options.FieldManager == "braid" {
						if patches++; patches == 1 && edit != "" {
							w.edit(web, edit)
						} else if patches == 1 {
							_ = w.Delete(t.Context(), web, apply.DeleteOptions{})
						}
					}
					return next()
				}})
				u := deployment("web", "true")
				w.create(u)
				w.edit(web, `{"spec":{"template":{"spec":{"containers":[{"name":"second","image":"second:1"}]}}}}`)
				defer w.run(w.loop(initializer.Options{}))()
				settle(time.Hour)
				if got := w.tells(); edit != "" && got != "web Injected LabelOn" || edit == "" && got != "" || w.log.Len() > 0 {
					t.Errorf("told %q and logged %q", got, &w.log)
				}
				if edit == "" {
					return
				}
				plain := memory.New(memory.Options{})
				by := &world{T: t, Cluster: plain}
				by.create(u)
				by.edit(web, `{"spec":{"template":{"spec":{"containers":[{"name":"second","image":"second:1"}]}}}}`)
				by.edit(web, edit)
				w.holds(web, &unstructured.Unstructured{Object: doc(t, by.get(web)).Map()}, sidecar)
				if patches != 2 {
					t.Errorf("%d patches sent, want 2", patches)
				}
			})
		})
	}
}
