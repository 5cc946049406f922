// Command controller is a controller-runtime manager that embeds braid: it keeps a Deployment
// for each ConfigMap that has the label example.com/site, by package apply. It runs against
// the cluster of your kubeconfig.
//
//	cd examples/controller && go run .
package main

import (
	"log"
	"log/slog"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/braid/examples/controller/site"
)

func main() {
	log.SetFlags(0)
	ctrl.SetLogger(logr.FromSlogHandler(slog.Default().Handler()))
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{})
	if err != nil {
		return err
	}
	if err := site.Add(manager); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
