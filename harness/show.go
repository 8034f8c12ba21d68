package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Trail goes from the cells of an experiment's table to what is behind them, and back. It reads the store and asks
// nobody. Only the arena of the paper's sizes has rollouts behind it.
type Trail struct {
	e *engine
	a *arena
}

// OpenTrail opens the trail of a finished experiment with protocol split. Close it.
func OpenTrail(ctx context.Context, r *spec.Resolved, o Options) (*Trail, error) {
	x := &r.Experiment
	if x.Protocol != "split" {
		return nil, fmt.Errorf("%w: spec %s has protocol %s; only cells of protocol split have rollouts behind them", ErrUsage, x.Name, x.Protocol)
	}
	e, err := look(ctx, r, o)
	if err != nil {
		return nil, err
	}
	if _, err := e.store.Get(e.measured.recipe); err != nil {
		e.close()
		if errors.Is(err, store.ErrMissing) {
			return nil, fmt.Errorf("%w: experiment %s is not finished in this store; run it first: entrorouter run %s", ErrIncomplete, x.Name, x.Name)
		}
		return nil, err
	}
	t := &Trail{e: e, a: e.arenas[slices.IndexFunc(e.arenas, func(a *arena) bool { return a.name == PaperArena })]}
	if err := t.a.loadOutcomes(ctx); err != nil {
		e.close()
		return nil, err
	}
	return t, nil
}

// Close closes the store.
func (t *Trail) Close() { t.e.close() }

// Cell is one number of a table with its dollars: a row on a benchmark.
type Cell struct {
	Row       string  `json:"row"`
	Benchmark string  `json:"benchmark"`
	Questions int     `json:"questions"`
	Runs      int     `json:"runs"`
	Accuracy  float64 `json:"accuracy"` // percent, mean over questions, runs and training seeds
	USD       float64 `json:"usd"`      // of one pass over the benchmark
}

// QuestionResult is what a row got and paid on one question of a benchmark, averaged over runs and training seeds.
type QuestionResult struct {
	Problem  string             `json:"problem"`
	Accuracy float64            `json:"accuracy"` // percent
	USD      float64            `json:"usd"`
	Chosen   map[string]float64 `json:"chosen"` // expert -> share of the runs and seeds in which its answer stood
}

// Cells returns the cells of one row, or of all if row is empty.
func (t *Trail) Cells(ctx context.Context, row string) ([]Cell, error) {
	if err := t.checkRow(row); err != nil {
		return nil, err
	}
	var out []Cell
	for i, m := range t.e.spec.Experiment.Methods {
		if row != "" && m.RowID() != row || !t.e.fits[i][0].covers(t.a) {
			continue
		}
		s, err := t.scored(ctx, i)
		if err != nil {
			return nil, err
		}
		accuracy, usd := s.mean(accuracyOf), s.mean(usdOf)
		for b, bench := range t.a.benches {
			c := Cell{Row: m.RowID(), Benchmark: bench.name, Runs: bench.runs}
			for q, of := range t.a.strata {
				if of == b {
					c.Questions++
					c.Accuracy += accuracy[q]
					c.USD += usd[q]
				}
			}
			c.Accuracy /= float64(c.Questions)
			out = append(out, c)
		}
	}
	return out, nil
}

