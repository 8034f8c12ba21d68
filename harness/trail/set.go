// One arena as the trail goes through it: what rows got on every question, and what is behind a question.

package trail

import (
	"context"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
)

// set is an arena with what tables average over.
type set struct {
	*book.Arena
	problems []routing.Problem // [Q]
	groups   []group
	alone    []book.Scores // [M] what always asking each expert gets and pays
	scored   map[string]*standing
	read     map[string][]routing.Decision // by the folder of the entry: questions are asked about one after the other
}

// group is a column of a table: a benchmark, their average, a stratum.
type group struct {
	name   string
	runs   int
	weight []float64 // [Q], sums to 1
	pass   float64   // questions of one pass, which dollars are counted for
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

func (s *set) recorded() bool { return s.Name == book.Recorded }

// runs is how often a question was asked.
func (s *set) runs(q int) int { return s.Benchmarks[s.Strata[q]].Runs }

func newSet(a *book.Arena, whole bool) *set {
	n := len(a.Strata)
	s := &set{Arena: a, problems: make([]routing.Problem, n), scored: map[string]*standing{}, read: map[string][]routing.Decision{}}
	for i, q := range a.Question {
		s.problems[q] = a.Queries[i].Problem
	}
	for m := range a.Experts {
		s.alone = append(s.alone, a.Score(a.Always(m)))
	}
	average := group{name: metrics.Average, pass: a.Total(), weight: make([]float64, n)}
	for b, bench := range a.Benchmarks {
		g := group{name: bench.Name, runs: bench.Runs, pass: bench.Pass, weight: even(n, func(q int) bool { return a.Strata[q] == b })}
		for q, w := range g.weight {
			average.weight[q] += w * bench.Pass / average.pass
		}
		s.groups = append(s.groups, g)
	}
	if s.recorded() {
		// Every question weighs the same, whatever its benchmark.
		all := group{name: metrics.BothStrata, runs: 1, pass: float64(n), weight: even(n, func(int) bool { return true })}
		if whole {
			s.groups = nil
		}
		s.groups = append([]group{all}, s.groups...)
		return s
	}
	s.groups = append(s.groups, average)
	if a.Name == metrics.PaperArena && a.Best != nil {
		for k, name := range score.Difficulties {
			g := group{name: name, weight: even(n, func(q int) bool { return score.Difficulty(a.Best[q], len(a.Experts)) == k })}
			if g.pass = float64(g.size()); g.pass > 0 {
				s.groups = append(s.groups, g)
			}
		}
	}
	return s
}

// gain is the hull gain of a row on the average, and the coin flips that it is measured from, both averaged over its trainings.
func (s *set) gain(r book.Row, of *standing) *Gain {
	average := s.groups[slices.IndexFunc(s.groups, func(g group) bool { return g.name == metrics.Average })]
	point := func(accuracy, usd []float64) (p metrics.Point) {
		for q, w := range average.weight {
			p.Quality += w * accuracy[q]
			p.Cost += w * usd[q]
		}
		return p
	}
	var fixed []metrics.Point
	ids := s.IDs()
	for _, c := range s.alone {
		fixed = append(fixed, point(c.Accuracy, c.USD))
	}
	if s.Self != nil && methods.AnswersItself(r.Kind) {
		own := s.Score(s.Always(routing.Self))
		fixed, ids = append(fixed, point(own.Accuracy, own.USD)), append(ids, routing.SelfID)
	}
	hull, vertices := metrics.UpperHull(fixed), metrics.Vertices(fixed)
	out := &Gain{Coin: map[string]float64{}}
	each := 1 / float64(len(of.trainings))
	for _, t := range of.trainings {
		at := point(t.accuracy, t.usd)
		out.Points += each * hull.Gain(at)
		out.Accuracy += each * hull.At(at.Cost)
		for i, share := range hull.Shares(at.Cost) {
			if share > 0 {
				out.Coin[ids[vertices[i]]] += each * share
			}
		}
	}
	return out
}

// foldGain is the hull gain of a row on some questions of a recording, of which it gets so much accuracy.
func (s *set) foldGain(r book.Row, g group, of *standing, accuracy float64) *FoldGain {
	var quality, usd [][]float64 // [M] of always asking one expert
	for _, c := range s.alone {
		quality, usd = append(quality, inside(g, c.Accuracy)), append(usd, inside(g, c.USD))
	}
	ones := slices.Repeat([]float64{1}, g.size())
	points := 0.0
	for i, t := range of.trainings {
		paths := metrics.NewFolds(inside(g, r.Trainings[i].Fold), quality, usd).Under(ones)
		points += paths.Gain(paths.Points(inside(g, t.accuracy), inside(g, t.usd))) / float64(len(of.trainings))
	}
	return &FoldGain{points, accuracy - points}
}

// each hands the rows of those ids that the set has to do, with what they got and paid.
func (s *set) each(ids []string, do func(book.Row, *standing)) error {
	for _, id := range ids {
		r, ok := s.Row(id)
		if !ok {
			continue
		}
		of, err := s.score(r)
		if err != nil {
			return err
		}
		do(r, of)
	}
	return nil
}

// score scores a row once.
func (s *set) score(r book.Row) (*standing, error) {
	if of := s.scored[r.ID]; of != nil {
		return of, nil
	}
	n := len(s.Strata)
	out := &standing{}
	if s.Name != metrics.LargeArena {
		out.verdicts = make([]map[routing.Bucket]float64, n)
	}
	var scores []book.Scores
	for _, t := range r.Trainings {
		decisions, err := s.decisions(t)
		if err != nil {
			return nil, err
		}
		c := s.Score(decisions)
		scores = append(scores, c)
		out.trainings = append(out.trainings, training{t.Seed, c.Accuracy, c.USD})
		if out.verdicts == nil {
			continue
		}
		for k, d := range decisions {
			q := s.Question[k]
			if out.verdicts[q] == nil {
				out.verdicts[q] = map[routing.Bucket]float64{}
			}
			for i, weight := range s.At(k).Score([]routing.Decision{d}).Buckets[0] {
				if weight > 0 {
					out.verdicts[q][routing.Buckets[i]] += weight / float64(s.runs(q)*len(r.Trainings))
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
					chosen[s.Experts[m].ID] += share / float64(len(scores))
				}
			}
		}
		if own[q] > rounding {
			chosen[routing.SelfID] = own[q]
		}
		out.chosen = append(out.chosen, chosen)
	}
	s.scored[r.ID] = out
	return out, nil
}

// rounding is what sums of shares may be off by.
const rounding = 1e-9

// first is the first query of a question; those of its other runs follow.
func (s *set) first(q int) int { return slices.Index(s.Question, q) }

// tallies counts what the experts' answers to a question came to.
func (s *set) tallies(q int) (all []Tally) {
	first, runs := s.first(q), s.runs(q)
	of := func(outcome func(k int) routing.Outcome) {
		t := Tally{Buckets: map[routing.Bucket]int{}}
		for k := first; k < first+runs; k++ {
			o := outcome(k)
			t.Buckets[o.Bucket]++
			t.USD += o.USD / float64(runs)
		}
		all = append(all, t)
	}
	for m := range s.Experts {
		of(func(k int) routing.Outcome { return s.Outcomes[k][m] })
	}
	if s.Self != nil {
		of(func(k int) routing.Outcome { return s.Self[k] })
	}
	return all
}

// outcomes adds what is known of a question and what experts did on it: their answers, or outcomes where there are none.
func (s *set) outcomes(ctx context.Context, answers Answers, q int, out *ProblemResult) (err error) {
	first := s.first(q)
	if s.Latents != nil {
		l := s.Latents[q]
		out.Latent = &LatentResult{l.Cell, l.Topic, l.Difficulty}
	}
	if s.Name == metrics.PaperArena {
		out.Rollouts, err = answers.Rollouts(ctx, s.problems[q], s.runs(q), s.Self != nil)
		return err
	}
	add := func(id string, o routing.Outcome) {
		out.Outcomes = append(out.Outcomes, OutcomeResult{id, o.Correct, o.Bucket, o.Out, o.USD})
	}
	for m, x := range s.Experts {
		add(x.ID, s.Outcomes[first][m])
	}
	if s.Self != nil {
		add(s.Probe, s.Self[first])
	}
	return nil
}

// decisions reads what a training decided, once. They are not to be changed.
func (s *set) decisions(t book.Training) ([]routing.Decision, error) {
	if known, ok := s.read[t.Entry.Dir]; ok {
		return known, nil
	}
	decisions, err := s.Arena.Decisions(t)
	if err == nil {
		s.read[t.Entry.Dir] = decisions
	}
	return decisions, err
}

// decided returns what a row decided on every run of a question, training by training.
func (s *set) decided(r book.Row, q int) (out []DecisionResult, err error) {
	first := s.first(q)
	for _, t := range r.Trainings {
		decisions, err := s.decisions(t)
		if err != nil {
			return nil, err
		}
		for k := first; k < first+s.runs(q); k++ {
			of := s.describe(decisions[k])
			of.Row, of.Seed = r.ID, t.Seed
			if t.Fold != nil {
				of.Fold = t.Fold[q]
			}
			got := s.At(k).Score(decisions[k : k+1])
			of.Accuracy, of.USD = got.Accuracy[0], got.USD[0]
			out = append(out, of)
		}
	}
	return out, nil
}

// describe describes a decision.
func (s *set) describe(d routing.Decision) DecisionResult {
	r := DecisionResult{Run: d.Run, Expert: "expected", Spoiled: d.Spoiled, Prob: map[string]float64{}, OwnTokens: d.Usage.In + d.Usage.Out}
	switch {
	case d.Expert == routing.Self:
		r.Expert = routing.SelfID
	case d.Expert != routing.Expected:
		r.Expert = s.Experts[d.Expert].ID
	}
	for _, c := range d.Calls {
		r.Calls = append(r.Calls, s.Experts[c.Expert].ID)
	}
	if d.Answer != nil {
		r.Answer, r.Bucket = d.Answer.Text, d.Answer.Bucket
	}
	for m, p := range d.Prob {
		r.Prob[s.Experts[m].ID] = p
	}
	return r
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

// inside is a column of the questions that have a weight.
func inside[T any](g group, column []T) (out []T) {
	for q, w := range g.weight {
		if w > 0 {
			out = append(out, column[q])
		}
	}
	return out
}

// size is how many questions have a weight.
func (g group) size() (n int) {
	for _, w := range g.weight {
		if w > 0 {
			n++
		}
	}
	return n
}
