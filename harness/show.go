package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// Trail goes from the cells of an experiment's tables to what is behind them, and back. It only looks at the store and
// asks nobody. Rows are scored on sets of questions: the arenas of protocol split, the pools of protocol folds.
type Trail struct {
	e    *engine
	sets []*trailSet
}

// trailSet is a set of questions that rows are scored on.
type trailSet struct {
	name      string
	problems  []routing.Problem // [questions]
	runs      []int             // [questions]
	groups    []trailGroup      // what tables average over
	strongest []float64         // [questions] dollars of the strongest expert
	folds     [][]int           // [questions][partitions]; nil: no folds

	// hull is that of the fixed experts on the average, and of the router alone for rows that may answer themselves; nil:
	// gains are not those of averages.
	hull func(row int) *trailHull

	// covers says whether a row of the spec is scored on the set.
	covers func(row int) bool
	// standing scores a row.
	standing func(ctx context.Context, row int) (*standing, error)
	// behind adds what experts did on a question and what the rows decided.
	behind func(ctx context.Context, q int, rows []int, out *ProblemResult) error

	scored map[int]*standing
}

// trailGroup is a column of a table: a benchmark, their average, a stratum.
type trailGroup struct {
	name   string
	runs   int
	weight []float64 // [questions], sums to 1
	pass   float64   // questions of one pass, which dollars are counted for
}

// trailHull is a hull and whom its vertices are.
type trailHull struct {
	metrics.Hull
	ids []string
}

// standing is what a row got and paid on every question, averaged over runs and over training seeds or partitions.
type standing struct {
	accuracy []float64 // percent
	usd      []float64
	tokens   []float64 // of the experts that were asked
	chosen   []map[string]float64
	verdicts []map[routing.Bucket]float64 // share of the decisions; nil where there are no verdicts

	trainings []training
}

// training is what one training of a row got and paid on every question; of recordings, what those of a partition did.
type training struct {
	seed     uint64
	accuracy []float64
	usd      []float64
}

// OpenTrail opens the trail of a finished experiment. Close it.
func OpenTrail(ctx context.Context, r *spec.Resolved, o Options) (*Trail, error) {
	x := &r.Experiment
	if x.Protocol == "collapse" {
		return nil, fmt.Errorf("%w: spec %s has protocol collapse, whose numbers are expectations over a small environment without problems; the formulas are in package theory", ErrUsage, x.Name)
	}
	e, err := look(ctx, r, o)
	if err != nil {
		return nil, err
	}
	t := &Trail{e: e}
	finished := e.results
	if e.measured != nil {
		finished = []*step{e.measured}
	}
	for _, s := range finished {
		if _, err := e.store.Get(s.recipe); err != nil {
			e.close()
			if errors.Is(err, store.ErrMissing) {
				if _, err := e.store.ReadIndex(x.Name); err == nil {
					return nil, fmt.Errorf("%w: experiment %s was run, but not as it is now: entrorouter explain %s says what differs, entrorouter run %s carries it out", ErrIncomplete, x.Name, r.Named, r.Named)
				}
				return nil, fmt.Errorf("%w: experiment %s is not finished in this store; run it first: entrorouter run %s", ErrIncomplete, x.Name, r.Named)
			}
			return nil, e.lost(s, err)
		}
	}
	for _, a := range e.arenas {
		s, err := e.arenaTrail(ctx, a)
		if err != nil {
			e.close()
			return nil, err
		}
		t.sets = append(t.sets, s)
	}
	for _, c := range e.recorded {
		t.sets = append(t.sets, c.trail())
	}
	return t, nil
}

// Close closes the store.
func (t *Trail) Close() { t.e.close() }

// Cell is one number of a table with its dollars: a row on a benchmark, on all ("avg", of recordings "all") or on a
// stratum of difficulty ("easy", "medium", "hard").
type Cell struct {
	Set       string  `json:"set"` // arena or pool
	Row       string  `json:"row"`
	Benchmark string  `json:"benchmark"`
	Questions int     `json:"questions"`
	Runs      int     `json:"runs,omitempty"` // of each question; none where benchmarks have their own
	Accuracy  float64 `json:"accuracy"`       // percent, mean over questions, runs and training seeds or partitions
	USD       float64 `json:"usd"`            // of one pass over the questions
	PerQuery  float64 `json:"usd_per_query"`  // dollars a question
	CostShare float64 `json:"cost_share"`     // percent of what always asking the strongest expert costs

	Gain      *Gain                      `json:"gain,omitempty"`     // of averages; of recordings none, whose gains are made inside each fold
	Verdicts  map[routing.Bucket]float64 `json:"verdicts,omitempty"` // number of answers, averaged over training seeds or partitions
	Trainings []TrainingResult           `json:"trainings"`          // what is averaged
}

