package learn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
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
	rows, y := make([]policy.Row, n), [][]float64{make([]float64, n), make([]float64, n)}
	for i := range rows {
		for id := range int32(width) {
			rows[i].IDs, rows[i].Values = append(rows[i].IDs, id), append(rows[i].Values, float32(r.NormFloat64()))
		}
		y[0][i] = float64(r.IntN(2))
		y[1][i] = y[0][i]
	}
	d := NewDesign(rows, width)
	var twice []policy.Row // every row under two ids, next to each other
	var questions []int
	yTwice := [][]float64{nil, nil}
	for i, row := range rows {
		twice, questions = append(twice, row, row), append(questions, i, i)
		for m := range yTwice {
			yTwice[m] = append(yTwice[m], y[m][i], y[m][i])
		}
	}
	for name, c := range map[string]struct {
		Design
		y    [][]float64
		open bool // the score may know a row's label
	}{
		"once": {d, y, false}, "two rows of a question": {NewDesign(twice, width).Asking(questions), yTwice, false},
		"two questions of one text": {NewDesign(twice, width), yTwice, true},
	} {
		b, _, err := FitBottleneck(t.Context(), c.Design, c.y, []float64{10})
		if err != nil {
			t.Fatal(err)
		}
		for m, p := range b.Rates {
			if depends := math.Abs(p.Weight[0]) > 1; depends != c.open {
				t.Errorf("%s: expert %d depends on an empty score with weight %v", name, m, p.Weight[0])
			}
		}
	}
	b, _, err := FitBottleneck(t.Context(), d, y, []float64{0.1})
	if err != nil {
		t.Fatal(err)
	}
	right, wrong := math.Inf(1), math.Inf(-1)
	for i, row := range rows {
		if s := b.Score.At(row); y[0][i] == 1 {
			right = min(right, s)
		} else {
			wrong = max(wrong, s)
		}
	}
	if right <= wrong {
		t.Errorf("the score does not overfit (a solved row at %v, an unsolved one at %v): the test shows nothing", right, wrong)
	}
	for m, p := range b.Rates {
		if math.Abs(p.Weight[0]) > 1 {
			t.Errorf("expert %d depends on an empty score with weight %v", m, p.Weight[0])
		}
	}
}

func TestRowsOfOneQuestionAreOneToFit(t *testing.T) {
	rows := []policy.Row{{IDs: []int32{0}, Values: []float32{1}}, {IDs: []int32{0}, Values: []float32{1}}}
	d := NewDesign(rows, 1).Asking([]int{0, 0})
	if _, _, err := FitBottleneck(t.Context(), d, [][]float64{{1, 0}}, []float64{1}); err != nil {
		t.Error(err)
	}
}
