package methods

import (
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

// compared is an arena of problems with the given pass rates and rows of one feature or two.
func compared(strongest int, pass [][]float64, rows []policy.Row) (*arena, []string) {
	texts := []string{"p0", "p1", "p2", "p3"}[:len(pass)]
	return newArena(battles{Texts: texts, Pass: pass, Strongest: strongest}, rows), texts
}

// along is a row of length 1 whose cosine with the first feature is c.
func along(c float64) policy.Row {
	return policy.Row{IDs: []int32{0, 1}, Values: []float32{float32(c), float32(math.Sqrt(1 - c*c))}}
}

func theQuestion() policy.Row { return policy.Row{IDs: []int32{0}, Values: []float32{1}} }

// Cosines 0.8, 0.4 and 0: weights 10^1, 10^0.5 and 10^0. The dear expert wins the first, loses the second and ties the third.
func TestRankingOfTwoExpertsByHand(t *testing.T) {
	pass := [][]float64{{0.2, 0.8}, {1, 0.6}, {0.4, 0.4}}
	a, _ := compared(1, pass, []policy.Row{along(0.8), along(0.4), along(0)})
	if got, want := a.chance(theQuestion(), "new"), (10+0.5)/(10+math.Sqrt(10)+1); math.Abs(got-want) > 1e-9 {
		t.Errorf("the dear expert's chance is %v, want %v", got, want)
	}
	if got := a.chance(policy.Row{}, "another"); math.Abs(got-0.5) > 1e-9 { // one win, one loss, one tie
		t.Errorf("with nothing in common its chance is %v, want 0.5", got)
	}
	if got := a.chance(theQuestion(), "p0"); math.Abs(got-0.5/11) > 1e-9 { // the nearest is then the second
		t.Errorf("of the first problem itself its chance is %v, want %v", got, 0.5/11)
	}
}

// Cosines 0.8 and 0.4: weights 10 and sqrt 10. The pairs are 0-1, 0-2 and 1-2; of what the second problem compares 1 and 2 tie.
func TestSharesOfThreeExpertsByHand(t *testing.T) {
	a, _ := compared(2, [][]float64{{0.2, 0.8, 0.5}, {1, 0.6, 0.6}}, []policy.Row{along(0.8), along(0.4)})
	near, far := 10.0, math.Sqrt(10)
	for pair, want := range []float64{near / (near + far), near / (near + far), far / 2 / (near + far)} {
		if got := a.shares(theQuestion(), "new")[pair]; math.Abs(got-want) > 1e-6 {
			t.Errorf("pair %d: the dearer one wins %v, want %v", pair, got, want)
		}
	}
}

// A problem whose text points the other way counts less than one that has nothing in common.
func TestOppositeTextsCountLeast(t *testing.T) {
	back := policy.Row{IDs: []int32{0}, Values: []float32{-0.4}}
	a, _ := compared(1, [][]float64{{0.2, 0.8}, {1, 0.6}}, []policy.Row{along(0.8), back})
	want := 10 / (10 + math.Pow(10, -0.5))
	if got := a.chance(theQuestion(), "new"); math.Abs(got-want) > 1e-6 {
		t.Errorf("the dear expert's chance is %v, want %v", got, want)
	}
}

func TestAnExpertThatNeverLosesHasAFiniteRating(t *testing.T) {
	a, _ := compared(1, [][]float64{{0, 1}, {0, 1}}, []policy.Row{along(0.8), along(0.4)})
	if got := a.chance(theQuestion(), "new"); math.Abs(got-(1-certainShare)) > 1e-9 {
		t.Errorf("its chance is %v, want %v", got, 1-certainShare)
	}
	a, texts := compared(1, [][]float64{{0, 1}}, []policy.Row{along(0.8)})
	if got := a.chance(theQuestion(), texts[0]); got != 0.5 {
		t.Errorf("where nothing is left to compare its chance is %v, want 0.5", got)
	}
}

func TestRankingFindsPlantedDifficulty(t *testing.T) {
	set, qs := routingtest.Planted(600), routingtest.Fresh(200)
	r := fit(t, build(t, "swranking", ""), set, 1).(*predict.Router)
	var texts []string
	for _, q := range qs {
		texts = append(texts, q.Problem.Text)
	}
	found, err := r.Expects(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if auc := areaUnderCurve(len(qs), func(i int) (float64, bool) { return found[i].Pass[0], routingtest.Hard(i) }); auc < 0.95 {
		t.Errorf("AUC of the strongest's chance to win is %.3f, want more than 0.95", auc)
	}
}

func TestTheSharesOfARankingAreThoseOfTheTrainingProblems(t *testing.T) {
	set := routingtest.Planted(200)
	for _, share := range []float64{0, 0.114, 0.5, 1} {
		m := build(t, "swranking", "").(*swRanking)
		m.Share = share
		strongest := 0.0
		for _, d := range routingtest.Route(t, fit(t, m, set, 1), queries(set.SFT)) {
			if d.Expert == 2 {
				strongest++
			}
		}
		if math.Abs(strongest/200-share) > 0.005 {
			t.Errorf("%v of the training problems go to the strongest, want %v", strongest/200, share)
		}
	}
}

// By the rule of accuracy the middle expert is the strongest here; where the cheapest is, the dearest is asked.
func TestWhoIsAskedBesideTheCheapest(t *testing.T) {
	set := routingtest.Planted(40)
	for i := range set.SFT {
		set.SFT[i].Kappa = []float64{0, 1, 0.5}
	}
	if got := dearOfPair(set.SFT, 3, "accuracy"); got != 1 {
		t.Errorf("expert %d, want 1", got)
	}
	if got := dearOfPair(set.SFT, 3, "price"); got != 2 {
		t.Errorf("expert %d, want 2", got)
	}
	for i := range set.SFT {
		set.SFT[i].Kappa = []float64{1, 0, 0}
	}
	if got := dearOfPair(set.SFT, 3, "accuracy"); got != 2 {
		t.Errorf("expert %d, want 2", got)
	}
}

func BenchmarkRankingFit(b *testing.B) { benchmarkFit(b, "swranking") }
