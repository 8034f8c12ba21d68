package methods

import (
	"math"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

// predicted fits a utility router to planted problems and returns what it expects on fresh ones.
func predicted(t *testing.T, kind, params string, problems int, qs []routing.Query) []predict.Scores {
	t.Helper()
	texts := make([]string, len(qs))
	for i, q := range qs {
		texts[i] = q.Problem.Text
	}
	found, err := fit(t, build(t, kind, params), routingtest.Planted(problems), 1).(predict.Rates).Expects(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPredictorsFindThePlantedRule(t *testing.T) {
	qs := routingtest.Fresh(200)
	for _, kind := range []string{"logistic", "knn", "difficulty"} {
		found := predicted(t, kind, "", 300, qs)
		if auc := areaUnderCurve(len(qs), func(i int) (float64, bool) { return found[i].Pass[0], !routingtest.Hard(i) }); auc < 0.95 {
			t.Errorf("%s: AUC of the small expert's pass rate is %.3f, want more than 0.95", kind, auc)
		}
		if auc := areaUnderCurve(len(qs), func(i int) (float64, bool) { return found[i].USD[2], routingtest.Hard(i) }); auc < 0.95 {
			t.Errorf("%s: AUC of the large expert's dollars as a sign of length is %.3f, want more than 0.95", kind, auc)
		}
	}
}

func TestNeighboursByHand(t *testing.T) {
	example := func(text string, pass, usd float64) profiledText {
		return profiledText{text, []float64{pass}, []float64{usd}}
	}
	unit := func(id int32) policy.Row { return policy.Row{IDs: []int32{id}, Values: []float32{1}} }
	r := neighbours{
		known: []profiledText{example("a", 1, 4), example("b", 0, 2), example("c", 1, 8), example("d", 0.5, 1)},
		index: learn.NewIndex([]policy.Row{unit(0), unit(1), {IDs: []int32{0, 1}, Values: []float32{0.6, 0.8}}, unit(2)}),
		usd:   []float64{10}, pass: []float64{0.5}, prior: 1,
	}
	row := policy.Row{IDs: []int32{0, 1}, Values: []float32{0.8, 0.6}}
	near := r.nearest(row, "x", 0, 4)
	if len(near) != 3 || near[0].At != 2 || near[1].At != 0 || near[2].At != 1 || math.Abs(float64(near[0].Cosine)-0.96) > 1e-6 {
		t.Errorf("nearest are %v, want c, a, b and not d, which shares nothing", near)
	}
	if own := r.nearest(row, "c", 0, 4); len(own) != 2 || own[0].At != 0 {
		t.Errorf("a question has its own text as a neighbour: %v", own)
	}
	if later := r.nearest(row, "x", 1, 1); len(later) != 1 || later[0].At != 2 {
		t.Errorf("from the second on, the nearest is %v", later)
	}
	// The two nearest weigh 0.96 and 0.8, the prior 1.
	s := r.scores(near, 2)
	if want := (0.5 + 0.96 + 0.8) / 2.76; math.Abs(s.Pass[0]-want) > 1e-6 {
		t.Errorf("pass rate %v, want %v", s.Pass[0], want)
	}
	if want := (10 + 0.96*8 + 0.8*4) / 2.76; math.Abs(s.USD[0]-want) > 1e-5 {
		t.Errorf("%v dollars, want %v", s.USD[0], want)
	}
	if alone := r.scores(nil, 2); alone.Pass[0] != 0.5 || alone.USD[0] != 10 {
		t.Errorf("without neighbours %v, want the means", alone)
	}
}

func TestNeighbourParamsAreChecked(t *testing.T) {
	for params, want := range map[string]string{
		"k: [5, 0]": `params.k[1]: want at least 1 and at most 1000000, got "0"`, "k: []": "must not be empty", "prior: 0": "prior", "most: 1": "most",
	} {
		if _, err := New(setup(t, "knn", params)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}

// 20,000 problems and three experts, features and the choice of k included.
func BenchmarkNeighbourFit(b *testing.B)  { benchmarkFit(b, "knn") }
func BenchmarkDifficultyFit(b *testing.B) { benchmarkFit(b, "difficulty") }
func BenchmarkClusterFit(b *testing.B)    { benchmarkFit(b, "cluster") }
func BenchmarkFORCFit(b *testing.B)       { benchmarkFit(b, "forc") }

func benchmarkFit(b *testing.B, kind string) {
	set := routingtest.Planted(20_000)
	m := build(b, kind, "")
	for b.Loop() {
		if _, err := m.Fit(b.Context(), set, routingtest.Work(1)); err != nil {
			b.Fatal(err)
		}
	}
}

// By hand: of four neighbours alike the dearer expert is right where the cheaper is wrong on three; mean difference 3/4, variance
// 3/16, error sqrt(3/16/3) = 1/4: three standard errors.
func TestTheGuardCountsStandardErrors(t *testing.T) {
	r := neighbours{pass: make([]float64, 2), usd: make([]float64, 2), known: []profiledText{
		{Pass: []float64{0, 1}}, {Pass: []float64{0, 1}}, {Pass: []float64{0, 1}}, {Pass: []float64{1, 1}},
	}}
	all := []learn.Neighbour{{Cosine: .5, At: 0}, {Cosine: .5, At: 1}, {Cosine: .5, At: 2}, {Cosine: .5, At: 3}}
	if z := r.worse(all); math.Abs(z[0]-3) > 1e-12 || !math.IsInf(z[1], -1) {
		t.Errorf("%v standard errors, not 3 and minus infinity", z)
	}
	if z := r.worse(all[:3]); z[0] != certain {
		t.Errorf("three alike prove %v", z)
	}
	for _, few := range [][]learn.Neighbour{nil, all[:1], all[3:]} {
		if z := r.worse(few); z[0] != 0 {
			t.Errorf("%v prove %v, not nothing", few, z)
		}
	}
	// Half the weight on the one that differs: mean 1/2, variance 1/4, effective size 1/(1/4+3/36) = 3.
	if z := r.worse([]learn.Neighbour{{Cosine: .5, At: 3}, {Cosine: .5 / 3, At: 0}, {Cosine: .5 / 3, At: 1}, {Cosine: .5 / 3, At: 2}}); math.Abs(z[0]-.5/math.Sqrt(.25/2)) > 1e-6 {
		t.Errorf("%v standard errors, not sqrt 2", z)
	}
}
