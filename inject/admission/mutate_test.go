package admission_test

import (
	"testing"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// A Mutator that makes something else of what Inject made is caught, unless it says what the
// object is to become.
func TestWrappedMutator(t *testing.T) {
	template, err := inject.ParseTemplate([]byte(sidecar))
	if err != nil {
		t.Fatal(err)
	}
	in, err := inject.New(inject.Options{}, template)
	if err != nil {
		t.Fatal(err)
	}
	own := admission.Inject(in, map[string]string{"cluster": "east"})
	wrapped := func(change func(*admission.Mutation, *merge.Doc)) admission.Mutator {
		return func(object *merge.Doc, v inject.Values) (admission.Mutation, error) {
			m, err := own(object, v)
			if err == nil {
				change(&m, object)
			}
			return m, err
		}
	}
	for _, tc := range []struct {
		name   string
		mutate admission.Mutator
		want   string
	}{
		{"as it is", wrapped(func(*admission.Mutation, *merge.Doc) {}), "Patched"},
		{"dropped", wrapped(func(m *admission.Mutation, _ *merge.Doc) { m.Patch = nil }), "Denied"},
		{"dropped, and said so", wrapped(func(m *admission.Mutation, object *merge.Doc) { m.Patch, m.Object = nil, object }), "Unchanged"},
		{"another patch", wrapped(func(m *admission.Mutation, _ *merge.Doc) {
			m.Patch = []byte(`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`)
		}), "Denied"},
		{"one operation more", wrapped(func(m *admission.Mutation, _ *merge.Doc) {
			m.Patch = append(m.Patch[:len(m.Patch)-1:len(m.Patch)-1], `,{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`...)
		}), "Denied"},
		{"without what Inject knows", func(object *merge.Doc, v inject.Values) (admission.Mutation, error) {
			m, err := own(object, v)
			return admission.Mutation{Patch: m.Patch}, err
		}, "Denied"},
		{"into another object", func(object *merge.Doc, v inject.Values) (admission.Mutation, error) {
			other := object.Map()
			other["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"}
			changed, err := merge.FromMap(other)
			if err != nil {
				return admission.Mutation{}, err
			}
			return own(changed, v)
		}, "Denied"},
		{"nothing", func(*merge.Doc, inject.Values) (admission.Mutation, error) { return admission.Mutation{}, nil }, "Unchanged"},
		{"an empty patch", func(*merge.Doc, inject.Values) (admission.Mutation, error) {
			return admission.Mutation{Patch: []byte{}}, nil
		}, "Unchanged"},
	} {
		h := handler(t, admission.Options{Config: admission.Config{Mutate: tc.mutate}, OnFailure: admission.FailClosed})
		w := post(h, creation(pod))
		resp := answered(t, w.Code, w.Body.Bytes(), "admission.k8s.io/v1", "u-1")
		if got := resp.AuditAnnotations["outcome"]; got != tc.want {
			t.Errorf("%s: %s, want %s: %+v", tc.name, got, tc.want, resp.Result)
		}
	}
}
