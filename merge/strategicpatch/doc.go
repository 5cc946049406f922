// Package strategicpatch has the functions of k8s.io/apimachinery/pkg/util/strategicpatch
// on the engine of package merge: a user changes the import and is done. Types are those
// of apimachinery, so values may cross.
//
// It does what package merge does under exact equality: patches say no more than what
// changes, lists with repeated keys lose nothing, and no patch is written that its own
// applier refuses. README lists the differences (the divergence catalogue). Errors are those
// of package mergepatch where apimachinery has one for the case, else of package merge.
// Arguments are not changed, though apimachinery's map functions change theirs.
//
// CreateThreeWayMergePatch takes an interface that is asked field by field, and so costs
// more than [merge.ThreeWay] with a schema from the table.
package strategicpatch
