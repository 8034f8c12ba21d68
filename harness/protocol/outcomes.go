// What is recorded of a pool: its questions, what its experts did on them, and what routers may learn from that.

package protocol

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/units"
)

// noProbe is the folds.probe of a recording that has no model to spare.
const noProbe = "none"

// outcomes are what is recorded of a pool.
type outcomes struct {
	rec      *recording.Table
	experts  []routing.Expert
	columns  []int // [M] index of each expert among the candidates of the recording
	probe    int   // -1: none, the gate never opens
	scored   int   // runs of every question and model
	input    bool  // input tokens are paid for
	problems []routing.Problem
	right    [][]bool // [A][Q] whether the first of the runs that may be learned from is right
}

// readOutcomes reads what the experts of a pool, and the probe, did on the questions of its recording.
func readOutcomes(ctx context.Context, files *recording.Reader, pool *steps.Pool, x *spec.Experiment) (*outcomes, error) {
	a := &outcomes{experts: pool.Experts, probe: -1, scored: cmp.Or(pool.Recorded.Scored, 1), input: x.CountInput}
	probe := recording.Candidate{Model: x.Folds.Probe}
	var needed []recording.Candidate
	if x.Folds.Probe != noProbe {
		needed = append(needed, probe)
	}
	var own []recording.Candidate
	for _, e := range pool.Experts {
		own = append(own, recording.CandidateOf(e.Model, e.Settings))
	}
	var err error
	if a.rec, err = files.Load(ctx, *pool.Recorded, append(needed, own...)); err != nil {
		if lacks := (*recording.NoOutcomesError)(nil); errors.As(err, &lacks) && lacks.Model == probe {
			return nil, fmt.Errorf("%w: folds.probe: %w; name a weak one of these, or none", spec.ErrUsage, err)
		}
		return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
	}
	a.right = rightOf(a.rec, a.scored)
	for _, candidate := range own {
		m, err := a.rec.Find(candidate)
		if err != nil {
			return nil, err
		}
		a.columns = append(a.columns, m)
	}
	if x.Folds.Probe != noProbe {
		if a.probe, err = a.rec.Find(probe); err != nil {
			return nil, err
		}
	}
	for _, q := range a.rec.Queries {
		text := q.Problem // with the options, as the experts read it
		for i, o := range q.Options {
			text += fmt.Sprintf("\n%c. %s", 'A'+i, o)
		}
		a.problems = append(a.problems, routing.Problem{ID: q.ID, Benchmark: q.Benchmark, Split: routing.Test, Text: text, Gold: []string{q.Gold}, Options: q.Options})
	}
	return a, nil
}

// rightOf says of every candidate and question [A][Q] whether the first of the runs that may be learned from is
// right.
func rightOf(rec *recording.Table, scored int) [][]bool {
	all := make([][]bool, len(rec.Candidates))
	for a := range all {
		for q := range rec.Queries {
			all[a] = append(all[a], rec.Labels(q, a, scored)[0].Correct)
		}
	}
	return all
}

// lenders are the models outside the pool.
func (a *outcomes) lenders() int { return len(a.rec.Candidates) - len(a.columns) }

// outcome is what expert m did on question q in the runs that are scored, their mean. It is in the bucket of the first that is
// not right, if there is one.
func (a *outcomes) outcome(q, m int) routing.Outcome {
	return a.mean(m, a.rec.Scored(q, a.columns[m], a.scored))
}

// learnable is what expert m did on question q in the runs that a row learns from.
func (a *outcomes) learnable(q, m int, kind string) routing.Outcome {
	return a.mean(m, a.labels(q, a.columns[m], kind))
}

func (a *outcomes) mean(m int, runs []recording.Answer) (o routing.Outcome) {
	n := float64(len(runs))
	for _, r := range runs {
		bucket := routing.Wrong
		switch {
		case r.Correct:
			o.Correct += 1 / n
			bucket = routing.Correct
		case r.NoAnswer:
			bucket = routing.NoAnswer
		case r.Cut():
			bucket = routing.Truncated
		}
		if o.Bucket == "" || o.Bucket == routing.Correct {
			o.Bucket = bucket
		}
		o.Out += float64(r.Out) / n
		o.USD += a.experts[m].Price.USD(cost.Usage{In: r.In, Out: r.Out}, a.input) / n
	}
	if o.Bucket == routing.Correct {
		o.Correct = 1 // and not what thirds add up to
	}
	return o
}

