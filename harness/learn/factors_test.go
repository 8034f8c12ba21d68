package learn

import (
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
)

func someFactors() (*Factors, []policy.Row, []Preference) {
	f := newFactors(3, 4, 6, 1)
	rows := []policy.Row{
		{IDs: []int32{0, 2, 5}, Values: []float32{0.6, -0.8, 1}}, {IDs: []int32{1, 3, 5}, Values: []float32{1, 0.3, 1}}, {IDs: []int32{5}, Values: []float32{1}},
	}
	return f, rows, []Preference{{0, 2, 0}, {0, 1, 0}, {1, 0, 2}, {2, 2, 1}, {2, 0, 2}}
}

func TestTheGradientOfPreferencesIsThatOfTheirLoss(t *testing.T) {
	f, rows, batch := someFactors()
	eps := []float64{0.5, -1, 2, 0.1, -0.4}
	loss := func(grad []float64) float64 {
		at := 0
		return f.loss(rows, batch, 0.7, func() float64 { at++; return eps[at-1] }, grad)
	}
	grad := make([]float64, len(f.Theta))
	loss(grad)
	for i, x := range f.Theta {
		const h = 1e-6
		f.Theta[i] = x + h
		up := loss(nil)
		f.Theta[i] = x - h
		down := loss(nil)
		f.Theta[i] = x
		if slope := (up - down) / (2 * h); math.Abs(slope-grad[i]) > 1e-7 {
			t.Errorf("weight %d: gradient %v, slope %v", i, grad[i], slope)
		}
	}
}

func TestScoresAndContrastsAgree(t *testing.T) {
	f, rows, _ := someFactors()
	for _, row := range rows {
		s := f.Scores(row)
		for a := range 3 {
			for b := range 3 {
				if got := dot(f.contrast(a, b), row); math.Abs(got-(s[a]-s[b])) > 1e-12 {
					t.Errorf("contrast of %d and %d: %v, want %v", a, b, got, s[a]-s[b])
				}
			}
		}
	}
	p := f.Theta[4:8]
	before := f.Scores(rows[0])[0]
	for i := range p {
		p[i] *= 3
	}
	if after := f.Scores(rows[0])[0]; math.Abs(after-before) > 1e-12 {
		t.Errorf("the length of P_m acts: %v, %v", before, after)
	}
}

// By hand: P_0 = (3,4) and P_1 = (0,2) are (0.6,0.8) and (0,1) at length 1, and W e = (2,2), so the scores are 0.6*2 + 2*0.8*2 = 4.4 and
// 2*1*2 = 4. The contrast is 0.6*(1,0) - 0.4*(0.5,1) = (0.4,-0.4), of which noise meets the first number alone.
func TestThePreferenceLossByHand(t *testing.T) {
	f := &Factors{Experts: 2, Dims: 2, Width: 2, Theta: []float64{1, 2, 3, 4, 0, 2, 1, 0, 0.5, 1}}
	rows := []policy.Row{{IDs: []int32{0, 1}, Values: []float32{2, 1}}}
	if s := f.Scores(rows[0]); math.Abs(s[0]-4.4) > 1e-12 || math.Abs(s[1]-4) > 1e-12 {
		t.Errorf("scores %v, want 4.4 and 4", s)
	}
	for _, c := range []struct {
		noise, draw float64
		batch       []Preference
		want        float64
	}{
		{0, 0, []Preference{{0, 0, 1}}, math.Log1p(math.Exp(-0.4))},
		{0, 0, []Preference{{0, 0, 1}, {0, 1, 0}}, (math.Log1p(math.Exp(-0.4)) + math.Log1p(math.Exp(0.4))) / 2},
		{0.5, -3, []Preference{{0, 0, 1}}, math.Log1p(math.Exp(0.2))}, // 0.4 - 0.5*3*0.4
	} {
		if got := f.loss(rows, c.batch, c.noise, func() float64 { return c.draw }, nil); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("noise %v, %v: loss %v, want %v", c.noise, c.batch, got, c.want)
		}
	}
}

// One step of Adam moves every weight by the rate against the sign of its gradient; a second, by hand.
func TestAdamByHand(t *testing.T) {
	o := adam{lr: 0.1, decay: 0.5, m: make([]float64, 2), v: make([]float64, 2)}
	theta := []float64{2, 0}
	o.step(theta, []float64{1, -3}) // with the penalty the gradient is 2 and -3
	if math.Abs(theta[0]-1.9) > 1e-8 || math.Abs(theta[1]-0.1) > 1e-8 {
		t.Fatalf("after one step %v", theta)
	}
	o.step(theta, []float64{0.05, -3.05}) // 1 and -3
	m, v := (0.9*0.2+0.1*1)/(1-0.81), (0.999*0.004+0.001*1)/(1-0.998001)
	if want := 1.9 - 0.1*m/math.Sqrt(v); math.Abs(theta[0]-want) > 1e-7 || math.Abs(theta[1]-0.2) > 1e-7 {
		t.Errorf("after two steps %v, want %v and 0.2", theta, want)
	}
}

// The first four of twenty preferences are of one question. Where all are held out, what is learned of the others agrees with them or with
// their opposite; where one is, it is learned by heart from the other three.
func TestTheEpochIsChosenOnQuestionsThatAreNotLearnedFrom(t *testing.T) {
	rows := make([]policy.Row, 20)
	one, own := make([]int, 20), make([]int, 20) // questions
	for i := range rows {
		own[i], one[i] = i, max(0, i-3)
		rows[i] = policy.Row{IDs: []int32{int32(max(0, i-3)), 20}, Values: []float32{1, 1}}
	}
	for name, c := range map[string]struct {
		questions []int
		want      float64
	}{"one question": {one, 1}, "four": {own, 2}} {
		var sum float64
		for winner := range 2 {
			var all []Preference
			for i := range rows {
				x := Preference{Row: i, Winner: i % 2, Loser: 1 - i%2}
				if i < 4 {
					x.Winner, x.Loser = winner, 1-winner
				}
				all = append(all, x)
			}
			_, accuracy, err := FitFactors(t.Context(), rows, c.questions, 21, all, 2, 4, 0, Descent{Epochs: 60, Batch: 4, LR: 0.03}, 1, 2)
			if err != nil {
				t.Fatal(err)
			}
			sum += accuracy
		}
		if math.Abs(sum-c.want) > 1e-9 {
			t.Errorf("%s: the accuracies on preferences and on their opposites add up to %v, want %v", name, sum, c.want)
		}
	}
}
