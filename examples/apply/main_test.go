package main

// What the story prints is what README promises.
func Example() {
	main()
	// Output:
	// 1. We declare nginx. There is no such object yet, so all of it is sent.
	//
	// + apiVersion  WeAdd            "apps/v1"
	// + kind        WeAdd            "Deployment"
	// + metadata    WeAdd            {"name":"nginx"}
	// + spec        WeAdd            {"selector":{"matchLabels":{"app":"nginx"}},"template":{"metadata":{"la…
	//
	// patch: {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"nginx"},"spec":{"selector":{"matchLabels":{"app":"nginx"}},"template":{"metadata":{"labels":{"app":"nginx"}},"spec":{"containers":[{"image":"nginx","name":"nginx"}]}}}}
	//    The server stores it with defaults, and somebody adds a container named envoy.
	//
	// 2. We declare image nginx:1.7.9. Only that is sent, and envoy stays.
	//
	// ~ spec.template.spec.containers[name=nginx].image  WeSet            "nginx" → "nginx:1.7.9"
	//
	// patch: {"spec":{"template":{"spec":{"containers":[{"image":"nginx:1.7.9","name":"nginx"}]}}}}
	//
	// 3. We declare the same again. Nothing is sent.
	//
	// nothing to change
	//
	// patch: {}
	//
	// 4. Somebody edits live by hand: image nginx:hotfix, 3 replicas. We apply again: our image is
	//    restored, and the replicas we never declared are left alone.
	//
	// ~ spec.template.spec.containers[name=nginx].image  TheySet          "nginx:hotfix" → "nginx:1.7.9"
	//
	// patch: {"spec":{"template":{"spec":{"containers":[{"image":"nginx:1.7.9","name":"nginx"}]}}}}
}
