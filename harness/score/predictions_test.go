package score

import (
	"math"
	"slices"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/units"
)

// times is how often predictedArena has each of its questions.
const times = 10

// predictedArena has four questions, each ten times: the cheap expert is right on the first two, the dear one on all.
func predictedArena() *Folds {
	a := &book.Arena{Name: book.Recorded, Pool: "pool", Experts: []routing.Expert{{ID: "cheap"}, {ID: "dear"}}}
	problems := make([]routing.Problem, 4*times)
	a.Add(book.Benchmark{Name: "b", Runs: 1, Pass: 4 * times}, problems)
	for i := range problems {
		q := i % 4
		cheap := routing.Outcome{Bucket: routing.Wrong, USD: 1}
		if q < 2 {
			cheap = routing.Outcome{Bucket: routing.Correct, Correct: 1, USD: 1}
		}
		a.Outcomes = append(a.Outcomes, []routing.Outcome{cheap, {Bucket: routing.Correct, Correct: 1, USD: 2}})
	}
	f := &Folds{Arena: a, PredictionsVersus: "plain", Whole: true, Resampling: Resampling{Resamples: 200, Confidence: 0.95}}
	f.Add("plain", book.Training{Fold: slices.Repeat([]int{0, 1, 0, 1}, times)}, a.Always(0), nil)
	return f
}

func TestPredictionsByHand(t *testing.T) {
	f := predictedArena()
	f.AddRates("plain", slices.Repeat([][]float64{{0.5, 0.5}}, 4*times))
	f.AddRates("better", slices.Repeat([][]float64{{0.8, 1}, {0.25, 1}, {0.25, 1}, {0.2, 1}}, times))
	f.AddRates("sure", slices.Repeat([][]float64{{1, 0}, {0, 1}, {0, 1}, {0, 1}}, times))
	lines := &metrics.Set{Measurements: f.Predictions()}
	better := (2*math.Log(1/0.8) + math.Log(4) + math.Log(1/0.75)) / 4
	for _, c := range []struct {
		method, expert, unit string
		want                 float64
	}{
		{"plain", "cheap", units.LogLoss, math.Ln2},
		{"plain", "dear", units.LogLoss, math.Ln2},
		{"plain", "cheap", units.AUC, 0.5},
		{"plain", "cheap", units.ECE, 0},
		{"plain", "dear", units.ECE, 0.5},
		{"better", "cheap", units.LogLoss, better},
		{"better", "cheap", units.LogLossDifference, better - math.Ln2},
		{"better", "cheap", units.AUC, 0.875},           // of four pairs three are in order and one is a tie
		{"better", "cheap", units.ECE, (0.2 + 0.3) / 4}, // the last three share a bin: they add up to 0.7 where one is right
		{"better", "dear", units.LogLoss, 0},
		{"better", "dear", units.LogLossDifference, -math.Ln2},
		{"sure", "cheap", units.AUC, 0.75},
		{"sure", "cheap", units.ECE, 0.25},
	} {
		m, ok, err := lines.Find(metrics.Keys("pool", "pool", "method", c.method, "expert", c.expert)...)
		if err != nil || !ok || m.Name != "Prediction" || m.N != 4*times {
			t.Fatalf("%s of %s: %+v, %v", c.method, c.expert, m, err)
		}
		v, ok := m.Value(c.unit)
		if !ok || math.Abs(v.Number-c.want) > 5e-5 {
			t.Errorf("%s of %s: %s %v, want %v", c.method, c.expert, c.unit, v.Number, c.want)
		}
		if bounded := c.unit != units.ECE; v.Bounded != bounded {
			t.Errorf("%s of %s: %s has an interval: %v", c.method, c.expert, c.unit, v.Bounded)
		}
	}
	for _, c := range []struct{ method, expert, unit, why string }{
		{"plain", "dear", units.AUC, oneOfEach},
		{"better", "dear", units.AUC, oneOfEach},
		{"sure", "cheap", units.LogLoss, certain}, // it took the second question for impossible
		{"sure", "cheap", units.LogLossDifference, certain},
		{"sure", "dear", units.LogLoss, certain},
	} {
		m, _, _ := lines.Find(metrics.Keys("method", c.method, "expert", c.expert)...)
		if v, ok := m.Value(c.unit); ok || m.Why(c.unit) != c.why {
			t.Errorf("%s of %s: %s is %v because %q", c.method, c.expert, c.unit, v.Number, m.Why(c.unit))
		}
	}
	if m, _, _ := lines.Find(metrics.Keys("method", "plain", "expert", "cheap")...); m.Why(units.LogLossDifference) != "" {
		t.Error("the row that others are compared with is compared with itself")
	}
}

func TestPredictionsAreAveragedOverPartitions(t *testing.T) {
	f := predictedArena()
	f.AddRates("better", slices.Repeat([][]float64{{0.8, 1}, {0.8, 1}, {0.2, 1}, {0.2, 1}}, times))
	f.AddRates("better", slices.Repeat([][]float64{{0.5, 1}}, 4*times))
	m := f.Predictions()[0]
	v, _ := m.Value(units.LogLoss)
	if want := (math.Log(1/0.8) + math.Ln2) / 2; math.Abs(v.Number-want) > 5e-5 || v.Low > math.Log(1/0.8) || v.High < math.Ln2 {
		t.Errorf("log-loss %v from %v to %v, want %v and both partitions inside", v.Number, v.Low, v.High, want)
	}
	if auc, _ := m.Value(units.AUC); auc.Number != 0.75 {
		t.Errorf("AUC %v, want the mean of 1 and 0.5", auc.Number)
	}
	if _, ok := m.Value(units.LogLossDifference); ok {
		t.Error("compared with a row that predicts nothing")
	}
	if got := predictedArena().Predictions(); got != nil {
		t.Errorf("%v where nobody predicts", got)
	}
}
