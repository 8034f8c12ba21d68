// A policy whose weights are elsewhere, as those of a language model are.

package theory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Actor is a policy whose weights are elsewhere. Actions are answering, asking each of M experts and, where answers may be handed
// over, handing over that of each: 1+M or 1+2M. An episode asks it for scores; the probabilities of what a situation allows are
// their softmax.
type Actor interface {
	// Scores returns one number an action, which are the callee's to reuse. One that is not finite ends the training, or what is played, with an error.
	Scores(at Situation) ([]float64, error)
	// Learn takes a step at a rate that raises the sum over situations and actions of slopes times scores. Slopes are the
	// derivatives of what is maximised by the scores: of the sum over the moves of episodes of advantage times log-probability.
	Learn(rate float64, at []Situation, slopes [][]float64) error
}

// Progress is what a training of an Actor needs to go on behind its last step, beside the Actor's own weights.
type Progress struct {
	Log    []Snapshot // one of each step
	Window []float64  // what router_r1 remembers of costs, oldest first
}

// Teach is Learn for an Actor, by GRPO. It goes on behind the steps that are done, and hands what is done to keep after each one, and once
// more where it stops since its context ended; keep may be nil. Gradients are cut, and weights decay, as the Actor does it: ClipNorm and WeightDecay must be left out.
func Teach(ctx context.Context, e *Environment, r Reward, t Training, on Actor, done Progress, keep func(far Progress, stopped bool) error) (*Policy, []Snapshot, error) {
	if err := Check(e, r, t); err != nil {
		return nil, nil, err
	}
	if e.Trust == nil || t.Hidden != 0 || t.Exact || t.Algorithm == PPO || t.ClipNorm != 0 || t.WeightDecay != 0 {
		return nil, nil, errors.New("training: an actor is taught by sampled GRPO where answers stand by trust; set trust, and leave out exact, hidden, clip_norm and weight_decay")
	}
	a := newActing(e, on)
	x := newTrainer(e, r, t, newPolicyOn(a))
	x.s.recall(done.Window)
	for step := len(done.Log) + 1; step <= t.Steps; step++ {
		if err := ctx.Err(); err != nil {
			if keep != nil && len(done.Log) > 0 {
				err = errors.Join(err, keep(done, true))
			}
			return nil, nil, fmt.Errorf("training: stopped before step %d: %w", step, err)
		}
		snap := x.follow(step)
		if a.err != nil {
			return nil, nil, fmt.Errorf("training: step %d: %w", step, a.err)
		}
		done.Log, done.Window = append(done.Log, snap), x.s.window()
		if keep != nil {
			if err := keep(done, false); err != nil {
				return nil, nil, fmt.Errorf("training: step %d: %w", step, err)
			}
		}
	}
	return newTrained(e, x.p), done.Log, nil
}

// Err returns the first error of the actor behind a policy, after which what Play returned means nothing.
func (p *Policy) Err() error {
	if a, ok := p.p.network.(*acting); ok {
		return a.err
	}
	return nil
}

// acting is an actor as a network. It asks nothing twice between two steps. After an error it returns zeros, and learns nothing.
type acting struct {
	Actor
	e       *Environment
	width   int
	known   map[heard][]float64 // scores
	places  map[heard]int       // in at and slopes
	visited []Situation         // with a slope, in the order in which they came
	slopes  [][]float64
	err     error // the first
}

// heard is a situation as a key.
type heard struct {
	text  string
	calls int
	asked [maxHorizon]uint8
}

func newActing(e *Environment, on Actor) *acting {
	return &acting{Actor: on, e: e, width: e.actions(), known: map[heard][]float64{}, places: map[heard]int{}}
}

func (n *acting) key(s state) heard {
	return heard{n.e.Buckets[s.bucket].Text, s.calls, s.asked}
}

func (k heard) situation() Situation {
	at := Situation{Text: k.text}
	for _, m := range k.asked[:k.calls] {
		at.Asked = append(at.Asked, int(m))
	}
	return at
}

func (n *acting) outputs() int { return n.width }

func (n *acting) forward(s state) []float64 {
	key := n.key(s)
	if scores, ok := n.known[key]; ok {
		return scores
	}
	scores := make([]float64, n.width)
	if n.err == nil {
		got, err := n.Scores(key.situation())
		if err == nil && len(got) != n.width {
			err = fmt.Errorf("%d scores for %d actions", len(got), n.width)
		}
		if err == nil && slices.ContainsFunc(got, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			err = fmt.Errorf("the policy has the scores %v, which are no numbers to choose by; lower the learning rate", got)
		}
		if n.err = err; err == nil {
			copy(scores, got)
		}
	}
	n.known[key] = scores
	return scores
}

func (n *acting) backward(s state, slope []float64) {
	key := n.key(s)
	place, ok := n.places[key]
	if !ok {
		place = len(n.visited)
		n.places[key] = place
		n.visited, n.slopes = append(n.visited, key.situation()), append(n.slopes, make([]float64, n.width))
	}
	for a, d := range slope {
		n.slopes[place][a] += d
	}
}

func (n *acting) clear() {
	clear(n.places)
	n.visited, n.slopes = nil, nil
}

func (n *acting) update(rate, _, _ float64) {
	if n.err == nil && len(n.visited) > 0 {
		n.err = n.Learn(rate, n.visited, n.slopes)
	}
	clear(n.known)
}

func (n *acting) at(e *Environment) network { return newActing(e, n.Actor) }

// window returns what the scorer remembers, oldest first; recall takes it up.
func (s *scorer) window() []float64 { return slices.Concat(s.recent[s.next:], s.recent[:s.next]) }

func (s *scorer) recall(window []float64) {
	s.recent, s.next = slices.Clone(window), 0
	s.sorted = slices.Sorted(slices.Values(window))
}
