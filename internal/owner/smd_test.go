package owner_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/node"
	"example.com/braid/internal/owner"
	"example.com/braid/internal/schema"
)

// pathsOf returns the paths that structured-merge-diff gives to what stands in i.
func pathsOf(t testing.TB, tree *node.Tree, i node.ID, typ *schema.Type, at fieldpath.Path, out map[node.ID]fieldpath.Path) {
	t.Helper()
	if typ.Structured.Merge == schema.Atomic {
		return
	}
	for _, kid := range tree.Kids(i) {
		var pe fieldpath.PathElement
		child := typ.Elem
		switch tree.Kind(i) {
		case node.Map:
			name := tree.Key(kid)
			pe.FieldName = &name
			child, _ = typ.Lookup(name)
		default:
			switch typ.Structured.Merge {
			case schema.Set:
				v := fromJSON(t, tree.Append(nil, kid))
				pe.Value = &v
			case schema.Keyed:
				keys := value.FieldList{}
				for _, k := range typ.Structured.Keys {
					if f := tree.Field(kid, k.Name); f != node.None {
						keys = append(keys, value.Field{Name: k.Name, Value: fromJSON(t, tree.Append(nil, f))})
					} else if k.Default != "" {
						keys = append(keys, value.Field{Name: k.Name, Value: fromJSON(t, []byte(k.Default))})
					}
				}
				keys.Sort()
				pe.Key = &keys
			default:
				return // of no schema: a list is one value
			}
		}
		if child == nil {
			child = schema.Unknown
		}
		path := append(slices.Clone(at), pe)
		out[kid] = path
		pathsOf(t, tree, kid, child, path, out)
	}
}

