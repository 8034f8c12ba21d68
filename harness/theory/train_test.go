package theory

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func train(t *testing.T, e *Environment, r Reward, o Training) []Snapshot {
	t.Helper()
	log, err := Train(e, r, o)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func last(log []Snapshot) Snapshot { return log[len(log)-1] }

func TestCallsVanishWhereNothingIsAssimilated(t *testing.T) {
	for _, r := range []Reward{{Kind: Linear, Lambda: 0.3}, {Kind: XRouter, K: 1, Lambda: 0.3, CostMax: 0.8}, {Kind: RouterR1, Alpha: 0.6, Window: 1000}} {
		collapsed := 0
		for seed := range uint64(5) {
			log := train(t, pilot(), r, training(seed))
			if math.Abs(log[0].CallRate-0.9) > 1e-12 {
				t.Fatalf("the cold start asks with probability %v", log[0].CallRate)
			}
			if last(log).CallRate < 0.05 {
				collapsed++
			}
		}
		if collapsed < 4 {
			t.Errorf("%s: %d of 5 policies stopped asking", r.Kind, collapsed)
		}
	}
}

func TestHardProblemsAreAskedAboutWhereAnswersAreAssimilated(t *testing.T) {
	e := pilot()
	e.Assimilation = 1
	for seed := range uint64(5) {
		if s := last(train(t, e, Reward{Kind: Linear, Lambda: 0.3}, training(seed))); s.Bucket[2] <= 0.9 {
			t.Errorf("seed %d: hard problems are asked about with probability %v", seed, s.Bucket[2])
		}
	}
}

func TestWithoutASignalThePolicyStaysOnAverage(t *testing.T) {
	e := pilot()
	e.Distraction = 0
	o := training(0)
	o.InitialCall = 0.5 // in the middle, where noise has room on both sides
	var drift float64
	const seeds = 20
	for seed := range uint64(seeds) {
		o.Seed = seed
		drift += (last(train(t, e, Reward{Kind: Linear}, o)).CallRate - 0.5) / seeds
	}
	if math.Abs(drift) >= 0.1 {
		t.Errorf("the call rate moved by %v on average", drift)
	}
}

func TestTheFirstExactStepHasTheSignOfTheGap(t *testing.T) {
	for _, a := range []float64{0, 0.2, 0.4, 0.6, 0.8, 1} {
		for m := range 3 {
			for b := range 3 {
				e := pilot()
				e.Horizon, e.Assimilation, e.Cost = 1, a, e.Cost[m:m+1]
				e.Buckets = []Bucket{{Share: 1, Self: e.Buckets[b].Self, Expert: e.Buckets[b].Expert[m : m+1]}}
				gap := e.Calls(0, 0.3)[0].Gap()
				log := train(t, e, Reward{Kind: Linear, Lambda: 0.3}, Training{Exact: true, Steps: 1, LR: 0.01, InitialCall: 0.5, LogEvery: 1})
				if moved := last(log).CallRate - 0.5; (moved > 0) != (gap > 0) {
					t.Errorf("a = %v, expert %d, bucket %d: gap %v, call rate moved by %v", a, m, b, gap, moved)
				}
			}
		}
	}
}

func TestTheExactGradientIsThatOfTheExpectedReward(t *testing.T) {
	e := pilot()
	e.Assimilation, e.FormatFail, e.Select, e.Horizon = 0.4, 0.1, true, 3
	for _, r := range []Reward{{Kind: Linear, Lambda: 0.3, CallBonus: 0.1}, {Kind: XRouter, K: 1, Lambda: 0.5, CostMax: 0.6}} {
		s, p := &scorer{Reward: r}, newPolicy(e, Training{InitialCall: 0.6})
		for i := range own(p).theta {
			own(p).theta[i] += 0.3 * math.Sin(float64(i)) // away from symmetry
		}
		evaluate(e, s, p, true)
		for i := range own(p).theta {
			const h = 1e-5
			at := func(d float64) float64 {
				q := newPolicy(e, Training{InitialCall: 0.6})
				copy(own(q).theta, own(p).theta)
				own(q).theta[i] += d
				return evaluate(e, s, q, false).Reward
			}
			if want := (at(h) - at(-h)) / (2 * h); math.Abs(own(p).grad[i]-want) > 1e-8 {
				t.Fatalf("%s: gradient %d is %v, finite differences say %v", r.Kind, i, own(p).grad[i], want)
			}
		}
	}
}

func TestTheEntropyGradientIsThatOfTheEntropy(t *testing.T) {
	softmax := func(z []float64) []float64 {
		out, sum := make([]float64, len(z)), 0.0
		for i, x := range z {
			out[i] = math.Exp(x)
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
		return out
	}
	z := []float64{0.3, -1, 0.8}
	grad := make([]float64, 3)
	addEntropy(grad, softmax(z), 1)
	for i := range z {
		const h = 1e-6
		up, down := slices.Clone(z), slices.Clone(z)
		up[i] += h
		down[i] -= h
		if want := (entropy(softmax(up)) - entropy(softmax(down))) / (2 * h); math.Abs(grad[i]-want) > 1e-8 {
			t.Errorf("gradient %d is %v, finite differences say %v", i, grad[i], want)
		}
	}
}

// Episodes as they are played and the tree that is walked must be the same environment.
func TestSampledEpisodesAgreeWithTheTree(t *testing.T) {
	e := pilot()
	e.Assimilation, e.FormatFail, e.Select, e.Horizon = 0.4, 0.1, true, 3
	s, p := &scorer{Reward: Reward{Kind: Linear, Lambda: 0.3, CallBonus: 0.1}}, newPolicy(e, Training{InitialCall: 0.6})
	o := training(7)
	o.Batch = 4000
	g := newGroups(e, p, o)
	g.sample(1, 0)
	var sum, square, asked, right, cost float64
	n := float64(len(g.episodes))
	for _, x := range g.episodes {
		r := float64(malformed)
		if !x.broken {
			r = s.score(x.right, x.cost, x.calls)
		}
		sum += r
		square += r * r
		right += x.right / n
		cost += x.cost / n
		if x.calls > 0 {
			asked += 1 / n
		}
	}
	mean := sum / n
	// Episodes of a group share their bucket, so errors are those of 4,000 problems at worst.
	bound := 5 * math.Sqrt((square/n-mean*mean)/4000)
	want := evaluate(e, s, p, false)
	for _, v := range []struct {
		what      string
		got, want float64
	}{{"reward", mean, want.Reward}, {"call rate", asked, want.CallRate}, {"accuracy", right, want.Accuracy}, {"cost", cost, want.Cost}} {
		if math.Abs(v.got-v.want) > bound {
			t.Errorf("%s: sampled %v, walked %v", v.what, v.got, v.want)
		}
	}
}

// With one expert and one turn everything fits on a line.
func TestASnapshotWorkedOutByHand(t *testing.T) {
	e := &Environment{
		Cost: []float64{0.5}, Buckets: []Bucket{{Share: 3, Self: 0.8, Expert: []float64{0.9}}, {Share: 1, Self: 0.2, Expert: []float64{0.6}}},
		Horizon: 1, Assimilation: 0.5, Distraction: 0.1,
	}
	s := evaluate(e, &scorer{Reward: Reward{Kind: Linear, Lambda: 0.4}}, newPolicy(e, Training{InitialCall: 0.25}), false)
	asking := 0.75*(0.5*0.9+0.5*0.7) + 0.25*(0.5*0.6+0.5*0.1)
	alone := 0.75*0.8 + 0.25*0.2
	near(t, "call rate", s.CallRate, 0.25)
	near(t, "calls", s.Calls, 0.25)
	near(t, "calls of the expert", s.Expert[0], 0.25)
	near(t, "accuracy given a call", s.AccuracyCall, asking)
	near(t, "accuracy given none", s.AccuracyNone, alone)
	near(t, "accuracy", s.Accuracy, 0.25*asking+0.75*alone)
	near(t, "cost", s.Cost, 0.125)
	near(t, "reward", s.Reward, 0.25*asking+0.75*alone-0.4*0.125)
	near(t, "entropy", s.Entropy, -0.25*math.Log(0.25)-0.75*math.Log(0.75))
}

func TestAdvantagesWorkedOutByHand(t *testing.T) {
	// Mean 1/2, sample variance 1/3.
	sd := math.Sqrt(1.0 / 3)
	for i, a := range advantages([]float64{1, 0, 0, 1}, false) {
		near(t, "advantage", a, []float64{0.5, -0.5, -0.5, 0.5}[i]/(sd+1e-6))
	}
	for _, a := range advantages(slices.Repeat([]float64{0.7}, 16), false) {
		if a != 0 {
			t.Errorf("advantage %v in a group that agrees", a)
		}
	}
	for i, a := range advantages([]float64{1, 0.5}, true) {
		near(t, "advantage over the mean", a, []float64{0.25, -0.25}[i])
	}
}

func TestRewardsWorkedOutByHand(t *testing.T) {
	near(t, "linear", (&scorer{Reward: Reward{Kind: Linear, Lambda: 0.3, CallBonus: 0.1}}).score(1, 2, 1), 1-0.6+0.1)
	x := &scorer{Reward: Reward{Kind: XRouter, K: 1, Lambda: 0.3, CostMax: 0.8}}
	near(t, "xrouter", x.score(1, 1, 1), 0.7)
	near(t, "xrouter at the cap", x.score(1, 4, 4), 0.2)
	near(t, "xrouter, wrong", x.score(0, 4, 4), 0)

	r := &scorer{Reward: Reward{Kind: RouterR1, Alpha: 0.6, Window: 5}}
	near(t, "router_r1 before any cost", r.score(1, 0, 0), 0.4+0.6*0.5)
	r.observe([]float64{25, 0, 1, 4, 9, 16}) // sqrt: 5 0 1 2 3 4; the 5 drops out of the window
	near(t, "5th percentile", r.low, 0.2)
	near(t, "95th percentile", r.high, 3.8)
	near(t, "router_r1, free", r.score(1, 0, 0), 1)
	near(t, "router_r1, in the middle", r.score(1, 4, 1), 0.4+0.6*0.5)
	near(t, "router_r1, dearest", r.score(1, 16, 4), 0.4)
	near(t, "router_r1, wrong", r.score(0, 0, 0), 0)
}

// Easy problems at a = 1: asking the cheapest expert gains 0.029. Where all answers of a group are right, the standard
// deviation is that of the costs alone, and dividing by it makes those groups, in which asking only costs, the loudest.
func TestDividingByTheGroupsDeviationStopsCallsThatPay(t *testing.T) {
	e := pilot()
	e.Assimilation = 1
	if lead := e.lead(0, 0.3); math.Abs(lead-0.02875) > 1e-12 {
		t.Fatalf("asking on easy problems leads by %v", lead)
	}
	for _, c := range []struct {
		meanOnly bool
		bonus    float64
		asks     bool
	}{{false, 0, false}, {false, 0.1, false}, {true, 0, true}} {
		o := training(1)
		o.MeanOnly, o.EntropyBonus = c.meanOnly, c.bonus
		if s := last(train(t, e, Reward{Kind: Linear, Lambda: 0.3}, o)); (s.Bucket[0] > 0.9) != c.asks || (s.Bucket[0] < 0.1) == c.asks {
			t.Errorf("mean only %v, entropy bonus %v: easy problems are asked about with probability %v", c.meanOnly, c.bonus, s.Bucket[0])
		}
	}
}

func TestHandingOverAnAnswerNeedsNoAssimilation(t *testing.T) {
	e := pilot()
	e.Select, e.Buckets = true, e.Buckets[2:]
	if s := last(train(t, e, Reward{Kind: Linear, Lambda: 0.3}, training(1))); s.CallRate < 0.9 || s.Accuracy < 0.4 {
		t.Errorf("with select the policy asks with probability %v and is right with %v", s.CallRate, s.Accuracy)
	}
}

func TestEqualSeedsGiveEqualLogs(t *testing.T) {
	o := training(3)
	o.Steps = 20
	a, b := train(t, pilot(), Reward{Kind: Linear, Lambda: 0.3}, o), train(t, pilot(), Reward{Kind: Linear, Lambda: 0.3}, o)
	o.Seed = 4
	c := train(t, pilot(), Reward{Kind: Linear, Lambda: 0.3}, o)
	if last(a).CallRate != last(b).CallRate || last(a).Reward != last(b).Reward {
		t.Error("the same seed gave two results")
	}
	if last(a).CallRate == last(c).CallRate {
		t.Error("two seeds gave one result")
	}
	if got := []int{a[0].Step, a[1].Step, last(a).Step}; !slices.Equal(got, []int{0, 5, 20}) {
		t.Errorf("snapshots at %v", got)
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Environment, *Reward, *Training)
		want   string
	}{
		"no experts":            {func(e *Environment, _ *Reward, _ *Training) { e.Cost = nil }, "0 experts"},
		"a negative cost":       {func(e *Environment, _ *Reward, _ *Training) { e.Cost = []float64{-1, 0, 0} }, "cost of expert 0 is -1"},
		"no buckets":            {func(e *Environment, _ *Reward, _ *Training) { e.Buckets = nil }, "no buckets"},
		"an expert too few":     {func(e *Environment, _ *Reward, _ *Training) { e.Buckets[1].Expert = []float64{1} }, "bucket 1 has 1 experts"},
		"shares of nothing":     {func(e *Environment, _ *Reward, _ *Training) { e.Buckets = []Bucket{{Expert: make([]float64, 3)}} }, "more than 0"},
		"a horizon of none":     {func(e *Environment, _ *Reward, _ *Training) { e.Horizon = 0 }, "horizon is 0"},
		"an assimilation of 2":  {func(e *Environment, _ *Reward, _ *Training) { e.Assimilation = 2 }, "assimilation is 2"},
		"an unknown reward":     {func(_ *Environment, r *Reward, _ *Training) { r.Kind = "ppo" }, `unknown kind "ppo"; known: linear`},
		"a window of none":      {func(_ *Environment, r *Reward, _ *Training) { r.Kind = RouterR1 }, "window is 0"},
		"a negative lambda":     {func(_ *Environment, r *Reward, _ *Training) { r.Lambda = -1 }, "at least 0, got -1"},
		"a group of one":        {func(_ *Environment, _ *Reward, o *Training) { o.Group = 1 }, "group 1"},
		"no learning rate":      {func(_ *Environment, _ *Reward, o *Training) { o.LR = 0 }, "lr is 0"},
		"a certain first call":  {func(_ *Environment, _ *Reward, o *Training) { o.InitialCall = 1 }, "initial_call is 1"},
		"an exact relative one": {func(_ *Environment, r *Reward, o *Training) { *r = Reward{Kind: RouterR1, Window: 9}; o.Exact = true }, "no exact gradient"},
	} {
		t.Run(name, func(t *testing.T) {
			e, r, o := pilot(), Reward{Kind: Linear, Lambda: 0.3}, training(1)
			c.change(e, &r, &o)
			if _, err := Train(e, r, o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
