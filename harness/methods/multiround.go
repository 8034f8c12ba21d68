// What the rows of Router-R1 and xRouter that are trained here have in common.

package methods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/table"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// multiRound is what Router-R1 and xRouter have in common: a policy that asks experts, one after the other, or answers
// itself, trained by reinforcement learning in the environment of package theory. The environment is built from the
// training problems: of each, the measured pass rates of the probe, which plays the router, and of the experts, and the
// experts' measured mean dollars. What it cannot take from anywhere is how often a router uses what an expert tells it.
// That is one number, the assimilation, and every row that follows from it has to be labelled so.
//
// The policy is a network of one hidden layer or a language model, see decoder. The network sees how many calls have been made and of whom last, and of the text
// one number for the router and for each expert: the logit of its pass rate by a logistic regression on the text, fitted
// to the problems of Stage I. The reinforcement learning runs on those of Stage II.
//
// Of the answers that a router has seen, the one stands whose author has the highest mean pass rate on the training
// problems, the router among them; which answer to a problem is right it does not know. A call that is not assimilated
// takes a share of the router's own rate, see theory.Environment. When a trained policy routes, coins for assimilation
// are thrown by problem, run and call; that share is not thrown but scored by its expectation. A second call of an expert
// gets the answer of the first, which is all that recorded outcomes hold, and is paid again.
type multiRound struct {
	name                                                           string
	assimilation, distraction, coldStart, formatFail, regressionL2 float64
	horizon                                                        int
	selects                                                        bool
	reward                                                         theory.Reward
	training                                                       theory.Training
	unit                                                           func(usd []float64) float64 // dollars -> the unit of the reward's costs; usd are the mean dollars of a call [M]
	decoding                                                       string
	memory                                                         *features.Texts
	fits                                                           *predict.Fits
	anchor                                                         *spec.Anchor // nil: none
	lm                                                             *decoder     // nil: a small network
}

// multiRoundFeatures are those of the texts: logistic's, with fewer buckets, since the policy reads nothing but the regressions.
func multiRoundFeatures() spec.Features {
	return spec.Features{Read: []string{spec.ReadStructure, spec.ReadWords}, Words: spec.Words{Buckets: 1024, NGrams: wordNGrams}}
}

// multiRoundL2 is the penalty of the regressions.
const multiRoundL2 = 3

func (r *multiRound) fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	router, err := r.learn(ctx, train, work)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", r.name, err)
	}
	return router, nil
}

func (r *multiRound) learn(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	if len(train.SFT) == 0 || len(train.RL) == 0 {
		return nil, fmt.Errorf("no training problem to learn from in one of the stages (%d, %d)", len(train.SFT), len(train.RL))
	}
	sight, err := r.look(ctx, train)
	if err != nil {
		return nil, err
	}
	problems := slices.Clone(train.RL)
	routing.InHashOrder(problems)
	seen, err := sight(ctx, routing.Texts(problems))
	if err != nil {
		return nil, err
	}
	m := len(train.Experts)
	c := append([]float64{0}, train.C...)
	usd, pass := routing.Means(problems, m)
	unit := r.unit(usd)
	e := &theory.Environment{
		Cost: make([]float64, m), Trust: append([]float64{0}, pass...),
		Horizon: r.horizon, Assimilation: r.assimilation, Distraction: r.distraction, FormatFail: r.formatFail, Select: r.selects,
	}
	for i, x := range problems {
		e.Trust[0] += x.Probe / float64(len(problems))
		b := seen[i]
		b.Share, b.Self, b.Expert = 1, x.Probe, x.Kappa
		if a := r.anchor; a != nil {
			for _, l := range routing.LogAnchor(routing.Utility(append([]float64{x.Probe}, x.Kappa...), c, a.Alpha), a.T) {
				b.Anchor = append(b.Anchor, a.Strength*a.T*l)
			}
		}
		for _, v := range x.USD {
			b.Cost = append(b.Cost, v*unit)
		}
		e.Buckets = append(e.Buckets, b)
	}
	t := r.training
	t.InitialCall, t.LogEvery, t.Seed = r.coldStart, 1, uint64(work.Seed.Derive(r.name))
	out := &multiRoundRouter{multiRound: r, sight: sight, seed: work.Seed}
	var curve []theory.Snapshot
	if r.lm != nil {
		out.policy, curve, out.model, err = r.lm.teach(ctx, e, r.reward, t, train, work)
	} else {
		out.policy, curve, err = theory.Learn(ctx, e, r.reward, t)
	}
	if err != nil {
		return nil, err
	}
	last := curve[len(curve)-1]
	work.Log.Debug("multi-round policy trained", "method", r.name, "call_rate", last.CallRate, "calls", last.Calls, "accuracy", last.Accuracy, "reward", last.Reward)
	if work.Dir != "" {
		if err := writeCourse(filepath.Join(work.Dir, stages.CurveFile), train.Experts, curve, unit); err != nil {
			return nil, errors.Join(err, out.Close())
		}
	}
	return out, nil
}

