package methods

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
)

func TestEasinessByHand(t *testing.T) {
	for _, c := range []struct {
		kappa []float64
		want  float64
	}{
		{[]float64{1, 1, 1}, math.Log(7)}, {[]float64{0, 0, 0}, -math.Log(7)}, {[]float64{0.5, 0, 1}, 0}, {[]float64{0, 0.2, 1}, math.Log(1.7 / 2.3)},
	} {
		if got := easiness(c.kappa); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("easiness(%v) = %v, want %v", c.kappa, got, c.want)
		}
	}
}

// Rows that have nothing to do with the labels, and more features than rows: a score fitted to a row would know its
// label, one fitted to the others cannot, and then no pass rate may depend on it.
func TestPassRatesAreFittedToScoresOfOtherRows(t *testing.T) {
	const n, width = 100, 400
	r := rand.New(rand.NewPCG(1, 2))
	rows, examples := make([]policy.Row, n), make([]routing.Example, n)
	for i := range rows {
		for id := range int32(width) {
			rows[i].IDs, rows[i].Values = append(rows[i].IDs, id), append(rows[i].Values, float32(r.NormFloat64()))
		}
		k := float64(r.IntN(2))
		examples[i].Kappa = []float64{k, k}
	}
	score, pass, _, err := newDesign(rows, width).bottleneck(t.Context(), rows, examples, 2, []float64{0.1})
	if err != nil {
		t.Fatal(err)
	}
	if auc := areaUnderCurve(n, func(i int) (float64, bool) {
		return score.at(rows[i].IDs, rows[i].Values), examples[i].Kappa[0] == 1
	}); auc < 0.99 {
		t.Errorf("the score does not overfit (AUC %.3f): the test shows nothing", auc)
	}
	for m, p := range pass {
		if math.Abs(p.Weight[0]) > 1 {
			t.Errorf("expert %d depends on an empty score with weight %v", m, p.Weight[0])
		}
	}
}

func TestDifficultyOfOneProblem(t *testing.T) {
	set := planted(1)
	valid(t, route(t, fit(t, build(t, "difficulty", ""), set, 1), fresh(1))[0], fresh(1)[0], 3, false)
}
