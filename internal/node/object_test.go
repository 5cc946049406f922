//lint:file-ignore SA5008 the tags are odd on purpose: encoding/json takes them

package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type (
	inner struct {
		A, B int
		C    string `json:"c,omitempty"`
	}
	Outer struct {
		A string `json:"A"` // tagged, so it hides inner's
		Z int    `json:"z"`
	}
	Named  struct{ N int }
	Scalar int
	Loop   struct{ *Loop }
	list   []*list
	Tree2  struct{ Kids map[string]*Tree2 }
	byte2  byte
	labels map[string]string
	ratio  float32

	byValue   struct{ s string }
	byAddress struct{ S string }
	textValue struct{ s string }
	textAddr  struct{ S string }
	both      struct{ S string } // text by value, JSON by address
	byteText  byte               // a slice of them is a list
	onMap     map[string]int
	onNil     struct{}

	zeroValue   struct{ V int } // IsZero if V is 7
	zeroAddress struct{ V int }
	zeroer      interface{ IsZero() bool }
)

func (v byValue) MarshalJSON() ([]byte, error) { return json.Marshal("value " + v.s) }
func (v *byAddress) MarshalJSON() ([]byte, error) {
	return []byte(` { "z" : [ 1.50 , "\u0041\n" , null , {} ] , "\u0061": {"x\n":1e3} } `), nil
}
func (v textValue) MarshalText() ([]byte, error) { return []byte("text " + v.s), nil }
func (v *textAddr) MarshalText() ([]byte, error) { return []byte("<" + v.S + ">"), nil }
func (v both) MarshalText() ([]byte, error)      { return []byte("text " + v.S), nil }
func (v *both) MarshalJSON() ([]byte, error)     { return json.Marshal([]string{v.S}) }
func (v byteText) MarshalText() ([]byte, error)  { return []byte{'b', '0' + byte(v)%10}, nil }
func (v onMap) MarshalJSON() ([]byte, error)     { return strconv.AppendInt(nil, int64(len(v)), 10), nil }
func (v *onNil) MarshalJSON() ([]byte, error)    { return []byte(`"here"`), nil }
func (v zeroValue) IsZero() bool                 { return v.V == 7 }
func (v *zeroAddress) IsZero() bool              { return v.V == 7 }

func ptr[T any](v T) *T { return &v }

