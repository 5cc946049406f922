//lint:file-ignore SA5008 The tags are wrong on purpose: what is read from them is the test.
//lint:file-ignore U1000 So are the unexported fields.

package schema

import (
	"encoding/json"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/braid/internal/node"
)

type embedded struct {
	Inner string `json:"inner"`
	Both  string `json:"both"`
}

type outer struct {
	embedded
	Named    embedded          `json:"named"`
	Both     int               `json:"both"`
	Skipped  string            `json:"-"`
	Dash     string            `json:"-,"`
	hidden   string            //
	Untagged bool              //
	Next     *outer            `json:"next,omitempty"`
	List     []*embedded       `json:"list" patchStrategy:"merge" patchMergeKey:"inner"`
	Volumes  *[]embedded       `json:"volumes" patchStrategy:"merge,retainKeys" patchMergeKey:"inner"`
	Set      []string          `json:"set" patchStrategy:"merge"`
	Raw      []byte            `json:"raw" patchStrategy:"replace"`
	Map      map[string]*outer `json:"map"`
	Union    *embedded         `json:"union" patchStrategy:"retainKeys"`
	Whole    embedded          `json:"whole" patchStrategy:"replace"`
}

func TestFromType(t *testing.T) {
	s, err := FromType(reflect.TypeFor[outer]())
	if err != nil {
		t.Fatal(err)
	}
	everyType(s.Root, map[*Type]bool{}, func(typ *Type) { holds(t, "outer", typ) })
	var names []string
	for _, f := range s.Root.Fields {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "- Untagged both inner list map named next raw set union volumes whole" {
		t.Errorf("fields %s", got)
	}
	field := func(name string) *Type { f, _ := s.Root.Lookup(name); return f }
	if field("next") != s.Root || field("map").Elem != s.Root {
		t.Error("the type is not the one it refers to")
	}
	if field("both").Kind != Integer {
		t.Error("the outer field wins over the embedded one")
	}
	if r := field("list").Strategic; r.Merge != Keyed || r.Keys[0].Name != "inner" || r.RetainKeys || field("list").Elem != field("named") {
		t.Errorf("list %+v", field("list"))
	}
	if v := field("volumes"); !v.Strategic.RetainKeys || v.Structured.Merge != Keyed || v.Structured.RetainKeys {
		t.Errorf("volumes %+v", v)
	}
	if field("set").Strategic.Merge != Set || field("raw").Kind != Bytes || !field("union").Strategic.RetainKeys {
		t.Error("set, raw or union")
	}
	if w := field("whole"); w.Strategic.Merge != Atomic || w.Structured.Merge != Granular || len(w.Fields) != 2 {
		t.Errorf("whole %+v", w)
	}
}

type (
	byteOfItsOwn byte
	recursive    []recursive
	panics       struct{ *metav1.Time }
)

func (byteOfItsOwn) MarshalText() ([]byte, error) { return nil, nil }

// The kind of a Go type is that of the JSON which encoding/json writes of it.
func TestGoKinds(t *testing.T) {
	s, err := FromType(reflect.TypeFor[struct {
		Quantity     resource.Quantity
		QuantityPtr  *resource.Quantity
		Time         metav1.Time
		MicroTime    *metav1.MicroTime
		Duration     metav1.Duration
		IntOrString  intstr.IntOrString
		RawExtension runtime.RawExtension
		FieldsV1     metav1.FieldsV1
		GoTime       time.Time
		GoDuration   time.Duration
		JSONNumber   json.Number
		RawMessage   json.RawMessage
		Text         netip.Addr
		Interface    any
		Bytes        []byte
		ByteArray    [4]byte
		OwnBytes     []byteOfItsOwn
		Float        float32
		Quoted       int64        `json:",string"`
		QuotedText   byteOfItsOwn `json:",string"`
		Recursive    recursive
		Panics       panics
		Func         func()
	}]())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Kind{
		"Quantity": Quantity, "QuantityPtr": Quantity, "Time": Time, "MicroTime": Time, "Duration": Duration,
		"IntOrString": IntOrString, "RawExtension": Any, "FieldsV1": Any, "GoTime": Time, "GoDuration": Integer,
		"JSONNumber": Number, "RawMessage": Any, "Text": String, "Interface": Any, "Bytes": Bytes,
		"ByteArray": List, // base64 is for slices
		"OwnBytes":  List, // and for bytes without a form of their own
		"Float":     Number, "Quoted": String, "QuotedText": String, "Recursive": List,
		"Panics": Any, // its methods are those of a nil pointer
		"Func":   Any, // encoding/json writes none
	}
	for _, f := range s.Root.Fields {
		if f.Type.Kind != want[f.Name] {
			t.Errorf("%s is of kind %d, want %d", f.Name, f.Type.Kind, want[f.Name])
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("without %v", want)
	}
	if raw, _ := s.Root.Lookup("RawExtension"); raw.Structured.Merge != Atomic {
		t.Error("a RawExtension is one value to server-side apply")
	}
}

// What cannot be merged as its tags say is an error with the path of the field.
func TestFromTypeErrors(t *testing.T) {
	type noKey struct {
		Spec struct {
			List []embedded `json:"list" patchStrategy:"merge"`
		} `json:"spec"`
	}
	type wrongKey struct {
		List []embedded `json:"list" patchStrategy:"merge" patchMergeKey:"nmae"`
	}
	type unknown struct {
		Map map[string][]struct {
			A []string `json:"a" patchStrategy:"merge,retainkeys"`
		} `json:"map"`
	}
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[noKey]():    "schema: spec.list: malformed schema: in Go type schema.noKey: patch strategy merge on a list of maps needs a patch merge key",
		reflect.TypeFor[wrongKey](): `schema: list: malformed schema: in Go type schema.wrongKey: the elements of the list have no key field "nmae"`,
		reflect.TypeFor[unknown]():  `schema: map["*"][0].a: malformed schema: in Go type schema.unknown: patch strategy "retainkeys" is none of merge, replace and retainKeys`,
		reflect.TypeFor[int]():      "schema: malformed schema: Go type int is not a struct",
		reflect.TypeFor[*outer]():   "schema: malformed schema: Go type *schema.outer is not a struct",
		nil:                         "schema: malformed schema: Go type nil is not a struct",
	} {
		_, err := FromType(typ)
		var e *node.Error
		if err == nil || err.Error() != want || !errors.Is(err, ErrSchema) || !errors.As(err, &e) {
			t.Errorf("%v: %v, want %s", typ, err, want)
		}
	}
}

type (
	Deep    struct{ X, Y, Z int }
	Left    struct{ Deep }
	Right   struct{ X string }
	OneA    struct{ A int }
	OneATwo struct{ A int }
	TaggedA struct {
		B string `json:"A"`
	}
	Twice  struct{ Deep }
	cyclic struct {
		*cyclic
		C int
	}
	notStruct int
)

// Of fields with one name encoding/json decides which is written. It is asked itself.
func TestFieldsAreThoseOfJSON(t *testing.T) {
	for _, c := range []struct {
		why   string
		value any
	}{
		{"the less deep field wins, also if it comes later", struct {
			Left
			Right
		}{}},
		{"of two as deep the tagged one wins", struct {
			OneA
			TaggedA
		}{}},
		{"of two as deep without tags neither does", struct {
			OneA
			OneATwo
		}{}},
		{"a struct embedded twice hides its own fields", struct {
			Left
			Twice
		}{}},
		{"an embedded struct with a name is a field", struct {
			Deep `json:"deep"`
		}{}},
		{"an embedded pointer is followed", struct{ *Deep }{&Deep{}}},
		{"and may lead back", cyclic{cyclic: nil}},
		{"fields of an unexported embedded struct are written", struct{ embedded }{}},
		{"an unexported embedded scalar is not", struct {
			notStruct
			A int
		}{}},
		{"inline is no word of encoding/json", struct {
			A Deep `json:",inline"`
		}{}},
		{"names with quotes are none", struct {
			A int `json:"a\"b"`
			B int `json:"c/d"`
			C int `json:"-"`
			D int `json:"-,"`
		}{}},
	} {
		s, err := FromType(reflect.TypeOf(c.value))
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		data, err := json.Marshal(c.value)
		if err != nil {
			t.Fatal(err)
		}
		var written map[string]any
		if err := json.Unmarshal(data, &written); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Root.Fields {
			v, ok := written[f.Name]
			if _, number := v.(float64); !ok || number != (f.Type.Kind == Integer) {
				t.Errorf("%s: %s is %v", c.why, f.Name, v)
			}
			delete(written, f.Name)
		}
		if len(written) > 0 {
			t.Errorf("%s: without %v", c.why, written)
		}
	}
}
