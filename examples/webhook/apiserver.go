package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// apiServer asks a webhook what an API server asks it.
type apiServer struct {
	out    io.Writer
	url    string
	client *http.Client
}

func (a *apiServer) say(format string, args ...any) { _, _ = fmt.Fprintf(a.out, format, args...) }

// trust gives the webhook a new certificate, and the API server what to trust it by.
func (a *apiServer) trust(certificate *admission.Certificate, serial int64) error {
	chain, key, err := selfSigned(serial)
	if err != nil {
		return err
	}
	if err := certificate.Reload(chain, key); err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(chain)
	a.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	return nil
}

// post sends a body to the webhook.
func (a *apiServer) post(body []byte) (status int, answer []byte, err error) {
	defer a.client.CloseIdleConnections()
	resp, err := a.client.Post(a.url+admission.Path, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// create asks about the creation of a pod, tells the answer, and returns what is stored.
func (a *apiServer) create(title string, object []byte) ([]byte, error) {
	a.say("\n%s\n\n", title)
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "705ab4f5", Operation: admissionv1.Create, Namespace: "shop",
			Kind:     metav1.GroupVersionKind{Version: "v1", Kind: "Pod"},
			Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
			Object:   runtime.RawExtension{Raw: object},
		},
	})
	if err != nil {
		return nil, err
	}
	status, answer, err := a.post(body)
	if err != nil {
		return nil, err
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(answer, &review); err != nil {
		return nil, fmt.Errorf("%d: %w", status, err)
	}
	resp := review.Response
	a.say("   allowed: %t, %s, because %s\n", resp.Allowed, resp.AuditAnnotations["outcome"], resp.AuditAnnotations["reason"])
	if len(resp.Patch) > 0 {
		if object, err = a.patched(object, resp.Patch); err != nil {
			return nil, err
		}
	}
	return object, a.show(object)
}

// patched tells the operations of a patch, and returns what they make of an object.
func (a *apiServer) patched(object, patch []byte) ([]byte, error) {
	var operations []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal(patch, &operations); err != nil {
		return nil, err
	}
	for _, o := range operations {
		value := string(o.Value)
		if len(value) > 80 {
			value = value[:80] + "…"
		}
		a.say("%s\n", strings.TrimRight(fmt.Sprintf("   %-7s %s %s", o.Op, o.Path, value), " "))
	}
	return merge.ApplyPatch(merge.JSONPatch, object, patch, merge.Options{Schema: merge.Schemaless()})
}

// show tells what is in a pod.
func (a *apiServer) show(object []byte) error {
	var pod corev1.Pod
	if err := json.Unmarshal(object, &pod); err != nil {
		return err
	}
	var names []string
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		names = append(names, c.Name+" ("+c.Image+")")
	}
	a.say("   the pod runs %s\n", strings.Join(names, ", "))
	return nil
}