// oddities are Go values with a JSON form that needs a rule of encoding/json's.
var oddities = map[string]any{
	"nil":                  nil,
	"nil pointer":          (*inner)(nil),
	"nil map":              map[string]int(nil),
	"nil slice":            []int(nil),
	"pointers":             ptr(ptr(ptr("x"))),
	"pointer to nil":       ptr((*int)(nil)),
	"scalars":              []any{true, false, "<é\"\n\u2028>", Scalar(-3), int8(-128), uint16(9), uintptr(8), 1.5, ratio(0.1), float32(1e-7), 1e21, math.MaxFloat64, uint64(math.MaxUint64)},
	"json.Number":          []any{json.Number("1.00"), json.Number(""), struct{ N json.Number }{"-0e5"}, struct{ N json.Number }{}},
	"bytes":                []any{[]byte{0xff, 0}, []byte{}, []byte(nil), []byte2{1, 2}, []byteText{1, 2}, [3]byte{1, 2, 3}, ptr([]byte("x"))},
	"arrays":               []any{[0]int{}, [2]string{"a", ""}, [2]byAddress{}, ptr([2]byAddress{})},
	"int keys":             map[int]string{10: "a", 9: "b", -1: "c"},
	"uint keys":            map[uint8]any{10: nil, 9: 1},
	"named keys":           map[Scalar]Scalar{1: 2},
	"text keys":            map[textValue]int{{"b"}: 1, {"a"}: 2},
	"text keys of numbers": map[byteText]int{1: 1, 0: 2},
	"netip keys":           map[netip.Addr]int{netip.MustParseAddr("10.0.0.1"): 1},
	"pointer keys":         map[*textAddr]int{{"b"}: 1, nil: 2},
	"keys with escapes":    map[string][]int{"a\n": {1}, "\"": nil, "": {}, "<": {2}},
	"named map of strings": labels{"b": "2", "a": "1"},
	"pointer to map":       ptr(map[string]string{"a": "1"}),
	"maps of maps":         map[string]map[string]map[string]int{"b": {"y": {"q": 1, "p": 2}, "x": nil}, "a": {}},
	"maps of structs":      map[string]inner{"b": {A: 1}, "a": {C: "c"}},
	"maps of any":          map[string]any{"b": inner{}, "a": &inner{A: 1}, "c": map[string]any{"x": []any{[]int{1}, nil}}},
	"interfaces":           []any{struct{ X any }{inner{A: 1}}, struct{ X any }{&inner{}}, struct{ X any }{}, struct{ X any }{(*inner)(nil)}, ptr(any(ptr(any(1))))},
	"an error":             struct{ E error }{},
	"embedded":             struct{ inner }{inner{A: 1, C: "c"}},
	"embedded pointer":     []any{struct{ *Outer }{}, struct{ *Outer }{&Outer{"x", 1}}},
	"embedded, exported": struct {
		Outer
		Named `json:",inline"`
	}{},
	"embedded under a name": struct {
		Outer `json:"outer"`
		inner
	}{},
	"embedded hidden under a name": struct {
		inner `json:"x"`
	}{inner{A: 3}},
	"embedded scalar":       struct{ Scalar }{5},
	"embedded any":          struct{ json.Marshaler }{byValue{"x"}},
	"embedded with methods": struct{ byAddress }{},
	"a tag wins": struct {
		inner
		Outer
	}{inner{A: 1, B: 2}, Outer{"a", 3}},
	"the shallow wins": struct {
		inner
		A bool
	}{A: true},
	"a tie has neither": struct {
		inner
		Named
		X struct{ N int }
		Y struct{ N int } `json:"X"`
	}{},
	"two of one depth": struct {
		inner
		E struct{ inner }
		F struct {
			inner
			*Outer
		}
	}{},
	"twice embedded": struct {
		L struct{ Named }
		A
		B
	}{},
	"itself embedded": Loop{&Loop{}},
	"names": struct {
		a, B int
		C    int `json:"-"`
		D    int `json:"-,"`
		E    int `json:"bad\\name"`
		F    int `json:"q'r"`
		G    int `json:"ключ-1/x.y"`
		H    int `json:"<&>"`
		I    int `json:",omitempty"`
		J    int `yaml:"j"`
	}{},
	"omitempty": []any{emptyFields{}, emptyFields{
		B: true, I: 1, F: 1, S: "s", P: new(int), Any: 0, L: []int{0}, M: map[string]int{"": 0}, Ar: [1]int{},
	}, emptyFields{L: []int{}, M: map[string]int{}, Any: (*int)(nil)}},
	"omitzero": []any{zeroFields{}, zeroFields{
		I: 1, S: inner{A: 1}, T: time.Unix(1, 0).UTC(), V: zeroValue{7}, A: zeroAddress{7}, PV: &zeroValue{7}, PA: &zeroAddress{7},
		Z: zeroValue{7}, L: []int{}, Any: 0, Ar: [2]int{0, 1}, Both: []int{},
	}, &zeroFields{V: zeroValue{8}, A: zeroAddress{8}, PV: &zeroValue{8}, PA: &zeroAddress{}, Z: (*zeroAddress)(nil)}, zeroFields{Z: zeroValue{8}}},
	"omitzero in a map": map[string]zeroFields{"a": {A: zeroAddress{7}}, "b": {A: zeroAddress{8}}},
	"string": []any{quotedFields{}, quotedFields{
		B: true, I: -1, U: 2, F: 1e-9, S: "a\"<\n", N: "1.0", PI: ptr(3), PS: ptr("p"), L: []int{1}, T: 4, M: textValue{"m"}, PB: ptr(false),
	}},
	"marshalers by value":   []any{byValue{"<a"}, &byValue{"b"}, (*byValue)(nil), struct{ V *byValue }{}, struct{ V byValue }{}, map[string]byValue{"x": {}}, []byValue{{"c"}}},
	"marshalers by address": []any{byAddress{"a"}, &byAddress{"b"}, (*byAddress)(nil), struct{ V byAddress }{}, &struct{ V byAddress }{}, map[string]byAddress{"x": {}}, []byAddress{{"c"}}, [1]byAddress{}},
	"texts":                 []any{textValue{"a"}, &textValue{"\n"}, (*textValue)(nil), textAddr{"a"}, &textAddr{"b"}, []textAddr{{"c"}}, map[string]textAddr{"x": {"d"}}},
	"text or JSON":          []any{both{"a"}, &both{"b"}, []both{{"c"}}, [1]both{{"d"}}, struct{ B both }{}, &struct{ B both }{}},
	"a map that marshals":   []any{onMap{"a": 1}, onMap(nil), ptr(onMap{}), struct{ M onMap }{}},
	"nil that marshals":     struct{ A, B *onNil }{B: &onNil{}},
	"an interface's nil":    struct{ M, N json.Marshaler }{N: byValue{"n"}},
	"RawMessage":            []any{json.RawMessage(` {"b":1, "a":"\u00e9"} `), ptr(json.RawMessage(`"x"`)), json.RawMessage(nil), struct{ R json.RawMessage }{}, map[string]json.RawMessage{"k": json.RawMessage("[0.10]")}},
	"of the library":        []any{time.Unix(1, 5).UTC(), time.Second, big.NewInt(1 << 60), netip.MustParseAddr("::1")},
	"unstructured":          []any{&unstructured.Unstructured{Object: map[string]any{"kind": "X", "l": []any{int64(1), 0.5, nil}}}, unstructured.Unstructured{Object: map[string]any{"a": "b"}}, &unstructured.Unstructured{}, (*unstructured.Unstructured)(nil), []unstructured.Unstructured{{Object: map[string]any{}}}},
	"unstructured list":     &unstructured.UnstructuredList{Object: map[string]any{"kind": "List"}, Items: []unstructured.Unstructured{{Object: map[string]any{"kind": "X"}}}},
	"quantities":            []any{resource.MustParse("1.50"), ptr(resource.MustParse("0.1Gi")), resource.Quantity{}, (*resource.Quantity)(nil), *resource.NewMilliQuantity(1500, resource.DecimalSI), map[string]resource.Quantity{"x": *resource.NewQuantity(3<<30, resource.BinarySI)}},
	"times":                 []any{metav1.Time{}, (*metav1.Time)(nil), metav1.Unix(1, 2), ptr(metav1.NewMicroTime(time.Unix(1, 2000))), metav1.MicroTime{}, metav1.Duration{Duration: time.Minute}},
	"ports":                 []any{intstr.FromInt32(-1), ptr(intstr.FromString("<a>")), intstr.IntOrString{}},
	"extensions":            []any{runtime.RawExtension{Raw: []byte(`{"a": 1}`)}, runtime.RawExtension{}, &runtime.RawExtension{Object: &corev1.Pod{}}},
	"recursive":             []any{list{nil, {}, {nil}}, Tree2{map[string]*Tree2{"b": {}, "a": nil}}},
	"of its own name":       struct{ Quantity namesake }{},
}

