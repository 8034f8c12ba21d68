package harness

import (
	"context"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/store"
)

// arenaTrail reads an arena for the trail.
func (e *engine) arenaTrail(ctx context.Context, a *arena) (*trailSet, error) {
	if err := a.loadOutcomes(ctx); err != nil {
		return nil, err
	}
	n := len(a.Strata)
	s := &trailSet{name: a.Name, problems: make([]routing.Problem, n)}
	for i, q := range a.Question {
		s.problems[q] = a.Queries[i].Problem
	}
	for _, b := range a.Strata {
		s.runs = append(s.runs, a.benches[b].runs)
	}
	pass := questionsOfAPass(&a.Arena, e.spec.Benchmarks)
	average := trailGroup{name: metrics.Average, weight: make([]float64, n)}
	for _, v := range pass {
		average.pass += v
	}
	for b, bench := range a.benches {
		g := trailGroup{name: bench.name, runs: bench.runs, pass: pass[b], weight: even(n, func(q int) bool { return a.Strata[q] == b })}
		for q, w := range g.weight {
			average.weight[q] += w * pass[b] / average.pass
		}
		s.groups = append(s.groups, g)
	}
	s.groups = append(s.groups, average)
	if a.Name == metrics.PaperArena {
		best, err := e.best(ctx, a)
		if err != nil {
			return nil, err
		}
		for k, name := range score.Difficulties {
			g := trailGroup{name: name, weight: even(n, func(q int) bool { return score.Difficulty(best[q], len(e.experts)) == k })}
			if g.pass = float64(g.size()); g.pass > 0 {
				s.groups = append(s.groups, g)
			}
		}
	}
	var fixed []metrics.Point
	always := func(expert int) book.Scores {
		c := a.Score(a.Always(expert))
		var p metrics.Point
		for q, w := range average.weight {
			p.Quality += w * c.Accuracy[q]
			p.Cost += w * c.USD[q]
		}
		fixed = append(fixed, p)
		return c
	}
	for m := range e.experts {
		s.strongest = always(m).USD
	}
	ids := e.ids()
	if a.Self != nil {
		always(routing.Self)
		ids = append(ids, routing.SelfID)
	}
	s.hull = func(row int) *trailHull {
		points := fixed[:len(e.experts)]
		if methods.AnswersItself(e.spec.Experiment.Methods[row].Name) {
			points = fixed
		}
		h := &trailHull{Hull: metrics.UpperHull(points)}
		for _, m := range metrics.Vertices(points) {
			h.ids = append(h.ids, ids[m])
		}
		return h
	}
	s.covers = func(row int) bool { return e.fits[row][0].covers(a) }
	s.standing = func(ctx context.Context, row int) (*standing, error) {
		var scores []book.Scores
		out := &standing{}
		if a.Name == metrics.PaperArena {
			out.verdicts = make([]map[routing.Bucket]float64, n)
		}
		for _, f := range e.fits[row] {
			decisions, err := f.decisions(ctx, a)
			if err != nil {
				return nil, err
			}
			c := a.Score(decisions)
			scores = append(scores, c)
			out.trainings = append(out.trainings, training{f.seed, c.Accuracy, c.USD})
			if out.verdicts == nil {
				continue
			}
			for k, d := range decisions {
				q := a.Question[k]
				if out.verdicts[q] == nil {
					out.verdicts[q] = map[routing.Bucket]float64{}
				}
				for i, weight := range a.At(k).Score([]routing.Decision{d}).Buckets[0] {
					if weight > 0 {
						out.verdicts[q][routing.Buckets[i]] += weight / float64(a.benches[a.Strata[q]].runs*len(e.fits[row]))
					}
				}
			}
		}
		out.accuracy = book.Mean(scores, func(s book.Scores) []float64 { return s.Accuracy })
		out.usd = book.Mean(scores, func(s book.Scores) []float64 { return s.USD })
		out.tokens = book.Mean(scores, func(s book.Scores) []float64 { return s.Tokens })
		own := book.Mean(scores, book.Scores.Own)
		for q := range n {
			chosen := map[string]float64{}
			for _, c := range scores {
				for m, share := range c.Chosen[q] {
					if share > 0 {
						chosen[e.experts[m].ID] += share / float64(len(scores))
					}
				}
			}
			if own[q] > rounding {
				chosen[routing.SelfID] = own[q]
			}
			out.chosen = append(out.chosen, chosen)
		}
		return out, nil
	}
	s.behind = func(ctx context.Context, q int, rows []int, out *ProblemResult) error {
		return e.behind(ctx, a, q, rows, out)
	}
	return s, nil
}

