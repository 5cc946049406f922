package node

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestFromMap(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{nil, `null`},
		{true, `true`},
		{"a\n", `"a\n"`},
		{int(-1), `-1`}, {int8(-128), `-128`}, {int16(-3), `-3`}, {int32(4), `4`}, {int64(math.MinInt64), `-9223372036854775808`},
		{uint(1), `1`}, {uint8(255), `255`}, {uint16(3), `3`}, {uint32(4), `4`}, {uint64(math.MaxUint64), `18446744073709551615`},
		{1.5, `1.5`}, {1.0, `1`}, {1e20, `100000000000000000000`}, {1e21, `1e+21`}, {1e-7, `1e-7`}, {1.5e-10, `1.5e-10`}, {float32(1e-6), `0.000001`}, {float32(1e-7), `1e-7`}, {float32(1e21), `1e+21`}, {math.MaxFloat64, `1.7976931348623157e+308`},
		{1e6, `1000000`}, // FAULTS M3
		{math.Copysign(0, -1), `-0`}, {float32(0.1), `0.1`},
		{json.Number("0.10000000000000000001"), `0.10000000000000000001`}, {json.Number("1E400"), `1E400`},
		{map[string]any{}, `{}`}, {map[string]any(nil), `null`}, {map[string]string{"b": "x", "a": "\t"}, `{"a":"\t","b":"x"}`},
		{[]any{}, `[]`}, {[]any(nil), `null`}, {[]string{"a"}, `["a"]`}, {[]map[string]any{{"a": 1}, nil}, `[{"a":1},null]`},
	} {
		tr, err := FromMap(map[string]any{"v": c.in, "\n": []any{c.in}}, Limits{})
		if err != nil {
			t.Errorf("%T %v: %v", c.in, c.in, err)
			continue
		}
		check(t, tr)
		if got := string(tr.Append(nil, tr.Lookup("v"))); got != c.want {
			t.Errorf("%T %v: %s, want %s", c.in, c.in, got, c.want)
		}
	}
	if tr, err := FromMap(nil, Limits{}); err != nil || string(tr.JSON()) != "null" {
		t.Error("a nil map is null", err)
	}
}

func TestFromMapErrors(t *testing.T) {
	loop := map[string]any{}
	loop["x"] = []any{loop}
	for _, c := range []struct {
		in   any
		lim  Limits
		rule error
		path string
		part string
	}{
		{math.NaN(), Limits{}, ErrValue, "l[1]", "NaN"},
		{math.Inf(-1), Limits{}, ErrValue, "l[1]", "infinity"},
		{float32(math.Inf(1)), Limits{}, ErrValue, "l[1]", "infinity"},
		{json.Number("hunter2"), Limits{}, ErrValue, "l[1]", "json.Number"},
		{json.Number(""), Limits{}, ErrValue, "l[1]", "json.Number"},
		{json.Number("-"), Limits{}, ErrValue, "l[1]", "json.Number"},
		{json.Number("1.e5"), Limits{}, ErrValue, "l[1]", "json.Number"},
		{"\xff", Limits{}, ErrValue, "l[1]", "UTF-8"},
		{map[string]any{"\xff": 1}, Limits{}, ErrValue, "l[1]", "UTF-8"},
		{map[string]any{"a": struct{}{}}, Limits{}, ErrValue, "l[1].a", "struct {}"},
		{corev1.ProtocolTCP, Limits{}, ErrValue, "l[1]", "v1.Protocol"},
		{complex(1, 1), Limits{}, ErrValue, "l[1]", "complex128"},
		{map[any]any{}, Limits{}, ErrValue, "l[1]", "map[interface {}]interface {}"},
		{loop, Limits{Depth: 5}, ErrLimit, "l[1].x[0].x", "deeper than 5"},
		{[]any{1, 2, 3}, Limits{Nodes: 6}, ErrLimit, "l[1]", "more than 6 values"},
		{strings.Repeat("x", 100), Limits{Bytes: 99}, ErrLimit, "l[1]", "more than 99 bytes"},
	} {
		tr, err := FromMap(map[string]any{"l": []any{0, c.in}}, c.lim)
		var e *Error
		if tr != nil || !errors.As(err, &e) || !errors.Is(err, c.rule) || e.Offset != -1 {
			t.Errorf("%T: %v", c.in, err)
			continue
		}
		if e.Path.String() != c.path || !strings.Contains(e.Detail, c.part) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%T: %v, want %s and %q", c.in, err, c.path, c.part)
		}
	}
}

