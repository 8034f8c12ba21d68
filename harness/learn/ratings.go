// Experts rated by how they compare.

package learn

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// EachPair calls f for every pair of experts, which it numbers from 0.
func EachPair(experts int, f func(pair, cheap, dear int)) {
	pair := 0
	for cheap := range experts {
		for dear := cheap + 1; dear < experts; dear++ {
			f(pair, cheap, dear)
			pair++
		}
	}
}

// Ratings returns ratings of experts, the first 0, under which the dearer one of a pair wins with the chance sigmoid(dear -
// cheap): those that make shares [pairs], as EachPair numbers them, of equally many comparisons likeliest. All shares lie
// inside (0,1), which makes the ratings finite and the only ones.
func Ratings(experts int, shares []float64) []float64 {
	ratings := make([]float64, experts)
	if experts == 1 {
		return ratings
	}
	loss := func(of []float64) (sum float64) {
		EachPair(experts, func(pair, cheap, dear int) {
			value, _ := logLoss(of[dear]-of[cheap], shares[pair])
			sum += value
		})
		return sum
	}
	for range 100 { // Newton's method takes fewer than ten
		slope, curve := mat.NewVecDense(experts-1, nil), mat.NewSymDense(experts-1, nil)
		EachPair(experts, func(pair, cheap, dear int) {
			_, s := logLoss(ratings[dear]-ratings[cheap], shares[pair])
			p := Sigmoid(ratings[dear] - ratings[cheap])
			h := p * (1 - p)
			slope.SetVec(dear-1, slope.AtVec(dear-1)+s)
			curve.SetSym(dear-1, dear-1, curve.At(dear-1, dear-1)+h)
			if cheap > 0 { // the first rating stays 0
				slope.SetVec(cheap-1, slope.AtVec(cheap-1)-s)
				curve.SetSym(cheap-1, cheap-1, curve.At(cheap-1, cheap-1)+h)
				curve.SetSym(cheap-1, dear-1, curve.At(cheap-1, dear-1)-h)
			}
		})
		if mat.Norm(slope, math.Inf(1)) < 1e-12 {
			break
		}
		var chol mat.Cholesky
		step := mat.NewVecDense(experts-1, nil)
		if !chol.Factorize(curve) || chol.SolveVecTo(step, slope) != nil {
			break // flat to rounding
		}
		before, next := loss(ratings), make([]float64, experts)
		for scale := 1.0; scale > 1e-9; scale /= 2 { // a whole step may lead too far
			for m := 1; m < experts; m++ {
				next[m] = ratings[m] - scale*step.AtVec(m-1)
			}
			if loss(next) <= before+1e-9 { // or is as good to rounding: this near, whole steps converge
				break
			}
		}
		ratings = next
	}
	return ratings
}
