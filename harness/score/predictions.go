// How well routers predict which experts are right on recorded questions.

package score

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// AddRates adds the pass rates [Q][M] that a row predicted under one partition. Every row has the same partitions, in the same order.
func (f *Folds) AddRates(row string, rates [][]float64) {
	if n := slices.IndexFunc(f.predicting, func(p predicting) bool { return p.id == row }); n >= 0 {
		f.predicting[n].partitions = append(f.predicting[n].partitions, rates)
		return
	}
	f.predicting = append(f.predicting, predicting{row, [][][]float64{rates}})
}

// forecast is what a row predicted of one expert under one partition.
type forecast struct {
	rate    []float64 // [Q]
	loss    []float64 // [Q] nats
	ranking *metrics.Ranking
}

// forecasts are those of a row and one expert under weights, averaged over partitions. Questions of all folds are taken together: each
// was predicted by the router that had not learned from it.
type forecasts struct {
	of, reference []forecast // [partition]; reference: of the row that it is compared with, nil if it is that row
	right         []float64  // [Q] share of the scored answers of the expert
	weights       []float64  // [Q]
	folds         int        // of a partition
}

func (v forecasts) over(of []forecast, number func(forecast) float64) float64 {
	sum := 0.0
	for _, f := range of {
		sum += number(f) / float64(len(of))
	}
	return sum
}

func (v forecasts) loss(of []forecast) float64 {
	return v.over(of, func(f forecast) float64 { return metrics.WeightedMean(f.loss, v.weights) })
}

func (v forecasts) asked() (questions, runs int) { return len(v.right), 1 }

func (v forecasts) trainings() (out []forecasts) {
	if len(v.of) == 1 {
		return nil
	}
	for i := range v.of {
		one := v
		one.of = v.of[i : i+1]
		if v.reference != nil {
			one.reference = v.reference[i : i+1]
		}
		out = append(out, one)
	}
	return out
}

func (v forecasts) spread(each []float64) metrics.Mean {
	return metrics.MeanOfPartitions(each, v.folds)
}

const (
	certain   = "it was certain of an answer and mistaken, so the loss has no bound"
	oneOfEach = "the expert is right on every question, or on none"
)

// predictionStatistics has the calibration error without an interval: it is a sum of absolute values, to which resampling adds.
var predictionStatistics = []Statistic[forecasts]{
	{Unit: units.LogLoss, Decimals: 4, Range: metrics.NotNegative, Without: certain, Of: func(v forecasts) float64 { return v.loss(v.of) }},
	{Unit: units.LogLossDifference, Decimals: 4, Without: certain, For: func(v forecasts) bool { return v.reference != nil },
		Of: func(v forecasts) float64 { return v.loss(v.of) - v.loss(v.reference) }},
	{Unit: units.AUC, Decimals: 4, Range: metrics.ZeroToOne, Without: oneOfEach, Of: func(v forecasts) float64 {
		return v.over(v.of, func(f forecast) float64 { return f.ranking.AUC(v.right, v.weights) })
	}},
	{Unit: units.ECE, Decimals: 4, Whole: true, Of: func(v forecasts) float64 {
		return v.over(v.of, func(f forecast) float64 { return metrics.ECE(f.rate, v.right, v.weights, calibrationBins) })
	}},
}

// Predictions computes a line Prediction for each row that predicts pass rates and each expert, over all questions. Losses are compared
// with those of the row named Predictions.
func (f *Folds) Predictions() (out []metrics.Measurement) {
	if f.predicting == nil {
		return nil
	}
	right := make([][]float64, len(f.Experts)) // [M][Q]
	for m := range right {
		for _, percent := range f.Score(f.Always(m)).Accuracy {
			right[m] = append(right[m], percent/100)
		}
	}
	made := make([][][]forecast, len(f.predicting)) // [row][M][partition]
	for i, p := range f.predicting {
		made[i] = make([][]forecast, len(f.Experts))
		for m := range f.Experts {
			for _, rates := range p.partitions {
				of := forecast{rate: make([]float64, len(rates)), loss: make([]float64, len(rates))}
				for q, r := range rates {
					of.rate[q], of.loss[q] = r[m], metrics.LogLoss(r[m], right[m][q])
				}
				of.ranking = metrics.NewRanking(of.rate)
				made[i][m] = append(made[i][m], of)
			}
		}
	}
	reference := slices.IndexFunc(f.predicting, func(p predicting) bool { return p.id == f.PredictionsVersus })
	folds := 1 + slices.Max(f.rows[0].partitions[0].Fold)
	views := func(weights []float64) (views []forecasts) {
		for i := range made {
			for m := range f.Experts {
				v := forecasts{of: made[i][m], right: right[m], weights: weights, folds: folds}
				if reference >= 0 && reference != i {
					v.reference = made[reference][m]
				}
				views = append(views, v)
			}
		}
		return views
	}
	numbers := estimate(predictionStatistics, f.Arena.Strata, f.Resampling.derive("predictions", f.Pool), oneByOne(views))
	for i, n := range numbers {
		row, expert := f.predicting[i/len(f.Experts)], f.Experts[i%len(f.Experts)]
		out = append(out, n.line("Prediction", metrics.Keys("pool", f.Pool, "method", row.id, "expert", expert.ID), len(right[0])))
	}
	return out
}
