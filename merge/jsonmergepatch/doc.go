// Package jsonmergepatch has the function of
// k8s.io/apimachinery/pkg/util/jsonmergepatch on the engine of package merge: a user
// changes the import and is done.
//
// It parts from apimachinery's in that numbers keep all their digits, and that a null in
// modified removes the field whatever original says.
package jsonmergepatch
