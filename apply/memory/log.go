package memory

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// event is one write. Events are a linked list: a watch holds on to the last one that it has
// passed and follows next, so it loses nothing and keeps no writer waiting, and what all
// watches have passed is garbage.
type event struct {
	version   uint64
	kind      schema.GroupKind
	namespace string
	was, now  *stored // nil: there was none, there is none

	next *event        // to be read when more is closed
	more chan struct{} // closed when next is set
}

// eventLog is the end of the list of events, and where its history begins.
type eventLog struct {
	oldest, newest *event
	length         int
}

func (l *eventLog) begin(version uint64) {
	l.newest = &event{version: version, more: make(chan struct{})}
	l.oldest = l.newest
}

func (l *eventLog) add(e *event, history int) {
	e.more = make(chan struct{})
	l.newest.next = e
	close(l.newest.more)
	l.newest = e
	if l.length++; l.length > history {
		l.oldest, l.length = l.oldest.next, history
	}
}

// since returns the last event that is not after version. The error is Expired for a version
// that the log no longer reaches.
func (l *eventLog) since(version uint64) (*event, error) {
	if version < l.oldest.version {
		return nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", version, l.oldest.version))
	}
	e := l.oldest
	for e != l.newest && e.next.version <= version {
		e = e.next
	}
	return e, nil
}
