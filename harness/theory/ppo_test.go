package theory

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestSurrogatesByHand(t *testing.T) {
	o := Training{ClipLow: 0.2, ClipHigh: 0.28, DualClip: 3}
	for _, c := range []struct {
		name                           string
		ratio, advantage, value, slope float64
	}{
		{"on policy", 1, 2, 2, 2},
		{"a good move that is a little likelier counts as it is", 1.25, 2, 2.5, 2.5},
		{"and is left alone beyond the upper bound", 1.5, 2, 2.56, 0},
		{"a good move that became rarer is pulled back without a bound", 0.5, 2, 1, 1},
		{"a bad move that is a little rarer counts as it is", 0.9, -2, -1.8, -1.8},
		{"and is left alone beyond the lower bound", 0.5, -2, -1.6, 0},
		{"a bad move that became likelier is pushed down", 2, -2, -4, -4},
		{"but no harder than the second bound", 5, -2, -6, 0},
	} {
		value, slope := o.surrogate(c.ratio, c.advantage)
		near(t, c.name+": value", value, c.value)
		near(t, c.name+": slope", slope, c.slope)
	}
	value, slope := Training{ClipLow: 0.2, ClipHigh: 0.2}.surrogate(5, -2)
	near(t, "without a second bound", value, -10)
	near(t, "without a second bound", slope, -10)
}

func TestValueLossesByHand(t *testing.T) {
	o := Training{ValueClip: 0.5}
	for _, c := range []struct {
		name                            string
		value, old, target, loss, slope float64
	}{
		{"inside the bounds", 1.2, 1, 2, 0.32, -0.8},
		{"the worse of the two counts: held", 2, 1, 2, 0.125, 0},
		{"the worse of the two counts: free", 3, 1, 1, 2, 2},
		{"the wrong way", 0, 1, 2, 2, -2},
	} {
		loss, slope := o.valueLoss(c.value, c.old, c.target)
		near(t, c.name+": loss", loss, c.loss)
		near(t, c.name+": slope", slope, c.slope)
	}
}

func TestAdvantagesOfAnEpisodeByHand(t *testing.T) {
	// Rewards -0.1, 0, 1 and values 0.5, 0.4, 0.8: with gamma = lambda = 1 what is still to come less the value.
	got := gae([]float64{-0.1, 0, 1}, []float64{0.5, 0.4, 0.8}, 1, 1)
	for k, want := range []float64{0.9 - 0.5, 1 - 0.4, 1 - 0.8} {
		near(t, "undiscounted", got[k], want)
	}
	// gamma = .9, lambda = .5: delta = -.1+.36-.5, .72-.4, .2; A2 = .2, A1 = .32+.45*.2, A0 = -.24+.45*.41.
	got = gae([]float64{-0.1, 0, 1}, []float64{0.5, 0.4, 0.8}, 0.9, 0.5)
	for k, want := range []float64{-0.24 + 0.45*0.41, 0.41, 0.2} {
		near(t, "discounted", got[k], want)
	}
	of := []lesson{{advantage: 1}, {advantage: 2}, {advantage: 6}}
	whiten(of) // mean 3, variance (4+1+9)/2 = 7
	for i, want := range []float64{-2, -1, 3} {
		near(t, "whitened", of[i].advantage, want/math.Sqrt(7+1e-8))
	}
}

func TestLambdaOneForgetsTheValuesInBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "moves")
		numbers := rapid.SliceOfN(rapid.Float64Range(-2, 2), n, n)
		rewards, values, gamma := numbers.Draw(t, "rewards"), numbers.Draw(t, "values"), rapid.Float64Range(0, 1).Draw(t, "gamma")
		for k, a := range gae(rewards, values, gamma, 1) {
			want := -values[k]
			for j := k; j < n; j++ {
				want += math.Pow(gamma, float64(j-k)) * rewards[j]
			}
			if math.Abs(a-want) > 1e-9 {
				t.Fatalf("advantage of move %d is %v, want %v", k, a, want)
			}
		}
	})
}

