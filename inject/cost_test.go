package inject_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

// large returns a pod and a template with n of everything that can grow.
func large(t testing.TB, n int) (*merge.Doc, *inject.Injector) {
	t.Helper()
	env := func(prefix string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "      - {name: %s%d, value: $(T%d)}\n", prefix, i, i)
		}
		return b.String()
	}
	pod, err := merge.ParseYAML([]byte("kind: Pod\napiVersion: v1\nspec:\n  containers:\n  - name: app\n    image: nginx\n    env:\n" + env("U")))
	if err != nil {
		t.Fatal(err)
	}
	var volumes strings.Builder
	for i := range n {
		fmt.Fprintf(&volumes, "- {name: v%d, emptyDir: {}}\n", i)
	}
	tmpl, err := inject.ParseTemplate([]byte("containers:\n- name: '*'\n  env:\n" + env("T") + "- name: side\n  image: side\n  env:\n" + env("S") + "volumes:\n" + volumes.String()))
	if err != nil {
		t.Fatal(err)
	}
	return pod, injector(t, inject.Options{}, tmpl)
}

// Twice the pod and the template take at most 2.2 times the allocations, in each step. The
// references make every new variable stand before another of the author's.
func TestLinear(t *testing.T) {
	type step struct {
		name string
		do   func() *inject.Result
	}
	steps := func(n int) []step {
		pod, in := large(t, n)
		run := func(x *merge.Doc) *inject.Result {
			r, err := in.Inject(x, inject.Values{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		once, err := run(pod).Object()
		if err != nil {
			t.Fatal(err)
		}
		aged := defaulted(t, once)
		return []step{
			{"first", func() *inject.Result { return run(pod) }},
			{"again", func() *inject.Result { return run(once) }},
			{"by way of a server", func() *inject.Result { return run(aged) }},
			{"removed", func() *inject.Result {
				r, err := inject.Uninject(aged)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}},
		}
	}
	small, big := steps(1500), steps(3000)
	for i := range small {
		a := testing.AllocsPerRun(1, func() { small[i].do().Patch() })
		b := testing.AllocsPerRun(1, func() { big[i].do().Patch() })
		if b > 2.2*a {
			t.Errorf("%s: %.0f allocations for 1,500, %.0f for 3,000", small[i].name, a, b)
		}
	}
}

func BenchmarkInject(b *testing.B) {
	files := func(n int) (*merge.Doc, *inject.Injector) { return large(b, n) }
	pod, err := merge.ParseYAML([]byte(benchPod))
	if err != nil {
		b.Fatal(err)
	}
	tmpl, err := inject.ParseTemplate([]byte(benchTemplate))
	if err != nil {
		b.Fatal(err)
	}
	normal := injector(b, inject.Options{}, tmpl)
	run := func(name string, x *merge.Doc, in *inject.Injector) *merge.Doc {
		var out *inject.Result
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := in.Inject(x, inject.Values{})
				if err != nil {
					b.Fatal(err)
				}
				r.Patch()
				out = r
			}
		})
		if out == nil {
			return x
		}
		object, err := out.Object()
		if err != nil {
			b.Fatal(err)
		}
		return object
	}
	once := run("pod", pod, normal)
	run("pod-again", once, normal)
	run("pod-server", defaulted(b, once), normal)
	x, in := files(1500)
	run("env-1500", x, in)
}

const benchTemplate = `
metadata: {labels: {mesh: "on"}}
initContainers:
- {name: mesh-init, image: 'registry/init:1', securityContext: {capabilities: {add: [NET_ADMIN]}}}
containers:
- name: proxy
  image: registry/proxy:1.2.3
  args: [proxy, sidecar, --log, warning]
  ports: [{containerPort: 15090, name: envoy-prom}, {containerPort: 15021}]
  env:
  - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
  - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
  - {name: CLUSTER, value: '@{values.cluster:-main}'}
  resources: {limits: {cpu: '2', memory: 1Gi}, requests: {cpu: 100m, memory: 128Mi}}
  readinessProbe: {httpGet: {path: /healthz, port: 15021}, periodSeconds: 15}
  volumeMounts: [{name: mesh-certs, mountPath: /etc/certs, readOnly: true}, {name: mesh-tmp, mountPath: /tmp/mesh}]
volumes:
- {name: mesh-certs, secret: {secretName: mesh}}
- {name: mesh-tmp, emptyDir: {medium: Memory}}
`

const benchPod = `
apiVersion: v1
kind: Pod
metadata:
  generateName: web-6c54bd5869-
  labels: {app: web, pod-template-hash: 6c54bd5869}
  annotations: {example.com/team: shop}
spec:
  serviceAccountName: web
  dnsPolicy: ClusterFirst
  restartPolicy: Always
  schedulerName: default-scheduler
  terminationGracePeriodSeconds: 30
  tolerations:
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  containers:
  - name: app
    image: registry/web:1.0.0
    imagePullPolicy: IfNotPresent
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    ports: [{containerPort: 8080, name: http, protocol: TCP}]
    env: [{name: PORT, value: "8080"}, {name: DB, valueFrom: {secretKeyRef: {name: db, key: url}}}]
    resources: {limits: {cpu: "1", memory: 512Mi}, requests: {cpu: 250m, memory: 256Mi}}
    livenessProbe: {httpGet: {path: /live, port: http, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}
    volumeMounts: [{name: data, mountPath: /data}, {name: kube-api-access-x, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}]
  volumes:
  - {name: data, emptyDir: {}}
  - name: kube-api-access-x
    projected: {defaultMode: 420, sources: [{serviceAccountToken: {expirationSeconds: 3607, path: token}}]}
`
