package initializer

import (
	"fmt"

	"example.com/braid/apply"
	"example.com/braid/inject"
)

// Outcome is what became of an object.
type Outcome uint8

const (
	Injected  Outcome = iota // it got what it lacked of the templates, or another version of them
	Removed                  // it said no, and what was injected was taken out
	Unchanged                // it has all that would be injected
	Skipped                  // the decision was no
	Refused                  // the cluster does not take the patch
	Failed                   // nothing could be injected, as where a template clashes with it
)

var outcomes = [...]string{"Injected", "Removed", "Unchanged", "Skipped", "Refused", "Failed"}

// String returns the name of the outcome: a stable code for metrics and logs.
func (o Outcome) String() string {
	if int(o) < len(outcomes) {
		return outcomes[o]
	}
	return fmt.Sprintf("Outcome(%d)", o)
}

// Observation is what an Initializer tells of one object. Refused and Failed are told once,
// until they change: the next pass is for what has changed since. What another pass may mend,
// such as a server that is busy, is not told here but in the loop's log.
type Observation struct {
	ID      apply.ID
	Version string // the object's resourceVersion, as it was read
	Outcome Outcome
	Reason  inject.Reason  // of the decision
	Result  *inject.Result // what changes, and drift, conflicts and warnings; nil if Skipped or Failed
	Err     error          // if Refused, when it may quote the object, or Failed
}
