package theory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// elsewhere is a small network as an Actor: it finds the states of situations again.
type elsewhere struct {
	net network
	e   *Environment
}

func (a elsewhere) state(at Situation) state {
	s := a.e.start(slices.IndexFunc(a.e.Buckets, func(b Bucket) bool { return b.Text == at.Text }))
	for _, m := range at.Asked {
		s, _ = a.e.ask(s, m)
	}
	return s
}

func (a elsewhere) Scores(at Situation) ([]float64, error) { return a.net.forward(a.state(at)), nil }

func (a elsewhere) Learn(rate float64, at []Situation, slopes [][]float64) error {
	a.net.clear()
	for i, x := range at {
		a.net.backward(a.state(x), slopes[i])
	}
	a.net.update(rate, 0, 1)
	return nil
}

// told are problems with texts, the small network that Learn would train on them and the same as an Actor.
func told(n int) (*Environment, Training, elsewhere) {
	e, t := problems(n), learning()
	e.Assimilation = 0.6
	for i := range e.Buckets {
		e.Buckets[i].Text = fmt.Sprint("problem ", i)
	}
	t.Steps = 25
	a := elsewhere{newPolicy(e, t).network, e}
	t.Hidden, t.ClipNorm = 0, 0
	return e, t, a
}

var alike = cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-9)}

