package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest/fake"
	kubectlapply "k8s.io/kubectl/pkg/cmd/apply"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
)

var (
	secret     = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	namespace  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	thing      = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}
)

func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{secret.GroupVersion(), deployment.GroupVersion(), thing.GroupVersion()})
	for _, kind := range []schema.GroupVersionKind{secret, configMap, deployment, thing} {
		m.Add(kind, meta.RESTScopeNamespace)
	}
	m.Add(namespace, meta.RESTScopeRoot)
	return m
}

// applySet is kubectl's set with a parent, and what it sends to change the parent.
func applySet(t *testing.T, parent apply.ID, tool kubectlapply.ApplySetTooling, live *unstructured.Unstructured) (set *kubectlapply.ApplySet, sent *metav1.PartialObjectMetadata) {
	t.Helper()
	mapping, err := mapper().RESTMapping(parent.GVK.GroupKind())
	if err != nil {
		t.Fatal(err)
	}
	sent = &metav1.PartialObjectMetadata{}
	answer := func(code int, body []byte) *http.Response {
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body))}
	}
	client := &fake.RESTClient{
		NegotiatedSerializer: resource.UnstructuredPlusDefaultContentConfig().NegotiatedSerializer,
		Client: fake.CreateHTTPClient(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPatch:
				body, err := io.ReadAll(r.Body)
				if err == nil {
					err = json.Unmarshal(body, sent)
				}
				return answer(http.StatusOK, body), err
			case live == nil:
				return answer(http.StatusNotFound, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)), nil
			}
			body, err := live.MarshalJSON()
			return answer(http.StatusOK, body), err
		}),
	}
	ref := &kubectlapply.ApplySetParentRef{Name: parent.Name, Namespace: parent.Namespace, RESTMapping: mapping}
	return kubectlapply.NewApplySet(ref, tool, mapper(), client), sent
}

// The identity and the names are kubectl's.
func TestApplySetIDs(t *testing.T) {
	for _, kind := range []schema.GroupVersionKind{secret, configMap, thing} {
		for n := range 50 {
			parent := apply.ID{GVK: kind, Namespace: fmt.Sprintf("team-%d", n%7), Name: strings.Repeat("a", n%5) + fmt.Sprintf("set.%d", n)}
			set, _ := applySet(t, parent, kubectlapply.ApplySetTooling{}, nil)
			i := apply.Inventory{Parent: parent}
			if got, want := i.ID(), set.ID(); got != want {
				t.Errorf("%s: ID %s, want %s", parent, got, want)
			}
			if got, want := (map[string]string{apply.PartOfLabel: i.ID()}), set.LabelsForMember(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: labels %v, want %v", parent, got, want)
			}
		}
	}
	for got, want := range map[string]string{
		apply.ParentLabel: kubectlapply.ApplySetParentIDLabel, apply.PartOfLabel: kubectlapply.ApplysetPartOfLabel,
		apply.ParentTypeLabel: kubectlapply.ApplysetParentCRDLabel, apply.ToolingAnnotation: kubectlapply.ApplySetToolingAnnotation,
		apply.KindsAnnotation: kubectlapply.ApplySetGKsAnnotation, apply.NamespacesAnnotation: kubectlapply.ApplySetAdditionalNamespacesAnnotation,
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The parent that we write before the members is the one that kubectl writes, at the first run and
// when a set moves to other kinds and namespaces; and each takes the other's.
func TestApplySetParent(t *testing.T) {
	inventory := apply.Inventory{Parent: apply.ID{GVK: secret, Namespace: "team", Name: "web"}, Tool: "kubectl/v1.37.2"}
	tool := kubectlapply.ApplySetTooling{Name: "kubectl", Version: "v1.37.2"}
	var written []apply.ID // by us, of the parent
	var manager string
	var live *unstructured.Unstructured
	cluster := memory.New(memory.Options{Validate: []memory.Hook{func(_ context.Context, a *memory.Admission) error {
		if a.ID == inventory.Parent {
			if written = append(written, a.ID); len(written)%2 == 1 { // the second write follows the prune
				live, manager = a.Object.DeepCopy(), a.Manager
			}
		}
		return nil
	}}})
	members := func(ids ...apply.ID) (text string, infos []*resource.Info) {
		for _, id := range ids {
			mapping, err := mapper().RESTMapping(id.GVK.GroupKind())
			if err != nil {
				t.Fatal(err)
			}
			version, kind := id.GVK.ToAPIVersionAndKind()
			text += fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s, namespace: '%s'}}\n---\n", version, kind, id.Name, id.Namespace)
			infos = append(infos, &resource.Info{Mapping: mapping, Namespace: id.Namespace, Name: id.Name})
		}
		return text, infos
	}
	for n, ids := range [][]apply.ID{
		{{GVK: deployment, Namespace: "team", Name: "a"}, {GVK: configMap, Namespace: "other", Name: "b"}, {GVK: namespace, Name: "other"}},
		{{GVK: thing, Namespace: "third", Name: "c"}, {GVK: configMap, Namespace: "team", Name: "d"}},
	} {
		var before *unstructured.Unstructured
		if n > 0 {
			var err error
			if before, err = cluster.Get(context.Background(), inventory.Parent); err != nil {
				t.Fatal(err)
			}
			written = nil
		}
		text, infos := members(ids...)
		theirs, sent := applySet(t, inventory.Parent, tool, before)
		if err := theirs.BeforeApply(infos, cmdutil.DryRunNone, metav1.FieldValidationIgnore); err != nil {
			t.Fatalf("kubectl refuses our parent: %v", err)
		}
		set, err := apply.NewSet(apply.ReadManifest("m", strings.NewReader(text)), apply.SetOptions{Inventory: inventory})
		if err != nil {
			t.Fatal(err)
		}
		ours, err := apply.NewSetApplier(cluster, set, apply.SetApplierOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ours.Apply(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(live.GetLabels(), sent.Labels) || !reflect.DeepEqual(live.GetAnnotations(), sent.Annotations) {
			t.Errorf("run %d: we write\n%v %v\nkubectl\n%v %v", n, live.GetLabels(), live.GetAnnotations(), sent.Labels, sent.Annotations)
		}
		if manager != theirs.FieldManager() {
			t.Errorf("field manager %s, want %s", manager, theirs.FieldManager())
		}
	}
}
