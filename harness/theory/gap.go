// Package theory holds what can be said about trust-region collapse (section 3.1 and appendix A of the paper) without
// a language model: the closed form of when calling an expert stops paying, the effective trust region on a grid, and a
// small multi-round environment in which policies are trained and do collapse, or do not.
//
// One number stands for what the paper argues about language models: the assimilation a, the probability that the
// router uses what an expert tells it. The paper's assumption of strong prior dominance (A.1) is an inequality: there is a
// regime in which an expert's trace does not raise the expected reward. Here that is a*gain <= (1-a)*distraction, which
// a = 0 meets whatever the distraction; it is the case that stands for the assumption. This package shows
// that, and when, training drives calls to zero; it does not show that any router has a small a.
//
// Letters in doc comments: M experts, B buckets of problems, H turns. Costs are in any one unit.
//
// Train follows a policy in expectation; Learn trains one on problems with measured rates that Play then tries on others:
// Router-R1 and xRouter with a small policy in place of their language model.
package theory

import "math"

// Call is the choice between answering alone and asking one expert once (the binary case of appendix A).
type Call struct {
	Self         float64 // probability that the router alone is right
	Expert       float64 // probability that the expert is right
	Cost         float64 // of the call, at least 0
	Lambda       float64 // price of cost in units of reward, at least 0
	Assimilation float64 // probability that the expert's answer is used, 0 to 1
	Distraction  float64 // what Self loses when it is not
}

// gain is what an assimilated answer is worth. The router keeps the better of the two answers.
func (c Call) gain() float64 { return max(c.Expert-c.Self, 0) }

// lost is what a call takes from Self whose answer is not used: Self never falls below 0.
func (c Call) lost() float64 { return min(c.Distraction, c.Self) }

// Gap returns D(a) = a*gain - (1-a)*distraction - lambda*cost: the expected reward of asking and then answering, less
// that of answering at once. The paper's theorem is about a = 0 and all else that meets its assumption: with lambda and cost above 0, D < 0.
func (c Call) Gap() float64 {
	missed := 1 - c.Assimilation
	return (1-missed)*c.gain() - missed*c.lost() - c.Lambda*c.Cost
}

// Threshold returns a* = (lambda*cost + distraction) / (gain + distraction): below it asking once does not pay, whatever
// c.Assimilation says. It exceeds 1 if asking never pays, and is +Inf if nothing can be gained or lost but the cost.
func (c Call) Threshold() float64 {
	if c.gain()+c.lost() == 0 {
		return math.Inf(1)
	}
	return (c.Lambda*c.Cost + c.lost()) / (c.gain() + c.lost())
}

// TrustRegion returns those candidates q = pi'(ask) that are in the effective trust region of appendix A around
// pi(ask) = p: KL(pi'||pi) <= epsilon, expected advantage above 0, q > p. The advantages are those of the two actions
// under pi, computed from their rewards; the closed form is not used.
func TrustRegion(rewardSelf, rewardAsk, p, epsilon float64, candidates []float64) []float64 {
	// Each reward less the mean of both, as shares of their difference, so that equal rewards have advantages of 0 without rounding.
	ask, self := (1-p)*(rewardAsk-rewardSelf), p*(rewardSelf-rewardAsk)
	var in []float64
	for _, q := range candidates {
		if q > p && divergence(q, p) <= epsilon && q*ask+(1-q)*self > 0 {
			in = append(in, q)
		}
	}
	return in
}

// divergence is KL(q||p) of two Bernoulli distributions in nats; +Inf where p excludes what q does not.
func divergence(q, p float64) float64 {
	term := func(q, p float64) float64 {
		if q == 0 {
			return 0
		}
		return q * math.Log(q/p)
	}
	return term(q, p) + term(1-q, 1-p)
}

// Candidates returns policies on the simplex of two actions: n+1 even steps from 0 to 1, and steps that close in on p
// from both sides down to 2^-20 of the distance, so that a narrow trust region is not missed between two of them.
func Candidates(p float64, n int) []float64 {
	var all []float64
	for i := range n + 1 {
		all = append(all, float64(i)/float64(n))
	}
	for i := 1; i <= 20; i++ {
		step := math.Ldexp(1, -i)
		all = append(all, p-p*step, p+(1-p)*step)
	}
	return all
}

// Collapses says that the effective trust region is empty: asking does not pay, or the policy is certain already, so
// that no policy asks more (p = 1) or none that does is within reach (p = 0). Nothing else decides it; epsilon > 0 does
// not.
func Collapses(gap, p float64) bool { return gap <= 0 || p <= 0 || p >= 1 }
