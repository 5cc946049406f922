package conformance

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
)

func (e *env) deployment(name string) *unstructured.Unstructured {
	container := func(name string) any { return map[string]any{"name": name, "image": "example.com/" + name} }
	app := map[string]any{"app": name}
	return object(deployments, e.ns, name, map[string]any{"spec": map[string]any{
		"replicas": int64(1),
		"selector": map[string]any{"matchLabels": app},
		"template": map[string]any{
			"metadata": map[string]any{"labels": app},
			"spec":     map[string]any{"containers": []any{container("a"), container("b")}},
		},
	}})
}

var patching = []testCase{
	{"a JSON merge patch", func(e *env) {
		made := e.create(e.configMap("merge", "1"))
		now := e.merge(made, `{"data":{"key":null,"other":"2"},"metadata":{"labels":{"a":"b"}}}`)
		e.is(now, nil, "data", "key")
		e.is(now, "2", "data", "other")
		e.is(e.get(made), "b", "metadata", "labels", "a")
	}},
	{"a JSON Patch, all of it or nothing", func(e *env) {
		made := e.create(e.configMap("json", "1"))
		now := e.must(e.patch(made, types.JSONPatchType, `[{"op":"test","path":"/data/key","value":"1"},{"op":"replace","path":"/data/key","value":"2"}]`, ""))
		e.is(now, "2", "data", "key")
		_, err := e.patch(made, types.JSONPatchType, `[{"op":"add","path":"/data/x","value":"1"},{"op":"test","path":"/data/key","value":"1"}]`, "")
		e.fails(err, 422, metav1.StatusReasonInvalid)
		_, err = e.patch(made, types.JSONPatchType, `[{"op":"remove","path":"/data/nothing"}]`, "")
		e.fails(err, 422, metav1.StatusReasonInvalid)
		e.untouched(now)
	}},
	{"a JSON Patch that says for which version it is", func(e *env) {
		made := e.create(e.configMap("versioned", "1"))
		patch := `[{"op":"add","path":"/metadata/resourceVersion","value":"` + made.GetResourceVersion() + `"},{"op":"replace","path":"/data/key","value":"2"}]`
		now := e.must(e.patch(made, types.JSONPatchType, patch, ""))
		e.is(now, "2", "data", "key")
		_, err := e.patch(made, types.JSONPatchType, patch, "")
		e.fails(err, 409, metav1.StatusReasonConflict)
		e.untouched(now)
	}},
	{"a strategic patch meets lists by key", func(e *env) {
		made := e.create(e.deployment("strategic"))
		now := e.must(e.patch(made, types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"example.com/c"}]}}}}`, ""))
		list, _, _ := unstructured.NestedSlice(now.Object, "spec", "template", "spec", "containers")
		var images []string
		for _, c := range list {
			images = append(images, c.(map[string]any)["image"].(string))
		}
		if got := fmt.Sprint(images); got != "[example.com/a example.com/c]" {
			e.Errorf("images %s", got)
		}
	}},
	{"a custom kind takes no strategic patch, and no kind an unknown one", func(e *env) {
		made := e.create(e.widget("media", 1))
		_, err := e.patch(made, types.StrategicMergePatchType, `{"spec":{"size":2}}`, "")
		e.fails(err, 415, metav1.StatusReasonUnsupportedMediaType)
		_, err = e.patch(made, "application/x-braid", `{}`, "")
		e.fails(err, 415, metav1.StatusReasonUnsupportedMediaType)
		e.untouched(made)
	}},
	{"a malformed patch", func(e *env) {
		made := e.create(e.configMap("malformed", "1"))
		for t, patch := range map[types.PatchType]string{
			types.MergePatchType:          `{"data":`,
			types.StrategicMergePatchType: `{"data":{"$patch":"`,
			types.JSONPatchType:           `[{]`,
		} {
			_, err := e.patch(made, t, patch, "")
			e.fails(err, 400, metav1.StatusReasonBadRequest)
		}
		_, err := e.patch(made, types.MergePatchType, `[]`, "")
		e.fails(err, 400, metav1.StatusReasonBadRequest)
		e.untouched(made)
	}},
	{"a patch of what does not exist", func(e *env) {
		_, err := e.patch(e.configMap("nobody", ""), types.MergePatchType, `{"data":{"key":"1"}}`, "")
		e.fails(err, 404, metav1.StatusReasonNotFound)
	}},
	{"a patch that changes nothing writes nothing", func(e *env) {
		made := e.create(e.configMap("noop", "1"))
		for _, patch := range []string{`{}`, `{"data":{"key":"1"}}`, `{"data":{"none":null}}`, `{"metadata":{"labels":{}}}`, `{"metadata":{"annotations":null}}`} {
			e.is(e.merge(made, patch), made.GetResourceVersion(), "metadata", "resourceVersion")
		}
		e.must(e.c.Replace(e.ctx, e.configMap("noop", "1"), apply.WriteOptions{}))
		e.untouched(made)
	}},
	{"a resourceVersion in a patch is a condition", func(e *env) {
		made := e.create(e.configMap("guard", "1"))
		patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"data":{"key":"2"}}`, made.GetResourceVersion())
		now := e.merge(made, patch)
		_, err := e.patch(made, types.MergePatchType, patch, "")
		e.fails(err, 409, metav1.StatusReasonConflict)
		e.untouched(now)
	}},
}

var owning = []testCase{
	{"generation counts changes of spec", func(e *env) {
		made := e.create(e.widget("generation", 1))
		for _, step := range []struct {
			patch, subresource string
			want               int64
		}{
			{`{"metadata":{"labels":{"a":"b"}}}`, "", 1},
			{`{"spec":{"size":2}}`, "", 2},
			{`{"spec":{"size":2}}`, "", 2},
			{`{"status":{"ready":true}}`, "status", 2},
			{`{"metadata":{"generation":9}}`, "", 2},
			{`{"spec":{"size":3},"metadata":{"generation":9}}`, "", 3},
		} {
			if now := e.must(e.patch(made, types.MergePatchType, step.patch, step.subresource)); now.GetGeneration() != step.want {
				e.Errorf("%s: generation %d, want %d", step.patch, now.GetGeneration(), step.want)
			}
		}
	}},
	{"generation of a Deployment counts annotations, that of a ConfigMap nothing", func(e *env) {
		d := e.create(e.deployment("generation"))
		was := d.GetGeneration()
		if now := e.merge(d, `{"metadata":{"annotations":{"a":"b"}}}`); now.GetGeneration() != was+1 {
			e.Errorf("generation %d after %d", now.GetGeneration(), was)
		}
		e.create(e.configMap("generation", "1"))
		e.is(e.must(e.c.Replace(e.ctx, e.configMap("generation", "2"), apply.WriteOptions{})), nil, "metadata", "generation")
	}},
	{"status has a door of its own", func(e *env) {
		u := e.widget("status", 1)
		u.Object["status"] = map[string]any{"ready": "created"}
		made := e.create(u)
		e.is(made, nil, "status", "ready")
		now := e.must(e.patch(made, types.MergePatchType, `{"spec":{"size":2},"metadata":{"labels":{"a":"b"}},"status":{"ready":"yes"}}`, "status"))
		e.is(now, "yes", "status", "ready")
		e.is(now, int64(1), "spec", "size")
		e.is(now, nil, "metadata", "labels", "a")
		now = e.merge(made, `{"spec":{"size":3},"status":{"ready":"no"}}`)
		e.is(now, "yes", "status", "ready")
		e.is(now, int64(3), "spec", "size")
		now.Object["status"] = map[string]any{"ready": "replaced"}
		now = e.must(e.c.Replace(e.ctx, now, apply.WriteOptions{Subresource: "status"}))
		e.is(now, "replaced", "status", "ready")
		_, err := e.patch(e.create(e.configMap("status", "1")), types.MergePatchType, `{"status":{}}`, "status")
		e.fails(err, 404, metav1.StatusReasonNotFound)
	}},
	{"a patch cannot change what the server owns", func(e *env) {
		made := e.create(e.configMap("owned", "1"))
		_, err := e.patch(made, types.MergePatchType, `{"metadata":{"uid":"another"}}`, "")
		e.fails(err, 422, metav1.StatusReasonInvalid)
		e.merge(made, `{"metadata":{"creationTimestamp":"2001-01-01T00:00:00Z"}}`)
		_, err = e.patch(made, types.MergePatchType, `{"metadata":{"deletionTimestamp":"2001-01-01T00:00:00Z"}}`, "")
		e.fails(err, 422, metav1.StatusReasonInvalid)
		e.untouched(made)
	}},
	{"a patch cannot make another object of it", func(e *env) {
		made := e.create(e.configMap("another", "1"))
		for patch, code := range map[string]int32{
			`{"metadata":{"name":"b"}}`:       400,
			`{"metadata":{"namespace":"b"}}`:  400,
			`{"kind":"Secret"}`:               422,
			`{"metadata":{"labels":{"a":1}}}`: 422,
		} {
			_, err := e.patch(made, types.MergePatchType, patch, "")
			e.fails(err, code, "")
		}
		e.untouched(made)
	}},
	{"labels and annotations are checked beside those that were there", func(e *env) {
		u := e.configMap("checked", "1")
		u.SetLabels(map[string]string{"a": "b"})
		half := strings.Repeat("x", 130<<10)
		u.SetAnnotations(map[string]string{"a": half})
		made := e.create(u)
		for _, metadata := range []string{
			`{"labels":{"a":"not/valid"}}`,
			`{"labels":{"not//valid":"b"}}`,
			`{"annotations":{"not//valid":"b"}}`,
			`{"annotations":{"b":"` + half + `"}}`, // each is small enough, both are not
		} {
			_, err := e.patch(made, types.MergePatchType, `{"metadata":`+metadata+`}`, "")
			e.fails(err, 422, metav1.StatusReasonInvalid)
		}
		e.untouched(made)
	}},
}