// Parse and FromMap count depth and values alike.
func TestFromMapLimitsAreThoseOfParse(t *testing.T) {
	text := []byte(`{"a":[{"b":{}},1,"x"]}`)
	tr, err := Parse(text, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 10; n++ {
		for _, lim := range []Limits{{Depth: n}, {Nodes: n}} {
			_, a := Parse(text, lim)
			_, b := FromMap(tr.Map(), lim)
			_, c := ParseYAML(append([]byte("# YAML\n"), text...), lim)
			if (a == nil) != (b == nil) || (a == nil) != (c == nil) {
				t.Errorf("%+v: Parse %v, FromMap %v, ParseYAML %v", lim, a, b, c)
			}
		}
	}
}

func TestMap(t *testing.T) {
	tr := parsed(t, `{"i":-5,"max":9223372036854775807,"over":9223372036854775808,"one":1.0,"half":0.5,"exact":0.10000000000000000001,`+
		`"huge":1e400,"tiny":1e-400,"zero":-0,"s":"a\n","n":null,"b":false,"m":{"\n":{}},"l":[[],null]}`)
	want := map[string]any{
		"i": int64(-5), "max": int64(math.MaxInt64), "over": json.Number("9223372036854775808"), "one": 1.0, "half": 0.5,
		"exact": json.Number("0.10000000000000000001"), "huge": json.Number("1e400"), "tiny": json.Number("1e-400"), "zero": int64(0),
		"s": "a\n", "n": nil, "b": false, "m": map[string]any{"\n": map[string]any{}}, "l": []any{[]any{}, nil},
	}
	got := tr.Map()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
	back, err := FromMap(got, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if check(t, back); !Equal(tr, 0, back, 0) {
		t.Errorf("%s became %s", tr.JSON(), back.JSON())
	}
	if parsed(t, `[1]`).Map() != nil {
		t.Error("a list is no map")
	}
}

func TestFromObjectAndDecode(t *testing.T) {
	labels := map[string]string{"app.kubernetes.io/name": "<web>"}
	replicas := int32(3)
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels, Generation: math.MaxInt64},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:           "web",
			Resources:      corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("500m")}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http")}}},
		}}}}},
	}
	secret := &corev1.Secret{Data: map[string][]byte{"k": {0xff, 0}}, StringData: map[string]string{"s": "a\nb"}}
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}}}
	for _, obj := range []any{deployment, secret, service, map[string]any{"a": []any{int64(1)}}} {
		tr, err := FromObject(obj, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, tr)
		back := reflect.New(reflect.TypeOf(obj)).Interface()
		if err := tr.Decode(back); err != nil {
			t.Fatal(err)
		}
		again, err := FromObject(reflect.ValueOf(back).Elem().Interface(), Limits{})
		if err != nil || !Equal(tr, 0, again, 0) {
			t.Errorf("%T: %v\n%s\n%s", obj, err, tr.JSON(), again.JSON())
		}
	}
	if _, err := FromObject(json.RawMessage(`{"a":1,"a":2}`), Limits{}); !errors.Is(err, ErrDuplicateKey) {
		t.Error("what a marshaler writes is checked too:", err)
	}
	if err := parsed(t, `{"a":"x"}`).Decode(&struct{ A int }{}); err == nil {
		t.Error("a string is no int")
	}
}
