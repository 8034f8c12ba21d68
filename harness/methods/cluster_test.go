package methods

import (
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

func TestScoresOfAClusterByHand(t *testing.T) {
	for _, c := range []struct{ in, want []float64 }{
		{[]float64{2, 4, 3}, []float64{0, 1, 0.5}}, {[]float64{5, 5}, []float64{0, 0}}, {[]float64{7}, []float64{0}},
	} {
		got := slices.Clone(c.in)
		if scaleToUnit(got); !slices.Equal(got, c.want) {
			t.Errorf("%v scales to %v, want %v", c.in, got, c.want)
		}
	}
	s := predict.Scores{Pass: []float64{0, 0.7, 1}, USD: []float64{0, 0.4, 1}}
	// alpha*p + (1-alpha)*(1-c): expert 1 leads from 0.7a = 0.4(1-a), a = 0.364, to 0.3a = 0.6(1-a), a = 0.667.
	for alpha, want := range map[float64]int{1: 2, 0.67: 2, 0.66: 1, 0.37: 1, 0.36: 0, 0: 0} {
		if got := balanced(s, alpha); got != want {
			t.Errorf("at alpha %v expert %d, want %d", alpha, got, want)
		}
	}
	if got := balanced(predict.Scores{Pass: []float64{1, 1}, USD: []float64{1, 0}}, 1); got != 1 {
		t.Errorf("a tie goes to expert %d, want the one that costs less", got)
	}
}

// Clusters are blind to the labels: words that say nothing must not outweigh those that do, so there are none here.
func TestClustersLearnThePlantedRule(t *testing.T) {
	topic := func(text string) string {
		words := strings.Fields(text)
		return strings.Join(slices.DeleteFunc(words, func(w string) bool { return slices.Contains(routingtest.FillerWords, w) }), " ")
	}
	set, qs := routingtest.Planted(400), routingtest.Fresh(100)
	for i := range set.SFT {
		set.SFT[i].Problem.Text = topic(set.SFT[i].Problem.Text)
	}
	for i := range qs {
		qs[i].Problem.Text = topic(qs[i].Problem.Text)
	}
	right := 0
	for i, d := range routingtest.Route(t, fit(t, build(t, "cluster", ""), set, 1), qs) {
		if (d.Expert == 2) == routingtest.Hard(i) && (d.Expert == 0) == !routingtest.Hard(i) {
			right++
		}
	}
	if right < 80 {
		t.Errorf("%d of 100 questions go to the cheapest expert that solves them", right)
	}
}
