package node

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/braid/internal/kinds"
)

// sameAsJSON verifies that FromObject makes of obj what json.Marshal and Parse do, and
// returns it.
func sameAsJSON(t testing.TB, obj any) *Tree {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatalf("%T: encoding/json: %v", obj, err)
	}
	want, err := Parse(text, Limits{})
	if err != nil {
		t.Fatalf("%T: %s: %v", obj, text, err)
	}
	got, err := FromObject(obj, Limits{})
	if err != nil {
		t.Fatalf("%T: %v\nwant %s", obj, err, text)
	}
	check(t, got)
	if string(got.JSON()) != string(want.JSON()) {
		t.Fatalf("%T:\n got %s\nwant %s", obj, got.JSON(), want.JSON())
	}
	if got.nulls != want.nulls {
		t.Fatalf("%T: nulls %v, want %v: %s", obj, got.nulls, want.nulls, text)
	}
	return got
}

// knownKinds returns the scheme of k8s.io/api and its kinds in a fixed order.
func knownKinds(t testing.TB) (*runtime.Scheme, []schema.GroupVersionKind) {
	t.Helper()
	scheme, err := kinds.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	var all []schema.GroupVersionKind
	for gvk := range scheme.AllKnownTypes() {
		all = append(all, gvk)
	}
	slices.SortFunc(all, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	if len(all) < 500 {
		t.Fatal("only", len(all), "kinds")
	}
	return scheme, all
}

// What k8s.io/api has of every kind with all fields filled: the typed object is the same
// tree as its JSON, and comes back from it unchanged.
func TestEveryKindFilled(t *testing.T) {
	scheme, err := kinds.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range kinds.Samples(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		file = filepath.Base(file)
		obj, err := scheme.New(kindOf(file))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := json.Unmarshal(text, obj); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		tree := sameAsJSON(t, obj)
		again := reflect.New(reflect.TypeOf(obj).Elem()).Interface()
		if err := tree.Decode(again); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if twice := sameAsJSON(t, again); !Equal(tree, 0, twice, 0) {
			t.Errorf("%s: decoded and read again:\n got %s\nwant %s", file, twice.JSON(), tree.JSON())
		}
	}
}

// kindOf reads the name of a file: group.version.Kind.json.
func kindOf(file string) schema.GroupVersionKind {
	parts := strings.Split(file, ".")
	n := len(parts) - 3
	group := strings.Join(parts[:n], ".")
	if group == "core" {
		group = ""
	}
	return schema.GroupVersionKind{Group: group, Version: parts[n], Kind: parts[n+1]}
}

// Every registered type: zero, by value, and filled at random.
func TestEveryKindAtRandom(t *testing.T) {
	scheme, all := knownKinds(t)
	for n, gvk := range all {
		obj, err := scheme.New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		sameAsJSON(t, obj)
		for seed := range uint64(6) {
			f := filler{rand.New(rand.NewPCG(seed, uint64(n)))}
			v := reflect.New(reflect.TypeOf(obj).Elem())
			f.fill(v.Elem(), 0)
			sameAsJSON(t, v.Interface())
			sameAsJSON(t, v.Elem().Interface())
		}
	}
}

// filler fills Go values at random.
type filler struct{ *rand.Rand }

var fillStrings = []string{"", "a", "web", "app.kubernetes.io/name", "<b>&\u2028\u2029", "line\nline\t\"q\"\\", "é\U0001F600", "\x00\x1f\x7f", strings.Repeat("long ", 20)}

func (f filler) text() string { return fillStrings[f.IntN(len(fillStrings))] }

func (f filler) fill(v reflect.Value, depth int) {
	if !v.CanSet() {
		return
	}
	if special := f.special(v.Type()); special != nil {
		v.Set(reflect.ValueOf(special))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, int64(f.Uint64()), math.MinInt64}[f.IntN(5)])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, f.Uint64(), math.MaxUint64}[f.IntN(4)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, -1.5, 1e21, 1e-9, f.NormFloat64()}[f.IntN(5)])
	case reflect.String:
		v.SetString(f.text())
	case reflect.Struct:
		for i := range v.NumField() {
			if depth < 3 || f.IntN(4) == 0 {
				f.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		if f.IntN(4) > 0 && depth < 12 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Slice, reflect.Map:
		f.fillMany(v, depth)
	}
}

// fillMany leaves a slice or map nil, or makes it empty or of a few elements.
func (f filler) fillMany(v reflect.Value, depth int) {
	n := f.IntN(4) - 1
	if n < 0 || depth >= 12 {
		return
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i), depth+1)
		}
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range n {
		key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, depth+1)
		f.fill(val, depth+1)
		v.SetMapIndex(key, val)
	}
}

// special returns a value of a type whose fields are not for everybody, or nil.
func (f filler) special(t reflect.Type) any {
	raw := []byte(`{"b":[1.0,{"z":null}],"a":"<\n","\u0063":"x"}`)
	at := time.Unix(f.Int64N(4e9), f.Int64N(1e9)).In(time.FixedZone("", 5400))
	switch f.IntN(8) {
	case 0:
		raw, at = nil, time.Time{}
	case 1:
		raw = []byte(` "text" `)
	}
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return f.quantity()
	case reflect.TypeFor[metav1.Time]():
		return metav1.NewTime(at)
	case reflect.TypeFor[metav1.MicroTime]():
		return metav1.NewMicroTime(at)
	case reflect.TypeFor[intstr.IntOrString]():
		return []intstr.IntOrString{{}, intstr.FromInt32(f.Int32()), intstr.FromString(f.text())}[f.IntN(3)]
	case reflect.TypeFor[runtime.RawExtension]():
		return runtime.RawExtension{Raw: raw}
	case reflect.TypeFor[metav1.FieldsV1]():
		return *metav1.NewFieldsV1(string(raw))
	}
	return nil
}

// quantity returns one that knows its text, or that does not.
func (f filler) quantity() resource.Quantity {
	q := resource.MustParse([]string{"0", "1", "500m", "128Mi", "1.5Gi", "1e3", "-3k", "0.1", "12345678901234567890123", "1n", "1023Ki", "100E", ".5"}[f.IntN(13)])
	if f.IntN(2) == 0 {
		q.Add(resource.MustParse("1m")) // forgets
	}
	switch f.IntN(8) {
	case 0:
		return resource.Quantity{}
	case 1:
		return *resource.NewQuantity(f.Int64(), resource.BinarySI)
	case 2:
		return *resource.NewScaledQuantity(f.Int64(), -9)
	}
	return q
}
