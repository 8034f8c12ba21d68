// The nouns of routing: queries, decisions, calls, answers and their grades.

package routing

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Query is one question put to a router: a problem in one evaluation run. Random streams are derived from both.
type Query struct {
	Problem Problem
	Run     int
}

// Call is one expert call that a router made before it answered.
type Call struct {
	Expert int        // index into the pool
	Usage  cost.Usage // where the decision has an Answer; elsewhere the call is the expert's rollout on the query
}

// Answer is what a router that talks to experts itself has to say in the end: its own words or an expert's.
type Answer struct {
	Text   string
	Bare   bool   // Text is an answer and nothing else
	Finish Finish // of the message that holds it
	Bucket Bucket // of its grade; empty: not graded yet
}

// Grade returns where an answer to p is counted. A bare one is compared as it is, unless it has a box.
func (p Problem) Grade(a Answer) Bucket {
	switch {
	case a.Finish == Length:
		return Truncated
	case strings.TrimSpace(a.Text) == "":
		return NoAnswer
	case a.Bare && !strings.Contains(a.Text, `\boxed`):
		return BucketOf(p.Key().Equal(a.Text))
	}
	return BucketOf(p.Key().Grade(a.Text))
}

// Self as Decision.Expert says that the router answers the problem itself, without an expert or in spite of those it
// has asked. Its answer is Decision.Answer or, if that is nil, the rollout of the model that plays the router: the probe
// of the pool. It costs tokens of the router and no dollars, as all that a router writes.
const Self = -2

// SelfID stands for the router itself where experts are named.
const SelfID = "self"

// Expected as Decision.Expert scores a decision by its expectation over Prob instead of one expert's rollout:
// the closed form of rows that flip coins.
const Expected = -1

// Decision says which expert answers a query.
type Decision struct {
	Problem string
	Run     int
	Prob    []float64  // [M], sums to 1: the router's distribution over experts; to less for a router that may answer itself, of its first move
	Expert  int        // the expert whose answer stands, index into the pool; or Self; or Expected
	Calls   []Call     // calls made on the way, in order, all of them paid; nil: Expert's alone
	Spoiled float64    // with Self: probability that calls have talked the router out of a right answer of its own
	Answer  *Answer    // what the router said, scored with the usage of Calls; nil: rollouts are scored, the chosen expert's or the router's own
	Usage   cost.Usage // the router's own tokens
}

// Asked returns how many calls of each expert the decision pays for, [M]: those of Calls, else one of Expert, the
// shares of Prob if it is scored by its expectation, or none if the router answers itself.
func (d Decision) Asked(experts int) []float64 {
	n := make([]float64, experts)
	switch {
	case d.Calls != nil:
		for _, c := range d.Calls {
			n[c.Expert]++
		}
	case d.Expert == Expected:
		copy(n, d.Prob)
	case d.Expert != Self:
		n[d.Expert] = 1
	}
	return n
}

// Paid returns the dollars of the decision's own calls, which have a usage where it carries its answer.
func (d Decision) Paid(experts []Expert, countInput bool) (usd float64) {
	for _, c := range d.Calls {
		usd += experts[c.Expert].Price.USD(c.Usage, countInput)
	}
	return usd
}

// OneHot returns a distribution over n experts with all mass on m.
func OneHot(n, m int) []float64 {
	p := make([]float64, n)
	p[m] = 1
	return p
}

// Choices are the decisions for one expert each. They share their distributions.
func Choices(queries []Query, experts int, choose func(i int, q Query) int) []Decision {
	all := make([][]float64, experts)
	for m := range all {
		all[m] = OneHot(experts, m)
	}
	d := make([]Decision, len(queries))
	for i, q := range queries {
		m := choose(i, q)
		d[i] = Decision{Problem: q.Problem.ID, Run: q.Run, Prob: all[m], Expert: m}
	}
	return d
}

// Draw returns the expert that a uniform number in [0,1) picks from a distribution.
func Draw(prob []float64, u float64) int {
	for m, p := range prob {
		if u -= p; u < 0 {
			return m
		}
	}
	return len(prob) - 1
}

// Router maps queries to decisions, in the same order. Safe for use by one goroutine at a time.
type Router interface {
	Route(ctx context.Context, queries []Query) ([]Decision, error)
}

// HindsightRouter is a yardstick that reads the outcomes of the very queries it routes (the oracle rows).
// outcomes is [len(queries)][M]. It is a separate method so that no other router can be handed outcomes.
type HindsightRouter interface {
	RouteKnowing(ctx context.Context, queries []Query, outcomes [][]Outcome) ([]Decision, error)
}

// Frontier is a router that sends every query to one expert. One knob moves its operating point, without fitting again.
type Frontier interface {
	Router
	// Knobs returns the settings that sweep the router from its dearest to its cheapest end.
	Knobs() []float64
	// Weigh reads queries once, for all settings.
	Weigh(ctx context.Context, queries []Query) (Choice, error)
}

// Choice is what a Frontier makes of queries.
type Choice struct {
	Experts int
	At      func(i int, knob float64) int // the expert that query i goes to, an index into the pool; safe for concurrent use
}

