package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// definition is as much of a CustomResourceDefinition, which k8s.io/api lacks, as
// strategicpatch looks at: it replaces the list of versions without looking into it.
type definition struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Group, Scope string
		Names        struct {
			Kind, ListKind, Plural, Singular string
			ShortNames, Categories           []string
		}
		Versions []any
	}
}

// largest is the largest definition of the corpus of real manifests.
const largest = "argo-cd__crds-applicationset-crd.yaml"

// crdOrigin says where the documents of crd-large come from.
func crdOrigin() string {
	if corpusFile() != "" {
		return "shared/corpus/" + largest
	}
	return "a generated twin, for shared/corpus/" + largest + " is not at hand"
}

// corpusFile looks for the corpus beside this project.
func corpusFile() string {
	dir, err := os.Getwd()
	for err == nil {
		file := filepath.Join(dir, "shared", "corpus", largest)
		if _, err := os.Stat(file); err == nil {
			return file
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

// definitionOf describes the schema of the first version anew.
func definitionOf() documents {
	text := encode(twinDefinition())
	if file := corpusFile(); file != "" {
		source, err := os.ReadFile(file)
		if err == nil {
			text, err = yaml.YAMLToJSON(source)
		}
		if err != nil {
			panic(fmt.Sprintf("bench: %s: %v", largest, err))
		}
	}
	build := func(desired bool) object {
		var o object
		if err := json.Unmarshal(text, &o); err != nil {
			panic(fmt.Sprintf("bench: %v", err))
		}
		if desired {
			version := o["spec"].(object)["versions"].([]any)[0].(object)
			version["schema"].(object)["openAPIV3Schema"].(object)["description"] = "Described anew."
		}
		return o
	}
	server := func(o object) []byte {
		serverMeta(o, nil)
		o["spec"].(object)["conversion"] = object{"strategy": "None"}
		o["status"] = object{
			"acceptedNames": o["spec"].(object)["names"], "storedVersions": []any{"v1alpha1"},
			"conditions": []any{condition("NamesAccepted", "NoConflicts"), condition("Established", "InitialNamesAccepted")},
		}
		return encode(o)
	}
	return documents{
		last: encode(build(false)), live: server(build(false)),
		desired: encode(build(true)), merged: server(build(true)),
	}
}

// twinDefinition nests maps of properties, about as deep and as large as the largest
// definition of the corpus.
func twinDefinition() object {
	var level func(depth int) object
	level = func(depth int) object {
		if depth == 0 {
			return object{"type": "string", "description": "A setting of the generated kind."}
		}
		properties := object{}
		for i := range 4 {
			properties[fmt.Sprintf("field%d", i)] = level(depth - 1)
		}
		return object{"type": "object", "properties": properties, "required": []any{"field0"}}
	}
	return object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": "things.example.com"},
		"spec": object{
			"group": "example.com", "scope": "Namespaced",
			"names": object{"kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing"},
			"versions": []any{object{
				"name": "v1alpha1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": level(6)},
			}},
		},
	}
}
