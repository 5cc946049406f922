package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// files writes the files of one call and returns their names.
func files(t *testing.T, texts map[string]string) func(string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

const (
	pod  = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, args: [a]}]}}`
	pod2 = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: j}]}}`
	live = `
apiVersion: v1
kind: Pod
metadata:
  name: p
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"args":["a"],"image":"i","name":"c"}]}}
spec:
  containers: [{name: c, image: i, args: [a], imagePullPolicy: Always}]
`
	custom = `{apiVersion: example.com/v1, kind: Thing, spec: {a: 1}}`
)

func TestCommands(t *testing.T) {
	at := files(t, map[string]string{
		"pod": pod, "pod2": pod2, "live": live, "custom": custom,
		"drifted": `{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, image: theirs}]}}`,
		"crd": `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {group: example.com,
			names: {kind: Thing, plural: things}, scope: Namespaced, versions: [{name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
			spec: {type: object, properties: {parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id], items: {type: object, properties: {
			id: {type: integer}, v: {type: string}, tags: {type: array, items: {type: string}}}}}}}}}}}]}}`,
		"thing":      `{apiVersion: example.com/v2, kind: Thing, spec: {parts: [{id: 2}, {id: 1}]}}`,
		"thing2":     `{apiVersion: example.com/v2, kind: Thing, spec: {parts: [{id: 1, v: x}, {id: 2}]}}`,
		"thing3":     `{apiVersion: example.com/v2, kind: Thing, spec: {parts: [{id: 2, tags: [a, b]}, {id: 1}]}}`,
		"thing4":     `{apiVersion: example.com/v2, kind: Thing, spec: {parts: [{id: 2, tags: [a, c, b]}, {id: 1}]}}`,
		"cpu":        `{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, resources: {limits: {cpu: 1}}}]}}`,
		"cpu2":       `{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, resources: {limits: {cpu: 1000m}}}]}}`,
		"nulled":     `{apiVersion: v1, kind: Pod, spec: {nodeName: null}}`,
		"mergepatch": `{spec: {a: null, b: 2}}`,
		"jsonpatch":  `[{op: remove, path: /spec/a}]`,
		"custom2":    `{apiVersion: example.com/v1, kind: Thing, spec: {a: 2}}`,
		"change":     `{spec: {containers: [{name: c, $patch: delete}, {name: d, image: k}]}}`,
		"broken":     "a: {", "empty": "", "list": "[1]", "twice": `{"a":1,"a":2}`,
		"nokey":     `{apiVersion: v1, kind: Pod, spec: {containers: [{image: i}]}}`,
		"deep":      strings.Repeat("[", 20000),
		"directive": `{apiVersion: v1, kind: ConfigMap, data: {$patch: x}}`,
		"map":       `{apiVersion: v1, kind: ConfigMap, data: {a: x}}`,
	})
	for _, c := range []struct {
		name   string
		args   []string // names of files stand for themselves
		stdin  string
		status int
		out    string // all of standard output
		err    string // part of standard error; "" wants none
	}{
		{"two-way", []string{"diff", "pod", "pod2"}, "", 0, `{"spec":{"containers":[{"args":null,"image":"j","name":"c"}]}}`, ""},
		{"nothing to do", []string{"diff", "pod", "pod"}, "", 0, `{}`, ""},
		{"last from the annotation", []string{"merge", "-live", "live", "-desired", "pod2"}, "", 0, `{"spec":{"containers":[{"args":null,"image":"j","name":"c"}]}}`, ""},
		{"last from a file", []string{"merge", "-last", "pod2", "-live", "live", "-desired", "pod2"}, "", 0, `{"spec":{"containers":[{"image":"j","name":"c"}]}}`, ""},
		{"standard input", []string{"merge", "-live", "live", "-desired", "-"}, pod2, 0, `{"spec":{"containers":[{"args":null,"image":"j","name":"c"}]}}`, ""},
		{"merged object", []string{"diff", "-out", "merged", "pod", "pod2"}, "", 0, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"image":"j","name":"c"}]}}`, ""},
		{"changed", []string{"diff", "pod", "pod2", "-out", "changed"}, "", 0, "true", ""},
		{"not changed", []string{"diff", "-out=changed", "pod", "pod"}, "", 0, "false", ""},
		{"report", []string{"diff", "-out", "report", "pod", "pod2"}, "", 0, "- spec.containers[name=c].args   WeRemove         [\"a\"]\n~ spec.containers[name=c].image  WeSet            \"i\" → \"j\"", ""},
		{"report of nothing", []string{"diff", "-out", "report", "pod", "pod"}, "", 0, "nothing to change", ""},
		{"JSON merge patch", []string{"diff", "-dialect", "merge", "pod", "pod2"}, "", 0, `{"spec":{"containers":[{"image":"j","name":"c"}]}}`, ""},
		{"JSON Patch", []string{"diff", "-dialect", "json", "pod", "pod2"}, "", 0, `[{"op":"remove","path":"/spec/containers/0/args"},{"op":"add","path":"/spec/containers/0/image","value":"j"}]`, ""},
		{"apply configuration", []string{"diff", "-dialect", "apply", "pod", "pod2"}, "", 0, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"image":"j","name":"c"}]}}`, ""},
		{"a custom kind", []string{"diff", "-crd", "crd", "thing", "thing2"}, "", 0, `{"spec":{"parts":[{"id":1,"v":"x"},{"id":2}]}}`, ""},
		{"a custom kind in another model", []string{"diff", "-crd", "crd", "-model", "plain", "-dialect", "json", "thing", "thing2"}, "", 0, `[{"op":"add","path":"/spec/parts","value":[{"id":1,"v":"x"},{"id":2}]}]`, ""},
		{"a rule for a path", []string{"diff", "-schemaless", "-rule", "spec.parts[*].tags=set", "-rule", "spec.parts=map=id", "-dialect", "json", "thing3", "thing4"}, "", 0, `[{"op":"add","path":"/spec/parts/0/tags/1","value":"c"}]`, ""},
		{"inferred keys", []string{"diff", "-schemaless", "-infer", "-dialect", "json", "thing", "thing3"}, "", 0, `[{"op":"add","path":"/spec/parts/0/tags","value":["a","b"]}]`, ""},
		{"ignored", []string{"diff", "-ignore", "spec.containers[name=c].image", "pod", "pod2"}, "", 0, `{"spec":{"containers":[{"args":null,"name":"c"}]}}`, ""},
		{"handed over", []string{"diff", "-handover", "spec.containers[*].args", "pod", "pod2"}, "", 0, `{"spec":{"containers":[{"image":"j","name":"c"}]}}`, ""},
		{"exact equality", []string{"diff", "-equality", "exact", "cpu", "cpu2"}, "", 0, `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1000m"}}}]}}`, ""},
		{"semantic equality", []string{"diff", "cpu", "cpu2"}, "", 0, `{}`, ""},
		{"nulls refused", []string{"diff", "-nulls", "reject", "pod", "nulled"}, "", 2, "", "desired: spec.nodeName: null in a field"},
		{"apply a JSON merge patch", []string{"patch", "-type", "merge", "custom", "mergepatch"}, "", 0, `{"apiVersion":"example.com/v1","kind":"Thing","spec":{"b":2}}`, "no schema for this kind"},
		{"apply a JSON Patch", []string{"patch", "-schemaless", "-type", "json", "custom", "jsonpatch"}, "", 0, `{"apiVersion":"example.com/v1","kind":"Thing","spec":{}}`, ""},
		{"a JSON Patch that fails", []string{"patch", "-schemaless", "-type", "json", "pod", "jsonpatch"}, "", 2, "", "patch: [0].path: JSON Pointer that leads nowhere"},
		{"no such dialect", []string{"diff", "-dialect", "x", "pod", "pod2"}, "", 2, "", "want one of apply, json, merge, strategic"},
		{"no such rule", []string{"diff", "-rule", "spec.containers=x", "pod", "pod2"}, "", 2, "", "there is no such rule"},
		{"a rule without a path", []string{"diff", "-rule", "x", "pod", "pod2"}, "", 2, "", "want PATH=RULE"},
		{"a strategic patch of a custom kind", []string{"diff", "-crd", "crd", "-model", "strategic", "-dialect", "strategic", "thing", "thing2"}, "", 2, "", "takes no strategic merge patch"},
		{"apply a patch", []string{"patch", "-type", "strategic", "pod", "change"}, "", 0, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"image":"k","name":"d"}]}}`, ""},
		{"unknown kind", []string{"diff", "custom", "custom2"}, "", 0, `{"spec":{"a":2}}`, "warning: no schema for this kind: example.com/v1, Kind=Thing"},
		{"schemaless on purpose", []string{"diff", "-schemaless", "custom", "custom2"}, "", 0, `{"spec":{"a":2}}`, ""},
		{"conflict", []string{"merge", "-policy", "strict", "-last", "pod", "-live", "drifted", "-desired", "pod2"}, "", 1, "", `spec.containers[name=c].image: BothSetOther: last "i", live "theirs", desired "j"`},
		{"conflict in a report", []string{"merge", "-policy", "branch", "-out", "report", "-last", "pod", "-live", "drifted", "-desired", "pod2"}, "", 1, "", "BothSetOther"},
		{"drift kept", []string{"merge", "-policy", "update", "-last", "pod", "-live", "drifted", "-desired", "pod"}, "", 0, "{}", ""},
		{"inexpressible", []string{"diff", "map", "directive"}, "", 2, "", "data.$patch: the patch format cannot say this"},
		{"broken YAML", []string{"diff", "broken", "pod"}, "", 2, "", "live: "},
		{"empty", []string{"diff", "pod", "empty"}, "", 2, "", "desired: "},
		{"no object", []string{"diff", "pod", "list"}, "", 2, "", "desired: "},
		{"repeated key", []string{"diff", "twice", "pod"}, "", 2, "", "live: a: key repeated"},
		{"no merge key", []string{"diff", "pod", "nokey"}, "", 2, "", "desired: spec.containers[0]: "},
		{"too deep", []string{"diff", "deep", "pod"}, "", 2, "", "live: "},
		{"no file", []string{"diff", "pod", "absent.yaml"}, "", 2, "", "absent.yaml"},
		{"standard input twice", []string{"diff", "-", "-"}, pod, 2, "", "standard input"},
		{"no command", nil, "", 2, "", "diff, merge, patch, plan, inject or uninject"},
		{"wrong command", []string{"apply"}, "", 2, "", `no command "apply"`},
		{"wrong flag", []string{"diff", "-colour", "pod", "pod"}, "", 2, "", "-colour"},
		{"wrong policy", []string{"diff", "-policy", "mine", "pod", "pod"}, "", 2, "", `no policy "mine"`},
		{"wrong output", []string{"diff", "-out", "xml", "pod", "pod"}, "", 2, "", `no output "xml"`},
		{"wrong dialect", []string{"diff", "-dialect", "x", "pod", "pod"}, "", 2, "", `no dialect "x"`},
		{"one file", []string{"diff", "pod"}, "", 2, "", "two files"},
		{"no live", []string{"merge", "-desired", "pod"}, "", 2, "", "-live"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var args []string
			for _, a := range c.args {
				if _, err := os.Stat(at(a)); err == nil {
					a = at(a)
				}
				args = append(args, a)
			}
			var stdout, stderr bytes.Buffer
			status := run(args, strings.NewReader(c.stdin), &stdout, &stderr)
			if status != c.status {
				t.Errorf("exit status %d, want %d; %s", status, c.status, &stderr)
			}
			if got := strings.TrimSuffix(stdout.String(), "\n"); got != c.out {
				t.Errorf("standard output\n%s\nwant\n%s", got, c.out)
			}
			if c.err == "" && stderr.Len() > 0 || !strings.Contains(stderr.String(), c.err) {
				t.Errorf("standard error %q, want %q", &stderr, c.err)
			}
		})
	}
}

// plan says what it does by its exit status, as diff does.
func TestPlan(t *testing.T) {
	at := files(t, map[string]string{
		"web.yaml": `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {a: b}
