package learn

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// randomDesign returns rows with about half of the features each.
func randomDesign(r *rand.Rand, rows, width int) Design {
	all := make([]policy.Row, rows)
	for i := range all {
		for id := range width {
			if r.IntN(2) == 0 {
				all[i].IDs = append(all[i].IDs, int32(id))
				all[i].Values = append(all[i].Values, float32(r.NormFloat64()))
			}
		}
	}
	return NewDesign(all, width)
}

func normals(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func TestGradientsAgreeWithFiniteDifferences(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		width := rapid.IntRange(1, 9).Draw(rt, "width")
		d := randomDesign(r, rapid.IntRange(1, 12).Draw(rt, "rows"), width)
		theta, y := normals(r, width+1), make([]float64, d.rows())
		for i := range y {
			y[i] = r.Float64()
		}
		l2 := rapid.Float64Range(0, 5).Draw(rt, "l2")
		for name, of := range map[string]loss{"log": logLoss, "squared": squaredLoss} {
			grad, scratch := make([]float64, width+1), make([]float64, width+1)
			d.objective(theta, y, l2, of, grad)
			for i := range theta {
				const h = 1e-5
				at := func(step float64) float64 {
					theta[i] += step
					defer func() { theta[i] -= step }()
					return d.objective(theta, y, l2, of, scratch)
				}
				if numeric := (at(h) - at(-h)) / (2 * h); math.Abs(numeric-grad[i]) > 1e-6*(1+math.Abs(numeric)) {
					rt.Errorf("%s loss: component %d is %v, by differences %v", name, i, grad[i], numeric)
				}
			}
		}
	})
}

func TestLogLossByHand(t *testing.T) {
	for _, c := range []struct{ z, y, value, slope float64 }{
		{0, 1, math.Ln2, -0.5},
		{0, 0.25, math.Ln2, 0.25},
		{math.Log(3), 1, math.Log(4.0 / 3), -0.25},
		{-math.Log(3), 1, math.Log(4), -0.75},
		{800, 0, 800, 1},
		{-800, 1, 800, -1},
	} {
		if v, s := logLoss(c.z, c.y); math.Abs(v-c.value) > 1e-12 || math.Abs(s-c.slope) > 1e-12 {
			t.Errorf("logLoss(%v, %v) = %v, %v; want %v, %v", c.z, c.y, v, s, c.value, c.slope)
		}
	}
}

func TestRidgeIsTheSolutionOfTheNormalEquations(t *testing.T) {
	const rows, width, l2 = 40, 6, 3.0
	r := rand.New(rand.NewPCG(3, 1))
	d, y := randomDesign(r, rows, width), normals(r, rows)
	for i := range y {
		y[i] += 2 // a bias that a penalised one would miss
	}
	got, err := d.regress(t.Context(), make([]float64, width+1), y, l2, squaredLoss)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(rows, width+1, nil)
	for i := range rows {
		row := d.row(i)
		for k, id := range row.IDs {
			x.Set(i, int(id), float64(row.Values[k]))
		}
		x.Set(i, width, 1)
	}
	var gram, right mat.Dense
	gram.Mul(x.T(), x)
	for i := range width {
		gram.Set(i, i, gram.At(i, i)+l2)
	}
	right.Mul(x.T(), mat.NewVecDense(rows, y))
	var want mat.Dense
	if err := want.Solve(&gram, &right); err != nil {
		t.Fatal(err)
	}
	for i, w := range got {
		if math.Abs(w-want.At(i, 0)) > 1e-3 {
			t.Errorf("theta[%d] = %v, want %v", i, w, want.At(i, 0))
		}
	}
}

// signs is two rows of one feature, 1 and -1.
func signs() Design {
	return NewDesign([]policy.Row{{IDs: []int32{0}, Values: []float32{1}}, {IDs: []int32{0}, Values: []float32{-1}}}, 1)
}

// By hand: of a row 1 that is right and a row -1 that is wrong the loss has the slope 2*(sigmoid(w)-1) in w, -1/2 at log 3, which a penalty
// of 1/2/log 3 cancels. The bias is 0.
func TestAPenalisedLogisticRegressionByHand(t *testing.T) {
	fits, _, err := FitLogits(t.Context(), signs(), [][]float64{{1, 0}, {0, 1}}, []float64{0.5 / math.Log(3)})
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range []float64{math.Log(3), -math.Log(3)} {
		if math.Abs(fits[m].Weight[0]-want) > 1e-3 || math.Abs(fits[m].Bias) > 1e-3 {
			t.Errorf("label %d: weight %v and bias %v, want %v and 0", m, fits[m].Weight[0], fits[m].Bias, want)
		}
	}
}

