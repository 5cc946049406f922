// Package e2e holds what braid predicts against a real kube-apiserver, which runs in the
// process of the test, with an etcd beside it and no controllers.
//
//	server.go            the two, started once for all tests
//	main_test            a client of it, as package apply wants one
//	predict_test         patches of every kind
//	admission_test       inject's webhook, which webhook_test serves and registers
//	turns_test           kubectl and braid in turn; kubectl_test runs it in the process
//
// The server tells no version at /version but v0.0.0-master+$Format:%H$, for that is set by
// flags of the linker.
//
// It is one package, for each that imports a kube-apiserver takes minutes to link.
package e2e
