package apply

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// naive is what a queue does, said plainly.
type naive struct {
	ready   []int
	waiting map[int]time.Time
	working map[int]bool // whether added meanwhile
	failed  map[int]int
}

func (n *naive) add(k int) {
	if _, is := n.working[k]; is {
		n.working[k] = true
		return
	}
	delete(n.waiting, k)
	if !slices.Contains(n.ready, k) {
		n.ready = append(n.ready, k)
	}
}

func (n *naive) get() (int, int) {
	k := n.ready[0]
	n.ready, n.working[k] = n.ready[1:], false
	return k, n.failed[k]
}

func (n *naive) done(k, failures int, wait time.Duration, now time.Time) {
	again := n.working[k]
	delete(n.working, k)
	n.failed[k] = failures
	switch {
	case again || wait == 0:
		n.ready = append(n.ready, k)
	case wait > 0:
		n.waiting[k] = now.Add(wait)
	default:
		delete(n.failed, k)
	}
}

func (n *naive) tick(now time.Time) {
	keys := slices.Sorted(maps.Keys(n.waiting))
	slices.SortFunc(keys, func(a, b int) int { return n.waiting[a].Compare(n.waiting[b]) })
	for _, k := range keys {
		if !n.waiting[k].After(now) {
			n.add(k)
		}
	}
}

// Random calls do to a queue what they do to the naive one.
func TestQueueIsTheNaiveOne(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			q, random := newQueue[int](), rand.New(rand.NewPCG(seed, 0))
			go q.run(ctx)
			n := &naive{waiting: map[int]time.Time{}, working: map[int]bool{}, failed: map[int]int{}}
			var story []string
			begin, unique := time.Now(), time.Duration(0)
			for range 200 {
				working := slices.Sorted(maps.Keys(n.working))
				switch do := random.IntN(4); {
				case do == 0:
					k := random.IntN(6)
					story = append(story, fmt.Sprint("add ", k))
					q.add(k)
					n.add(k)
				case do == 1 && len(n.ready) > 0:
					wantKey, wantFailures := n.get()
					story = append(story, "get")
					if k, failures, ok := q.get(ctx); k != wantKey || failures != wantFailures || !ok {
						t.Fatalf("seed %d: %s: got %d after %d failures, %t; want %d after %d", seed, strings.Join(story, ", "), k, failures, ok, wantKey, wantFailures)
					}
				case do == 2 && len(working) > 0:
					unique++ // no two are due at once: their order would be anyone's
					k, failures := working[random.IntN(len(working))], random.IntN(3)
					wait := []time.Duration{never, 0, time.Duration(random.IntN(5))*time.Second + unique}[random.IntN(3)]
					story = append(story, fmt.Sprintf("done %d %d %v", k, failures, wait))
					q.done(k, failures, wait)
					n.done(k, failures, wait, time.Now())
				case do == 3:
					time.Sleep(time.Duration(random.IntN(3)) * time.Second)
					synctest.Wait()
					story = append(story, fmt.Sprint("at ", time.Since(begin)))
					n.tick(time.Now())
				}
				all := len(n.ready) + len(n.waiting) + len(n.working)
				if q.mu.Lock(); len(q.entries) != all || len(q.waiting) != len(n.waiting) {
					t.Fatalf("seed %d: %s: holds %d keys of which %d wait, want %d and %d", seed, strings.Join(story, ", "), len(q.entries), len(q.waiting), all, len(n.waiting))
				}
				q.mu.Unlock()
			}
			cancel()
		})
	}
}

// A key that is added without end has its turn and no more.
func TestQueueIsFair(t *testing.T) {
	q, ctx := newQueue[string](), t.Context()
	q.add("busy")
	for i := range 3 {
		q.add(fmt.Sprint("quiet ", i))
	}
	var got []string
	for range 8 {
		k, _, _ := q.get(ctx)
		got = append(got, k)
		q.add("busy")
		q.add("busy")
		q.done(k, 0, never)
	}
	if got, want := strings.Join(got, ", "), "busy, quiet 0, quiet 1, quiet 2, busy, busy, busy, busy"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A worker whose ctx has ended, but who has not seen it yet, is woken for a key: another one gets it.
func TestQueueOfTwoRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[int]()
		ended, cancel := context.WithCancel(t.Context())
		var got [2]bool
		for i, ctx := range []context.Context{ended, t.Context()} {
			go func() { _, _, got[i] = q.get(ctx) }()
			synctest.Wait() // the first to wait is the first to be woken
		}
		cancel()
		q.add(1)
		synctest.Wait()
		if got != [2]bool{false, true} {
			t.Errorf("got a key: %t with the ended ctx, %t with the other", got[0], got[1])
		}
	})
}

// What is due while nothing runs is ready in the next run.
func TestQueueBetweenRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ctx := newQueue[int](), t.Context()
		q.add(1)
		q.get(ctx)
		q.done(1, 0, time.Second)
		for range 3 {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			time.Sleep(time.Minute)
			q.run(ended)
		}
		running, cancel := context.WithCancel(ctx)
		defer cancel()
		go q.run(running)
		if k, _, ok := q.get(running); k != 1 || !ok {
			t.Errorf("got %d, %t, want 1", k, ok)
		}
	})
}

// Many add and many work: on each key one at a time, and after its last add.
func TestQueueRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys, adders, workers, adds = 20, 8, 8, 500
		ctx, cancel := context.WithCancel(t.Context())
		q := newQueue[int]()
		var added, seen [keys]atomic.Int64
		var busy [keys]atomic.Bool
		var adding sync.WaitGroup
		go q.run(ctx)
		work := func() {
			for {
				k, failures, ok := q.get(ctx)
				if !ok {
					return
				}
				if busy[k].Swap(true) {
					t.Errorf("two work on %d", k)
				}
				seen[k].Store(added[k].Load())
				busy[k].Store(false)
				if k%3 == 0 && failures < 2 {
					q.done(k, failures+1, time.Duration(k))
				} else {
					q.done(k, 0, never)
				}
			}
		}
		for range workers {
			go work()
		}
		for a := range adders {
			adding.Go(func() {
				for i := range adds {
					k := (a + i) % keys
					added[k].Add(1)
					q.add(k)
				}
			})
		}
		adding.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		for k := range keys {
			if got, want := seen[k].Load(), added[k].Load(); got != want {
				t.Errorf("key %d: last worked on after %d of %d adds", k, got, want)
			}
		}
		if len(q.entries) > 0 {
			t.Errorf("%d keys are kept", len(q.entries))
		}
		cancel()
	})
}
