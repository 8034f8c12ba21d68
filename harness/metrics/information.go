// Entropy, mutual information, calibration and ranking of what routers say.

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
// mean probability| in their bin. weights [P] count predictions, nil each once. NaN without predictions; it panics
// with fewer bins than one.
func ECE(probability, outcome, weights []float64, bins int) float64 {
	if bins < 1 {
		panic(fmt.Sprintf("metrics: ECE in %d bins", bins))
	}
	gap := make([]float64, bins)
	total := 0.0
	for i, p := range probability {
		w := weight(weights, i)
		bin := max(0, min(int(p*float64(bins)), bins-1))
		gap[bin] += w * (outcome[i] - p)
		total += w
	}
	sum := 0.0
	for _, g := range gap {
		sum += math.Abs(g)
	}
	return sum / total
}

// LogLoss returns the loss in nats of one probability in [0,1], 0 log 0 being 0: infinite where it was certain and mistaken. outcome is
// as in Brier.
func LogLoss(probability, outcome float64) float64 {
	of := func(share, p float64) float64 {
		if share == 0 {
			return 0
		}
		return -share * math.Log(p)
	}
	return of(outcome, probability) + of(1-outcome, 1-probability)
}

// Brier returns the mean squared difference of probabilities and outcomes (Brier 1950, two-class form). An outcome
// between 0 and 1 is the share of answers that were right, or the chance of one: the mean is over answers. weights as in
// ECE. NaN without predictions.
func Brier(probability, outcome, weights []float64) float64 {
	sum, total := 0.0, 0.0
	for i, p := range probability {
		w, o := weight(weights, i), outcome[i]
		sum += w * (o*(1-p)*(1-p) + (1-o)*p*p)
		total += w
	}
	return sum / total
}

func weight(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// Ranking is the order of scores, for their AUC under many weights.
type Ranking struct {
	order []int // of scores, lowest first
	ends  []int // ties are order[ends[k-1]:ends[k]]
}

// NewRanking sorts scores [P]. NaN ranks lowest.
func NewRanking(score []float64) *Ranking {
	r := &Ranking{order: make([]int, len(score))}
	for i := range r.order {
		r.order[i] = i
	}
	slices.SortStableFunc(r.order, func(a, b int) int { return cmp.Compare(score[a], score[b]) })
	for i, p := range r.order {
		if i+1 == len(r.order) || cmp.Compare(score[p], score[r.order[i+1]]) != 0 {
			r.ends = append(r.ends, i+1)
		}
	}
	return r
}

// AUC returns the area under the ROC curve: the chance that a positive scores above a negative, ties counting
// half (Mann-Whitney). outcome [P] in [0,1] is how much of a prediction is positive, as in Brier; weights as in ECE. NaN
// if one class is empty. AUC does not rank routers by hull gain (recorded outcomes show it): it describes a score and
// chooses nothing.
func (r *Ranking) AUC(outcome, weights []float64) float64 {
	wins, positives, below := 0.0, 0.0, 0.0
	from := 0
	for _, to := range r.ends {
		ties, tied := 0.0, 0.0 // positives and negatives at this score
		for _, p := range r.order[from:to] {
			w := weight(weights, p)
			ties += w * outcome[p]
			tied += w * (1 - outcome[p])
		}
		wins += ties * (below + tied/2)
		positives += ties
		below += tied
		from = to
	}
	return wins / (positives * below)
}