// rounding is what sums of shares may be off by.
const rounding = 1e-9

// behind adds what is known of a question of an arena.
func (e *engine) behind(ctx context.Context, a *arena, q int, rows []int, out *ProblemResult) error {
	first := 0
	for a.Question[first] != q {
		first++
	}
	problem, set := a.Queries[first].Problem, a.benches[a.Strata[q]].set
	if i := slices.IndexFunc(set.problems, func(p routing.Problem) bool { return p.ID == problem.ID }); i < len(set.latents) {
		l := set.latents[i]
		out.Latent = &LatentResult{l.Cell, l.Topic, l.Difficulty}
	}
	runs := a.benches[a.Strata[q]].runs
	asked := e.experts
	if a.Self != nil {
		asked = e.members()
	}
	for m, x := range asked {
		if a.Name == metrics.PaperArena {
			of, err := e.responses(ctx, x, problem, runs)
			if err != nil {
				return err
			}
			out.Rollouts = append(out.Rollouts, of...)
			continue
		}
		o := a.Self
		if m < len(e.experts) {
			o = a.Outcomes[first][m : m+1]
		} else {
			o = o[first : first+1]
		}
		out.Outcomes = append(out.Outcomes, OutcomeResult{x.ID, o[0].Correct, o[0].Bucket, o[0].Out, o[0].USD})
	}
	for _, i := range rows {
		for _, f := range e.fits[i] {
			decisions, err := f.decisions(ctx, a)
			if err != nil {
				return err
			}
			for k := first; k < first+runs; k++ {
				r := e.decided(decisions[k])
				r.Row, r.Seed = e.spec.Experiment.Methods[i].RowID(), f.seed
				got := a.At(k).Score(decisions[k : k+1])
				r.Accuracy, r.USD = got.Accuracy[0], got.USD[0]
				out.Decisions = append(out.Decisions, r)
			}
		}
	}
	return nil
}

// decided describes a decision.
func (e *engine) decided(d routing.Decision) DecisionResult {
	r := DecisionResult{Run: d.Run, Expert: "expected", Spoiled: d.Spoiled, Prob: map[string]float64{}, OwnTokens: d.Usage.In + d.Usage.Out}
	switch {
	case d.Expert == routing.Self:
		r.Expert = routing.SelfID
	case d.Expert != routing.Expected:
		r.Expert = e.experts[d.Expert].ID
	}
	for _, c := range d.Calls {
		r.Calls = append(r.Calls, e.experts[c.Expert].ID)
	}
	if d.Answer != nil {
		r.Answer, r.Bucket = d.Answer.Text, d.Answer.Bucket
	}
	for m, p := range d.Prob {
		r.Prob[e.experts[m].ID] = p
	}
	return r
}

// responses reads the responses of an expert to a problem and grades them as the table did.
func (e *engine) responses(ctx context.Context, x routing.Expert, p routing.Problem, runs int) ([]RolloutResult, error) {
	have, err := e.storedWithFinish(ctx, e.scope(x, routing.Test))
	if err != nil {
		return nil, err
	}
	var out []RolloutResult
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
		r := RolloutResult{
			Expert: x.ID, Run: run, Bucket: v.Bucket, Reason: v.Reason, Extracted: v.Extracted,
			Usage: UsageResult{s.In, s.Out}, ID: s.ID, Response: response,
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

// Answered returns the id of the test problem that a rollout answers.
func (t *Trail) Answered(ctx context.Context, rollout int64) (string, error) {
	e := t.e
	switch {
	case len(e.arenas) == 0:
		return "", fmt.Errorf("%w: experiment %s has recorded outcomes and no answers; leave --rollout out", ErrUsage, e.spec.Experiment.Name)
	case e.rollouts == nil:
		return "", fmt.Errorf("%w: rollouts.db is gone from %s; put it back, or %s", ErrIncomplete, e.opt.Out, e.askAgain())
	}
	byText := map[store.TextKey]string{}
	for _, s := range t.sets {
		if s.name == metrics.PaperArena {
			for _, p := range s.problems {
				byText[store.KeyOfText(p.Text)] = p.ID
			}
		}
	}
	for _, x := range e.members() {
		have, err := e.storedWithFinish(ctx, e.scope(x, routing.Test))
		if err != nil {
			return "", err
		}
		for k, s := range have {
			if id, ok := byText[k.Problem]; ok && s.ID == store.RolloutID(rollout) {
				return id, nil
			}
		}
	}
	return "", fmt.Errorf("%w: no expert of experiment %s gave answer %d to a test problem; show a problem with --problem and take a number from its column rollout", ErrUsage, e.spec.Experiment.Name, rollout)
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
