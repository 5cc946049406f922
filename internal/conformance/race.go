package conformance

import (
	"strconv"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
)

const (
	writers = 8
	writes  = 20
)

// parallel runs f once for each writer.
func parallel(f func(writer int)) {
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func (e *env) count(u *unstructured.Unstructured) int {
	text, _, _ := unstructured.NestedString(u.Object, "data", "key")
	n, _ := strconv.Atoi(text)
	return n
}

var racing = []testCase{
	{"of many who replace none is lost", func(e *env) {
		made := e.create(e.configMap("race-replace", "0"))
		var conflicts atomic.Int64
		parallel(func(int) {
			for done := 0; done < writes; {
				u, err := e.c.Get(e.ctx, apply.IDOf(made))
				if err == nil {
					_ = unstructured.SetNestedField(u.Object, strconv.Itoa(e.count(u)+1), "data", "key")
					_, err = e.c.Replace(e.ctx, u, apply.WriteOptions{})
				}
				switch {
				case err == nil:
					done++
				case apierrors.IsConflict(err):
					conflicts.Add(1)
				default:
					e.Error(err)
					return
				}
			}
		})
		if got := e.count(e.get(made)); got != writers*writes {
			e.Errorf("%d writes, counted %d", writers*writes, got)
		}
		e.Logf("%d conflicts in %d writes", conflicts.Load(), writers*writes)
	}},
	{"many who patch do not conflict", func(e *env) {
		made := e.create(e.widget("race-patch", 0))
		parallel(func(writer int) {
			for i := range writes {
				patch := `{"spec":{"w` + strconv.Itoa(writer) + `":` + strconv.Itoa(i+1) + `}}`
				if _, err := e.patch(made, types.MergePatchType, patch, ""); err != nil {
					e.Error(err)
				}
			}
		})
		now := e.get(made)
		for writer := range writers {
			e.is(now, int64(writes), "spec", "w"+strconv.Itoa(writer))
		}
		if got := now.GetGeneration(); got != writers*writes+1 {
			e.Errorf("%d writes, generation %d", writers*writes, got)
		}
	}},
	{"one of many creates", func(e *env) {
		var made atomic.Int64
		parallel(func(int) {
			switch _, err := e.c.Create(e.ctx, e.configMap("race-create", "1"), apply.WriteOptions{}); {
			case err == nil:
				made.Add(1)
			case !apierrors.IsAlreadyExists(err):
				e.Error(err)
			}
		})
		if made.Load() != 1 {
			e.Errorf("created %d times", made.Load())
		}
	}},
}
