package steps

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Fits beside each other read the same problems: one of them has them made, the others wait, and all get the same entry.
func TestAStepThatSeveralWantIsMadeOnce(t *testing.T) {
	p, err := Open(&spec.Resolved{}, Options{Out: filepath.Join(t.TempDir(), "runs")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var made atomic.Int32
	add := func(name string, inputs []Input, build func(context.Context) error) *Step {
		t.Helper()
		s, err := p.Add(name, name, 1, p.Params(&Pool{}), inputs, func(ctx context.Context, d *store.Draft) error {
			made.Add(1)
			if err := build(ctx); err != nil {
				return err
			}
			return d.WriteFile("of.txt", []byte(name))
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	problems := add("problems", nil, func(context.Context) error { return nil })
	wants := func(ctx context.Context) error { _, err := p.Get(ctx, problems); return err }
	fits := []*Step{add("fit-a", []Input{problems.As("problems")}, wants), add("fit-b", []Input{problems.As("problems")}, wants)}

	keys := make([]store.Key, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			e, err := p.Get(t.Context(), fits[i%2])
			if err != nil {
				t.Error(err)
			}
			keys[i] = e.Key
		})
	}
	all.Wait()
	if n := made.Load(); n != 3 {
		t.Errorf("%d steps were made, want 3", n)
	}
	for i, k := range keys {
		if k != fits[i%2].Recipe.Key() {
			t.Errorf("entry %v, want that of %s", k, fits[i%2].Name)
		}
	}
}