// Gain is a hull gain and the coin flip between fixed experts that it is measured from, which costs what the row costs.
type Gain struct {
	Points   float64            `json:"points"`   // accuracy of the cell minus that of the flip
	Accuracy float64            `json:"accuracy"` // percent, of the flip
	Coin     map[string]float64 `json:"coin"`     // how often it asks whom; in sum below 1 where a row costs less than the cheapest
}

// TrainingResult is a cell by one training: of a seed, or of recordings of a partition.
type TrainingResult struct {
	Seed     uint64  `json:"seed"`
	Accuracy float64 `json:"accuracy"`
	PerQuery float64 `json:"usd_per_query"`
}

// QuestionResult is what a row got and paid on one question, averaged over runs and over training seeds or partitions.
type QuestionResult struct {
	Problem  string                     `json:"problem"`
	Weight   float64                    `json:"weight"`   // in the cell; the weights of a cell sum to 1
	Accuracy float64                    `json:"accuracy"` // percent; on the large set a probability
	USD      float64                    `json:"usd"`
	Tokens   float64                    `json:"tokens"`             // output tokens of the experts that were asked
	Chosen   map[string]float64         `json:"chosen"`             // expert -> share of the decisions in which its answer stood
	Verdicts map[routing.Bucket]float64 `json:"verdicts,omitempty"` // of those answers
	Folds    []int                      `json:"folds,omitempty"`    // of recordings: the fold it is tested in, for each partition
}

// Question is a problem as the trail shows it.
type Question struct {
	ID        string             `json:"id"`
	Benchmark string             `json:"benchmark"`
	Text      string             `json:"text"`
	Gold      []string           `json:"gold"` // any of them will do
	Options   []string           `json:"options,omitempty"`
	Tolerance []verify.Tolerance `json:"tolerance,omitempty"`
	Level     string             `json:"level,omitempty"`
}

// UsageResult is what an answer read and wrote, in tokens.
type UsageResult struct {
	In  int64 `json:"in"`
	Out int64 `json:"out"`
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
	Usage     UsageResult     `json:"usage"`
	USD       float64         `json:"usd"`
	ID        store.RolloutID `json:"rollout"` // in rollouts.db
	Response  string          `json:"response"`
}

// OutcomeResult is what an expert does on a question where no response is at hand: on the large set the simulation's
// own probability and expectations, of a recording what was recorded.
type OutcomeResult struct {
	Expert  string         `json:"expert"`
	Correct float64        `json:"correct"`          // 1 or 0; on the large set the true success probability
	Bucket  routing.Bucket `json:"bucket,omitempty"` // of a recording
	Tokens  float64        `json:"tokens"`           // output tokens
	USD     float64        `json:"usd"`
}

// LatentResult is what simulated experts know of a problem: their chances follow from it.
type LatentResult struct {
	Cell       string  `json:"cell"` // of the simulated pool
	Topic      string  `json:"topic"`
	Difficulty float64 `json:"difficulty"` // logits
}

// DecisionResult says what a row decided on one run of a problem, and what came of it.
type DecisionResult struct {
	Row       string             `json:"row"`
	Seed      uint64             `json:"seed"`           // of the training; of recordings the partition
	Fold      int                `json:"fold,omitempty"` // of recordings: the one that the question is tested in
	Run       int                `json:"run"`
	Expert    string             `json:"expert"`            // whose answer stands: an expert, "self", or "expected" for rows in closed form
	Calls     []string           `json:"calls,omitempty"`   // of a row with several rounds: the experts asked, in order
	Spoiled   float64            `json:"spoiled,omitempty"` // of "self": probability that the calls talked it out of a right answer
	Prob      map[string]float64 `json:"prob"`
	Answer    string             `json:"answer,omitempty"` // of a router that has talked to the experts, and its bucket
	Bucket    routing.Bucket     `json:"bucket,omitempty"`
	Accuracy  float64            `json:"accuracy"` // percent
	USD       float64            `json:"usd"`
	OwnTokens int64              `json:"router_tokens,omitempty"` // that the router itself read and wrote
}

// Entry is a cell that a problem enters.
type Entry struct {
	Set       string  `json:"set"`
	Row       string  `json:"row"`
	Benchmark string  `json:"benchmark"`
	Weight    float64 `json:"weight"`   // of the problem in the cell
	Accuracy  float64 `json:"accuracy"` // of the row on the problem, percent; times the weight it is what the problem adds to the cell
	USD       float64 `json:"usd"`      // of the row on the problem
}

