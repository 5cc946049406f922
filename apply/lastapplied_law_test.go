package apply

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/braid/internal/compact"
	"example.com/braid/merge"
)

// randomSecret returns a Secret of few keys and few values, in several spellings.
func randomSecret(rng *rand.Rand, server bool) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	var data, texts []string
	for _, key := range []string{"a", "b", "c"} {
		value := pick("", "x", "hunter2", strings.Repeat("long", 30))
		b64 := base64.StdEncoding.EncodeToString([]byte(value))
		switch n := rng.IntN(6); {
		case n == 0:
		case server || n < 3:
			data = append(data, fmt.Sprintf("%q:%q", key, b64))
		case n == 3:
			texts = append(texts, fmt.Sprintf("%q:%q", key, value))
		case n == 4 && len(b64) > 4:
			data = append(data, fmt.Sprintf("%q:%q", key, b64[:4]+"\n"+b64[4:]))
		default:
			data = append(data, fmt.Sprintf("%q:null", key))
		}
	}
	out := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{` + strings.Join(data, ",") + `}`
	if len(texts) > 0 {
		out += `,"stringData":{` + strings.Join(texts, ",") + `}`
	}
	return out + `}`
}

// randomPod has long texts where names, elements of keyed and atomic lists and free fields
// are, and some that look like digests or mean the same as others.
func randomPod(rng *rand.Rand) string {
	long := func(c string) string { return strings.Repeat(c, 70) }
	values := []string{"", "short", long("x"), long("y"), long("z z "), digestPrefix + "abc", Record{}.digest(long("x")), long("1"), long("1") + "000m", strings.Repeat("QUJD", 20), strings.Repeat("QUJD", 10) + `\n` + strings.Repeat("QUJD", 10)}
	pick := func() string { return values[rng.IntN(len(values))] }
	var containers []string
	for _, name := range []string{"app", long("n"), long("m")} {
		if rng.IntN(3) > 0 {
			containers = append(containers, fmt.Sprintf(`{"name":"%s","image":"%s","args":["%s","%s"],"env":[{"name":"%s1","value":"%s"}],"resources":{"limits":{"cpu":"%s"}}}`,
				name, pick(), pick(), pick(), long("e"), pick(), []string{"1", long("1"), long("1") + "000m"}[rng.IntN(3)]))
		}
	}
	finalizers := []string{`"a/` + long("x") + `"`, `"b/` + long("y") + `"`}[:rng.IntN(3)]
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","annotations":{"k":"%s","l":"%s"},"finalizers":[%s]},"spec":{"hostname":"%s","containers":[%s]}}`,
		long("p"), pick(), pick(), strings.Join(finalizers, ","), pick(), strings.Join(containers, ","))
}

// report returns all that a merge says: where, which case, what is done, and the outcome.
func report(t *testing.T, m *merge.Merger, last, live, desired *merge.Doc) string {
	t.Helper()
	r, err := m.ThreeWay(last, live, desired)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, e := range r.Edits() {
		fmt.Fprintf(&b, "%s %s %d %t\n", e.Path, e.Case, e.Action, e.Order)
	}
	if merged, err := r.Merged(); err == nil {
		b.Write(merged.JSON())
	}
	return b.String()
}

