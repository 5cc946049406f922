package twin

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Kind is a Go type with every merge rule that struct tags can give. Random
// objects of it are held against apimachinery's strategicpatch.
type Kind struct {
	Kind   string            `json:"kind,omitempty"`
	Text   string            `json:"text,omitempty"`
	Number int64             `json:"number,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Part   *Part             `json:"part,omitempty"`
	Whole  *Part             `json:"whole,omitempty" patchStrategy:"replace"`
	Union  *Union            `json:"union,omitempty" patchStrategy:"retainKeys"`
	Named  []Part            `json:"named,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Ports  []Port            `json:"ports,omitempty" patchStrategy:"merge" patchMergeKey:"port"`
	Unions []Union           `json:"unions,omitempty" patchStrategy:"merge,retainKeys" patchMergeKey:"name"`
	Set    []string          `json:"set,omitempty" patchStrategy:"merge"`
	List   []string          `json:"list,omitempty"`
	Parts  []Part            `json:"parts,omitempty"`
	ByName map[string]Part   `json:"byName,omitempty"`

	Name    string    `json:"name,omitempty"`
	Alias   string    `json:"alias,omitempty"` // of Name
	Either  *Either   `json:"either,omitempty"`
	Eithers []Either  `json:"eithers,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Scalars *Scalars  `json:"scalars,omitempty"`
	Others  []Scalars `json:"others,omitempty"`
}

// Either has members of which one is meant to be set, though no tag says so.
type Either struct {
	Name string `json:"name,omitempty"`
	A    *Port  `json:"a,omitempty"`
	B    string `json:"b,omitempty"`
}

// Scalars has values that are written in several ways, and fields that cannot tell
// their zero values from absence.
type Scalars struct {
	Quantity resource.Quantity  `json:"quantity,omitempty"`
	Pointer  *resource.Quantity `json:"pointer,omitempty"`
	Either   intstr.IntOrString `json:"either,omitempty"`
	Duration metav1.Duration    `json:"duration,omitempty"`
	Time     metav1.Time        `json:"time,omitempty"`
	Bytes    []byte             `json:"bytes,omitempty"`
	Auto     int64              `json:"auto,omitempty"` // a server chooses
	Number   int64              `json:"number,omitempty"`
	Told     *int64             `json:"told,omitempty"`
	Bool     bool               `json:"bool,omitempty"`
	Part     Part               `json:"part,omitempty"`
}

// Part is an element or a field with rules of its own.
type Part struct {
	Name   string            `json:"name,omitempty"`
	Value  string            `json:"value,omitempty"`
	Number int64             `json:"number,omitempty"`
	Args   []string          `json:"args,omitempty"`
	Set    []string          `json:"set,omitempty" patchStrategy:"merge"`
	Inner  []Port            `json:"inner,omitempty" patchStrategy:"merge" patchMergeKey:"port"`
	Labels map[string]string `json:"labels,omitempty"`
}

// Port has an integer for its key.
type Port struct {
	Port     int64  `json:"port"`
	Protocol string `json:"protocol,omitempty"`
	Text     string `json:"text,omitempty"`
}

// Union has members of which one is meant to be set.
type Union struct {
	Name string `json:"name,omitempty"`
	A    *Port  `json:"a,omitempty"`
	B    *Port  `json:"b,omitempty"`
	C    string `json:"c,omitempty"`
}
