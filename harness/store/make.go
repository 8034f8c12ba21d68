// An entry is made once, by whoever wants it first.

package store

import (
	"context"
	"errors"
	"fmt"
)

// Make returns the entry of a recipe, running build to make it if it is missing. If another goroutine is
// making it, Make waits for that one until ctx ends. A corrupt entry is moved aside with a warning and made again. If
// build fails nothing is stored.
func (s *Store) Make(ctx context.Context, r Recipe, build func(context.Context, *Draft) error) (Entry, error) {
	e, err := s.Get(r)
	if err == nil {
		return e, nil
	}
	if s.held == nil {
		return Entry{}, err
	}
	d, err := s.Begin(ctx, r)
	if err != nil {
		return Entry{}, err
	}
	defer d.Discard()
	e, err = s.Get(r) // again: somebody else may have made it while we waited for the lock
	switch {
	case err == nil:
		return e, nil
	case errors.Is(err, ErrCorrupt):
		s.log.Warn("stored entry cannot be trusted and is made again", "fault", err)
	case !errors.Is(err, ErrMissing):
		return Entry{}, err
	}
	if err := build(ctx, d); err != nil {
		return Entry{}, fmt.Errorf("%s: %w", r.Key().Stage, err)
	}
	return d.Commit()
}
