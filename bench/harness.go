package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/braid/merge"
)

// Work is one thing that is done to every case by every peer.
type Work struct {
	Name  string // Benchmark<Name> measures it
	Says  string // what is done, for readers of the results
	Bytes func(c *Case) int
	Want  func(c *Case) []byte // the object that every answer must stand for
	Peers []Peer
}

// Peer is one library, or one of its ways, at one work.
type Peer struct {
	Name string
	Make func(c *Case) (Task, error) // does all that is not timed
	// By the name of a case, or "" for all: the reason why it is not measured, and the
	// reason why its answer is another, which is measured all the same.
	Unsupported, Differs map[string]string
}

// Task is a peer's work on one case.
type Task struct {
	Time   func() error           // what is timed
	Object func() ([]byte, error) // what its answer stands for; nil if there is no answer, as of a floor
}

// Answer makes a Task of what is timed and of how its answer becomes an object.
func Answer[T any](run func() (T, error), object func(T) ([]byte, error)) Task {
	return Task{
		Time: func() error { _, err := run(); return err },
		Object: func() ([]byte, error) {
			answer, err := run()
			if err != nil {
				return nil, err
			}
			return object(answer)
		},
	}
}

// Works is the table of a suite.
type Works []Work

// Run measures the work of the name of b.
func (ws Works) Run(b *testing.B) {
	name := strings.TrimPrefix(b.Name(), "Benchmark")
	i := slices.IndexFunc(ws, func(w Work) bool { return w.Name == name })
	if i < 0 {
		b.Fatalf("no work is called %s", name)
	}
	fmt.Printf("work: %s: %s\n", name, ws[i].Says)
	for c := range Cases() {
		if c.Origin != nil {
			fmt.Printf("origin: %s: %s\n", c.Name, c.Origin())
		}
		for _, p := range ws[i].Peers {
			ws[i].measure(b, c, &p)
		}
	}
}

func (w *Work) measure(b *testing.B, c *Case, p *Peer) {
	name := fmt.Sprintf("case=%s/peer=%s", c.Name, p.Name)
	if why := reason(p.Unsupported, c); why != "" {
		fmt.Printf("unsupported: %s/%s: %s\n", b.Name(), name, why)
		return
	}
	if why := reason(p.Differs, c); why != "" {
		fmt.Printf("differs: %s/%s: %s\n", b.Name(), name, why)
	}
	b.Run(name, func(b *testing.B) {
		t, err := p.Make(c)
		if err != nil {
			b.Fatal(err)
		}
		if _, done := checked.Load(b.Name()); !done {
			if err := w.check(c, p, t); err != nil {
				b.Fatal(err)
			}
			checked.Store(b.Name(), true)
		}
		b.ReportAllocs()
		b.SetBytes(int64(w.Bytes(c)))
		for b.Loop() {
			if err := t.Time(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// checked has the names of those whose answer is right: with -count it is asked once.
var checked sync.Map

var errAnswer = errors.New("wrong answer")

// check asks once, and compares.
func (w *Work) check(c *Case, p *Peer, t Task) error {
	if t.Object == nil {
		return t.Time()
	}
	text, err := t.Object()
	if err != nil {
		return err
	}
	got, err := merge.Parse(text)
	if err != nil {
		return err
	}
	want, err := merge.Parse(w.Want(c))
	if err != nil {
		return err
	}
	switch equal, differs := got.Equal(want), reason(p.Differs, c) != ""; {
	case equal && differs:
		return fmt.Errorf("%s on %s: the answer no longer differs", p.Name, c.Name)
	case !equal && !differs:
		a, b := around(got.JSON(), want.JSON())
		return fmt.Errorf("%w of %s on %s:\n%s\nwant\n%s", errAnswer, p.Name, c.Name, a, b)
	}
	return nil
}

// around cuts two different texts to where they first differ.
func around(a, b []byte) (x, y []byte) {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-200)
	return a[from:min(len(a), i+200)], b[from:min(len(b), i+200)]
}

func reason(of map[string]string, c *Case) string {
	if why, ok := of[c.Name]; ok {
		return why
	}
	return of[""]
}

// Test asks every peer once on the cases that are quick to make.
func (ws Works) Test(t *testing.T) {
	for _, w := range ws {
		t.Run(w.Name, func(t *testing.T) {
			for c := range Cases() {
				for _, p := range w.Peers {
					if c.Large || reason(p.Unsupported, c) != "" {
						continue
					}
					task, err := p.Make(c)
					if err == nil {
						err = w.check(c, &p, task)
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}
