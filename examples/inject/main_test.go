package main

import (
	"fmt"
	"os"
	"reflect"
	"testing"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

// What the story prints is what README promises.
func Example() {
	if err := tell(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1. A user makes a pod. We inject the ConfigMap envoy-initializer.
	//
	// JSON Patch, 1309 bytes:
	// add     /metadata/annotations {"braid.example.com/injected":"{\"v\":1,\"by\":[{\"name\":\"envoy-initializer\"…
	// add     /spec/containers/1 {"args":["--concurrency 4","--config-path /etc/envoy/envoy.json","--mode serve"…
	// add     /spec/volumes [{"configMap":{"name":"envoy"},"name":"envoy-conf"}]
	//
	// + metadata.annotations         WeAdd            {"braid.example.com/injected":"{\"v\":1,\"by\":[{\"name\":\"envoy-initi…
	// + spec.containers[name=envoy]  WeAdd            {"args":["--concurrency 4","--config-path /etc/envoy/envoy.json","--mod…
	// + spec.volumes                 WeAdd            [{"configMap":{"name":"envoy"},"name":"envoy-conf"}]
	//
	// Injected: envoy-initializer, version 8785921d7dd44b85
	//
	// The pod now:
	//
	// apiVersion: v1
	// kind: Pod
	// metadata:
	//   annotations:
	//     braid.example.com/injected: (the record of it)
	//   labels:
	//     app: helloworld
	//   name: helloworld
	// spec:
	//   containers:
	//   - args:
	//     - -http=127.0.0.1:8080
	//     image: helloworld:0.0.1
	//     name: helloworld
	//   - args:
	//     - --concurrency 4
	//     - --config-path /etc/envoy/envoy.json
	//     - --mode serve
	//     command:
	//     - /usr/local/bin/envoy
	//     image: envoy:v1.30
	//     name: envoy
	//     ports:
	//     - containerPort: 80
	//       protocol: TCP
	//     resources:
	//       limits:
	//         cpu: 1000m
	//         memory: 512Mi
	//       requests:
	//         cpu: 100m
	//         memory: 64Mi
	//     volumeMounts:
	//     - mountPath: /etc/envoy
	//       name: envoy-conf
	//   volumes:
	//   - configMap:
	//       name: envoy
	//     name: envoy-conf
	//
	// 2. We inject again. The pod has it all.
	//
	// JSON Patch: []
	//
	// Injected: envoy-initializer, version 8785921d7dd44b85
	//
	//    The user takes another image, and a server sets a default in both containers.
	//
	// 3. We inject another envoy: another image, fewer arguments. What others have written stays.
	//
	// JSON Patch, 960 bytes:
	// add     /metadata/annotations/braid.example.com~1injected "{\"v\":1,\"by\":[{\"name\":\"envoy-initializer\",\"version\":\"38591cd1902f797…
	// add     /spec/containers/1/args ["--concurrency 2","--config-path /etc/envoy/envoy.json"]
	// add     /spec/containers/1/image "envoy:v1.31"
	//
	// ~ metadata.annotations["braid.example.com/injected"]  WeSet            "{\"v\":1,\"by\":[{\"name\":\"envoy-initializer\",\"version\":\"8785921… → "{\"v\":1,\"by\":[{\"name\":\"envoy-initializer\",\"version\":\"38591cd…
	// ~ spec.containers[name=envoy].args                    WeSet            ["--concurrency 4","--config-path /etc/envoy/envoy.json","--mode serve"] → ["--concurrency 2","--config-path /etc/envoy/envoy.json"]
	// ~ spec.containers[name=envoy].image                   WeSet            "envoy:v1.30" → "envoy:v1.31"
	//
	// Injected: envoy-initializer, version 38591cd1902f7975
	//
	// 4. We take envoy out. Nothing of it is left.
	//
	// JSON Patch, 131 bytes:
	// remove  /metadata/annotations
	// remove  /spec/containers/1
	// remove  /spec/volumes
	//
	// - metadata.annotations         WeRemove         {"braid.example.com/injected":"{\"v\":1,\"by\":[{\"name\":\"envoy-initi…
	// - spec.containers[name=envoy]  WeRemove         {"args":["--concurrency 2","--config-path /etc/envoy/envoy.json"],"comm…
	// - spec.volumes                 WeRemove         [{"configMap":{"name":"envoy"},"name":"envoy-conf"}]
	//
	// The pod in the end:
	//
	// apiVersion: v1
	// kind: Pod
	// metadata:
	//   labels:
	//     app: helloworld
	//   name: helloworld
	// spec:
	//   containers:
	//   - args:
	//     - -http=127.0.0.1:8080
	//     image: helloworld:0.0.2
	//     imagePullPolicy: IfNotPresent
	//     name: helloworld
}

// The pod and the ConfigMap give both containers, the user's as it was, envoy with all that it
// has, and the volume; a second run has nothing to do, and removal leaves the user's pod.
func TestPodAndConfigMap(t *testing.T) {
	made, err := merge.ParseYAML(pod)
	if err != nil {
		t.Fatal(err)
	}
	once, err := injects(first)(made)
	if err != nil {
		t.Fatal(err)
	}
	injected, err := once.Object()
	if err != nil {
		t.Fatal(err)
	}
	spec := injected.Map()["spec"]
	want := map[string]any{
		"containers": []any{
			made.Map()["spec"].(map[string]any)["containers"].([]any)[0],
			map[string]any{
				"name": "envoy", "image": "envoy:v1.30",
				"command": []any{"/usr/local/bin/envoy"},
				"args":    []any{"--concurrency 4", "--config-path /etc/envoy/envoy.json", "--mode serve"},
				"ports":   []any{map[string]any{"containerPort": int64(80), "protocol": "TCP"}},
				"resources": map[string]any{
					"limits":   map[string]any{"cpu": "1000m", "memory": "512Mi"},
					"requests": map[string]any{"cpu": "100m", "memory": "64Mi"},
				},
				"volumeMounts": []any{map[string]any{"name": "envoy-conf", "mountPath": "/etc/envoy"}},
			},
		},
		"volumes": []any{map[string]any{"name": "envoy-conf", "configMap": map[string]any{"name": "envoy"}}},
	}
	if !reflect.DeepEqual(spec, want) {
		t.Errorf("got %v\nwant %v", spec, want)
	}
	if by, err := inject.Injected(made); len(by) != 0 || err != nil {
		t.Errorf("before, injected: %v, %v, want nothing", by, err)
	}
	if by, err := inject.Injected(injected); len(by) != 1 || by[0].Name != "envoy-initializer" || err != nil {
		t.Errorf("injected: %v, %v, want envoy-initializer", by, err)
	}
	again, err := injects(first)(injected)
	if err != nil {
		t.Fatal(err)
	}
	if patch := again.Patch(); again.Changed() || string(patch) != "[]" {
		t.Errorf("a second run: %s, want []", patch)
	}
	removed, err := inject.Uninject(injected)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := removed.Object(); err != nil || !left.Equal(made) {
		t.Errorf("removal left %s, %v, want %s", left.JSON(), err, made.JSON())
	}
}
