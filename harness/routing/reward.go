// The anchor and the rewards of Stage II, equations 5 to 8 of the paper.

package routing

import (
	"cmp"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// StageTwoKappa returns the pass rates [M], each from 0 to 1, that Stage II works with: the measured ones, except that the strongest
// expert's is 1 by decree when r.StrongestKappa is "one", as appendix C says. Stage I uses the measured rates.
func StageTwoKappa(kappa []float64, strongest int, r spec.Reward) []float64 {
	k := slices.Clone(kappa)
	if r.StrongestKappa == "one" {
		k[strongest] = 1
	}
	return k
}

// Utility returns mu(m,x) = kappa(m,x) - alpha*C(m), [M], of pass rates [M] and costs c [M] in the experiment's unit (equation 5).
func Utility(kappa, c []float64, alpha float64) []float64 {
	mu := make([]float64, len(kappa))
	for m := range mu {
		mu[m] = kappa[m] - alpha*c[m]
	}
	return mu
}

// LogAnchor returns log pi_ref(m|x), [M], the log-softmax of mu/T at a temperature above 0 (equation 6).
func LogAnchor(mu []float64, t float64) []float64 {
	top := slices.Max(mu)
	var z float64
	for _, u := range mu {
		z += math.Exp((u - top) / t)
	}
	lp := make([]float64, len(mu))
	for m, u := range mu {
		lp[m] = (u-top)/t - math.Log(z)
	}
	return lp
}

// TaskReward returns r(m,x), [M], of pass rates and costs [M] as Utility has them (equation 8): kappa*R_succ + (1-kappa)*R_fail, with R_succ of
// appendix D.1 clamped below m_best and decaying above it; or, with r.Kind "sparse", the outcome reward of appendix D.2, which leaves open what another
// expert of m_best's price gets: nothing.
// delta_max, "the maximum cost spread", is max C - min C. kappa is the one of StageTwoKappa.
func TaskReward(kappa, c []float64, tau float64, strongest int, r spec.Reward) []float64 {
	best := MBest(kappa, tau, strongest)
	spread := slices.Max(c) - slices.Min(c)
	out := make([]float64, len(kappa))
	for m := range out {
		if r.Kind == "sparse" {
			switch {
			case m == best:
				out[m] = 1
			case c[m] > c[best]:
				out[m] = 0.5
			}
			continue
		}
		succ := r.Clamp
		if c[m] >= c[best] {
			succ = 1
			if spread > 0 {
				succ = max(1-(c[m]-c[best])/spread*(1-r.Gamma), r.Gamma)
			}
		}
		out[m] = kappa[m]*succ + (1-kappa[m])*r.Fail
	}
	return out
}

// ShapedReward returns r(m,x) + beta*log pi_ref(m|x), [M] (appendix B.2), with beta = a.Strength*a.T.
// Since log pi_ref = mu/T - log Z and the log Z of a problem is the same for every expert, group-normalised
// advantages depend on beta/T alone.
func ShapedReward(kappa, c []float64, tau float64, strongest int, r spec.Reward, a spec.Anchor) []float64 {
	out := TaskReward(kappa, c, tau, strongest, r)
	if a.Strength == 0 {
		return out
	}
	lp := LogAnchor(Utility(kappa, c, a.Alpha), a.T)
	for m := range out {
		out[m] += a.Strength * a.T * lp[m]
	}
	return out
}

// Balance cuts the class of problems whose m_best is the cheapest expert to the size of the second largest class
// (appendix C: "random downsampling on this class to ensure a balanced distribution"; the size is our reading).
// Which ones stay depends on their ids and s alone. The order of the rest is kept.
func Balance(examples []Example, tau float64, strongest int, r spec.Reward, s seed.Seed) []Example {
	if len(examples) == 0 {
		return examples
	}
	best := make([]int, len(examples))
	size := make([]int, len(examples[0].Kappa))
	for i, e := range examples {
		best[i] = MBest(StageTwoKappa(e.Kappa, strongest, r), tau, strongest)
		size[best[i]]++
	}
	keep := slices.Max(size[1:])
	if size[0] <= keep {
		return examples
	}
	var cheap []int
	for i, b := range best {
		if b == 0 {
			cheap = append(cheap, i)
		}
	}
	slices.SortFunc(cheap, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(s.Derive("balance", examples[a].Problem.ID), s.Derive("balance", examples[b].Problem.ID)),
			cmp.Compare(examples[a].Problem.ID, examples[b].Problem.ID))
	})
	drop := make(map[int]bool, size[0]-keep)
	for _, i := range cheap[keep:] {
		drop[i] = true
	}
	out := make([]Example, 0, len(examples)-len(drop))
	for i, e := range examples {
		if !drop[i] {
			out = append(out, e)
		}
	}
	return out
}
