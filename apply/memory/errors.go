package memory

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// resource returns what errors call a kind.
func resource(kind schema.GroupVersionKind) schema.GroupResource {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.GroupResource()
}

func invalid(id apply.ID, errs ...*field.Error) error {
	return apierrors.NewInvalid(id.GVK.GroupKind(), id.Name, errs)
}

// status is an error for which apimachinery has no constructor.
func status(code int32, reason metav1.StatusReason, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: fmt.Sprintf(format, args...),
	}}
}

// noSuchPath is what a server answers under a path that it does not serve.
func noSuchPath() error {
	return status(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
}

func stale(id apply.ID) error {
	return apierrors.NewConflict(resource(id.GVK), id.Name,
		errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

// mismatch is the error of a precondition.
func mismatch(id apply.ID, what string, asked, has any) error {
	return apierrors.NewConflict(resource(id.GVK), id.Name,
		fmt.Errorf("precondition failed: %s in precondition: %v, %s in object meta: %v", what, asked, what, has))
}

func unsupported(builtin bool) error {
	accepted := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if builtin {
		accepted = append(accepted, string(types.StrategicMergePatchType))
	}
	return status(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: %s", strings.Join(accepted, ", "))
}

// unpatchable is the error of a patch that cannot be applied. The codes are those of
// k8s.io/apiserver, endpoints/handlers/patch.go.
func unpatchable(t types.PatchType, err error) error {
	is := func(rules ...error) bool {
		for _, rule := range rules {
			if errors.Is(err, rule) {
				return true
			}
		}
		return false
	}
	switch {
	case t == types.JSONPatchType, errors.Is(err, merge.ErrInexpressible):
		return status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "%v", err)
	case is(merge.ErrUnknownField, merge.ErrNoKey, merge.ErrOrder):
		return status(http.StatusInternalServerError, metav1.StatusReasonUnknown, "%v", err)
	}
	return apierrors.NewBadRequest(err.Error())
}