// RouteAt routes at one setting of a knob.
func RouteAt(ctx context.Context, f Frontier, queries []Query, knob float64) ([]Decision, error) {
	c, err := f.Weigh(ctx, queries)
	if err != nil {
		return nil, err
	}
	return Choices(queries, c.Experts, func(i int, _ Query) int { return c.At(i, knob) }), nil
}

// Predictor is a router that decides by how likely it takes each expert to answer a question right.
type Predictor interface {
	Router
	// PassRates returns the probabilities, [len(queries)][M], each from 0 to 1.
	PassRates(ctx context.Context, queries []Query) ([][]float64, error)
}

// Benchmarked is a router that decides by the benchmark that a question is of, and not by its text.
type Benchmarked interface {
	Benchmarks() []string // that it was fitted on, sorted
}

// Method is one row of a table: it fits a router.
type Method interface {
	// Name is the kind of method, as written in a spec.
	Name() string
	// Fit must depend on its arguments alone and honour ctx. A method that does not learn ignores train.
	Fit(ctx context.Context, train TrainSet, work Work) (Router, error)
}

// Unfit is the error of a Fit that finds nothing to learn from in its training problems. It ends the row, whose numbers are
// then not defined, and not the experiment.
type Unfit struct {
	Why string // one line: no problem is left for Stage II
}

func (u *Unfit) Error() string { return u.Why }

// Example is one profiled training problem.
type Example struct {
	Problem Problem
	Kappa   []float64 // [M] measured pass rates, each k/Samples
	Samples []int     // [M] rollouts behind Kappa
	Tokens  []float64 // [M] mean output tokens
	USD     []float64 // [M] mean dollars a rollout
	Probe   float64   // pass rate of the probe
}

// TrainSet is what a method may learn from.
type TrainSet struct {
	Experts []Expert  // [M] cheapest first
	C       []float64 // [M] C(m) in the experiment's unit
	SFT     []Example // Stage I problems
	RL      []Example // Stage II problems
}

// Examples returns the training problems of both stages, each once.
func (t TrainSet) Examples() []Example {
	seen := make(map[string]bool, len(t.SFT))
	all := make([]Example, 0, len(t.SFT)+len(t.RL))
	for _, stage := range [][]Example{t.SFT, t.RL} {
		for _, e := range stage {
			if !seen[e.Problem.ID] {
				seen[e.Problem.ID] = true
				all = append(all, e)
			}
		}
	}
	return all
}

// Means returns what each expert costs and scores on average over the examples: dollars and pass rate, [M].
func Means(examples []Example, experts int) (usd, acc []float64) {
	usd, acc = make([]float64, experts), make([]float64, experts)
	for _, e := range examples {
		for m := range experts {
			usd[m] += e.USD[m] / float64(len(examples))
			acc[m] += e.Kappa[m] / float64(len(examples))
		}
	}
	return usd, acc
}

// Texts are those of the problems of examples.
func Texts(examples []Example) []string {
	texts := make([]string, len(examples))
	for i, e := range examples {
		texts[i] = e.Problem.Text
	}
	return texts
}

// Questions numbers the questions of examples in hash order, from 0: problems of one text are one question under several ids.
func Questions(examples []Example) []int {
	questions := make([]int, len(examples))
	for i := 1; i < len(examples); i++ {
		questions[i] = questions[i-1]
		if examples[i].Problem.Text != examples[i-1].Problem.Text {
			questions[i]++
		}
	}
	return questions
}

// ProblemIDs are those of the problems of examples.
func ProblemIDs(examples []Example) []string {
	ids := make([]string, len(examples))
	for i, e := range examples {
		ids[i] = e.Problem.ID
	}
	return ids
}

// InHashOrder sorts examples by seed.Hash("99|<id>"): what is fitted does not depend on the caller's order, and any
// first part of them is a random sample. Those of one text stand together, where the one with the least id belongs.
func InHashOrder(examples []Example) {
	least := map[string]string{} // id of each text
	for _, e := range examples {
		if id, ok := least[e.Problem.Text]; !ok || e.Problem.ID < id {
			least[e.Problem.Text] = e.Problem.ID
		}
	}
	type hashed struct {
		key   uint64
		first string
		Example
	}
	all := make([]hashed, len(examples))
	for i, e := range examples {
		first := least[e.Problem.Text]
		all[i] = hashed{seed.Hash("99|" + first), first, e}
	}
	slices.SortFunc(all, func(a, b hashed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.first, b.first), cmp.Compare(a.Problem.Text, b.Problem.Text), cmp.Compare(a.Problem.ID, b.Problem.ID))
	})
	for i, e := range all {
		examples[i] = e.Example
	}
}

// Work is where and how a fit runs.
type Work struct {
	Seed seed.Seed    // training seed of this fit
	Dir  string       // checkpoints and curves are written here; empty: nowhere
	Log  *slog.Logger // never nil

	// Unfinished is a folder that outlives a fit that is stopped: where its training is kept every Every steps and goes on from.
	// Empty: nowhere.
	Unfinished string
	Every      int
	Say        func(text string) // hears how training proceeds; nil: nobody
}