// look returns what the policy sees of texts: a network what sight has, a language model the text.
func (r *multiRound) look(ctx context.Context, train routing.TrainSet) (func(ctx context.Context, texts []string) ([]theory.Bucket, error), error) {
	if r.lm != nil {
		return func(_ context.Context, texts []string) ([]theory.Bucket, error) {
			seen := make([]theory.Bucket, len(texts))
			for i, text := range texts {
				seen[i].Text = text
			}
			return seen, nil
		}, nil
	}
	penalty := []float64{r.regressionL2}
	key, err := predict.KeyOfFit("sight", multiRoundFeatures(), penalty, train.SFT, func(e routing.Example) []float64 { return append([]float64{e.Probe}, e.Kappa...) })
	if err != nil {
		return nil, err
	}
	of, err := predict.Once(r.fits, key, func() (*sight, error) { return newSight(ctx, train.SFT, len(train.Experts), penalty, r.memory) })
	if err != nil {
		return nil, err
	}
	return of.buckets, nil
}

// sight is what a network sees of texts: [1+M] features, standardised logits of the pass rates of the router and of each expert. It keeps
// those of every text that it was asked about, since rows and seeds ask about the same ones. It is safe for concurrent use.
type sight struct {
	features        features.Set
	fits            learn.Logits
	mean, deviation []float64

	lock  sync.Mutex
	known map[string][]float64
}

func newSight(ctx context.Context, examples []routing.Example, experts int, penalty []float64, memory *features.Texts) (*sight, error) {
	c, err := predict.NewCorpus(ctx, slices.Clone(examples), len(examples), features.Reading{Of: multiRoundFeatures(), Memory: memory}, features.Set.Rows)
	if err != nil {
		return nil, err
	}
	rates := predict.Labels(c.Examples, 1+experts, func(e routing.Example, who int) float64 {
		if who == 0 {
			return e.Probe
		}
		return e.Kappa[who-1]
	})
	s := &sight{features: c.Set, mean: make([]float64, 1+experts), deviation: make([]float64, 1+experts), known: map[string][]float64{}}
	if s.fits, _, err = learn.FitLogits(ctx, learn.NewDesign(c.Rows, c.Width()), rates, penalty); err != nil {
		return nil, err
	}
	found := s.logits(c.Rows)
	for _, x := range found {
		for i, v := range x {
			s.mean[i] += v / float64(len(found))
		}
	}
	for _, x := range found {
		for i, v := range x {
			s.deviation[i] += (v - s.mean[i]) * (v - s.mean[i]) / float64(len(found))
		}
	}
	return s, nil
}

func (s *sight) logits(rows []policy.Row) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		for _, fit := range s.fits {
			out[i] = append(out[i], fit.At(row))
		}
	}
	return out
}

func (s *sight) buckets(ctx context.Context, texts []string) ([]theory.Bucket, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	unseen := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return s.known[text] != nil })
	rows, err := s.features.Rows(ctx, unseen)
	if err != nil {
		return nil, err
	}
	for k, x := range s.logits(rows) {
		for i := range x {
			x[i] = (x[i] - s.mean[i]) / math.Sqrt(s.deviation[i]+1e-8)
		}
		s.known[unseen[k]] = x
	}
	seen := make([]theory.Bucket, len(texts))
	for k, text := range texts {
		seen[k].Features = s.known[text]
	}
	return seen, nil
}

