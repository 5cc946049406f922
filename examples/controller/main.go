// Command controller is a controller-runtime manager that embeds braid: it keeps a Deployment
// for each ConfigMap that has the label example.com/site, by package apply, and injects a
// sidecar, by package inject. It runs against the cluster of your kubeconfig.
//
//	cd examples/controller && go run .
//	cd examples/controller && go run . -certs DIR    # serve the webhook, by tls.crt and tls.key
package main

import (
	"flag"
	"log"
	"log/slog"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/braid/examples/controller/sidecar"
	"example.com/braid/examples/controller/site"
)

func main() {
	certs := flag.String("certs", "", "the directory of tls.crt and tls.key; without it there is no webhook")
	flag.Parse()
	log.SetFlags(0)
	ctrl.SetLogger(logr.FromSlogHandler(slog.Default().Handler()))
	if err := run(*certs); err != nil {
		log.Fatal(err)
	}
}

func run(certs string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{WebhookServer: webhook.NewServer(webhook.Options{CertDir: certs})})
	if err != nil {
		return err
	}
	if err := site.Add(manager); err != nil {
		return err
	}
	if certs != "" {
		if err := sidecar.Add(manager); err != nil {
			return err
		}
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
