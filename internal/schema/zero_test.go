package schema

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/braid/internal/jsonfield"
	"example.com/braid/internal/kinds"
)

type Inline struct{ Told *int }

// A field tells zero from absence if it is a pointer, or of a type of which nobody knows
// what it makes of "" and 0.
func TestZeroOfGoFields(t *testing.T) {
	s, err := FromType(reflect.TypeFor[struct {
		Text     string
		Number   int32
		Float    float64
		Bool     bool
		List     []string
		Map      map[string]string
		Struct   struct{ Told *int }
		Bytes    []byte
		Array    [2]int
		Quantity resource.Quantity
		Either   intstr.IntOrString
		Time     metav1.Time
		Micro    metav1.MicroTime
		Duration metav1.Duration
		GoTime   time.Time

		Pointer, PointerToo *string
		QuantityPtr         *resource.Quantity
		ListPtr             *[]string
		Interface           any
		RawExtension        runtime.RawExtension // keeps {}
		RawMessage          json.RawMessage
		JSONNumber          json.Number // keeps 0
		Text2               netip.Addr
		Quoted              int `json:",string"` // "" is no number
		Inline
	}]())
	if err != nil {
		t.Fatal(err)
	}
	tells := []string{
		"Interface", "JSONNumber", "ListPtr", "Pointer", "PointerToo", "QuantityPtr", "Quoted", "RawExtension", "RawMessage", "Text2", "Told",
	}
	for _, f := range s.Root.Fields {
		want := ZeroIsAbsent
		if slices.Contains(tells, f.Name) {
			want = ZeroTells
		}
		if f.Zero != want {
			t.Errorf("%s: %d, want %d", f.Name, f.Zero, want)
		}
	}
}

// structs calls do with every struct of the kinds of k8s.io/api.
func structs(t *testing.T, do func(reflect.Type)) {
	t.Helper()
	scheme, err := kinds.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, typ.Kind()) {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		do(typ)
		for i := range typ.NumField() {
			visit(typ.Field(i).Type)
		}
	}
	for _, typ := range scheme.AllKnownTypes() {
		visit(typ)
	}
}

// Every line of the lists of facts is about fields that exist, and that could not tell
// zero from absence.
func TestFactsNameFields(t *testing.T) {
	left := map[string]bool{}
	for name, fields := range autos {
		for _, field := range fields {
			left[name+" "+field] = true
		}
	}
	for _, field := range metaAutos {
		left["meta "+field] = true
	}
	for name, pair := range aliases {
		left[name+" alias "+pair[0]], left[name+" alias "+pair[1]] = true, true
	}
	for _, name := range unions {
		left[name] = true
	}
	structs(t, func(typ reflect.Type) {
		name := unversioned(componentOf(typ))
		if strings.HasSuffix(typ.PkgPath(), "meta/v1") && typ.Name() == "ObjectMeta" {
			name = "meta"
		}
		delete(left, name)
		for _, f := range jsonfield.Of(typ) {
			delete(left, name+" alias "+f.Name)
			if f.Owner == typ && f.Type.Kind() != reflect.Pointer {
				delete(left, name+" "+f.Name)
			}
		}
	})
	for what := range left {
		t.Errorf("there is no such thing: %s", what)
	}
}

// A field without a pointer for which OpenAPI has a default gets it from a server.
func TestDefaultsAreAutos(t *testing.T) {
	table, defaulted := openTable(builtinTable), 0
	for n := range table.shapes {
		for _, f := range table.shape(n) {
			switch {
			case f.Zero == ZeroTells, slices.Contains([]string{"", `""`, "0", "false", "{}", "[]", "null"}, f.Type.Default):
			case f.Zero == ZeroIsAuto:
				defaulted++
			default:
				t.Errorf("%s has default %s", f.Name, f.Type.Default)
			}
		}
	}
	if defaulted < 10 {
		t.Errorf("only %d fields have defaults", defaulted)
	}
}
