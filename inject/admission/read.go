package admission

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/internal/docs"
	"example.com/braid/internal/node"
	"example.com/braid/merge"
)

// maxBody is what a body may come to: an object and an old object of 3 MiB each, and the
// rest (controller-runtime reads as much).
const maxBody = 7 << 20

// problem is why a request gets no review for an answer.
type problem struct {
	status int
	text   string
}

// Error returns the sentence that the caller gets.
func (p *problem) Error() string { return p.text }

// Is makes errors.Is(err, ErrRequest) true.
func (p *problem) Is(target error) bool { return target == ErrRequest }

func (p *problem) write(w http.ResponseWriter) {
	if p.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	http.Error(w, p.text, p.status)
}

func problemf(status int, format string, args ...any) *problem {
	return &problem{status, fmt.Sprintf(format, args...)}
}

// memory is what reading one body takes.
type memory struct {
	body   bytes.Buffer
	reader node.Reader
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// keep is the largest body of which the memory is used again.
const keep = 1 << 20

func (m *memory) release() {
	if m.body.Cap() <= keep {
		m.body.Reset()
		m.reader.Reset()
		memories.Put(m)
	}
}

// read reads a review: its request without the object, that, and its apiVersion.
func read(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionRequest, *merge.Doc, string, *problem) {
	if r.Method != http.MethodPost {
		return nil, nil, "", problemf(http.StatusMethodNotAllowed, "An AdmissionReview is sent by POST.")
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, nil, "", problemf(http.StatusUnsupportedMediaType, "The Content-Type of an AdmissionReview is application/json.")
	}
	m := memories.Get().(*memory)
	defer m.release()
	if _, err := m.body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			return nil, nil, "", problemf(http.StatusRequestEntityTooLarge, "An AdmissionReview may be no larger than %d bytes.", maxBody)
		}
		return nil, nil, "", problemf(http.StatusBadRequest, "The body could not be read to its end.")
	}
	t, err := m.reader.Read(m.body.Bytes(), node.Limits{})
	if err != nil {
		return nil, nil, "", problemf(http.StatusBadRequest, "The body is no AdmissionReview: %v.", err)
	}
	return request(t)
}

// request takes from a review what Review looks at. It shares nothing with t.
func request(t *node.Tree) (*admissionv1.AdmissionRequest, *merge.Doc, string, *problem) {
	bad := func(format string, args ...any) (*admissionv1.AdmissionRequest, *merge.Doc, string, *problem) {
		return nil, nil, "", problemf(http.StatusBadRequest, format, args...)
	}
	version, kind := text(t, t.Lookup("apiVersion")), text(t, t.Lookup("kind"))
	if kind != "AdmissionReview" || version != "admission.k8s.io/v1" && version != "admission.k8s.io/v1beta1" {
		return bad("The body is no AdmissionReview of admission.k8s.io/v1 or v1beta1.")
	}
	i := t.Lookup("request")
	if i == node.None || t.Kind(i) != node.Map {
		return bad("The AdmissionReview has no request.")
	}
	field := func(of node.ID, name string) string {
		if of == node.None {
			return ""
		}
		return text(t, t.Field(of, name))
	}
	kinds := t.Field(i, "kind")
	req := &admissionv1.AdmissionRequest{
		UID: types.UID(field(i, "uid")),
		Kind: metav1.GroupVersionKind{
			Group: field(kinds, "group"), Version: field(kinds, "version"), Kind: field(kinds, "kind"),
		},
		SubResource: field(i, "subResource"),
		Name:        field(i, "name"),
		Namespace:   field(i, "namespace"),
		Operation:   admissionv1.Operation(field(i, "operation")),
	}
	if req.UID == "" {
		return bad("The request of the AdmissionReview has no uid.")
	}
	if dry := t.Field(i, "dryRun"); dry != node.None && t.Text(dry) == "true" {
		req.DryRun = new(true)
	}
	var object *merge.Doc
	if o := t.Field(i, "object"); o != node.None && t.Kind(o) != node.Null {
		object = docs.Of(t.Subtree(o)).(*merge.Doc)
	}
	return req, object, version, nil
}

// text returns a copy of the string that stands at i, or "".
func text(t *node.Tree, i node.ID) string {
	if i == node.None || t.Kind(i) != node.String {
		return ""
	}
	return strings.Clone(t.Text(i))
}
