// Package trail goes from the cells of a finished run's tables to what is behind them, and back: to questions, decisions,
// outcomes and answers. It reads a book and computes nothing that a table does not say.
package trail

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Trail is that of one experiment. Rows are scored on sets of questions: the arenas of protocol split, the pools of
// protocol folds.
type Trail struct {
	experiment, named string
	rows              []string // ids, in the order of the spec
	answers           Answers
	sets              []*set
}

// New is the trail of an experiment with so many rows; named is how its spec was given on the command line. whole says that
// recordings are measured over all benchmarks only. Recordings have no answers.
func New(experiment, named string, rows []string, arenas []*book.Arena, whole bool, answers Answers) *Trail {
	t := &Trail{experiment: experiment, named: named, rows: rows, answers: answers}
	for _, a := range arenas {
		t.sets = append(t.sets, newSet(a, whole))
	}
	return t
}

// asked returns the sets and the rows that a question names; an empty name is all of them.
func (t *Trail) asked(name, row string) ([]*set, []string, error) {
	rows, err := t.rowsOf(row)
	if err != nil {
		return nil, nil, err
	}
	sets, err := t.setsOf(name)
	return sets, rows, err
}

// Sets lists the sets with their questions, in the order of the run.
func (t *Trail) Sets() (all []SetResult) {
	for _, s := range t.sets {
		of := SetResult{Set: s.Title(), Experts: s.IDs()}
		if s.Self != nil {
			of.Experts = append(of.Experts, s.Probe)
		}
		for q, p := range s.problems {
			of.Problems = append(of.Problems, Listed{p.ID, s.Benchmarks[s.Strata[q]].Name})
		}
		for _, l := range s.Lost {
			of.Problems = append(of.Problems, Listed{l.Problem, l.Benchmark})
		}
		all = append(all, of)
	}
	return all
}

// Cells returns the cells of one row, or of all if row is empty, on one set, or on all if set is empty.
func (t *Trail) Cells(set, row string) ([]Cell, error) {
	sets, rows, err := t.asked(set, row)
	if err != nil {
		return nil, err
	}
	var out []Cell
	for _, s := range sets {
		if err := s.each(rows, func(r book.Row, of *standing) {
			for _, g := range s.groups {
				c := s.cell(r.ID, g, of)
				switch {
				case s.recorded():
					c.FoldGain = s.foldGain(r, g, of, c.Accuracy)
				case g.name == metrics.Average:
					c.Gain = s.gain(r, of)
				}
				out = append(out, c)
			}
		}); err != nil {
			return nil, err
		}
	}
	if out == nil {
		return nil, t.notScored(row, set)
	}
	return out, nil
}

// notScored is the error about a row of hindsight on the large set.
func (t *Trail) notScored(row, set string) error {
	return fmt.Errorf("%w: row %s reads graded answers and is not scored on set %s, which has none; leave --set out", spec.ErrUsage, row, set)
}

func (s *set) cell(row string, g group, of *standing) Cell {
	c := Cell{Set: s.Title(), Row: row, Benchmark: g.name, Runs: g.runs}
	dearest := 0.0
	for q, w := range g.weight {
		if w > 0 {
			c.Questions++
		}
		c.Accuracy += w * of.accuracy[q]
		c.PerQuery += w * of.usd[q]
		dearest += w * s.alone[len(s.alone)-1].USD[q]
		if of.verdicts == nil || w == 0 {
			continue
		}
		if c.Verdicts == nil {
			c.Verdicts = map[routing.Bucket]float64{}
		}
		for v, share := range of.verdicts[q] {
			c.Verdicts[v] += share * float64(s.runs(q))
		}
	}
	for _, t := range of.trainings {
		r := TrainingResult{Seed: t.seed}
		for q, w := range g.weight {
			r.Accuracy += w * t.accuracy[q]
			r.PerQuery += w * t.usd[q]
		}
		c.Trainings = append(c.Trainings, r)
	}
	c.USD = c.PerQuery * g.pass
	if dearest > 0 {
		share := 100 * c.PerQuery / dearest
		c.CostShare = &share
	}
	return c
}