func fromJSON(t testing.TB, text []byte) value.Value {
	t.Helper()
	v, err := value.FromJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sameAsSMD holds all sets of an object against fieldpath.Set.
func sameAsSMD(t testing.TB, obj map[string]any, root *schema.Type) (members int) {
	t.Helper()
	live, err := node.FromMap(obj, node.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := owner.Read(live, root)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[node.ID]fieldpath.Path{}
	pathsOf(t, live, 0, root, nil, paths)
	seen := map[string]int{}
	for _, p := range paths {
		seen[p.String()]++
	}
	entries := live.Kids(live.Lookup("metadata", "managedFields"))
	if len(entries) != len(o.Managers) {
		t.Fatalf("%d managers of %d entries", len(o.Managers), len(entries))
	}
	for n, m := range o.Managers {
		want := fieldpath.NewSet()
		if err := want.FromJSON(bytes.NewReader(live.Append(nil, live.Field(entries[n], "fieldsV1")))); err != nil {
			t.Fatal(err)
		}
		got, err := o.Set(n)
		if err != nil {
			t.Fatal(err)
		}
		members += len(got)
		matched := map[string]bool{}
		for i := range node.ID(live.Len()) {
			p, is := paths[i]
			if want := is && want.Has(p); want != got.Has(i) {
				t.Errorf("%v, %s (%v): %v, want %v\n%s", m, live.Path(i), p, got.Has(i), want, live.JSON())
			}
			if got.Has(i) {
				matched[p.String()] = true
			}
		}
		want.Iterate(func(p fieldpath.Path) {
			if seen[p.String()] > 0 && !matched[p.String()] {
				t.Errorf("%v does not own %v", m, p)
			}
		})
	}
	return members
}

// The objects of k8s.io/api have all fields of their kinds.
func TestSetsOfAllKinds(t *testing.T) {
	server := kinds.NewServer(t, schema.BuiltinVersion())
	done, members := 0, 0
	for _, file := range kinds.Samples(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sample, err := node.Parse(text, node.Limits{})
		if err != nil {
			t.Fatal(file, err)
		}
		obj := sample.Map()
		version, _ := obj["apiVersion"].(string)
		kind, _ := obj["kind"].(string)
		group := ""
		if i := strings.IndexByte(version, '/'); i >= 0 {
			group, version = version[:i], version[i+1:]
		}
		s, ok := schema.Builtin(group, version, kind)
		if !ok || slices.Contains([]string{"TokenRequest", "Eviction", "Scale"}, kind) {
			continue // no server of this release serves it, or as a subresource of another group
		}
		meta, ok := obj["metadata"].(map[string]any)
		if !ok {
			continue // no object that is stored
		}
		delete(meta, "managedFields")
		delete(meta, "uid") // so that it is new
		obj = server.Update(t, nil, obj, "creator")
		done++
		members += sameAsSMD(t, obj, s.Root)
		if t.Failed() {
			t.Fatal(kind)
		}
	}
	t.Logf("%d positions of %d kinds", members, done)
	if done < 90 || members < 3000 {
		t.Errorf("only %d positions of %d kinds", members, done)
	}
}

// randomDeployment has keyed lists with one key and with two, a default among them, a set, atomic
// values and free maps.
func randomDeployment(rng *rand.Rand) map[string]any {
	some := func(field string, n int, elem func(i int) any) (out []any) {
		for i := range n {
			if rng.IntN(2) == 0 {
				out = append(out, elem(i))
			}
		}
		rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	labels := func() map[string]any {
		m := map[string]any{}
		for _, k := range []string{"a", "b.c/d", "e"} {
			if rng.IntN(2) == 0 {
				m[k] = fmt.Sprint(rng.IntN(2))
			}
		}
		return m
	}
	containers := some("containers", 4, func(i int) any {
		c := map[string]any{"name": fmt.Sprint("c", i), "image": fmt.Sprint("i", rng.IntN(2)), "args": []any{"x", fmt.Sprint(rng.IntN(2))}}
		c["env"] = some("env", 3, func(i int) any { return map[string]any{"name": fmt.Sprint("e\"", i), "value": fmt.Sprint(rng.IntN(2))} })
		c["ports"] = some("ports", 3, func(i int) any {
			p := map[string]any{"containerPort": int64(80 + i/2), "hostPort": int64(rng.IntN(2))}
			if i == 1 || rng.IntN(2) == 0 {
				p["protocol"] = []string{"TCP", "UDP"}[i%2]
			}
			return p
		})
		return c
	})
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "a", "labels": labels(), "finalizers": some("finalizers", 3, func(i int) any { return fmt.Sprint("f/", i) })},
		"spec": map[string]any{
			"replicas": int64(rng.IntN(3)), "selector": map[string]any{"matchLabels": labels()},
			"template": map[string]any{"metadata": map[string]any{"labels": labels()}, "spec": map[string]any{"containers": containers, "nodeSelector": labels()}},
		},
	}
}

// Managers take turns, by update and by apply.
func TestSetsOfRandomObjects(t *testing.T) {
	server := kinds.NewServer(t, schema.BuiltinVersion())
	s, _ := schema.Builtin("apps", "v1", "Deployment")
	rng := rand.New(rand.NewPCG(1, 2))
	members := 0
	for range 60 {
		var live map[string]any
		for range 6 {
			next, manager := randomDeployment(rng), fmt.Sprint("m", rng.IntN(4))
			if live != nil && rng.IntN(2) == 0 {
				live = server.Apply(t, live, next, manager)
			} else {
				if live != nil {
					next["metadata"].(map[string]any)["managedFields"] = live["metadata"].(map[string]any)["managedFields"]
				}
				live = server.Update(t, live, next, manager)
			}
			members += sameAsSMD(t, live, s.Root)
			if t.Failed() {
				t.FailNow()
			}
		}
	}
	if members < 5000 {
		t.Errorf("only %d positions", members)
	}
}

// FuzzRead reads any managedFields of an object with all sorts of lists.
func FuzzRead(f *testing.F) {
	for _, fields := range []string{
		`{"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`, `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}`,
		`{"f:metadata":{"f:finalizers":{"v:\"x\"":{},"i:0":{},"k:{}":{}}}}`, `{"f:spec":{"f:ports":{"k:{\"port\":8e1}":{}, "v:null":null,"k:[":{}}}}`, `{"":{},"x":{},"z:1":{}}`, `{".":1,"f:":[]}`,
	} {
		f.Add(`[{"manager":"kubectl-edit","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `}]`)
	}
	f.Add(`[{}]`)
	f.Add(`{}`)
	s, _ := schema.Builtin("", "v1", "Service")
	f.Fuzz(func(t *testing.T, managed string) {
		live, err := node.Parse([]byte(`{"apiVersion":"v1","kind":"Service","metadata":{"labels":{"a":"b"},"finalizers":["x","y","x"],"managedFields":`+managed+
			`},"spec":{"ports":[{"port":80},{"port":80,"protocol":"UDP"},{"port":81},{"port":81},1,{}],"selector":{"a":"b"}},"odd":[{"name":"a"}]}`), node.Limits{})
		if err != nil {
			return
		}
		for _, root := range []*schema.Type{s.Root, schema.Unknown} {
			found, err := owner.FindHandMade(live, root, []string{"kubectl-edit"})
			var bad *owner.Error
			if err != nil && (!errors.As(err, &bad) || found != nil || int(bad.Node) >= live.Len()) {
				t.Fatalf("%v, %#v", found, err)
			}
			if found == nil {
				continue
			}
			for n, i := range found.Set {
				if n > 0 && found.Set[n-1] >= i || found.By(i) != "kubectl-edit" {
					t.Fatal(found)
				}
			}
		}
	})
}
