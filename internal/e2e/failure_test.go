package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"example.com/braid/apply"
	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// What becomes of a pod when injection fails, by failurePolicy: Ignore and Fail.
func TestFailurePolicy(t *testing.T) {
	fails := func(*merge.Doc, inject.Values) (admission.Mutation, error) {
		return admission.Mutation{}, errors.New("out of order")
	}
	clash := "containers: [{name: app, image: theirs}]"
	tests := map[string]struct {
		options admission.Options
		spec    string
		down    bool
		ignored string // the warning, under Ignore
		failed  string // the error, under Fail
		reason  metav1.StatusReason
	}{
		"the webhook is down": {
			down: true, failed: "failed calling webhook", reason: metav1.StatusReasonInternalError,
		},
		"the handler fails": {
			options: admission.Options{Config: admission.Config{Mutate: fails}},
			ignored: "not injected: out of order", failed: "denied the request: injection failed: out of order", reason: metav1.StatusReasonInternalError,
		},
		"the handler panics": {
			options: admission.Options{Config: admission.Config{Mutate: func(*merge.Doc, inject.Values) (admission.Mutation, error) { panic("secret") }}},
			ignored: "not injected: panic of type string", failed: "injection failed: panic of type string", reason: metav1.StatusReasonInternalError,
		},
		"the patch does not apply": { // the server would refuse the pod, whatever the policy
			options: admission.Options{Config: admission.Config{Mutate: func(object *merge.Doc, _ inject.Values) (admission.Mutation, error) {
				return admission.Mutation{Patch: []byte(`[{"op":"remove","path":"/spec/nothing"}]`), Object: object}, nil
			}}},
			ignored: "not injected: " + admission.ErrPatch.Error(), failed: "injection failed: " + admission.ErrPatch.Error(), reason: metav1.StatusReasonInternalError,
		},
		"the pod is in conflict": {
			options: admission.Options{Config: admission.Config{Mutate: admission.Inject(injectorOf(t, clash), nil)}},
			ignored: "not injected: ", failed: "denied the request: injection failed: ", reason: metav1.StatusReasonInvalid,
		},
		"the handler takes too long": {
			options: admission.Options{NamespaceLabels: func(ctx context.Context, _ string) (map[string]string, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}},
			failed: "failed calling webhook", reason: metav1.StatusReasonInternalError,
		},
	}
	for name, test := range tests {
		for _, policy := range []admission.FailurePolicy{admission.FailOpen, admission.FailClosed} {
			title := name + ", Ignore"
			if policy == admission.FailClosed {
				title = name + ", Fail"
			}
			t.Run(title, func(t *testing.T) {
				t.Parallel() // it takes the server a second to hear of a webhook
				ns := namespace(t)
				o := test.options
				o.OnFailure = policy
				h := newHook(t, o)
				h.register(t, ns, admission.ManifestOptions{OnFailure: policy, TimeoutSeconds: 1})
				if test.down {
					h.stop()
				}
				var told warnings
				u := pod(t, ns, "web", "")
				stored, err := told.client(t).Create(t.Context(), u, apply.WriteOptions{})
				if policy == admission.FailClosed {
					if err == nil || apierrors.ReasonForError(err) != test.reason || !strings.Contains(err.Error(), test.failed) {
						t.Errorf("got error %v (%s), want %s: …%s…", err, apierrors.ReasonForError(err), test.reason, test.failed)
					}
					if _, err := client.Get(t.Context(), apply.IDOf(u)); !apierrors.IsNotFound(err) {
						t.Errorf("the pod is there: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := images(stored, "containers"); got != "app:1" {
					t.Errorf("the pod has %s, want it as it was", got)
				}
				if test.ignored != "" && !slices.ContainsFunc(told.all, func(w string) bool { return strings.Contains(w, test.ignored) }) {
					t.Errorf("warnings %q, want one of %q", told.all, test.ignored)
				}
			})
		}
	}
}

// warnings are what a server tells its clients beside its answers.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

// client is one whose warnings are kept.
func (w *warnings) client(t *testing.T) apply.Client {
	t.Helper()
	config := rest.CopyConfig(real.Config)
	config.WarningHandler = w
	c, err := newClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
