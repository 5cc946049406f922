package bench

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/merge"
)

func options(tb testing.TB) merge.Options {
	s, err := merge.SchemaFor(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil {
		tb.Fatal(err)
	}
	return merge.Options{Schema: s}
}

func merger(tb testing.TB) *merge.Merger {
	m, err := merge.New(options(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func meta(tb testing.TB) strategicpatch.LookupPatchMeta {
	m, err := strategicpatch.NewPatchMetaFromStruct(&appsv1.Deployment{})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func parse(tb testing.TB, json []byte) *merge.Doc {
	doc, err := merge.Parse(json)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// same fails unless both patches, applied by upstream's applier, give one object.
func same(tb testing.TB, live []byte, patches ...[]byte) {
	tb.Helper()
	var first *merge.Doc
	for _, p := range patches {
		out, err := strategicpatch.StrategicMergePatch(live, p, appsv1.Deployment{})
		if err != nil {
			tb.Fatal(err)
		}
		doc := parse(tb, out)
		if first == nil {
			first = doc
		} else if !first.Equal(doc) {
			tb.Fatalf("peers disagree:\n%s\n%s", first.JSON(), doc.JSON())
		}
	}
}

type peer struct {
	name string
	run  func() error
}

// race times the peers of one case.
func race(b *testing.B, c Case, size int, peers ...peer) {
	for _, p := range peers {
		b.Run("case="+c.Name+"/peer="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := p.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ours(patch []byte, err error) error { return err }

func BenchmarkStrategicThreeWay(b *testing.B) {
	o, lookup := options(b), meta(b)
	for _, c := range Cases() {
		braid := func() ([]byte, error) { return merge.ThreeWay(merge.StrategicPatch, c.Last, c.Live, c.Desired, o) }
		upstream := func() ([]byte, error) {
			return strategicpatch.CreateThreeWayMergePatch(c.Last, c.Desired, c.Live, lookup, true)
		}
		x, err := braid()
		if err != nil {
			b.Fatal(err)
		}
		y, err := upstream()
		if err != nil {
			b.Fatal(err)
		}
		same(b, c.Live, x, y)
		race(b, c, len(c.Last)+len(c.Live)+len(c.Desired),
			peer{"braid", func() error { return ours(braid()) }}, peer{"strategicpatch", func() error { return ours(upstream()) }})
	}
}
