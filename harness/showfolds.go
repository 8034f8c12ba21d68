package harness

import (
	"context"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
)

// trail reads a recorded pool for the trail.
func (c *recorded) trail() *trailSet {
	n := len(c.problems)
	s := &trailSet{name: c.e.poolSpec.Name, problems: c.problems, folds: make([][]int, n), runs: slices.Repeat([]int{1}, n), strongest: make([]float64, n)}
	for q := range n {
		s.strongest[q] = c.outcome(q, len(c.e.experts)-1).USD
		for _, p := range c.partition {
			s.folds[q] = append(s.folds[q], p.fold[q])
		}
	}
	for _, b := range (&score.Folds{Arena: c.arena(), Whole: c.e.spec.Experiment.Folds.Whole}).Strata() {
		g := trailGroup{name: b, runs: 1, weight: even(n, func(q int) bool { return b == metrics.BothStrata || c.problems[q].Benchmark == b })}
		g.pass = float64(g.size())
		s.groups = append(s.groups, g)
	}
	s.covers = func(int) bool { return true }
	s.standing = func(ctx context.Context, row int) (*standing, error) {
		out := &standing{accuracy: make([]float64, n), usd: make([]float64, n), tokens: make([]float64, n), chosen: make([]map[string]float64, n), verdicts: make([]map[routing.Bucket]float64, n)}
		for q := range n {
			out.chosen[q], out.verdicts[q] = map[string]float64{}, map[routing.Bucket]float64{}
		}
		share := 1 / float64(len(c.partition))
		for _, p := range c.partition {
			decisions, err := c.decisions(ctx, p.rows[row])
			if err != nil {
				return nil, err
			}
			own := training{p.seed, make([]float64, n), make([]float64, n)}
			for q, d := range decisions {
				for m, w := range stands(d, len(c.e.experts)) {
					if w == 0 {
						continue
					}
					o := c.outcome(q, m)
					own.accuracy[q] += w * 100 * o.Correct
					own.usd[q] += w * o.USD
					out.tokens[q] += share * w * o.Out
					out.chosen[q][c.e.experts[m].ID] += share * w
					out.verdicts[q][o.Bucket] += share * w
				}
				out.accuracy[q] += share * own.accuracy[q]
				out.usd[q] += share * own.usd[q]
			}
			out.trainings = append(out.trainings, own)
		}
		return out, nil
	}
	s.behind = func(ctx context.Context, q int, rows []int, out *ProblemResult) error {
		for m, x := range c.e.experts {
			o := c.outcome(q, m)
			out.Outcomes = append(out.Outcomes, OutcomeResult{x.ID, o.Correct, o.Bucket, o.Out, o.USD})
		}
		for _, i := range rows {
			for _, p := range c.partition {
				decisions, err := c.decisions(ctx, p.rows[i])
				if err != nil {
					return err
				}
				d := decisions[q]
				r := c.e.decided(d)
				r.Row, r.Seed, r.Fold = p.rows[i].row.RowID(), p.seed, p.fold[q]
				for m, w := range stands(d, len(c.e.experts)) {
					o := c.outcome(q, m)
					r.Accuracy += w * 100 * o.Correct
					r.USD += w * o.USD
				}
				out.Decisions = append(out.Decisions, r)
			}
		}
		return nil
	}
	return s
}

// decisions reads the decisions of a row in one partition, [Q].
func (c *recorded) decisions(ctx context.Context, f *crossFit) ([]routing.Decision, error) {
	entry, err := c.e.get(ctx, f.step)
	if err != nil {
		return nil, err
	}
	queries := make([]routing.Query, len(c.problems))
	for q, p := range c.problems {
		queries[q] = routing.Query{Problem: p}
	}
	return readDecisions(entry, foldsArena, queries, len(c.e.experts))
}

// stands is the share of each expert in the answer of a decision, [M].
func stands(d routing.Decision, experts int) []float64 {
	w := make([]float64, experts)
	if d.Expert == routing.Expected {
		copy(w, d.Prob)
	} else {
		w[d.Expert] = 1
	}
	return w
}
