package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/kube-openapi/pkg/spec3"
	kubectlapply "k8s.io/kubectl/pkg/cmd/apply"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"example.com/braid/merge"
)

// kubectl is kubectl apply in this process. It is a genericclioptions.RESTClientGetter.
type kubectl struct {
	kinds   discovery.CachedDiscoveryInterface
	ns      string
	openapi openapi3.Root // of the first run
}

func newKubectl(t *testing.T, ns string) *kubectl {
	t.Helper()
	kinds, err := discovery.NewDiscoveryClientForConfig(real.Config)
	if err != nil {
		t.Fatal(err)
	}
	return &kubectl{kinds: memory.NewMemCacheClient(kinds), ns: ns}
}

func (k *kubectl) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(real.Config), nil }

func (k *kubectl) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return k.kinds, nil
}

func (k *kubectl) ToRESTMapper() (meta.RESTMapper, error) {
	return restmapper.NewDeferredDiscoveryRESTMapper(k.kinds), nil
}

func (k *kubectl) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	overrides := &clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: k.ns}}
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), overrides)
}

// apply is kubectl apply -f with more flags. It returns what kubectl says of each object, by
// its name, and all that it says on the side.
func (k *kubectl) apply(t *testing.T, desired []*merge.Doc, args ...string) (said map[string]string, aside string) {
	t.Helper()
	var text, out, warnings bytes.Buffer
	for _, d := range desired {
		text.WriteString("---\n")
		text.Write(d.JSON())
		text.WriteString("\n")
	}
	file := filepath.Join(t.TempDir(), "desired.yaml")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := kubectlapply.NewApplyFlags(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &warnings})
	command := &cobra.Command{Use: "apply"}
	flags.AddFlags(command)
	if err := command.ParseFlags(append([]string{"-f", file, "--validate=ignore"}, args...)); err != nil {
		t.Fatal(err)
	}
	o, err := flags.ToOptions(cmdutil.NewFactory(k), command, "kubectl", nil)
	if err != nil {
		t.Fatal(err)
	}
	if k.openapi == nil {
		k.openapi = openapiOnce{o.OpenAPIV3Root, map[gvk.GroupVersion]*spec3.OpenAPI{}}
	}
	o.OpenAPIV3Root = k.openapi
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := o.Run(); err != nil {
		t.Errorf("kubectl apply %v: %v", args, err)
	}
	said = map[string]string{}
	for line := range strings.Lines(out.String()) {
		address, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, name, _ := strings.Cut(address, "/")
		said[name] = what
	}
	return said, warnings.String()
}

// openapiOnce reads each document once; kubectl does so twice for each object.
type openapiOnce struct {
	openapi3.Root
	read map[gvk.GroupVersion]*spec3.OpenAPI
}

func (o openapiOnce) GVSpec(gv gvk.GroupVersion) (*spec3.OpenAPI, error) {
	if known, ok := o.read[gv]; ok {
		return known, nil
	}
	spec, err := o.Root.GVSpec(gv)
	if err == nil {
		o.read[gv] = spec
	}
	return spec, err
}