// examples are training questions with pass rates, of the runs that are not scored where there are others: "runs" is the mean of
// these; "01" the first of them alone; "k5" the mean of them and of the first answers of the 4 models outside the pool that agree
// with the expert on most of the training questions, an imitation of N = 5 that leans towards those models' accuracy.
func (a *outcomes) examples(train []int, kind string) []routing.Example {
	lenders := make([][]int, len(a.columns))
	if kind == "k5" {
		for m, own := range a.columns {
			lenders[m] = a.neighbours(train, own)
		}
	}
	out := make([]routing.Example, len(train))
	for i, q := range train {
		x := routing.Example{Problem: a.problems[q]}
		if a.probe >= 0 {
			x.Probe = recording.PassRate(a.labels(q, a.probe, kind))
		}
		for m, own := range a.columns {
			runs := a.labels(q, own, kind)
			right := math.Round(recording.PassRate(runs) * float64(len(runs)))
			for _, lender := range lenders[m] {
				if a.right[lender][q] {
					right++
				}
			}
			o := a.mean(m, runs)
			x.Samples = append(x.Samples, len(runs)+len(lenders[m]))
			x.Kappa = append(x.Kappa, right/float64(len(runs)+len(lenders[m])))
			x.Tokens = append(x.Tokens, o.Out)
			x.USD = append(x.USD, o.USD)
		}
		out[i] = x
	}
	return out
}

// labels are the runs of a candidate that a row learns from.
func (a *outcomes) labels(q, candidate int, kind string) []recording.Answer {
	runs := a.rec.Labels(q, candidate, a.scored)
	if kind == "01" {
		return runs[:1]
	}
	return runs
}

// neighbours returns the models outside the pool that are nearest to a model in Hamming distance.
func (a *outcomes) neighbours(train []int, own int) []int {
	var others []int
	distance := make([]int, len(a.rec.Candidates))
	for other := range a.rec.Candidates {
		if slices.Contains(a.columns, other) {
			continue
		}
		others = append(others, other)
		for _, q := range train {
			if a.right[other][q] != a.right[own][q] {
				distance[other]++
			}
		}
	}
	slices.SortFunc(others, func(a, b int) int { return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b)) })
	return others[:spec.NearestModels]
}

// described are the lines Recorded: of each expert of the pool how far its runs agree and how many a limit cut, where the recording says.
func (a *outcomes) described(pool string) (out []metrics.Measurement) {
	for m, candidate := range a.columns {
		scored, finished, cut := 0, 0, 0
		for q := range a.problems {
			for _, r := range a.rec.Scored(q, candidate, a.scored) {
				scored++
				if r.Finish != "" {
					finished++
				}
				if r.Cut() {
					cut++
				}
			}
		}
		line := metrics.Measurement{Name: "Recorded", Keys: metrics.Keys("pool", pool, "expert", a.experts[m].ID), N: scored}
		if finished > 0 {
			line.Values = append(line.Values, metrics.Rounded(100*float64(cut)/float64(scored), units.Truncated, 2))
		}
		if n := a.rec.Noise(candidate); n.Questions > 0 {
			line.Values = append(line.Values, metrics.Rounded(float64(n.Questions), units.Repeated, 0), metrics.Rounded(100*n.Disagree, units.Disagreement, 2))
			if one, ok := n.Reliability(1); ok {
				line.Values = append(line.Values, metrics.Rounded(one, units.Reliability, 3))
			} else {
				line.Undefined = append(line.Undefined, metrics.Undefined{Unit: units.Reliability, Why: "all runs are alike"})
			}
		}
		if line.Values != nil {
			out = append(out, line)
		}
	}
	return out
}
