package apply

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/braid/merge"
)

// ErrNotTried is the rule of errors about objects that were not applied because the context
// ended before.
var ErrNotTried = errors.New("not tried")

// Outcome is what became of one object that was applied.
type Outcome struct {
	ID ID // with the name that the cluster made of a generateName
	// Operation is that of the last write that was sent, or None if there was nothing to send.
	// Beside an error it need not have been carried out.
	Operation Operation
	Attempts  int   // how often the object was read and planned; 0 if it was not tried
	Plan      *Plan // of Operation; nil if it did not come to that
	// Object is what the cluster holds, or would hold after a dry run; nil beside an error.
	Object *unstructured.Unstructured
	Err    error

	unknown bool // whether Operation was carried out
}

// String returns a line for people: the address, what was done, and the error.
func (o Outcome) String() string {
	switch {
	case o.Err != nil && (o.Attempts == 0 || o.Operation == None):
		return (&Error{o.ID, o.Err}).Error()
	case o.Err != nil:
		return fmt.Sprintf("%s: %s: %v", o.ID, o.Operation, o.Err)
	}
	return fmt.Sprintf("%s: %s", o.ID, o.Operation)
}

// Error is why an object was not applied.
type Error struct {
	ID  ID
	Err error
}

// Error returns the address, if there is one, and the reason.
func (e *Error) Error() string {
	if e.ID == (ID{}) {
		return e.Err.Error()
	}
	return e.ID.String() + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// join returns the errors of outcomes, with one for all objects that were not tried.
func join(ctx context.Context, outcomes []Outcome) error {
	var errs []error
	notTried := 0
	for _, o := range outcomes {
		switch {
		case errors.Is(o.Err, ErrNotTried):
			notTried++
		case o.Err != nil:
			errs = append(errs, &Error{o.ID, o.Err})
		}
	}
	if notTried > 0 {
		errs = append(errs, fmt.Errorf("%w: %d of %d objects: %w", ErrNotTried, notTried, len(outcomes), context.Cause(ctx)))
	}
	return errors.Join(errs...)
}

// address returns the address that is declared. The error is a *merge.Error about desired, if
// it is nil or without kind or name.
func address(desired *merge.Doc) (ID, error) {
	if desired == nil {
		return ID{}, &merge.Error{Doc: "desired", Offset: -1, Rule: merge.ErrType, Detail: "no document"}
	}
	id := idOf(desired)
	if id.GVK.Kind == "" {
		return id, &merge.Error{Doc: "desired", Path: merge.Path{{Field: "kind"}}, Offset: -1, Rule: merge.ErrType, Detail: "want a text"}
	}
	if prefix, _ := desired.Text("metadata", "generateName"); id.Name == "" && prefix == "" {
		return id, &merge.Error{Doc: "desired", Path: merge.Path{{Field: "metadata"}, {Field: "name"}}, Offset: -1, Rule: merge.ErrType, Detail: "want a text"}
	}
	return id, nil
}
