package twin

import (
	"testing"

	"example.com/braid/internal/diverge"
)

// serverSideExamples show each entry of the catalogue of server-side apply at its smallest.
// live is what others send.
var serverSideExamples = map[string]struct {
	how                 writer
	last, live, desired string
}{
	"apply-taken-over":         {how: updates, last: `{"text":"x"}`, live: `{"text":"y"}`},
	"apply-shared":             {how: applies, last: `{"text":"x"}`, live: `{"text":"x"}`},
	"apply-struct-of-others":   {how: updates, last: `{"part":{"name":"x"}}`, live: `{"part":{"name":"x","value":"y"}}`},
	"apply-entry-goes":         {how: updates, last: `{"sets":{"a":["x"]}}`, live: `{"sets":{"a":["x","y"]}}`},
	"apply-unowned-goes":       {how: nobody, last: `{"labels":{"a":"x"}}`, live: `{"labels":{"a":"x","b":"y"}}`},
	"apply-key-default":        {how: nobody, last: `{"ports":[{"port":1,"protocol":"a"}]}`, live: `{"ports":[{"port":1,"protocol":"a"}]}`, desired: `{"ports":[{"port":1}]}`},
	"apply-emptied":            {how: nobody, last: `{"labels":{"a":"x"}}`, live: `{"labels":{"a":"x"}}`, desired: `{"labels":{}}`},
	"apply-repeats":            {how: updates, live: `{"named":[{"name":"a"},{"name":"a","value":"x"}]}`, desired: `{"named":[{"name":"a"}]}`},
	"apply-order":              {how: nobody, live: `{"set":["a","b"]}`, desired: `{"set":["c","b"]}`},
	"apply-defaults-in-atomic": {how: updates, last: `{"parts":[{"name":"x"}]}`, live: `{"parts":[{"name":"x","value":"y"}]}`, desired: `{"parts":[{"name":"x"}]}`},
	"apply-null-unsaid":        {how: updates, live: `{"text":"x"}`, desired: `{"text":null}`},
	"conflict-absent":          {how: updates, last: `{"text":"x"}`, desired: `{"text":"x"}`},
	"conflict-removal":         {how: updates, last: `{"text":"x"}`, live: `{"text":"y"}`},
	"conflict-unowned":         {how: nobody, last: `{"text":"x"}`, live: `{"text":"y"}`, desired: `{"text":"x"}`},
	"conflict-other-type":      {how: applies, live: `{"any":{"a":"x"}}`, desired: `{"any":"x"}`},
	"conflict-shared":          {how: applies, last: `{"text":"x"}`, live: `{"text":"x"}`, desired: `{"text":"y"}`},
}

func TestServerSideCatalogue(t *testing.T) {
	k := newThing(t)
	for _, d := range diverge.ServerSide {
		e, ok := serverSideExamples[d.Name]
		if !ok {
			t.Errorf("%s: no example", d.Name)
			continue
		}
		j := newJudge()
		k.serverSide(triple{example(t, e.last), example(t, e.live), example(t, e.desired)}, e.how, j)
		if j.used[d.Name] == 0 || len(j.open) > 0 {
			t.Errorf("%s: uses %v, %v", d.Name, j.used, j.open)
		}
	}
	if len(serverSideExamples) != len(diverge.ServerSide) {
		t.Errorf("%d examples for %d entries", len(serverSideExamples), len(diverge.ServerSide))
	}
}
