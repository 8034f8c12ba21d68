package theory

import "math"

// policy is a softmax over the actions that a state allows, with one row of logits a bucket and number of calls so far.
type policy struct {
	actions, rows int       // rows a bucket: Horizon+1
	logits        []float64 // [B*rows*actions]
	grad          []float64 // of what is maximised
	first, second []float64 // Adam's moments
	buffer        []float64 // [actions]
}

// newPolicy is the cold start: in every state the experts share the probability initial evenly, and the other actions
// that the state allows share the rest.
func newPolicy(e *Environment, initial float64) *policy {
	p := &policy{actions: e.actions(), rows: e.Horizon + 1}
	n := len(e.Buckets) * p.rows * p.actions
	p.logits, p.grad, p.first, p.second = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	p.buffer = make([]float64, p.actions)
	m := float64(len(e.Cost))
	for i := range p.logits {
		if a := i % p.actions; a >= 1 && a <= len(e.Cost) {
			p.logits[i] = math.Log(initial / (1 - initial) / m)
		}
	}
	return p
}

func (p *policy) row(s state) int { return (s.bucket*p.rows + s.calls) * p.actions }

// probs returns the probabilities of the actions; the slice is reused by the next call.
func (p *policy) probs(e *Environment, s state) []float64 {
	logits := p.logits[p.row(s) : p.row(s)+p.actions]
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

// push adds weight times the gradient of log pi(action|state), and bonus times that of the state's entropy.
func (p *policy) push(e *Environment, v move, weight, bonus float64) {
	probs := p.probs(e, v.state)
	grad := p.grad[p.row(v.state) : p.row(v.state)+p.actions]
	for a, q := range probs {
		grad[a] -= weight * q
	}
	grad[v.action] += weight
	addEntropy(grad, probs, bonus)
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
		addEntropy(p.grad[p.row(s):p.row(s)+p.actions], p.probs(e, s), bonus*e.share(b))
	}
}

// ascend makes one step of Adam (0.9, 0.999, 1e-8) up the gradient; step counts from 1.
func (p *policy) ascend(lr float64, step int) {
	c1, c2 := 1-math.Pow(0.9, float64(step)), 1-math.Pow(0.999, float64(step))
	for i, g := range p.grad {
		p.first[i] = 0.9*p.first[i] + 0.1*g
		p.second[i] = 0.999*p.second[i] + 0.001*g*g
		p.logits[i] += lr * (p.first[i] / c1) / (math.Sqrt(p.second[i]/c2) + 1e-8)
	}
}

// tally sums expectations over episodes.
type tally struct {
	right, rightCall   float64
	asked, calls, cost float64
	reward             float64
	expert             []float64
}

// evaluate returns what a policy does in expectation, by walking the tree of all episodes. If grad is not nil the
// gradient of the expected reward is added to it.
func evaluate(e *Environment, s *scorer, p *policy, grad []float64) Snapshot {
	var total tally
	total.expert = make([]float64, len(e.Cost))
	snap := Snapshot{Bucket: make([]float64, len(e.Buckets))}
	for b := range e.Buckets {
		share, start := e.share(b), e.start(b)
		asked := total.asked
		snap.Entropy += share * entropy(p.probs(e, start))
		w := walker{e: e, s: s, p: p, grad: grad, total: &total}
		total.reward += share * w.walk(start, share)
		if share > 0 {
			snap.Bucket[b] = (total.asked - asked) / share
		}
	}
	snap.CallRate, snap.Calls, snap.Cost, snap.Reward = total.asked, total.calls, total.cost, total.reward
	snap.Accuracy, snap.Expert = total.right, total.expert
	snap.AccuracyCall = total.rightCall / total.asked
	snap.AccuracyNone = (total.right - total.rightCall) / (1 - total.asked)
	return snap
}

// walker visits every episode once.
type walker struct {
	e     *Environment
	s     *scorer
	p     *policy
	grad  []float64
	total *tally
}

// end counts the episodes that end in a state, reached with probability reach.
func (w *walker) end(s state, reach, right float64) float64 {
	t := w.total
	t.right += reach * right
	t.cost += reach * s.cost
	t.calls += reach * float64(s.calls)
	if s.calls > 0 {
		t.asked += reach
		t.rightCall += reach * right
	}
	for m := range t.expert {
		if s.called&(1<<m) != 0 {
			t.expert[m] += reach
		}
	}
	return w.s.score(right, s.cost, s.calls)
}

// broken counts the episodes that a malformed call ends.
func (w *walker) broken(s state, reach float64) float64 {
	w.end(s, reach, 0)
	return malformed
}

// walk returns the expected reward from a state on.
func (w *walker) walk(s state, reach float64) float64 {
	probs := append(make([]float64, 0, 2*maxExperts+1), w.p.probs(w.e, s)...)
	m := len(w.e.Cost)
	values := make([]float64, len(probs))
	var value float64
	for a, p := range probs {
		if p == 0 {
			continue
		}
		switch {
		case a == 0:
			values[a] = w.end(s, reach*p, s.quality())
		case a > m:
			values[a] = w.end(s, reach*p, w.e.Buckets[s.bucket].Expert[a-m-1])
		default:
			assimilated, ignored := w.e.ask(s, a-1)
			fail, use := w.e.FormatFail, w.e.Assimilation
			if fail > 0 {
				values[a] += fail * w.broken(s, reach*p*fail)
			}
			if use > 0 {
				values[a] += (1 - fail) * use * w.walk(assimilated, reach*p*(1-fail)*use)
			}
			if use < 1 {
				values[a] += (1 - fail) * (1 - use) * w.walk(ignored, reach*p*(1-fail)*(1-use))
			}
		}
		value += p * values[a]
	}
	if w.grad != nil {
		row := w.p.row(s)
		for a, p := range probs {
			w.grad[row+a] += reach * p * (values[a] - value)
		}
	}
	return value
}
