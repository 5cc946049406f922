package apply

import (
	"context"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// backoff says how long to wait before the next attempt. It keeps no state: the caller counts
// its failures and begins again at none after a success. Safe for concurrent use.
type backoff struct {
	first, most time.Duration
	random      func() float64 // in [0, 1); nil is math/rand's
}

// after returns the wait after so many failures in a row, of which the last one is err: first,
// doubled with every further failure and at most most, of which a random half is taken off, so
// that many who fail together do not come back together. It is no less than what a server asks
// for in err (Retry-After), which may be more than most. 0 where there is no failure. O(1).
func (b backoff) after(failures int, err error) time.Duration {
	if failures <= 0 {
		return 0
	}
	wait := b.most
	if shift := failures - 1; shift < 63 && b.first <= b.most>>shift {
		wait = b.first << shift
	}
	random := b.random
	if random == nil {
		random = rand.Float64
	}
	wait -= time.Duration(random() * float64(wait/2))
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		wait = max(wait, time.Duration(seconds)*time.Second)
	}
	return wait
}

// sleep waits. The error is why ctx ended, if it did.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return context.Cause(ctx)
}
