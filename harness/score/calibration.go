// Numbers about estimates of pass rates, held against the truth.

package score

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Calibration holds the true success probabilities that estimates of pass rates are compared with.
type Calibration struct {
	Pool    string
	Experts []string    // [M]
	Tau     float64     // pass rate from which an expert suffices
	Truth   [][]float64 // [P][M]
}

// Measured compares the pass rates [P][M] of so many rollouts, in one bin a possible rate.
func (c *Calibration) Measured(rates [][]float64, rollouts int) []metrics.Measurement {
	return c.compare(units.MeasuredRate, rates, rollouts+1, func(k float64) int { return int(math.Round(k * float64(rollouts))) })
}

// Shrunk compares the estimates [P][M] of a regression, in ten bins.
func (c *Calibration) Shrunk(rates [][]float64) []metrics.Measurement {
	return c.compare(units.ShrunkRate, rates, 10, func(k float64) int { return min(int(10*k), 9) })
}

// compare measures estimates [P][M]: by bins of the estimate, by expert, and by the m_best that they name.
func (c *Calibration) compare(estimate string, rates [][]float64, bins int, bin func(float64) int) []metrics.Measurement {
	var out []metrics.Measurement
	at := metrics.Keys("pool", c.Pool, "estimate", estimate)
	for m, id := range c.Experts {
		in := make([][]float64, bins) // truths
		sum := make([]float64, bins)  // of estimates
		var squares, bias float64
		for i, r := range rates {
			b, t := bin(r[m]), c.Truth[i][m]
			in[b], sum[b] = append(in[b], t), sum[b]+r[m]
			squares += (r[m] - t) * (r[m] - t) / float64(len(rates))
			bias += (r[m] - t) / float64(len(rates))
		}
		of := append(slices.Clone(at), metrics.Key{Name: "expert", Value: id})
		out = append(out, metrics.Measurement{Name: units.RateErrors, Keys: of, N: len(rates), Values: []metrics.Value{
			metrics.Rounded(100*math.Sqrt(squares), units.RateError, 2), metrics.Rounded(100*bias, units.RateBias, 2)}})
		for b, truths := range in {
			if len(truths) == 0 {
				continue
			}
			slices.Sort(truths)
			mean := 0.0
			for _, t := range truths {
				mean += t / float64(len(truths))
			}
			n := len(truths)
			out = append(out, metrics.Measurement{Name: units.RateBin, Keys: append(slices.Clone(of), metrics.Key{Name: "bin", Value: fmt.Sprintf("%02d", b)}), N: n, Values: []metrics.Value{
				metrics.Rounded(100*sum[b]/float64(n), units.EstimatedRate, 2),
				metrics.Rounded(100*mean, units.TrueRate, 2).Within(100*truths[n/10], 100*truths[n-1-n/10])}})
		}
	}
	var cheap, dear float64
	for i, r := range rates {
		switch named, best := routing.MBest(r, c.Tau, len(r)-1), routing.MBest(c.Truth[i], c.Tau, len(r)-1); {
		case named < best:
			cheap += 100 / float64(len(rates))
		case named > best:
			dear += 100 / float64(len(rates))
		}
	}
	return append(out, metrics.Measurement{Name: units.RateBest, Keys: at, N: len(rates), Values: wrongBest(cheap, dear)})
}

func wrongBest(cheap, dear float64) []metrics.Value {
	return []metrics.Value{metrics.Rounded(cheap+dear, units.WrongBest, 2), metrics.Rounded(cheap, units.TooCheapBest, 2), metrics.Rounded(dear, units.TooDearBest, 2)}
}

// Expected returns how often the measured m_best would be wrong with other numbers of rollouts: the rollouts of an expert
// on a problem are independent, so its successes are binomial.
func (c *Calibration) Expected(counts []int) []metrics.Measurement {
	var out []metrics.Measurement
	for _, n := range counts {
		var cheap, dear float64
		for _, truth := range c.Truth {
			best := routing.MBest(truth, c.Tau, len(truth)-1)
			left := 100 / float64(len(c.Truth)) // of the problem's weight, for experts from here on
			for m, p := range truth {
				named := left
				if m < len(truth)-1 {
					named *= passes(p, n, c.Tau)
				}
				left -= named
				switch {
				case m < best:
					cheap += named
				case m > best:
					dear += named
				}
			}
		}
		out = append(out, metrics.Measurement{Name: units.RateBest, Keys: metrics.Keys("pool", c.Pool, "samples", fmt.Sprintf("%03d", n)), N: len(c.Truth), Values: wrongBest(cheap, dear)})
	}
	return out
}

// passes is the probability that at least a share tau of n rollouts succeeds, each with probability p.
func passes(p float64, n int, tau float64) float64 {
	sum := 0.0
	for k := range n + 1 {
		if routing.MBest([]float64{float64(k) / float64(n), 1}, tau, 1) != 0 {
			continue // not enough
		}
		log := combin.LogGeneralizedBinomial(float64(n), float64(k))
		if k > 0 {
			log += float64(k) * math.Log(p)
		}
		if k < n {
			log += float64(n-k) * math.Log1p(-p)
		}
		sum += math.Exp(log)
	}
	return sum
}
