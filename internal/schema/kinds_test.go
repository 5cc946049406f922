package schema_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
)

// The table is made from OpenAPI, and an API server merges by struct tags. These are
// all the differences between the two, by the field where they are. None is one of
// rules: OpenAPI says of a struct without fields no more than that it is an object, so
// it is a Map to the tags, and Any, like free-form values, to the table.
var differences = map[string]string{
	"all: a struct without fields":    "scheduling disruptionMode.all",
	"basic: a struct without fields":  "scheduling schedulingPolicy.basic",
	"single: a struct without fields": "scheduling disruptionMode.single",
	"spec: a struct without fields":   "apiserverinternal StorageVersion.spec",
}

// Kinds that Go has and the table lacks, although it has their group and version:
// they are never stored.
var unstored = []string{
	"APIGroupList", "APIVersions", "List", "NodeProxyOptions", "PodAttachOptions", "PodExecOptions", "PodLogOptions",
	"PodPortForwardOptions", "PodProxyOptions", "RangeAllocation", "SerializedReference", "ServiceProxyOptions",
	"CreateOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "DeleteOptions", "WatchEvent",
}

// Kinds that Go has and Kubernetes 1.37 does not serve any more in this version.
var unserved = []string{
	"admissionregistration.k8s.io/v1alpha1 ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1alpha1 ValidatingAdmissionPolicyBinding",
	"admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicyBinding",
	"admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration",
	"certificates.k8s.io/v1beta1 CertificateSigningRequest", "coordination.k8s.io/v1beta1 Lease", "scheduling.k8s.io/v1beta1 PriorityClass",
}

// Groups of the table whose Go types are in other modules than k8s.io/api.
var elsewhere = []string{"apiextensions.k8s.io", "apiregistration.k8s.io"}

// tags walks a Go type beside its type in the table.
type tags struct {
	seen  map[[2]*schema.Type]bool
	found []string
}

func (w *tags) same(path string, table, tag *schema.Type) {
	if pair := [2]*schema.Type{table, tag}; w.seen[pair] {
		return
	} else {
		w.seen[pair] = true
	}
	differ := func(format string, args ...any) {
		w.found = append(w.found, path+": "+fmt.Sprintf(format, args...))
	}
	if a, b := table.Strategic, tag.Strategic; a.Merge != b.Merge || a.RetainKeys != b.RetainKeys || !slices.Equal(names(a.Keys), names(b.Keys)) {
		differ("%+v, %+v", a, b)
	}
	switch {
	case table.Kind == schema.Any && tag.Kind == schema.Map && len(tag.Fields) == 0:
		w.found = append(w.found, path[strings.LastIndexByte(path, '.')+1:]+": a struct without fields")
	case table.Kind != tag.Kind:
		differ("kind %d, %d", table.Kind, tag.Kind)
	}
	if len(table.Fields) > 0 {
		for _, f := range tag.Fields {
			child, named := table.Lookup(f.Name)
			if !named {
				differ("%s is not in the table", f.Name)
				continue
			}
			w.same(path+"."+f.Name, child, f.Type)
		}
		for _, f := range table.Fields {
			if _, named := tag.Lookup(f.Name); !named {
				differ("%s is not in the Go type", f.Name)
			}
		}
	}
	switch {
	case table.Elem != nil && tag.Elem != nil:
		w.same(path+"[]", table.Elem, tag.Elem)
	case table.Elem != nil || tag.Elem != nil:
		differ("only one has other keys or elements")
	}
}

func names(keys []schema.Key) (out []string) {
	for _, k := range keys {
		out = append(out, k.Name)
	}
	return out
}

