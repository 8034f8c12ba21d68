// A store is opened.

package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// Open opens the store at root for writing, making the folder if needed, and removes what crashed runs left half-made. It
// must be closed. The error is ErrLocked, and names the process, if another one writes there.
func Open(root string, o Options) (*Store, error) { return open(root, o, nil) }

// OpenReadOnly returns the store at root for looking only: nothing is made, removed or written, not even the folder,
// which need not exist. Make finds entries and fails where it would make one.
func OpenReadOnly(root string) *Store {
	return &Store{root: root, log: slog.New(slog.DiscardHandler)}
}

func open(root string, o Options, at step) (*Store, error) {
	s := &Store{root: root, log: o.Log, at: at, making: map[Key]chan struct{}{}}
	s.log = cmp.Or(s.log, slog.New(slog.DiscardHandler))
	if o.Env == nil {
		o.Env = struct{}{}
	}
	var err error
	if s.env, err = indentJSON(o.Env); err != nil {
		return nil, fmt.Errorf("store %q: env: %w", root, err)
	}
	for _, dir := range []string{"stages", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			var at *fs.PathError
			if errors.As(err, &at) && errors.Is(err, syscall.ENOTDIR) {
				return nil, fmt.Errorf("store %q: %s is a file; name a folder", root, at.Path)
			}
			return nil, fmt.Errorf("store %q: %w", root, explainWrite(root, err))
		}
	}
	if s.held, err = lockFolder(root); err != nil {
		return nil, fmt.Errorf("store %q: %w", root, err)
	}
	if err := errors.Join(s.sweep(), s.sweepUnfinished()); err != nil {
		return nil, errors.Join(fmt.Errorf("store %q: %w", root, explainWrite(filepath.Join(root, "tmp"), err)), s.Close())
	}
	return s, nil
}

// Rollouts opens the rollouts of the folder: for reading if the store was opened so. The error is fs.ErrNotExist then if there
// are none.
func (s *Store) Rollouts(ctx context.Context) (*Rollouts, error) {
	path := filepath.Join(s.root, rolloutsFile)
	if s.held == nil {
		return ReadRollouts(ctx, path)
	}
	return openRollouts(ctx, path)
}

// draftName is what a draft is called, see Key.String. A folder tmp may hold other things, which are not ours.
var draftName = regexp.MustCompile(`^[A-Za-z0-9_.-]+-[0-9a-f]{12}$`)

// sweep removes the drafts of runs that died: nobody else writes here.
func (s *Store) sweep() error {
	tmp := filepath.Join(s.root, "tmp")
	found, err := os.ReadDir(tmp)
	if err != nil {
		return err
	}
	for _, f := range found {
		if !draftName.MatchString(f.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(tmp, f.Name())); err != nil {
			return err
		}
		s.log.Debug("removed a half-made entry", "entry", f.Name())
	}
	return nil
}
