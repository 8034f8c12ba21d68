// The multi-round decision problem: states, actions and what follows from them.

package theory

import (
	"fmt"
	"math"
)

// Environment is the multi-round decision problem. In every turn the router answers, asks one of M experts or, with
// Select, hands over the answer of an expert that it has asked. After Horizon calls it answers with what it has.
//
// A call is assimilated with probability Assimilation: the router's answer is then at least as good as the expert's.
// Otherwise its own chance of being right falls by Distraction. The router does not see which of the two happened.
//
// Buckets are kinds of problem with known rates or, with Trust, single problems with measured ones. The better of two
// measured rates is as often the luckier, so the answer that stands is then that of the author who is right more often
// on the whole, and distraction is relative: it cannot take from a rate of 0, as the rate of one problem often is.
type Environment struct {
	Cost    []float64 // [M] of one call, in any unit
	Buckets []Bucket  // [B]
	Trust   []float64 // [1+M] how often the router and each expert are right on the whole; nil: of two answers the better stands

	Horizon      int     // H, calls at most; 4 in Router-R1
	Assimilation float64 // a, 0 to 1
	Distraction  float64 // delta, 0 to 1
	FormatFail   float64 // probability that a call is malformed and ends the episode with reward -1
	Select       bool    // allows to hand over an expert's answer as it is: there a is 1 whatever Assimilation says
}

// Bucket is a kind of problem.
type Bucket struct {
	Share  float64   // of the problems; shares are weights and need not sum to 1
	Self   float64   // probability that the router alone is right
	Expert []float64 // [M] probability that an expert is right

	Cost     []float64 // [M] of one call; nil: that of the environment
	Features []float64 // [D] what a network sees of the problem; a table tells buckets apart by themselves
	Text     string    // what an Actor sees of it

	// Anchor [1+M] is added to the reward that GRPO learns from, by the first move: answering, asking each expert. Snapshots are
	// without it. nil: none.
	Anchor []float64
}

// Situation is what an Actor sees of where an episode stands.
type Situation struct {
	Text  string // of the problem
	Asked []int  // experts asked so far, in order; all have answered
}

// maxExperts bounds the width of a state's set of called experts, maxHorizon that of its list of calls: exact values walk a tree
// that is exponential in it.
const maxExperts, maxHorizon = 16, 6

// check reports the first thing that makes no sense.
func (e *Environment) check() error {
	if len(e.Cost) == 0 || len(e.Cost) > maxExperts {
		return fmt.Errorf("environment: %d experts; want 1 to %d", len(e.Cost), maxExperts)
	}
	for m, c := range e.Cost {
		if !(c >= 0) || math.IsInf(c, 1) {
			return fmt.Errorf("environment: cost of expert %d is %v; want a number of at least 0", m, c)
		}
	}
	if len(e.Buckets) == 0 {
		return fmt.Errorf("environment: no buckets; want at least one")
	}
	unit := func(what string, p float64) error {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("environment: %s is %v; want 0 to 1", what, p)
		}
		return nil
	}
	var share float64
	for i, b := range e.Buckets {
		if len(b.Expert) != len(e.Cost) {
			return fmt.Errorf("environment: bucket %d has %d experts, there are %d", i, len(b.Expert), len(e.Cost))
		}
		if b.Cost != nil && len(b.Cost) != len(e.Cost) {
			return fmt.Errorf("environment: bucket %d has %d costs, there are %d experts", i, len(b.Cost), len(e.Cost))
		}
		for m, c := range b.Cost {
			if !(c >= 0) || math.IsInf(c, 1) {
				return fmt.Errorf("environment: cost of expert %d in bucket %d is %v; want a number of at least 0", m, i, c)
			}
		}
		if b.Anchor != nil && len(b.Anchor) != 1+len(e.Cost) {
			return fmt.Errorf("environment: bucket %d has an anchor of %d moves; want answering and %d experts", i, len(b.Anchor), len(e.Cost))
		}
		if len(b.Features) != len(e.Buckets[0].Features) {
			return fmt.Errorf("environment: bucket %d has %d features, the first has %d", i, len(b.Features), len(e.Buckets[0].Features))
		}
		for m, p := range b.Expert {
			if err := unit(fmt.Sprintf("success of expert %d in bucket %d", m, i), p); err != nil {
				return err
			}
		}
		if err := unit(fmt.Sprintf("success of the router in bucket %d", i), b.Self); err != nil {
			return err
		}
		if !(b.Share >= 0) || math.IsInf(b.Share, 1) {
			return fmt.Errorf("environment: share of bucket %d is %v; want a number of at least 0", i, b.Share)
		}
		share += b.Share
	}
	if share <= 0 {
		return fmt.Errorf("environment: the shares of the buckets add up to %v; want more than 0", share)
	}
	if e.Trust != nil && len(e.Trust) != 1+len(e.Cost) {
		return fmt.Errorf("environment: trust in %d authors; want the router and %d experts", len(e.Trust), len(e.Cost))
	}
	if e.Horizon < 1 || e.Horizon > maxHorizon {
		return fmt.Errorf("environment: horizon is %d; want 1 to %d", e.Horizon, maxHorizon)
	}
	for _, p := range []struct {
		what  string
		value float64
	}{{"assimilation", e.Assimilation}, {"distraction", e.Distraction}, {"format_fail", e.FormatFail}} {
		if err := unit(p.what, p.value); err != nil {
			return err
		}
	}
	return nil
}

