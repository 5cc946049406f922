package main

import (
	"bytes"
	"testing"
	"testing/synctest"
)

const want = `1. We create the Site blog.
   v1 ConfigMap default/blog: Create
   apps/v1 Deployment default/blog: Create
2. We edit it: 3 replicas.
   apps/v1 Deployment default/blog: Patch
      spec.replicas: 2 → 3
3. Somebody edits the Deployment by hand: another image, and a minReadySeconds that the
   controller says nothing of. The image is restored, the other field stays.
   apps/v1 Deployment default/blog: Patch
      spec.template.spec.containers[name=web].image: "hacked" → "nginx:1.29"
4. Somebody deletes the ConfigMap.
   v1 ConfigMap default/blog: Create
5. We edit the Site, but the server is too busy for the next two patches.
level=WARN msg="reconcile failed" id="example.com/v1 Site default/blog" failures=1 cause.error="v1 ConfigMap default/blog: the server is too busy"
level=WARN msg="reconcile failed" id="example.com/v1 Site default/blog" failures=2 cause.error="v1 ConfigMap default/blog: the server is too busy"
   v1 ConfigMap default/blog: Patch
      data["index.html"]: "Hello" → "Hello again"
   The Deployment's minReadySeconds: 5
6. We delete the Site. It goes when what it owns has gone.
   Delete v1 ConfigMap default/blog
   Delete apps/v1 Deployment default/blog
   Sites left: 0
   ConfigMaps left: 0
   Deployments left: 0
`

// Time is fake: the waits after errors take none.
func TestStory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		if err := tell(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	})
}
