// A row of recorded answers fitted to all questions of its pool: the router of new problems. Cross-fits leave none, since each of theirs
// has not seen a fold.

package protocol

import (
	"context"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// wholeVersion changes with what a fit to all questions is, other things being equal.
const wholeVersion = 2

// whole is a row and all questions of a pool.
type whole struct {
	*steps.Step // nil: the row leaves nothing to load, so it is fitted each time
	c           *recorded
	row         spec.Method
	method      routing.Method
	set         routing.TrainSet
}

// whole plans the fit of a row to all questions, or to as many as it learns from.
func (c *recorded) whole(row spec.Method) (*whole, error) {
	method, err := c.method(row)
	if err != nil {
		return nil, err
	}
	first := c.Spec.Experiment.Folds.Seeds[0]
	train := make([]int, len(c.problems))
	for q := range train {
		train[q] = q
	}
	if train, err = fewer(c.problems, train, row.Train, first); err != nil {
		return nil, err
	}
	w := &whole{c: c, row: row, method: method, set: c.trainSet(train, row)}
	if _, loads := method.(methods.Loader); !loads {
		return w, nil
	}
	p := c.labelled(row, method)
	if row.Train > 0 {
		p.Pick("", spec.Experiment{Folds: spec.Folds{Seeds: []uint64{first}}}, "folds.seeds") // says which are left out
	}
	w.Step, err = c.Add(fmt.Sprintf("fit %s %s", c.pool.Name, row.RowID()), "whole", wholeVersion, p, nil, w.make)
	if err != nil {
		return nil, err
	}
	w.Row, w.Fits = &w.row, 1
	c.takes(w.Step, method, 1, len(train), len(train), 0)
	return w, nil
}

// work is that of the fit, which leaves what it leaves in dir.
func (w *whole) work(dir string) routing.Work {
	return routing.Work{Seed: seed.Seed(w.c.Spec.Experiment.Evaluate.Seeds[0]).Derive("all questions"), Dir: dir, Log: w.c.Options.Log, Say: w.c.Options.Progress.Say}
}

// make fits the row for the store.
func (w *whole) make(ctx context.Context, d *store.Draft) error {
	done, err := w.c.begin(ctx, w.method)
	if err != nil {
		return err
	}
	defer done()
	work := w.work(d.Dir())
	work.Unfinished, work.Every, work.Say = d.Unfinished(), w.c.Options.Every, w.Say
	router, err := w.method.Fit(ctx, w.set, work)
	if unfit := (*routing.Unfit)(nil); errors.As(err, &unfit) {
		return book.Fit{Unfit: unfit.Why}.Write(d)
	} else if err != nil {
		return err
	}
	closer(router)()
	return book.Fit{}.Write(d)
}

// router is loaded from the store, once it was fitted. What it leaves goes to dir, nowhere if that is empty. done frees it.
func (w *whole) router(ctx context.Context, dir string) (router routing.Router, done func(), err error) {
	if w.Step == nil {
		return w.fitted(ctx, dir)
	}
	entry, err := w.c.Get(ctx, w.Step)
	if errors.Is(err, store.ErrMissing) { // and cannot be made: no run makes it
		err = fmt.Errorf("%w: row %s is fitted to all questions once, which the store has to keep; route again when it may be written to, or name another folder with --out", steps.ErrIncomplete, w.row.RowID())
	}
	if err != nil {
		return nil, func() {}, err
	}
	report, err := book.ReadFit(entry)
	if err == nil && report.Unfit != "" {
		return nil, func() {}, w.unfit(report.Unfit)
	}
	if err == nil {
		router, err = w.method.(methods.Loader).Load(ctx, w.c.pool.Experts, entry.Dir, w.work(dir))
	}
	switch {
	case err == nil:
		return router, closer(router), nil
	case errors.Is(err, predict.ErrNotLearned):
		return w.fitted(ctx, dir)
	}
	return nil, func() {}, &steps.Error{Step: w.Name, Err: w.c.Lost(w.Step, &store.CorruptError{Key: entry.Key, Dir: entry.Dir, Faults: []string{err.Error()}})}
}

// fitted is the router of a row that leaves nothing to load.
func (w *whole) fitted(ctx context.Context, dir string) (routing.Router, func(), error) {
	router, err := w.method.Fit(ctx, w.set, w.work(dir))
	if unfit := (*routing.Unfit)(nil); errors.As(err, &unfit) {
		err = w.unfit(unfit.Why)
	}
	if err != nil {
		return nil, func() {}, err
	}
	return router, closer(router), nil
}

func (w *whole) unfit(why string) error {
	return fmt.Errorf("%w: row %s could not be fitted: %s; name another row", spec.ErrUsage, w.row.RowID(), why)
}