type (
	// A and B embed one type at one depth, which hides its fields.
	A struct{ Named }
	B struct{ Named }

	namesake struct{ Object map[string]any }

	emptyFields struct {
		B   bool           `json:",omitempty"`
		I   int            `json:",omitempty"`
		F   float64        `json:",omitempty"`
		S   string         `json:",omitempty"`
		P   *int           `json:",omitempty"`
		Any any            `json:",omitempty"`
		L   []int          `json:",omitempty"`
		M   map[string]int `json:",omitempty"`
		Ar  [1]int         `json:",omitempty"`
		A0  [0]int         `json:",omitempty"`
		St  inner          `json:",omitempty"`
		T   time.Time      `json:",omitempty"`
	}

	zeroFields struct {
		I    int          `json:",omitzero"`
		S    inner        `json:",omitzero"`
		T    time.Time    `json:",omitzero"`
		V    zeroValue    `json:",omitzero"`
		A    zeroAddress  `json:",omitzero"`
		PV   *zeroValue   `json:",omitzero"`
		PA   *zeroAddress `json:",omitzero"`
		Z    zeroer       `json:",omitzero"`
		L    []int        `json:",omitzero"`
		Any  any          `json:",omitzero"`
		Ar   [2]int       `json:",omitzero"`
		Both []int        `json:",omitzero,omitempty"`
		M    metav1.Time  `json:",omitempty,omitzero"`
	}

	quotedFields struct {
		B  bool        `json:",string"`
		I  int         `json:",string"`
		U  uint8       `json:",string"`
		F  float32     `json:",string"`
		S  string      `json:",string"`
		N  json.Number `json:",string"`
		PI *int        `json:",string"`
		PS *string     `json:",string"`
		PB *bool       `json:",string,omitempty"`
		L  []int       `json:",string"`
		T  Scalar      `json:",string"`
		M  textValue   `json:",string"`
		An any         `json:",string"`
	}
)

func TestOddities(t *testing.T) {
	for name, obj := range oddities {
		t.Run(name, func(t *testing.T) {
			sameAsJSON(t, obj)
			sameAsJSON(t, &obj)
			sameAsJSON(t, map[string]any{"in": []any{obj}})
		})
	}
}

type (
	failing     struct{ secret string }
	failingText string
	nonsense    struct{ text string }
	hidden      struct{ S string }
)

