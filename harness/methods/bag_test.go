package methods

import (
	"slices"
	"testing"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

func TestTheBagLearnsWhichWordsAreHard(t *testing.T) {
	set, qs := routingtest.Planted(400), routingtest.Fresh(200)
	r := fit(t, build(t, "bag", "epochs: 60"), set, 1).(predict.Rates)
	texts := make([]string, len(qs))
	for i, q := range qs {
		texts[i] = q.Problem.Text
	}
	found, err := r.Expects(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, s := range found {
		if (s.Pass[0] < 0.5) == routingtest.Hard(i) && s.Pass[2] > 0.9 {
			right++
		}
	}
	if right < 190 {
		t.Errorf("the small expert is expected to solve the easy problems and no other, the large one all: on %d of 200", right)
	}
	other, same := fit(t, build(t, "bag", "features: {words: {buckets: 256}}"), set, 2).(predict.Rates), fit(t, build(t, "bag", "features: {words: {buckets: 256}}"), set, 2).(predict.Rates)
	first := fit(t, build(t, "bag", "features: {words: {buckets: 256}}"), set, 1).(predict.Rates)
	predict := func(r predict.Rates) []float64 {
		s, err := r.Expects(t.Context(), []string{qs[0].Problem.Text})
		if err != nil {
			t.Fatal(err)
		}
		return s[0].Pass
	}
	if !slices.Equal(predict(other), predict(same)) || slices.Equal(predict(other), predict(first)) {
		t.Error("the seed alone must decide the fit")
	}
}
