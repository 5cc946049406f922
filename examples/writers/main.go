// Command writers has many write to one object, each a field of its own, in two ways: by
// reading it, changing it and replacing it, as many a controller does; and by applying what each
// declares, with a record of its own. They go in step, so that in each round everybody has read
// before anybody writes. It prints how many writes landed.
//
//	go run ./examples/writers -writers 16 -rounds 50
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/merge"
)

func main() {
	log.SetFlags(0)
	writers := flag.Int("writers", 16, "how many write at the same time")
	rounds := flag.Int("rounds", 50, "how often each of them writes")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *writers, *rounds); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, writers, rounds int) error {
	for _, s := range []struct {
		how   string
		write func(ctx context.Context, c apply.Client, writer, round int) error
	}{
		{"replace", replace},
		{"apply", applyOwn},
	} {
		r, err := race(ctx, writers, rounds, s.write)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%-7s %d writers × %d rounds: %d landed, %d refused as conflicts; fields as written last: %d\n",
			s.how, writers, rounds, r.landed, r.conflicts, r.fields); err != nil {
			return err
		}
	}
	return nil
}

// id is the address of the one object.
var id = apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "default", Name: "shared"}

func name(writer int) string { return "writer-" + strconv.Itoa(writer) }

// object returns the object with what a writer says in a round.
func object(writer, round int) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{name(writer): strconv.Itoa(round)}}}
	u.SetGroupVersionKind(id.GVK)
	u.SetNamespace(id.Namespace)
	u.SetName(id.Name)
	return u
}

// replace reads the object, changes it and stores it in its place.
func replace(ctx context.Context, c apply.Client, writer, round int) error {
	u, err := c.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(u.Object, strconv.Itoa(round), "data", name(writer)); err != nil {
		return err
	}
	_, err = c.Replace(ctx, u, apply.WriteOptions{FieldManager: name(writer)})
	return err
}

// applyOwn applies what the writer declares. A program would keep its Applier.
func applyOwn(ctx context.Context, c apply.Client, writer, round int) error {
	o := apply.ApplierOptions{FieldManager: name(writer)}
	o.Record.Name = name(writer)
	applier, err := apply.NewApplier(c, o)
	if err != nil {
		return err
	}
	desired, err := merge.FromMap(object(writer, round).Object)
	if err != nil {
		return err
	}
	_, err = applier.Apply(ctx, desired)
	return err
}

// result is what came of a race.
type result struct {
	landed, conflicts int64
	fields            int // of as many as there are writers
}

// race has the writers write in step.
func race(ctx context.Context, writers, rounds int, write func(ctx context.Context, c apply.Client, writer, round int) error) (r result, err error) {
	cluster := memory.New(memory.Options{})
	if _, err := cluster.Create(ctx, object(0, 0), apply.WriteOptions{}); err != nil {
		return r, err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var landed, conflicts atomic.Int64
	var all sync.WaitGroup
	c := inStep{cluster, &barrier{parties: writers, open: make(chan struct{})}}
	for writer := range writers {
		all.Go(func() {
			for round := range rounds {
				switch err := write(ctx, c, writer, round+1); {
				case err == nil:
					landed.Add(1)
				case apierrors.IsConflict(err):
					conflicts.Add(1)
				default:
					fail(err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return r, err
	}
	live, err := cluster.Get(ctx, id)
	if err != nil {
		return r, err
	}
	data, _, err := unstructured.NestedStringMap(live.Object, "data")
	for writer := range writers {
		if data[name(writer)] == strconv.Itoa(rounds) {
			r.fields++
		}
	}
	r.landed, r.conflicts = landed.Load(), conflicts.Load()
	return r, err
}

// inStep is a client whose reads return when everybody has read.
type inStep struct {
	apply.Client
	*barrier
}

func (c inStep) Get(ctx context.Context, id apply.ID) (*unstructured.Unstructured, error) {
	u, err := c.Client.Get(ctx, id)
	if err == nil {
		err = c.wait(ctx)
	}
	return u, err
}

// barrier lets goroutines pass together.
type barrier struct {
	parties int
	mu      sync.Mutex
	waiting int
	open    chan struct{} // closed when the last one comes
}

func (b *barrier) wait(ctx context.Context) error {
	b.mu.Lock()
	open := b.open
	if b.waiting++; b.waiting == b.parties {
		b.waiting, b.open = 0, make(chan struct{})
		close(open)
	}
	b.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
