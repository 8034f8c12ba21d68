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
	"github.com/entrorouter/entrorouter/verify"
)

// Trail is that of one experiment. Rows are scored on sets of questions: the arenas of protocol split, the pools of
// protocol folds.
type Trail struct {
	experiment, named string
	rows              []string // ids, in the order of the spec
	answers           Answers
	sets              []*set
}

// Answers are the responses that experts gave on the arena of the paper's sizes.
type Answers interface {
	// Rollouts returns what every expert answered to a problem in so many runs and why it got its verdict; of the model
	// that plays the router too, if self.
	Rollouts(ctx context.Context, p routing.Problem, runs int, self bool) ([]RolloutResult, error)
	// Answered returns to which of some problems a rollout is the answer; ok is false if to none.
	Answered(ctx context.Context, rollout store.RolloutID, problems []routing.Problem) (p routing.Problem, ok bool, err error)
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

// Cell is one number of a table with its dollars: a row on a benchmark, on all ("avg", of recordings "all") or on a
// stratum of difficulty ("easy", "medium", "hard").
type Cell struct {
	Set       string   `json:"set"` // arena or pool
	Row       string   `json:"row"`
	Benchmark string   `json:"benchmark"`
	Questions int      `json:"questions"`
	Runs      int      `json:"runs,omitempty"`       // of each question; none where benchmarks have their own
	Accuracy  float64  `json:"accuracy"`             // percent, mean over questions, runs and training seeds or partitions
	USD       float64  `json:"usd"`                  // of one pass over the questions
	PerQuery  float64  `json:"usd_per_query"`        // dollars a question
	CostShare *float64 `json:"cost_share,omitempty"` // percent of what always asking the strongest expert costs; none where that is nothing

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

// RolloutResult is one response of an expert and why it got its verdict, or why there is none.
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
	ID        store.RolloutID `json:"rollout"` // in rollouts.db; 0: there is no answer
	Prompt    string          `json:"prompt"`  // the message that was sent
	Response  string          `json:"response"`
	Reasoning string          `json:"reasoning,omitempty"` // thinking that the server sent apart
	Failure   *FailureResult  `json:"failure,omitempty"`   // why there is no answer; nil: there is one
}

// FailureResult is what became of a request without an answer.
type FailureResult struct {
	Class string `json:"class"`
	Error string `json:"error"`
	Again bool   `json:"again"` // a run asks again
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
	Unscored  []string         `json:"unscored,omitempty"` // models that did not answer in every run, so that nobody is scored on it
	Decisions []DecisionResult `json:"decisions"`
	Enters    []Entry          `json:"enters"` // the cells of every row asked for
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

// SetResult is a set of questions that rows are scored on.
type SetResult struct {
	Set      string
	Experts  []string // ids; the model that plays the router is the last of them, where its answers are known
	Problems []Listed // those that are scored for nobody last
}

// Listed is a question of a set.
type Listed struct{ ID, Benchmark string }

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
		for _, id := range rows {
			r, ok := s.Row(id)
			if !ok {
				continue
			}
			of, err := s.score(r)
			if err != nil {
				return nil, err
			}
			for _, g := range s.groups {
				c := s.cell(id, g, of)
				if g.name == metrics.Average {
					c.Gain = s.gain(r, metrics.Point{Cost: c.PerQuery, Quality: c.Accuracy})
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
	return fmt.Errorf("%w: row %s reads graded answers and is not scored on set %s, which has none; leave --set out", spec.ErrUsage, row, set)
}

func (s *set) cell(row string, g group, of *standing) Cell {
	c := Cell{Set: s.Title(), Row: row, Benchmark: g.name, Runs: g.runs}
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
	if strongest > 0 {
		share := 100 * c.PerQuery / strongest
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
		return nil, fmt.Errorf("%w: experiment %s has no benchmark %q on set %s; it has: %s", spec.ErrUsage, t.experiment, benchmark, s.Title(), strings.Join(known, ", "))
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
	return nil, fmt.Errorf("%w: experiment %s has no row %q; it has: %s", spec.ErrUsage, t.experiment, id, strings.Join(t.rows, ", "))
}
