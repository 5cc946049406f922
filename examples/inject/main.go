// Command inject tells the story of one pod and a sidecar: a ConfigMap with envoy is injected
// into it, another version of it in the place of that, and taken out. It prints the pod, the
// patches, and why each line of them is there.
//
//	go run ./examples/inject
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

//go:embed pod.yaml
var pod []byte // what a user makes

//go:embed envoy.yaml
var first []byte // what we inject at first

//go:embed envoy-2.yaml
var second []byte // what we inject later

// meanwhile is what a server and the user change in between, as a strategic merge patch.
const meanwhile = `{"spec":{"containers":[
	{"name":"helloworld","image":"helloworld:0.0.2","imagePullPolicy":"IfNotPresent"},
	{"name":"envoy","imagePullPolicy":"IfNotPresent"}]}}`

func main() {
	log.SetFlags(0)
	if err := tell(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// teller injects and prints.
type teller struct {
	io.Writer
	rules *merge.Merger // of pods, for the reports
	live  *merge.Doc
}

func tell(w io.Writer) error {
	rules, err := merge.SchemaFor(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if err != nil {
		return err
	}
	t := &teller{Writer: w}
	if t.rules, err = merge.New(merge.Options{Schema: rules}); err != nil {
		return err
	}
	if t.live, err = merge.ParseYAML(pod); err != nil {
		return err
	}
	if err := t.become("1. A user makes a pod. We inject the ConfigMap envoy-initializer.", injects(first)); err != nil {
		return err
	}
	if err := t.print("The pod now:"); err != nil {
		return err
	}
	if err := t.become("2. We inject again. The pod has it all.", injects(first)); err != nil {
		return err
	}
	changes, err := merge.Parse([]byte(meanwhile))
	if err != nil {
		return err
	}
	if t.live, err = t.rules.Patch(merge.StrategicPatch, t.live, changes); err != nil {
		return err
	}
	fmt.Fprint(t, "\n   The user takes another image, and a server sets a default in both containers.\n")
	if err := t.become("3. We inject another envoy: another image, fewer arguments. What others have written stays.", injects(second)); err != nil {
		return err
	}
	if err := t.become("4. We take envoy out. Nothing of it is left.", inject.Uninject); err != nil {
		return err
	}
	return t.print("The pod in the end:")
}

// injects returns what injects a template.
func injects(template []byte) func(*merge.Doc) (*inject.Result, error) {
	return func(pod *merge.Doc) (*inject.Result, error) {
		parsed, err := inject.ParseTemplate(template)
		if err != nil {
			return nil, err
		}
		injector, err := inject.New(inject.Options{}, parsed)
		if err != nil {
			return nil, err
		}
		return injector.Inject(pod, inject.Values{Namespace: "default"})
	}
}

// become changes the pod, and prints how and why.
func (t *teller) become(title string, do func(*merge.Doc) (*inject.Result, error)) error {
	fmt.Fprintf(t, "\n%s\n\n", title)
	r, err := do(t.live)
	if err != nil {
		return err
	}
	patch := r.Patch()
	if err := t.operations(patch); err != nil {
		return err
	}
	now, err := r.Object()
	if err != nil {
		return err
	}
	if r.Changed() {
		report, err := t.rules.TwoWay(t.live, now)
		if err != nil {
			return err
		}
		fmt.Fprintln(t)
		if err := report.WriteReport(t, false); err != nil {
			return err
		}
	}
	for _, i := range r.Injections {
		fmt.Fprintf(t, "\nInjected: %s, version %s\n", i.Name, i.Version)
	}
	t.live = now
	return nil
}

// operations prints a JSON Patch, an operation a line.
func (t *teller) operations(patch []byte) error {
	var ops []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal(patch, &ops); err != nil {
		return err
	}
	if len(ops) == 0 {
		fmt.Fprintf(t, "JSON Patch: %s\n", patch)
		return nil
	}
	fmt.Fprintf(t, "JSON Patch, %d bytes:\n", len(patch))
	for _, op := range ops {
		value := []rune(string(op.Value))
		if len(value) > 80 {
			value = append(value[:79], '…')
		}
		fmt.Fprintln(t, strings.TrimRight(fmt.Sprintf("%-7s %s %s", op.Op, op.Path, string(value)), " "))
	}
	return nil
}

// print prints the pod, with the record as a word.
func (t *teller) print(title string) error {
	object := t.live.Map()
	if notes, ok := object["metadata"].(map[string]any)["annotations"].(map[string]any); ok && notes[inject.RecordAnnotation] != nil {
		notes[inject.RecordAnnotation] = "(the record of it)"
	}
	text, err := yaml.Marshal(object)
	if err == nil {
		_, err = fmt.Fprintf(t, "\n%s\n\n%s", title, text)
	}
	return err
}
