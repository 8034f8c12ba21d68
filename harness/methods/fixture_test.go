package methods

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

var backend = sync.OnceValues(func() (policy.Backend, error) { return policy.OpenBackend("go") })

// experiment has the knobs of the paper on a network that trains in a blink.
func experiment() *spec.Experiment {
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

// build makes the method of a row whose params are YAML.
func build(t testing.TB, name, params string) routing.Method {
	t.Helper()
	m, err := New(setup(t, name, params))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func setup(t testing.TB, name, params string) Setup {
	t.Helper()
	b, err := backend()
	if err != nil {
		t.Fatal(err)
	}
	s := Setup{Method: spec.Method{Name: name}, Spec: experiment(), Backend: b, Servers: talkative{}}
	if name == "routerr1" || name == "xrouter" {
		s.Servers = standIns{}
	}
	if params != "" {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(params), &doc); err != nil {
			t.Fatal(err)
		}
		s.Method.Params = *doc.Content[0]
	}
	return s
}

func fit(t testing.TB, m routing.Method, set routing.TrainSet, s seed.Seed) routing.Router {
	t.Helper()
	r, err := m.Fit(t.Context(), set, work(s))
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := r.(*policyRouter); ok {
		t.Cleanup(func() { c.Close() })
	}
	return r
}

func work(s seed.Seed) routing.Work {
	return routing.Work{Seed: s, Log: slog.New(slog.DiscardHandler)}
}

func pool() []routing.Expert {
	return []routing.Expert{
		{ID: "small", Price: cost.Price{Out: 0.1}},
		{ID: "medium", Price: cost.Price{Out: 0.4}},
		{ID: "large", Price: cost.Price{Out: 1}},
	}
}

// words of easy and of hard problems; fillers stand in both.
var (
	easyWords   = strings.Fields("apples pears basket coins buys gives sells boxes")
	hardWords   = strings.Fields("manifold tensor spectrum lattice residue prove adjoint sheaf")
	fillerWords = strings.Fields("the of and to number find each total value when there")
)

// planted returns a training set in which half of the problems are easy and half are hard, as their words say: every
// expert and the probe solve the easy ones, only the large expert solves the hard ones. Long answers are dear.
func planted(n int) routing.TrainSet {
	set := routing.TrainSet{Experts: pool()}
	set.C = routing.Costs(set.Experts, "usd_per_mtok")
	for i := range n {
		e := plantedExample(i)
		set.SFT = append(set.SFT, e)
		set.RL = append(set.RL, e)
	}
	return set
}

func plantedExample(i int) routing.Example {
	r := seed.Derive("planted", i).Rand()
	hard := i%2 == 1
	topic, kappa, probe, tokens := easyWords, []float64{1, 1, 1}, 1.0, 500.0
	if hard {
		topic, kappa, probe, tokens = hardWords, []float64{0, 0.2, 1}, 0, 4000
	}
	var words []string
	for range 6 + r.IntN(8) {
		words = append(words, fillerWords[r.IntN(len(fillerWords))])
	}
	for range 3 {
		words = append(words, topic[r.IntN(len(topic))])
	}
	r.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
	e := routing.Example{
		Problem: routing.Problem{ID: fmt.Sprintf("p%d", i), Benchmark: [...]string{"easy", "hard"}[i%2], Text: strings.Join(words, " ") + fmt.Sprintf(" %d.", i)},
		Kappa:   kappa, Samples: []int{5, 5, 5}, Probe: probe,
	}
	for _, x := range pool() {
		out := tokens * math.Exp(0.2*r.NormFloat64())
		e.Tokens = append(e.Tokens, out)
		e.USD = append(e.USD, x.Price.USD(cost.Usage{Out: int64(out)}, false))
	}
	return e
}

func isHard(i int) bool { return i%2 == 1 }

// fresh returns n queries on planted problems that are in no training set.
func fresh(n int) []routing.Query {
	q := make([]routing.Query, n)
	for i := range q {
		q[i] = routing.Query{Problem: plantedExample(100_000 + i).Problem, Run: i % 3}
	}
	return q
}

// paramsOf is a row of each kind that works without knowing the pool.
func paramsOf(kind string) string {
	switch kind {
	case "fixed":
		return "expert: middle"
	case "mean":
		return "of: [{name: bag, params: {epochs: 1}}, {name: bag, params: {epochs: 1, hidden: 8}}]"
	case "llmrouter":
		return "model: router"
	case "routellm", "bag":
		return "epochs: 1" // trained to the end, every seed finds the planted rule
	case "routerr1", "xrouter":
		return "{steps: 20, assimilation: 0.5}"
	}
	return ""
}

func queries(examples []routing.Example) []routing.Query {
	q := make([]routing.Query, len(examples))
	for i, e := range examples {
		q[i] = routing.Query{Problem: e.Problem}
	}
	return q
}

// spends returns the mean dollars a question of a router on examples, at a setting of its knob.
func spends(t testing.TB, f routing.Frontier, knob float64, examples []routing.Example) float64 {
	t.Helper()
	usd, err := routing.Spend(t.Context(), routing.Setting{Cheap: knob}.Router(f), examples)
	if err != nil {
		t.Fatal(err)
	}
	return usd
}

// poolOf is a pool of experts of which only the ids are known.
func poolOf(ids ...string) (pool []routing.Expert) {
	for _, id := range ids {
		pool = append(pool, routing.Expert{ID: id})
	}
	return pool
}
