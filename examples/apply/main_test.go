package main

// What the story prints is what README promises.
func Example() {
	main()
	// Output:
	// 1. We declare nginx. There is no such object yet, so all of it is sent.
	//
	// apps/v1 Deployment default/nginx: Create
	// + apiVersion  WeAdd            "apps/v1"
	// + kind        WeAdd            "Deployment"
	// + metadata    WeAdd            {"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"…
	// + spec        WeAdd            {"selector":{"matchLabels":{"app":"nginx"}},"template":{"metadata":{"la…
	//
	//    The server has set defaults. Somebody adds a container named envoy.
	//
	// 2. We declare image nginx:1.7.9. Only that is sent, and envoy stays.
	//
	// apps/v1 Deployment default/nginx: Patch
	// ~ metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]  WeSet            "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"an… → "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"an…
	// ~ spec.template.spec.containers[name=nginx].image               WeSet            "nginx" → "nginx:1.7.9"
	//
	// application/strategic-merge-patch+json: 500 bytes
	//
	// 3. We declare the same again. Nothing is sent.
	//
	// apps/v1 Deployment default/nginx: None
	//
	//    Somebody edits live by hand: image nginx:hotfix, 3 replicas.
	//
	// 4. We apply again: our image is restored, and the replicas that we never declared are left alone.
	//
	// apps/v1 Deployment default/nginx: Patch
	// ~ spec.template.spec.containers[name=nginx].image  TheySet          "nginx:hotfix" → "nginx:1.7.9"
	//
	// application/strategic-merge-patch+json: 86 bytes
	//
	// 5. And again: there is nothing left to do.
	//
	// apps/v1 Deployment default/nginx: None
	//
	// What the cluster holds in the end:
	//
	// replicas 3
	// container envoy envoyproxy/envoy:v1.30, pulled IfNotPresent
	// container nginx nginx:1.7.9, pulled IfNotPresent
}
