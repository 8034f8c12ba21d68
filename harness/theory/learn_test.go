package theory

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// problems are single problems with measured rates: half are easy for the router, half are hard for all but the last
// expert. The first feature tells them apart.
func problems(n int) *Environment {
	e := &Environment{Cost: []float64{0, 0}, Trust: []float64{0.5, 0.4, 0.9}, Horizon: 2, Distraction: 0.1}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		b := Bucket{Share: 1, Self: 1, Expert: []float64{0.8, 1}, Cost: []float64{0.1, 0.2}, Features: []float64{1, r.NormFloat64()}}
		if i%2 == 1 {
			b = Bucket{Share: 1, Self: 0, Expert: []float64{0, 0.8}, Cost: []float64{0.2, 0.4}, Features: []float64{-1, r.NormFloat64()}}
		}
		e.Buckets = append(e.Buckets, b)
	}
	return e
}

func TestTheAnswerOfTheMostTrustedStands(t *testing.T) {
	e := problems(2)
	e.Buckets[1].Self = 0.5
	less, ignored := e.ask(e.start(1), 0) // trusted less than the router
	near(t, "own answer kept", less.quality(), 0.5)
	near(t, "own answer disturbed", ignored.quality(), 0.5*0.9)
	near(t, "paid what it costs here", ignored.cost, 0.2)
	twice, _ := e.ask(ignored, 1)
	near(t, "the trusted answer", twice.quality(), 0.8)
	near(t, "both paid", twice.cost, 0.6)
	if twice.author != 2 || twice.last != 2 || twice.ignored != 1 || twice.calls != 2 {
		t.Errorf("after two calls: %+v", twice)
	}
	thrice, forgotten := e.ask(twice, 0)
	near(t, "a less trusted answer replaces nothing", thrice.quality(), 0.8)
	near(t, "and the answer that stands is not disturbed", forgotten.quality(), 0.8)
	// An answer that is worse here stands all the same: nobody can tell.
	e.Buckets[0].Expert[1] = 0.3
	worse, _ := e.ask(e.start(0), 1)
	near(t, "the trusted answer is worse here", worse.quality(), 0.3)
}

// Lessons of a step put together again from the episodes of its batches.
func TestGRPOLearnsFromTheFirstGroupsThatDiffer(t *testing.T) {
	for _, filter := range []string{AnyGroup, ByReward, ByCorrectness} {
		for _, batches := range []int{1, 6} {
			e := problems(40)
			e.Assimilation, e.Select = 0.5, true
			o := Training{Steps: 1, Batch: 12, Group: 4, LR: 0.01, InitialCall: 0.6, LogEvery: 1, Hidden: 4, Filter: filter, Batches: batches, Seed: 9, MiniBatch: 5}
			r := Reward{Kind: XRouter, Lambda: 0.3, CostMax: 0.8}
			x := newTrainer(e, r, o, newPolicy(e, o))
			g, s := newGroups(e, newPolicyOn(x.p.at(e)), o), &scorer{Reward: r}
			x.grpo(1)

			var want []lesson
			kept := 0
			for try := range batches {
				if filter == AnyGroup && try > 0 {
					break
				}
				g.sample(1, try)
				for group := range slices.Chunk(g.episodes, 4) {
					var rewards, right []float64
					for i := range group {
						rewards, right = append(rewards, s.reward(&group[i])), append(right, group[i].right)
					}
					differ := map[string]bool{AnyGroup: true, ByReward: slices.Min(rewards) < slices.Max(rewards), ByCorrectness: slices.Min(right) < slices.Max(right)}
					if !differ[filter] || kept == 12 {
						continue
					}
					kept++
					mean := (rewards[0] + rewards[1] + rewards[2] + rewards[3]) / 4
					var square float64
					for _, v := range rewards {
						square += (v - mean) * (v - mean)
					}
					for i, episode := range group {
						for _, m := range episode.moves {
							want = append(want, lesson{move: m, advantage: (rewards[i] - mean) / (math.Sqrt(square/3) + 1e-6)})
						}
					}
				}
			}
			if len(x.lessons) != len(want) {
				t.Fatalf("filter %q, %d batches: %d lessons, want %d", filter, batches, len(x.lessons), len(want))
			}
			for i, l := range x.lessons {
				if l.state != want[i].state || l.action != want[i].action || math.Abs(l.advantage-want[i].advantage) > 1e-9 {
					t.Fatalf("filter %q, %d batches: lesson %d is %+v, want %+v", filter, batches, i, l, want[i])
				}
			}
			if filter == ByCorrectness && (batches == 1) == (kept == 12) {
				t.Errorf("%d batches give %d groups: the filter is not put to the test", batches, kept)
			}
			if updates, want := own(x.p).steps, (kept+4)/5; updates != want {
				t.Errorf("filter %q: %d updates from %d groups in mini-batches of 5, want %d", filter, updates, kept, want)
			}
		}
	}
}

