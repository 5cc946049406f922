// Command webhook runs an injector on HTTPS and asks it what an API server would: about a
// new pod, about the result once more, about a pod that does not want to be injected into,
// and about nonsense. In between it renews the template and the certificate while it serves.
// It needs no cluster; it prints what was asked and answered.
//
//	go run ./examples/webhook
//	go run ./examples/webhook -manifests    # what a cluster needs to call it
package main

import (
	"context"
	_ "embed"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"time"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

//go:embed pod.yaml
var pod []byte // what a user makes

//go:embed template-1.yaml
var first []byte // what we inject at first

//go:embed template-2.yaml
var second []byte // what we inject later

func main() {
	manifests := flag.Bool("manifests", false, "write what a cluster needs to call the webhook")
	flag.Parse()
	log.SetFlags(0)
	run := tell
	if *manifests {
		run = write
	}
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func write(out io.Writer) error {
	text, err := admission.Manifests(admission.ManifestOptions{Namespace: "injector", Image: "injector:1", TemplateConfigMap: "templates"})
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// config makes of a template what the webhook answers by.
func config(text []byte) (c admission.Config, err error) {
	template, err := inject.ParseTemplate(text)
	if err != nil {
		return c, err
	}
	injector, err := inject.New(inject.Options{}, template)
	if err != nil {
		return c, err
	}
	c.Mutate = admission.Inject(injector, map[string]string{"cluster": "east"})
	c.Decider, err = inject.NewDecider(inject.DecisionPolicy{Mode: inject.OptOut, IgnoredNamespaces: []string{"injector"}})
	return c, err
}

func tell(out io.Writer) error {
	now, err := config(first)
	if err != nil {
		return err
	}
	var counters admission.Counters
	handler, err := admission.New(admission.Options{Config: now, Observe: counters.Observe})
	if err != nil {
		return err
	}
	var certificate admission.Certificate
	server := admission.NewServer(admission.ServerOptions{
		Handler: handler, Certificate: &certificate, Metrics: &counters, Drain: time.Millisecond,
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	defer end()

	api := apiServer{out: out, url: "https://" + listener.Addr().String()}
	if err := api.trust(&certificate, 1); err != nil {
		return err
	}
	if err := story(&api, handler, &certificate); err != nil {
		return err
	}
	api.say("\n7. What the metrics say:\n\n")
	if _, err := counters.WriteTo(out); err != nil {
		return err
	}
	end()
	return <-ended
}

// story asks and changes what is asked about.
func story(api *apiServer, handler *admission.Handler, certificate *admission.Certificate) error {
	made, err := merge.ParseYAML(pod)
	if err != nil {
		return err
	}
	stored, err := api.create("1. A user makes a pod. The API server asks the webhook, and applies its patch.", made.JSON())
	if err != nil {
		return err
	}
	if _, err = api.create("2. Another webhook has changed something, so we are asked again. We have nothing to add.", stored); err != nil {
		return err
	}
	quiet, err := merge.ApplyPatch(merge.JSONMergePatch, made.JSON(), []byte(`{"metadata":{"labels":{"`+inject.DefaultKey+`":"false"}}}`), merge.Options{Schema: merge.Schemaless()})
	if err != nil {
		return err
	}
	if _, err = api.create("3. A pod that does not want it.", quiet); err != nil {
		return err
	}
	newer, err := config(second)
	if err != nil {
		return err
	}
	if err := handler.Reload(newer); err != nil {
		return err
	}
	if _, err = api.create("4. There is a new template, without a restart. A copy of the first pod has what the first\n   template gave, and gets what the second one does.", stored); err != nil {
		return err
	}
	if err := api.trust(certificate, 2); err != nil {
		return err
	}
	if _, err = api.create("5. There is a new certificate, without a restart, and a new pod.", made.JSON()); err != nil {
		return err
	}
	api.say("\n6. Somebody sends what is no AdmissionReview.\n\n")
	status, answer, err := api.post([]byte(`{"kind":"Pod"}`))
	if err != nil {
		return err
	}
	api.say("   %d %s", status, answer)
	return nil
}