// share returns a bucket's part of all problems.
func (e *Environment) share(bucket int) float64 {
	var sum float64
	for _, b := range e.Buckets {
		sum += b.Share
	}
	return e.Buckets[bucket].Share / sum
}

// Actions are numbered: 0 answers, 1 to M ask, M+1 to 2M hand over.
func (e *Environment) actions() int {
	if e.Select {
		return 1 + 2*len(e.Cost)
	}
	return 1 + len(e.Cost)
}

// state is where an episode stands.
type state struct {
	bucket, calls int
	called        uint32            // set of experts that have answered
	own           float64           // the router's own chance of being right
	best          float64           // of the assimilated answer that stands
	cost          float64           // paid so far
	author        int               // with Trust: whose answer stands, 0 the router's, 1 to M an expert's
	last          int               // expert called last, 1 to M; 0: none
	ignored       int               // calls that were not assimilated
	asked         [maxHorizon]uint8 // whom each call asked, 0 to M-1
}

func (e *Environment) start(bucket int) state {
	return state{bucket: bucket, own: e.Buckets[bucket].Self}
}

// quality is the probability that answering now is right.
func (s state) quality() float64 {
	if s.author > 0 {
		return s.best
	}
	return max(s.own, s.best)
}

// allowed says whether an action can be taken.
func (e *Environment) allowed(s state, action int) bool {
	m := len(e.Cost)
	switch {
	case action == 0:
		return true
	case action <= m:
		return s.calls < e.Horizon
	default:
		return s.called&(1<<(action-m-1)) != 0
	}
}

// cost is that of one call of an expert in a bucket.
func (e *Environment) cost(bucket, m int) float64 {
	if own := e.Buckets[bucket].Cost; own != nil {
		return own[m]
	}
	return e.Cost[m]
}

// ask returns the two states that a well-formed call leads to.
func (e *Environment) ask(s state, m int) (assimilated, ignored state) {
	b := &e.Buckets[s.bucket]
	s.asked[s.calls] = uint8(m)
	s.calls++
	s.called |= 1 << m
	s.last = 1 + m
	s.cost += e.cost(s.bucket, m)
	assimilated, ignored = s, s
	ignored.ignored++
	if e.Trust == nil {
		assimilated.best = max(s.best, b.Expert[m])
		ignored.own = max(s.own-e.Distraction, 0)
		return assimilated, ignored
	}
	if e.Trust[1+m] > e.Trust[s.author] {
		assimilated.author, assimilated.best = 1+m, b.Expert[m]
	}
	ignored.own *= 1 - e.Distraction
	return assimilated, ignored
}

// lead returns what the best plan of calls earns in a bucket above answering at once, under R = correct - lambda*cost:
// D of the whole environment. As the router does not see whether a call was assimilated, plans are fixed sequences and
// the maximum over all sequences of 1 to Horizon calls is exact. Malformed calls and Select are not in it.
func (e *Environment) lead(bucket int, lambda float64) float64 {
	best := math.Inf(-1)
	// outcomes are the states a sequence can have led to, with their probabilities.
	type outcome struct {
		state
		p float64
	}
	var extend func(from []outcome)
	extend = func(from []outcome) {
		for m := range e.Cost {
			to := make([]outcome, 0, 2*len(from))
			value := -e.Buckets[bucket].Self
			for _, o := range from {
				a, i := e.ask(o.state, m)
				to = append(to, outcome{a, o.p * e.Assimilation}, outcome{i, o.p * (1 - e.Assimilation)})
			}
			for _, o := range to {
				value += o.p * (o.quality() - lambda*o.cost)
			}
			best = max(best, value)
			if to[0].calls < e.Horizon {
				extend(to)
			}
		}
	}
	extend([]outcome{{e.start(bucket), 1}})
	return best
}

// Threshold returns the assimilation below which no plan of calls pays in a bucket, by bisection: every plan's lead
// rises with the assimilation. It is +Inf if none pays even at 1.
func (e *Environment) Threshold(bucket int, lambda float64) float64 {
	at := func(a float64) float64 {
		x := *e
		x.Assimilation = a
		return x.lead(bucket, lambda)
	}
	if at(1) <= 0 {
		return math.Inf(1)
	}
	low, high := 0.0, 1.0
	for high-low > 1e-9 {
		if middle := (low + high) / 2; at(middle) > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// Calls returns the binary choices of a bucket, one an expert.
func (e *Environment) Calls(bucket int, lambda float64) []Call {
	var all []Call
	for m := range e.Cost {
		b := e.Buckets[bucket]
		all = append(all, Call{Self: b.Self, Expert: b.Expert[m], Cost: e.cost(bucket, m), Lambda: lambda, Assimilation: e.Assimilation, Distraction: e.Distraction})
	}
	return all
}