// Questions returns what is behind one cell: every question of the benchmark. An empty set is the first, of recordings the
// only one.
func (t *Trail) Questions(set, row, benchmark string) ([]QuestionResult, error) {
	sets, rows, err := t.asked(set, row)
	if err != nil {
		return nil, err
	}
	s := sets[0]
	if set == "" && s.recorded() && len(sets) > 1 {
		return nil, fmt.Errorf("%w: experiment %s has cells of that name on %d pools; say which with --set: %s", spec.ErrUsage, t.experiment, len(sets), names(sets))
	}
	r, ok := s.Row(rows[0])
	if !ok {
		return nil, t.notScored(row, s.Title())
	}
	var known []string
	for _, g := range s.groups {
		known = append(known, g.name)
	}
	at := slices.Index(known, benchmark)
	if at < 0 {
		return nil, fmt.Errorf("%w: experiment %s has no benchmark %q on set %s%s", spec.ErrUsage, t.experiment, benchmark, s.Title(), spec.Options(benchmark, known))
	}
	of, err := s.score(r)
	if err != nil {
		return nil, err
	}
	var out []QuestionResult
	for q, w := range s.groups[at].weight {
		if w == 0 {
			continue
		}
		result := QuestionResult{Problem: s.problems[q].ID, Weight: w, Accuracy: of.accuracy[q], USD: of.usd[q], Tokens: of.tokens[q], Chosen: of.chosen[q]}
		if of.verdicts != nil {
			result.Verdicts = of.verdicts[q]
		}
		for _, t := range r.Trainings {
			if t.Fold != nil {
				result.Folds = append(result.Folds, t.Fold[q])
			}
		}
		out = append(out, result)
	}
	return out, nil
}

// Overview returns every question of a set that is scored.
func (t *Trail) Overview(ctx context.Context, name string) (all []Overview, err error) {
	sets, rows, err := t.asked(name, "")
	if err != nil {
		return nil, err
	}
	s := sets[0]
	for q, p := range s.problems {
		o := Overview{Problem: p.ID, Benchmark: s.Benchmarks[s.Strata[q]].Name, Gold: p.Gold, Experts: s.tallies(q), Chosen: map[string]map[string]float64{}}
		if s.Name == metrics.PaperArena {
			read, err := t.answers.Read(ctx, p, s.runs(q), s.Self != nil)
			if err != nil {
				return nil, err
			}
			for m := range read {
				o.Experts[m].Readings = read[m]
			}
		}
		all = append(all, o)
	}
	return all, s.each(rows, func(r book.Row, of *standing) {
		for q := range all {
			all[q].Chosen[r.ID] = of.chosen[q]
		}
	})
}

