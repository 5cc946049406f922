package merge

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// WriteReport writes the edits for a person: a line a position with its path, its
// case and its values, conflicts with all three values. What Secrets hold is
// masked. color adds ANSI colors.
func (r *Result) WriteReport(w io.Writer, color bool) error {
	edits := r.Edits()
	if len(edits) == 0 {
		_, err := fmt.Fprintln(w, "nothing to change")
		return err
	}
	width := 0
	for _, e := range edits {
		width = max(width, min(utf8.RuneCountInString(e.Path.String()), 60))
	}
	for _, e := range edits {
		mark, tint, values := e.describe()
		line := fmt.Sprintf("%s %-*s  %-15s  %s", mark, width, e.Path, e.name(), values)
		if color {
			line = tint + line + "\x1b[0m"
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (e Edit) name() string {
	if e.Order {
		return "Order"
	}
	return e.Case.String()
}

// describe returns the sign, the color and the values of an edit's line.
func (e Edit) describe() (mark, tint, values string) {
	const red, green, yellow, magenta = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1;35m"
	live, desired := short(e.Live), short(e.Desired)
	switch {
	case e.Action == Clash:
		return "!", magenta, fmt.Sprintf("last %s, live %s, desired %s", short(e.Last), live, desired)
	case e.Order:
		return "%", yellow, "elements in desired's order"
	case !e.Live.Present():
		return "+", green, desired
	case !e.Desired.Present() || desired == "null":
		return "-", red, live
	}
	return "~", yellow, live + " → " + desired
}

// short cuts a value that is longer than a line bears.
func short(v Value) string {
	const most = 72
	s := v.String()
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	var b strings.Builder
	for n, c := range []rune(s) {
		if n == most-1 {
			break
		}
		b.WriteRune(c)
	}
	return b.String() + "…"
}
