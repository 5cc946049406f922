package twin

import (
	"os"
	"path/filepath"
	"testing"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// serverKinds are the built-in kinds as an API server sees them: their types are of the
// documents that it serves, and our rules of the table.
type serverKinds map[gvk.GroupVersionKind]serverKind

func newServerKinds(t *testing.T) serverKinds {
	t.Helper()
	out := serverKinds{}
	for _, file := range kinds.OpenAPI(t, schema.BuiltinVersion()) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		api, err := schema.ReadOpenAPI(text)
		if err != nil {
			t.Fatal(file, err)
		}
		var types *smd.Schema
		for k, name := range api.Kinds {
			s, ok := schema.Builtin(k.Group, k.Version, k.Kind)
			if _, known := out[gvk.GroupVersionKind(k)]; known || !ok {
				continue
			}
			if types == nil {
				types = readTypes(t, text)
			}
			out[gvk.GroupVersionKind(k)] = serverKind{s, typeOf(types, name)}
		}
	}
	return out
}

// of returns the kind of an object.
func (k serverKinds) of(object map[string]any) (serverKind, bool) {
	version, _ := object["apiVersion"].(string)
	name, _ := object["kind"].(string)
	s, ok := k[gvk.FromAPIVersionAndKind(version, name)]
	return s, ok
}

// The objects of k8s.io/api, which have all fields of their kinds, and the manifests of real
// projects, each with random changes by us and by somebody else.
func TestServerSideKinds(t *testing.T) {
	known := newServerKinds(t)
	objects, refused, used := 0, 0, map[string]int{}
	hold := func(name string, doc *node.Tree) {
		object := exactly.strip(schema.Unknown, doc.Map()).(map[string]any)
		k, ok := known.of(object)
		if !ok {
			return
		}
		objects++
		for how := range nobody + 1 {
			r := NewRandom(*seed + uint64(objects)*3 + uint64(how))
			r.Model = schema.Structured
			x := triple{r.Vary(k.schema, object), r.Vary(k.schema, object), r.Vary(k.schema, object)}
			for _, o := range []map[string]any{x.last, x.live, x.desired} {
				if meta, ok := o["metadata"].(map[string]any); ok {
					delete(meta, "managedFields") // the server's own, which a configuration must not have
				}
			}
			_, err := k.play(x, how)
			if _, bad := k.FromUnstructured(x.desired); err != nil || bad != nil {
				refused++ // an example that no server takes, or what is of any type to us and a map to a server
				continue
			}
			j := newJudge()
			k.serverSide(x, how, j)
			if j.has("we refuse") { // a server looks at the type of a scalar only when it decodes the object
				refused++
				continue
			}
			j.count()
			for k, n := range j.used {
				used[k] += n
			}
			if len(j.open) > 0 {
				sort := j.open[0].sort
				small := shrink(x, func(x triple) bool { j := newJudge(); k.serverSide(x, how, j); return j.has(sort) })
				j = newJudge()
				k.serverSide(small, how, j)
				t.Errorf("%s, writer %d:\n%v\n%s", name, how, small, j.open)
			}
		}
	}
	for _, file := range kinds.Samples(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sample, err := node.Parse(text, node.Limits{})
		if err != nil {
			t.Fatal(file, err)
		}
		hold(filepath.Base(file), sample)
	}
	if objects < 90 {
		t.Errorf("only %d kinds", objects)
	}
	var files []string
	for n, file := range kinds.FindCorpus("") {
		if n%8 == 0 || *every {
			files = append(files, file)
		}
	}
	for name, doc := range documents(t, files) {
		hold(name, doc)
	}
	t.Logf("%d objects, %d triples refused; explained by the catalogue: %v", objects, refused, used)
	if refused > objects/10 {
		t.Errorf("%d triples of %d objects refused", refused, objects)
	}
}
