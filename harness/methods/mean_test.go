package methods

import (
	"math"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const twoRows = "of: [{name: logistic}, {name: bag, params: {epochs: 2}}]"

func TestAMeanExpectsWhatItsRowsDoOnAverage(t *testing.T) {
	set, qs := routingtest.Planted(120), routingtest.Fresh(20)
	var texts []string
	for _, q := range qs {
		texts = append(texts, q.Problem.Text)
	}
	expects := func(kind, params string) []predict.Scores {
		found, err := fit(t, build(t, kind, params), set, 3).(predict.Rates).Expects(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	a, b, both := expects("logistic", ""), expects("bag", "epochs: 2"), expects("mean", twoRows)
	for i := range both {
		for m := range 3 {
			if want := (a[i].Pass[m] + b[i].Pass[m]) / 2; math.Abs(both[i].Pass[m]-want) > 1e-12 {
				t.Errorf("pass rate %v, want %v", both[i].Pass[m], want)
			}
			if want := (a[i].USD[m] + b[i].USD[m]) / 2; math.Abs(both[i].USD[m]-want) > 1e-15 {
				t.Errorf("%v dollars, want %v", both[i].USD[m], want)
			}
		}
	}
}

func TestRowsOfAMeanAreCheckedAndPartOfItsRecipe(t *testing.T) {
	for params, want := range map[string]string{
		"":                                       "params.of: not set",
		"of: [{name: logistic}]":                 "params.of: 1 rows; a mean is of two at least",
		"of: [{name: logistic}, {name: logi}]":   `params.of[1].name: unknown method "logi"`,
		"of: [{name: logistic}, {name: random}]": "params.of[1].name: row kind random",
		"of: [{name: logistic}, {name: knn, params: {guard: 1}}]":           "params.of[1].name: row kind knn, set so,",
		"of: [{name: logistic, params: {cost: guessed}}, {name: logistic}]": "params.of[0].params.cost",
	} {
		if _, err := New(setup(t, "mean", params)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
	recipe, err := spec.Canonical(build(t, "mean", twoRows))
	if err != nil || !strings.Contains(string(recipe), `"epochs":2`) || !strings.Contains(string(recipe), `"l2":[100`) {
		t.Errorf("the recipe %s, %v: want what the rows are, defaults and all", recipe, err)
	}
}
