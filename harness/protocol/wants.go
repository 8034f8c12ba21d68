// What steps want of the experts: all of it is asked for before the first of them is made, of all experts at the same time.

package protocol

import (
	"context"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// newWant plans the answers of a step whose parameters are p. Those that are known not to be had are part of its recipe:
// once one of them is had after all, the step is made again.
func (e *experiment) newWant(ctx context.Context, p *steps.Params, set *problemSet, of []routing.Expert, split routing.Split, runs int) (*want, error) {
	p.Asks(of, split)
	w := &want{set: set, Block: asking.Block{Experts: of, Split: split, Runs: runs}}
	if err := w.know(ctx); err != nil {
		return nil, err
	}
	var err error
	if w.unanswered, err = e.asker.Unanswered(ctx, w.Block, !e.Options.Again); err != nil {
		return nil, err
	}
	if w.unanswered != "" {
		p.Code("unanswered", w.unanswered)
	}
	e.wants = append(e.wants, w)
	return w, nil
}

// know reads the problems if they are made and some answer to one of them may not be to be had.
func (w *want) know(ctx context.Context) error {
	if w.Problems != nil {
		return nil
	}
	if _, err := w.set.e.Store.Get(w.set.Recipe); err != nil {
		return nil
	}
	if failing, err := w.set.e.asker.Failing(ctx, w.Block); err != nil || !failing {
		return err
	}
	if err := w.set.load(ctx); err != nil {
		return err
	}
	w.Problems = w.set.problems
	return nil
}

// asked says what is to be asked for beside what the counted steps ask for, and what it is expected to cost. If the problems
// are not made yet it is a bound.
func (w *want) asked(ctx context.Context, counted []*explain.Step) (out explain.Asked, err error) {
	var others []*want
	for _, o := range w.set.e.wants {
		if o != w && slices.Contains(counted, &o.step.Step) {
			others = append(others, o)
		}
	}
	known, err := w.set.known(ctx)
	if err != nil {
		return out, err
	}
	for _, x := range w.Experts {
		n, err := w.missing(ctx, x, known, others)
		if err != nil {
			return out, err
		}
		if n == 0 {
			continue
		}
		if w.set.e.asker.Sim != nil && w.set.e.pool.SourceOf(x.ID) != spec.Server { // which is paid nothing
			out = out.Add(explain.Asked{Rollouts: n, AtMost: known == nil})
			continue
		}
		u, err := w.set.e.asker.Usual(ctx, x)
		if err != nil {
			return out, err
		}
		at := w.set.e.Spec.Experiment.Profile.Concurrency
		if own, _ := w.set.e.pool.Own(x.ID); own.Limits != nil && own.Limits.Concurrency > 0 {
			at = own.Limits.Concurrency
		}
		tokens, usd := u.Times(n, x.Price)
		more := explain.Asked{Rollouts: n, AtMost: known == nil, Tokens: tokens, USD: usd, Bound: !u.Measured}
		if u.Seconds > 0 {
			more.Hours = map[string]float64{x.ID: float64(n) * u.Seconds / float64(at) / 3600}
		} else {
			more.Unpaced = map[string]float64{x.ID: tokens}
		}
		out = out.Add(more)
	}
	return out, nil
}

// amount is how many answers it reads.
func (w *want) amount() float64 { return float64(w.set.n * w.Runs * len(w.Experts)) }

// missing counts what one expert is to be asked for beside what others ask it for. known are the problems; nil: they are not
// made, and all that is known is that the smaller of two draws of a benchmark begins the larger.
func (w *want) missing(ctx context.Context, x routing.Expert, known []routing.Problem, others []*want) (int, error) {
	one := []routing.Expert{x}
	var counted []asking.Block
	shared := 0
	for _, o := range others {
		if !o.Wants(x, w.Split) {
			continue
		}
		theirs, err := o.set.known(ctx)
		if err != nil {
			return 0, err
		}
		if both := min(w.set.n, o.set.n); o.set.benchmark == w.set.benchmark {
			shared = max(shared, both*min(w.Runs, o.Runs))
			if theirs == nil && known != nil {
				theirs = known[:both]
			}
		}
		counted = append(counted, asking.Block{Experts: one, Split: w.Split, Problems: theirs, Runs: o.Runs})
	}
	if known == nil {
		return w.set.n*w.Runs - shared, nil
	}
	return w.set.e.asker.Missing(ctx, asking.Block{Experts: one, Split: w.Split, Problems: known, Runs: w.Runs}, counted...)
}

// answers returns what one of the experts answered, [problems][runs], asking first for what is missing.
func (w *want) answers(ctx context.Context, x routing.Expert) ([][]asking.Graded, error) {
	a := w.set.e.asker
	if err := w.set.load(ctx); err != nil {
		return nil, err
	}
	w.Problems = w.set.problems
	graded, err := a.Ask(ctx, x, w.Block)
	if err != nil {
		return nil, err
	}
	// What was planned with other gaps would be stored under a name that says nothing of these.
	unanswered, err := a.Unanswered(ctx, w.Block, true)
	if err == nil && unanswered != w.unanswered {
		err = fmt.Errorf("%w: some answers of %s are not to be had, or were not when the run began; run the same command again", steps.ErrIncomplete, x.ID)
	}
	return graded, err
}

// blocks are the answers that steps want: of those to do, or of all. The problems are read for it, and made if need be.
func (e *experiment) blocks(ctx context.Context, all bool) (blocks []asking.Block, err error) {
	var todo []*explain.Step
	if !all {
		if todo, err = e.Explain().ToDo(); err != nil {
			return nil, err
		}
	}
	for _, s := range e.sets {
		if slices.Contains(todo, &s.Step.Step) {
			if _, err := e.Get(ctx, s.Step); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range e.wants {
		if !all && !slices.Contains(todo, &w.step.Step) {
			continue
		}
		if err := w.set.load(ctx); err != nil {
			return nil, err
		}
		w.Problems = w.set.problems
		blocks = append(blocks, w.Block)
	}
	return blocks, nil
}

// gather asks for all answers that the steps to do want. It says whether other answers are missing now than when the steps
// were planned: then they are to be planned again. Every problem set comes before the first question to an expert, so that
// a data file that is missing costs nobody anything.
func (e *experiment) gather(ctx context.Context) (changed bool, err error) {
	blocks, err := e.blocks(ctx, false)
	if err != nil {
		return false, err
	}
	if err := e.asker.Preflight(ctx, e.unasked()); err != nil {
		return false, err
	}
	if err := e.lookAtWriters(ctx); err != nil {
		return false, err
	}
	if err := e.asker.Gather(ctx, blocks); err != nil {
		return false, err
	}
	for _, w := range e.wants {
		if w.Problems == nil {
			continue
		}
		unanswered, err := e.asker.Unanswered(ctx, w.Block, true)
		if err != nil {
			return false, err
		}
		changed = changed || unanswered != w.unanswered
	}
	return changed, nil
}

// unasked are the servers that rows are yet to ask.
func (e *experiment) unasked() (endpoints []experts.Endpoint) {
	for _, f := range slices.Concat(e.fits...) {
		if _, err := e.Store.Get(f.Recipe); err == nil {
			continue
		}
		for _, x := range methods.Endpoints(f.method) {
			same := func(y experts.Endpoint) bool {
				return x.URL == y.URL && x.Model == y.Model && x.MaxTokens == y.MaxTokens && x.Tools == y.Tools
			}
			if x.URL != "" && !slices.ContainsFunc(endpoints, same) {
				endpoints = append(endpoints, x)
			}
		}
	}
	return endpoints
}

// lookAtWriters asks the servers that are to write for rows whether they can, and notes their versions.
func (e *experiment) lookAtWriters(ctx context.Context) error {
	if e.Options.Offline {
		return nil
	}
	for _, row := range e.fits {
		for _, f := range row {
			written, ok := f.method.(methods.Written)
			if !ok {
				continue
			}
			if _, err := e.Store.Get(f.Recipe); err == nil {
				continue
			}
			url, version, err := written.LookAtWriter(ctx, e.pool.Experts)
			if err != nil {
				return fmt.Errorf("row %s: its writer: %w", f.row.RowID(), err)
			}
			if url == "" {
				continue
			}
			if err := e.asker.Noted(ctx, url, version); err != nil {
				return err
			}
			break // seeds of a row have one writer
		}
	}
	return nil
}
