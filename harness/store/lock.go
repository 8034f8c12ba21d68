// Locks against other processes and goroutines.

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// errLocked says that somebody else holds a lock.
var errLocked = errors.New("locked")

// lock is an exclusive lock on a file, held against other processes and other goroutines alike. The system gives it
// up when the process ends, however it ends.
type lock struct{ f *os.File }

// tryLock takes the lock at path or returns errLocked with the holder.
func tryLock(path string) (*lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := lockFile(f); err != nil {
			defer f.Close()
			if errors.Is(err, errLocked) {
				return nil, fmt.Errorf("%w by %s", errLocked, holder(f))
			}
			return nil, fmt.Errorf("lock %q: %w", path, err)
		}
		// The last holder removes the file before it lets go, so this may be a lock on a file that is gone.
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if there, err := os.Stat(path); err != nil || !os.SameFile(mine, there) {
			f.Close()
			continue
		}
		f.Truncate(0)
		fmt.Fprintf(f, "process %d\n", os.Getpid()) // for messages only
		return &lock{f}, nil
	}
}

// holder reads who wrote the lock file.
func holder(f *os.File) string {
	var b [64]byte
	n, _ := f.ReadAt(b[:], 0)
	if who := strings.TrimSpace(string(b[:n])); who != "" {
		return who
	}
	return "another process"
}

// waitLock takes the lock at path, waiting until ctx ends. It calls waiting once if it has to.
func waitLock(ctx context.Context, path string, waiting func(error)) (*lock, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		l, err := tryLock(path)
		if !errors.Is(err, errLocked) {
			return l, err
		}
		if waiting != nil {
			waiting(err)
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", err, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// unlock removes the lock file and lets go, in this order, so that no lock files pile up.
func (l *lock) unlock() {
	os.Remove(l.f.Name())
	l.f.Close()
}