// By hand: amounts exp(1) and exp(-1) have logarithms one above and one below their mean, so a penalty of 2 leaves half of the slope; what is
// predicted goes as exp(1/2) and exp(-1/2) and is on average what the amounts are. An amount of 0 counts as a thousandth of the mean.
func TestAmountsByHand(t *testing.T) {
	mean := (math.E + 1/math.E) / 2
	a, _, err := FitAmounts(t.Context(), signs(), [][]float64{{math.E, 1 / math.E}, {0, 2}, {0, 0}}, []float64{mean, 1, 0}, []float64{2})
	if err != nil {
		t.Fatal(err)
	}
	half, least := (math.Sqrt(math.E)+1/math.Sqrt(math.E))/2, math.Pow(2000, 0.25) // a quarter of the difference of log 0.001 and log 2
	for i, want := range [][]float64{{mean * math.Sqrt(math.E) / half, 2 / (1 + least*least), 0}, {mean / math.Sqrt(math.E) / half, 2 / (1 + 1/least/least), 0}} {
		for m, got := range a.At(signs().row(i)) {
			if math.Abs(got-want[m]) > 1e-3 {
				t.Errorf("row %d: amount %d is %v, want %v", i, m, got, want[m])
			}
		}
	}
}

func TestDotAgreesWithTheSumAtEveryLength(t *testing.T) {
	weight := []float64{1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8}
	var row policy.Row
	want := 0.0
	for id := range weight {
		if got := dot(weight, row); got != want {
			t.Errorf("dot of %d features is %v, want %v", len(row.IDs), got, want)
		}
		row.IDs, row.Values = append(row.IDs, int32(id)), append(row.Values, 2)
		want += 2 * weight[id]
	}
}

func TestThePenaltyIsChosenByHeldOutLoss(t *testing.T) {
	const width = 30
	r := rand.New(rand.NewPCG(9, 1))
	truth := normals(r, width)
	labels := func(d Design, signal float64) []float64 {
		y := make([]float64, d.rows())
		for i := range y {
			y[i] = signal*dot(truth, d.row(i)) + r.NormFloat64()
		}
		return y
	}
	grid := []float64{1e4, 100, 1, 0.01}
	d := randomDesign(r, 200, width)
	for name, c := range map[string]struct {
		signal    float64
		low, high float64
	}{
		"noise alone wants the strongest":  {0, 1e4, 1e4},
		"a strong signal wants a weak one": {2, 0.01, 1},
	} {
		_, l2, err := d.regressAll(t.Context(), [][]float64{labels(d, c.signal)}, grid, squaredLoss)
		if err != nil || l2 < c.low || l2 > c.high {
			t.Errorf("%s: chose %v, %v", name, l2, err)
		}
	}

	// The choice reads the first fifth as held out: its labels decide, here against those of the rest.
	y := labels(d, 2)
	for i := range d.rows() / 5 {
		y[i] = 0
	}
	if _, l2, err := d.regressAll(t.Context(), [][]float64{y}, grid, squaredLoss); err != nil || l2 != 1e4 {
		t.Errorf("held-out labels without signal: chose %v, %v", l2, err)
	}
	// A single penalty is no choice, and so few rows allow none.
	if _, l2, err := d.regressAll(t.Context(), [][]float64{y}, []float64{0.5}, squaredLoss); err != nil || l2 != 0.5 {
		t.Errorf("a grid of one: %v, %v", l2, err)
	}
	if _, l2, err := d.slice(0, 4).regressAll(t.Context(), [][]float64{y[:4]}, grid, squaredLoss); err != nil || l2 != 1e4 {
		t.Errorf("four rows: %v, %v", l2, err)
	}
}