// With digests in the record every merge comes out as with the values in it: each of the
// cases at each position, under every policy. A policy that always clashes shows cases that
// the others pass over in silence.
func TestDigestsMergeAsValues(t *testing.T) {
	always := merge.Apply
	for c := range always {
		always[c] = merge.Clash
	}
	all := map[string]*merge.Policy{"always": &always}
	for name, p := range policies {
		all[name] = p
	}
	hidden := Record{HideSecrets: true, DigestKey: []byte("k")}
	tests := []struct {
		name, kind string
		random     func(rng *rand.Rand, server bool) string
		note       func(last *merge.Doc) note
	}{
		{"Secret", "Secret", randomSecret, func(last *merge.Doc) note {
			_, recorded, err := hidden.Exchange(nil, last)
			if err != nil {
				t.Fatal(err)
			}
			return (Record{}).notesOf(recorded)[0]
		}},
		{"Secret, compact", "Secret", randomSecret, func(last *merge.Doc) note { return briefNote(t, hidden, last) }},
		{"long texts", "Pod", func(rng *rand.Rand, _ bool) string { return randomPod(rng) }, func(last *merge.Doc) note {
			return briefNote(t, hidden, last)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			mergers := map[string]*merge.Merger{}
			for name, p := range all {
				mergers[name] = mergerOf(t, test.kind, p)
			}
			cases := map[merge.Case]bool{}
			for seed := range uint64(1000) {
				rng := rand.New(rand.NewPCG(seed, 7))
				was, have, want := test.random(rng, false), test.random(rng, true), test.random(rng, false)
				if test.kind == "Pod" && rng.IntN(2) == 0 {
					have = was // what nobody touched
				}
				last, live, desired := doc(t, was), doc(t, have), doc(t, want)
				read, err := hidden.Read(annotated(t, live, test.note(last)), desired)
				if err != nil {
					t.Fatal(err)
				}
				for name, m := range mergers {
					if got, want := report(t, m, read, live, desired), report(t, m, last, live, desired); got != want {
						t.Fatalf("seed %d, %s:\nlast    %s\nread    %s\nlive    %s\ndesired %s\ngot  %s\nwant %s", seed, name, last.JSON(), read.JSON(), live.JSON(), desired.JSON(), got, want)
					}
				}
				r, err := mergers["always"].ThreeWay(read, live, desired)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range r.Edits() {
					cases[e.Case] = true
				}
			}
			for _, c := range []merge.Case{merge.WeAdd, merge.BothAddOther, merge.TheyRemove, merge.WeRemove, merge.WeSet, merge.WeRemoveTheySet, merge.TheySet, merge.BothSetOther} {
				if !cases[c] {
					t.Errorf("no object met the case %s", c)
				}
			}
		})
	}
}

// briefNote returns the compact record with digests, whatever its size.
func briefNote(t *testing.T, r Record, d *merge.Doc) note {
	t.Helper()
	tree, err := parse("last", d)
	if err != nil {
		t.Fatal(err)
	}
	if tree, err = r.declared(tree); err != nil {
		t.Fatal(err)
	}
	if tree, err = r.brief(tree); err != nil {
		t.Fatal(err)
	}
	return note{CompactAnnotation, pack(kubectlText(tree), true)}
}

// Whatever stands in the annotations: no panic, and an object that can be applied, whose
// record is then good and stays.
func FuzzReadRecord(f *testing.F) {
	for _, text := range []string{
		"", "{}", "null", `{"data":{"a":"sha256:AAAAAAAAAAAAAAAAAAAAAA"},"kind":"Secret","apiVersion":"v1"}`,
		`{"metadata":{"annotations":null}}`, `{"metadata":[1]}`, `{"a":1,"a":2}`, "\x00", `{"kind":1,"data":[]}`,
		`{"apiVersion":"v1","kind":"Secret","stringData":{"a":"sha256:x"},"data":{"a":1}}`,
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Add(pack([]byte("{}"), true), false)
	f.Fuzz(func(t *testing.T, text string, packed bool) {
		key := LastAppliedAnnotation
		if packed {
			key, text = CompactAnnotation, compact.Pack(`{"version":1,"digests":true,"last":`+text+`}`)
		}
		live, err := merge.FromMap(map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"a": "eA=="},
			"metadata": map[string]any{"name": "s", "annotations": map[string]any{key: text}}})
		if err != nil {
			return // no text that an object can have
		}
		desired := doc(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"a":"y"}}`)
		r := Record{HideSecrets: true}
		last, recorded, failed := r.Exchange(live, desired)
		if recorded == nil || last == nil {
			t.Fatalf("nothing to apply: %v", failed)
		}
		result, err := mergerOf(t, "Secret", nil).ThreeWay(last, live, recorded)
		if err != nil {
			t.Fatalf("%v: last %s", err, last.JSON())
		}
		merged, err := result.Merged()
		if err != nil {
			t.Fatal(err)
		}
		if notes := (Record{}).notesOf(merged); len(notes) != 1 || notes[0] != (Record{}).notesOf(recorded)[0] {
			t.Fatalf("the merged object has the records %v, want one", notes)
		}
		if _, again, err := r.Exchange(merged, desired); err != nil || !again.Equal(recorded) {
			t.Fatalf("then %v: %s\nnow %s", err, again.JSON(), recorded.JSON())
		}
	})
}