// ProblemResult is everything known of one problem.
type ProblemResult struct {
	Set       string           `json:"set"`
	Problem   Question         `json:"problem"`
	Latent    *LatentResult    `json:"latent,omitempty"`   // of a generated problem
	Rollouts  []RolloutResult  `json:"rollouts,omitempty"` // of the arena of the paper's sizes
	Outcomes  []OutcomeResult  `json:"outcomes,omitempty"` // of the other sets
	Decisions []DecisionResult `json:"decisions"`
	Enters    []Entry          `json:"enters"` // the cells of every row asked for
}

// asked returns the sets and the rows that a question names; an empty name is all of them.
func (t *Trail) asked(set, row string) ([]*trailSet, []int, error) {
	rows, err := t.rows(row)
	if err != nil {
		return nil, nil, err
	}
	sets, err := t.named(set)
	return sets, rows, err
}

// Cells returns the cells of one row, or of all if row is empty, on one set, or on all if set is empty.
func (t *Trail) Cells(ctx context.Context, set, row string) ([]Cell, error) {
	sets, rows, err := t.asked(set, row)
	if err != nil {
		return nil, err
	}
	var out []Cell
	for _, s := range sets {
		for _, i := range rows {
			if !s.covers(i) {
				continue
			}
			of, err := s.score(ctx, i)
			if err != nil {
				return nil, err
			}
			for _, g := range s.groups {
				c := s.cell(t.e.spec.Experiment.Methods[i].RowID(), g, of)
				if g.name == metrics.Average && s.hull != nil {
					c.Gain = s.hull(i).gain(metrics.Point{Cost: c.PerQuery, Quality: c.Accuracy})
				}
				out = append(out, c)
			}
		}
	}
	if out == nil {
		return nil, t.notScored(row, set)
	}
	return out, nil
}

// notScored is the error about a row of hindsight on the large set.
func (t *Trail) notScored(row, set string) error {
	return fmt.Errorf("%w: row %s reads graded answers and is not scored on set %s, which has none; leave --set out", ErrUsage, row, set)
}

