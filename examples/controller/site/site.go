// Package site is a controller: for each ConfigMap with the label example.com/site it keeps a
// Deployment that serves what the ConfigMap holds. Others may write to that Deployment too.
package site

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"example.com/braid/apply"
	"example.com/braid/examples/controller/clients"
	"example.com/braid/merge"
)

// Label marks the ConfigMaps that are sites. Their key image says what serves them.
const Label = "example.com/site"

// Add sets up the controller with a manager.
func Add(m ctrl.Manager) error {
	// What applying reads must be what the cluster holds now, so not the manager's cache.
	direct, err := client.NewWithWatch(m.GetConfig(), client.Options{Scheme: m.GetScheme(), Mapper: m.GetRESTMapper(), HTTPClient: m.GetHTTPClient()})
	if err != nil {
		return err
	}
	applier, err := apply.NewApplier(clients.Runtime{Client: direct}, apply.ApplierOptions{
		FieldManager: "site-controller",
		Attempts:     1, // the manager's queue tries again
	})
	if err != nil {
		return err
	}
	isSite := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[Label] != "" })
	return ctrl.NewControllerManagedBy(m).
		For(&corev1.ConfigMap{}, builder.WithPredicates(isSite)).
		Owns(&appsv1.Deployment{}).
		Complete(&reconciler{m.GetClient(), applier})
}

type reconciler struct {
	client.Client
	applier *apply.Applier
}

// Reconcile declares the Deployment, and leaves the rest to the applier.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var site corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if site.Labels[Label] == "" || site.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	desired, err := merge.FromObject(deployment(&site))
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("site %s: %w", request, err)
	}
	_, err = r.applier.Apply(ctx, desired)
	return ctrl.Result{}, err
}

// deployment is what a site declares. It says nothing of replicas, which are an autoscaler's
// or a person's.
func deployment(site *corev1.ConfigMap) *appsv1.Deployment {
	labels := map[string]string{"site": site.Name}
	owner := metav1.NewControllerRef(site, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name, OwnerReferences: []metav1.OwnerReference{*owner}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{
						Name: "web", Image: site.Data["image"],
						VolumeMounts: []corev1.VolumeMount{{Name: "content", MountPath: "/usr/share/nginx/html"}},
					}},
					Volumes: []corev1.Volume{{Name: "content", VolumeSource: corev1.VolumeSource{
						ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: site.Name}},
					}}},
				},
			},
		},
	}
}
