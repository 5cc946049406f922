package node

import (
	"strings"
	"testing"
)

// loose leaves out whatever is the same, but under keys that begin with "k", and goes into maps,
// but under keys that begin with "w".
type loose struct{}

func (loose) Below(key string) (Shape, bool) {
	omit := !strings.HasPrefix(key, "k")
	if strings.HasPrefix(key, "w") {
		return nil, omit
	}
	return loose{}, omit
}

func TestFromMapBeside(t *testing.T) {
	object := func(text string) map[string]any {
		tree, err := Parse([]byte(text), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return tree.Map()
	}
	deepList := `{"a":` + strings.Repeat("[", deepest+2) + strings.Repeat("]", deepest+2) + `}`
	for _, tc := range []struct{ name, m, other, third, want string }{
		{"what is the same is left out", `{"a":"x","b":"y"}`, `{"a":"x","b":"z"}`, `{"a":"x"}`, `{"b":"y",…}`},
		{"of maps and lists too", `{"a":{"a":["x"]},"b":["x"],"c":["y"]}`, `{"a":{"a":["x"]},"b":["x"],"c":["z"]}`, ``, `{…,"c":["y"]}`},
		{"a map is left out by field", `{"a":{"b":"x","c":{"d":true,"e":"y"}}}`, `{"a":{"b":"x","c":{"d":true,"e":"z"}}}`, ``, `{"a":{…,"c":{…,"e":"y"}}}`},
		{"all must have it", `{"a":"x","b":"y"}`, `{"a":"x","b":"y"}`, `{"a":"x"}`, `{"b":"y",…}`},
		{"of one number and type", `{"a":1,"b":2,"c":1.5,"d":3}`, `{"a":1,"b":2.0,"c":1.5,"d":"3"}`, ``, `{"b":2,…,"d":3}`},
		{"lists whole or not at all", `{"a":[{"b":"x","c":"y"}],"d":"x"}`, `{"a":[{"b":"x","c":"z"}],"d":"x"}`, ``, `{"a":[{"b":"x","c":"y"}],…}`},
		{"nothing where the shape forbids it", `{"k":"x","w":{"a":"x","b":"y"},"wk":{"a":"x"}}`, `{"k":"x","w":{"a":"x","b":"z"},"wk":{"a":"x"}}`, ``, `{…,"k":"x","w":{"a":"x","b":"y"}}`},
		{"nothing that is zero: that may mean absence", `{"a":0,"b":false,"c":"","d":[],"e":{},"f":"0Mi","g":"-0","h":{"a":{"b":0}},"i":"x"}`,
			`{"a":0,"b":false,"c":"","d":[],"e":{},"f":"0Mi","g":"-0","h":{"a":{"b":0}},"i":"x"}`, ``, `{"a":0,"b":false,…,"c":"","d":[],"e":{},"f":"0Mi","g":"-0","h":{"a":{"b":0}}}`},
		{"nothing with a null", `{"a":null,"b":[null,1],"c":{"d":null,"e":1}}`, `{"a":null,"b":[null,1],"c":{"d":null,"e":1}}`, ``, `{"a":null,"b":[null,1],"c":{…,"d":null}}`},
		{"a Seal is nobody else's", `{"a":"x","` + Seal + `":"x"}`, `{"a":"x"}`, ``, `{"a":"x","` + Seal + `":"x"}`},
		{"nor in another", `{"a":"x","b":"y"}`, `{"a":"x","` + Seal + `":true}`, ``, `{"a":"x","b":"y"}`},
		{"nothing in the place of a map", `{"a":{"b":"x","c":"y"}}`, `{"a":"x"}`, ``, `{"a":{"b":"x","c":"y"}}`},
		{"what is deep is not compared", deepList, deepList, ``, deepList},
	} {
		t.Run(tc.name, func(t *testing.T) {
			others := []map[string]any{object(tc.other)}
			if tc.third != "" {
				others = append(others, object(tc.third))
			}
			var b Builder
			tree, err := b.FromMapBeside(object(tc.m), others, loose{}, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			check(t, tree)
			if got := strings.ReplaceAll(string(tree.JSON()), `"`+Seal+`":true`, "…"); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
