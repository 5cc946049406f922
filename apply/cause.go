package apply

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// panicked is the error of a panic.
type panicked struct {
	value any
	stack []byte
}

// Error tells what panicked. A value that is no runtime error may hold anything, also a Secret.
func (p *panicked) Error() string {
	if err, ok := p.value.(runtime.Error); ok {
		return "panic: " + err.Error()
	}
	return fmt.Sprintf("panic: %T", p.value)
}

// contain calls f and returns its panic as an error.
func contain(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return f()
}

// cause is what the log says of an error.
func cause(err error) slog.Attr {
	var p *panicked
	if errors.As(err, &p) {
		return slog.Group("cause", slog.String("error", p.Error()), slog.String("stack", string(p.stack)))
	}
	return slog.Group("cause", slog.String("error", unquoted(err)))
}

// unquoted returns the text of an error without what objects hold. A server that finds an
// object invalid quotes it: of that only the fields are told, and not what is wrapped around.
func unquoted(err error) string {
	if !quotes(err) {
		return err.Error()
	}
	switch e := err.(type) {
	case apierrors.APIStatus:
		text := "invalid"
		if d := e.Status().Details; d != nil {
			for _, c := range d.Causes {
				text += " " + c.Field
			}
		}
		return text
	case *Error:
		return e.ID.String() + ": " + unquoted(e.Err)
	case interface{ Unwrap() []error }:
		var texts []string
		for _, inner := range e.Unwrap() {
			texts = append(texts, unquoted(inner))
		}
		return strings.Join(texts, "; ")
	}
	return unquoted(errors.Unwrap(err))
}

// quotes reports whether any error in err is about an invalid object.
func quotes(err error) bool {
	switch e := err.(type) {
	case apierrors.APIStatus:
		return e.Status().Reason == metav1.StatusReasonInvalid
	case interface{ Unwrap() error }:
		return quotes(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if quotes(inner) {
				return true
			}
		}
	}
	return false
}