func TestAFifthIsHeldOutAndNoQuestionIsCut(t *testing.T) {
	alone := func(i int) int { return i }
	for n, want := range map[int]int{0: 0, 1: 0, 4: 0, 5: 1, 9: 1, 10: 2, 5000: 1000} {
		if got := HeldOut(n, AFifth, alone); got != want {
			t.Errorf("%d of %d rows are held out, want %d", got, n, want)
		}
	}
	for _, c := range []struct {
		questions []int
		want      int
	}{
		{[]int{0, 1, 1, 1, 2, 3, 4, 5, 6, 7}, 4}, // two would cut question 1
		{[]int{0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 2},
		{[]int{0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 0}, // nothing would be left
		{[]int{0, 0, 0, 0, 0}, 0},
	} {
		if got := HeldOut(len(c.questions), AFifth, func(i int) int { return c.questions[i] }); got != c.want {
			t.Errorf("of the rows of questions %v %d are held out, want %d", c.questions, got, c.want)
		}
	}
}

// The last row held out is of the question of the next: when both are held out labels without signal decide, otherwise the one kept would
// have been learned by heart.
func TestThePenaltyIsChosenOnQuestionsThatAreNotLearnedFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 3))
	rows, y, questions := make([]policy.Row, 10), make([]float64, 10), make([]int, 10)
	for i := range rows {
		rows[i], y[i], questions[i] = policy.Row{IDs: []int32{int32(i)}, Values: []float32{1}}, r.NormFloat64(), i
	}
	for i := 2; i < 5; i++ { // rows 1 to 4 are one question
		rows[i], y[i], questions[i] = rows[1], y[1], 1
	}
	for i := 5; i < 10; i++ {
		questions[i] = i - 3
	}
	y[1], y[2], y[3], y[4] = 3, 3, 3, 3
	grid := []float64{100, 0.01}
	_, cut, err := NewDesign(rows, 10).regressAll(t.Context(), [][]float64{y}, grid, squaredLoss)
	if err != nil {
		t.Fatal(err)
	}
	_, whole, err := NewDesign(rows, 10).Asking(questions).regressAll(t.Context(), [][]float64{y}, grid, squaredLoss)
	if err != nil || cut != 0.01 || whole != 100 {
		t.Errorf("chose %v where a question is on both sides, want 0.01, and %v where it is on one, want 100 (%v)", cut, whole, err)
	}
}

// The choice agrees with trying every penalty on the same split: rows 0 to 39 of 200 held out.
func TestThePenaltyIsTheBestOnTheFirstFifth(t *testing.T) {
	grid := []float64{100, 50, 20, 10, 5, 2, 1}
	chosen := map[float64]bool{}
	for s := range uint64(8) {
		r := rand.New(rand.NewPCG(s, 2))
		d, truth := randomDesign(r, 200, 30), normals(r, 30)
		y := make([]float64, d.rows())
		for i := range y {
			y[i] = dot(truth, d.row(i)) + 6*r.NormFloat64()
		}
		best, least := 0.0, math.Inf(1)
		for _, l2 := range grid {
			theta, err := d.slice(40, 200).regress(t.Context(), make([]float64, 31), y[40:], l2, squaredLoss)
			if err != nil {
				t.Fatal(err)
			}
			if v := d.slice(0, 40).total(theta, y, squaredLoss, nil); v < least {
				best, least = l2, v
			}
		}
		_, l2, err := d.regressAll(t.Context(), [][]float64{y}, grid, squaredLoss)
		if err != nil || l2 != best {
			t.Errorf("draw %d: chose %v, %v; best is %v", s, l2, err, best)
		}
		chosen[best] = true
	}
	if len(chosen) < 3 {
		t.Errorf("the draws want %v only: no test", chosen)
	}
}

func TestTheFinalFitReadsAllRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	d := randomDesign(r, 50, 3)
	y := normals(r, 50)
	fits, l2, err := d.regressAll(t.Context(), [][]float64{y, normals(r, 50)}, []float64{10, 1}, squaredLoss)
	if err != nil {
		t.Fatal(err)
	}
	want, err := d.regress(t.Context(), make([]float64, 4), y, l2, squaredLoss)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range append(fits[0].Weight, fits[0].Bias) {
		if math.Abs(w-want[i]) > 1e-3 {
			t.Errorf("theta[%d] = %v, want %v", i, w, want[i])
		}
	}
}

func TestARegressionStopsWhenItIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := rand.New(rand.NewPCG(5, 1))
	d := randomDesign(r, 50, 3)
	if _, _, err := d.regressAll(ctx, [][]float64{normals(r, 50)}, []float64{10, 1}, squaredLoss); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
