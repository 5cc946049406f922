package oracle

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubectl/pkg/util"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// kubectl returns what kubectl apply records of an object in JSON.
func kubectl(json []byte) (string, error) {
	obj, err := runtime.Decode(unstructured.UnstructuredJSONScheme, json)
	if err != nil {
		return "", err
	}
	text, err := util.GetModifiedConfiguration(obj, false, unstructured.UnstructuredJSONScheme)
	return string(text), err
}

// ours returns what Exchange records of it, in whichever form.
func ours(json []byte) (text, key string, err error) {
	doc, err := merge.Parse(json)
	if err != nil {
		return "", "", err
	}
	_, recorded, err := apply.Record{}.Exchange(nil, doc)
	if err != nil {
		return "", "", err
	}
	for _, key := range []string{apply.LastAppliedAnnotation, apply.CompactAnnotation} {
		if text, ok := recorded.Text("metadata", "annotations", key); ok {
			return text, key, nil
		}
	}
	return "", "", fmt.Errorf("no record in %.200s", recorded.JSON())
}

// What we write is what kubectl writes, byte for byte, for all real objects at hand: the
// large ones are compact, and say the same.
func TestRecordIsKubectls(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	samples, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "testdata", "HEAD", "*.json"))
	if len(samples) == 0 {
		t.Fatal("k8s.io/api has no testdata/HEAD")
	}
	corpus, _ := filepath.Glob("../../../shared/corpus/*.yaml")
	if len(corpus) == 0 && os.Getenv("BRAID_REQUIRE") != "" {
		t.Fatal("not found: the corpus of real manifests, shared/corpus beside the project")
	}
	objects, compact := 0, 0
	for _, file := range append(samples, corpus...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
		for n := 0; ; n++ {
			raw := runtime.RawExtension{}
			if decoder.Decode(&raw) != nil {
				break // the end, or a template that is no YAML
			}
			if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
				continue
			}
			want, err := kubectl(raw.Raw)
			if err != nil || strings.HasPrefix(want, `{"items"`) || bytes.Contains(raw.Raw, []byte(`"items":[{"apiVersion"`)) {
				continue // no object, or a list, of which kubectl applies the items
			}
			got, key, err := ours(raw.Raw)
			if err != nil {
				t.Errorf("%s, document %d: %v, but kubectl records it", filepath.Base(file), n, err)
				continue
			}
			objects++
			if key == apply.CompactAnnotation {
				compact++
				if len(want) < 200<<10 {
					t.Errorf("%s, document %d: compact, though plain is %d bytes", filepath.Base(file), n, len(want))
				}
				continue
			}
			if got != want {
				t.Errorf("%s, document %d: got\n%s\nwant\n%s", filepath.Base(file), n, got, want)
			}
		}
	}
	t.Logf("%d objects, %d of them compact", objects, compact)
	if objects < len(samples)/2 {
		t.Errorf("only %d objects of %d files", objects, len(samples))
	}
}

func TestOddObjects(t *testing.T) {
	const head = `{"apiVersion":"v1","kind":"ConfigMap"`
	tests := map[string]string{
		"no metadata":          head + `}`,
		"empty metadata":       head + `,"metadata":{}}`,
		"no annotations":       head + `,"metadata":{"name":"a","zone":1,"aa":2}}`,
		"empty annotations":    head + `,"metadata":{"annotations":{}}}`,
		"null annotations":     head + `,"metadata":{"annotations":null}}`,
		"a null annotation":    head + `,"metadata":{"annotations":{"a":null,"b":"x"}}}`,
		"annotations around":   head + `,"metadata":{"annotations":{"a":"1","zz":"2","kubectl.kubernetes.io/last-applied":"3"}}}`,
		"its own annotation":   head + `,"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","z":""}}}`,
		"null timestamp":       head + `,"metadata":{"creationTimestamp":null,"name":"a"},"status":{}}`,
		"order of keys":        `{"zz":1,"metadata":{"name":"b"},"kind":"K","apiVersion":"v1","a":{"é":1,"z":2,"\ud83d\ude00":3,"\uffff":4,"":5}}`,
		"whole numbers":        head + `,"n":[0,-0,1,-1,9223372036854775807,-9223372036854775808]}`,
		"fractions":            head + `,"n":[1.0,-0.0,0.5,0.1,1.10,123456.789e3]}`,
		"exponents":            head + `,"n":[1e3,1E3,1e+3,1e-7,1e-6,1e20,1e21,1.5e300,100000000000000000000,1000000000000000000000]}`,
		"what HTML escapes":    head + `,"data":{"a<b>&c":"<script>&amp;</script>"}}`,
		"line separators":      head + `,"data":{"a":"\u2028\u2029"}}`,
		"escapes":              head + `,"data":{"\"\\\/\b\f\n\r\t":"\"\\\/\b\f\n\r\t\u0000\u001f\u007f"}}`,
		"escaped escapes":      head + `,"data":{"a":"\\u003c\\n\\\\"}}`,
		"unicode":              head + `,"data":{"ключ":"значение 😀 \ud83d\ude00 \u00e9"}}`,
		"nulls and empties":    head + `,"a":null,"b":{},"c":[],"d":"","e":[null,{},[]],"f":false}`,
		"odd number and nulls": head + `,"metadata":{"annotations":{"a":null}},"n":1.0}`,
	}
	for name, json := range tests {
		t.Run(name, func(t *testing.T) {
			want, err := kubectl([]byte(json))
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := ours([]byte(json)); err != nil || got != want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
			}
		})
	}
}

// Where a float64 does not hold all digits, kubectl records another number, and refuses
// what is out of its range. Ours stays exact.
func TestDigitsThatKubectlLoses(t *testing.T) {
	for number, theirs := range map[string]string{
		"9223372036854775809":      "9223372036854776000",
		"18446744073709551615":     "18446744073709552000",
		"0.12345678901234567890":   "0.12345678901234568",
		"9007199254740993.0":       "9007199254740992",
		"3.14159265358979323846e5": "314159.26535897935",
		"1e400":                    "",
	} {
		json := `{"apiVersion":"v1","kind":"K","n":` + number + `}`
		text := func(n string) string {
			return `{"apiVersion":"v1","kind":"K","metadata":{"annotations":{}},"n":` + n + "}\n"
		}
		got, err := kubectl([]byte(json))
		if theirs == "" {
			if err == nil {
				t.Errorf("%s: kubectl records %s, want it refused", number, got)
			}
		} else if err != nil || got != text(theirs) {
			t.Errorf("%s: kubectl records %s (%v), want %s", number, got, err, text(theirs))
		}
		if got, _, err := ours([]byte(json)); err != nil || got != text(number) {
			t.Errorf("%s: we record %s (%v), want it exact", number, got, err)
		}
	}
}
