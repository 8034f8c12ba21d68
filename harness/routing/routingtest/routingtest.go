// Package routingtest has what tests of routers share: planted problems, whose words say who solves them, and the knobs of a network that
// trains on them in a blink.
package routingtest

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Experiment has the knobs of the paper on a network that trains in a blink.
func Experiment() *spec.Experiment {
	return &spec.Experiment{
		Targets:  spec.Targets{Tau: 0.8, K: 2, Gate: true, Soft: true, HardWeight: 2},
		Anchor:   spec.Anchor{Strength: 1, T: 0.25, Alpha: 0.6},
		Reward:   spec.Reward{Kind: "performance", Fail: -3, Gamma: 0.2, Clamp: 0.6, StrongestKappa: "one"},
		Policy:   spec.Policy{Kind: "compact", Buckets: 64, NGrams: 1, Hidden: 8, Backend: "go"},
		SFT:      spec.SFT{Epochs: 8, Batch: 32, LR: 0.02, WarmUp: 0.1},
		GRPO:     spec.GRPO{Estimator: "sampled", Steps: 10, Batch: 32, Group: 8, LR: 0.01, ClipLow: 0.2, ClipHigh: 0.2, DualClip: 3, StdNorm: true, Epochs: 1},
		Evaluate: spec.Evaluate{Decoding: "argmax"},
	}
}

// Work is that of a fit that leaves nothing and says nothing.
func Work(s seed.Seed) routing.Work {
	return routing.Work{Seed: s, Log: slog.New(slog.DiscardHandler)}
}

// Pool is three experts, cheapest first: small, medium, large.
func Pool() []routing.Expert {
	return []routing.Expert{
		{ID: "small", Price: cost.Price{Out: 0.1}},
		{ID: "medium", Price: cost.Price{Out: 0.4}},
		{ID: "large", Price: cost.Price{Out: 1}},
	}
}

// Route has a router decide, which it must do for each query.
func Route(t testing.TB, r routing.Router, qs []routing.Query) []routing.Decision {
	t.Helper()
	d, err := r.Route(t.Context(), qs)
	if err != nil {
		t.Fatal(err)
	}
	if len(d) != len(qs) {
		t.Fatalf("%d decisions for %d queries", len(d), len(qs))
	}
	return d
}

// FillerWords stand in easy and in hard problems.
var FillerWords = strings.Fields("the of and to number find each total value when there")

// Words of easy and of hard problems.
var (
	easyWords = strings.Fields("apples pears basket coins buys gives sells boxes")
	hardWords = strings.Fields("manifold tensor spectrum lattice residue prove adjoint sheaf")
)

// SoundsHard says whether a text has a word of hard problems.
func SoundsHard(text string) bool {
	for _, w := range hardWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// Planted returns a training set in which half of the problems are easy and half are hard, as their words say: every
// expert and the probe solve the easy ones, only the large expert solves the hard ones. Long answers are dear.
func Planted(n int) routing.TrainSet {
	set := routing.TrainSet{Experts: Pool()}
	set.C = routing.Costs(set.Experts, "usd_per_mtok")
	for i := range n {
		e := PlantedExample(i)
		set.SFT = append(set.SFT, e)
		set.RL = append(set.RL, e)
	}
	return set
}

// PlantedExample is one of them.
func PlantedExample(i int) routing.Example {
	r := seed.Derive("planted", i).Rand()
	topic, kappa, probe, tokens := easyWords, []float64{1, 1, 1}, 1.0, 500.0
	if Hard(i) {
		topic, kappa, probe, tokens = hardWords, []float64{0, 0.2, 1}, 0, 4000
	}
	var words []string
	for range 6 + r.IntN(8) {
		words = append(words, FillerWords[r.IntN(len(FillerWords))])
	}
	for range 3 {
		words = append(words, topic[r.IntN(len(topic))])
	}
	r.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
	e := routing.Example{
		Problem: routing.Problem{ID: fmt.Sprintf("p%d", i), Benchmark: [...]string{"easy", "hard"}[i%2], Text: strings.Join(words, " ") + fmt.Sprintf(" %d.", i)},
		Kappa:   kappa, Samples: []int{5, 5, 5}, Probe: probe,
	}
	for _, x := range Pool() {
		out := tokens * math.Exp(0.2*r.NormFloat64())
		e.Tokens = append(e.Tokens, out)
		e.USD = append(e.USD, x.Price.USD(cost.Usage{Out: int64(out)}, false))
	}
	return e
}

// Hard says whether a planted problem is.
func Hard(i int) bool { return i%2 == 1 }

// Fresh returns n queries on planted problems that are in no training set.
func Fresh(n int) []routing.Query {
	q := make([]routing.Query, n)
	for i := range q {
		q[i] = routing.Query{Problem: PlantedExample(100_000 + i).Problem, Run: i % 3}
	}
	return q
}