// Questions returns what is behind one cell: every question of the benchmark.
func (t *Trail) Questions(ctx context.Context, row, benchmark string) ([]QuestionResult, error) {
	i, err := t.row(row)
	if err != nil {
		return nil, err
	}
	b := slices.IndexFunc(t.a.benches, func(b *bench) bool { return b.name == benchmark })
	if b < 0 {
		return nil, fmt.Errorf("%w: experiment %s has no benchmark %q; it has: %v", ErrUsage, t.e.spec.Experiment.Name, benchmark, t.e.spec.Experiment.Test)
	}
	s, err := t.scored(ctx, i)
	if err != nil {
		return nil, err
	}
	accuracy, usd := s.mean(accuracyOf), s.mean(usdOf)
	var out []QuestionResult
	for k, query := range t.a.queries {
		q := t.a.question[k]
		if t.a.strata[q] != b || query.Run != 0 {
			continue
		}
		r := QuestionResult{Problem: query.Problem.ID, Accuracy: accuracy[q], USD: usd[q], Chosen: map[string]float64{}}
		for _, c := range s.columns {
			for m, share := range c.chosen[q] {
				if share > 0 {
					r.Chosen[t.e.experts[m].ID] += share / float64(len(s.columns))
				}
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// RolloutResult is one response of an expert and why it got its verdict.
type RolloutResult struct {
	Expert    string          `json:"expert"`
	Run       int             `json:"run"`
	Bucket    routing.Bucket  `json:"bucket"`
	Reason    string          `json:"reason"`
	Rule      string          `json:"rule,omitempty"` // of the verifier; none for what was cut off
	Extracted string          `json:"extracted"`
	Gold      string          `json:"gold_form,omitempty"`
	Answer    string          `json:"response_form,omitempty"`
	Usage     cost.Usage      `json:"usage"`
	USD       float64         `json:"usd"`
	ID        store.RolloutID `json:"rollout"` // in rollouts.db
	Response  string          `json:"response"`
}

// DecisionResult says what a row decided on one run of a problem.
type DecisionResult struct {
	Row    string             `json:"row"`
	Seed   uint64             `json:"seed"` // training seed
	Run    int                `json:"run"`
	Expert string             `json:"expert"`          // whose answer stands: an expert, "self", or "expected" for rows in closed form
	Calls  []string           `json:"calls,omitempty"` // of a row with several rounds: the experts asked, in order
	Prob   map[string]float64 `json:"prob"`
	Answer string             `json:"answer,omitempty"` // of a router that has talked to the experts, and its bucket
	Bucket routing.Bucket     `json:"bucket,omitempty"`
}

// ProblemResult is everything known of one problem.
type ProblemResult struct {
	Problem   routing.Problem  `json:"problem"`
	Rollouts  []RolloutResult  `json:"rollouts"`
	Decisions []DecisionResult `json:"decisions"` // of every row asked for: the cells that the rollouts enter
}

// Problem returns the rollouts behind a problem of a test benchmark and what the row, or every row if row is empty,
// decided on it.
func (t *Trail) Problem(ctx context.Context, id, row string) (*ProblemResult, error) {
	if err := t.checkRow(row); err != nil {
		return nil, err
	}
	first := slices.IndexFunc(t.a.queries, func(q routing.Query) bool { return q.Problem.ID == id })
	if first < 0 {
		return nil, fmt.Errorf("%w: no test problem %q; list those of a benchmark: entrorouter show %s --row ROW --benchmark %s", ErrUsage, id, t.e.spec.Experiment.Name, t.a.benches[0].name)
	}
	out := &ProblemResult{Problem: t.a.queries[first].Problem}
	runs := t.a.benches[t.a.strata[t.a.question[first]]].runs
	asked := t.e.experts
	if t.a.self != nil {
		asked = t.e.members()
	}
	for _, x := range asked {
		of, err := t.rollouts(ctx, x, out.Problem, runs)
		if err != nil {
			return nil, err
		}
		out.Rollouts = append(out.Rollouts, of...)
	}
	for i, m := range t.e.spec.Experiment.Methods {
		if row != "" && m.RowID() != row || !t.e.fits[i][0].covers(t.a) {
			continue
		}
		for _, f := range t.e.fits[i] {
			decisions, err := f.decisions(ctx, t.a)
			if err != nil {
				return nil, err
			}
			for _, d := range decisions[first : first+runs] {
				r := DecisionResult{Row: m.RowID(), Seed: f.seed, Run: d.Run, Expert: "expected", Prob: map[string]float64{}}
				switch {
				case d.Expert == routing.Self:
					r.Expert = selfID
				case d.Expert != routing.Expected:
					r.Expert = t.e.experts[d.Expert].ID
				}
				for _, c := range d.Calls {
					r.Calls = append(r.Calls, t.e.experts[c.Expert].ID)
				}
				if d.Answer != nil {
					r.Answer, r.Bucket = d.Answer.Text, d.Answer.Bucket
				}
				for m, p := range d.Prob {
					r.Prob[t.e.experts[m].ID] = p
				}
				out.Decisions = append(out.Decisions, r)
			}
		}
	}
	return out, nil
}

// rollouts reads the responses of an expert to a problem and grades them as the table did.
func (t *Trail) rollouts(ctx context.Context, x routing.Expert, p routing.Problem, runs int) ([]RolloutResult, error) {
	scope := t.e.scope(x, routing.Test)
	have, err := t.e.storedWithFinish(ctx, scope)
	if err != nil {
		return nil, err
	}
	var out []RolloutResult
	for run := range runs {
		s, ok := have[t.e.rolloutKey(x, routing.Test, p, run)]
		if !ok {
			return nil, fmt.Errorf("the rollout of %s on problem %s, run %d, is no longer in rollouts.db of %s; remove what outcomes of it the store has and run the experiment again", x.ID, p.ID, run, t.e.opt.Out)
		}
		response, err := t.e.rollouts.Response(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		v := grade(p, response, s.Finish)
		r := RolloutResult{
			Expert: x.ID, Run: run, Bucket: v.Bucket, Reason: v.Reason, Extracted: v.Extracted,
			Usage: cost.Usage{In: s.In, Out: s.Out}, ID: s.ID, Response: response,
		}
		r.USD = x.Price.USD(r.Usage, t.e.spec.Experiment.CountInput)
		if s.Finish != routing.Length {
			why := p.Key().Grade(response)
			r.Rule, r.Gold, r.Answer = string(why.Rule), why.Gold, why.Answer
		}
		out = append(out, r)
	}
	return out, nil
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

func (t *Trail) scored(ctx context.Context, i int) (scored, error) {
	s := scored{method: t.e.spec.Experiment.Methods[i]}
	for _, f := range t.e.fits[i] {
		decisions, err := f.decisions(ctx, t.a)
		if err != nil {
			return s, err
		}
		s.seeds = append(s.seeds, f.seed)
		s.columns = append(s.columns, t.a.score(decisions))
	}
	return s, nil
}

func (t *Trail) row(id string) (int, error) {
	i := slices.IndexFunc(t.e.spec.Experiment.Methods, func(m spec.Method) bool { return m.RowID() == id })
	if i < 0 {
		var ids []string
		for _, m := range t.e.spec.Experiment.Methods {
			ids = append(ids, m.RowID())
		}
		return -1, fmt.Errorf("%w: experiment %s has no row %q; it has: %v", ErrUsage, t.e.spec.Experiment.Name, id, ids)
	}
	return i, nil
}

func (t *Trail) checkRow(id string) error {
	if id == "" {
		return nil
	}
	_, err := t.row(id)
	return err
}