func (f failing) MarshalJSON() ([]byte, error) { return nil, errors.New("cannot write " + f.secret) }
func (f failingText) MarshalText() ([]byte, error) {
	return nil, errors.New("cannot write " + string(f))
}
func (n nonsense) MarshalJSON() ([]byte, error) { return []byte(n.text), nil }
func (h hidden) MarshalJSON() ([]byte, error)   { return []byte("1"), nil }

func TestFromObjectErrors(t *testing.T) {
	circle := map[string]any{}
	circle["c"] = &circle
	var knot any
	knot = &knot
	ring := &Tree2{Kids: map[string]*Tree2{}}
	ring.Kids["r"] = ring
	chain := list{nil}
	chain[0] = &chain
	for name, c := range map[string]struct {
		in   any
		lim  Limits
		rule error
		path string
		part string
	}{
		"channel":          {map[string]chan int{"k": nil}, Limits{}, ErrValue, "l[1].k", "chan int"},
		"function":         {struct{ F func() }{}, Limits{}, ErrValue, "l[1].F", "func()"},
		"complex":          {[]complex128{1}, Limits{}, ErrValue, "l[1][0]", "complex128"},
		"keys":             {map[float64]int{1: 1}, Limits{}, ErrValue, "l[1]", "map[float64]int"},
		"no number":        {struct{ N float64 }{math.NaN()}, Limits{}, ErrValue, "l[1].N", "NaN"},
		"json.Number":      {struct{ N json.Number }{"hunter2"}, Limits{}, ErrValue, "l[1].N", "json.Number"},
		"text":             {inner{C: "hunter2\xff"}, Limits{}, ErrValue, "l[1].c", "UTF-8"},
		"text in quotes":   {quotedFields{S: "hunter2\xff"}, Limits{}, ErrValue, "l[1].S", "UTF-8"},
		"key":              {map[string]string{"hunter2\xff": ""}, Limits{}, ErrValue, "l[1]", "UTF-8"},
		"port":             {intstr.FromString("hunter2\xff"), Limits{}, ErrValue, "l[1]", "UTF-8"},
		"port of no type":  {intstr.IntOrString{Type: 9, StrVal: "hunter2"}, Limits{}, ErrValue, "l[1]", "MarshalJSON of intstr.IntOrString failed"},
		"marshaler":        {struct{ F failing }{failing{"hunter2"}}, Limits{}, ErrValue, "l[1].F", "MarshalJSON of node.failing failed"},
		"text marshaler":   {struct{ F failingText }{"hunter2"}, Limits{}, ErrValue, "l[1].F", "MarshalText of node.failingText failed"},
		"text marshaled":   {textValue{"hunter2\xff"}, Limits{}, ErrValue, "l[1]", "UTF-8"},
		"key marshaler":    {map[failingKey]int{{"hunter2"}: 1}, Limits{}, ErrValue, "l[1]", "node.failingKey"},
		"marshals nothing": {nonsense{""}, Limits{}, ErrSyntax, "l[1]", ""},
		"marshals half":    {nonsense{`{"a":{"b":"hunter2`}, Limits{}, ErrSyntax, "l[1].a.b", "without an end"},
		"marshals two":     {nonsense{`"hunter2" "hunter2"`}, Limits{}, ErrSyntax, "l[1]", "data after the value"},
		"marshals twice":   {nonsense{`{"a":1,"a":"hunter2"}`}, Limits{}, ErrDuplicateKey, "l[1].a", "more than once"},
		"marshals deep":    {nonsense{`[[[]]]`}, Limits{Depth: 4}, ErrLimit, "l[1][0][0]", "deeper than 4"},
		"marshals many":    {nonsense{`[1,2,3]`}, Limits{Nodes: 6}, ErrLimit, "l[1]", "more than 6 values"},
		"marshals much":    {nonsense{`"` + strings.Repeat("x", 99) + `"`}, Limits{Bytes: 99}, ErrLimit, "l[1]", "more than 99 bytes"},
		"bytes":            {make([]byte, 99), Limits{Bytes: 99}, ErrLimit, "l[1]", "more than 99 bytes"},
		"two keys of one":  {map[textValue2]int{{"x", 1}: 1, {"x", 2}: 2}, Limits{}, ErrDuplicateKey, "l[1].x", "more than once"},
		"hidden marshaler": {struct { // neither method is that of the whole
			hidden  `json:"h"`
			byValue `json:"v"`
		}{}, Limits{}, ErrValue, "l[1].h", "node.hidden"},
		"circle of maps":     {circle, Limits{Depth: 5}, ErrLimit, "l[1].c.c.c", "deeper than 5"},
		"circle of pointers": {knot, Limits{Depth: 5}, ErrLimit, "l[1]", "pointers in a row"},
		"circle of structs":  {ring, Limits{Depth: 5}, ErrLimit, "l[1].Kids.r.Kids", "deeper than 5"},
		"circle of slices":   {chain, Limits{Depth: 5}, ErrLimit, "l[1][0][0][0]", "deeper than 5"},
	} {
		t.Run(name, func(t *testing.T) {
			tree, err := FromObject(map[string]any{"l": []any{0, c.in}}, c.lim)
			var e *Error
			if tree != nil || !errors.As(err, &e) || !errors.Is(err, c.rule) || e.Offset != -1 {
				t.Fatalf("error %#v, want %v", err, c.rule)
			}
			if e.Path.String() != c.path || !strings.Contains(e.Detail, c.part) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %s and %q", err, c.path, c.part)
			}
		})
	}
	for name, obj := range map[string]any{"map": circle, "pointer": knot, "struct": ring, "slice": chain} {
		if _, err := FromObject(obj, Limits{}); !errors.Is(err, ErrLimit) {
			t.Errorf("a circle by a %s under the default limits: %v", name, err)
		}
	}
}

