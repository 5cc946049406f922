package admission

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"unicode"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

// answer makes the response of a call that has run, and notes its outcome.
func (c *call) answer() *admissionv1.AdmissionResponse {
	resp := &admissionv1.AdmissionResponse{UID: c.req.UID, Allowed: true}
	warnings := c.mutation.Warnings
	c.seen.DryRun = c.req.DryRun != nil && *c.req.DryRun
	switch {
	case c.err != nil:
		c.seen.Err = c.err
		if c.seen.Outcome = Failed; c.handler.o.OnFailure == FailClosed {
			c.seen.Outcome = Denied
			resp.Allowed, resp.Result = false, denial(c.err)
		} else {
			what := "not injected: "
			if c.seen.Reason.Uninject() {
				what = "not taken out: "
			}
			warnings = append(warnings[:len(warnings):len(warnings)], what+c.err.Error())
		}
	case !c.seen.Reason.Inject() && !c.seen.Reason.Uninject():
		if c.seen.Outcome = Skipped; c.seen.Reason.Unclear() {
			warnings = append(warnings, "not injected: "+c.wish()+` says neither "true" or "enabled" nor "false" or "disabled"`)
		}
	case len(c.mutation.Patch) == 0:
		c.seen.Outcome = Unchanged
	default:
		c.seen.Outcome = Patched
		resp.Patch, resp.PatchType = c.mutation.Patch, new(admissionv1.PatchTypeJSONPatch)
	}
	resp.Warnings = limited(warnings)
	resp.AuditAnnotations = map[string]string{"outcome": c.seen.Outcome.String(), "reason": c.seen.Reason.String()}
	if c.err == nil && len(c.mutation.Injections) > 0 {
		resp.AuditAnnotations["templates"] = names(c.mutation.Injections)
	}
	return resp
}

// wish names what somebody wrote that is unclear.
func (c *call) wish() string {
	keys := c.config.Decider.Keys()
	switch c.seen.Reason {
	case inject.LabelUnclear:
		return "the label " + keys.Label
	case inject.AnnotationUnclear:
		return "the annotation " + keys.Annotation
	}
	return "the namespace's label " + keys.Namespace
}

// names lists what is injected, for the audit log.
func names(injections []inject.Injection) string {
	var out []string
	for _, i := range injections {
		out = append(out, i.Name+"="+i.Version)
	}
	return strings.Join(out, ",")
}

// denial says why a request is denied: the object is at fault if something in it is in
// conflict, and else we are.
func denial(err error) *metav1.Status {
	s := &metav1.Status{
		Status: metav1.StatusFailure, Message: "injection failed: " + err.Error(),
		Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError,
	}
	if errors.Is(err, merge.ErrConflict) {
		s.Reason, s.Code = metav1.StatusReasonInvalid, http.StatusUnprocessableEntity
	}
	return s
}

// What an API server passes on to its caller (apiserver, endpoints/filters/warning.go). It
// drops a warning with control characters, which no HTTP header can hold.
const (
	warningRunes  = 256
	warningsRunes = 4096
)

// limited makes of warnings what an API server passes on whole.
func limited(warnings []string) []string {
	var out []string
	total := 0
	for _, w := range warnings {
		text := []rune(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(w, "\uFFFD")))
		if len(text) > warningRunes {
			text = append(text[:warningRunes-1], '…')
		}
		if total += len(text); total > warningsRunes {
			break
		}
		out = append(out, string(text))
	}
	return out
}

// write sends a response in a review of the version that was asked in: v1 and v1beta1
// differ in their name only.
func write(w http.ResponseWriter, version string, resp *admissionv1.AdmissionResponse) {
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "AdmissionReview"}, Response: resp,
	})
	if err != nil {
		http.Error(w, "The answer could not be written.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // an API server that is gone needs no answer
}

// log says what became of a call, and of what object, without its contents.
func (c *call) log(ctx context.Context) {
	level := slog.LevelDebug
	switch c.seen.Outcome {
	case Patched:
		level = slog.LevelInfo
	case Failed, Denied:
		level = slog.LevelError
	}
	if !c.handler.o.Logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("outcome", c.seen.Outcome.String()), slog.String("reason", c.seen.Reason.String()),
		slog.String("uid", string(c.req.UID)), slog.String("kind", c.req.Kind.Kind),
		slog.String("namespace", c.candidate.Namespace), slog.String("name", c.name()),
		slog.Bool("dryRun", c.seen.DryRun),
	}
	if c.err != nil {
		attrs = append(attrs, slog.String("error", c.err.Error()))
	}
	if c.stack != nil {
		attrs = append(attrs, slog.String("stack", string(c.stack)))
	}
	c.handler.o.Logger.LogAttrs(ctx, level, "review", attrs...)
}

// name is what the object is called, or will be but for the end.
func (c *call) name() string {
	if c.req.Name != "" || c.candidate.Object == nil {
		return c.req.Name
	}
	if name, _ := c.candidate.Object.Text("metadata", "name"); name != "" {
		return name
	}
	name, _ := c.candidate.Object.Text("metadata", "generateName")
	return name
}
