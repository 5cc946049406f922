package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// What package admission writes for a cluster, the server takes to the letter.
func TestInjectorsManifests(t *testing.T) {
	ns := namespace(t)
	text, err := admission.Manifests(admission.ManifestOptions{
		Namespace: ns, Image: "injector:1", Workloads: true, TemplateConfigMap: "templates", Args: []string{"-v"},
		OnFailure: admission.FailClosed, IgnoredNamespaces: []string{"a"}, Annotations: map[string]string{"a": "b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := split(t, "admission.Manifests", text)
	if len(all) != 4 {
		t.Errorf("%d objects, want 4", len(all))
	}
	for _, m := range all {
		mapping, err := client.Mapper.RESTMapping(m.kind().GroupKind(), m.kind().Version)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: m.doc.Map()}
		if _, err := client.Client.Resource(mapping.Resource).Namespace(u.GetNamespace()).Create(t.Context(), u, metav1.CreateOptions{
			DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
		}); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// Another webhook after ours has us asked again: what it added gets what every container
// gets, and else there is nothing to do.
func TestReinvocation(t *testing.T) {
	adds := func(change func(u *unstructured.Unstructured), patch string) admission.Mutator {
		return func(object *merge.Doc, _ inject.Values) (m admission.Mutation, err error) {
			u := &unstructured.Unstructured{Object: object.Map()}
			change(u)
			if m.Object, err = merge.FromMap(u.Object); err == nil && !m.Object.Equal(object) {
				m.Patch = []byte(patch)
			}
			return m, err
		}
	}
	tests := map[string]struct {
		second     admission.Mutator
		outcomes   string // of ours
		containers string
		late       bool
	}{
		"it adds a container": {
			second: adds(func(u *unstructured.Unstructured) {
				all, _, _ := unstructured.NestedSlice(u.Object, "spec", "containers")
				if !slices.ContainsFunc(all, func(c any) bool { return c.(map[string]any)["name"] == "late" }) {
					_ = unstructured.SetNestedSlice(u.Object, append(all, map[string]any{"name": "late", "image": "late:1"}), "spec", "containers")
				}
			}, `[{"op":"add","path":"/spec/containers/-","value":{"name":"late","image":"late:1"}}]`),
			outcomes: "Patched/DefaultOn Patched/AlreadyInjected", containers: "app:1 proxy:1 late:1", late: true,
		},
		"it adds a label": {
			second: adds(func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) },
				`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`),
			outcomes: "Patched/DefaultOn Unchanged/AlreadyInjected", containers: "app:1 proxy:1",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			ours := newHook(t, admission.Options{})
			ours.register(t, ns, admission.ManifestOptions{})
			theirs := newHook(t, admission.Options{Config: admission.Config{Mutate: test.second}})
			theirs.register(t, ns, admission.ManifestOptions{Name: "later"}) // webhooks are called by name
			ours.told()
			stored, err := client.Create(t.Context(), pod(t, ns, "web", ""), apply.WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := ours.outcomes(); got != test.outcomes {
				t.Errorf("asked: %s, want %s", got, test.outcomes)
			}
			if got := images(stored, "containers"); got != test.containers {
				t.Errorf("containers %s, want %s", got, test.containers)
			}
			containers, _, _ := unstructured.NestedSlice(stored.Object, "spec", "containers")
			for _, c := range containers {
				c := c.(map[string]any)
				if got, want := strings.Contains(fmt.Sprint(c["env"]), "PROXY"), c["name"] != "proxy"; got != want {
					t.Errorf("container %v has PROXY: %t, want %t", c["name"], got, want)
				}
			}
			again, err := injector(t, "1").Inject(docOf(t, stored), inject.Values{Given: given})
			if err != nil || again.Changed() {
				t.Errorf("injected into what is stored: changed %t, %v", again.Changed(), err)
			}
			removal, err := inject.Uninject(docOf(t, stored))
			if err != nil {
				t.Fatal(err)
			}
			rest, err := removal.Object()
			if err != nil {
				t.Fatal(err)
			}
			if text := string(rest.JSON()); strings.Contains(strings.ToLower(text[:strings.Index(text, `"managedFields"`)]+text[strings.Index(text, `"spec"`):]), "proxy") {
				t.Errorf("after removal: %s", text)
			}
		})
	}
}

// A dry run is answered as any other request, and leaves nothing.
func TestDryRun(t *testing.T) {
	ns := namespace(t)
	h := newHook(t, admission.Options{})
	h.register(t, ns, admission.ManifestOptions{})
	web := pod(t, ns, "web", "")
	dry, err := client.Create(t.Context(), web, apply.WriteOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if seen := h.told(); len(seen) != 1 || !seen[0].DryRun || seen[0].Outcome != admission.Patched {
		t.Errorf("observed %+v, want one dry run, Patched", seen)
	}
	if left, err := client.List(t.Context(), web.GroupVersionKind(), apply.ListOptions{Namespace: ns}); err != nil || len(left.Items) > 0 {
		t.Errorf("%d pods are left, %v", len(left.Items), err)
	}
	stored, err := client.Create(t.Context(), web, apply.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !same(anew(dry), anew(stored)) || record(dry) != record(stored) {
		t.Errorf("what a dry run says is not what is stored:\n%s", difference(anew(dry), anew(stored)))
	}
}

// workloads are of all kinds for which the server calls when they change, and a Job.
const workloads = `
{apiVersion: v1, kind: PodTemplate, template: {POD}}
---
{apiVersion: v1, kind: ReplicationController, spec: {selector: {app: web}, template: {POD}}}
---
{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: web}}, template: {POD}}}
---
{apiVersion: apps/v1, kind: DaemonSet, spec: {selector: {matchLabels: {app: web}}, template: {POD}}}
---
{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: web, selector: {matchLabels: {app: web}}, template: {POD}}}
---
{apiVersion: batch/v1, kind: CronJob, spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {ENDS}}}}}
---
{apiVersion: batch/v1, kind: Job, spec: {template: {ENDS}}}
`

// A workload gets its sidecar when it is made, and that of another template when it is
// changed. In what ends, it is a native sidecar.
func TestWorkloads(t *testing.T) {
	ns := namespace(t)
	h := newHook(t, admission.Options{})
	h.register(t, ns, admission.ManifestOptions{Workloads: true})
	template := "metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: app:1}]"
	text := strings.NewReplacer("POD", template+"}", "ENDS", template+", restartPolicy: OnFailure}").Replace(workloads)
	for _, part := range documents.Split(text, -1) {
		u := object(t, part, ns)
		u.SetName("web")
		t.Run(u.GetKind(), func(t *testing.T) {
			h.use(t, "1")
			h.told()
			list, others := "containers", "app:1 "
			if strings.HasSuffix(u.GetKind(), "Job") {
				list, others = "initContainers", ""
			}
			want := func(what string, u *unstructured.Unstructured, outcomes, app, list, containers string) {
				t.Helper()
				if got := h.outcomes(); got != outcomes {
					t.Errorf("%s: asked %s, want %s", what, got, outcomes)
				}
				if got := images(u, list); got != containers {
					t.Errorf("%s: %s %s, want %s", what, list, got, containers)
				}
				if got := images(u, "containers"); !strings.HasPrefix(got, app) {
					t.Errorf("%s: containers %s, want %s first", what, got, app)
				}
			}
			made, err := client.Create(t.Context(), u, apply.WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			first := others + "proxy:1"
			if list == "initContainers" {
				first = "proxy-init:1 proxy:1"
			}
			want("made", made, "Patched/DefaultOn", "app:1", list, first)
			if u.GetKind() == "Job" {
				byHand(t, u, `{"metadata":{"labels":{"a":"b"}}}`)
				if got := h.outcomes(); got != "" {
					t.Errorf("asked %s about the update of a Job, whose template may not change", got)
				}
				return
			}
			now := byHand(t, u, `{"metadata":{"labels":{"a":"b"}}}`)
			want("labelled", now, "Unchanged/AlreadyInjected", "app:1", list, first)
			if now.GetGeneration() != made.GetGeneration() {
				t.Errorf("generation %d, want %d as before", now.GetGeneration(), made.GetGeneration())
			}
			h.use(t, "2")
			now = byHand(t, u, withImage(t, now, "app:2"))
			want("changed", now, "Patched/AlreadyInjected", "app:2", list, strings.Replace(others, "app:1", "app:2", 1)+"proxy:2")
			fresh, err := injector(t, "2").Inject(docOf(t, now), inject.Values{Namespace: ns, Given: given})
			if err != nil || fresh.Changed() || len(fresh.Drift) > 0 {
				t.Errorf("it has not what the second template gives: %v, %v", err, fresh)
			}
			if text := fmt.Sprint(podOf(now)["spec"]); strings.Contains(strings.ToLower(text), "obsolete") || strings.Contains(text, "proxy-init") {
				t.Errorf("something of the first template is left: %s", text)
			}
		})
	}
}

// use has the webhook inject the template of a version.
func (h *hook) use(t *testing.T, version string) {
	t.Helper()
	if err := h.Reload(admission.Config{Decider: optOut(t), Mutate: admission.Inject(injector(t, version), given)}); err != nil {
		t.Fatal(err)
	}
}

// byHand changes an object by a strategic merge patch.
func byHand(t *testing.T, u *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	t.Helper()
	now, err := client.Patch(t.Context(), apply.IDOf(u), types.StrategicMergePatchType, []byte(patch), apply.WriteOptions{FieldManager: "kubectl-edit"})
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// withImage is a patch that gives the container app of a workload another image.
func withImage(t *testing.T, u *unstructured.Unstructured, image string) string {
	t.Helper()
	patch := `{"spec":{"containers":[{"name":"app","image":"` + image + `"}]}}`
	for _, field := range map[string][]string{"PodTemplate": {"template"}, "CronJob": {"template", "spec", "jobTemplate", "spec"}}[u.GetKind()] {
		patch = `{"` + field + `":` + patch + `}`
	}
	if u.GetKind() != "PodTemplate" && u.GetKind() != "CronJob" {
		patch = `{"spec":{"template":` + patch + `}}`
	}
	return patch
}

// Whatever is asked about a pod that there is, it is let through as it is: also where the
// server is told to ask about everything.
func TestPodsAreLeftAlone(t *testing.T) {
	ns := namespace(t)
	h := newHook(t, admission.Options{OnFailure: admission.FailClosed})
	h.register(t, ns, admission.ManifestOptions{OnFailure: admission.FailClosed}, func(webhook map[string]any) {
		webhook["rules"] = []any{map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"*"}, "resources": []any{"pods", "pods/*"}}}
	})
	web := pod(t, ns, "web", "")
	web.SetFinalizers([]string{"example.com/drained"})
	made, err := client.Create(t.Context(), web, apply.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h.told()
	want := func(what, outcomes string, err error) {
		t.Helper()
		if got := h.outcomes(); err != nil || got != outcomes {
			t.Errorf("%s: asked %s, want %s; %v", what, got, outcomes, err)
		}
	}
	id := apply.IDOf(web)
	patch := func(what, outcomes, patch, sub string) {
		t.Helper()
		_, err := client.Patch(t.Context(), id, types.StrategicMergePatchType, []byte(patch), apply.WriteOptions{Subresource: sub})
		want(what, outcomes, err)
	}
	h.use(t, "2")
	patch("labelled", "Skipped/Immutable", `{"metadata":{"labels":{"a":"b"}}}`, "")
	patch("its status", "Skipped/Subresource", `{"status":{"phase":"Running"}}`, "status")
	patch("debugged", "Skipped/Subresource", `{"spec":{"ephemeralContainers":[{"name":"debug","image":"debug:1"}]}}`, "ephemeralcontainers")
	want("deleted", "Skipped/NoObject", client.Delete(t.Context(), id, apply.DeleteOptions{}))
	now, err := client.Get(t.Context(), id)
	if err != nil || now.GetDeletionTimestamp() == nil || images(now, "containers") != images(made, "containers") {
		t.Errorf("after the deletion: %v, %v", now, err)
	}
	patch("drained", "Skipped/Immutable", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/drained"]}}`, "")
	h.told()
	if _, err := client.Get(t.Context(), id); !apierrors.IsNotFound(err) {
		t.Errorf("the pod is still there: %v", err)
	}
}
