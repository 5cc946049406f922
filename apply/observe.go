package apply

import (
	"strings"

	"example.com/braid/merge"
)

// observe warns of edits that do what their author may not expect.
func (p *Plan) observe() {
	for _, w := range p.result.Warnings() {
		path := ""
		if len(w.Path) > 0 {
			path = w.Path.String()
		}
		p.warn(path, "%s: %s", w.Doc, w.Text)
	}
	for _, e := range p.result.Edits() {
		if e.Action != merge.Take || e.Order {
			continue
		}
		path := e.Path.String()
		switch {
		case path == "spec.replicas" && e.Case == merge.WeRemove, path == "spec.replicas" && e.Case == merge.WeRemoveTheySet:
			p.warn(path, "no longer declared, so the server sets its default, now %v: hand it over to leave it to an autoscaler", e.Live)
		case path == "spec.replicas" && (e.Case == merge.TheySet || e.Case == merge.BothSetOther || e.Case == merge.BothAddOther):
			p.warn(path, "somebody else set %v, which becomes %v: hand it over if an autoscaler does", e.Live, e.Desired)
		case e.Case == merge.TheyAdd:
			p.warn(path, "nobody declared this, and it cannot stand beside what is declared: it is removed")
		case e.Case == merge.TheyRemove:
			p.warn(path, "declared before and not in live: a server that does not know the field drops it each time")
		}
		if immutable(p.ID, path) && e.Live.Present() {
			p.warn(path, "a server refuses to change this: the object has to be deleted and made anew")
		}
	}
}

// fixed are the fields that a server refuses to change once an object exists, by group and
// kind; after the bar, those below them that it lets change. The rules are those of the
// strategies and validations in k8s.io/kubernetes, pkg/registry and pkg/apis.
var fixed = map[string]string{
	"apps/Deployment":                       "spec.selector",
	"apps/ReplicaSet":                       "spec.selector",
	"apps/DaemonSet":                        "spec.selector",
	"apps/StatefulSet":                      "spec | spec.replicas spec.ordinals spec.template spec.updateStrategy spec.revisionHistoryLimit spec.persistentVolumeClaimRetentionPolicy spec.minReadySeconds",
	"batch/Job":                             "spec.selector spec.completionMode spec.podFailurePolicy spec.backoffLimitPerIndex spec.managedBy",
	"/Service":                              "spec.clusterIP",
	"/Secret":                               "type",
	"/PersistentVolumeClaim":                "spec | spec.resources spec.volumeAttributesClassName",
	"/Pod":                                  "spec | spec.containers spec.initContainers spec.activeDeadlineSeconds spec.terminationGracePeriodSeconds spec.tolerations spec.schedulingGates",
	"rbac.authorization.k8s.io/RoleBinding": "roleRef",
	"rbac.authorization.k8s.io/ClusterRoleBinding": "roleRef",
	"storage.k8s.io/StorageClass":                  "provisioner parameters reclaimPolicy volumeBindingMode",
	"scheduling.k8s.io/PriorityClass":              "value preemptionPolicy",
}

// immutable reports whether a server refuses to change what stands at a path. It knows the
// cases that users meet, not all.
func immutable(id ID, path string) bool {
	rule, loose, _ := strings.Cut(fixed[id.GVK.Group+"/"+id.GVK.Kind], "|")
	within := func(fields string) bool {
		for _, f := range strings.Fields(fields) {
			if rest, ok := strings.CutPrefix(path, f); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return true
			}
		}
		return false
	}
	return within(rule) && !within(loose)
}
