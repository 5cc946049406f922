package apply

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestBackoff(t *testing.T) {
	lost := errors.New("connection reset by peer")
	busy := fmt.Errorf("apply: %w", apierrors.NewTooManyRequests("later", 7))
	for _, tt := range []struct {
		why         string
		first, most time.Duration
		random      float64
		failures    int
		err         error
		want        time.Duration
	}{
		{"nothing failed", time.Second, time.Minute, 0, 0, nil, 0},
		{"the first wait", time.Second, time.Minute, 0, 1, lost, time.Second},
		{"half of it is random", time.Second, time.Minute, 0.5, 1, lost, 750 * time.Millisecond},
		{"doubled", time.Second, time.Minute, 0, 4, lost, 8 * time.Second},
		{"not above the most", time.Second, time.Minute, 0, 7, lost, time.Minute},
		{"random below the most too", time.Second, time.Minute, 0.5, 7, lost, 45 * time.Second},
		{"no overflow", time.Second, math.MaxInt64, 0, 35, lost, math.MaxInt64},
		{"no overflow, however often", time.Second, math.MaxInt64, 0, math.MaxInt, lost, math.MaxInt64},
		{"first above most", time.Minute, time.Second, 0, 1, lost, time.Second},
		{"the server asks for more", time.Second, time.Minute, 0, 1, busy, 7 * time.Second},
		{"the server asks for less", time.Second, time.Minute, 0, 5, busy, 16 * time.Second},
		{"the server asks for more than the most", time.Second, 5 * time.Second, 0, 9, busy, 7 * time.Second},
	} {
		b := backoff{tt.first, tt.most, func() float64 { return tt.random }}
		if got := b.after(tt.failures, tt.err); got != tt.want {
			t.Errorf("%s: after %d failures: got %v, want %v", tt.why, tt.failures, got, tt.want)
		}
	}
}

func TestBackoffIsRandomByItself(t *testing.T) {
	b, seen := backoff{first: time.Second, most: time.Minute}, map[time.Duration]bool{}
	for range 100 {
		d := b.after(2, nil)
		if d <= time.Second || d > 2*time.Second {
			t.Fatalf("got %v, want more than 1s and at most 2s", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("got %d different waits of 100", len(seen))
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if err := sleep(t.Context(), time.Hour); err != nil || time.Since(begin) != time.Hour {
			t.Errorf("got %v after %v, want nil after 1h", err, time.Since(begin))
		}
		why := errors.New("shut down")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(why) })
		begin = time.Now()
		if err := sleep(ctx, time.Hour); err != why || time.Since(begin) != time.Minute {
			t.Errorf("got %v after %v, want %v after 1m", err, time.Since(begin), why)
		}
		if err := sleep(ctx, 0); err == nil {
			t.Error("slept although ctx had ended")
		}
	})
}
