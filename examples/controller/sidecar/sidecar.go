// Package sidecar has a manager's webhook server inject a sidecar into pods and pod templates.
package sidecar

import (
	_ "embed"

	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
)

//go:embed sidecar.yaml
var text []byte

// Add has the manager's webhook server answer at admission.Path. The manager serves TLS;
// admission.Manifests writes what has an API server call it.
func Add(m ctrl.Manager) error {
	template, err := inject.ParseTemplate(text)
	if err != nil {
		return err
	}
	injector, err := inject.New(inject.Options{}, template)
	if err != nil {
		return err
	}
	decider, err := inject.NewDecider(inject.DecisionPolicy{Mode: inject.OptOut})
	if err != nil {
		return err
	}
	handler, err := admission.New(admission.Options{Config: admission.Config{
		Decider: decider, Mutate: admission.Inject(injector, map[string]string{"cluster": "east"}),
	}})
	if err != nil {
		return err
	}
	m.GetWebhookServer().Register(admission.Path, handler)
	return nil
}
