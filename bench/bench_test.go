package bench

import (
	"encoding/json"
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

func BenchmarkStrategicTwoWay(b *testing.B) {
	o, lookup := options(b), meta(b)
	for _, c := range Cases() {
		braid := func() ([]byte, error) { return merge.TwoWay(merge.StrategicPatch, c.Last, c.Desired, o) }
		upstream := func() ([]byte, error) {
			return strategicpatch.CreateTwoWayMergePatchUsingLookupPatchMeta(c.Last, c.Desired, lookup)
		}
		x, err := braid()
		if err != nil {
			b.Fatal(err)
		}
		y, err := upstream()
		if err != nil {
			b.Fatal(err)
		}
		same(b, c.Last, x, y)
		race(b, c, len(c.Last)+len(c.Desired),
			peer{"braid", func() error { return ours(braid()) }}, peer{"strategicpatch", func() error { return ours(upstream()) }})
	}
}

// The patch is applied to live from bytes, and the result written as bytes.
func BenchmarkStrategicApply(b *testing.B) {
	o, lookup := options(b), meta(b)
	for _, c := range Cases() {
		patch, err := strategicpatch.CreateThreeWayMergePatch(c.Last, c.Desired, c.Live, lookup, true)
		if err != nil {
			b.Fatal(err)
		}
		braid := func() ([]byte, error) { return merge.ApplyPatch(merge.StrategicPatch, c.Live, patch, o) }
		upstream := func() ([]byte, error) {
			return strategicpatch.StrategicMergePatchUsingLookupPatchMeta(c.Live, patch, lookup)
		}
		x, err := braid()
		if err != nil {
			b.Fatal(err)
		}
		y, err := upstream()
		if err != nil {
			b.Fatal(err)
		}
		if !parse(b, x).Equal(parse(b, y)) {
			b.Fatalf("peers disagree:\n%s\n%s", x, y)
		}
		race(b, c, len(c.Live)+len(patch),
			peer{"braid", func() error { return ours(braid()) }}, peer{"strategicpatch", func() error { return ours(upstream()) }})
	}
}

// Last and desired are cached, live is parsed each time: what a controller does.
func BenchmarkStrategicPrepared(b *testing.B) {
	m := merger(b)
	for _, c := range Cases() {
		last, desired := parse(b, c.Last), parse(b, c.Desired)
		braid := func() ([]byte, error) {
			live, err := merge.Parse(c.Live)
			if err != nil {
				return nil, err
			}
			r, err := m.ThreeWay(last, live, desired)
			if err != nil {
				return nil, err
			}
			return r.Patch(merge.StrategicPatch)
		}
		x, err := braid()
		if err != nil {
			b.Fatal(err)
		}
		y, err := merge.ThreeWay(merge.StrategicPatch, c.Last, c.Live, c.Desired, options(b))
		if err != nil {
			b.Fatal(err)
		}
		same(b, c.Live, x, y)
		race(b, c, len(c.Live), peer{"braid", func() error { return ours(braid()) }})
	}
}

// Nothing changes, and all three documents are prepared.
func BenchmarkStrategicNoOp(b *testing.B) {
	m := merger(b)
	for _, c := range Cases() {
		last, live := parse(b, c.Last), parse(b, c.Live)
		braid := func() error {
			r, err := m.ThreeWay(last, live, last)
			if err == nil && r.Changed() {
				b.Fatal("not a no-op")
			}
			return err
		}
		race(b, c, len(c.Live), peer{"braid", braid})
	}
}

// BenchmarkParse is the floor: encoding/json only checks the same bytes.
func BenchmarkParse(b *testing.B) {
	for _, c := range Cases() {
		race(b, c, len(c.Live),
			peer{"braid", func() error { _, err := merge.Parse(c.Live); return err }},
			peer{"valid", func() error {
				if !json.Valid(c.Live) {
					b.Fatal("not JSON")
				}
				return nil
			}})
	}
}
