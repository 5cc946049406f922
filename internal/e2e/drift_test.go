package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// drift counts the objects that would be patched though nobody changed anything since they
// were applied.
type drift struct {
	objects, ours, theirs int
	explained             map[string]int // of ours, by why
}

// String is a table of who would patch what nobody has changed.
func (d *drift) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "| planned again, nothing changed | objects | would be patched |\n|---|---|---|\n")
	fmt.Fprintf(&out, "| apimachinery's packages, as kubectl uses them | %d | %d |\n| braid | %d | %d |\n", d.objects, d.theirs, d.objects, d.ours)
	for _, why := range slices.Sorted(maps.Keys(d.explained)) {
		fmt.Fprintf(&out, "\n%d of braid's: %s.\n", d.explained[why], why)
	}
	return out.String()
}

// again plans what was just created: nothing is to be done, but for what is explained.
func (s *settler) again(m manifest, desired, live *merge.Doc) {
	s.t.Helper()
	s.drift.objects++
	if patch, err := s.upstream(desired, live); err != nil || string(patch) != "{}" {
		s.drift.theirs++
	}
	plan, err := s.p.Plan(live, desired)
	switch {
	case err != nil:
		s.t.Error(m, err)
	case plan.Operation == apply.None:
	case why(plan) != "":
		s.drift.ours++
		s.drift.explained[why(plan)]++
	default:
		s.drift.ours++
		var report strings.Builder
		if err := plan.WriteReport(&report, false); err != nil {
			s.t.Error(m, err)
		}
		s.t.Errorf("%s: planned again: %s", m, &report)
	}
}

// disturbed lets another change what was declared and what was not. What we declare comes back,
// what it added stays, and then there is nothing to do.
func (s *settler) disturbed(m manifest, desired, live *merge.Doc) {
	s.t.Helper()
	id := apply.IDOf(&unstructured.Unstructured{Object: live.Map()})
	theirs := []byte(`{"metadata":{"labels":{"` + ours + `":"changed","example.com/theirs":"added"}}}`)
	if _, err := client.Patch(s.t.Context(), id, types.MergePatchType, theirs, apply.WriteOptions{FieldManager: "another"}); err != nil {
		return // a kind that nobody may change
	}
	applier, err := apply.NewApplier(client, apply.ApplierOptions{Options: apply.Options{Schema: s.schema}})
	if err != nil {
		s.t.Fatal(err)
	}
	outcomes, err := applier.Apply(s.t.Context(), desired)
	if err != nil {
		s.t.Error(m, err)
		return
	}
	u := outcomes[0].Object
	if l := u.GetLabels(); l[ours] != "declared" || l["example.com/theirs"] != "added" {
		s.t.Errorf("%s: labels %v after it was applied again", m, l)
	}
	now, err := merge.FromMap(u.Object)
	if err != nil {
		s.t.Fatal(m, err)
	}
	if plan, err := s.p.Plan(now, desired); err != nil || plan.Operation != apply.None && why(plan) == "" {
		s.t.Errorf("%s: planned again after another wrote: %v, %+v", m, err, plan)
	}
}

// upstream is the patch that kubectl apply makes.
func (s *settler) upstream(desired, live *merge.Doc) ([]byte, error) {
	u := live.Map()
	last, err := apply.Record{}.Read(live, desired)
	if err != nil || last == nil {
		return nil, fmt.Errorf("no last-applied in %v: %w", u["kind"], err)
	}
	_, recorded, err := apply.Record{}.Exchange(live, desired)
	if err != nil {
		return nil, err
	}
	if known, err := scheme.Scheme.New(desired.GVK()); err == nil {
		lookup, err := strategicpatch.NewPatchMetaFromStruct(known)
		if err != nil {
			return nil, err
		}
		return strategicpatch.CreateThreeWayMergePatch(last.JSON(), recorded.JSON(), live.JSON(), lookup, true)
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last.JSON(), recorded.JSON(), live.JSON())
	return bytes.TrimSpace(patch), err
}

// why says what makes a server change, each time, what was declared; "" if it does not.
func why(plan *apply.Plan) string {
	all := func(is func(merge.Edit) bool) bool {
		return !slices.ContainsFunc(plan.Edits(), func(e merge.Edit) bool { return !is(e) })
	}
	switch {
	case all(func(e merge.Edit) bool { return admitted[plan.ID.GVK.Kind] == e.Path.String() }):
		return "admission adds elements to an atomic list"
	case all(func(e merge.Edit) bool {
		return e.Case == merge.TheyRemove && slices.ContainsFunc(plan.Warnings, func(w apply.Warning) bool {
			return w.Path == e.Path.String() && strings.Contains(w.Text, "a server that does not know the field drops it")
		})
	}):
		return "the server drops fields that it does not know, and the plan says so"
	}
	return ""
}

// admitted are the atomic lists to which admission adds elements.
var admitted = map[string]string{"Pod": "spec.tolerations", "Node": "spec.taints"}
