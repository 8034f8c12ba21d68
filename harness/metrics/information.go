package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Entropy returns the Shannon entropy of a distribution in nats (appendix B of the paper), 0 log 0 being 0.
// counts need not be normalised; all zero gives 0.
func Entropy(counts []float64) float64 {
	total := 0.0
	for _, c := range counts {
		total += c
	}
	h := 0.0
	for _, c := range counts {
		if c > 0 {
			h -= c / total * math.Log(c/total)
		}
	}
	return h
}

// MutualInformation returns I(row; column) in nats of a table of counts [A][B], such as decisions against
// m_best: 0 if the decision says nothing about m_best. It panics on a ragged table.
func MutualInformation(counts [][]float64) float64 {
	if len(counts) == 0 {
		return 0
	}
	rows := make([]float64, len(counts))
	columns := make([]float64, len(counts[0]))
	var cells []float64
	for i, row := range counts {
		if len(row) != len(columns) {
			panic(fmt.Sprintf("metrics: row %d of the table has %d cells, row 0 has %d", i, len(row), len(columns)))
		}
		for j, c := range row {
			rows[i] += c
			columns[j] += c
		}
		cells = append(cells, row...)
	}
	return max(0, Entropy(rows)+Entropy(columns)-Entropy(cells))
}

// ECE returns the expected calibration error of probabilities in [0,1] against outcomes in [0,1], with bins
// of equal width (Guo et al. 2017, equation 3; they use 15): the mean over predictions of |mean outcome -
// mean probability| in their bin. NaN without predictions.
func ECE(probability, outcome []float64, bins int) float64 {
	count := make([]float64, bins)
	gap := make([]float64, bins)
	for i, p := range probability {
		bin := max(0, min(int(p*float64(bins)), bins-1))
		count[bin]++
		gap[bin] += outcome[i] - p
	}
	sum := 0.0
	for _, g := range gap {
		sum += math.Abs(g)
	}
	return sum / float64(len(probability))
}

// Brier returns the mean squared difference of probabilities and outcomes (Brier 1950, two-class form).
func Brier(probability, outcome []float64) float64 {
	sum := 0.0
	for i, p := range probability {
		sum += (outcome[i] - p) * (outcome[i] - p)
	}
	return sum / float64(len(probability))
}

// AUC returns the area under the ROC curve: the chance that a positive scores above a negative, ties counting
// half (Mann-Whitney). NaN if one class is empty. AUC does not rank routers by hull gain (recorded outcomes
// show it): it describes a score and chooses nothing.
func AUC(score []float64, positive []bool) float64 {
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[a], score[b]) })
	wins, positives, below := 0.0, 0.0, 0.0
	for from := 0; from < len(order); {
		to := from
		ties, tied := 0.0, 0.0 // positives and negatives at this score
		for ; to < len(order) && cmp.Compare(score[order[to]], score[order[from]]) == 0; to++ {
			if positive[order[to]] {
				ties++
			} else {
				tied++
			}
		}
		wins += ties * (below + tied/2)
		positives += ties
		below += tied
		from = to
	}
	return wins / (positives * below)
}
