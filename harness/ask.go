package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// putRows is how many rollouts are stored at once: what a kill can lose.
const putRows = 1000

// graded is a rollout reduced to what a profile or an outcome needs.
type graded struct {
	Bucket routing.Bucket
	Usage  cost.Usage
}

// question is one rollout to be had: run of problems[problem].
type question struct {
	problem, run int
	key          store.RolloutKey
}

// ask returns the graded rollouts of one expert: [len(problems)][runs(p)]. What is stored is not asked again, and
// what is stored but not graded by this verifier is graded from its text. It is killed at a cost of putRows rollouts.
func (e *engine) ask(ctx context.Context, expert routing.Expert, split routing.Split, problems []routing.Problem, runs func(routing.Problem) int) ([][]graded, error) {
	scope := e.scope(expert, split)
	out := make([][]graded, len(problems))
	var all []question
	want := make(map[store.RolloutKey]question)
	for p, problem := range problems {
		out[p] = make([]graded, runs(problem))
		text := store.KeyOfText(problem.Text)
		for run := range out[p] {
			s := seed.Seed(e.spec.Experiment.Seed).Derive("rollout", string(split), problem.Text, expert.ID, run)
			// The 53 bits that a server is sent.
			q := question{p, run, store.RolloutKey{Problem: text, Run: run, Seed: uint64(s) & (1<<53 - 1)}}
			all = append(all, q)
			want[q.key] = q
		}
	}
	total := len(all)
	ungraded := map[store.RolloutID]question{}
	for s, err := range e.rollouts.Load(ctx, scope, verify.Version) {
		if err != nil {
			return nil, err
		}
		q, ok := want[s.Key]
		if !ok {
			continue
		}
		out[q.problem][q.run] = graded{s.Verdict.Bucket, cost.Usage{In: s.In, Out: s.Out}}
		if s.Verdict.Bucket == "" || s.Verdict.Gold != store.GoldKey(problems[q.problem]) {
			ungraded[s.ID] = q
			continue
		}
		delete(want, s.Key)
	}
	if err := e.regrade(ctx, scope, ungraded, want, problems, out); err != nil {
		return nil, err
	}
	if len(want) == 0 {
		return out, nil
	}
	if e.opt.Offline {
		return nil, fmt.Errorf("%w: %d of %d rollouts of %s are not stored and --offline forbids asking for them", ErrIncomplete, len(want), total, expert.ID)
	}
	pool, err := e.pool(ctx)
	if err != nil {
		return nil, err
	}
	todo := slices.DeleteFunc(all, func(q question) bool { _, missing := want[q.key]; return !missing })
	e.opt.Progress.Start(fmt.Sprintf("asking %s", expert.ID), len(todo))
	defer e.opt.Progress.Done()

	type answer struct {
		question
		row     store.Row
		verdict store.Verdict
	}
	jobs, answers := make(chan question), make(chan answer, putRows)
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(jobs)
		for _, q := range todo {
			select {
			case jobs <- q:
			case <-gctx.Done():
				return gctx.Err()
			}
		}
		return nil
	})
	workers, wctx := errgroup.WithContext(gctx)
	for range e.spec.Experiment.Profile.Concurrency {
		workers.Go(func() error {
			for q := range jobs {
				problem := problems[q.problem]
				c, err := pool.Complete(wctx, experts.Request{
					Expert: expert.ID, Prompt: experts.Prompt(e.poolSpec.Sampling.Prompt, problem.Text),
					Seed: seed.Seed(q.key.Seed), Sampling: e.poolSpec.Sampling, MaxTokens: expert.MaxTokens,
				})
				if err != nil {
					return fmt.Errorf("ask %s for problem %s: %w", expert.ID, problem.ID, err)
				}
				a := answer{question: q, row: store.Row{
					Text: problem.Text, Run: q.run, Seed: q.key.Seed,
					Response: c.Text, Finish: c.Finish, In: c.Usage.In, Out: c.Usage.Out,
				}}
				a.verdict = grade(problem, c.Text, c.Finish)
				select {
				case answers <- a:
				case <-wctx.Done():
					return wctx.Err()
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(answers)
		return workers.Wait()
	})
	// What has been answered is stored even if somebody else failed or the user pressed Ctrl-C.
	var batch []answer
	flush := func() error {
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
			if ids[i] != 0 {
				a.verdict.Rollout = ids[i]
				verdicts = append(verdicts, a.verdict)
			}
			out[a.problem][a.run] = graded{a.verdict.Bucket, cost.Usage{In: a.row.In, Out: a.row.Out}}
		}
		e.opt.Progress.Add(len(batch))
		batch = batch[:0]
		return e.rollouts.PutVerdicts(context.WithoutCancel(ctx), verify.Version, verdicts)
	}
	var stored error
	for a := range answers {
		if stored != nil {
			continue // drain, so that the workers can end
		}
		if batch = append(batch, a); len(batch) == putRows {
			stored = flush()
		}
	}
	asked := group.Wait()
	if stored == nil && len(batch) > 0 {
		stored = flush()
	}
	return out, errors.Join(asked, stored)
}

// grade grades a response.
func grade(p routing.Problem, response string, finish routing.Finish) store.Verdict {
	v := store.Verdict{Gold: store.GoldKey(p)}
	if finish == routing.Length {
		v.Bucket, v.Reason = routing.Truncated, string(routing.Length)
		return v
	}
	decided := p.Key().Grade(response)
	v.Reason, v.Extracted = string(decided.Reason), decided.Extracted
	switch {
	case decided.Outcome == verify.Equal:
		v.Bucket = routing.Correct
	case decided.Outcome == verify.Unknown:
		v.Bucket = routing.Ungraded
	case decided.Reason == verify.ReasonNoAnswer:
		v.Bucket = routing.NoAnswer
	default:
		v.Bucket = routing.Wrong
	}
	return v
}

// regrade grades the stored rollouts that have no verdict of this verifier on this answer, and takes them off want.
func (e *engine) regrade(ctx context.Context, scope store.Scope, ungraded map[store.RolloutID]question, want map[store.RolloutKey]question, problems []routing.Problem, out [][]graded) error {
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
		v := grade(problems[q.problem], a.Response, a.Finish)
		v.Rollout = a.ID
		verdicts = append(verdicts, v)
		out[q.problem][q.run].Bucket = v.Bucket
		delete(want, q.key)
		e.opt.Progress.Add(1)
	}
	return e.rollouts.PutVerdicts(ctx, verify.Version, verdicts)
}
