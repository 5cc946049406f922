package twin

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"example.com/braid/internal/node"
)

// documents are those of YAML files, each with a name to report. A file with a document that
// cannot be read has none: the corpus has broken files too.
func documents(t *testing.T, files []string) iter.Seq2[string, *node.Tree] {
	return func(yield func(string, *node.Tree) bool) {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := node.ParseYAMLAll(text, node.Limits{})
			if err != nil {
				continue
			}
			for n, doc := range docs {
				if !yield(fmt.Sprintf("%s, document %d", filepath.Base(file), n), doc) {
					return
				}
			}
		}
	}
}
