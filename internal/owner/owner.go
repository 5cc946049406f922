package owner

import (
	"errors"
	"fmt"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// ErrManagedFields is the rule that managedFields can be read.
var ErrManagedFields = errors.New("managedFields cannot be read")

// Error says where managedFields cannot be read, and why. It holds no value.
type Error struct {
	Node   node.ID // of live
	Detail string
}

// Error writes "managedFields cannot be read: …".
func (e *Error) Error() string { return ErrManagedFields.Error() + ": " + e.Detail }

// Unwrap returns ErrManagedFields.
func (e *Error) Unwrap() error { return ErrManagedFields }

func fault(at node.ID, format string, args ...any) *Error {
	return &Error{at, fmt.Sprintf(format, args...)}
}

// Manager is who wrote fields of an object, and how. An updater has one entry for each version
// of the kind that it wrote in.
type Manager struct{ Name, Operation, APIVersion, Subresource string }

// Owners are the managers of one object. Not safe for concurrent use.
type Owners struct {
	Managers []Manager // as they stand in managedFields
	Work     int       // how many entries and elements were looked at: the cost, without a clock

	live    *node.Tree
	root    *schema.Type
	fields  []node.ID // of each manager, its fieldsV1; None if it owns nothing
	lists   map[node.ID]*list
	repeats map[node.ID][]node.ID // elements that share a key: of the first, the others
	scratch node.Reader
	key     []byte
}

// Read finds the managers of live, of which root is the type. There are none if live has no
// managedFields. The error is an *Error. O(managers).
func Read(live *node.Tree, root *schema.Type) (*Owners, error) {
	o := &Owners{live: live, root: root}
	at := live.Lookup("metadata", "managedFields")
	if at == node.None || live.Kind(at) == node.Null {
		return o, nil
	}
	if k := live.Kind(at); k != node.List {
		return nil, fault(at, "want a list, got a %s", k)
	}
	entries := live.Kids(at)
	o.Managers, o.fields = make([]Manager, 0, len(entries)), make([]node.ID, 0, len(entries))
	for _, entry := range entries {
		if err := o.entry(entry); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// entry reads one entry (metav1.ManagedFieldsEntry) but for what it owns.
func (o *Owners) entry(entry node.ID) error {
	if k := o.live.Kind(entry); k != node.Map {
		return fault(entry, "want a map, got a %s", k)
	}
	var m Manager
	fieldsType := ""
	for _, field := range []struct {
		name string
		text *string
	}{
		{"manager", &m.Name}, {"operation", &m.Operation}, {"apiVersion", &m.APIVersion}, {"subresource", &m.Subresource}, {"fieldsType", &fieldsType},
	} {
		i := o.live.Field(entry, field.name)
		switch {
		case i == node.None || o.live.Kind(i) == node.Null:
		case o.live.Kind(i) != node.String:
			return fault(i, "want a string, got a %s", o.live.Kind(i))
		default:
			*field.text = o.live.Text(i)
		}
	}
	fields := o.live.Field(entry, "fieldsV1")
	switch {
	case m.Operation != "Apply" && m.Operation != "Update":
		return fault(entry, "want an operation, Apply or Update")
	case fieldsType != "FieldsV1":
		return fault(entry, "want fieldsType FieldsV1")
	case fields != node.None && o.live.Kind(fields) != node.Map && o.live.Kind(fields) != node.Null:
		return fault(fields, "want a map, got a %s", o.live.Kind(fields))
	}
	o.Managers, o.fields = append(o.Managers, m), append(o.fields, fields)
	return nil
}
