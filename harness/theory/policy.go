// A policy over the actions that a state allows.

package theory

import "math"

// policy is a softmax over the actions that a state allows.
type policy struct {
	network
	buffer, slope []float64 // [actions]
	known         *chances  // nil: none
}

// chances are the probabilities that a policy has computed since its last step: episodes and lessons come to the same states many times
// in between.
type chances struct {
	lasts, calls, sets int     // of a state: whom it called last, how many calls, which set of experts
	places             []int32 // [bucket, calls, last, set] where a state's probabilities lie, from 1; 0: they are not known
	seen               []int   // the states that are, as indices into places
	probs              []float64
}

// mostPlaces bounds the memory of chances, to 16 MB.
const mostPlaces = 1 << 22

// remember makes a policy compute no probabilities twice between two steps, for as long as its weights change by steps alone. Those of an
// Actor hang on more than a place tells, and it has a memory of its own.
func (p *policy) remember(e *Environment) {
	switch p.network.(type) {
	case *table, *perceptron:
	default:
		return
	}
	remember(p.network)
	c := &chances{lasts: len(e.Cost) + 1, calls: e.Horizon + 1, sets: 1}
	if e.Select {
		c.sets = 1 << len(e.Cost)
	}
	if n := len(e.Buckets) * c.calls * c.lasts * c.sets; n <= mostPlaces {
		c.places = make([]int32, n)
		p.known = c
	}
}

func (p *policy) update(lr, decay, norm float64) {
	p.network.update(lr, decay, norm)
	if c := p.known; c != nil {
		for _, at := range c.seen {
			c.places[at] = 0
		}
		c.seen, c.probs = c.seen[:0], c.probs[:0]
	}
}

// move is an action with the state that it was taken in and the probability that it had.
type move struct {
	state  state
	action int
	prob   float64
}

// newPolicy is the cold start: in every state the experts share the probability initial evenly, and the other actions
// that the state allows share the rest.
func newPolicy(e *Environment, t Training) *policy {
	n := e.actions()
	start := make([]float64, n)
	for a := 1; a <= len(e.Cost); a++ {
		start[a] = math.Log(t.InitialCall / (1 - t.InitialCall) / float64(len(e.Cost)))
	}
	return newPolicyOn(newNetwork(e, t, policyLayer, start))
}

// ColdStart returns the probabilities of the actions before training in a situation: experts share call, see newPolicy.
func (e *Environment) ColdStart(at Situation, call float64) []float64 {
	one := *e
	one.Buckets = []Bucket{{Expert: make([]float64, len(e.Cost))}}
	s := one.start(0)
	for _, m := range at.Asked {
		s, _ = one.ask(s, m)
	}
	return newPolicy(&one, Training{InitialCall: call}).probs(&one, s)
}

func newPolicyOn(n network) *policy {
	return &policy{network: n, buffer: make([]float64, n.outputs()), slope: make([]float64, n.outputs())}
}

// probs returns the probabilities [actions], from memory where they are known. The slice may be reused by the next call, and nobody writes to it.
func (p *policy) probs(e *Environment, s state) []float64 {
	c := p.known
	if c == nil {
		return p.softmax(e, s)
	}
	at := (s.bucket*c.calls+s.calls)*c.lasts + s.last
	if c.sets > 1 {
		at = at*c.sets + int(s.called)
	}
	n := len(p.buffer)
	if c.places[at] == 0 {
		c.seen = append(c.seen, at)
		c.probs = append(c.probs, p.softmax(e, s)...)
		c.places[at] = int32(len(c.seen))
	}
	place := int(c.places[at])
	return c.probs[(place-1)*n : place*n : place*n]
}

// softmax computes the probabilities [actions] in a state.
func (p *policy) softmax(e *Environment, s state) []float64 {
	logits := p.forward(s)
	top := math.Inf(-1)
	for a, l := range logits {
		if e.allowed(s, a) {
			top = max(top, l)
		}
	}
	var sum float64
	for a, l := range logits {
		p.buffer[a] = 0
		if e.allowed(s, a) {
			p.buffer[a] = math.Exp(l - top)
			sum += p.buffer[a]
		}
	}
	for a := range p.buffer {
		p.buffer[a] /= sum
	}
	return p.buffer
}