func learning() Training {
	return Training{Steps: 150, Batch: 32, Group: 8, LR: 0.01, InitialCall: 0.9, LogEvery: 1, Hidden: 8, MiniBatch: 8,
		ClipLow: 0.2, ClipHigh: 0.28, DualClip: 10, ClipNorm: 1, Filter: ByReward, Batches: 2, Seed: 4}
}

// script answers by list and takes the likeliest action.
type script struct{ malformed, used []bool }

func (script) Choose(_ int, probs []float64) int { return slices.Index(probs, slices.Max(probs)) }
func (s script) Malformed(calls int) bool        { return s.malformed[calls] }
func (s script) Assimilated(calls int) bool      { return s.used[calls] }

func TestAPolicyIsLearnedForProblemsThatItHasNotSeen(t *testing.T) {
	e := problems(60)
	e.Assimilation = 1
	r := Reward{Kind: Linear, Lambda: 0.1}
	policy, curve, err := Learn(t.Context(), e, r, learning())
	if err != nil {
		t.Fatal(err)
	}
	again, same, err := Learn(t.Context(), problemsLike(e), r, learning())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(curve, same, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" {
		t.Errorf("learned again: %s", diff)
	}
	first, final := curve[0], curve[len(curve)-1]
	if len(curve) != 150 || first.Step != 0 || math.Abs(first.CallRate-0.9) > 0.1 || math.Abs(final.CallRate-0.5) > 0.2 || final.Accuracy < first.Accuracy {
		t.Errorf("first %+v, last %+v of %d", first, final, len(curve))
	}
	for _, c := range []struct {
		name     string
		features []float64
		coins    script
		want     Course
	}{
		{"an easy problem", []float64{1, 0.3}, script{}, Course{Expert: -1}},
		{"a hard one", []float64{-1, 0.3}, script{make([]bool, 2), []bool{true, true}}, Course{Calls: []int{1}, Expert: 1}},
		{"a malformed call reaches nobody", []float64{-1, 0.3}, script{malformed: []bool{true}}, Course{Calls: []int{}, Expert: -1, Broken: true}},
	} {
		got := policy.Play(Bucket{Features: c.features}, c.coins)
		if sum := got.First[0] + got.First[1]; sum < 0 || sum > 1 {
			t.Errorf("%s: first move %v", c.name, got.First)
		}
		if diff := cmp.Diff(got, again.Play(Bucket{Features: c.features}, c.coins)); diff != "" {
			t.Errorf("%s: learned again: %s", c.name, diff)
		}
		got.First = nil
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	ignored := policy.Play(Bucket{Features: []float64{-1, 0.3}}, script{make([]bool, 2), make([]bool, 2)})
	if ignored.Expert != -1 || ignored.Ignored != len(ignored.Calls) || ignored.Ignored == 0 {
		t.Errorf("nothing is used: %+v", ignored)
	}
}

func problemsLike(e *Environment) *Environment {
	c := *e
	c.Buckets = slices.Clone(e.Buckets)
	return &c
}

// What is handed over is the expert's, whether or not its answer was used.
func TestAPolicyHandsOver(t *testing.T) {
	e := problems(60)
	e.Select = true
	policy, _, err := Learn(t.Context(), e, Reward{Kind: Linear, Lambda: 0.1}, learning())
	if err != nil {
		t.Fatal(err)
	}
	got := policy.Play(Bucket{Features: []float64{-1, 0}}, script{make([]bool, 2), make([]bool, 2)})
	if got.Expert != 1 || !slices.Contains(got.Calls, 1) {
		t.Errorf("a hard problem without assimilation: %+v", got)
	}
}

// The record of a step agrees with the tree of all episodes, up to sampling.
func TestCurvesOfLearningAgreeWithTheTree(t *testing.T) {
	e := problems(6)
	e.Assimilation, e.FormatFail, e.Select = 0.4, 0.1, true
	o := learning()
	o.Steps, o.Batch, o.Filter = 1, 6000, AnyGroup
	r := Reward{Kind: Linear, Lambda: 0.1}
	_, curve, err := Learn(t.Context(), e, r, o)
	if err != nil {
		t.Fatal(err)
	}
	got, want := curve[0], evaluate(e, &scorer{Reward: r}, newPolicy(e, o), false)
	for _, v := range []struct {
		what      string
		got, want float64
	}{
		{"call rate", got.CallRate, want.CallRate}, {"calls", got.Calls, want.Calls}, {"format", got.Format, want.Format}, {"entropy", got.Entropy, want.Entropy},
		{"accuracy", got.Accuracy, want.Accuracy}, {"with a call", got.AccuracyCall, want.AccuracyCall}, {"without", got.AccuracyNone, want.AccuracyNone},
		{"cost", got.Cost, want.Cost}, {"reward", got.Reward, want.Reward}, {"expert 1", got.Expert[0], want.Expert[0]}, {"expert 2", got.Expert[1], want.Expert[1]},
	} {
		if math.Abs(v.got-v.want) > 0.03 {
			t.Errorf("%s: sampled %v, walked %v", v.what, v.got, v.want)
		}
	}
}

// What hardly ever happens is counted, and not taken for the rest of what does: rounding would be all that is left.
func TestAccuracyWithoutACallIsThatOfTheRouterHoweverRare(t *testing.T) {
	for _, logit := range []float64{-1, -20, -35, -200} {
		e := pilot()
		e.Assimilation = 0.3
		p := newPolicy(e, Training{InitialCall: 0.9})
		for i := range own(p).theta {
			if i%4 == 0 { // answering
				own(p).theta[i] = logit
			} else {
				own(p).theta[i] += 0.1 * float64(i%3)
			}
		}
		got := evaluate(e, &scorer{Reward: Reward{Kind: Linear}}, p, false).AccuracyNone
		var want, none float64
		for b, x := range e.Buckets {
			here := p.probs(e, e.start(b))[0]
			want, none = want+here*x.Self, none+here
		}
		if want /= none; math.Abs(got-want) > 1e-9 {
			t.Errorf("answering at %v: %v, want %v", logit, got, want)
		}
	}
}

func TestLearningSaysWhatItNeeds(t *testing.T) {
	for want, change := range map[string]func(*Environment, *Training){
		"set trust and hidden":         func(e *Environment, _ *Training) { e.Trust = nil },
		"give the buckets some":        func(e *Environment, _ *Training) { e.Buckets = []Bucket{{Share: 1, Expert: []float64{0, 0}}} },
		"has 1 features, the first":    func(e *Environment, _ *Training) { e.Buckets[3].Features = []float64{1} },
		"1 costs":                      func(e *Environment, _ *Training) { e.Buckets[3].Cost = []float64{1} },
		"want the router and 2":        func(e *Environment, _ *Training) { e.Trust = []float64{1} },
		`unknown algorithm "a2c"`:      func(_ *Environment, o *Training) { o.Algorithm = "a2c" },
		`unknown filter "x"`:           func(_ *Environment, o *Training) { o.Filter = "x" },
		"0 batches":                    func(_ *Environment, o *Training) { o.Batches = 0 },
		"1 episode of each":            func(_ *Environment, o *Training) { o.Algorithm = PPO },
		"critic_lr":                    func(_ *Environment, o *Training) { o.Algorithm, o.Group = PPO, 1 },
		"clip_high is -1":              func(_ *Environment, o *Training) { o.ClipHigh = -1 },
		"ppo learns from sampled":      func(_ *Environment, o *Training) { o.Algorithm, o.Group, o.CriticLR, o.Exact = PPO, 1, 1, true },
		"ppo whitens the advantages":   func(_ *Environment, o *Training) { o.Algorithm, o.Group, o.CriticLR, o.MeanOnly = PPO, 1, 1, true },
		"is a network that samples ep": func(_ *Environment, o *Training) { o.Hidden = 0 },
	} {
		e, o := problems(4), learning()
		change(e, &o)
		if _, _, err := Learn(t.Context(), e, Reward{Kind: Linear}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := Learn(ctx, problems(4), Reward{Kind: Linear}, learning()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