// A small network learns as an Actor what it learns by itself, whatever is asked of it and in which order.
func TestAnActorIsTaughtWhatANetworkLearns(t *testing.T) {
	e, taught, a := told(40)
	for _, r := range []Reward{{Kind: RouterR1, Alpha: 0.6, Window: 50}, {Kind: XRouter, Lambda: 0.3, CostMax: 0.8}} {
		for _, hand := range []bool{false, true} {
			e.Select = hand
			learned := taught
			learned.Hidden, learned.ClipNorm = 8, 1
			a.net = newPolicy(e, learned).network
			own, want, err := Learn(t.Context(), e, r, learned)
			if err != nil {
				t.Fatal(err)
			}
			policy, got, err := Teach(t.Context(), e, r, taught, a, Progress{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, alike); diff != "" {
				t.Errorf("%s, hand over %v: %s", r.Kind, hand, diff)
			}
			for _, b := range e.Buckets {
				coins := script{make([]bool, 2), []bool{true, false}}
				if diff := cmp.Diff(own.Play(Bucket{Features: b.Features}, coins), policy.Play(Bucket{Text: b.Text}, coins), alike); diff != "" {
					t.Errorf("%s, hand over %v: %s", r.Kind, hand, diff)
				}
			}
			if policy.Err() != nil || own.Err() != nil {
				t.Error(policy.Err(), own.Err())
			}
		}
	}
}

// copied returns the actor with a copy of its weights, moments and count of steps.
func (a elsewhere) copied() elsewhere {
	p := *a.net.(*perceptron)
	for _, x := range []*[]float64{&p.theta, &p.grad, &p.first, &p.second} {
		*x = slices.Clone(*x)
	}
	return elsewhere{&p, a.e}
}

func TestATeachingGoesOnBehindWhatIsDone(t *testing.T) {
	e, o, a := told(30)
	r := Reward{Kind: RouterR1, Alpha: 0.6, Window: 300} // more than a step, less than all
	var half Progress
	var then elsewhere
	_, want, err := Teach(t.Context(), e, r, o, a, Progress{}, func(p Progress, _ bool) error {
		if len(p.Log) == 11 {
			half, then = Progress{slices.Clone(p.Log), p.Window}, a.copied()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(half.Window) != 300 {
		t.Fatalf("%d costs in the window", len(half.Window))
	}
	_, got, err := Teach(t.Context(), e, r, o, then, half, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}

	ctx, stop := context.WithCancel(t.Context())
	var kept []string
	_, _, err = Teach(ctx, e, r, o, a, Progress{}, func(far Progress, stopped bool) error {
		if kept = append(kept, fmt.Sprint(len(far.Log), stopped)); len(far.Log) == 2 {
			stop()
		}
		return nil
	})
	if want := []string{"1 false", "2 false", "2 true"}; !errors.Is(err, context.Canceled) || !slices.Equal(kept, want) {
		t.Errorf("stopped: %v, kept %q, want %q", err, kept, want)
	}
}

// silent has the same scores for everything, and keeps what it is to learn.
type silent struct {
	scores []float64
	at     *[]Situation
	slopes *[][]float64
	err    error
}

func (s silent) Scores(Situation) ([]float64, error) { return s.scores, s.err }
func (s silent) Learn(_ float64, at []Situation, slopes [][]float64) error {
	*s.at, *s.slopes = at, slopes
	return s.err
}

// Two episodes of one problem, by hand: one asks expert 1 twice and answers, the other answers at once. Their loss is minus the mean over
// the four moves of advantage times log-probability, whose derivatives by the scores are those here.
func TestTheSlopesOfEpisodesByHand(t *testing.T) {
	e := problems(1)
	e.Buckets[0].Text, e.Horizon = "p", 3
	scores := []float64{math.Log(0.5), math.Log(0.3), math.Log(0.2)}
	heard := silent{scores: scores, at: &[]Situation{}, slopes: &[][]float64{}}
	x := newTrainer(e, Reward{Kind: Linear}, Training{Batch: 1, Group: 2, LR: 1}, newPolicyOn(newActing(e, heard)))
	begin := e.start(0)
	once, _ := e.ask(begin, 0)
	_, twice := e.ask(once, 0)
	x.improve([]lesson{
		{move: move{begin, 1, 0.3}, advantage: 2}, {move: move{once, 1, 0.3}, advantage: 2}, {move: move{twice, 0, 0.5}, advantage: 2},
		{move: move{begin, 0, 0.5}, advantage: -1},
	})
	x.update(x.p, x.t.LR, 1)
	if diff := cmp.Diff([]Situation{{Text: "p"}, {"p", []int{0}}, {"p", []int{0, 0}}}, *heard.at); diff != "" {
		t.Error(diff)
	}
	want := [][]float64{
		{2*-0.5/4 - 1*(1-0.5)/4, 2*(1-0.3)/4 - 1*-0.3/4, 2*-0.2/4 - 1*-0.2/4},
		{2 * -0.5 / 4, 2 * (1 - 0.3) / 4, 2 * -0.2 / 4},
		{2 * (1 - 0.5) / 4, 2 * -0.3 / 4, 2 * -0.2 / 4},
	}
	if diff := cmp.Diff(want, *heard.slopes, alike); diff != "" {
		t.Error(diff)
	}
}

// Whoever has the scores, the probabilities of a state sum to 1, and what it does not allow has none.
func TestProbabilitiesOfEveryPolicyAreThoseOfWhatIsAllowed(t *testing.T) {
	e, o, a := told(6)
	e.Select = true
	a.net = newPolicy(e, Training{InitialCall: 0.9, Hidden: 8, Seed: 2}).network
	away(a.net)
	o.Hidden = 8
	for name, p := range map[string]*policy{
		"table": newPolicy(e, Training{InitialCall: 0.7}), "network": newPolicy(e, o), "actor": newPolicyOn(newActing(e, a)),
		"loud actor": newPolicyOn(newActing(e, silent{scores: []float64{-800, 900, 0, 1e3, 2}})),
	} {
		for b := range e.Buckets {
			s := e.start(b)
			for range e.Horizon + 1 {
				var sum float64
				for action, q := range p.probs(e, s) {
					sum += q
					if !(q >= 0) || !e.allowed(s, action) && q != 0 {
						t.Errorf("%s: action %d after %d calls has probability %v", name, action, s.calls, q)
					}
				}
				near(t, name, sum, 1)
				if s.calls < e.Horizon {
					s, _ = e.ask(s, (b+s.calls)%2)
				}
			}
		}
	}
	near(t, "cold start", e.ColdStart(Situation{Asked: []int{1}}, 0.9)[2], newPolicy(e, Training{InitialCall: 0.9}).probs(e, func() state { s, _ := e.ask(e.start(0), 1); return s }())[2])
}

// An anchor that outweighs the reward decides the first move, and is in no snapshot.
func TestAnAnchorDecidesFirstMoves(t *testing.T) {
	for move := range 3 {
		e := problems(40)
		for i := range e.Buckets {
			e.Buckets[i].Anchor = make([]float64, 3)
			e.Buckets[i].Anchor[move] = 50
		}
		o := learning()
		o.Steps = 80
		o.Filter = AnyGroup
		_, log, err := Learn(t.Context(), e, Reward{Kind: Linear, Lambda: 0.1}, o)
		if err != nil {
			t.Fatal(err)
		}
		end := log[len(log)-1]
		asks := append([]float64{1 - end.CallRate}, end.Expert...)
		if asks[move] < 0.9 || end.Reward > 1 {
			t.Errorf("anchored at %d: %+v", move, end)
		}
	}
}

func TestFaultsOfActors(t *testing.T) {
	e, o, a := told(4)
	r := Reward{Kind: Linear}
	broken := errors.New("no memory")
	quiet := func(s silent) silent {
		s.at, s.slopes = &[]Situation{}, &[][]float64{}
		return s
	}
	for want, c := range map[string]struct {
		on     Actor
		change func(*Environment, *Training)
	}{
		"no memory":                  {on: quiet(silent{scores: []float64{1, 2, 3}, err: broken})},
		"2 scores for 3 actions":     {on: quiet(silent{scores: []float64{1, 2}})},
		"has the scores [1 NaN 2]":   {on: quiet(silent{scores: []float64{1, math.NaN(), 2}})},
		"has the scores [1 2 +Inf]":  {on: quiet(silent{scores: []float64{1, 2, math.Inf(1)}})},
		"leave out exact, hidden":    {on: a, change: func(_ *Environment, o *Training) { o.Hidden = 3 }},
		"set trust":                  {on: a, change: func(e *Environment, _ *Training) { e.Trust = nil }},
		"an anchor of 2 moves":       {on: a, change: func(e *Environment, _ *Training) { e.Buckets[1].Anchor = []float64{0, 0} }},
		"the anchor acts on the rew": {on: a, change: func(e *Environment, o *Training) { e.Buckets[1].Anchor = make([]float64, 3); o.Exact = true }},
	} {
		e, o := problemsLike(e), o
		if c.change != nil {
			c.change(e, &o)
		}
		if _, _, err := Teach(t.Context(), e, r, o, c.on, Progress{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, _, err := Teach(t.Context(), e, r, o, a, Progress{}, func(Progress, bool) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("what is done cannot be kept: %v", err)
	}
}

// What the last step leaves of a policy is seen when it is played, since no step comes behind it.
func TestAPolicyWithoutNumbersIsAnErrorWhenItIsPlayed(t *testing.T) {
	e, _, _ := told(1)
	p := newTrained(e, newPolicyOn(newActing(e, silent{scores: []float64{math.NaN(), math.NaN(), math.NaN()}})))
	p.Play(Bucket{Text: "p"}, likeliest{})
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "lower the learning rate") {
		t.Errorf("%v", err)
	}
}

// likeliest are coins that choose the likeliest move and never fall otherwise.
type likeliest struct{}

func (likeliest) Choose(_ int, probs []float64) int { return slices.Index(probs, slices.Max(probs)) }
func (likeliest) Malformed(int) bool                { return false }
func (likeliest) Assimilated(int) bool              { return false }
