package admission

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"time"
)

// Files loads files again when they change, such as those of a Secret or a ConfigMap that is
// mounted as a volume (one mounted by subPath never changes). It looks at contents: links
// and times of files say too little.
type Files struct {
	Paths []string
	// Load gets the contents of all files, in the order of Paths. If it fails, as when only
	// half of a pair is written yet, it is called again at the next look.
	Load func(contents [][]byte) error

	loaded [sha256.Size]byte // the sum of what was loaded
}

// Check looks once, and loads if the files have changed since they were last loaded. The
// error is that of reading or loading; what was loaded before stays. Not safe for concurrent
// use. O(size of the files).
func (f *Files) Check() error {
	contents := make([][]byte, len(f.Paths))
	sum := sha256.New()
	for i, path := range f.Paths {
		var err error
		if contents[i], err = os.ReadFile(path); err != nil {
			return err
		}
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(contents[i]))))
		sum.Write(contents[i])
	}
	now := [sha256.Size]byte(sum.Sum(nil))
	if now == f.loaded {
		return nil
	}
	if err := f.Load(contents); err != nil {
		return err
	}
	f.loaded = now
	return nil
}

// Watch calls Check at an interval until ctx ends, and report with each error.
func (f *Files) Watch(ctx context.Context, every time.Duration, report func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := f.Check(); err != nil {
				report(err)
			}
		}
	}
}
