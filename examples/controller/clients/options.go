package clients

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
)

func list(o apply.ListOptions) metav1.ListOptions {
	if o.Labels == nil {
		return metav1.ListOptions{}
	}
	return metav1.ListOptions{LabelSelector: o.Labels.String()}
}

func dry(run bool) []string {
	if run {
		return []string{metav1.DryRunAll}
	}
	return nil
}

func sub(o apply.WriteOptions) []string {
	if o.Subresource != "" {
		return []string{o.Subresource}
	}
	return nil
}

func preconditions(o apply.DeleteOptions) *metav1.Preconditions {
	if o.UID == "" && o.ResourceVersion == "" {
		return nil
	}
	p := &metav1.Preconditions{}
	if o.UID != "" {
		p.UID = &o.UID
	}
	if o.ResourceVersion != "" {
		p.ResourceVersion = &o.ResourceVersion
	}
	return p
}

// status makes of an error about a kind that nobody serves what a server would answer.
func status(kind schema.GroupVersionKind, err error) error {
	if !meta.IsNoMatchError(err) {
		return err
	}
	resource := schema.GroupResource{Group: kind.Group, Resource: kind.Kind}
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "get", resource, "", err.Error(), 0, true)
}
