// Command braid merges Kubernetes objects that stand in files.
//
//	braid diff FROM TO
//	braid merge [-last L] -live V -desired D
//	braid patch -type strategic|merge|json OBJECT PATCH
//	braid plan [-live V] FILE
//	braid inject -template T FILE
//	braid uninject FILE
//
// Run braid -h for the flags and an example.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"example.com/braid/merge"
)

const usage = `braid merges Kubernetes objects: what you said last, what is there now, what you say now.

  braid diff FROM TO                          what turns FROM into TO
  braid merge [-last L] -live V -desired D    what turns live into the merged object
  braid patch -type strategic OBJECT PATCH    what a server makes of a patch (strategic, merge or json)
  braid plan [-live V] FILE                   what applying a manifest, or a directory of them, would do
  braid inject -template T FILE               what puts a template, such as a sidecar, into the pods of the objects
  braid uninject FILE                         what takes out of them what was injected

Files are YAML or JSON; - is standard input. Without -last, the annotation that
kubectl apply leaves in live serves. Exit status: 0 done, 1 conflict, 2 bad input;
of plan, as of diff(1): 0 nothing to do, 1 something, 2 trouble.

Flags:
  -out patch|merged|report|changed      what to print (default patch; of plan report, and no patch);
                                        of inject and uninject, a line or report for each object
  -dialect strategic|merge|json|apply   the format of the patch: strategic merge patch, JSON merge patch, JSON Patch,
                                        apply configuration (default strategic, for custom kinds merge);
                                        of inject and uninject strategic|json (default json)
  -policy apply|strict|update|branch    what to do where live was changed too (default apply)
  -model strategic|structured|plain     whose rules: kubectl apply, kubectl apply --server-side, none
  -crd FILE                             the CustomResourceDefinition of a custom kind
  -schemaless                           merge maps by field, replace lists, whatever the kind
  -rule PATH=RULE                       another rule for one path: spec.template.spec.containers[*].args=set
                                        (atomic, granular, set, map=KEY,..., retainKeys, quantity, duration, nullable, ...)
  -infer                                guess the keys of lists that no schema knows
  -nulls remove|keep|reject             what a null in desired means (default remove)
  -equality semantic|exact              whether 1000m is 1 (default semantic)
  -ignore PATH                          leave what live has there: spec.replicas, spec.containers[name=istio-proxy]
  -handover PATH                        do not remove what desired no longer declares there
  -live FILE|DIR, of plan               what the cluster holds: kubectl get -o yaml (default nothing)
  -namespace NAME, of plan and inject   of objects that name none (default default)
  -set NAME, of plan                    the Secret that is the parent of the ApplySet: prune its other members in live
  -template FILE, of inject             a ConfigMap or a piece of a pod template; given several times, laid in that order
  -set NAME=VALUE, of inject            what @{values.NAME} stands for; may be given several times
  -conflict fail|keep|template|skip     of inject: what counts where the object and a template say different things (default fail)
  -native auto|always|never             of inject: whether sidecars stand among the init containers (default auto: in jobs)
  -drift keep|undo                      of inject and uninject: of what was changed since it was injected (default keep)
  -pod-template KIND.GROUP=PATH         of inject and uninject: where a custom kind has its pod template: spec.template
  -crd, -rule, -ignore, -handover and -pod-template may be given several times.

Example, for bash, after go install ./examples/braid:

  braid merge \
    -last    <(echo '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}}') \
    -live    <(echo '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":[{"port":80,"protocol":"TCP","targetPort":80}],"clusterIP":"10.0.0.7"}}') \
    -desired <(echo '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":[{"port":80,"targetPort":8080}]}}')
`

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the program; it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &command{stdin: stdin, stderr: stderr}
	out, err := c.run(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case errors.Is(err, merge.ErrConflict):
		fmt.Fprintln(stderr, "braid:", err)
		return 1
	case err != nil && out == nil:
		fmt.Fprintln(stderr, "braid:", err)
		return 2
	}
	if _, err := stdout.Write(out); err != nil {
		fmt.Fprintln(stderr, "braid:", err)
		return 2
	}
	switch {
	case errors.Is(err, errChanges):
		return 1
	case err != nil:
		fmt.Fprintln(stderr, "braid:", err)
		return 2
	}
	return 0
}
