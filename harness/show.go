// What package trail needs of a run: its book, and the answers in the store.

package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/trail"
)

// OpenTrail opens the trail of a finished experiment, which only looks at the store and asks nobody. Where rows are named, the
// trail is theirs alone. done closes the store.
func OpenTrail(ctx context.Context, r *spec.Resolved, o Options, rows ...string) (t *trail.Trail, done func(), err error) {
	x := &r.Experiment
	if why := protocolOf(x).noTrail; why != "" {
		return nil, nil, fmt.Errorf("%w: spec %s has protocol %s, %s", ErrUsage, x.Name, x.Protocol, why)
	}
	e, err := look(ctx, r, o)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	var arenas []*book.Arena
	for _, s := range e.measured {
		if _, err := e.store.Get(s.recipe); err != nil {
			if errors.Is(err, store.ErrMissing) {
				if _, err := e.store.ReadIndex(x.Name); err == nil {
					return nil, nil, fmt.Errorf("%w: experiment %s was run, but not as it is now: entrorouter explain %s says what differs, entrorouter run %s carries it out", ErrIncomplete, x.Name, r.Named, r.Named)
				}
				return nil, nil, fmt.Errorf("%w: experiment %s is not finished in this store; run it first: entrorouter run %s", ErrIncomplete, x.Name, r.Named)
			}
			return nil, nil, e.lost(s, err)
		}
		of, err := book.Open(madeBy{ctx, e}, s.recipe, rows...)
		if err != nil {
			return nil, nil, err
		}
		arenas = append(arenas, of...)
	}
	var ids []string
	for _, m := range x.Methods {
		ids = append(ids, m.RowID())
	}
	return trail.New(x.Name, r.Named, ids, arenas, x.Folds.Whole, answers{e}), e.close, nil
}

// answers are the rollouts of a run.
type answers struct{ e *engine }

// Rollouts implements trail.Answers.
func (a answers) Rollouts(ctx context.Context, p routing.Problem, runs int, self bool) (out []trail.RolloutResult, err error) {
	asked := a.e.experts
	if self {
		asked = a.e.members()
	}
	for _, x := range asked {
		of, err := a.e.responses(ctx, x, p, runs)
		if err != nil {
			return nil, err
		}
		out = append(out, of...)
	}
	return out, nil
}

// Answered implements trail.Answers.
func (a answers) Answered(ctx context.Context, rollout store.RolloutID, problems []routing.Problem) (routing.Problem, bool, error) {
	e := a.e
	if e.rollouts == nil {
		return routing.Problem{}, false, fmt.Errorf("%w: rollouts.db is gone from %s; put it back, or %s", ErrIncomplete, e.opt.Out, e.askAgain())
	}
	byText := map[store.TextKey]routing.Problem{}
	for _, p := range problems {
		byText[store.KeyOfText(p.Text)] = p
	}
	for _, x := range e.members() {
		have, err := e.storedWithFinish(ctx, e.scope(x, routing.Test))
		if err != nil {
			return routing.Problem{}, false, err
		}
		for k, s := range have {
			if p, ok := byText[k.Problem]; ok && s.ID == rollout {
				return p, true, nil
			}
		}
	}
	return routing.Problem{}, false, nil
}

// responses reads the responses of an expert to a problem and grades them as the table did.
func (e *engine) responses(ctx context.Context, x routing.Expert, p routing.Problem, runs int) ([]trail.RolloutResult, error) {
	have, err := e.storedWithFinish(ctx, e.scope(x, routing.Test))
	if err != nil {
		return nil, err
	}
	var out []trail.RolloutResult
	for run := range runs {
		s, ok := have[e.rolloutKey(x, routing.Test, p, run)]
		if !ok {
			return nil, fmt.Errorf("%w: the rollout of %s on problem %s, run %d, is gone from rollouts.db in %s; %s", ErrIncomplete, x.ID, p.ID, run, e.opt.Out, e.askAgain())
		}
		response, err := e.rollouts.Response(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		v := grade(p, response, s.Finish)
		r := trail.RolloutResult{
			Expert: x.ID, Run: run, Bucket: v.Bucket, Reason: v.Reason, Extracted: v.Extracted,
			Usage: trail.UsageResult{In: s.In, Out: s.Out}, ID: s.ID, Response: response,
		}
		r.USD = x.Price.USD(cost.Usage{In: s.In, Out: s.Out}, e.spec.Experiment.CountInput)
		if s.Finish != routing.Length {
			why := p.Key().Grade(response)
			r.Rule, r.Gold, r.Answer = string(why.Rule), why.Gold, why.Answer
		}
		out = append(out, r)
	}
	return out, nil
}

// askAgain says how answers are made again that are gone.
func (e *engine) askAgain() string {
	return "remove stages/outcomes and stages/measure there and run the experiment again: entrorouter run " + e.spec.Named
}

// storedWithFinish reads the rollouts of a scope by key.
func (e *engine) storedWithFinish(ctx context.Context, scope store.Scope) (map[store.RolloutKey]store.Stored, error) {
	out := map[store.RolloutKey]store.Stored{}
	if e.rollouts == nil {
		return out, nil
	}
	for s, err := range e.rollouts.Load(ctx, scope, "") {
		if err != nil {
			return nil, err
		}
		out[s.Key] = s
	}
	return out, nil
}
