package theory

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen is the pilot with features: what the buckets differ in.
func seen() *Environment {
	e := pilot()
	for b, x := range [][]float64{{1, 0.5}, {0, -0.3}, {-1, 0.2}} {
		e.Buckets[b].Features = x
	}
	return e
}

// away moves weights off the cold start, where the second layer is 0 and hides the first.
func away(n network) {
	for i := range own(n).theta {
		own(n).theta[i] += 0.3 * math.Sin(float64(3*i+1))
	}
}

func TestANetworkStartsWhereATableDoes(t *testing.T) {
	e := seen()
	e.Select = true
	table, net := newPolicy(e, Training{InitialCall: 0.9}), newPolicy(e, Training{InitialCall: 0.9, Hidden: 8, Seed: 3})
	for b := range e.Buckets {
		s := e.start(b)
		for range 3 {
			want := append([]float64(nil), table.probs(e, s)...)
			for a, p := range net.probs(e, s) {
				near(t, "probability", p, want[a])
			}
			near(t, "asking", want[1]+want[2]+want[3], 0.9/(1+0.1*float64(popcount(s.called)))) // what is handed over shares the rest
			s, _ = e.ask(s, 1)
		}
	}
}

func popcount(set uint32) (n int) {
	for ; set > 0; set &= set - 1 {
		n++
	}
	return n
}

func TestTheExactGradientOfANetworkIsThatOfTheExpectedReward(t *testing.T) {
	e := seen()
	e.Assimilation, e.FormatFail, e.Select, e.Horizon = 0.4, 0.1, true, 2
	o := Training{InitialCall: 0.6, Hidden: 5, Seed: 1}
	s, p := &scorer{Reward: Reward{Kind: XRouter, Lambda: 0.5, K: 1, CostMax: 0.6}}, newPolicy(e, o)
	away(p)
	evaluate(e, s, p, true)
	for i, got := range own(p).grad {
		const h = 1e-5
		at := func(d float64) float64 {
			q := newPolicyOn(p.at(e))
			own(q).theta[i] += d
			return evaluate(e, s, q, false).Reward
		}
		if want := (at(h) - at(-h)) / (2 * h); math.Abs(got-want) > 1e-8 {
			t.Fatalf("gradient %d of %d is %v, finite differences say %v", i, len(own(p).grad), got, want)
		}
	}
}

// Two steps of Adam by hand: m = .1g, v = .001g^2, both corrected to g and g^2, so the first step is lr whatever g is.
func TestAdamByHand(t *testing.T) {
	w := newWeights(2)
	w.theta[0], w.grad[0], w.grad[1] = 2, 5, 0
	w.ascend(0.1, 0.5)
	near(t, "first step with decay", w.theta[0], 2+0.1*(5/(5+1e-8)-0.5*2))
	near(t, "no gradient", w.theta[1], 0)
	before := w.theta[0]
	w.grad[0] = -1
	w.ascend(0.1, 0)
	m, v := (0.9*0.5-0.1)/(1-0.81), (0.999*0.025+0.001)/(1-0.999*0.999)
	near(t, "second step", w.theta[0], before+0.1*m/(math.Sqrt(v)+1e-8))

	w.grad = []float64{3, 4}
	w.clip(0)
	near(t, "not clipped", w.grad[0], 3)
	w.clip(10)
	near(t, "short enough", w.grad[0], 3)
	w.clip(1)
	near(t, "clipped", w.grad[0], 0.6)
	near(t, "clipped", w.grad[1], 0.8)
}

// What a perceptron remembers is what it computes, and no longer than its weights stay.
func TestAPerceptronRemembersWhatItComputes(t *testing.T) {
	e := problems(40)
	e.Horizon = 3
	o := Training{Hidden: 4, Seed: 3, InitialCall: 0.5}
	slow, fast := newPolicy(e, o), newPolicy(e, o)
	remember(fast.network)
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		slow.clear()
		fast.clear()
		for range 200 {
			s := state{bucket: r.IntN(40), calls: r.IntN(4), last: r.IntN(3)}
			if diff := cmp.Diff(slow.forward(s), fast.forward(s)); diff != "" {
				t.Fatalf("%+v: %s", s, diff)
			}
			slope := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			slow.backward(s, slope)
			fast.backward(s, slope)
		}
		if diff := cmp.Diff(own(slow).grad, own(fast).grad); diff != "" {
			t.Fatal(diff)
		}
		slow.update(0.1, 0.01, 1)
		fast.update(0.1, 0.01, 1)
	}
	if n := len(fast.network.(*perceptron).memory.seen); n != 0 {
		t.Errorf("%d states are known after a step", n)
	}
}

// What is remembered is what would be computed: of every state that episodes come to, before and behind steps.
func TestWhatAPolicyRemembersIsWhatItWouldCompute(t *testing.T) {
	for name, hidden := range map[string]int{"table": 0, "network": 8} {
		e := seen()
		e.Select, e.Assimilation, e.Horizon = true, 0.4, 3
		o := Training{Steps: 4, Batch: 20, Group: 4, LR: 0.1, InitialCall: 0.9, Hidden: hidden, Seed: 2, LogEvery: 1}
		x := newTrainer(e, Reward{Kind: Linear, Lambda: 0.3}, o, newPolicy(e, o))
		for step := 1; step <= o.Steps; step++ {
			x.step(step)
			for i := range x.g.episodes {
				for _, m := range x.g.episodes[i].moves {
					for range 2 {
						got := append([]float64(nil), x.p.probs(e, m.state)...)
						if diff := cmp.Diff(x.p.softmax(e, m.state), got); diff != "" {
							t.Fatalf("%s, step %d: computed, remembered:\n%s", name, step, diff)
						}
					}
				}
			}
			if len(x.p.known.seen) < 4 {
				t.Fatalf("%s: %d states are remembered", name, len(x.p.known.seen))
			}
		}
	}
}
