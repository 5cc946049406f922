package node

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	apiyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// corpus has manifests of many projects. It is not part of the module.
const corpus = "../../../shared/corpus"

func TestYAMLCorpus(t *testing.T) {
	files, _ := filepath.Glob(corpus + "/*.yaml")
	if len(files) == 0 {
		t.Skip("SKIPPED: no files in " + corpus)
	}
	agreeWithUpstream(t, files)
}

func TestYAMLOfKubernetesAPI(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		t.Skip("SKIPPED: the module k8s.io/api is not there")
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "testdata", "HEAD", "*.yaml"))
	if len(files) == 0 {
		t.Skip("SKIPPED: k8s.io/api has no testdata/HEAD")
	}
	agreeWithUpstream(t, files)
}

// agreeWithUpstream reads every document of the files as kubectl does, and as we do.
func agreeWithUpstream(t *testing.T, files []string) {
	documents := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, '\n') // kubectl's splitter adds one, which a block scalar at the end keeps
		got, err := ParseYAMLAll(text, Limits{})
		if err != nil {
			if upstream, uerr := upstreamAll(text); uerr == nil && len(upstream) > 0 {
				t.Errorf("%s: %v, but upstream reads it", filepath.Base(file), err)
			}
			continue
		}
		want, err := upstreamAll(text)
		if err != nil {
			t.Logf("%s: upstream refuses: %v", filepath.Base(file), err)
			continue
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d documents, want %d", filepath.Base(file), len(got), len(want))
			continue
		}
		documents += len(got)
		for i := range got {
			check(t, got[i])
			if d := differs(got[i], 0, want[i], 0); d != None {
				t.Errorf("%s, document %d: %s differs", filepath.Base(file), i, got[i].Path(d))
			}
		}
	}
	t.Logf("%d files, %d documents", len(files), documents)
}

// upstreamAll splits text as kubectl does and reads each part that is not empty by
// sigs.k8s.io/yaml.
func upstreamAll(text []byte) ([]*Tree, error) {
	var trees []*Tree
	r := apiyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return trees, nil
		}
		if err != nil {
			return nil, err
		}
		j, err := yaml.YAMLToJSONStrict(doc)
		if err != nil {
			return nil, err
		}
		if string(j) == "null" {
			continue
		}
		tr, err := Parse(j, Limits{Depth: maxDepth})
		if err != nil {
			return nil, err
		}
		trees = append(trees, tr)
	}
}

// differs returns the first node of t that is not the one of u, or None. Upstream's
// numbers went through a float64, so numbers are the same if their float64 is.
func differs(t *Tree, i ID, u *Tree, j ID) ID {
	if t.Kind(i) != u.Kind(j) {
		return i
	}
	a, b := t.Kids(i), u.Kids(j)
	if len(a) != len(b) {
		return i
	}
	for k := range a {
		if t.Key(a[k]) != u.Key(b[k]) {
			return a[k]
		}
		if d := differs(t, a[k], u, b[k]); d != None {
			return d
		}
	}
	if t.Kind(i) == Number {
		x, _ := strconv.ParseFloat(t.Text(i), 64)
		y, _ := strconv.ParseFloat(u.Text(j), 64)
		if x == y {
			return None
		}
	}
	if t.Text(i) != u.Text(j) {
		return i
	}
	return None
}
