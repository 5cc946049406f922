package merge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/braid/merge"
)

// Callers share pools of memory. What one of them gets holds nothing of the others, and
// nothing of what the caller itself does to its documents later. Under the build tag poison
// all memory that went back to a pool is garbage; under the race detector a shared byte is a
// race.
func TestNothingLeaks(t *testing.T) {
	o := merge.Options{Schema: rules(t, deployment)}
	strict := o
	strict.Policy = &merge.Strict
	// Documents of one caller: every text in them begins with its own word.
	docs := func(word string) (last, live, desired []byte) {
		object := func(image, note string) []byte {
			var b strings.Builder
			fmt.Fprintf(&b, `{"metadata":{"annotations":{"%[1]s-k":"%[1]s\n%[2]s","z":""},"name":"%[1]s"},"spec":{"template":{"spec":{"containers":[`, word, note)
			for i := range 5 {
				fmt.Fprintf(&b, `{"image":"%s-%s","name":"%s-%d"},`, word, image, word, i)
			}
			return []byte(strings.TrimSuffix(b.String(), ",") + `]}}}}`)
		}
		return object("i\u00e9\\t1", "a"), object("2", "b"), object("3\\u0001", "c")
	}
	works := map[string]func(last, live, desired []byte) ([]byte, error){
		"an error": func(last, live, desired []byte) ([]byte, error) {
			const open = `"annotations":{`
			at := bytes.Index(desired, []byte(open)) + len(open)
			field := desired[at : at+bytes.IndexByte(desired[at:], ',')]
			twice := bytes.Replace(desired, field, fmt.Appendf(nil, "%s,%s", field, field), 1)
			_, err := merge.ThreeWay(merge.StrategicPatch, last, live, twice, o)
			scribble(twice)
			var e *merge.Error
			if !errors.As(err, &e) {
				return nil, fmt.Errorf("no error but %v", err)
			}
			return []byte(e.Error()), nil
		},
		"conflicts of indented documents": func(last, live, desired []byte) ([]byte, error) {
			for _, d := range []*[]byte{&last, &live, &desired} {
				var indented bytes.Buffer
				if err := json.Indent(&indented, *d, "", "  "); err != nil {
					return nil, err
				}
				*d = indented.Bytes()
			}
			var e *merge.ConflictError // of whole maps, which are copied
			desired = bytes.Replace(desired, []byte(`"annotations": {`), []byte(`"annotations": "", "other": {`), 1)
			if _, err := merge.ThreeWay(merge.JSONMergePatch, last, live, desired, merge.Options{Schema: merge.Schemaless(), Policy: &merge.Strict}); !errors.As(err, &e) {
				return nil, fmt.Errorf("no conflicts but %v", err)
			}
			scribble(last, live, desired)
			var out []byte
			for _, c := range e.Conflicts {
				out = append(append(out, c.String()...), c.Live.JSON()...)
			}
			return out, nil
		},
		"conflicts": func(last, live, desired []byte) ([]byte, error) {
			_, err := merge.ThreeWay(merge.StrategicPatch, last, live, desired, strict)
			scribble(last, live, desired)
			var e *merge.ConflictError
			if !errors.As(err, &e) {
				return nil, fmt.Errorf("no conflicts but %v", err)
			}
			return []byte(e.Error()), nil
		},
		"a prepared merge": func(last, live, desired []byte) ([]byte, error) {
			m, err := merge.New(o)
			if err != nil {
				return nil, err
			}
			var d [3]*merge.Doc
			for i, text := range [][]byte{last, live, desired} {
				if d[i], err = merge.Parse(text); err != nil {
					return nil, err
				}
			}
			scribble(last, live, desired)
			r, err := m.ThreeWay(d[0], d[1], d[2])
			if err != nil {
				return nil, err
			}
			var out bytes.Buffer
			if err := r.WriteReport(&out, false); err != nil {
				return nil, err
			}
			merged, err := r.Merged()
			if err != nil {
				return nil, err
			}
			return append(out.Bytes(), merged.JSON()...), nil
		},
	}
	works["typed objects and maps"] = func(last, live, desired []byte) ([]byte, error) {
		var typed appsv1.Deployment
		if err := json.Unmarshal(desired, &typed); err != nil {
			return nil, err
		}
		a, err := merge.FromObject(&typed)
		if err != nil {
			return nil, err
		}
		var m map[string]any
		if err := json.Unmarshal(live, &m); err != nil {
			return nil, err
		}
		b, err := merge.FromMap(m)
		if err != nil {
			return nil, err
		}
		typed.Name = "changed"
		clear(m)
		return append(a.JSON(), b.JSON()...), nil
	}
	works["typed objects in one call"] = func(last, live, desired []byte) ([]byte, error) {
		m, err := merge.New(strict)
		if err != nil {
			return nil, err
		}
		var typed [3]appsv1.Deployment
		for i, text := range [][]byte{last, live, desired} {
			if err := json.Unmarshal(text, &typed[i]); err != nil {
				return nil, err
			}
		}
		out, err := m.PatchObjects(merge.StrategicPatch, &typed[0], &typed[0], &typed[2])
		if err != nil {
			return nil, err
		}
		_, err = m.PatchObjects(merge.StrategicPatch, &typed[0], &typed[1], &typed[2])
		typed[0].Name, typed[1].Spec.Template.Spec.Containers[0].Image = "changed", "changed"
		var e *merge.ConflictError
		if !errors.As(err, &e) {
			return nil, fmt.Errorf("no conflicts but %v", err)
		}
		return append(out, e.Error()...), nil
	}
	for _, f := range []merge.PatchType{merge.StrategicPatch, merge.JSONMergePatch, merge.JSONPatch, merge.ApplyConfiguration} {
		works[f.MediaType()] = func(last, live, desired []byte) ([]byte, error) {
			patch, err := merge.ThreeWay(f, last, live, desired, o)
			if err == nil {
				err = samePatchLive(o, f, patch, last, live, desired)
			}
			scribble(last, desired)
			if err != nil || f == merge.ApplyConfiguration {
				return patch, err
			}
			again := bytes.Clone(patch)
			out, err := merge.ApplyPatch(f, live, again, o)
			scribble(live, again)
			return append(patch, out...), err
		}
	}
	for name, work := range works {
		t.Run(name, func(t *testing.T) {
			// Words of one length, so that the answers differ in the word alone.
			word := func(i int) string { return fmt.Sprintf("caller%02d", i) }
			want, err := work(docs(word(0)))
			if err != nil || !bytes.Contains(want, []byte(word(0))) {
				t.Fatalf("%v\n%s", err, want)
			}
			var wg sync.WaitGroup
			for i := 1; i <= 8; i++ {
				wg.Go(func() {
					want := bytes.ReplaceAll(want, []byte(word(0)), []byte(word(i)))
					for range 50 {
						if got, err := work(docs(word(i))); err != nil || !bytes.Equal(got, want) {
							t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// scribble writes over documents, as a caller may that has its answer.
func scribble(docs ...[]byte) {
	for _, d := range docs {
		for i := range d {
			d[i] = '#'
		}
	}
}

// samePatchLive compares PatchLive with a patch, and scribbles over the live it read.
func samePatchLive(o merge.Options, f merge.PatchType, patch, last, live, desired []byte) error {
	m, err := merge.New(o)
	if err != nil {
		return err
	}
	var d [2]*merge.Doc
	for i, text := range [][]byte{last, desired} {
		if d[i], err = merge.Parse(text); err != nil {
			return err
		}
	}
	own := bytes.Clone(live)
	got, err := m.PatchLive(f, d[0], own, d[1])
	scribble(own)
	if err == nil && !bytes.Equal(got, patch) {
		err = fmt.Errorf("PatchLive gives\n%s\nwant\n%s", got, patch)
	}
	return err
}