// Problem returns what is behind a problem of a test benchmark: what the experts did, what the row, or every row if row
// is empty, decided on it, and the cells that it enters. An empty set is the one that has the problem.
func (t *Trail) Problem(ctx context.Context, name, id, row string) (*ProblemResult, error) {
	sets, rows, err := t.asked(name, row)
	if err != nil {
		return nil, err
	}
	has := func(s *set) int {
		return slices.IndexFunc(s.problems, func(p routing.Problem) bool { return p.ID == id })
	}
	var of []*set
	for _, s := range sets {
		if has(s) >= 0 {
			of = append(of, s)
		}
	}
	if len(of) == 0 {
		if out, err := t.lost(ctx, sets, id); out != nil || err != nil {
			return out, err
		}
	}
	switch {
	case len(of) == 0:
		var ids []string
		for _, s := range sets {
			for _, p := range s.problems {
				ids = append(ids, p.ID)
			}
		}
		near := spec.Near(id, ids, 3)
		for i, id := range near {
			near[i] = fmt.Sprintf("%q", id)
		}
		which := ""
		if name != "" || sets[0].recorded() && len(sets) > 1 {
			which = " --set " + sets[0].Title()
		}
		return nil, fmt.Errorf("%w: no test problem %q; near are %s; list those of a benchmark: entrorouter show %s --row ROW --benchmark %s%s", spec.ErrUsage, id, strings.Join(near, ", "), t.named, sets[0].groups[0].name, which)
	case len(of) > 1:
		return nil, fmt.Errorf("%w: problem %s is in %d pools; say which with --set: %s", spec.ErrUsage, id, len(of), names(of))
	}
	s, q := of[0], has(of[0])
	p := s.problems[q]
	out := &ProblemResult{Set: s.Title(), Problem: questionOf(p), Decisions: []DecisionResult{}, Enters: []Entry{}}
	var decide []book.Row
	for _, id := range rows {
		if r, ok := s.Row(id); ok {
			decide = append(decide, r)
		}
	}
	if row != "" && decide == nil {
		return nil, fmt.Errorf("%w: row %s reads graded answers and is not scored on set %s, which has problem %s and no answers; leave --row out", spec.ErrUsage, row, s.Title(), id)
	}
	if err := s.outcomes(ctx, t.answers, q, out); err != nil {
		return nil, err
	}
	for _, r := range decide {
		decisions, err := s.decided(r, q)
		if err != nil {
			return nil, err
		}
		out.Decisions = append(out.Decisions, decisions...)
		of, err := s.score(r)
		if err != nil {
			return nil, err
		}
		for _, g := range s.groups {
			if w := g.weight[q]; w > 0 {
				out.Enters = append(out.Enters, Entry{s.Title(), r.ID, g.name, w, of.accuracy[q], of.usd[q]})
			}
		}
	}
	return out, nil
}

// lost returns what is known of a problem that is scored for nobody; nil if it is none.
func (t *Trail) lost(ctx context.Context, sets []*set, id string) (*ProblemResult, error) {
	for _, s := range sets {
		p, runs, lost, ok := s.LostProblem(id)
		if !ok || t.answers == nil {
			continue
		}
		out := &ProblemResult{Set: s.Title(), Problem: questionOf(p), Unscored: lost.Models, Decisions: []DecisionResult{}, Enters: []Entry{}}
		var err error
		out.Rollouts, err = t.answers.Rollouts(ctx, p, runs, s.Probe != "")
		return out, err
	}
	return nil, nil
}

func questionOf(p routing.Problem) Question {
	return Question{p.ID, p.Benchmark, p.Text, p.Gold, p.Options, p.Tolerance, p.Level}
}

// Answered returns the id of the test problem that a rollout answers.
func (t *Trail) Answered(ctx context.Context, rollout int64) (string, error) {
	i := slices.IndexFunc(t.sets, func(s *set) bool { return s.Name == metrics.PaperArena })
	if i < 0 {
		return "", fmt.Errorf("%w: experiment %s has recorded outcomes and no answers; leave --rollout out", spec.ErrUsage, t.experiment)
	}
	p, ok, err := t.answers.Answered(ctx, store.RolloutID(rollout), t.sets[i].problems)
	if err == nil && !ok {
		err = fmt.Errorf("%w: no expert of experiment %s gave answer %d to a test problem; show a problem with --problem and take a number from its column rollout", spec.ErrUsage, t.experiment, rollout)
	}
	return p.ID, err
}

// setsOf returns the set of a name, or all.
func (t *Trail) setsOf(name string) ([]*set, error) {
	if name == "" {
		return t.sets, nil
	}
	i := slices.IndexFunc(t.sets, func(s *set) bool { return s.Title() == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: experiment %s has no set %q; it has: %s", spec.ErrUsage, t.experiment, name, names(t.sets))
	}
	return t.sets[i : i+1], nil
}

func names(sets []*set) string {
	var of []string
	for _, s := range sets {
		of = append(of, s.Title())
	}
	return strings.Join(of, ", ")
}

// rowsOf returns the row of an id, or all.
func (t *Trail) rowsOf(id string) ([]string, error) {
	switch {
	case id == "":
		return t.rows, nil
	case slices.Contains(t.rows, id):
		return []string{id}, nil
	}
	return nil, fmt.Errorf("%w: experiment %s has no row %q%s", spec.ErrUsage, t.experiment, id, spec.Options(id, t.rows))
}
