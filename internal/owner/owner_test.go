package owner_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/braid/internal/node"
	"example.com/braid/internal/owner"
	"example.com/braid/internal/schema"
)

func service(t testing.TB) *schema.Type {
	t.Helper()
	s, ok := schema.Builtin("", "v1", "Service")
	if !ok {
		t.Fatal("no Service")
	}
	return s.Root
}

func fromYAML(t testing.TB, text string) *node.Tree {
	t.Helper()
	d, err := node.ParseYAML([]byte(text), node.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// owned writes a Service of which one manager owns fields.
func owned(fields, rest string) string {
	return `{apiVersion: v1, kind: Service, metadata: {finalizers: [x, "1", z, x], managedFields: [{manager: m, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: ` + fields + `}]}, ` + rest + `}`
}

func pathsIn(live *node.Tree, s owner.Set) (paths []string) {
	for _, i := range s {
		paths = append(paths, live.Path(i).String())
	}
	return paths
}

func TestSet(t *testing.T) {
	const ports = `spec: {ports: [{port: 80, name: a}, {port: 80, protocol: UDP}, {port: 81}, {port: 81, protocol: TCP}]}`
	for _, c := range []struct{ name, fields, rest, want string }{
		{"nothing", `{}`, ports, ``},
		{"null", `null`, ports, ``},
		{"a field of it, and the map", `{"f:spec": {".": {}, "f:ports": {}}}`, ports, `spec spec.ports`},
		{"null is a leaf", `{"f:spec": {"f:ports": null}}`, ports, `spec.ports`},
		{"not in live", `{"f:spec": {"f:type": {}, "f:none": {"f:x": {}, "k:{\"a\":1}": {}}}}`, ports, ``},
		{"an element", `{"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"UDP\"}": {".": {}, "f:port": {}}}}}`, ports, `spec.ports[1] spec.ports[1].port`},
		{"a field of an element", `{"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {"f:name": {}}}}}`, ports, `spec.ports[0].name`},
		{"by value, in another order", `{"f:spec": {"f:ports": {"k:{\"protocol\":\"U\\u0044P\",\"port\":8.0e1}": {}}}}`, ports, `spec.ports[1]`},
		{"without the default", `{"f:spec": {"f:ports": {"k:{\"port\":80}": {}}}}`, ports, `spec.ports[0]`},
		{"other keys", `{"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\",\"name\":\"a\"}": {}, "k:{\"name\":\"a\"}": {}, "k:{}": {}}}}`, ports, ``},
		{"another type", `{"f:spec": {"f:ports": {"k:{\"port\":\"80\",\"protocol\":\"TCP\"}": {}, "k:{\"port\":null,\"protocol\":\"TCP\"}": {}}}}`, ports, ``},
		{"two of one key", `{"f:spec": {"f:ports": {"k:{\"port\":81,\"protocol\":\"TCP\"}": {"f:port": {}}}}}`, ports, `spec.ports[2] spec.ports[3]`},
		{"values", `{"f:metadata": {"f:finalizers": {"v:\"z\"": {}, "v:\"1\"": {}, "v:1": {}, "v:null": {}}}}`, ports, `metadata.finalizers[1] metadata.finalizers[2]`},
		{"a value that repeats", `{"f:metadata": {"f:finalizers": {"v:\"x\"": {}}}}`, ports, `metadata.finalizers[0] metadata.finalizers[3]`},
		{"by index", `{"f:metadata": {"f:finalizers": {"i:2": {}, "i:9": {}, "i:-1": {}}}}`, ports, `metadata.finalizers[2]`},
		{"elements that are no elements", `{"f:spec": {"k:{\"port\":80}": {}, "v:1": {}, "i:0": {}, "f:ports": {"f:port": {}}}}`, ports, ``},
		{"odd elements", `{"f:spec": {"f:ports": {"k:{\"port\":1,\"protocol\":\"TCP\"}": {}}}}`, `spec: {ports: [1, null, [], {}, {port: 1}]}`, `spec.ports[4]`},
		{"a list of no schema", `{"f:odd": {"k:{\"id\":2}": {".": {}, "f:x": {}}, "v:1": {}}}`, `odd: [{id: 1}, {id: 2.0, x: 1}, 1]`, `odd[1] odd[1].x odd[2]`},
		{"odd names", `{"f:odd": {"f:a:b/c.d": {}, "f:": {}, "f:.": {}}}`, `odd: {"a:b/c.d": 1, "": 2, ".": 3}`, `odd[""] odd["."] odd["a:b/c.d"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			live := fromYAML(t, owned(c.fields, c.rest))
			o, err := owner.Read(live, service(t))
			if err != nil {
				t.Fatal(err)
			}
			s, err := o.Set(0)
			if err != nil {
				t.Fatal(err)
			}
			got, want := pathsIn(live, s), strings.Fields(c.want)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

func TestManagers(t *testing.T) {
	const head = `{apiVersion: v1, kind: Service, metadata: {managedFields: `
	for _, c := range []struct{ name, managed, want, bad string }{
		{"none", `null`, ``, ``},
		{"empty", `[]`, ``, ``},
		{"as a server writes them", `[{manager: a, operation: Apply, apiVersion: v1, time: "2020-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {}},
			{manager: b, operation: Update, apiVersion: old/v1, subresource: status, fieldsType: FieldsV1}]`, `[{a Apply v1 } {b Update old/v1 status}]`, ``},
		{"no name", `[{operation: Apply, apiVersion: v1, fieldsType: FieldsV1}]`, `[{ Apply v1 }]`, ``},
		{"no list", `{}`, ``, `metadata.managedFields: managedFields cannot be read: want a list, got a map`},
		{"no map", `[1]`, ``, `metadata.managedFields[0]: managedFields cannot be read: want a map, got a number`},
		{"reset", `[{}]`, ``, `metadata.managedFields[0]: managedFields cannot be read: want an operation, Apply or Update`},
		{"a later operation", `[{operation: Later, fieldsType: FieldsV1}]`, ``, `metadata.managedFields[0]: managedFields cannot be read: want an operation, Apply or Update`},
		{"a later type", `[{operation: Apply, fieldsType: FieldsV2}]`, ``, `metadata.managedFields[0]: managedFields cannot be read: want fieldsType FieldsV1`},
		{"no string", `[{operation: Apply, fieldsType: FieldsV1, manager: 1}]`, ``, `metadata.managedFields[0].manager: managedFields cannot be read: want a string, got a number`},
		{"no fields", `[{operation: Apply, fieldsType: FieldsV1, fieldsV1: []}]`, ``, `metadata.managedFields[0].fieldsV1: managedFields cannot be read: want a map, got a list`},
	} {
		t.Run(c.name, func(t *testing.T) {
			live := fromYAML(t, head+c.managed+`}}`)
			o, err := owner.Read(live, service(t))
			var bad *owner.Error
			switch {
			case errors.As(err, &bad):
				if got := live.Path(bad.Node).String() + ": " + err.Error(); got != c.bad || !errors.Is(err, owner.ErrManagedFields) {
					t.Errorf("%s, want %q", got, c.bad)
				}
			case err != nil || c.bad != "":
				t.Errorf("%v, want %q", err, c.bad)
			case len(o.Managers) > 0 || c.want != "":
				if got := fmt.Sprint(o.Managers); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			}
		})
	}
}

func TestMalformedSets(t *testing.T) {
	for _, c := range []struct{ fields, want string }{
		{`{"f:spec": 1}`, `want a map, got a number`},
		{`{"f:spec": {"f:ports": []}}`, `want a map, got a list`},
		{`{"spec": {}}`, `want the name of a field or element`},
		{`{"": {}}`, `want the name of a field or element`},
		{`{"z:spec": {}}`, `want the name of a field or element`},
		{`{"f:spec": {"f:ports": {"i:x": {}}}}`, `want the index of an element`},
		{`{"f:spec": {"f:ports": {"k:{": {}}}}`, `want the key of an element, in JSON`},
		{`{"f:spec": {"f:ports": {"k:1": {}}}}`, `want the key of an element, in JSON`},
		{`{"f:spec": {"f:ports": {"v:secret": {}}}}`, `want the key of an element, in JSON`},
	} {
		live := fromYAML(t, owned(c.fields, `spec: {ports: [{port: 80}]}`))
		o, err := owner.Read(live, service(t))
		if err != nil {
			t.Fatal(err)
		}
		if s, err := o.Set(0); s != nil || !errors.Is(err, owner.ErrManagedFields) || !strings.HasSuffix(err.Error(), ": "+c.want) {
			t.Errorf("%s: %v, %v, want %s", c.fields, s, err, c.want)
		}
	}
}

// What counts as made by hand of a Pod whose managers own these fields; a manager by another
// name than hand is a program.
func TestFindHandMade(t *testing.T) {
	const pod = `metadata: {name: p, labels: {a: b, c: d}, ownerReferences: [{uid: u}], finalizers: [x]},
		spec: {nodeName: n, nodeSelector: {disk: ssd}, containers: [{name: app, image: i, env: [{name: E, value: v}]}, {name: dbg, image: j}], securityContext: {runAsUser: 1}}, status: {phase: Running}`
	for _, c := range []struct{ name, entries, want string }{
		{"a field", `hand {"f:spec":{"f:nodeName":{}}}`, `spec.nodeName`},
		{"two hands", `hand {"f:spec":{"f:nodeName":{}}} | hand2 {"f:metadata":{"f:labels":{"f:a":{}}}}`, `metadata.labels.a spec.nodeName`},
		{"a program's as well", `hand {"f:spec":{"f:nodeName":{}}} | app {"f:spec":{"f:nodeName":{}}}`, ``},
		{"nobody's", `app {"f:spec":{"f:nodeName":{}}}`, ``},
		{"an apply", `hand/Apply {"f:spec":{"f:nodeName":{}}}`, ``},
		{"by a subresource", `hand/Update/scale {"f:spec":{"f:nodeName":{}}}`, ``},
		{"in a version that is gone", `hand/Update//v0 {"f:spec":{"f:nodeName":{}}}`, ``},
		{"one label of two", `hand {"f:metadata":{"f:labels":{"f:a":{}}}}`, `metadata.labels.a`},
		{"all labels, but not the map", `hand {"f:metadata":{"f:labels":{"f:a":{},"f:c":{}}}}`, `metadata.labels.a metadata.labels.c`},
		{"the map of labels", `hand {"f:metadata":{"f:labels":{".":{},"f:a":{},"f:c":{}}}}`, `metadata.labels metadata.labels.a metadata.labels.c`},
		{"the map, and a program's label", `hand {"f:metadata":{"f:labels":{".":{},"f:a":{}}}} | app {"f:metadata":{"f:labels":{"f:c":{}}}}`, `metadata.labels.a`},
		{"the map, and nobody's label", `hand {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`, `metadata.labels.a`},
		{"metadata of the server", `hand {"f:metadata":{"f:name":{},"f:ownerReferences":{".":{},"k:{\"uid\":\"u\"}":{}},"f:finalizers":{".":{},"v:\"x\"":{}}}}`, ``},
		{"status", `hand {"f:status":{".":{},"f:phase":{}},"f:kind":{},"f:apiVersion":{}}`, ``},
		{"an atomic map", `hand {"f:spec":{"f:nodeSelector":{}}}`, `spec.nodeSelector spec.nodeSelector.disk`},
		{"a struct", `hand {"f:spec":{"f:securityContext":{".":{},"f:runAsUser":{}}}}`, `spec.securityContext`},
		{"in another's struct", `hand {"f:spec":{"f:securityContext":{"f:runAsUser":{}}}} | app {"f:spec":{"f:securityContext":{}}}`, `spec.securityContext.runAsUser`},
		{"a struct with nobody's field", `hand {"f:spec":{"f:securityContext":{}}}`, ``},
		{"an element, with nobody's fields", `hand {"f:spec":{"f:containers":{"k:{\"name\":\"dbg\"}":{".":{},"f:name":{}}}}}`, `spec.containers[1]`},
		{"a program's field in an element", `hand {"f:spec":{"f:containers":{"k:{\"name\":\"dbg\"}":{".":{},"f:name":{}}}}} | app {"f:spec":{"f:containers":{"k:{\"name\":\"dbg\"}":{"f:image":{}}}}}`, ``},
		{"a field of an element", `hand {"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:image":{}}}}}`, `spec.containers[0].image`},
		{"the key of an element", `hand {"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:name":{},"f:image":{}}}}}`, `spec.containers[0].image`},
		{"an element of an element", `hand {"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:env":{".":{},"k:{\"name\":\"E\"}":{".":{},"f:name":{},"f:value":{}}}}}}}`, `spec.containers[0].env spec.containers[0].env[0]`},
		{"all", `hand {"f:spec":{".":{},"f:containers":{".":{},"k:{\"name\":\"app\"}":{".":{}},"k:{\"name\":\"dbg\"}":{".":{}}}}}`, `spec.containers[0] spec.containers[1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var entries []string
			for _, e := range strings.Split(c.entries, " | ") {
				who, fields, _ := strings.Cut(e, " ")
				parts := append(strings.Split(who, "/"), "", "", "")
				operation, version := parts[1], parts[3]
				if operation == "" {
					operation = "Update"
				}
				if version == "" {
					version = "v1"
				}
				entries = append(entries, fmt.Sprintf(`{manager: %s, operation: %s, subresource: "%s", apiVersion: %s, fieldsType: FieldsV1, fieldsV1: %s}`, parts[0], operation, parts[2], version, fields))
			}
			live := fromYAML(t, `{apiVersion: v1, kind: Pod, `+strings.Replace(pod, "metadata: {", "metadata: {managedFields: ["+strings.Join(entries, ", ")+"], ", 1)+`}`)
			s, _ := schema.Builtin("", "v1", "Pod")
			found, err := owner.FindHandMade(live, s.Root, []string{"hand", "hand2"})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(pathsIn(live, found.Set), " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	if found, err := owner.FindHandMade(fromYAML(t, `{a: b}`), schema.Unknown, []string{"hand"}); found != nil || err != nil {
		t.Errorf("without managedFields: %v, %v", found, err)
	}
}

// twice are objects of n parts, and who owns them.
var twice = map[string]func(n int) (managed, rest string){
	"elements": func(n int) (string, string) {
		var fields, ports []string
		for i := range n {
			fields = append(fields, fmt.Sprintf(`"k:{\"port\":%d,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}`, n-i))
			ports = append(ports, fmt.Sprintf(`{"port":%d}`, i))
		}
		return entry("hand", `{"f:spec":{"f:ports":{`+strings.Join(fields, ",")+`}}}`), `"spec":{"ports":[` + strings.Join(ports, ",") + `]}`
	},
	"managers of one list": func(n int) (string, string) {
		var managed, ports []string
		for i := range n {
			managed = append(managed, entry("hand", fmt.Sprintf(`{"f:spec":{"f:ports":{"k:{\"port\":%d,\"protocol\":\"TCP\"}":{}}}}`, i)))
			ports = append(ports, fmt.Sprintf(`{"port":%d}`, i))
		}
		return strings.Join(managed, ","), `"spec":{"ports":[` + strings.Join(ports, ",") + `]}`
	},
	"keys of other names": func(n int) (string, string) {
		var fields, elems []string
		for i := range n {
			fields = append(fields, fmt.Sprintf(`"k:{\"x%d\":1}":{}`, i))
			elems = append(elems, fmt.Sprintf(`{"x%d":1}`, i))
		}
		return entry("hand", `{"f:odd":{`+strings.Join(fields, ",")+`}}`), `"odd":[` + strings.Join(elems, ",") + `]`
	},
	"one key": func(n int) (string, string) {
		var fields, elems []string
		for i := range n {
			fields = append(fields, fmt.Sprintf(`"k:{\"port\":1%s,\"protocol\":\"TCP\"}":{"f:port":{}}`, "."+strings.Repeat("0", 1+i%9)))
			elems = append(elems, `{"port":1}`)
		}
		return entry("hand", `{"f:spec":{"f:ports":{`+strings.Join(fields[:min(n, 9)], ",")+`}}}`), `"spec":{"ports":[` + strings.Join(elems, ",") + `]}`
	},
	"fields": func(n int) (string, string) {
		var fields, labels []string
		for i := range n {
			fields = append(fields, fmt.Sprintf(`"f:k%d":{}`, n-i))
			labels = append(labels, fmt.Sprintf(`"k%d":"v"`, i))
		}
		return entry("hand", `{"f:odd":{`+strings.Join(fields, ",")+`}}`), `"odd":{` + strings.Join(labels, ",") + `}`
	},
}

func entry(manager, fields string) string {
	return `{"manager":"` + manager + `","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `}`
}

// Twice the parts are at most 2.2 times the work and the memory.
func TestLinear(t *testing.T) {
	for name, parts := range twice {
		cost := func(n int) (work, allocs, bytes float64) {
			managed, rest := parts(n)
			live, err := node.Parse([]byte(`{"apiVersion":"v1","kind":"Service","metadata":{"managedFields":[`+managed+`]},`+rest+`}`), node.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			root := service(t)
			o, err := owner.Read(live, root)
			if err != nil {
				t.Fatal(err)
			}
			for m := range o.Managers {
				if _, err := o.Set(m); err != nil {
					t.Fatal(err)
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := owner.FindHandMade(live, root, []string{"hand"}); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return float64(o.Work), float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)
		}
		w, n, size := cost(2000)
		w2, n2, size2 := cost(4000)
		if w2 > 2.2*w || n2 > 2.2*n+100 || size2 > 2.2*size+50_000 {
			t.Errorf("%s: %.0f steps, %.0f allocations of %.0f bytes; for twice as much %.0f, %.0f, %.0f", name, w, n, size, w2, n2, size2)
		}
		if w2 < 4000 && name != "one key" {
			t.Errorf("%s: only %.0f steps", name, w2)
		}
	}
}