func (s *trailSet) cell(row string, g trailGroup, of *standing) Cell {
	c := Cell{Set: s.name, Row: row, Benchmark: g.name, Runs: g.runs}
	strongest := 0.0
	for q, w := range g.weight {
		if w > 0 {
			c.Questions++
		}
		c.Accuracy += w * of.accuracy[q]
		c.PerQuery += w * of.usd[q]
		strongest += w * s.strongest[q]
		if of.verdicts == nil || w == 0 {
			continue
		}
		if c.Verdicts == nil {
			c.Verdicts = map[routing.Bucket]float64{}
		}
		for v, share := range of.verdicts[q] {
			c.Verdicts[v] += share * float64(s.runs[q])
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
	c.USD, c.CostShare = c.PerQuery*g.pass, 100*c.PerQuery/strongest
	return c
}

func (h *trailHull) gain(p metrics.Point) *Gain {
	out := &Gain{Points: h.Gain(p), Accuracy: h.At(p.Cost), Coin: map[string]float64{}}
	for i, share := range h.Shares(p.Cost) {
		if share > 0 {
			out.Coin[h.ids[i]] = share
		}
	}
	return out
}

// Questions returns what is behind one cell: every question of the benchmark. An empty set is the first that has the
// row, of recordings the only one.
func (t *Trail) Questions(ctx context.Context, set, row, benchmark string) ([]QuestionResult, error) {
	sets, rows, err := t.asked(set, row)
	if err != nil {
		return nil, err
	}
	if set == "" && t.e.recorded != nil && len(sets) > 1 {
		return nil, fmt.Errorf("%w: experiment %s has cells of that name on %d pools; say which with --set: %s", ErrUsage, t.e.spec.Experiment.Name, len(sets), names(sets))
	}
	s, i := sets[0], rows[0]
	if !s.covers(i) {
		return nil, t.notScored(row, s.name)
	}
	var known []string
	for _, g := range s.groups {
		known = append(known, g.name)
	}
	at := slices.Index(known, benchmark)
	if at < 0 {
		return nil, fmt.Errorf("%w: experiment %s has no benchmark %q on set %s; it has: %s", ErrUsage, t.e.spec.Experiment.Name, benchmark, s.name, strings.Join(known, ", "))
	}
	of, err := s.score(ctx, i)
	if err != nil {
		return nil, err
	}
	var out []QuestionResult
	for q, w := range s.groups[at].weight {
		if w == 0 {
			continue
		}
		r := QuestionResult{Problem: s.problems[q].ID, Weight: w, Accuracy: of.accuracy[q], USD: of.usd[q], Tokens: of.tokens[q], Chosen: of.chosen[q]}
		if of.verdicts != nil {
			r.Verdicts = of.verdicts[q]
		}
		if s.folds != nil {
			r.Folds = s.folds[q]
		}
		out = append(out, r)
	}
	return out, nil
}

// Problem returns what is behind a problem of a test benchmark: what the experts did, what the row, or every row if row
// is empty, decided on it, and the cells that it enters. An empty set is the one that has the problem.
func (t *Trail) Problem(ctx context.Context, set, id, row string) (*ProblemResult, error) {
	sets, rows, err := t.asked(set, row)
	if err != nil {
		return nil, err
	}
	has := func(s *trailSet) int {
		return slices.IndexFunc(s.problems, func(p routing.Problem) bool { return p.ID == id })
	}
	var of []*trailSet
	for _, s := range sets {
		if has(s) >= 0 {
			of = append(of, s)
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
		if set != "" || t.e.recorded != nil && len(sets) > 1 {
			which = " --set " + sets[0].name
		}
		return nil, fmt.Errorf("%w: no test problem %q; near are %s; list those of a benchmark: entrorouter show %s --row ROW --benchmark %s%s", ErrUsage, id, strings.Join(near, ", "), t.e.spec.Named, sets[0].groups[0].name, which)
	case len(of) > 1:
		return nil, fmt.Errorf("%w: problem %s is in %d pools; say which with --set: %s", ErrUsage, id, len(of), names(of))
	}
	s, q := of[0], has(of[0])
	p := s.problems[q]
	out := &ProblemResult{Set: s.name, Problem: Question{p.ID, p.Benchmark, p.Text, p.Gold, p.Options, p.Tolerance, p.Level}, Decisions: []DecisionResult{}, Enters: []Entry{}}
	if rows = slices.DeleteFunc(rows, func(i int) bool { return !s.covers(i) }); row != "" && len(rows) == 0 {
		return nil, fmt.Errorf("%w: row %s reads graded answers and is not scored on set %s, which has problem %s and no answers; leave --row out", ErrUsage, row, s.name, id)
	}
	if err := s.behind(ctx, q, rows, out); err != nil {
		return nil, err
	}
	for _, i := range rows {
		of, err := s.score(ctx, i)
		if err != nil {
			return nil, err
		}
		for _, g := range s.groups {
			if w := g.weight[q]; w > 0 {
				out.Enters = append(out.Enters, Entry{s.name, t.e.spec.Experiment.Methods[i].RowID(), g.name, w, of.accuracy[q], of.usd[q]})
			}
		}
	}
	return out, nil
}

// score scores a row once.
func (s *trailSet) score(ctx context.Context, row int) (*standing, error) {
	if of := s.scored[row]; of != nil {
		return of, nil
	}
	of, err := s.standing(ctx, row)
	if err != nil {
		return nil, err
	}
	if s.scored == nil {
		s.scored = map[int]*standing{}
	}
	s.scored[row] = of
	return of, nil
}

// named returns the set of a name, or all.
func (t *Trail) named(set string) ([]*trailSet, error) {
	if set == "" {
		return t.sets, nil
	}
	i := slices.IndexFunc(t.sets, func(s *trailSet) bool { return s.name == set })
	if i < 0 {
		return nil, fmt.Errorf("%w: experiment %s has no set %q; it has: %s", ErrUsage, t.e.spec.Experiment.Name, set, names(t.sets))
	}
	return t.sets[i : i+1], nil
}

func names(sets []*trailSet) string {
	var of []string
	for _, s := range sets {
		of = append(of, s.name)
	}
	return strings.Join(of, ", ")
}

// rows returns the index of a row, or those of all.
func (t *Trail) rows(id string) ([]int, error) {
	var all []int
	var ids []string
	for i, m := range t.e.spec.Experiment.Methods {
		if m.RowID() == id {
			return []int{i}, nil
		}
		all, ids = append(all, i), append(ids, m.RowID())
	}
	if id != "" {
		return nil, fmt.Errorf("%w: experiment %s has no row %q; it has: %s", ErrUsage, t.e.spec.Experiment.Name, id, strings.Join(ids, ", "))
	}
	return all, nil
}

// even gives the questions that belong the same weight.
func even(n int, belongs func(q int) bool) []float64 {
	weight := make([]float64, n)
	of := 0.0
	for q := range weight {
		if belongs(q) {
			weight[q] = 1
			of++
		}
	}
	for q := range weight {
		if of > 0 {
			weight[q] /= of
		}
	}
	return weight
}

// size is how many questions have a weight.
func (g trailGroup) size() (n int) {
	for _, w := range g.weight {
		if w > 0 {
			n++
		}
	}
	return n
}
