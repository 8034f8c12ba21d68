// Expectations over the tree of all episodes.

package theory

// evaluate returns what a policy does in expectation, by walking the tree of all episodes. With learn the
// gradient of the expected reward is added to the policy's.
func evaluate(e *Environment, s *scorer, p *policy, learn bool) Snapshot {
	var total tally
	total.expert = make([]float64, len(e.Cost))
	snap := Snapshot{Bucket: make([]float64, len(e.Buckets))}
	for b := range e.Buckets {
		share, start := e.share(b), e.start(b)
		asked := total.asked
		snap.Entropy += share * entropy(p.probs(e, start))
		w := walker{e: e, s: s, p: p, learn: learn, total: &total}
		total.reward += share * w.walk(start, share)
		if share > 0 {
			snap.Bucket[b] = (total.asked - asked) / share
		}
	}
	means := total.snapshot(1)
	means.Entropy, means.Bucket = snap.Entropy, snap.Bucket
	return means
}

// walker visits every episode once.
type walker struct {
	e     *Environment
	s     *scorer
	p     *policy
	learn bool
	total *tally
}

// end counts the episodes that end in a state, reached with probability reach.
func (w *walker) end(s state, reach, right float64) float64 {
	w.total.count(reach, right, s.cost, s.calls, s.called)
	return w.s.score(right, s.cost, s.calls)
}

// broken counts the episodes that a malformed call ends.
func (w *walker) broken(s state, reach float64) float64 {
	w.end(s, reach, 0)
	w.total.broken += reach
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
	if w.learn {
		for a, p := range probs {
			values[a] = reach * p * (values[a] - value)
		}
		w.p.backward(s, values)
	}
	return value
}
