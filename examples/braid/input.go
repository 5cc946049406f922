package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/braid/merge"
)

// input is a file and the part it plays.
type input struct{ role, file string }

func (c *command) read(inputs ...input) ([]*merge.Doc, error) {
	var docs []*merge.Doc
	stdin := false
	for _, in := range inputs {
		if in.file == "-" && stdin {
			return nil, fmt.Errorf("standard input can be one file only")
		}
		stdin = stdin || in.file == "-"
		text, err := c.load(in.file)
		if err != nil {
			return nil, err
		}
		doc, err := merge.ParseYAML(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.file, named(in.role, err))
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// load reads a file up to the limit of a document; one byte more is enough for
// the parser to refuse it.
func (c *command) load(file string) ([]byte, error) {
	r := c.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, int64(merge.DefaultLimits.Bytes)+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return text, nil
}

func named(role string, err error) error {
	var e *merge.Error
	if errors.As(err, &e) {
		out := *e
		out.Doc = role
		return &out
	}
	return err
}

const annotation = "kubectl.kubernetes.io/last-applied-configuration"

// lastApplied returns what kubectl apply noted in live, or nil.
func (c *command) lastApplied(live *merge.Doc) *merge.Doc {
	text, ok := live.Text("metadata", "annotations", annotation)
	if !ok {
		return nil
	}
	last, err := merge.Parse([]byte(text))
	if err != nil {
		c.warn("the annotation %s of live is not used: %v", annotation, err)
		return nil
	}
	return last
}
