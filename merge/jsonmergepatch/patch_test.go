package jsonmergepatch_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/mergepatch"

	"example.com/braid/merge/jsonmergepatch"
)

func Example() {
	last := []byte(`{"spec":{"size":1,"color":"red"}}`)
	live := []byte(`{"spec":{"size":1,"color":"red"},"status":{"ready":true}}`)
	desired := []byte(`{"spec":{"size":2}}`)
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, desired, live)
	fmt.Println(string(patch), err)
	// Output: {"spec":{"color":null,"size":2}} <nil>
}

func TestErrors(t *testing.T) {
	if _, err := jsonmergepatch.CreateThreeWayJSONMergePatch(nil, []byte(`{`), nil); err == nil {
		t.Error("no error")
	}
	_, err := jsonmergepatch.CreateThreeWayJSONMergePatch(nil, []byte(`{"kind":"x"}`), nil, mergepatch.RequireKeyUnchanged("kind"))
	if !mergepatch.IsPreconditionFailed(err) {
		t.Error(err)
	}
}
