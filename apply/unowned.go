package apply

import "slices"

// byHand are kubectl's commands that change objects in place, by the managers that they write
// as (kubectl v1.37, pkg/cmd, AddFieldManagerFlagVar).
//
// Commands that make whole objects are not among them (create, run, expose, autoscale,
// replace): they own the server's defaults, as does plain kubectl on objects that a kubectl apply
// before 1.19 made. Nor is rollout: to take back the annotation by which it restarts pods would
// restart them again. scale writes to a subresource, as autoscalers do.
var byHand = []string{
	"kubectl-annotate", "kubectl-edit", "kubectl-label", "kubectl-patch", "kubectl-set", "kubectl-taint",
}

// ByHand returns the managers that a Planner takes for people who edit objects, if its options
// name none: kubectl edit, patch, label, annotate, set and taint. Consoles write as what they call
// themselves, browsers as Mozilla; name them if they make no objects.
func ByHand() []string { return slices.Clone(byHand) }