// writeCourse writes what a policy did in every step of its training, on the episodes that it learned from. Costs are
// dollars an episode. What is not defined, as an accuracy given calls where there is none, is left empty.
func writeCourse(path string, experts []routing.Expert, curve []theory.Snapshot, unit float64) error {
	return replaceFile(path, func(w io.Writer) error {
		out := table.NewWriter(w, course(routing.IDs(experts)))
		for _, s := range curve {
			s.Cost /= unit
			out.Write(s)
		}
		return out.Flush()
	})
}

// ReadCourse reads the curve that a multi-round row left behind that was trained here on a pool of these experts, costs in dollars.
func ReadCourse(file string, r io.Reader, experts []string) (curve []theory.Snapshot, err error) {
	return curve, table.Read(file, r, course(experts), func(s theory.Snapshot) error {
		curve = append(curve, s)
		return nil
	})
}

// course are the columns of a step.
func course(experts []string) []table.Column[theory.Snapshot] {
	columns := []table.Column[theory.Snapshot]{
		table.Int("step", func(s *theory.Snapshot) *int { return &s.Step }),
		table.Measured("reward", 6, func(s *theory.Snapshot) *float64 { return &s.Reward }),
		table.Measured("call_rate", 6, func(s *theory.Snapshot) *float64 { return &s.CallRate }),
		table.Measured("calls", 6, func(s *theory.Snapshot) *float64 { return &s.Calls }),
		table.Measured("format_rate", 6, func(s *theory.Snapshot) *float64 { return &s.Format }),
		table.Measured("entropy", 6, func(s *theory.Snapshot) *float64 { return &s.Entropy }),
		table.Measured("accuracy", 6, func(s *theory.Snapshot) *float64 { return &s.Accuracy }),
		table.Measured("accuracy_given_call", 6, func(s *theory.Snapshot) *float64 { return &s.AccuracyCall }),
		table.Measured("accuracy_given_none", 6, func(s *theory.Snapshot) *float64 { return &s.AccuracyNone }),
		table.Measured("usd", 9, func(s *theory.Snapshot) *float64 { return &s.Cost }),
	}
	for m, id := range experts {
		columns = append(columns, table.Measured("call_rate:"+id, 6, func(s *theory.Snapshot) *float64 {
			if s.Expert == nil {
				s.Expert = make([]float64, len(experts))
			}
			return &s.Expert[m]
		}))
	}
	return columns
}

// multiRoundRouter walks a trained policy through a problem.
type multiRoundRouter struct {
	*multiRound
	policy *theory.Policy
	model  io.Closer // of a language model; nil: none
	sight  func(ctx context.Context, texts []string) ([]theory.Bucket, error)
	seed   seed.Seed
}

// Close frees the language model, if there is one.
func (r *multiRoundRouter) Close() error {
	if r.model == nil {
		return nil
	}
	return r.model.Close()
}

func (r *multiRoundRouter) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	texts, index := distinctTexts(queries)
	seen, err := r.sight(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	out := make([]routing.Decision, len(queries))
	for i, q := range queries {
		c := r.policy.Play(seen[index[q.Problem.Text]], throw{r, q})
		d := routing.Decision{Problem: q.Problem.ID, Run: q.Run, Prob: c.First, Expert: c.Expert, Calls: []routing.Call{}}
		for _, m := range c.Calls {
			d.Calls = append(d.Calls, routing.Call{Expert: m})
		}
		if c.Expert < 0 {
			d.Expert, d.Spoiled = routing.Self, 1-math.Pow(1-r.distraction, float64(c.Ignored))
			if c.Broken {
				d.Spoiled = 1
			}
		}
		out[i] = d
	}
	if err := r.policy.Err(); err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	return out, nil
}

// throw throws the coins of one query, each from a stream of its own.
type throw struct {
	*multiRoundRouter
	q routing.Query
}

func (t throw) coin(what string, calls int) float64 {
	return t.seed.Derive(what, t.q.Problem.ID, t.q.Run, calls).Uniform()
}

// Choose implements theory.Coins.
func (t throw) Choose(calls int, probs []float64) int {
	if t.decoding == "sample" {
		return routing.Draw(probs, t.coin("decode", calls))
	}
	return slices.Index(probs, slices.Max(probs))
}

// Malformed implements theory.Coins.
func (t throw) Malformed(calls int) bool { return t.coin("format", calls) < t.formatFail }

// Assimilated implements theory.Coins.
func (t throw) Assimilated(calls int) bool { return t.coin("assimilate", calls) < t.assimilation }
