package twin

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// generate returns their patch. Their generator may panic.
func generate(x triple, overwrite bool) (patch []byte, err error) {
	defer contain(&err)
	return strategicpatch.CreateThreeWayMergePatch(tree(x.last).JSON(), tree(x.desired).JSON(), tree(x.live).JSON(), meta, overwrite)
}

// against holds our merge under Apply against their generator and applier.
func (x triple) against(j *judge) {
	sc, ours, ok := x.merge(j, walk.Apply)
	if !ok {
		return
	}
	patch, err := generate(x, true)
	if err != nil {
		x.explain(j, "generator ", err)
		return
	}
	they, ok := x.applied(j, patch)
	if !ok {
		return
	}
	root := place{"", x.last, x.live, x.desired, they, ours}
	j.value(kind.Root, kind.Root.Strategic, root)
	if p, _ := parseMap(patch); len(p) > 0 && sc.Changes == 0 && Equal(they, x.live) {
		j.noise(kind.Root, "", p, x.live)
	}
}

func (x triple) merge(j *judge, p walk.Policy) (sc walk.Script, merged map[string]any, ok bool) {
	sc, err := walk.Walk(walk.Input{Last: tree(x.last), Live: tree(x.live), Desired: tree(x.desired), Rules: walk.Rules{Schema: kind, Policy: &p, Equality: walk.Exact}})
	switch {
	case errors.Is(err, node.ErrType):
		j.use("wrong-type")
		return sc, nil, false
	case err != nil:
		j.unexplained("we refuse", "%v", err)
		return sc, nil, false
	}
	merged, _ = parseMap(sc.AppendMerged(nil))
	return sc, merged, true
}

// applied returns what their applier makes of their patch. Ours must make the
// same of it, but store no directive.
func (x triple) applied(j *judge, patch []byte) (they map[string]any, ok bool) {
	live := tree(x.live)
	result, err := theirs(live.JSON(), patch)
	own, ourErr := dialect.ApplyStrategic(nil, live, parse(string(patch)), kind)
	switch {
	case err != nil && ourErr != nil:
		x.explain(j, "applier ", err)
		return nil, false
	case err != nil || ourErr != nil:
		j.unexplained("one applier refuses", "%s\ntheirs %v, ours %v", patch, err, ourErr)
		return nil, false
	}
	they, _ = parseMap(result)
	mine, _ := parseMap(own)
	for n := 0; n < 40 && !Equal(they, mine) && bytes.Contains(patch, []byte("$deleteFromPrimitiveList")); n++ {
		result, _ = theirs(live.JSON(), patch) // prune-and-add is chance
		they, _ = parseMap(result)
	}
	apart := newJudge()
	apart.appliers = true
	apart.value(kind.Root, kind.Root.Strategic, place{"", none{}, x.live, none{}, they, mine})
	for entry := range apart.used {
		if entry != "directive-stored" && entry != "repeated-value" {
			j.unexplained("appliers", "%s: %s, ours %s", entry, they, mine)
		}
	}
	for _, o := range apart.open {
		j.unexplained("appliers "+o.sort, "%s", o.text)
	}
	return they, true
}

// noise explains the parts of a patch that changes nothing: ours is then empty.
func (j *judge) noise(t *schema.Type, path string, patch, live map[string]any) {
	for key, v := range patch {
		prefix, name, _ := strings.Cut(key, "/")
		lv, inLive := live[key]
		switch {
		case prefix == "$setElementOrder":
			j.use("noise-order")
		case prefix == "$deleteFromPrimitiveList":
			for _, k := range keysOfList(v, nil) {
				if slices.Contains(keysOfList(live[name], nil), k) {
					j.unexplained("noise", "%s.%s", path, key)
				}
			}
			j.use("noise-delete")
		case key == "$retainKeys":
			j.use("noise-retain-keys")
		case v == nil && !inLive:
			j.use("noise-null")
		default:
			j.noiseValue(fieldOf(t, key).Type, path+"."+key, v, lv)
		}
	}
}

func (j *judge) noiseValue(t *schema.Type, path string, v, live any) {
	m, ok1 := v.(map[string]any)
	lm, ok2 := live.(map[string]any)
	switch {
	case ok1 && ok2 && t.Strategic.Merge == schema.Atomic:
		j.use("noise-replaced-map")
	case ok1 && ok2:
		j.noise(t, path, m, lm)
	case t.Strategic.Merge == schema.Keyed:
		keys := t.Strategic.Keys
		for _, e := range listOf(v) {
			m := maps.Clone(e.(map[string]any))
			key := keyOf(m, keys)
			delete(m, keys[0].Name)
			i := slices.Index(keysOfList(live, keys), key)
			switch {
			case (spot{t: t, place: place{live: live}}).repeats():
				j.use("repeated-key")
			case i >= 0:
				j.noise(elemOf(t), path+"["+key+"]", m, listOf(live)[i].(map[string]any))
			case m["$patch"] == "delete":
				j.use("noise-delete")
			default:
				j.unexplained("noise", "%s[%s]", path, key)
			}
		}
	case t.Strategic.Merge == schema.Set && subset(v, live): // desired has it twice
		j.use("repeated-value")
	case same(v, live) && !bytes.Equal(tree(map[string]any{"": v}).JSON(), tree(map[string]any{"": live}).JSON()):
		j.use("number-spelling")
	default:
		j.unexplained("noise", "%s: %v", path, v)
	}
}

// short is the beginning of an error, without the values it mentions.
func short(err error) string {
	text := strings.TrimPrefix(err.Error(), "map: ")
	if strings.HasPrefix(text, "map[") {
		if _, after, ok := strings.Cut(text, "] "); ok {
			text = after
		}
	}
	return fmt.Sprintf("%.40s", text)
}

func TestUpstream(t *testing.T) {
	differential(t, *triples, triple.against, func(seed uint64) triple {
		x := random(seed)
		if seed%64 >= 16 { // their generator refuses most of these
			x.drop("byName")
		}
		return x
	})
}

func (x triple) drop(field string) {
	delete(x.last, field)
	delete(x.live, field)
	delete(x.desired, field)
}

// differential holds both sides against each other on random triples. What no
// entry of the catalogue explains is made small and shown.
func differential(t *testing.T, triples int, compare func(triple, *judge), random func(seed uint64) triple) {
	shown := map[string]int{}
	for n := range uint64(triples) {
		x := random(*seed + n)
		j := newJudge()
		compare(x, j)
		j.count()
		if len(j.open) == 0 {
			continue
		}
		sort := j.open[0].sort
		if shown[sort]++; shown[sort] > 3 {
			continue
		}
		small := shrink(x, func(x triple) bool { j := newJudge(); compare(x, j); return j.has(sort) })
		j = newJudge()
		compare(small, j)
		t.Errorf("seed %d, %s\n%v\n%s", *seed+n, sort, small, j.open)
	}
	if len(shown) > 0 {
		t.Log(shown)
	}
}
