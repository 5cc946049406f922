package conformance

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
)

var creating = []testCase{
	{"create fills in what the server owns, and returns what get returns", func(e *env) {
		made := e.create(e.widget("create", 1))
		if created := made.GetCreationTimestamp(); made.GetUID() == "" || made.GetResourceVersion() == "" || created.IsZero() || made.GetGeneration() != 1 {
			e.Errorf("metadata of a new object: %v", made.Object["metadata"])
		}
		got := e.get(made)
		e.is(got, made.GetResourceVersion(), "metadata", "resourceVersion")
		e.is(got, string(made.GetUID()), "metadata", "uid")
		e.is(got, int64(1), "spec", "size")
	}},
	{"what the server owns cannot be chosen", func(e *env) {
		u := e.configMap("chosen", "1")
		u.SetUID("mine")
		u.SetGeneration(7)
		now := metav1.Unix(1, 0)
		u.SetCreationTimestamp(now)
		u.SetDeletionTimestamp(&now)
		made := e.create(u)
		if created := made.GetCreationTimestamp(); made.GetUID() == "mine" || created.Equal(&now) || made.GetDeletionTimestamp() != nil {
			e.Errorf("metadata: %v", made.Object["metadata"])
		}
	}},
	{"create of what exists", func(e *env) {
		made := e.create(e.configMap("twice", "1"))
		_, err := e.c.Create(e.ctx, e.configMap("twice", "2"), apply.WriteOptions{})
		e.fails(err, 409, metav1.StatusReasonAlreadyExists)
		e.untouched(made)
	}},
	{"create needs a name, and a good one", func(e *env) {
		for _, name := range []string{"", "Not_A_Name", "a/b"} {
			_, err := e.c.Create(e.ctx, e.configMap(name, "1"), apply.WriteOptions{})
			e.fails(err, 422, metav1.StatusReasonInvalid)
		}
	}},
	{"create refuses a resourceVersion", func(e *env) {
		u := e.configMap("versioned", "1")
		u.SetResourceVersion("1")
		_, err := e.c.Create(e.ctx, u, apply.WriteOptions{})
		e.fails(err, 500, "")
	}},
	{"labels are strings", func(e *env) {
		u := e.configMap("labels", "1")
		u.Object["metadata"].(map[string]any)["labels"] = map[string]any{"a": int64(1)}
		_, err := e.c.Create(e.ctx, u, apply.WriteOptions{})
		e.fails(err, 400, metav1.StatusReasonBadRequest)
		u.SetLabels(map[string]string{"a": "not a label!"})
		_, err = e.c.Create(e.ctx, u, apply.WriteOptions{})
		e.fails(err, 422, metav1.StatusReasonInvalid)
	}},
	{"generateName makes names that differ", func(e *env) {
		u := e.configMap("", "1")
		u.SetGenerateName("made-")
		a, b := e.create(u), e.create(u)
		if a.GetName() == b.GetName() || len(a.GetName()) != len("made-")+5 {
			e.Errorf("names %q and %q", a.GetName(), b.GetName())
		}
	}},
	{"get of what does not exist says what", func(e *env) {
		_, err := e.c.Get(e.ctx, e.id(deployments, "nobody"))
		e.fails(err, 404, metav1.StatusReasonNotFound)
		if want := `deployments.apps "nobody" not found`; err != nil && err.Error() != want {
			e.Errorf("got %q, want %q", err, want)
		}
	}},
	{"list selects by namespace and labels", func(e *env) {
		for _, name := range []string{"list-b", "list-a", "list-c"} {
			u := e.configMap(name, "1")
			if name != "list-c" {
				u.SetLabels(map[string]string{"conformance": "list"})
			}
			e.create(u)
		}
		selector := labels.SelectorFromSet(labels.Set{"conformance": "list"})
		list, err := e.c.List(e.ctx, configMaps, apply.ListOptions{Namespace: e.ns, Labels: selector})
		if err != nil {
			e.Fatal(err)
		}
		if got := names(list); !slices.Equal(got, []string{"list-a", "list-b"}) || list.GetResourceVersion() == "" {
			e.Errorf("listed %v at %q", got, list.GetResourceVersion())
		}
		list, err = e.c.List(e.ctx, configMaps, apply.ListOptions{Namespace: e.ns + "-other"})
		if err != nil || len(list.Items) != 0 {
			e.Errorf("listed %v, %v in a namespace without objects", names(list), err)
		}
	}},
	{"what is returned is the caller's", func(e *env) {
		u := e.widget("shared", 1)
		made := e.create(u)
		for _, mine := range []*unstructured.Unstructured{u, made, e.get(made), e.merge(made, `{"spec":{"more":{"a":1}}}`)} {
			mine.Object["spec"].(map[string]any)["size"] = int64(99)
		}
		e.is(e.get(made), int64(1), "spec", "size")
	}},
	{"a dry run stores nothing", func(e *env) {
		dry := apply.WriteOptions{DryRun: true}
		u := e.must(e.c.Create(e.ctx, e.configMap("dry", "1"), dry))
		e.is(u, "1", "data", "key")
		e.gone(u)
		made := e.create(e.configMap("dry", "1"))
		_, err := e.c.Create(e.ctx, e.configMap("dry", "1"), dry)
		e.fails(err, 409, metav1.StatusReasonAlreadyExists)
		e.is(e.must(e.c.Replace(e.ctx, e.configMap("dry", "2"), dry)), "2", "data", "key")
		e.is(e.must(e.c.Patch(e.ctx, apply.IDOf(made), types.MergePatchType, []byte(`{"data":{"key":"3"}}`), dry)), "3", "data", "key")
		if err := e.c.Delete(e.ctx, apply.IDOf(made), apply.DeleteOptions{DryRun: true}); err != nil {
			e.Error(err)
		}
		e.untouched(made)
	}},
}

