package apply

import (
	"errors"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/net"

	"example.com/braid/merge"
)

// mayHelp reports whether to read, plan and send again after err, which ended an attempt that
// sent a plan, or nil if it did not come to that.
func mayHelp(err error, sent *Plan, desired *merge.Doc) bool {
	status, ok := statusOf(err)
	switch {
	case sent == nil:
		return passes(err)
	case sent.ID.Name == "": // nothing can be read that would tell whether it was made
		return ok && (status.Code == http.StatusTooManyRequests || status.Code == http.StatusConflict)
	case apierrors.IsConflict(err):
		_, pinned := desired.Text("metadata", "resourceVersion")
		return !pinned // else the declaration itself is for another version
	case apierrors.IsAlreadyExists(err):
		return sent.Operation == Create
	case apierrors.IsNotFound(err):
		return sent.Operation != Create // else it is the namespace, or the kind
	case apierrors.IsInvalid(err): // also what a test of a JSON Patch says; validation names causes
		return sent.PatchType == types.JSONPatchType && (status.Details == nil || len(status.Details.Causes) == 0)
	}
	return passes(err)
}

// passes reports whether an error is one of the network or of a server in trouble, and not an
// answer to the request. Whether a write was carried out is then unknown.
func passes(err error) bool {
	if status, ok := statusOf(err); ok {
		_, wait := apierrors.SuggestsClientDelay(err)
		return wait || status.Code >= 500 || status.Code == http.StatusTooManyRequests || status.Code == http.StatusRequestTimeout || status.Code == http.StatusConflict
	}
	return net.IsTimeout(err) || net.IsConnectionReset(err) || net.IsConnectionRefused(err) ||
		net.IsHTTP2ConnectionLost(err) || net.IsProbableEOF(err) || errors.Is(err, io.ErrUnexpectedEOF)
}

// refused reports whether an error is a server's answer that nothing was stored.
func refused(err error) bool {
	status, ok := statusOf(err)
	return ok && status.Code >= 400 && status.Code < 500 && status.Code != http.StatusRequestTimeout
}

func statusOf(err error) (metav1.Status, bool) {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return status.Status(), true
	}
	return metav1.Status{}, false
}
