package apply_test

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
)

// What a cluster holds is reconciled at the start; what happens to it, and errors, bring it
// back. examples/reconcile is a whole controller.
func ExampleReconciler() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cluster := memory.New(memory.Options{})
	id := apply.ID{GVK: configMaps, Namespace: "default", Name: "settings"}
	if _, err := cluster.Create(ctx, object(id), apply.WriteOptions{}); err != nil {
		panic(err)
	}
	r, err := apply.NewReconciler(apply.ReconcilerOptions{
		Cluster: cluster,
		Sources: []apply.Source{{Kind: configMaps}},
		Reconcile: func(ctx context.Context, id apply.ID) (time.Duration, error) {
			_, err := cluster.Get(ctx, id)
			if apierrors.IsNotFound(err) {
				fmt.Println("gone:", id)
				cancel() // the end of this example
				return 0, nil
			}
			fmt.Println("there:", id)
			return 0, cluster.Delete(ctx, id, apply.DeleteOptions{})
		},
	})
	if err != nil {
		panic(err)
	}
	r.Run(ctx)
	// Output:
	// there: v1 ConfigMap default/settings
	// gone: v1 ConfigMap default/settings
}
