package main

import (
	"context"
	"fmt"
	"os"
)

// What the story prints is what README promises.
func Example() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1. The loop finds a Deployment that opts in by its label.
	//    apps/v1 Deployment shop/web: Injected, because LabelOn, by a patch of 744 bytes
	//    web runs app (app:1), proxy (proxy:1)
	// 2. Somebody makes a Deployment that says nothing.
	//    apps/v1 Deployment shop/api: Skipped, because DefaultOff
	//    api runs app (app:1)
	// 3. The namespace opts in.
	//    apps/v1 Deployment shop/api: Injected, because NamespaceOn, by a patch of 744 bytes
	//    web runs app (app:1), proxy (proxy:1)
	//    api runs app (app:1), proxy (proxy:1)
	// 4. Somebody edits web: another image, and a container of their own. There is nothing to do.
	//    web runs app (app:2), log (log:1), proxy (proxy:1)
	// 5. Somebody replaces api by their file, which knows nothing of the proxy.
	//    apps/v1 Deployment shop/api: Injected, because NamespaceOn, by a patch of 744 bytes
	//    api runs app (app:1), proxy (proxy:1)
	// 6. There is a new template, without a restart: another image, no volume.
	//    apps/v1 Deployment shop/api: Injected, because AlreadyInjected, by a patch of 690 bytes
	//    apps/v1 Deployment shop/web: Injected, because LabelOn, by a patch of 690 bytes
	//    web runs app (app:2), log (log:1), proxy (proxy:2)
	//    api runs app (app:1), proxy (proxy:2)
	// 7. web opts out. Nothing of the proxy is left.
	//    apps/v1 Deployment shop/web: Removed, because OptedOut, by a patch of 120 bytes
	//    apps/v1 Deployment shop/web: Skipped, because LabelOff
	//    web runs app (app:2), log (log:1)
	// 8. Somebody makes a pod. A server changes no pods: that is for the webhook.
	//    v1 Pod shop/job: Refused as Invalid, though NamespaceOn
	//    job runs job (job:1)
}
