package peers

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"example.com/braid/bench"
)

// converter reads objects by the schema of client-go's apply configurations. What
// Kubernetes 1.37 uses is structured-merge-diff v6; v4 is its older self. A definition of
// a custom kind, of which client-go has no schema, is read by the deduced one.
func converter(c *bench.Case) (managedfields.TypeConverter, error) {
	s := runtime.NewScheme()
	groups := runtime.SchemeBuilder{corev1.AddToScheme, appsv1.AddToScheme, discoveryv1.AddToScheme}
	if err := groups.AddToScheme(s); err != nil {
		return nil, err
	}
	if !s.Recognizes(c.GVK) {
		return managedfields.NewDeducedTypeConverter(), nil
	}
	return applyconfigurations.NewTypeConverter(s), nil
}

type tree = *typed.TypedValue

func readTyped(by managedfields.TypeConverter, text []byte) (tree, error) {
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	return by.ObjectToTyped(&unstructured.Unstructured{Object: o})
}

// fromBytes and fromTrees make the peers of structured-merge-diff: what is read is timed,
// or not.
func fromBytes[T any](c *bench.Case, run func(last, desired tree) (T, error), object func(last, desired tree, answer T) ([]byte, error)) (bench.Task, error) {
	by, err := converter(c)
	if err != nil {
		return bench.Task{}, err
	}
	last, desired, err := both(by, c)
	return bench.Answer(func() (answer T, err error) {
		last, desired, err := both(by, c)
		if err != nil {
			return answer, err
		}
		return run(last, desired)
	}, func(answer T) ([]byte, error) { return object(last, desired, answer) }), err
}

func fromTrees[T any](c *bench.Case, run func(last, desired tree) (T, error), object func(last, desired tree, answer T) ([]byte, error)) (bench.Task, error) {
	by, err := converter(c)
	if err != nil {
		return bench.Task{}, err
	}
	last, desired, err := both(by, c)
	return bench.Answer(func() (T, error) { return run(last, desired) },
		func(answer T) ([]byte, error) { return object(last, desired, answer) }), err
}

func both(by managedfields.TypeConverter, c *bench.Case) (last, desired tree, err error) {
	if last, err = readTyped(by, c.Last()); err != nil {
		return
	}
	desired, err = readTyped(by, c.Desired())
	return
}

func compare(last, desired tree) (*typed.Comparison, error) { return last.Compare(desired) }

// compared makes the object of the sets of fields that Compare returns: last without what
// is removed, with what is added or modified as desired has it.
func compared(last, desired tree, c *typed.Comparison) ([]byte, error) {
	changed := desired.ExtractItems(c.Added.Union(c.Modified).Leaves(), typed.WithAppendKeyFields())
	merged, err := last.RemoveItems(c.Removed).Merge(changed)
	if err != nil {
		return nil, err
	}
	return asObject(last, desired, merged)
}

func mergeTrees(last, desired tree) (tree, error) { return last.Merge(desired) }

func asObject(_, _ tree, answer tree) ([]byte, error) {
	return json.Marshal(answer.AsValue().Unstructured())
}

func smdCompareBytes(c *bench.Case) (bench.Task, error) { return fromBytes(c, compare, compared) }
func smdCompareTrees(c *bench.Case) (bench.Task, error) { return fromTrees(c, compare, compared) }
func smdMergeBytes(c *bench.Case) (bench.Task, error)   { return fromBytes(c, mergeTrees, asObject) }
func smdMergeTrees(c *bench.Case) (bench.Task, error)   { return fromTrees(c, mergeTrees, asObject) }
