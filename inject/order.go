package inject

import (
	"fmt"
	"strings"
)

// Order says where a container that is new to a pod stands in its list. The zero value is
// the end. A container stays where it is on later runs.
type Order struct {
	Place Place
	Name  string // of the container that Before and After refer to
}

// Place is a kind of Order.
type Place uint8

// The places. A container that Before and After do not find counts as Last, with a warning.
const (
	Last Place = iota
	First
	Before
	After
)

// ParseOrder reads First, Last, Before NAME or After NAME.
func ParseOrder(text string) (Order, error) {
	word, name, _ := strings.Cut(strings.TrimSpace(text), " ")
	name = strings.TrimSpace(name)
	switch {
	case word == "First" && name == "":
		return Order{Place: First}, nil
	case word == "Last" && name == "":
		return Order{}, nil
	case word == "Before" && name != "":
		return Order{Before, name}, nil
	case word == "After" && name != "":
		return Order{After, name}, nil
	}
	return Order{}, fmt.Errorf("order %q, want First, Last, Before NAME or After NAME", text)
}

// String writes the order as ParseOrder reads it.
func (o Order) String() string {
	switch o.Place {
	case First:
		return "First"
	case Before:
		return "Before " + o.Name
	case After:
		return "After " + o.Name
	}
	return "Last"
}

// item is an element of a list that is being arranged.
type item struct {
	key   string
	v     *value
	order Order
}

// placed reports whether an item is to stand elsewhere than at the end.
func (e item) placed() bool { return e.order.Place != Last }

// insert returns base with added among it, each where its order says, in their own order
// where they want the same place. It reports the items whose order refers to nothing. O(n).
func insert(base, added []item) (out, lost []item) {
	known := make(map[string]bool, len(base)+len(added))
	for _, e := range base {
		known[e.key] = true
	}
	for _, e := range added {
		known[e.key] = true
	}
	before, after := map[string][]item{}, map[string][]item{}
	var first, last []item
	for _, e := range added {
		switch {
		case e.order.Place == First:
			first = append(first, e)
		case !e.placed() || !known[e.order.Name] || e.order.Name == e.key:
			if e.placed() {
				lost = append(lost, e)
			}
			last = append(last, e)
		case e.order.Place == Before:
			before[e.order.Name] = append(before[e.order.Name], e)
		default:
			after[e.order.Name] = append(after[e.order.Name], e)
		}
	}
	var emit func(e item)
	emit = func(e item) {
		pre, post := before[e.key], after[e.key]
		delete(before, e.key) // of elements of one key the first counts
		delete(after, e.key)
		for _, b := range pre {
			emit(b)
		}
		out = append(out, e)
		for _, a := range post {
			emit(a)
		}
	}
	for _, list := range [...][]item{first, base, last} {
		for _, e := range list {
			emit(e)
		}
	}
	for _, e := range added { // those that wait for each other
		if len(before[e.order.Name])+len(after[e.order.Name]) == 0 {
			continue
		}
		circle := append(before[e.order.Name], after[e.order.Name]...)
		delete(before, e.order.Name)
		delete(after, e.order.Name)
		for _, c := range circle {
			lost = append(lost, c)
			emit(c)
		}
	}
	return out, lost
}

// arrange returns base, which is live without was, with added among it. Where live is what
// inserting was into base gives, nobody else has touched the order, and added is inserted
// afresh: the outcome does not depend on what was injected before. Else those that were
// there stay where they are. O(n).
func arrange(live, base, was, added []item) (out, lost []item) {
	fresh, _ := insert(base, was)
	if sameKeys(live, fresh) {
		return insert(base, added)
	}
	had := make(map[string]Order, len(was))
	for _, e := range was {
		had[e.key] = e.order
	}
	stays := make(map[string]item, len(added))
	var fit []item
	for _, e := range added {
		if order, ok := had[e.key]; ok && order == e.order {
			stays[e.key] = e
		} else {
			fit = append(fit, e)
		}
	}
	var kept []item
	for _, e := range live {
		ours, isOurs := stays[e.key]
		switch _, was := had[e.key]; {
		case isOurs:
			kept = append(kept, ours)
			delete(stays, e.key)
		case !was && len(base) > 0:
			kept, base = append(kept, base[0]), base[1:]
		}
	}
	kept = append(kept, base...)
	for _, e := range added {
		if _, gone := stays[e.key]; gone {
			fit = append(fit, e)
		}
	}
	return insert(kept, fit)
}

func sameKeys(a, b []item) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].key != b[i].key {
			return false
		}
	}
	return true
}
