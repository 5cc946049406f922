package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// What the story prints is what README promises.
func Example() {
	if err := tell(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1. A user makes a pod. The API server asks the webhook, and applies its patch.
	//
	//    allowed: true, Patched, because DefaultOn
	//    add     /metadata/annotations {"braid.example.com/injected":"{\"v\":1,\"by\":[{\"name\":\"log-agent\",\"versio…
	//    add     /spec/containers/1 {"args":["--to=east","--app=web"],"image":"log-agent:1","name":"log-agent","volu…
	//    add     /spec/containers/0/volumeMounts [{"mountPath":"/var/log/nginx","name":"logs"}]
	//    add     /spec/volumes [{"emptyDir":{},"name":"logs"}]
	//    the pod runs nginx (nginx:1.27), log-agent (log-agent:1)
	//
	// 2. Another webhook has changed something, so we are asked again. We have nothing to add.
	//
	//    allowed: true, Unchanged, because AlreadyInjected
	//    the pod runs nginx (nginx:1.27), log-agent (log-agent:1)
	//
	// 3. A pod that does not want it.
	//
	//    allowed: true, Skipped, because LabelOff
	//    the pod runs nginx (nginx:1.27)
	//
	// 4. There is a new template, without a restart. A copy of the first pod has what the first
	//    template gave, and gets what the second one does.
	//
	//    allowed: true, Patched, because AlreadyInjected
	//    add     /metadata/annotations/braid.example.com~1injected "{\"v\":1,\"by\":[{\"name\":\"log-agent\",\"version\":\"2\"}],\"did\":[{\"at\":\…
	//    add     /spec/containers/1/args ["--app=web"]
	//    add     /spec/containers/1/image "log-agent:2"
	//    the pod runs nginx (nginx:1.27), log-agent (log-agent:2)
	//
	// 5. There is a new certificate, without a restart, and a new pod.
	//
	//    allowed: true, Patched, because DefaultOn
	//    add     /metadata/annotations {"braid.example.com/injected":"{\"v\":1,\"by\":[{\"name\":\"log-agent\",\"versio…
	//    add     /spec/containers/1 {"args":["--app=web"],"image":"log-agent:2","name":"log-agent","volumeMounts":[{…
	//    add     /spec/containers/0/volumeMounts [{"mountPath":"/var/log/nginx","name":"logs"}]
	//    add     /spec/volumes [{"emptyDir":{},"name":"logs"}]
	//    the pod runs nginx (nginx:1.27), log-agent (log-agent:2)
	//
	// 6. Somebody sends what is no AdmissionReview.
	//
	//    400 The body is no AdmissionReview of admission.k8s.io/v1 or v1beta1.
	//
	// 7. What the metrics say:
	//
	// # HELP braid_admission_requests_total Admission requests by what became of them and why.
	// # TYPE braid_admission_requests_total counter
	// braid_admission_requests_total{outcome="Patched",reason="AlreadyInjected"} 1
	// braid_admission_requests_total{outcome="Patched",reason="DefaultOn"} 2
	// braid_admission_requests_total{outcome="Unchanged",reason="AlreadyInjected"} 1
	// braid_admission_requests_total{outcome="Skipped",reason="LabelOff"} 1
	// braid_admission_requests_total{outcome="Malformed",reason="NoObject"} 1
}

func TestManifests(t *testing.T) {
	var out strings.Builder
	if err := write(&out); err != nil || !strings.Contains(out.String(), "kind: MutatingWebhookConfiguration") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
