package inject

import (
	"errors"
	"fmt"
	"strings"

	"example.com/braid/merge"
)

// The rules of errors, for errors.Is, beside those of package merge.
var (
	ErrTemplate = errors.New("invalid template")
	ErrValue    = errors.New("no value for a placeholder")
	ErrKind     = errors.New("no pod template in this kind")
	ErrRecord   = errors.New("the record of what was injected cannot be read")
)

// Rule is what a clash is about. Its names do not change.
type Rule uint8

// The rules.
const (
	ContainerName Rule = iota // containers, initContainers and ephemeralContainers share their names
	Volume                    // a volume of one name and another content
	Mount                     // a volume mounted, or a device mapped, where another is
	Env                       // a variable of one name and another value
	Element                   // an element of another list, of one name and another content
	Port                      // two containers with one container port
	HostPort                  // two containers with one host port
	Field                     // a field with another value
)

// String returns the name of the rule.
func (r Rule) String() string {
	if int(r) < len(ruleNames) {
		return ruleNames[r]
	}
	return fmt.Sprintf("Rule(%d)", r)
}

var ruleNames = [...]string{"ContainerName", "Volume", "Mount", "Env", "Element", "Port", "HostPort", "Field"}

// elementRule returns the rule that elements of a list break which differ.
func elementRule(list string) Rule {
	switch list {
	case "volumes":
		return Volume
	case "volumeMounts", "volumeDevices":
		return Mount
	case "env":
		return Env
	}
	return Element
}

// Conflict is a position for which the object and a template say different things. It holds
// no values, for some are secret.
type Conflict struct {
	Template string     // its name
	Path     merge.Path // in the object
	Rule     Rule
	Detail   string
}

// String says where and what.
func (c Conflict) String() string {
	return fmt.Sprintf("%s: %s: template %q: %s", c.Path, c.Rule, c.Template, c.Detail)
}

// ConflictError is returned where templates clash with the object: then nothing is injected.
type ConflictError struct{ Conflicts []Conflict }

// Error lists the clashes.
func (e *ConflictError) Error() string {
	var b strings.Builder
	b.WriteString("templates and the object clash")
	for _, c := range e.Conflicts {
		b.WriteString("\n  ")
		b.WriteString(c.String())
	}
	return b.String()
}

// Is makes errors.Is(err, merge.ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == merge.ErrConflict }

// templateError is an error about the text of a template.
func templateError(path merge.Path, format string, args ...any) error {
	return &merge.Error{Doc: "template", Path: path, Offset: -1, Rule: ErrTemplate, Detail: fmt.Sprintf(format, args...)}
}
