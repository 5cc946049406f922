package node

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// ParseYAML reads the one YAML or JSON document of a text. JSON is read as by
// [Parse]; YAML by the rules of sigs.k8s.io/yaml (YAML 1.1 as kubectl reads it),
// but:
//
//   - numbers keep the digits their author wrote, if JSON can write them so, and
//     their exact value otherwise;
//   - repeated keys are refused, also those that are equal only as JSON: 1 and "1";
//   - a key of a map wins over what a merge key (<<) brings in, wherever it stands;
//   - a second document is refused. Empty documents are skipped, and a text with
//     nothing else is refused.
//
// Limits hold for what is left after aliases and merge keys are expanded, which may
// be no more than 10 values a byte of text and 100,000 (CVE-2019-11253). The YAML tree
// that stands between takes some 200 bytes a value. Every failure is an [*Error]
// whose detail names the line. O(n log n) in the length of the text after expansion.
func ParseYAML(text []byte, lim Limits) (*Tree, error) {
	trees, err := parseYAML(text, lim.WithDefaults(), 1)
	if err == nil && len(trees) == 0 {
		err = &Error{Offset: -1, Rule: ErrYAML, Detail: "empty document"}
	}
	if err != nil {
		return nil, err
	}
	return trees[0], nil
}

// ParseYAMLAll is ParseYAML for a text of any number of documents. Empty ones are
// left out. The limits hold for all of them together.
func ParseYAMLAll(text []byte, lim Limits) ([]*Tree, error) {
	return parseYAML(text, lim.WithDefaults(), len(text))
}

func parseYAML(text []byte, lim Limits, atMost int) ([]*Tree, error) {
	if mayBeJSON(text) {
		t, err := Parse(text, lim)
		if err == nil {
			return []*Tree{t}, nil
		}
		if !errors.Is(err, ErrSyntax) {
			return nil, err // JSON as far as it was read, so YAML would not help
		}
	}
	if len(text) > lim.Bytes {
		return nil, &Error{Offset: -1, Rule: ErrLimit, Detail: fmt.Sprintf("%d bytes, at most %d", len(text), lim.Bytes)}
	}
	if n := max(lim.Nodes, 1<<20); indicators(text) > n {
		return nil, &Error{Offset: -1, Rule: ErrLimit, Detail: fmt.Sprintf("room for more than %d values", n)}
	}
	lim.Nodes = min(lim.Nodes, 10*len(text)+100_000)
	var trees []*Tree
	spent, used := 0, 0
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		if err := decodeYAML(d, &doc); err == io.EOF {
			return trees, nil
		} else if err != nil {
			return nil, yamlError(err, text)
		}
		root := doc.Content[0]
		if root.Kind == yaml.ScalarNode && root.Style == 0 && root.Value == "" {
			continue
		}
		if len(trees) == atMost {
			return nil, &Error{Offset: -1, Rule: ErrYAML, Detail: fmt.Sprintf("line %d: a second document", root.Line)}
		}
		b := yamlBuilder{builder: builder{parser: parser{lim: lim}, spent: spent, used: used}, first: doc.Line}
		if !b.value(None, "", root, 0) {
			return nil, b.err
		}
		spent, used = b.spent+len(b.nodes), used+len(b.extra)
		trees = append(trees, b.tree())
	}
}

// mayBeJSON tells most YAML from JSON by how it begins.
func mayBeJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) > 1 && text[0] == '-' {
		text = text[1:] // "- a" and "---" are no numbers
	}
	return len(text) > 0 && bytes.IndexByte([]byte(`{["0123456789tfn`), text[0]) >= 0
}

// indicators counts the bytes that begin values, wherever they stand. Every value but
// the root has one of its own, so this bounds the YAML tree before it is made.
func indicators(text []byte) int {
	n := 0
	for i, c := range text {
		switch c {
		case ',', '[', '{', ':':
			n++
		case '-', '?':
			if i+1 == len(text) || text[i+1] <= ' ' {
				n++
			}
		}
	}
	return n
}

// decodeYAML reads the next document. Where the parser of the yaml package meets a
// state that it holds for impossible, it panics, and malformed texts have got it there
// (mikefarah/yq#2481 with v3.0.4). That is contained here; nothing of ours runs inside.
func decodeYAML(d *yaml.Decoder, doc *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New(unreadable)
		}
	}()
	return d.Decode(doc)
}