func entropy(probs []float64) float64 {
	var h float64
	for _, p := range probs {
		if p > 0 {
			h -= p * math.Log(p)
		}
	}
	return h
}

// push adds weight times the gradient of log pi(action|state), and bonus times that of the state's entropy. probs are
// those of the state.
func (p *policy) push(v move, probs []float64, weight, bonus float64) {
	for a, q := range probs {
		p.slope[a] = -weight * q
	}
	p.slope[v.action] += weight
	addEntropy(p.slope, probs, bonus)
	p.backward(v.state, p.slope)
}

// addEntropy adds weight times the gradient of the entropy of probs with respect to the logits.
func addEntropy(grad, probs []float64, weight float64) {
	if weight == 0 {
		return
	}
	h := entropy(probs)
	for a, q := range probs {
		if q > 0 {
			grad[a] -= weight * q * (math.Log(q) + h)
		}
	}
}

// entropyGradient adds the bonus of the first state of every bucket, by its share: the exact counterpart of the bonus
// at visited states, which are first states alone once calls are rare.
func (p *policy) entropyGradient(e *Environment, bonus float64) {
	for b := range e.Buckets {
		s := e.start(b)
		clear(p.slope)
		addEntropy(p.slope, p.probs(e, s), bonus*e.share(b))
		p.backward(s, p.slope)
	}
}

// Coins decide what a policy and an environment leave open. calls counts those made before.
type Coins interface {
	Choose(calls int, probs []float64) int // an action, by the policy's probabilities
	Malformed(calls int) bool              // whether a call breaks the format
	Assimilated(calls int) bool            // whether the answer to a call is used
}

// run plays an episode from a state on and returns where it ends and with which action; broken if a malformed call
// ended it, which reaches no expert and costs nothing. visit hears of every choice; the probabilities are its to read
// until it returns. first are the probabilities in s, which the episodes of a group share; nil: not known yet.
func (p *policy) run(e *Environment, s state, first []float64, coins Coins, visit func(s state, action int, probs []float64)) (end state, action int, broken bool) {
	for {
		action = 0
		if s.calls < e.Horizon || e.Select {
			probs := first
			if s.calls > 0 || first == nil {
				probs = p.probs(e, s)
			}
			action = coins.Choose(s.calls, probs)
			visit(s, action, probs)
		}
		if action == 0 || action > len(e.Cost) {
			return s, action, false
		}
		if coins.Malformed(s.calls) {
			return s, action, true
		}
		used := coins.Assimilated(s.calls)
		assimilated, ignored := e.ask(s, action-1)
		if s = ignored; used {
			s = assimilated
		}
	}
}

// Policy is a trained policy, to be tried on problems that it was not trained on.
type Policy struct {
	e Environment // its one bucket is the problem at hand
	p *policy     // reads e
}

func newTrained(e *Environment, p *policy) *Policy {
	t := &Policy{e: *e}
	t.p = newPolicyOn(p.at(&t.e))
	return t
}

// Course is how an episode went.
type Course struct {
	First   []float64 // [M] probability that the first move asks each expert; the rest is that of answering at once
	Calls   []int     // experts asked, in order
	Expert  int       // whose answer stands; -1: the router's own
	Ignored int       // calls whose answers were not used
	Broken  bool      // a malformed call ended the episode without an answer
}

// Play runs the policy on a problem of which it sees what the buckets of its training had: Features or a Text.
func (p *Policy) Play(problem Bucket, coins Coins) Course {
	m := len(p.e.Cost)
	problem.Expert = make([]float64, m)
	p.e.Buckets = []Bucket{problem}
	c := Course{Expert: -1}
	end, action, broken := p.p.run(&p.e, p.e.start(0), nil, coins, func(s state, action int, probs []float64) {
		if c.First == nil {
			c.First = append([]float64(nil), probs[1:m+1]...)
		}
		if action >= 1 && action <= m {
			c.Calls = append(c.Calls, action-1)
		}
	})
	if c.Broken = broken; broken {
		c.Calls = c.Calls[:len(c.Calls)-1]
		return c
	}
	c.Ignored = end.ignored
	c.Expert = end.author - 1
	if action > m {
		c.Expert = action - m - 1
	}
	return c
}