// What ppo adds to the gradients, against the derivative of the losses that it says it has, by finite differences at a
// policy and a critic that have moved since the batch was played.
func TestGradientsOfPolicyAndCriticAreThoseOfTheirLosses(t *testing.T) {
	e := seen()
	e.Assimilation, e.Select, e.Horizon = 0.4, true, 2
	o := Training{Algorithm: PPO, Steps: 1, Batch: 40, Group: 1, LR: 0.01, InitialCall: 0.6, LogEvery: 1, Hidden: 4, EntropyBonus: 0.05,
		ClipLow: 0.2, ClipHigh: 0.2, DualClip: 3, CriticLR: 0.01, ValueClip: 0.1, KL: 0.1, Seed: 5}
	x := newTrainer(e, Reward{Kind: RouterR1, Alpha: 0.6, Window: 50}, o, newPolicy(e, o))
	x.ppo(1)
	for _, n := range []network{x.p.network, x.critic} {
		n.(*perceptron).memory = nil // weights are about to change otherwise than by steps
		away(n)
	}
	x.p.known = nil
	objective := func() float64 {
		var sum float64
		for _, l := range x.lessons {
			probs := x.p.probs(e, l.state)
			value, _ := o.surrogate(probs[l.action]/l.prob, l.advantage)
			sum += value + o.EntropyBonus*entropy(probs)
		}
		return sum / float64(len(x.lessons))
	}
	loss := func() float64 {
		var sum float64
		for _, l := range x.lessons {
			v, _ := o.valueLoss(x.critic.forward(l.state)[0], l.value, l.target)
			sum -= v
		}
		return sum / float64(len(x.lessons))
	}
	for _, c := range []struct {
		name string
		net  network
		add  func([]lesson)
		of   func() float64
	}{{"policy", x.p, x.improve, objective}, {"critic", x.critic, x.appraise, loss}} {
		clear(own(c.net).grad)
		c.add(x.lessons)
		moved := 0
		for i, got := range own(c.net).grad {
			const h = 1e-6
			theta := &own(c.net).theta[i]
			at := *theta
			*theta = at + h
			up := c.of()
			*theta = at - h
			want := (up - c.of()) / (2 * h)
			*theta = at
			if math.Abs(got-want) > 1e-7 {
				t.Fatalf("%s: gradient %d is %v, finite differences say %v", c.name, i, got, want)
			}
			if got != 0 {
				moved++
			}
		}
		if moved == 0 {
			t.Errorf("%s: no gradient at all", c.name)
		}
	}
}

func TestPolicyAndCriticStartWithFirstLayersOfTheirOwn(t *testing.T) {
	e, o := seen(), ppo(5)
	x := newTrainer(e, Reward{Kind: Linear}, o, newPolicy(e, o))
	first, _, _, _ := x.p.network.(*perceptron).layers(own(x.p).theta)
	second, _, _, _ := x.critic.(*perceptron).layers(own(x.critic).theta)
	equal := 0
	for i, w := range first {
		if w == second[i] {
			equal++
		}
	}
	if equal > 0 {
		t.Errorf("%d of %d weights are the same ones", equal, len(first))
	}
}

// The rewards behind the targets of a batch, worked out again: the answer's for the last move, and less KL nats for
// every move, which are 0 before the first update.
func TestTheFirstBatchPaysNoDivergence(t *testing.T) {
	e := seen()
	e.Assimilation = 0.4
	o := Training{Algorithm: PPO, Steps: 1, Batch: 30, Group: 1, LR: 0.01, InitialCall: 0.6, LogEvery: 1, Hidden: 4,
		ClipLow: 0.2, ClipHigh: 0.2, CriticLR: 0.01, ValueClip: 0.5, KL: 10, Seed: 5}
	x := newTrainer(e, Reward{Kind: XRouter, Lambda: 0.3, K: 1, CostMax: 0.8}, o, newPolicy(e, o))
	x.ppo(1)
	check := func() (differ bool) {
		k := 0
		for i := range x.g.episodes {
			m := &x.g.episodes[i]
			for range m.moves {
				differ = differ || math.Abs(x.lessons[k].target-x.s.reward(m)) > 1e-9
				k++
			}
		}
		return differ
	}
	if check() {
		t.Error("at the cold start a target is not the reward of its episode")
	}
	x.ppo(2)
	if !check() {
		t.Error("after an update every target is still the reward of its episode: the divergence from the cold start is free")
	}
}

func ppo(seed uint64) Training {
	return Training{Algorithm: PPO, Steps: 225, Batch: 64, Group: 1, LR: 0.003, InitialCall: 0.9, Seed: seed, LogEvery: 225, Hidden: 32,
		MiniBatch: 32, ClipLow: 0.2, ClipHigh: 0.2, ClipNorm: 1, EntropyBonus: 0.001, CriticLR: 0.03, ValueClip: 0.5, KL: 0.001}
}

func TestWithoutAssimilationPPOStopsAskingToo(t *testing.T) {
	for seed := range uint64(2) {
		e := seen()
		if s := last(train(t, e, Reward{Kind: RouterR1, Alpha: 0.6, Window: 1000}, ppo(seed))); s.CallRate > 0.05 {
			t.Errorf("seed %d: a = 0 leaves a call rate of %v", seed, s.CallRate)
		}
		e.Assimilation = 1
		if s := last(train(t, e, Reward{Kind: RouterR1, Alpha: 0.6, Window: 1000}, ppo(seed))); s.Bucket[2] < 0.9 {
			t.Errorf("seed %d: a = 1 leaves a call rate of %v on hard problems", seed, s.Bucket[2])
		}
	}
}
