package node

import "testing"

func TestPathString(t *testing.T) {
	f := func(name string) Step { return Step{Field: name} }
	e := func(keys ...KeyPair) Step { return Step{Elem: true, Keys: keys} }
	for _, c := range []struct {
		path Path
		want string
	}{
		{nil, "(root)"},
		{Path{}, "(root)"},
		{Path{f("spec"), f("replicas")}, "spec.replicas"},
		{Path{f("a-b"), f("_c"), f("$patch"), f("9")}, "a-b._c.$patch.9"},
		{Path{f("metadata"), f("labels"), f("app.kubernetes.io/name")}, `metadata.labels["app.kubernetes.io/name"]`},
		{Path{f("a b"), f("c")}, `["a b"].c`},
		{Path{f("")}, `[""]`},
		{Path{f("é"), f("\n\"")}, `["é"]["\n\""]`},
		{Path{{Elem: true}}, "[0]"},
		{Path{f("l"), {Elem: true, Index: 12}, {Elem: true, Index: 3}, f("x")}, "l[12][3].x"},
		{Path{f("containers"), e(KeyPair{"name", "nginx"}), f("image")}, "containers[name=nginx].image"},
		{Path{f("ports"), e(KeyPair{"port", "80"}, KeyPair{"protocol", "TCP"})}, "ports[port=80,protocol=TCP]"},
		{Path{f("finalizers"), e(KeyPair{"", "example.com/x"})}, "finalizers[=example.com/x]"},
		{Path{f("env"), e(KeyPair{"name", "a,b]=\""})}, `env[name="a,b]=\""]`},
		{Path{f("env"), e(KeyPair{"name", ""})}, `env[name=""]`},
		{Path{f("env"), e(KeyPair{"name", "\x1b[2J"})}, `env[name="\x1b[2J"]`},
	} {
		if got := c.path.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestTreePath(t *testing.T) {
	tr := parsed(t, `{"a":[{"b":[[],1,{"c\n":2}]},3],"d":{"e":4}}`)
	want := []string{"(root)", "a", "a[0]", "a[0].b", "a[0].b[0]", "a[0].b[1]", "a[0].b[2]", `a[0].b[2]["c\n"]`, "a[1]", "d", "d.e"}
	for i, w := range want {
		if got := tr.Path(ID(i)).String(); got != w {
			t.Errorf("node %d: %s, want %s", i, got, w)
		}
	}
	if len(want) != tr.Len() || tr.Path(None) != nil {
		t.Error("length, or the path of None")
	}
}
