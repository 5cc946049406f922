package node

import (
	"testing"
)

func TestSmoke(t *testing.T) {
	tr, err := Parse([]byte(`{"b":[1,{"x":"a\nb"},null],"a":"x","":{}}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(tr.JSON()); got != `{"":{},"a":"x","b":[1,{"x":"a\nb"},null]}` {
		t.Fatal(got)
	}
	m, err := FromMap(tr.Map(), Limits{})
	if err != nil || string(m.JSON()) != string(tr.JSON()) {
		t.Fatal(err, string(m.JSON()))
	}
	_, err = Parse([]byte(`{"b":[1,{"x":1,"y":[0,{"a":1,"b":2,"a":3}]}]}`), Limits{})
	t.Log(err)
}
