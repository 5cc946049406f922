// Package e2e holds what braid predicts against a real kube-apiserver, which runs in the
// process of the test, with an etcd beside it and no controllers.
//
//	server.go    the two, started once for all tests
//	client_test  a client of it, as package apply wants one
//
// It is one package, for each that imports a kube-apiserver takes minutes to link.
package e2e
