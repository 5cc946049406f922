package apply

import (
	"slices"
	"strings"

	"example.com/braid/merge"
)

// spare returns the result of a merge that takes nothing away which another's record on live
// declares. What is declared no more but by others is handed over to them.
//
// Which positions these are is asked of the merge itself: they are what the others would put
// back. So it costs a few merges, but only where there are other records and something goes.
func (p *Planner) spare(k *kind, r merge.Result, last, live, recorded *merge.Doc) (merge.Result, error) {
	if live == nil || last == nil || !slices.ContainsFunc(r.Edits(), takesAway) {
		return r, nil
	}
	others := p.o.Record.others(live)
	if len(others) == 0 || len(r.Conflicts()) > 0 {
		return r, nil
	}
	merged, err := r.Merged()
	if err != nil {
		return r, err
	}
	q := Planner{o: p.o}
	q.o.HandOver = slices.Clone(p.o.HandOver)
	for _, other := range others {
		// What others would put back is all that merged lacks, also what live lacked: to hand over
		// what is not there changes nothing.
		restored, err := k.merger.ThreeWay(other, merged, other)
		if err != nil {
			continue // a record of what is no object of this kind
		}
		for _, e := range restored.Edits() {
			if e.Case == merge.TheyRemove {
				q.o.HandOver = append(q.o.HandOver, e.Path.String())
			}
		}
	}
	if len(q.o.HandOver) == len(p.o.HandOver) {
		return r, nil
	}
	m, err := q.merger(k.schema, k.formats[0] == merge.StrategicPatch)
	if err != nil {
		return r, err
	}
	return m.ThreeWay(last, live, recorded)
}

func takesAway(e merge.Edit) bool {
	return e.Action == merge.Take && (e.Case == merge.WeRemove || e.Case == merge.WeRemoveTheySet)
}

// others returns what the records of others on live declare. Those that cannot be read say
// nothing.
func (r Record) others(live *merge.Doc) []*merge.Doc {
	t, err := parse("live", live)
	if err != nil {
		return nil
	}
	var docs []*merge.Doc
	own, compact := r.keys()
	for _, key := range (writer{tree: t}).notes() {
		if key == own || key == compact {
			continue
		}
		other := Record{HideSecrets: r.HideSecrets, DigestKey: r.DigestKey}
		other.Name = strings.TrimSuffix(key, "."+CompactAnnotation)
		if key == LastAppliedAnnotation || key == CompactAnnotation {
			other.Name = ""
		}
		if d, err := other.Read(live, nil); err == nil && d != nil {
			docs = append(docs, d)
		}
	}
	return docs
}
