package apply

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// queue hands out keys to be worked on, in the order in which they became ready.
//
//	         add                get                done
//	(none) ───────► ready ───────────► working ───────────► (none), ready or waiting
//	                  ▲                   │ add: ready once it is done
//	waiting ──────────┘ add, or in time   ▼
//
// A key has one entry however often it is added, so it is worked on by one at a time, and again
// after an add that came meanwhile. Having been worked on it goes to the end: no key keeps the
// others from their turn. What is ready is a list, what waits a heap with one timer: add, get
// and done are O(1), and O(log n) of the keys that wait where one of them does.
//
// Safe for concurrent use.
type queue[K comparable] struct {
	mu          sync.Mutex
	wake        sync.Cond // something is ready, or somebody's ctx has ended
	entries     map[K]*queued[K]
	first, last *queued[K] // of what is ready
	waiting     byDue[K]
	timer       *time.Timer // fires when the first of waiting is due
}

// queued is a key that is ready, working or waiting.
type queued[K comparable] struct {
	key      K
	state    keyState
	again    bool // was added while working
	failures int  // in a row, as done said

	next *queued[K] // of ready ones
	due  time.Time  // of a waiting one
	at   int        // its index in the heap
}

type keyState uint8

const (
	keyReady keyState = iota
	keyWorking
	keyWaiting
)

// never, as a wait, is until the key is added.
const never = time.Duration(-1)

func newQueue[K comparable]() *queue[K] {
	q := &queue[K]{entries: map[K]*queued[K]{}, timer: time.NewTimer(never)}
	q.timer.Stop()
	q.wake.L = &q.mu
	return q
}

// add makes key ready.
func (q *queue[K]) add(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch e := q.entries[key]; {
	case e == nil:
		e = &queued[K]{key: key}
		q.entries[key] = e
		q.push(e)
	case e.state == keyWorking:
		e.again = true
	case e.state == keyWaiting:
		heap.Remove(&q.waiting, e.at) // the timer may now fire for nothing
		q.push(e)
	}
}

// get waits for a key that is ready, which the caller works on until it calls done, and returns
// it with the failures that the last done told. It returns false once ctx has ended and run,
// which must be running with it, has seen that.
func (q *queue[K]) get(ctx context.Context) (key K, failures int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.first == nil && ctx.Err() == nil {
		q.wake.Wait()
	}
	if ctx.Err() != nil {
		if q.first != nil {
			q.wake.Signal() // it was for another run's
		}
		return key, 0, false
	}
	e := q.first
	if q.first = e.next; q.first == nil {
		q.last = nil
	}
	e.next, e.state = nil, keyWorking
	return e.key, e.failures, true
}

// done ends the work on a key, which has now failed so many times in a row. It is ready again
// after wait, or before if it is added, or at once if it has been. A key that waits for never is
// forgotten.
func (q *queue[K]) done(key K, failures int, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[key]
	e.failures = failures
	switch {
	case e.again || wait == 0:
		e.again = false
		q.push(e)
	case wait > 0:
		e.state, e.due = keyWaiting, time.Now().Add(wait)
		heap.Push(&q.waiting, e)
		q.arm()
	default:
		delete(q.entries, key)
	}
}

// run makes ready what is due, until ctx ends. Several may run.
func (q *queue[K]) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			q.mu.Lock()
			q.wake.Broadcast()
			q.mu.Unlock()
			return
		case <-q.timer.C:
			q.mu.Lock()
			for now := time.Now(); len(q.waiting) > 0 && !q.waiting[0].due.After(now); {
				q.push(heap.Pop(&q.waiting).(*queued[K]))
			}
			q.arm()
			q.mu.Unlock()
		}
	}
}

// push puts e at the end of what is ready. The caller holds q.mu.
func (q *queue[K]) push(e *queued[K]) {
	e.state = keyReady
	if q.last == nil {
		q.first = e
	} else {
		q.last.next = e
	}
	q.last = e
	q.wake.Signal()
}

// arm sets the timer. The caller holds q.mu.
func (q *queue[K]) arm() {
	if len(q.waiting) == 0 {
		q.timer.Stop()
		return
	}
	q.timer.Reset(time.Until(q.waiting[0].due))
}

// byDue is a heap: what is due first is its first.
type byDue[K comparable] []*queued[K]

func (w byDue[K]) Len() int           { return len(w) }
func (w byDue[K]) Less(i, j int) bool { return w[i].due.Before(w[j].due) }

func (w byDue[K]) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].at, w[j].at = i, j
}

func (w *byDue[K]) Push(e any) {
	e.(*queued[K]).at = len(*w)
	*w = append(*w, e.(*queued[K]))
}

func (w *byDue[K]) Pop() any {
	last := len(*w) - 1
	e := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	return e
}
