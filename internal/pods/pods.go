// Package pods has what the laws of injection are held with: every object with a pod template
// that is at hand, and templates. Only tests import it.
package pods

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/braid/inject"
	"example.com/braid/internal/kinds"
	"example.com/braid/internal/node"
	"example.com/braid/merge"
)

// Templates are what is injected, by name. Later ones of a group drop and change what earlier
// ones add.
var Templates = map[string]string{
	"sidecar":     "containers: [{name: braid-proxy, image: 'proxy:1', args: [a, b], ports: [{containerPort: 15999}], env: [{name: A, value: '1'}], resources: {limits: {cpu: 100m}}}]",
	"sidecar 2":   "containers: [{name: braid-log, image: log}, {name: braid-proxy, image: 'proxy:2', env: [{name: B, value: $(A)}, {name: A, value: '2'}], resources: {limits: {cpu: '0.1', memory: 1Mi}}}]",
	"first":       "metadata: {annotations: {inject.braid.example.com/order: 'braid-proxy=First,braid-log=After braid-proxy'}}\ncontainers: [{name: braid-proxy, image: p}, {name: braid-log, image: l, restartPolicy: Always}]",
	"volumes":     "volumes: [{name: braid-a, emptyDir: {}}, {name: braid-b, csi: {driver: d}}]\ncontainers: [{name: braid-proxy, image: p, volumeMounts: [{name: braid-a, mountPath: /braid}]}]",
	"volumes 2":   "volumes: [{name: braid-b, emptyDir: {}}]",
	"init":        "initContainers: [{name: braid-init, image: i}, {name: braid-native, image: native, restartPolicy: Always}]",
	"metadata":    "metadata: {labels: {braid: one, app: other, k8s-app: other}, annotations: {braid: \"line\\n\\\"quote\\\" \", b2: x}}",
	"pod fields":  "nodeSelector: {braid: x}\ntolerations: [{key: braid, operator: Exists}]\nimagePullSecrets: [{name: braid}]\nsecurityContext: {supplementalGroups: [7], fsGroup: 3}\nfutureField: {a: [1, {b: null, c: 1e3}]}\ndnsConfig: {searches: [braid.local], options: [{name: ndots, value: '3'}]}",
	"pod 2":       "tolerations: [{key: braid2, operator: Exists}]\nhostAliases: [{ip: 10.9.8.7, hostnames: [braid]}]\ntopologySpreadConstraints: [{maxSkew: 1, topologyKey: braid, whenUnsatisfiable: DoNotSchedule}]\nshareProcessNamespace: true\nhostNetwork: false",
	"everywhere":  "containers: [{name: '*', env: [{name: BRAID_B, value: $(BRAID_A)}, {name: BRAID_A, value: '@{pod.name:-none}'}], envFrom: [{configMapRef: {name: braid}}], volumeMounts: [{name: braid-a, mountPath: /braid-a}]}]\nvolumes: [{name: braid-a, emptyDir: {}}]",
	"everywhere2": "containers: [{name: '*', env: [{name: BRAID_A, value: '2'}]}, {name: braid-proxy, image: p}]",
	"values":      "containers: [{name: braid-proxy, image: '@{values.image:-x}', args: ['@{pod.labels[\"app\"]:-no app}', 'ns=@{pod.namespace:-none}', '@@{plain}']}]",
	"nothing":     "initContainers: null\n",
}

// Object is an object with a pod template.
type Object struct {
	Name string // of its file, and which of its documents
	Doc  *merge.Doc
}

// Objects returns those of k8s.io/api, and of the corpus if that is there. It skips the test
// without the former.
func Objects(tb testing.TB) (out []Object) {
	tb.Helper()
	for _, file := range slices.Concat(kinds.Samples(tb), kinds.FindCorpus("."), kinds.FindCorpus("*")) {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		trees, err := node.ParseYAMLAll(append(text, '\n'), node.Limits{})
		if err != nil {
			continue // there are broken files too
		}
		for i, tree := range trees {
			text := tree.JSON()
			if len(out)%2 == 1 { // as servers write JSON, and as people do
				var indented bytes.Buffer
				if err := json.Indent(&indented, text, "", "  "); err != nil {
					tb.Fatal(err)
				}
				text = indented.Bytes()
			}
			doc, err := merge.Parse(text)
			if err != nil {
				tb.Fatal(err)
			}
			if _, err := inject.Injected(doc); err == nil {
				out = append(out, Object{fmt.Sprintf("%s#%d", filepath.Base(file), i), doc})
			}
		}
	}
	if len(out) < 20 {
		tb.Fatalf("only %d objects with pod templates", len(out))
	}
	return out
}
