// The targets of Stage I, equations 1 to 3 of the paper.

package routing

import (
	"math"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// slack lets a pass rate such as 0.6+0.2 count as 0.8, and sums of pass rates that differ by rounding as equal.
const slack = 1e-9

// Costs returns C(m) of equation 1 for experts in order: the output price in USD per million tokens
// ("usd_per_mtok", as the paper's numbers imply) or that price divided by the dearest of the pool ("normalised").
func Costs(experts []Expert, unit string) []float64 {
	c := make([]float64, len(experts))
	dearest := 0.0
	for m, e := range experts {
		c[m] = e.Price.Out
		dearest = max(dearest, c[m])
	}
	if unit == "normalised" && dearest > 0 {
		for m := range c {
			c[m] /= dearest
		}
	}
	return c
}

// Strongest returns the expert that is taken where none is reliable, by the rule of spec.Targets: the dearest, which is the last, or
// the one with the highest mean pass rate on some problems, the cheapest of equals.
func Strongest(examples []Example, experts int, rule string) int {
	if rule != "accuracy" {
		return experts - 1
	}
	best, top := 0, math.Inf(-1)
	for m := range experts {
		var sum float64
		for _, e := range examples {
			sum += e.Kappa[m]
		}
		if sum > top+slack {
			best, top = m, sum
		}
	}
	return best
}

// MBest returns the most economical expert that passes the threshold (equation 1). kappa is [M], cheapest first.
// If none passes it is the strongest (appendix C).
func MBest(kappa []float64, tau float64, strongest int) int {
	for m, k := range kappa {
		if k >= tau-slack {
			return m
		}
	}
	return strongest
}

// topK returns the k cheapest experts that pass the threshold, fewer if fewer pass (equation 2, which is infeasible
// then; appendix C keeps those that do).
func topK(kappa []float64, tau float64, k int) []int {
	var top []int
	for m, v := range kappa {
		if v >= tau-slack && len(top) < k {
			top = append(top, m)
		}
	}
	return top
}

// Target is Q(m|x) of equation 3 with the weight of its problem in the Stage I loss.
type Target struct {
	Prob   []float64 // [M], sums to 1
	Weight float64
}

// NewTarget builds the Stage I target of one problem, a distribution [M], of the experts' pass rates [M] and the probe's, each from 0 to 1
// (equations 1 to 3, appendix C).
//
//   - The gate is open when the probe's pass rate reaches tau; the target is then the cheapest expert of the pool.
//     The text and appendix C say so; equation 3 says m_best, which differs when the cheapest fails where the probe passes.
//   - Otherwise the mass is spread evenly over the p.K cheapest that pass; with p.Soft false, or where nobody passes, it is all on m_best.
//   - If m_best is the strongest the problem weighs p.HardWeight (the paper's two rationales for the same label). In the paper nobody else
//     has passed then; where the strongest is not the dearest, a dearer expert may have, and has its part of the mass.
func NewTarget(kappa []float64, probe float64, strongest int, p spec.Targets) Target {
	t := Target{Prob: make([]float64, len(kappa)), Weight: 1}
	if p.Gate && probe >= p.Tau-slack {
		t.Prob[0] = 1
		return t
	}
	best := MBest(kappa, p.Tau, strongest)
	if best == strongest {
		t.Weight = p.HardWeight
	}
	top := topK(kappa, p.Tau, p.K)
	if !p.Soft || len(top) == 0 {
		top = []int{best}
	}
	for _, m := range top {
		t.Prob[m] = 1 / float64(len(top))
	}
	return t
}
