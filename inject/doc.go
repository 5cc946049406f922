// Package inject injects templates, such as sidecars, into pods and whatever has a pod
// template: Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs, CronJobs, lists, custom
// kinds.
//
// It is the merge of package merge, with what was injected the last time in the place of
// last-applied:
//
//	          record (annotation)
//	               │ undo, as far as it is true of live
//	live ──────────┴──► base: the pod as its author would have it
//	                      │
//	templates + values ───┴─ lay ──► desired, or conflicts: all or nothing
//	                                    │
//	last = base + record ──┐            │
//	live ──────────────────┼────────────┴─► merge.ThreeWay ─► object, patch, drift
//
// Where nobody else has been there, desired is the object, and nothing need be merged.
//
// So injecting again changes nothing, another template gives what it would have given the
// first time, removal restores what was there, and what somebody has changed in the meantime
// stays and is told.
//
// # What holds
//
// Write I(x,T) for the injection of T into x, and U(x) for its removal, with nobody else in
// between:
//
//   - I(I(x,T),T) = I(x,T), and the patch is empty.
//   - U(I(x,T)) = x, as JSON values: also annotations that were not there are not there.
//   - I(I(x,T1),T2) = I(x,T2).
//   - The elements of the author's lists are all there, in their order.
//   - No container, volume, variable, mount or port stands twice.
//   - The patch applied to the object as given gives the object as it becomes.
//
// If others have been there: what a server defaults or others add to lists and maps stays,
// also within what was injected. What they changed stays and is a [Drift], unless
// [UndoDrift] says otherwise.
//
// # Templates
//
// See [ParseTemplate] for their form. What a template says of a field, and of an element of
// a list, meets what the pod has there:
//
//	pod      template   outcome
//	absent   x          x, and the record says so
//	x        x          x: the pod's own, which stays when the template goes
//	x        y          a [Conflict], with the rule that it breaks; see [OnConflict]
//
// Equal is also what differs only by the defaults of a server. Labels that a pod has never
// change. A list without keys in which elements stand for themselves (tolerations, envFrom)
// gets those that it lacks. A pod may have a container of a template's name if the template
// allows that ([OverrideAnnotation]): then the pod's values win and the template gives the
// rest. The container * of a template is added to every container of the pod.
//
// Variables stand before those that refer to them. Containers stand where [OrderAnnotation]
// says, volumes and all else at the end; what stands already is not moved if somebody else
// has been there.
//
// Placeholders in scalars stand for values of the pod or the caller:
//
//	@{pod.name}  @{pod.namespace}  @{pod.labels["app"]}  @{pod.annotations["example.com/port"]}
//	@{values.cluster}              a value that the caller gives
//	@{values.cluster:-none}        with what stands in if there is none
//	"@{values.port|int}"           the whole scalar becomes a number; |bool a boolean
//	@@{                            a plain @{
//
// They are data: nothing that they hold becomes structure or, where a kubelet expands
// $(VAR), a reference.
//
// # Whom to inject into
//
// A [Decider] says so of a [Candidate], with one [Reason]. What no wish can overrule comes
// first (an update of a pod, a mirror pod, a namespace of the system), then what the object
// says (whose no also takes out what was injected), what stands in it already, what the
// [DecisionPolicy] selects, what the namespace says, and last the policy's Mode. Package
// admission asks it for an API server, package initializer for what a cluster holds already.
//
// # The record
//
// See [RecordAnnotation]. Users can write it, and so it is only as good as what it says is
// true of the object.
package inject