type (
	failingKey struct{ s string }
	textValue2 struct {
		s string
		n int
	}
)

func (f failingKey) MarshalText() ([]byte, error) { return nil, errors.New(f.s) }
func (v textValue2) MarshalText() ([]byte, error) { return []byte(v.s), nil }

// Parse and FromObject count depth and values alike.
func TestFromObjectLimitsAreThoseOfParse(t *testing.T) {
	obj := map[string]any{"a": []any{struct{ B map[string]int }{}, [1][]int{{1}}, nonsense{`{"x":[{}]}`}, "x"}}
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 14; n++ {
		for _, lim := range []Limits{{Depth: n}, {Nodes: n}} {
			_, want := Parse(text, lim)
			_, got := FromObject(obj, lim)
			if (got == nil) != (want == nil) {
				t.Errorf("%+v: Parse %v, FromObject %v", lim, want, got)
			}
		}
	}
}

// The memory of a builder goes from one caller to the next: a tree keeps none of it, and
// nothing of a document that failed shows in another.
func TestTreesShareNothing(t *testing.T) {
	first := sameAsJSON(t, oddities)
	before := string(first.JSON())
	for range 20 {
		if _, err := FromObject([]any{oddities, map[string]any{"k": make(chan int)}}, Limits{}); err == nil {
			t.Fatal("a channel")
		}
		sameAsJSON(t, []any{strings.Repeat("y", len(before)), map[string]int{"z": 1}})
	}
	if after := string(first.JSON()); after != before {
		t.Errorf("the first tree became\n%s\nit was\n%s", after, before)
	}
}

// A marshaler that panics takes no builder with it.
type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("a marshaler's own") }

func TestPanicOfAMarshaler(t *testing.T) {
	for range 10 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is the caller's")
				}
			}()
			FromObject(map[string]map[string]any{"a": {"b": panics{}}}, Limits{})
		}()
		sameAsJSON(t, map[string]map[string]any{"c": {"d": 1}})
	}
}

// Plans of types that refer to each other, made by many goroutines at once, and one object
// read by all of them.
func TestFromObjectAtOnce(t *testing.T) {
	type (
		leaf struct {
			A resource.Quantity // keys in order, so that encoding/json writes canonical text
			M map[Scalar]map[string]inner
		}
		left struct {
			L []leaf
			T *metav1.Time
		}
		right struct {
			L map[string]left
			R *right
		}
	)
	q := resource.MustParse("1")
	q.Add(resource.MustParse("1m")) // has no text yet
	leaves := []leaf{{A: q, M: map[Scalar]map[string]inner{1: {"a": {A: 1}}}}}
	shared := &right{L: map[string]left{"x": {L: leaves}}, R: &right{}}
	want, err := json.Marshal(shared)
	if err != nil {
		t.Fatal(err)
	}
	var start, all sync.WaitGroup
	start.Add(1)
	for i := range 16 {
		all.Go(func() {
			start.Wait()
			for j := range 20 {
				own := fmt.Sprintf(`{"n":%d,"of":"%d"}`, j, i)
				for obj, want := range map[any]string{shared: string(want), &map[string]any{"of": strconv.Itoa(i), "n": j}: own} {
					tree, err := FromObject(obj, Limits{})
					if err != nil {
						t.Error(err)
					} else if got := string(tree.JSON()); got != want {
						t.Errorf("got %s\nwant %s", got, want)
					}
				}
			}
		})
	}
	start.Done()
	all.Wait()
}
