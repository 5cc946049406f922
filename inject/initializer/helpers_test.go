package initializer_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/inject"
	"example.com/braid/inject/initializer"
	"example.com/braid/merge"
)

const sidecar = `
metadata: {annotations: {inject.braid.example.com/name: proxy}}
spec:
  containers:
  - {name: proxy, image: "proxy:1", args: ['--of=@{pod.namespace}'], volumeMounts: [{name: proxy, mountPath: /etc/proxy}]}
  - {name: "*", env: [{name: PROXY, value: "on"}]}
  volumes: [{name: proxy, emptyDir: {}}]
`

// newer drops a volume and the variable of every container.
const newer = `
metadata: {annotations: {inject.braid.example.com/name: proxy}}
spec:
  containers: [{name: proxy, image: "proxy:2", ports: [{containerPort: 15001}]}]
`

var (
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	pods        = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	web         = apply.ID{GVK: deployments, Namespace: "shop", Name: "web"}
)

// config injects a template into what opts in.
func config(tb testing.TB, template string) initializer.Config {
	tb.Helper()
	t, err := inject.ParseTemplate([]byte(template))
	if err != nil {
		tb.Fatal(err)
	}
	var c initializer.Config
	if c.Injector, err = inject.New(inject.Options{}, t); err != nil {
		tb.Fatal(err)
	}
	if c.Decider, err = inject.NewDecider(inject.DecisionPolicy{}); err != nil {
		tb.Fatal(err)
	}
	return c
}

// deployment returns a Deployment of the namespace shop whose pods have a label with a wish.
func deployment(name, wish string) *unstructured.Unstructured {
	return object(fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q,"namespace":"shop"},"spec":{"replicas":1,
		"template":{"metadata":{"labels":{"app":"web"%s}},"spec":{"containers":[{"name":"app","image":"app:1"}]}}}}`, name, label(wish)))
}

func label(wish string) string {
	if wish == "" {
		return ""
	}
	return fmt.Sprintf(`,%q:%q`, inject.DefaultKey, wish)
}

func object(text string) *unstructured.Unstructured {
	doc, err := merge.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: doc.Map()}
}

// world is a cluster and loops on it, in the time of synctest.
type world struct {
	*testing.T
	*memory.Cluster
	log  bytes.Buffer
	logs *slog.Logger // to log, of all loops
	mu   sync.Mutex
	told []string // what was observed, but for Unchanged
	all  []initializer.Observation
}

// loop starts a loop, which ends with the test.
func (w *world) loop(o initializer.Options) *initializer.Initializer {
	w.Helper()
	if o.Cluster == nil {
		o.Cluster = w.Cluster
	}
	if o.Config.Injector == nil {
		o.Config = config(w, sidecar)
	}
	if o.Observe == nil {
		o.Observe = w.observe
	}
	if w.logs == nil {
		w.logs = slog.New(slog.NewTextHandler(&w.log, nil))
	}
	o.Loop.Log = w.logs
	i, err := initializer.New(o)
	if err != nil {
		w.Fatal(err)
	}
	return i
}

func (w *world) observe(o initializer.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, o)
	if o.Outcome != initializer.Unchanged {
		w.told = append(w.told, fmt.Sprintf("%s %s %s", o.ID.Name, o.Outcome, o.Reason))
	}
}

// tells returns what was observed since it was last called.
func (w *world) tells() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.told, ", ")
	w.told = nil
	return out
}

// run runs a loop until the function that it returns is called.
func (w *world) run(i *initializer.Initializer) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan struct{})
	go func() { i.Run(ctx); close(done) }()
	return func() { cancel(); <-done }
}

// settle lets all waits pass that are shorter than d, and what they are for.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) create(u *unstructured.Unstructured) {
	w.Helper()
	if _, err := w.Cluster.Create(w.Context(), u, apply.WriteOptions{FieldManager: "user"}); err != nil {
		w.Fatal(err)
	}
}

// edit is what a user does.
func (w *world) edit(id apply.ID, patch string) {
	w.Helper()
	if _, err := w.Cluster.Patch(w.Context(), id, types.StrategicMergePatchType, []byte(patch), apply.WriteOptions{FieldManager: "user"}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) get(id apply.ID) *unstructured.Unstructured {
	w.Helper()
	u, err := w.Cluster.Get(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	return u
}

// holds fails the test unless live is what a template makes of an object: "" is nothing.
func (w *world) holds(id apply.ID, of *unstructured.Unstructured, template string) {
	w.Helper()
	want := doc(w, of)
	if template != "" {
		r, err := config(w, template).Injector.Inject(want, inject.Values{Namespace: id.Namespace, Name: id.Name})
		if err != nil {
			w.Fatal(err)
		}
		if want, err = r.Object(); err != nil {
			w.Fatal(err)
		}
	}
	if got := doc(w, w.get(id)); !got.Equal(want) {
		w.Errorf("%s holds\n%s\nwant\n%s", id, got.JSON(), want.JSON())
	}
}

// doc returns an object without what a server writes into its metadata.
func doc(tb testing.TB, u *unstructured.Unstructured) *merge.Doc {
	tb.Helper()
	u = u.DeepCopy()
	for _, field := range []string{"resourceVersion", "uid", "generation", "creationTimestamp"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	d, err := merge.FromMap(u.Object)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
