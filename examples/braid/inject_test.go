package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

const (
	app     = `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, image: app:1}]}}`
	service = `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}`
	deploy  = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {spec: {containers: [{name: app, image: app:1}]}}}}`
	proxy   = `
kind: ConfigMap
apiVersion: v1
metadata: {name: proxy, annotations: {inject.braid.example.com/version: "1"}}
data:
  config: |
    containers: [{name: proxy, image: proxy:1, args: ['--to=@{values.cluster:-none}', '--of=@{pod.namespace}']}]
`
	logs = `{metadata: {annotations: {inject.braid.example.com/name: logs, inject.braid.example.com/version: "2"}}, spec: {containers: [{name: logs, image: logs:1}]}}`
)

// call runs the program on files, whose names stand for themselves.
func call(t *testing.T, at func(string) string, args []string, stdin string) (status int, stdout, stderr string) {
	t.Helper()
	for i, a := range args {
		if _, err := os.Stat(at(a)); err == nil && i > 0 && a != "-" {
			args[i] = at(a)
		}
	}
	var out, complaints bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &complaints)
	return status, out.String(), complaints.String()
}

func TestInject(t *testing.T) {
	at := files(t, map[string]string{
		"app": app, "service": service, "proxy": proxy, "logs": logs, "many": service + "\n---\n" + app + "\n---\n" + deploy,
		"list":    `{apiVersion: v1, kind: List, items: [` + service + `, ` + app + `]}`,
		"pods":    `{apiVersion: v1, kind: PodList, items: [{metadata: {name: web}, spec: {containers: [{name: app}]}}]}`,
		"json":    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"app","image":"app:1"}]}}`,
		"clash":   `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {initContainers: [{name: proxy}], containers: [{name: app}]}}`,
		"taken":   `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {dnsPolicy: None, containers: [{name: app}]}}`,
		"policy":  `{spec: {dnsPolicy: Default, hostname: h}}`,
		"rollout": `{apiVersion: example.com/v1, kind: Rollout, metadata: {name: web}, spec: {template: {spec: {containers: [{name: app, image: app:1}]}}}}`,
		"broken":  "a: {", "empty": "", "misspelt": `containers: [{name: proxy, image: '@{pod.nom}'}]`, "wants": `containers: [{name: proxy, image: '@{values.image}'}]`,
	})
	const (
		record   = `{"op":"add","path":"/metadata/annotations","value":{"braid.example.com/injected":`
		appended = `{"op":"add","path":"/spec/containers/1","value":{"args":["--to=none","--of=default"],"image":"proxy:1","name":"proxy"}}]` + "\n"
	)
	for _, c := range []struct {
		name   string
		args   string
		stdin  string
		status int
		out    string // how standard output begins
		end    string // how it ends
		err    string
	}{
		{"a patch", "-template proxy app", "", 0, "[" + record, appended, ""},
		{"JSON", "-template proxy json", "", 0, "[" + record, appended, ""},
		{"standard input", "-template proxy -", app, 0, "[" + record, appended, ""},
		{"a template from standard input", "app -template -", proxy, 0, "[" + record, appended, ""},
		{"a value", "-template proxy -set cluster=east=1 app", "", 0, "[" + record, strings.Replace(appended, "none", "east=1", 1), ""},
		{"a namespace", "-template proxy -namespace shop app", "", 0, "[" + record, strings.Replace(appended, "default", "shop", 1), ""},
		{"a strategic patch", "-template proxy -dialect strategic app", "", 0, `{"metadata":{"annotations":{"braid.example.com/injected":`, `{"args":["--to=none","--of=default"],"image":"proxy:1","name":"proxy"}]}}` + "\n", ""},
		{"merged", "-template proxy -out merged app", "", 0, `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{`, `"spec":{"containers":[{"image":"app:1","name":"app"},{"args":["--to=none","--of=default"],"image":"proxy:1","name":"proxy"}]}}` + "\n", ""},
		{"templates in order", "-template logs -template proxy -out merged app", "", 0, `{"apiVersion":"v1"`, `{"image":"logs:1","name":"logs"},{"args":["--to=none","--of=default"],"image":"proxy:1","name":"proxy"}]}}` + "\n", ""},
		{"templates in another order", "-template proxy -template logs -out merged app", "", 0, `{"apiVersion":"v1"`, `"name":"proxy"},{"image":"logs:1","name":"logs"}]}}` + "\n", ""},
		{"a report", "-template proxy -template logs -out report many", "", 0, "v1 Service web: nothing injected\nnothing to change\nv1 Pod web: proxy 1, logs 2\n+ metadata.annotations", "", ""},
		{"several documents", "-template proxy many", "", 0, "[]\n[" + record, `"--of=shop"],"image":"proxy:1","name":"proxy"}}]` + "\n", ""},
		{"a list", "-template proxy list", "", 0, "[]\n[" + record, appended, ""},
		{"a list of pods", "-template proxy pods", "", 0, "[" + record, appended, ""},
		{"changed", "-template proxy -out changed many", "", 0, "true\n", "", ""},
		{"a clash", "-template proxy clash", "", 1, "", "", "clash, document 1 (line 1): templates and the object clash\n  spec.initContainers[name=proxy]: ContainerName: template \"proxy\""},
		{"a clash that cannot be settled", "-template proxy -conflict template clash", "", 1, "", "", "spec.initContainers[name=proxy]: ContainerName"},
		{"a clash, and nothing else", "-template proxy -conflict skip clash", "", 0, "[]\n", "", "spec.initContainers[name=proxy]: ContainerName"},
		{"live's value counts", "-template policy -conflict keep taken", "", 0, "[{", "", "spec.dnsPolicy: Field: template \"template\""},
		{"the template's counts", "-template policy -conflict template -out merged taken", "", 0, `{"apiVersion"`, `"spec":{"containers":[{"name":"app"}],"dnsPolicy":"Default","hostname":"h"}}` + "\n", "spec.dnsPolicy: Field"},
		{"conflicts in a report", "-template policy -conflict keep -out report taken", "", 0, "v1 Pod web: ", "! spec.dnsPolicy: Field: template \"template\": the object has another value\n", ""},
		{"a native sidecar", "-template proxy -native always app", "", 0, "[" + record, `"op":"add","path":"/spec/initContainers","value":[{"args":["--to=none","--of=default"],"image":"proxy:1","name":"proxy","restartPolicy":"Always"}]}]` + "\n", ""},
		{"a custom kind", "-template proxy -pod-template Rollout.example.com=spec.template rollout", "", 0, `[{"op":"add","path":"/spec/template/metadata"`, appended[len(`{"op":"add","path":"/spec/containers/1",`):], ""},
		{"a custom kind without its path", "-template proxy rollout", "", 2, "", "", "no pod template in this kind"},
		{"no such kind", "-template proxy -pod-template Rollout rollout", "", 2, "", "", "want KIND.GROUP=PATH"},
		{"no such way with conflicts", "-template proxy -conflict win app", "", 2, "", "", "want one of fail, keep, skip, template"},
		{"no such sidecars", "-template proxy -native some app", "", 2, "", "", "want one of always, auto, never"},
		{"no such way with drift", "-template proxy -drift fail app", "", 2, "", "", "want one of keep, undo"},
		{"no pods", "-template proxy service", "", 2, "", "", "no pod template in this kind"},
		{"no objects", "-template proxy empty", "", 2, "", "", "no objects"},
		{"a broken object", "-template proxy broken", "", 2, "", "", "broken, document 1 (line 1): live: "},
		{"a broken template", "-template broken app", "", 2, "", "", "broken: template: "},
		{"a misspelt placeholder", "-template misspelt app", "", 2, "", "", "@{pod.nom}"},
		{"no value", "-template wants app", "", 2, "", "", "no value for a placeholder"},
		{"no template", "app", "", 2, "", "", "-template FILE"},
		{"no object", "-template proxy", "", 2, "", "", "one file"},
		{"no file", "-template proxy absent", "", 2, "", "", "absent"},
		{"no template file", "-template absent app", "", 2, "", "", "absent"},
		{"standard input twice", "-template - -", proxy, 2, "", "", "standard input can be one file only"},
		{"no such set", "-template proxy -set east app", "", 2, "", "", "want NAME=VALUE"},
		{"no such output", "-template proxy -out xml app", "", 2, "", "", "want patch, merged, report or changed"},
		{"no such dialect", "-template proxy -dialect merge app", "", 2, "", "", "want one of json, strategic"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, out, complaints := call(t, at, append([]string{"inject"}, strings.Fields(c.args)...), c.stdin)
			if status != c.status {
				t.Errorf("exit status %d, want %d; %s", status, c.status, complaints)
			}
			if !strings.HasPrefix(out, c.out) || !strings.HasSuffix(out, c.end) || c.out == "" && out != "" {
				t.Errorf("standard output\n%s\nwant\n%s…\n%s", out, c.out, c.end)
			}
			if c.err == "" && complaints != "" || !strings.Contains(complaints, c.err) {
				t.Errorf("standard error %q, want %q", complaints, c.err)
			}
		})
	}
}

