package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

// command is one call of the program: its flags and where it reads and complains.
type command struct {
	stdin  io.Reader
	stderr io.Writer

	last, live, desired string
	out, patchType      string
	namespace, set      string
	templates, values   list
	podTemplates        list
	conflict, native    string
	drift               string
	settings

	kinds func(gvk.GroupVersionKind) (*merge.Schema, error) // built-in, and of what plan reads
}

// run returns what goes to standard output. All of it is known before any of it
// is printed, so a failure prints nothing.
func (c *command) run(args []string) ([]byte, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("say what to do: diff, merge, patch, plan, inject or uninject; -h shows how")
	}
	flags := flag.NewFlagSet("braid", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	c.schemaFlags(flags)
	var do func([]string) ([]byte, error)
	switch args[0] {
	case "diff":
		do = c.diff
		flags.StringVar(&c.out, "out", "patch", "")
		c.mergeFlags(flags)
	case "merge":
		do = c.merge
		flags.StringVar(&c.out, "out", "patch", "")
		c.mergeFlags(flags)
		flags.StringVar(&c.last, "last", "", "")
		flags.StringVar(&c.live, "live", "", "")
		flags.StringVar(&c.desired, "desired", "", "")
	case "patch":
		do = c.patch
		flags.StringVar(&c.patchType, "type", "strategic", "")
	case "plan":
		do = c.plan
		flags.StringVar(&c.out, "out", "report", "")
		flags.StringVar(&c.live, "live", "", "")
		flags.StringVar(&c.namespace, "namespace", "default", "")
		flags.StringVar(&c.set, "set", "", "")
		c.planFlags(flags)
	case "inject", "uninject":
		flags.StringVar(&c.out, "out", "patch", "")
		flags.StringVar(&c.dialect, "dialect", "json", "")
		flags.StringVar(&c.drift, "drift", "keep", "")
		flags.Var(&c.podTemplates, "pod-template", "")
		if do = c.uninject; args[0] == "inject" {
			do = c.inject
			flags.Var(&c.templates, "template", "")
			flags.Var(&c.values, "set", "")
			flags.StringVar(&c.conflict, "conflict", "fail", "")
			flags.StringVar(&c.native, "native", "auto", "")
			flags.StringVar(&c.namespace, "namespace", "default", "")
		}
	case "-h", "-help", "--help", "help":
		return nil, flag.ErrHelp
	default:
		return nil, fmt.Errorf("no command %q: want diff, merge, patch, plan, inject or uninject; -h shows how", args[0])
	}
	files, err := parseMixed(flags, args[1:])
	if err != nil {
		return nil, err
	}
	return do(files)
}

// parseMixed lets flags stand before, between and after the files.
func parseMixed(flags *flag.FlagSet, args []string) (files []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if args = flags.Args(); len(args) == 0 {
			return files, nil
		}
		files, args = append(files, args[0]), args[1:]
	}
}

func (c *command) diff(files []string) ([]byte, error) {
	if len(files) != 2 {
		return nil, fmt.Errorf("diff wants two files, FROM and TO, got %d", len(files))
	}
	docs, err := c.read(input{"live", files[0]}, input{"desired", files[1]})
	if err != nil {
		return nil, err
	}
	return c.print(docs[0], docs[0], docs[1])
}

func (c *command) merge(files []string) ([]byte, error) {
	if len(files) > 0 || c.live == "" || c.desired == "" {
		return nil, fmt.Errorf("merge wants -live FILE and -desired FILE, and no other files")
	}
	inputs := []input{{"live", c.live}, {"desired", c.desired}}
	if c.last != "" {
		inputs = append(inputs, input{"last", c.last})
	}
	docs, err := c.read(inputs...)
	if err != nil {
		return nil, err
	}
	last := c.lastApplied(docs[0])
	if c.last != "" {
		last = docs[2]
	}
	return c.print(last, docs[0], docs[1])
}

func (c *command) patch(files []string) ([]byte, error) {
	if len(files) != 2 {
		return nil, fmt.Errorf("patch wants two files, OBJECT and PATCH, got %d", len(files))
	}
	docs, err := c.read(input{"live", files[0]}, input{"patch", files[1]})
	if err != nil {
		return nil, err
	}
	format, err := choice("type", c.patchType, patchTypes)
	if err != nil {
		return nil, err
	}
	schema, _, err := c.schema(docs[0].GVK())
	if err != nil {
		return nil, err
	}
	m, err := merge.New(merge.Options{Schema: schema})
	if err != nil {
		return nil, err
	}
	out, err := m.Patch(format, docs[0], docs[1])
	if err != nil {
		return nil, err
	}
	return append(out.JSON(), '\n'), nil
}

// print merges and returns what -out asks for.
func (c *command) print(last, live, desired *merge.Doc) ([]byte, error) {
	options, format, err := c.options(desired)
	if err != nil {
		return nil, err
	}
	m, err := merge.New(options)
	if err != nil {
		return nil, err
	}
	r, err := m.ThreeWay(last, live, desired)
	if err != nil {
		return nil, err
	}
	for _, w := range r.Warnings() {
		c.warn("%s: %s: %s", w.Doc, w.Path, w.Text)
	}
	var buf bytes.Buffer
	switch c.out {
	case "patch":
		var patch []byte
		patch, err = r.Patch(format)
		buf.Write(patch)
		buf.WriteByte('\n')
	case "merged":
		var doc *merge.Doc
		if doc, err = r.Merged(); err == nil {
			buf.Write(doc.JSON())
			buf.WriteByte('\n')
		}
	case "changed":
		if _, err = r.Merged(); err == nil {
			fmt.Fprintln(&buf, r.Changed())
		}
	case "report":
		if err = r.WriteReport(&buf, colored()); err == nil && len(r.Conflicts()) > 0 {
			err = &merge.ConflictError{Conflicts: r.Conflicts()}
		}
	default:
		return nil, fmt.Errorf("no output %q: want patch, merged, report or changed", c.out)
	}
	if err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// colored reports whether standard output is a terminal that wants colors
// (no-color.org).
func colored() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func (c *command) warn(format string, args ...any) {
	fmt.Fprintf(c.stderr, "braid: warning: %s\n", strings.TrimSuffix(fmt.Sprintf(format, args...), "\n"))
}