`,
		"live.yaml": `
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: web, namespace: default, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{},"name":"web","namespace":"default"},"data":{"a":"b"}}'}}
  data: {a: b}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: old, namespace: default, labels: {applyset.kubernetes.io/part-of: applyset-G-rLwzXLn5grGNpeFK7ac0_4jtXh8lZY2C-WSkRhu3w-v1}}
`,
		"config.yaml": `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: b}}`,
		"theirs.yaml": `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: c}}`,
		"twice.yaml":  "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: default}}",
		"crd.yaml": `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {group: example.com,
			names: {kind: Thing, plural: things}, scope: Cluster, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`,
		"thing.yaml": `{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}, spec: {a: 1}}`,
	})
	dir := filepath.Dir(at("web.yaml"))
	if err := os.Mkdir(filepath.Join(dir, "all"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"crd.yaml", "thing.yaml"} {
		if err := os.Rename(at(name), filepath.Join(dir, "all", name)); err != nil {
			t.Fatal(err)
		}
	}
	const unchanged = "v1 ConfigMap default/web: None\n"
	for _, c := range []struct {
		name   string
		args   []string
		stdin  string
		status int
		out    string // how it begins
		end    string // how it ends
		err    string
	}{
		{"nothing there", []string{"web.yaml"}, "", 1, "v1 ConfigMap default/web: Create\n", "2 Create\n", ""},
		{"nothing to do", []string{"-live", "live.yaml", "config.yaml"}, "", 0, unchanged, "1 None\n", ""},
		{"one is new", []string{"web.yaml", "-live", "live.yaml"}, "", 1, unchanged + "v1 Service default/web: Create\n", "1 Create, 1 None\n", ""},
		{"a set", []string{"-live", "live.yaml", "-set", "x", "config.yaml"}, "", 1, "v1 ConfigMap default/web: Patch\n", "v1 ConfigMap default/old: Prune\n1 Patch, 1 Prune\n", ""},
		{"another namespace", []string{"-live", "live.yaml", "-namespace", "other", "config.yaml"}, "", 1, "v1 ConfigMap other/web: Create\n", "1 Create\n", ""},
		{"standard input", []string{"-live", "live.yaml", "-"}, `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: c}}`, 1, "v1 ConfigMap default/web: Patch\n", "1 Patch\n", ""},
		{"a directory", []string{"all"}, "", 1, "apiextensions.k8s.io/v1 CustomResourceDefinition things.example.com: Create\n", "2 Create\n", ""},
		{"whether anything changes", []string{"-out", "changed", "-live", "live.yaml", "config.yaml"}, "", 0, "false\n", "false\n", ""},
		{"merged", []string{"-out", "merged", "config.yaml"}, "", 1, `{"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap"`, "}\n", ""},
		{"a conflict", []string{"-policy", "strict", "-live", "theirs.yaml", "config.yaml"}, "", 2, "v1 ConfigMap default/web: None\n", "1 failed\n", "1 of 1 objects cannot be planned"},
		{"declared twice", []string{"twice.yaml"}, "", 2, "", "", "twice.yaml, document 2 (line 3): v1 ConfigMap default/web: declared twice"},
		{"no file", []string{"absent.yaml"}, "", 2, "", "", "absent.yaml"},
		{"no live", []string{"-live", "absent.yaml", "web.yaml"}, "", 2, "", "", "absent.yaml"},
		{"two files", []string{"web.yaml", "config.yaml"}, "", 2, "", "", "one file or directory, got 2"},
		{"standard input twice", []string{"-live", "-", "-"}, "", 2, "", "", "standard input"},
		{"no such output", []string{"-out", "patch", "web.yaml"}, "", 2, "", "", "want report, merged or changed"},
		{"no such policy", []string{"-policy", "mine", "web.yaml"}, "", 2, "", "", `no policy "mine"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"plan"}
			for _, a := range c.args {
				if _, err := os.Stat(at(a)); err == nil && strings.Trim(a, "-x") != "" {
					a = at(a)
				}
				args = append(args, a)
			}
			var stdout, stderr bytes.Buffer
			if status := run(args, strings.NewReader(c.stdin), &stdout, &stderr); status != c.status {
				t.Errorf("exit status %d, want %d; %s", status, c.status, &stderr)
			}
			if got := stdout.String(); !strings.HasPrefix(got, c.out) || !strings.HasSuffix(got, c.end) || c.end == "" && got != "" {
				t.Errorf("standard output\n%s\nwant\n%s…\n%s", got, c.out, c.end)
			}
			if c.err == "" && stderr.Len() > 0 || !strings.Contains(stderr.String(), c.err) {
				t.Errorf("standard error %q, want %q", &stderr, c.err)
			}
		})
	}
}

// The example of -h works when it is pasted.
func TestUsageExample(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to paste the example into")
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "braid"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-h"}, nil, &stdout, &stderr); status != 0 {
		t.Fatalf("-h: status %d, %s", status, &stderr)
	}
	_, example, ok := strings.Cut(stdout.String(), "after go install ./examples/braid:\n")
	if !ok {
		t.Fatal("no example in the usage")
	}
	cmd := exec.Command(bash, "-c", example)
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if want := `{"spec":{"ports":[{"port":80,"targetPort":8080}]}}` + "\n"; err != nil || string(out) != want {
		t.Errorf("%v, %s, want %s", err, out, want)
	}
}