// What inject puts in, again changes nothing; what somebody changes is told; uninject takes all
// of it out again.
func TestUninject(t *testing.T) {
	at := files(t, map[string]string{"many": service + "\n---\n" + app + "\n---\n" + deploy, "proxy": proxy, "service": service, "app": app, "policy": `{spec: {dnsPolicy: Default}}`})
	must := func(stdin string, args ...string) string {
		t.Helper()
		status, out, complaints := call(t, at, args, stdin)
		if status != 0 || complaints != "" {
			t.Fatalf("%q: status %d, %s", args, status, complaints)
		}
		return out
	}
	injected := must("", "inject", "-template", "proxy", "-out", "merged", "many")
	if got := must(injected, "inject", "-template", "proxy", "-"); got != "[]\n[]\n[]\n" {
		t.Errorf("again, got %s", got)
	}
	if got := must(injected, "inject", "-out", "changed", "-template", "proxy", "-"); got != "false\n" {
		t.Errorf("again, changed: %s", got)
	}
	left := strings.Split(strings.TrimSpace(must(injected, "uninject", "-out", "merged", "-")), "\n")
	for i, text := range []string{service, app, deploy} {
		want, err := merge.ParseYAML([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(left) || left[i] != string(want.JSON()) {
			t.Errorf("uninject left %s\nwant %s", left, want.JSON())
		}
	}
	if got, want := must(injected, "uninject", "-"), `[{"op":"remove","path":"/metadata/annotations"},{"op":"remove","path":"/spec/containers/1"}]`; !strings.HasPrefix(got, "[]\n"+want+"\n") {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := must(injected, "uninject", "-out", "report", "-"); !strings.Contains(got, "v1 Pod web: nothing injected\n- metadata.annotations") {
		t.Errorf("report %s", got)
	}

	theirs := strings.ReplaceAll(injected, `"image":"proxy:1"`, `"image":"theirs"`) // not in the record, which is quoted
	status, out, complaints := call(t, at, []string{"uninject", "-"}, theirs)
	if status != 0 || !strings.Contains(complaints, "spec.containers[name=proxy]: WeRemoveTheySet, changed since it was injected: stays") {
		t.Errorf("status %d, %s, %s, want a warning of the change", status, out, complaints)
	}
	status, out, complaints = call(t, at, []string{"uninject", "-out", "report", "-"}, theirs)
	if status != 0 || complaints != "" || !strings.Contains(out, "! spec.containers[name=proxy]: WeRemoveTheySet") {
		t.Errorf("status %d, %s, %s, want the change in the report", status, out, complaints)
	}

	// A field that somebody has changed stays, unless that is to be undone.
	field := strings.Replace(must("", "inject", "-template", "policy", "-out", "merged", "app"), `"dnsPolicy":"Default"`, `"dnsPolicy":"None"`, 1)
	for drift, want := range map[string]string{"keep": `"dnsPolicy":"None"`, "undo": `"dnsPolicy":"Default"`} {
		status, out, complaints := call(t, at, []string{"inject", "-template", "policy", "-drift", drift, "-out", "merged", "-"}, field)
		if status != 0 || !strings.Contains(out, want) || (complaints == "") == (drift == "keep") {
			t.Errorf("drift %s: status %d, %s, %s, want %s", drift, status, out, complaints, want)
		}
	}

	for name, args := range map[string][]string{
		"two files":           {"uninject", "many", "service"},
		"no pods":             {"uninject", "service"},
		"templates":           {"uninject", "-template", "proxy", "many"},
		"values for inject":   {"uninject", "-set", "a=b", "many"},
		"conflicts of inject": {"uninject", "-conflict", "skip", "many"},
		"no such drift":       {"uninject", "-drift", "x", "many"},
		"a broken record":     {"uninject", "-"},
		"no such out of many": {"uninject", "-out", "x", "many"},
	} {
		broken := strings.ReplaceAll(injected, `"`+inject.RecordAnnotation+`":"{`, `"`+inject.RecordAnnotation+`":"[{`)
		if status, out, _ := call(t, at, args, broken); status != 2 || out != "" {
			t.Errorf("%s: status %d, %s, want 2", name, status, out)
		}
	}
}
