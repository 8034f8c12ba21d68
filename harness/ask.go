// Rollouts: what is stored is read and graded, what is not is asked for, and nothing is asked twice.

package harness

import (
	"context"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// graded is a rollout reduced to what a profile or an outcome needs.
type graded struct {
	Bucket routing.Bucket
	Usage  cost.Usage
}

// kept is a rollout that is stored.
type kept struct {
	graded // Bucket is empty if this verifier has not graded it
	gold   uint64
	id     store.RolloutID
}

// stored returns what is stored under a scope. A scope is read once: the problem sets of an experiment share it, and
// ask keeps the map up to date.
func (e *engine) stored(ctx context.Context, scope store.Scope) (map[store.RolloutKey]kept, error) {
	if have, ok := e.kept[scope]; ok {
		return have, nil
	}
	have := map[store.RolloutKey]kept{}
	if e.rollouts == nil {
		return have, nil
	}
	for s, err := range e.rollouts.Load(ctx, scope, verify.Version) {
		if err != nil {
			return nil, err
		}
		k := kept{graded{"", cost.Usage{In: s.In, Out: s.Out}}, s.Verdict.Gold, s.ID}
		if i := slices.Index(routing.Buckets[:], s.Verdict.Bucket); i >= 0 {
			k.Bucket = routing.Buckets[i] // one string for all rollouts
		}
		have[s.Key] = k
	}
	if e.kept == nil {
		e.kept = map[store.Scope]map[store.RolloutKey]kept{}
	}
	e.kept[scope] = have
	return have, nil
}

// question is one rollout to be had: a run of a text. Problems of a set that share a text share its rollouts, each
// graded against its own answer.
type question struct {
	problems []int // indices of the problems with this text
	run      int
	key      store.RolloutKey
}

// rolloutKey is where a rollout of a problem is stored below the scope of its expert.
func (e *engine) rolloutKey(expert routing.Expert, split routing.Split, problem routing.Problem, run int) store.RolloutKey {
	s := seed.Seed(e.spec.Experiment.Seed).Derive("rollout", string(split), problem.Text, expert.ID, run)
	// The 53 bits that a server is sent.
	return store.RolloutKey{Problem: store.KeyOfText(problem.Text), Run: run, Seed: uint64(s) & (1<<53 - 1)}
}

// ask returns the graded rollouts of one expert: [len(problems)][runs]. What is stored is not asked again, and what is
// stored but not graded by this verifier against this answer is graded from its text. A kill loses at most the last
// putRows rollouts, Ctrl-C none that arrived.
func (e *engine) ask(ctx context.Context, expert routing.Expert, split routing.Split, problems []routing.Problem, runs int) ([][]graded, error) {
	scope := e.scope(expert, split)
	out := make([][]graded, len(problems))
	byText := map[store.TextKey][]int{}
	for p, problem := range problems {
		out[p] = make([]graded, runs)
		text := store.KeyOfText(problem.Text)
		byText[text] = append(byText[text], p)
	}
	var all []question
	want := map[store.RolloutKey]question{}
	for p, problem := range problems {
		text := store.KeyOfText(problem.Text)
		if byText[text][0] != p {
			continue
		}
		for run := range runs {
			q := question{byText[text], run, e.rolloutKey(expert, split, problem, run)}
			all = append(all, q)
			want[q.key] = q
		}
	}
	have, err := e.stored(ctx, scope)
	if err != nil {
		return nil, err
	}
	ungraded := map[store.RolloutID]question{}
	for _, q := range all {
		s, ok := have[q.key]
		if !ok {
			continue
		}
		delete(want, q.key)
		for _, p := range q.problems {
			out[p][q.run] = s.graded
			if s.Bucket == "" || s.gold != store.GoldKey(problems[p]) {
				ungraded[s.id] = q
			}
		}
	}
	if err := e.regrade(ctx, scope, ungraded, problems, have, out); err != nil {
		return nil, err
	}
	if len(want) == 0 {
		return out, nil
	}
	if e.opt.Offline {
		return nil, fmt.Errorf("%w: %d of %d rollouts of %s are not stored and --offline forbids asking for them", ErrIncomplete, len(want), len(all), expert.ID)
	}
	pool, err := e.pool(ctx)
	if err != nil {
		return nil, err
	}
	todo := slices.DeleteFunc(all, func(q question) bool { _, missing := want[q.key]; return !missing })
	e.opt.Progress.Start("asking "+expert.ID, len(todo))
	defer e.opt.Progress.Done()

	type answer struct {
		question
		row      store.Row
		verdicts []store.Verdict // [len(question.problems)]
	}
	overtaken := false
	err = gather(ctx, e.spec.Experiment.Profile.Concurrency, todo, func(ctx context.Context, q question) (answer, error) {
		problem := problems[q.problems[0]]
		c, err := pool.Complete(ctx, experts.Request{
			Expert: expert.ID, Prompt: experts.Prompt(e.poolSpec.Sampling.Prompt, problem.Text),
			Seed: seed.Seed(q.key.Seed), Sampling: e.poolSpec.Sampling, MaxTokens: expert.MaxTokens,
		})
		if err != nil {
			return answer{}, fmt.Errorf("problem %s: %w", problem.ID, err)
		}
		a := answer{question: q, row: store.Row{
			Text: problem.Text, Run: q.run, Seed: q.key.Seed,
			Response: c.Text, Finish: c.Finish, In: c.Usage.In, Out: c.Usage.Out,
		}}
		for _, p := range q.problems {
			a.verdicts = append(a.verdicts, grade(problems[p], c.Text, c.Finish))
		}
		return a, nil
	}, func(batch []answer) error {
		rows := make([]store.Row, len(batch))
		for i, a := range batch {
			rows[i] = a.row
		}
		ids, err := e.rollouts.Put(context.WithoutCancel(ctx), scope, rows)
		if err != nil {
			return err
		}
		var verdicts []store.Verdict
		for i, a := range batch {
			usage := cost.Usage{In: a.row.In, Out: a.row.Out}
			for k, p := range a.problems {
				out[p][a.run] = graded{a.verdicts[k].Bucket, usage}
			}
			if ids[i] == 0 {
				overtaken = true
				continue
			}
			v := a.verdicts[0]
			v.Rollout = ids[i]
			verdicts = append(verdicts, v)
			have[a.key] = kept{graded{v.Bucket, usage}, v.Gold, v.Rollout}
		}
		e.opt.Progress.Add(len(batch))
		return e.rollouts.PutVerdicts(context.WithoutCancel(ctx), verify.Version, verdicts)
	})
	if err != nil {
		return nil, err
	}
	if overtaken { // another process stored its answer first, and that one stays
		delete(e.kept, scope)
		return e.ask(ctx, expert, split, problems, runs)
	}
	return out, nil
}

// notAsked counts the rollouts of some experts on a problem set that are not stored; all of them, as a bound, if the
// problems are not made yet.
func (e *engine) notAsked(ctx context.Context, set *problemSet, of []routing.Expert, split routing.Split, runs int) (n int, atMost bool, err error) {
	if _, err := e.store.Get(set.step.recipe); err != nil {
		return set.n * len(of) * runs, true, nil
	}
	if err := set.load(ctx); err != nil {
		return 0, false, err
	}
	for _, x := range of {
		have, err := e.stored(ctx, e.scope(x, split))
		if err != nil {
			return 0, false, err
		}
		seen := map[store.RolloutKey]bool{} // problems of one text share its rollouts
		for _, p := range set.problems {
			for run := range runs {
				k := e.rolloutKey(x, split, p, run)
				if _, ok := have[k]; !ok && !seen[k] {
					seen[k] = true
					n++
				}
			}
		}
	}
	return n, false, nil
}

// grade grades a response.
func grade(p routing.Problem, response string, finish routing.Finish) store.Verdict {
	v := store.Verdict{Gold: store.GoldKey(p)}
	if finish == routing.Length {
		v.Bucket, v.Reason = routing.Truncated, string(routing.Length)
		return v
	}
	decided := p.Key().Grade(response)
	v.Bucket, v.Reason, v.Extracted = routing.BucketOf(decided), decided.Reason, decided.Extracted
	return v
}

// regrade grades the stored rollouts that have no verdict of this verifier on this answer.
func (e *engine) regrade(ctx context.Context, scope store.Scope, ungraded map[store.RolloutID]question, problems []routing.Problem, have map[store.RolloutKey]kept, out [][]graded) error {
	if len(ungraded) == 0 {
		return nil
	}
	e.opt.Progress.Start("grading again", len(ungraded))
	defer e.opt.Progress.Done()
	var verdicts []store.Verdict
	for a, err := range e.rollouts.Responses(ctx, scope) {
		if err != nil {
			return err
		}
		q, ok := ungraded[a.ID]
		if !ok {
			continue
		}
		for k, p := range q.problems {
			v := grade(problems[p], a.Response, a.Finish)
			out[p][q.run].Bucket = v.Bucket
			if v.Rollout = a.ID; k == 0 {
				verdicts = append(verdicts, v)
				have[q.key] = kept{out[p][q.run], v.Gold, a.ID}
			}
		}
		e.opt.Progress.Add(1)
	}
	return e.rollouts.PutVerdicts(ctx, verify.Version, verdicts)
}
