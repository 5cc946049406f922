package apply

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/compact"
	"example.com/braid/merge"
)

func doc(t testing.TB, json string) *merge.Doc {
	t.Helper()
	d, err := merge.Parse([]byte(json))
	if err != nil {
		t.Fatalf("%v in %.300s", err, json)
	}
	return d
}

func configMap(data, annotations string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{` + annotations + `}},"data":{` + data + `}}`
}

// noise returns n letters that hardly compress.
func noise(seed uint64, n int) string {
	rng, b := rand.New(rand.NewPCG(seed, 1)), make([]byte, n)
	for i := range b {
		b[i] = byte('!' + rng.IntN(90))
		if b[i] == '"' || b[i] == '\\' {
			b[i] = '.'
		}
	}
	return string(b)
}

// annotated returns an object with one more annotation.
func annotated(t testing.TB, d *merge.Doc, notes ...note) *merge.Doc {
	t.Helper()
	tree, err := parse("", d)
	if err != nil {
		t.Fatal(err)
	}
	return doc(t, string(writer{tree: tree}.object(nil, notes...)))
}

func keyOf(t testing.TB, d *merge.Doc) string {
	t.Helper()
	notes := (Record{}).notesOf(d)
	if len(notes) != 1 {
		t.Fatalf("%d records, want 1", len(notes))
	}
	return notes[0].key
}

func mergerOf(t testing.TB, kind string, p *merge.Policy) *merge.Merger {
	t.Helper()
	s, err := merge.SchemaFor(schema.GroupVersionKind{Version: "v1", Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	m, err := merge.New(merge.Options{Schema: s, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var policies = map[string]*merge.Policy{
	"Apply": &merge.Apply, "Strict": &merge.Strict, "Update": &merge.Update, "Branch": &merge.Branch,
}

// An object goes from one form to another and back. At each step, under every policy and
// in every format, the patch is not in conflict, leaves exactly the one record, and makes
// the next run write nothing.
func TestFormsFollowEachOther(t *testing.T) {
	small := configMap(`"k":"v"`, `"team":"a"`)
	zeros := configMap(`"k":"`+strings.Repeat("0", 200<<10)+`","l":"`+strings.Repeat("0", 80<<10)+`"`, `"team":"a"`)
	random := configMap(`"k":"`+noise(1, 330<<10)+`"`, `"team":"a"`)
	steps := []struct {
		name, desired, key string
		brief              bool
	}{
		{"created small", small, LastAppliedAnnotation, false},
		{"grown, compresses well", zeros, CompactAnnotation, false},
		{"does not compress", random, CompactAnnotation, true},
		{"small again", small, LastAppliedAnnotation, false},
	}
	for name, policy := range policies {
		for _, format := range []merge.PatchType{merge.StrategicPatch, merge.JSONMergePatch, merge.JSONPatch} {
			m := mergerOf(t, "ConfigMap", policy)
			var live *merge.Doc
			for _, step := range steps {
				at := fmt.Sprintf("%s, %s, %s", name, format.MediaType(), step.name)
				for again := range 2 {
					last, recorded, err := Record{}.Exchange(live, doc(t, step.desired))
					if err != nil {
						t.Fatalf("%s: %v", at, err)
					}
					if live == nil {
						live = recorded
						continue
					}
					r, err := m.ThreeWay(last, live, recorded)
					if err != nil {
						t.Fatalf("%s: %v", at, err)
					}
					if again == 1 && r.Changed() {
						t.Errorf("%s: applying again changes %d positions, want none", at, len(r.Edits()))
					}
					patch, err := r.Patch(format)
					if err != nil {
						t.Fatalf("%s: %.300v", at, err)
					}
					next, err := m.Patch(format, live, doc(t, string(patch)))
					if err != nil {
						t.Fatalf("%s: %.300v", at, err)
					}
					live = next
				}
				if got := keyOf(t, live); got != step.key {
					t.Errorf("%s: the record is in %s, want %s", at, got, step.key)
				}
				if got := (Record{}.stored(live)); got.brief != step.brief {
					t.Errorf("%s: digests %t, want %t", at, got.brief, step.brief)
				}
				got, err := Record{}.Read(live, nil)
				if step.brief {
					got, err = Record{}.Read(live, live)
				}
				if err != nil || !got.Equal(doc(t, step.desired)) {
					t.Errorf("%s: read %.300s (%v)", at, got.JSON(), err)
				}
			}
		}
	}
}

func TestWhatLiveSaysStays(t *testing.T) {
	desired := doc(t, configMap(`"k":"v"`, ``))
	_, recorded, err := Record{}.Exchange(nil, desired)
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := recorded.Text("metadata", "annotations", LastAppliedAnnotation)
	packed := pack([]byte(plain), false)
	other := `{"metadata":{"annotations":{}, "name":"a"},"data":{"k":"\u0076"},"kind":"ConfigMap","apiVersion":"v1"}`
	old := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{},"name":"a"},"data":{"k":"old"}}`
	tests := []struct {
		name string
		live []note
		want note
	}{
		{"the same bytes", []note{{LastAppliedAnnotation, plain}}, note{LastAppliedAnnotation, plain}},
		{"the same in another spelling", []note{{LastAppliedAnnotation, other}}, note{LastAppliedAnnotation, other}},
		{"the same in the compact form", []note{{CompactAnnotation, packed}}, note{CompactAnnotation, packed}},
		{"something else", []note{{LastAppliedAnnotation, old}}, note{LastAppliedAnnotation, plain}},
		{"kubectl's is later than ours", []note{{CompactAnnotation, packed}, {LastAppliedAnnotation, other}}, note{LastAppliedAnnotation, other}},
		{"nothing", []note{{LastAppliedAnnotation, ""}}, note{LastAppliedAnnotation, plain}},
		{"no JSON", []note{{LastAppliedAnnotation, "{"}}, note{LastAppliedAnnotation, plain}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, recorded, err := Record{}.Exchange(annotated(t, desired, test.live...), desired)
			if err != nil && !errors.Is(err, ErrRecord) {
				t.Fatal(err)
			}
			if got := (Record{}).notesOf(recorded); len(got) != 1 || got[0] != test.want {
				t.Errorf("got  %v\nwant %v", got, test.want)
			}
		})
	}
}

