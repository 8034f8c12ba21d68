package learn

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// zermelo fits the same model by the oldest algorithm for it: strengths are wins over what they would be expected to play.
func zermelo(experts int, shares []float64) []float64 {
	strength := slices.Repeat([]float64{1}, experts)
	for range 20_000 {
		wins, played := make([]float64, experts), make([]float64, experts)
		EachPair(experts, func(pair, cheap, dear int) {
			wins[dear] += shares[pair]
			wins[cheap] += 1 - shares[pair]
			for _, m := range []int{cheap, dear} {
				played[m] += 1 / (strength[cheap] + strength[dear])
			}
		})
		for m := range strength {
			strength[m] = wins[m] / played[m]
		}
	}
	ratings := make([]float64, experts)
	for m := range ratings {
		ratings[m] = math.Log(strength[m] / strength[0])
	}
	return ratings
}

func TestRatingsAreThoseOfZermelosAlgorithm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(rt, "experts")
		shares := rapid.SliceOfN(rapid.Float64Range(0.02, 0.98), n*(n-1)/2, n*(n-1)/2).Draw(rt, "shares")
		got, want := Ratings(n, shares), zermelo(n, shares)
		for m := range got {
			if math.Abs(got[m]-want[m]) > 1e-6 {
				rt.Fatalf("shares %v: ratings %v, want %v", shares, got, want)
			}
		}
	})
}

// Of expected wins as many come out as there are: what makes ratings the likeliest, for any shares.
func TestRatingsExpectTheWinsThatThereAre(t *testing.T) {
	const least = 1e-6 // share of wins
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(rt, "experts")
		shares := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]float64{least, 0.5, 1 - least}), rapid.Float64Range(least, 1-least)), n*(n-1)/2, n*(n-1)/2).Draw(rt, "shares")
		r, left := Ratings(n, shares), make([]float64, n)
		EachPair(n, func(pair, cheap, dear int) {
			more := shares[pair] - Sigmoid(r[dear]-r[cheap])
			left[dear] += more
			left[cheap] -= more
		})
		for m, x := range left {
			if math.Abs(x) > 1e-9 {
				rt.Fatalf("shares %v: under ratings %v expert %d wins %v more than expected", shares, r, m, x)
			}
		}
	})
}
