// Opening a finished run to follow its numbers.

package harness

import (
	"context"
	"slices"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/trail"
)

// OpenTrail opens the trail of a finished experiment, which only looks at the store and asks nobody. Where rows are named, the
// trail is theirs alone. done closes the store.
func OpenTrail(ctx context.Context, r *spec.Resolved, o Options, rows ...string) (t *trail.Trail, done func(), err error) {
	x := &r.Experiment
	if err := protocol.CheckTrail(x); err != nil {
		return nil, nil, err
	}
	run, err := look(ctx, r, o)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			run.Close()
		}
	}()
	var arenas []*book.Arena
	for _, s := range run.Arenas() {
		if err := run.Finished(s); err != nil {
			return nil, nil, err
		}
		of, err := book.Open(run.Entries(ctx), s.Recipe, rows...)
		if err != nil {
			return nil, nil, err
		}
		arenas = append(arenas, of...)
	}
	var ids []string
	for _, m := range x.Methods {
		ids = append(ids, m.RowID())
	}
	var of trail.Answers // nil: recordings have none
	if run.Asker != nil {
		of = answers{run.Asker, map[string]*asking.Given{}}
	}
	return trail.New(x.Name, r.Named, ids, arenas, x.Folds.Whole, of), run.Close, nil
}

// answers are the rollouts of a run as package trail shows them. What an expert answered is read once, when it is first asked for.
type answers struct {
	*asking.Asker
	given map[string]*asking.Given // by expert
}

// of is what the experts of the pool answered, with the model that plays the router if self.
func (a answers) of(ctx context.Context, self bool) (of []*asking.Given, asked []routing.Expert, err error) {
	if asked = a.Pool().Experts; self {
		asked = a.Pool().Members()
	}
	for _, x := range asked {
		if a.given[x.ID] == nil {
			if a.given[x.ID], err = a.Given(ctx, x, routing.Test); err != nil {
				return nil, nil, err
			}
		}
		of = append(of, a.given[x.ID])
	}
	return of, asked, nil
}

// Read implements trail.Answers.
func (a answers) Read(ctx context.Context, p routing.Problem, runs int, self bool) (read []trail.Readings, err error) {
	given, _, err := a.of(ctx, self)
	for _, g := range given {
		var of trail.Readings
		for _, v := range g.Verdicts(p, runs) {
			as := &of.Others
			if v.Bucket == routing.Correct {
				as = &of.Right
			}
			if v.Extracted != "" && !slices.Contains(*as, v.Extracted) {
				*as = append(*as, v.Extracted)
			}
		}
		read = append(read, of)
	}
	return read, err
}

// Rollouts implements trail.Answers.
func (a answers) Rollouts(ctx context.Context, p routing.Problem, runs int, self bool) (out []trail.RolloutResult, err error) {
	given, asked, err := a.of(ctx, self)
	if err != nil {
		return nil, err
	}
	for i, x := range asked {
		of, err := given[i].To(ctx, p, runs)
		if err != nil {
			return nil, err
		}
		for run, s := range of {
			r := trail.RolloutResult{Expert: x.ID, Run: run, Prompt: s.Prompt}
			if f := s.Failed; f != nil {
				r.Bucket, r.Reason, r.Failure = routing.Unanswered, f.Class, &trail.FailureResult{Class: f.Class, Error: f.Error, Again: f.Again}
				out = append(out, r)
				continue
			}
			r = trail.RolloutResult{
				Expert: x.ID, Run: run, Prompt: s.Prompt, Reasoning: s.Reasoning, Bucket: s.Verdict.Bucket, Reason: s.Verdict.Reason, Extracted: s.Verdict.Extracted,
				Usage: trail.UsageResult{In: s.In, Out: s.Out}, USD: a.USD(x, s.Stored), ID: s.ID, Response: s.Response,
			}
			if s.Finish != routing.Length {
				why := p.Key().Grade(s.Response)
				r.Rule, r.Gold, r.Answer = string(why.Rule), why.Gold, why.Answer
			}
			out = append(out, r)
		}
	}
	return out, nil
}
