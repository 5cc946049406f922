package bench

import (
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

// Case is one object as three parties see it, and what comes of them. Live has what a
// server and its controllers add.
type Case struct {
	Name  string
	Large bool // left out of tests
	GVK   schema.GroupVersionKind
	// New returns a new Go object of the kind.
	New func() any
	// Origin says where the documents come from that are not made by code.
	Origin func() string

	docs func() documents
}

// documents are JSON.
type documents struct{ last, live, desired, merged []byte }

// Last is what was declared the time before. The documents are made at first use and
// kept; they must not be changed.
func (c *Case) Last() []byte { return c.docs().last }

// Live is what the server holds.
func (c *Case) Live() []byte { return c.docs().live }

// Desired is what is declared now.
func (c *Case) Desired() []byte { return c.docs().desired }

// Merged is what a three-way merge must give.
func (c *Case) Merged() []byte { return c.docs().merged }

// Replaced is what a three-way merge must give that replaces lists: those that desired
// changes, for in the others live has only more than what is declared.
func (c *Case) Replaced() []byte {
	var last, live, desired object
	for o, text := range map[*object][]byte{&last: c.Last(), &live: c.Live(), &desired: c.Desired()} {
		if err := json.Unmarshal(text, o); err != nil {
			panic(fmt.Sprintf("bench: %v", err))
		}
	}
	replace(last, live, desired)
	return encode(live)
}

func replace(last, live, desired object) {
	for k := range last {
		if _, ok := desired[k]; !ok {
			delete(live, k)
		}
	}
	for k, want := range desired {
		l, isMap := live[k].(object)
		if d, ok := want.(object); ok && isMap {
			before, _ := last[k].(object)
			replace(before, l, d)
		} else if !reflect.DeepEqual(last[k], want) {
			live[k] = want
		}
	}
}

// Options are those of a merge of the kind.
func (c *Case) Options(m merge.Model) (merge.Options, error) {
	s, err := merge.SchemaFor(c.GVK)
	return merge.Options{Schema: s, Model: m}, err
}

// Cases are all, from small to large of each sort.
func Cases() iter.Seq[*Case] {
	return func(yield func(*Case) bool) {
		for _, c := range cases {
			if !yield(c) {
				return
			}
		}
	}
}

var (
	pod        = Case{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, New: func() any { return new(corev1.Pod) }}
	configMap  = Case{GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, New: func() any { return new(corev1.ConfigMap) }}
	deployment = Case{GVK: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, New: func() any { return new(appsv1.Deployment) }}
	slice      = Case{GVK: schema.GroupVersionKind{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"}, New: func() any { return new(discoveryv1.EndpointSlice) }}
	crd        = Case{GVK: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, New: func() any { return new(definition) }, Origin: crdOrigin}
)

var cases = []*Case{
	pod.called("pod-small", func() documents { return podOf(false, 3) }),
	deployment.called("deployment-3x10", func() documents { return deploymentOf(3, 10) }),
	deployment.called("deployment-20x50", func() documents { return deploymentOf(20, 50) }).large(),
	slice.called("endpointslice-1000", func() documents { return endpointsOf(1000) }),
	configMap.called("configmap-1MB", func() documents { return configOf(16, 64<<10) }).large(),
	crd.called("crd-large", definitionOf).large(),
	pod.called("list-1k", func() documents { return podOf(true, 1_000) }),
	pod.called("list-100k", func() documents { return podOf(true, 100_000) }).large(),
	configMap.called("map-1k-shuffled", func() documents { return shuffledOf(1_000) }),
	configMap.called("map-100k-shuffled", func() documents { return shuffledOf(100_000) }).large(),
}

// called returns a case of the kind. The documents are made of objects that nothing else
// holds.
func (c Case) called(name string, docs func() documents) *Case {
	c.Name, c.docs = name, sync.OnceValue(docs)
	return &c
}

func (c *Case) large() *Case { c.Large = true; return c }

type object = map[string]any

// encode panics on values without a JSON form, of which this package makes none.
func encode(o any) []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("bench: %v", err))
	}
	return text
}