// A record that desired itself carries, as in a file that was read from a server, counts for nothing.
func TestRecordOfDesiredIsIgnored(t *testing.T) {
	desired := doc(t, configMap(`"k":"v"`, `"x":"y"`))
	exported := annotated(t, desired, note{CompactAnnotation, "x"}, note{LastAppliedAnnotation, `{"data":{"z":"1"}}`})
	last, recorded, err := Record{}.Exchange(nil, exported)
	if err != nil || last != nil {
		t.Fatalf("last %v, error %v", last, err)
	}
	_, want, err := Record{}.Exchange(nil, desired)
	if err != nil || !recorded.Equal(want) {
		t.Errorf("%v\ngot  %s\nwant %s", err, recorded.JSON(), want.JSON())
	}
	if got := Strip(recorded); !got.Equal(desired) {
		t.Errorf("stripped: got %s, want %s", got.JSON(), desired.JSON())
	}
	if got := Strip(desired); got != desired {
		t.Error("an object without a record is not the same after Strip")
	}
	bare := doc(t, `{"metadata":{"name":"a"}}`)
	if got := Strip(annotated(t, bare, note{CompactAnnotation, "x"})); !got.Equal(bare) {
		t.Errorf("stripped: got %s, want %s", got.JSON(), bare.JSON())
	}
}

