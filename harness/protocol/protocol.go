// Package protocol plans experiments: which steps there are, what each reads, and what stands above the numbers.
//
// There are three protocols. split trains on some problems and tests on others (split.go; its steps are listed in experiment.go and
// carried out in problemset.go, profile.go, arena.go, fit.go, measure.go); folds cross-validates on recordings (folds.go); collapse trains
// small policies in an environment without problems (collapse.go). All but collapse end in arenas, which package score
// measures. No other package asks which protocol an experiment has: what they have to know of it is in spec/protocol.go.
package protocol

import (
	"context"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Open opens the store and plans every step of an experiment.
func Open(ctx context.Context, r *spec.Resolved, o steps.Options) (*Run, error) {
	switch r.Experiment.Protocol {
	case "folds":
		return newFolds(ctx, r, o)
	case "collapse":
		return newCollapse(r, o)
	}
	return newSplit(ctx, r, o)
}

// CheckTrail fails if the numbers of an experiment lead to no problems.
func CheckTrail(x *spec.Experiment) error {
	if x.Protocol == "collapse" {
		return fmt.Errorf("%w: spec %s has protocol collapse, whose numbers are expectations over a small environment without problems; the formulas are in package theory", spec.ErrUsage, x.Name)
	}
	return nil
}

// asksExperts fails if no expert is asked for an experiment.
func asksExperts(r *spec.Resolved) error {
	if x := &r.Experiment; !x.AsksExperts() {
		return fmt.Errorf("%w: spec %s has protocol %s, which asks no expert", spec.ErrUsage, x.Name, x.Protocol)
	}
	return nil
}

// Absent lists the folders of language models that steps read and that have no weights here, of a run that is only priced.
func (r *Run) Absent() []string {
	if r.models == nil { // a study of the small environment reads no model
		return nil
	}
	return r.models.Absent()
}

// Gather asks the experts for all that the steps to do want of them. It says whether other answers turned out not to be had
// than when the run was planned: it is to be opened again then.
func (r *Run) Gather(ctx context.Context) (changed bool, err error) {
	if r.split == nil {
		return false, nil
	}
	return r.split.gather(ctx)
}

// MayBeHad counts the answers that failed and may be had when the run is carried out again.
func (r *Run) MayBeHad(ctx context.Context) (int, error) {
	if r.split == nil {
		return 0, nil
	}
	var blocks []asking.Block
	for _, w := range r.split.wants {
		blocks = append(blocks, w.Block)
	}
	return r.Asker.MayBeHad(ctx, blocks...)
}

// Finished fails with ErrIncomplete if the store does not have what a step makes, and says what to do.
func (r *Run) Finished(s *steps.Step) error {
	name := r.Spec.Experiment.Name
	_, err := r.Store.Get(s.Recipe)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, store.ErrMissing):
		return r.Lost(s, err)
	}
	if _, err := r.Store.ReadIndex(name); err == nil {
		return fmt.Errorf("%w: experiment %s was run, but not as it is now: entrorouter explain %s says what differs, entrorouter run %s carries it out", steps.ErrIncomplete, name, r.Spec.Named, r.Spec.Named)
	}
	return fmt.Errorf("%w: experiment %s is not finished in this store; run it first: entrorouter run %s", steps.ErrIncomplete, name, r.Spec.Named)
}

// Arenas are the steps that measure arenas.
func (r *Run) Arenas() (arenas []*steps.Step) {
	for _, s := range r.Measured {
		if stage := s.Recipe.Key().Stage; stage == book.MeasureStage || stage == book.MeasureFoldsStage {
			arenas = append(arenas, s)
		}
	}
	return arenas
}
