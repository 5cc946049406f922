package node

import (
	"cmp"
	"slices"
	"strings"
)

// ordinal is one of many fields on their way into order: the sixteen bytes of its key that
// follow what all the keys begin with. Keys of a large map are far apart in memory, and would
// be fetched anew for each comparison.
type ordinal struct {
	lead, next uint64
	id         ID
}

func (x ordinal) compare(y ordinal) int {
	switch {
	case x.lead < y.lead:
		return -1
	case x.lead > y.lead:
		return 1
	}
	return cmp.Compare(x.next, y.next)
}

// sortKids orders the fields of one map, which ends at end, by key and finds repeated keys.
// O(n) for most keys, O(n log n) at worst.
func (p *parser) sortKids(kids []ID, end int) bool {
	const few = 12
	again := None
	if len(kids) > few {
		again = p.sortMany(kids)
	} else {
		p.sortFew(kids)
		again = p.repeated(kids)
	}
	if again != None {
		if off := int(p.nodes[again].key.off); off < len(p.src) {
			end = off // a key with escapes stands elsewhere
		}
		p.fail(end, again, ErrDuplicateKey, "the map has this key more than once")
	}
	return again == None
}

// sortFew sorts fields where they stand, by insertion.
func (p *parser) sortFew(kids []ID) {
	for i := 1; i < len(kids); i++ {
		kid, j := kids[i], i
		prefix := p.nodes[kid].prefix
		for ; j > 0; j-- {
			before := kids[j-1]
			if b := p.nodes[before].prefix; b < prefix || b == prefix && p.compareKeys(before, kid) < 0 {
				break
			}
			kids[j] = before
		}
		kids[j] = kid
	}
}

// sortMany is sortKids in memory of its own. It returns a field whose key stands before.
func (p *parser) sortMany(kids []ID) ID {
	alike := p.keyOf(kids[0])
	for _, kid := range kids {
		alike = alike[:commonLen(alike, p.keyOf(kid))]
	}
	list := slices.Grow(p.order[:0], 2*len(kids))[:len(kids)]
	spare := list[len(kids) : 2*len(kids)]
	for i, kid := range kids {
		key := p.keyOf(kid)[len(alike):]
		list[i] = ordinal{Prefix(key), Prefix(key[min(8, len(key)):]), kid}
	}
	p.order = list
	list = sortOrdinals(list, spare)
	again, from := None, 0
	for i := range list {
		kids[i] = list[i].id
		if i+1 < len(list) && list[i].compare(list[i+1]) == 0 {
			continue
		}
		if same := kids[from : i+1]; len(same) > 1 {
			slices.SortFunc(same, p.compareKeys)
			if again == None {
				again = p.repeated(same)
			}
		}
		from = i + 1
	}
	return again
}

// repeated returns a field of sorted ones whose key is that of the one before.
func (p *parser) repeated(kids []ID) ID {
	for k := 1; k < len(kids); k++ {
		if p.nodes[kids[k-1]].prefix == p.nodes[kids[k]].prefix && p.keyOf(kids[k-1]) == p.keyOf(kids[k]) {
			return kids[k]
		}
	}
	return None
}

// compareKeys orders two fields by key, and by place if that is the same.
func (p *parser) compareKeys(a, b ID) int {
	if c := cmp.Compare(p.nodes[a].prefix, p.nodes[b].prefix); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(p.keyOf(a), p.keyOf(b)), cmp.Compare(a, b))
}

// sortOrdinals returns list sorted. Both slices are of one length and may be overwritten.
func sortOrdinals(list, spare []ordinal) []ordinal {
	const many = 256 // from here on a radix sort is faster, as measured
	if len(list) < many {
		slices.SortFunc(list, ordinal.compare)
		return list
	}
	var counts [16][256]uint32 // of each byte, from the last to the first
	for i := range list {
		for d, x := 0, list[i].next; d < 8; d, x = d+1, x>>8 {
			counts[d][byte(x)]++
		}
		for d, x := 8, list[i].lead; d < 16; d, x = d+1, x>>8 {
			counts[d][byte(x)]++
		}
	}
	for d := range counts {
		ends, sum := &counts[d], uint32(0)
		if int(ends[list[0].byte(d)]) == len(list) {
			continue
		}
		for b, n := range ends {
			ends[b], sum = sum, sum+n
		}
		for i := range list {
			end := &ends[list[i].byte(d)]
			spare[*end] = list[i]
			*end++
		}
		list, spare = spare, list
	}
	return list
}

// byte returns byte d, counted from the last.
func (x *ordinal) byte(d int) byte {
	if d < 8 {
		return byte(x.next >> (8 * d))
	}
	return byte(x.lead >> (8 * (d - 8)))
}