// Annotations of others count against the limit, in live and in desired, each once.
func TestLimit(t *testing.T) {
	desired := doc(t, configMap(`"k":"`+strings.Repeat("0", 2000)+`"`, `"team":"a"`))
	_, recorded, err := Record{}.Exchange(nil, desired)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := recorded.Text("metadata", "annotations", LastAppliedAnnotation)
	packed := pack([]byte(text), false)
	plainRoom := annotationLimit - len(LastAppliedAnnotation) - len(text) - len("teama") - len("big")
	packedRoom := annotationLimit - len(CompactAnnotation) - len(packed) - len("teama") - len("big")
	tests := []struct {
		name, annotations, key string
	}{
		{"exactly fits", `"team":"b","big":"` + strings.Repeat("x", plainRoom) + `"`, LastAppliedAnnotation},
		{"one byte more", `"team":"b","big":"` + strings.Repeat("x", plainRoom+1) + `"`, CompactAnnotation},
		{"two values of one key", `"team":"bb","big":"` + strings.Repeat("x", plainRoom) + `"`, CompactAnnotation},
		{"others leave nothing", `"big":"` + strings.Repeat("x", packedRoom+200) + `"`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			last, recorded, err := Record{}.Exchange(doc(t, configMap(``, test.annotations)), desired)
			if test.key == "" {
				var e *merge.Error
				if !errors.Is(err, ErrRecordSize) || !errors.As(err, &e) || e.Doc != "desired" || e.Path.String() != "metadata.annotations" || last != nil || recorded != nil {
					t.Fatalf("got %v, want ErrRecordSize", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := keyOf(t, recorded); got != test.key {
				t.Errorf("the record is in %s, want %s", got, test.key)
			}
		})
	}
}

func TestUnreadableRecords(t *testing.T) {
	desired := doc(t, configMap(`"k":"v"`, `"team":"a"`))
	zeros := strings.Repeat("0", 65<<20)
	tests := []struct {
		name, key, text, detail string
	}{
		{"not JSON", LastAppliedAnnotation, `{"data":{"password":"hunter2"`, "not valid JSON"},
		{"no map", LastAppliedAnnotation, `["hunter2"]`, "a list"},
		{"a key twice", LastAppliedAnnotation, `{"a":"hunter2","a":1}`, "key repeated"},
		{"too deep", LastAppliedAnnotation, strings.Repeat("[", 2000), "over a limit"},
		{"not base64", CompactAnnotation, "hunter2!", "not base64"},
		{"not compressed", CompactAnnotation, "aHVudGVyMg==", "not compressed"},
		{"cut short", CompactAnnotation, pack([]byte(`{"a":"hunter2"}`), false)[:40], "not compressed"},
		{"a bomb", CompactAnnotation, pack([]byte(`{"a":"`+zeros+`"}`), false), "over a limit"},
		{"no map, compressed", CompactAnnotation, pack([]byte(`"hunter2"`), false), "a string"},
		{"of a later version", CompactAnnotation, compact.Pack(`{"version":2,"last":{}}`), "version"},
		{"no document", CompactAnnotation, compact.Pack(`{"version":1}`), "without a document"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			live := annotated(t, desired, note{test.key, test.text})
			last, recorded, err := Record{}.Exchange(live, desired)
			var e *merge.Error
			if !errors.Is(err, ErrRecord) || !errors.As(err, &e) || e.Doc != "live" || !strings.Contains(e.Path.String(), test.key) || !strings.Contains(err.Error(), test.detail) {
				t.Errorf("got error %v, want ErrRecord with %q", err, test.detail)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error quotes a value: %v", err)
			}
			if _, again := (Record{}).Read(live, desired); again == nil || again.Error() != err.Error() {
				t.Errorf("Read says %v, Exchange %v", again, err)
			}
			for name, policy := range policies {
				m := mergerOf(t, "ConfigMap", policy)
				r, err := m.ThreeWay(last, live, recorded)
				if err != nil {
					t.Fatal(err)
				}
				merged, err := r.Merged()
				if err != nil || !merged.Equal(recorded) || keyOf(t, merged) != LastAppliedAnnotation {
					t.Errorf("%s: the record is not mended: %v", name, err)
				}
			}
		})
	}
}

func TestDesiredIsChecked(t *testing.T) {
	tests := []struct {
		name, desired, want string
	}{
		{"a list", `[]`, "desired: wrong type: want a map, got a list"},
		{"metadata", `{"metadata":null}`, "desired: metadata: wrong type: want a map, got a null"},
		{"annotations", `{"metadata":{"annotations":[]}}`, "desired: metadata.annotations: wrong type: want a map, got a list"},
		{"data of a Secret", `{"apiVersion":"v1","kind":"Secret","data":"hunter2"}`, "desired: data: wrong type: a Secret holds no string there"},
		{"a number in a Secret", `{"apiVersion":"v1","kind":"Secret","stringData":{"pin":1234}}`, "desired: stringData.pin: wrong type: a Secret holds no number there"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := Record{HideSecrets: true}.Exchange(nil, doc(t, test.desired))
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	if _, _, err := (Record{}).Exchange(nil, nil); !errors.Is(err, merge.ErrType) {
		t.Errorf("without desired: %v, want ErrType", err)
	}
}

func TestSecretsAreHidden(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	desired := doc(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"type":"Opaque",
		"data":{"a":"`+b64([]byte("hunter2"))+`","empty":"","gone":null,"twice":"`+b64([]byte("lost"))+`"},
		"stringData":{"b":"correct horse","twice":"wins"}}`)
	for name, r := range map[string]Record{"no key": {HideSecrets: true}, "a key": {HideSecrets: true, DigestKey: []byte("k")}} {
		_, recorded, err := r.Exchange(nil, desired)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := recorded.Text("metadata", "annotations", LastAppliedAnnotation)
		for _, value := range []string{"hunter2", "correct horse", "lost", "wins"} {
			if strings.Contains(text, value) || strings.Contains(text, b64([]byte(value))) {
				t.Errorf("%s: the record holds %q: %s", name, value, text)
			}
		}
		live := annotated(t, doc(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"`+b64([]byte("hunter2"))+`","b":"`+b64([]byte("other"))+`"}}`), (Record{}).notesOf(recorded)...)
		last, err := r.Read(live, nil)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"a": b64([]byte("hunter2")), "empty": ""} {
			if got, ok := last.Text("data", key); !ok || got != want {
				t.Errorf("%s: data.%s is read as %q, want %q", name, key, got, want)
			}
		}
		if got, _ := last.Text("data", "b"); !strings.HasPrefix(got, digestPrefix) {
			t.Errorf("%s: data.b is read as %q, want a value that nobody has", name, got)
		}
		if got, _ := (Record{HideSecrets: true, DigestKey: []byte("another")}).Read(live, live); got.Equal(last) {
			t.Errorf("%s: another key reads the same", name)
		}
	}
	one, two := Record{}.digest("s", "a", "x"), Record{}.digest("s", "b", "x")
	if one == two || one == (Record{DigestKey: []byte("k")}).digest("s", "a", "x") {
		t.Error("a digest does not depend on the field or on the key")
	}
}

// What live says in the words of a digest, or of what stands for an unknown one, is not taken for it.
func TestDigestsAreUnambiguous(t *testing.T) {
	long := strings.Repeat("long ", 20)
	forged := Record{}.digest(long)
	for _, value := range []string{forged, digestPrefix + "short"} {
		was, err := parse("", doc(t, configMap(`"k":"`+value+`","l":"`+long+`"`, ``)))
		if err != nil {
			t.Fatal(err)
		}
		brief, err := Record{}.brief(was)
		if err != nil {
			t.Fatal(err)
		}
		live := annotated(t, doc(t, configMap(`"k":"`+value+`","l":"`+forged+`","m":"`+forged+`~"`, ``)), note{CompactAnnotation, pack(kubectlText(brief), true)})
		last, err := Record{}.Read(live, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := last.Text("data", "k"); got != value {
			t.Errorf("%q is read as %q", value, got)
		}
		if got, _ := last.Text("data", "l"); got == forged || got == forged+"~" {
			t.Errorf("a value that nobody has is read as %q, which live has", got)
		}
	}
}