// The table and the struct tags of k8s.io/api agree on every strategic rule.
func TestTableAgreesWithTags(t *testing.T) {
	scheme, err := kinds.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	inTable := map[string]bool{}
	for _, k := range schema.BuiltinKinds() {
		inTable[k.Group+"/"+k.Version] = true
	}
	w := &tags{seen: map[[2]*schema.Type]bool{}}
	compared, retired, goTypes, absent := 0, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, k := range slices.SortedFunc(maps.Keys(scheme.AllKnownTypes()), byName) {
		table, ok := schema.Builtin(k.Group, k.Version, k.Kind)
		switch {
		case k.Version == runtime.APIVersionInternal:
		case !inTable[k.Group+"/"+k.Version]:
			retired[k.GroupVersion().String()] = true // or of webhooks: no server stores its kinds
		case !ok && slices.Contains(unstored, k.Kind):
			absent[k.Kind] = true
		case !ok:
			name := k.GroupVersion().String() + " " + strings.TrimSuffix(k.Kind, "List")
			if absent[name] = true; !slices.Contains(unserved, name) {
				t.Errorf("%s is not in the table", k)
			}
		default:
			tag, err := schema.FromType(scheme.AllKnownTypes()[k])
			if err != nil {
				t.Errorf("%s: %v", k, err)
				continue
			}
			compared++
			goTypes[table.Name] = true
			w.same(k.Kind, table.Root, tag.Root)
		}
	}
	t.Logf("%d kinds with %d types compared; %d group versions are not served any more: %v",
		compared, len(w.seen), len(retired), slices.Sorted(maps.Keys(retired)))
	if compared < 250 || len(w.seen) < 10000 {
		t.Errorf("only %d kinds with %d types compared", compared, len(w.seen))
	}
	if len(retired) != 26 {
		t.Errorf("%d group versions are not in the table", len(retired))
	}
	for _, name := range slices.Concat(unstored, unserved) {
		if !absent[name] {
			t.Errorf("listed, but in the table now or nowhere: %s", name)
		}
	}
	for _, k := range schema.BuiltinKinds() {
		if !goTypes[k.String()] && !slices.Contains(elsewhere, k.Group) {
			t.Errorf("%s has no Go type", k)
		}
	}
	for _, found := range w.found {
		if _, ok := differences[found]; !ok {
			t.Error(found)
		}
	}
	for listed := range differences {
		if !slices.Contains(w.found, listed) {
			t.Errorf("listed, but no difference any more: %s", listed)
		}
	}
}

func byName(a, b gvk.GroupVersionKind) int { return cmp.Compare(a.String(), b.String()) }

// What the notes of the field say of single rules (KEP-555, patch tags).
func TestKnownRules(t *testing.T) {
	at := func(group, version, kind string, path ...string) *schema.Type {
		t.Helper()
		s, ok := schema.Builtin(group, version, kind)
		if !ok {
			t.Fatal(kind)
		}
		typ := s.Root
		for _, p := range path {
			if p == "[]" {
				typ = typ.Elem
			} else {
				typ, _ = typ.Lookup(p)
			}
		}
		return typ
	}
	keyed := func(names ...string) (r schema.Rule) {
		r.Merge = schema.Keyed
		for _, n := range names {
			name, value, _ := strings.Cut(n, "=")
			r.Keys = append(r.Keys, schema.Key{Name: name, Default: value})
		}
		return r
	}
	retain := func(r schema.Rule) schema.Rule { r.RetainKeys = true; return r }
	atomic, granular, set := schema.Rule{Merge: schema.Atomic}, schema.Rule{}, schema.Rule{Merge: schema.Set}
	for _, c := range []struct {
		typ                   *schema.Type
		strategic, structured schema.Rule
		why                   string
	}{
		{at("", "v1", "Service", "spec", "ports"), keyed("port"), keyed("port=0", `protocol="TCP"`), "two protocols of one port are one element to a strategic patch"},
		{at("", "v1", "Pod", "spec", "containers", "[]", "ports"), keyed("containerPort"), keyed("containerPort=0", `protocol="TCP"`), "and so are those of a container"},
		{at("", "v1", "Pod", "spec", "nodeSelector"), granular, atomic, "maps that select are one value under server-side apply"},
		{at("apps", "v1", "Deployment", "spec", "selector"), granular, atomic, "and so are structs that select"},
		{at("apps", "v1", "Deployment", "spec", "strategy"), retain(granular), granular, "a union only a strategic patch knows"},
		{at("", "v1", "Pod", "spec", "volumes"), retain(keyed("name")), keyed(`name=""`), "as are the sources of a volume"},
		{at("policy", "v1", "PodDisruptionBudget", "spec", "selector"), atomic, atomic, "patchStrategy replace"},
		{at("", "v1", "ServiceAccount", "imagePullSecrets"), atomic, atomic, "no patch tag here"},
		{at("", "v1", "Pod", "spec", "imagePullSecrets"), keyed("name"), keyed(`name=""`), "but one there"},
		{at("", "v1", "Pod", "metadata", "finalizers"), set, set, "scalars with patchStrategy merge"},
		{at("batch", "v1", "Job", "status", "conditions"), keyed("type"), atomic, "each model has its own"},
	} {
		if diff := gocmp.Diff(c.strategic, c.typ.Strategic); diff != "" {
			t.Errorf("strategic (%s):\n%s", c.why, diff)
		}
		if diff := gocmp.Diff(c.structured, c.typ.Structured); diff != "" {
			t.Errorf("structured (%s):\n%s", c.why, diff)
		}
	}
}
