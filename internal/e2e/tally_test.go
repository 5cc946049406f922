package e2e

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// tally counts predictions by kind, and the manifests that the server did not take.
type tally map[schema.GroupKind]row

// row counts by format.
type row struct {
	formats map[merge.PatchType]*prediction
	refused map[metav1.StatusReason]int // manifests
}

func (t tally) of(kind schema.GroupVersionKind) row {
	if _, ok := t[kind.GroupKind()]; !ok {
		t[kind.GroupKind()] = row{map[merge.PatchType]*prediction{}, map[metav1.StatusReason]int{}}
	}
	return t[kind.GroupKind()]
}

func (r row) of(f merge.PatchType) *prediction {
	if r.formats[f] == nil {
		r.formats[f] = &prediction{}
	}
	return r.formats[f]
}

// refuse notes a manifest that the server did not take. What braid does not take, it must not
// either.
func (s *settler) refuse(table tally, m manifest, err error) {
	s.t.Helper()
	reason := apierrors.ReasonForError(err)
	if errors.Is(err, merge.ErrType) {
		u := &unstructured.Unstructured{Object: m.doc.Map()}
		u.SetNamespace(metav1.NamespaceDefault)
		_, theirs := client.Create(s.t.Context(), u, apply.WriteOptions{DryRun: true})
		reason = apierrors.ReasonForError(theirs)
	}
	if reason == "" {
		s.t.Errorf("%s: refused by braid alone: %v", m, err)
	}
	table.of(m.kind()).refused[reason]++
}

// summary is a table of all kinds, by format.
func (t tally) summary() string {
	sums, kinds := map[merge.PatchType]*prediction{}, map[merge.PatchType]int{}
	for _, r := range t {
		for f, p := range r.formats {
			if sums[f] == nil {
				sums[f] = &prediction{}
			}
			sums[f].add(p)
			kinds[f]++
		}
	}
	var out strings.Builder
	out.WriteString("| patch | kinds | predictions | as predicted | both refused | drawn by lot | cannot be said | wrong |\n|---|---|---|---|---|---|---|---|\n")
	for _, f := range slices.Sorted(maps.Keys(sums)) {
		p := sums[f]
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %d | %d | 0 |\n", f.MediaType(), kinds[f], p.equal+p.refused+p.explained, p.equal, p.refused, p.explained, p.inexpressible)
	}
	return out.String()
}

// details is a table by kind.
func (t tally) details() string {
	var out strings.Builder
	out.WriteString("| kind | as predicted | both refused | drawn by lot | cannot be said | manifests not taken |\n|---|---|---|---|---|---|\n")
	byName := func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) }
	for _, kind := range slices.SortedFunc(maps.Keys(t), byName) {
		var p prediction
		for _, q := range t[kind].formats {
			p.add(q)
		}
		var refused []string
		for _, reason := range slices.Sorted(maps.Keys(t[kind].refused)) {
			refused = append(refused, fmt.Sprintf("%d %s", t[kind].refused[reason], reason))
		}
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %s |\n", kind, p.equal, p.refused, p.explained, p.inexpressible, strings.Join(refused, ", "))
	}
	return out.String()
}

// write stores what a run found.
func write(t *testing.T, text string) {
	t.Helper()
	head := "# Predictions against a real kube-apiserver\n\nWritten by `go test . -run TestPredictions -update`, with shared/corpus at hand. The run fails where anything is wrong.\n\n"
	if err := os.WriteFile("RESULTS.md", []byte(head+text), 0o644); err != nil {
		t.Fatal(err)
	}
}