var replacing = []testCase{
	{"replace at the version that is stored", func(e *env) {
		made := e.create(e.widget("replace", 1))
		u := e.widget("replace", 2)
		u.SetResourceVersion(made.GetResourceVersion())
		now := e.must(e.c.Replace(e.ctx, u, apply.WriteOptions{}))
		e.is(now, int64(2), "spec", "size")
		e.is(now, string(made.GetUID()), "metadata", "uid")
		if now.GetResourceVersion() == made.GetResourceVersion() {
			e.Error("resourceVersion has not changed")
		}
		_, err := e.c.Replace(e.ctx, u, apply.WriteOptions{})
		e.fails(err, 409, metav1.StatusReasonConflict)
		e.untouched(now)
	}},
	{"replace without a version: built-in kinds take it, custom ones do not", func(e *env) {
		e.create(e.configMap("unconditional", "1"))
		e.is(e.must(e.c.Replace(e.ctx, e.configMap("unconditional", "2"), apply.WriteOptions{})), "2", "data", "key")
		e.create(e.widget("unconditional", 1))
		_, err := e.c.Replace(e.ctx, e.widget("unconditional", 2), apply.WriteOptions{})
		e.fails(err, 422, metav1.StatusReasonInvalid)
	}},
	{"replace of another uid, and of nothing", func(e *env) {
		made := e.create(e.configMap("replace-uid", "1"))
		u := e.configMap("replace-uid", "2")
		u.SetUID("another")
		_, err := e.c.Replace(e.ctx, u, apply.WriteOptions{})
		e.fails(err, 409, metav1.StatusReasonConflict)
		e.untouched(made)
		_, err = e.c.Replace(e.ctx, e.configMap("replace-nothing", "1"), apply.WriteOptions{})
		e.fails(err, 404, metav1.StatusReasonNotFound)
	}},
	{"what a replace leaves out is gone", func(e *env) {
		u := e.configMap("whole", "1")
		u.SetLabels(map[string]string{"a": "b"})
		e.create(u)
		delete(u.Object, "data")
		u.SetLabels(nil)
		now := e.must(e.c.Replace(e.ctx, u, apply.WriteOptions{}))
		if now.Object["data"] != nil || now.GetLabels() != nil {
			e.Errorf("left: %v", now.Object)
		}
	}},
}

var deleting = []testCase{
	{"delete, and delete again", func(e *env) {
		made := e.create(e.configMap("delete", "1"))
		if err := e.c.Delete(e.ctx, apply.IDOf(made), apply.DeleteOptions{}); err != nil {
			e.Fatal(err)
		}
		e.gone(made)
		e.fails(e.c.Delete(e.ctx, apply.IDOf(made), apply.DeleteOptions{}), 404, metav1.StatusReasonNotFound)
		again := e.create(e.configMap("delete", "1"))
		if again.GetUID() == made.GetUID() {
			e.Error("another object with the same uid")
		}
	}},
	{"delete checks what it is told", func(e *env) {
		made := e.create(e.configMap("preconditions", "1"))
		id := apply.IDOf(made)
		e.fails(e.c.Delete(e.ctx, id, apply.DeleteOptions{UID: "another"}), 409, metav1.StatusReasonConflict)
		e.fails(e.c.Delete(e.ctx, id, apply.DeleteOptions{ResourceVersion: "1"}), 409, metav1.StatusReasonConflict)
		e.untouched(made)
		if err := e.c.Delete(e.ctx, id, apply.DeleteOptions{UID: made.GetUID(), ResourceVersion: made.GetResourceVersion()}); err != nil {
			e.Error(err)
		}
		e.gone(made)
	}},
	{"finalizers hold an object until they are gone", func(e *env) {
		u := e.widget("finalizers", 1)
		u.SetFinalizers([]string{"conformance.example.com/a", "conformance.example.com/b"})
		made := e.create(u)
		for range 2 { // the second one changes nothing
			if err := e.c.Delete(e.ctx, apply.IDOf(made), apply.DeleteOptions{}); err != nil {
				e.Fatal(err)
			}
		}
		marked := e.get(made)
		if marked.GetDeletionTimestamp() == nil || marked.GetGeneration() != 2 {
			e.Errorf("metadata of an object that is being deleted: %v", marked.Object["metadata"])
		}
		e.is(marked, int64(0), "metadata", "deletionGracePeriodSeconds")
		kept := e.merge(made, `{"metadata":{"deletionTimestamp":null,"finalizers":["conformance.example.com/a"]}}`)
		if kept.GetDeletionTimestamp() == nil {
			e.Error("a write has revived the object")
		}
		_, err := e.patch(made, types.MergePatchType, `{"metadata":{"finalizers":["conformance.example.com/c"]}}`, "")
		e.fails(err, 422, metav1.StatusReasonInvalid)
		e.merge(made, `{"metadata":{"finalizers":null}}`)
		e.gone(made)
	}},
}
