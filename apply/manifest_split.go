package apply

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"example.com/braid/merge"
)

// splitter cuts a stream into documents. k8s.io/apimachinery/pkg/util/yaml does the same but
// refuses "--- {a: b}", takes a directive (%YAML 1.2) for a document, splits no JSON after YAML,
// and has no limit.
type splitter struct {
	r     *bufio.Reader
	text  []byte // of the document so far
	blank bool   // text has nothing but comments, directives and markers
	line  int    // the line that r is in
	start int    // the line in which text begins
	err   error  // of r
}

func newSplitter(r io.Reader) *splitter {
	s := &splitter{r: bufio.NewReaderSize(r, 64<<10), line: 1}
	if mark, _ := s.r.Peek(3); string(mark) == "\ufeff" {
		_, s.err = s.r.Discard(len(mark))
	}
	return s
}

// next returns the next document that says anything. The error is io.EOF at the end.
func (s *splitter) next() (*merge.Doc, error) {
	s.text, s.blank, s.start = s.text[:0], true, s.line
	for s.err == nil {
		if s.blank {
			if doc := s.json(); doc != nil {
				return doc, nil
			}
		}
		if !s.blank && s.atMarker() {
			return merge.ParseYAML(s.text)
		}
		begin, line := len(s.text), s.line
		s.readLine()
		if len(s.text) > merge.DefaultLimits.Bytes {
			s.err = &merge.Error{Offset: -1, Rule: merge.ErrLimit, Detail: fmt.Sprintf("a document of more than %d bytes", merge.DefaultLimits.Bytes)}
			break
		}
		switch l := bytes.TrimRight(s.text[begin:], " \t\r\n"); {
		case string(l) == "...":
			if !s.blank {
				return merge.ParseYAML(s.text)
			}
		case s.blank && says(l):
			s.blank, s.start = false, line-bytes.Count(s.text[:begin], []byte("\n"))
		case begin == 0 && !bytes.HasPrefix(l, []byte("%")):
			s.text = s.text[:begin] // so that lines count from where the document begins
		}
	}
	if s.err == io.EOF && !s.blank { // with a line end, as kubectl: block texts (|, >) keep it
		return merge.ParseYAML(append(s.text, '\n'))
	}
	return nil, s.err
}

// says reports whether a line has content of a document.
func says(line []byte) bool {
	if isMarker(line) {
		line = line[len(marker):]
	}
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && line[0] != '#' && line[0] != '%'
}

const marker = "---"

// isMarker reports whether a line begins a document (YAML 1.2, 9.1.2).
func isMarker(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

func (s *splitter) atMarker() bool {
	line, _ := s.r.Peek(len(marker) + 1)
	return isMarker(line)
}

// readLine adds what is left of a line to the text, or of a very long one a part.
func (s *splitter) readLine() {
	for {
		part, err := s.r.ReadSlice('\n')
		s.text = append(s.text, part...)
		if err == nil {
			s.line++
		} else if err != bufio.ErrBufferFull {
			s.err = err
		} else if len(s.text) <= merge.DefaultLimits.Bytes {
			continue
		}
		return
	}
}

// json reads a JSON value, if one is next. Otherwise what it has read is in the text, for YAML
// to make sense of: {a: b} is a document, too.
func (s *splitter) json() *merge.Doc {
	for {
		c, err := s.r.Peek(1)
		if err != nil || c[0] != ' ' && c[0] != '\t' && c[0] != '{' {
			return nil
		}
		if c[0] == '{' {
			break
		}
		s.text = append(s.text, c[0])
		_, _ = s.r.Discard(1) // it was peeked
	}
	begin := len(s.text)
	s.start, s.blank = s.line, false
	if !s.braces() {
		return nil
	}
	doc, err := merge.Parse(s.text[begin:])
	if err != nil {
		return nil
	}
	return doc
}

// braces adds the bytes up to the brace that closes the first one, and reports whether there is
// one. No string of JSON has a line end, and no value a line that begins with a marker.
func (s *splitter) braces() bool {
	depth, quoted, escaped := 0, false, false
	for len(s.text) <= merge.DefaultLimits.Bytes {
		c, err := s.r.ReadByte()
		if err != nil {
			s.err = err
			return false
		}
		s.text = append(s.text, c)
		switch {
		case c == '\n':
			s.line++
			if quoted || s.atMarker() {
				return false
			}
		case escaped:
			escaped = false
		case c == '\\':
			escaped = quoted
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}
