package node

import (
	"errors"
	"strconv"
	"strings"
)

// The rules that an input can break. Test for them with errors.Is.
var (
	ErrSyntax       = errors.New("not valid JSON")
	ErrYAML         = errors.New("not valid YAML")
	ErrDuplicateKey = errors.New("key repeated in a map")
	ErrLimit        = errors.New("over a limit")
	ErrType         = errors.New("wrong type")
	ErrValue        = errors.New("no JSON value")
)

// Error says which rule a document broke, and where. It never holds a value of
// the document, so it is safe to log for Secrets.
type Error struct {
	Doc    string // last, live, desired, patch, schema, template; or ""
	Path   Path   // of the place, list elements by index
	Offset int    // in bytes from the start of the text; -1 if the input has no text
	Rule   error  // one of the sentinels; errors.Is finds it
	Detail string // what is wrong, in words
}

// Error writes "desired: spec.ports[0]: wrong type: …".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Doc != "" {
		b.WriteString(e.Doc)
		b.WriteString(": ")
	}
	if len(e.Path) > 0 {
		b.WriteString(e.Path.String())
		b.WriteString(": ")
	}
	b.WriteString(e.Rule.Error())
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	if e.Offset >= 0 {
		b.WriteString(" (byte ")
		b.WriteString(strconv.Itoa(e.Offset))
		b.WriteByte(')')
	}
	return b.String()
}

// Unwrap returns the broken rule.
func (e *Error) Unwrap() error { return e.Rule }

// In returns err with its document named, if it is an *Error without one.
func In(doc string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Doc == "" {
		named := *e
		named.Doc = doc
		return &named
	}
	return err
}
