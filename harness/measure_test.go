package harness

import (
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

var near = cmpopts.EquateApprox(0, 1e-9)

// Two benchmarks: one question with two runs, two questions with one.
func toyArena() *book.Arena {
	a := &book.Arena{Name: metrics.PaperArena, Benchmarks: []book.Benchmark{{Name: "x", Runs: 2}, {Name: "y", Runs: 1}}}
	a.Question = []int{0, 0, 1, 2}
	a.Strata = []int{0, 1, 1}
	a.Queries = make([]routing.Query, 4)
	a.Outcomes = [][]routing.Outcome{
		{{Correct: 1, Bucket: routing.Correct, Out: 10, USD: 1}, {Bucket: routing.Truncated, Out: 90, USD: 9}},
		{{Bucket: routing.Wrong, Out: 20, USD: 2}, {Correct: 1, Bucket: routing.Correct, Out: 40, USD: 4}},
		{{Bucket: routing.NoAnswer, Out: 30, USD: 3}, {Correct: 1, Bucket: routing.Correct, Out: 50, USD: 5}},
		{{Correct: 1, Bucket: routing.Correct, Out: 10, USD: 1}, {Bucket: routing.Ungraded, Out: 70, USD: 7}},
	}
	a.Self = []routing.Outcome{
		{Correct: 1, Bucket: routing.Correct, Out: 5}, {Correct: 1, Bucket: routing.Correct, Out: 8},
		{Correct: 1, Bucket: routing.Correct, Out: 6}, {Bucket: routing.NoAnswer, Out: 7},
	}
	return a
}

func measured(t *testing.T, lines []metrics.Measurement, method, benchmark, seed string) metrics.Measurement {
	t.Helper()
	m, ok, err := (&metrics.Set{Measurements: lines}).Find(metrics.Keys("method", method, "benchmark", benchmark, "seed", seed)...)
	if err != nil || !ok {
		t.Fatalf("%s on %s: %v", method, benchmark, err)
	}
	return m
}

// rows of a toy experiment: always the cheap expert, always the dear one, and two trainings of a router.
func toyRows(a *book.Arena) []scored {
	always := func(id string, m int) scored {
		return scored{method: spec.Method{Name: "fixed", ID: id}, seeds: []uint64{1}, columns: []book.Scores{a.Score(a.Always(m))}}
	}
	return []scored{always("cheap", 0), always("dear", 1), {
		method: spec.Method{Name: "entrorouter"}, seeds: []uint64{1, 2},
		columns: []book.Scores{
			a.Score([]routing.Decision{{Expert: 0}, {Expert: 1}, {Expert: 1}, {Expert: 0}}),
			a.Score([]routing.Decision{{Expert: 0}, {Expert: 0}, {Expert: 1}, {Expert: 0}}),
		},
	}}
}

func toyEngine(sizes ...int) *engine {
	e := &engine{spec: &spec.Resolved{Benchmarks: spec.Benchmarks{}}, experts: []routing.Expert{{ID: "cheap"}, {ID: "dear"}}}
	e.spec.Experiment.Name, e.poolSpec.Name = "toy", "pool"
	e.spec.Experiment.Evaluate.Confidence = 0.95
	for i, n := range sizes {
		e.spec.Benchmarks[[]string{"x", "y"}[i]] = spec.Benchmark{Size: n}
	}
	return e
}

func TestMeasurementsByHand(t *testing.T) {
	a := toyArena()
	lines := toyEngine(1, 2).measure(a, toyRows(a))
	// Router: question x is right in both runs of training 1 (dollars (1+4)/2) and in one of training 2 ((1+2)/2);
	// y's questions are right in both trainings, for 5 and 1 dollars.
	for _, c := range []struct {
		method, benchmark, seed, unit string
		want                          float64
	}{
		{"entrorouter", "x", "", metrics.Accuracy, 75},
		{"entrorouter", "x", "", metrics.USD, 2},
		{"entrorouter", "x", "", "correct", 1.5},
		{"entrorouter", "x", "", "wrong", 0.5},
		{"entrorouter", "y", "", metrics.Accuracy, 100},
		{"entrorouter", "y", "", metrics.USD, 6}, // of the whole benchmark
		{"entrorouter", "y", "", metrics.Questions, 2},
		{"entrorouter", "avg", "", metrics.Accuracy, 91.667}, // (75 + 100 + 100)/3: a question weighs the same whatever its runs
		{"entrorouter", "avg", "", metrics.USDPerQuery, 2.66666667},
		{"entrorouter", "avg", "1", metrics.Accuracy, 100},
		{"entrorouter", "avg", "2", metrics.Accuracy, 83.333},
		{"entrorouter", "avg", "2", metrics.USDPerQuery, 2.5},
		{"entrorouter", "avg", "", units.SeedSD, 11.785}, // |100 - 83.333|/sqrt(2)
		{"entrorouter", "avg", "", units.CostShare, 43.243},
		{"dear", "avg", "", metrics.Accuracy, 50},            // (50 + 100 + 0)/3
		{"dear", "avg", "", metrics.USDPerQuery, 6.16666667}, // (6.5 + 5 + 7)/3
		{"dear", "avg", "", units.CostShare, 100},
		{"dear", "avg", "", "retention-%", 100},
		{"dear", "avg", "", units.Difference, -41.667},
		{"dear", "avg", "", units.CostDifference, 56.757},
		{"dear", "x", "", units.Difference, -25},
		{"dear", "y", "", units.Difference, -50},
		{"cheap", "y", "", units.Difference, -50},
		{"dear", "avg", "", "truncated", 1},
		{"dear", "avg", "", units.Truncated, 16.667}, // half of x's runs, none of y's two questions
		{"dear", "avg", "", units.SavedCost, 0},
		{"cheap", "avg", "", units.SavedCost, 70.27},
		// Of y's two questions the router is right on both and the dear expert on one: one discordant pair in each training.
		{"dear", "y", "", units.McNemar, 1},
		{"cheap", "avg", "", metrics.Accuracy, 50},
		{"cheap", "avg", "", units.HullGain, 0},
		{"dear", "avg", "", units.HullGain, 0},
		{"entrorouter", "avg", "", units.HullGain, 41.667}, // both fixed experts are right on half
		{"entrorouter", "avg", "2", units.HullGain, 33.333},
	} {
		v, ok := measured(t, lines, c.method, c.benchmark, c.seed).Value(c.unit)
		if !ok || math.Abs(v.Number-c.want) > 1e-9 {
			t.Errorf("%s of %s on %s, seed %q: %v (%v), want %v", c.unit, c.method, c.benchmark, c.seed, v.Number, ok, c.want)
		}
	}
	for _, c := range []struct{ method, benchmark, unit, why string }{
		{"cheap", "avg", units.PGR, "both fixed experts are right on half"},
		{"dear", "x", units.McNemar, "x has two runs"},
		{"entrorouter", "y", units.McNemar, "it is the reference"},
	} {
		if v, ok := measured(t, lines, c.method, c.benchmark, "").Value(c.unit); ok {
			t.Errorf("%s on %s has %s %v, though %s", c.method, c.benchmark, c.unit, v.Number, c.why)
		}
	}
	if m := measured(t, lines, "entrorouter", "avg", ""); m.N != 4 {
		t.Errorf("N is %d, want 4 queries", m.N)
	}
	for _, b := range []string{"avg", "x"} {
		if _, ok := measured(t, lines, "entrorouter", b, "").Value(units.Difference); ok {
			t.Error("the reference row has a difference from itself")
		}
	}
}

// A router that answers itself for nothing is on the hull of the experts and itself, whichever training it is from.
func TestSingleSeedsOfRowsThatAnswerThemselvesHaveTheirHull(t *testing.T) {
	a := toyArena()
	a.Self = []routing.Outcome{{Correct: 1}, {}, {Correct: 1}, {}} // half of x, one of y's two: 50 %
	alone := a.Score(a.Always(routing.Self))
	rows := append(toyRows(a), scored{method: spec.Method{Name: "self"}, seeds: []uint64{1, 2}, columns: []book.Scores{alone, alone}})
	lines := toyEngine(1, 2).measure(a, rows)
	for _, seed := range []string{"", "1", "2"} {
		m := measured(t, lines, "self", "avg", seed)
		accuracy, _ := m.Value(metrics.Accuracy)
		gain, ok := m.Value(units.HullGain)
		if !ok || gain.Number != 0 || accuracy.Number != 50 {
			t.Errorf("seed %q: accuracy %v, hull gain %v (%v), want 50 and 0", seed, accuracy.Number, gain.Number, ok)
		}
	}
}

// A large set stands for a benchmark of the paper's size: its questions weigh what the benchmark has, not what was drawn.
func TestALargerSetKeepsTheWeightsOfThePaper(t *testing.T) {
	a := toyArena()
	a.Name = metrics.LargeArena
	lines := toyEngine(30, 10).measure(a, toyRows(a))
	for unit, want := range map[string]float64{
		metrics.Accuracy:    (30*75 + 10*100) / 40.0,
		metrics.USDPerQuery: (30*2 + 10*3) / 40.0,
		metrics.Questions:   3,
	} {
		if v, _ := measured(t, lines, "entrorouter", "avg", "").Value(unit); math.Abs(v.Number-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", unit, v.Number, want)
		}
	}
	if v, _ := measured(t, lines, "entrorouter", "y", "").Value(metrics.USD); v.Number != 30 {
		t.Errorf("y costs %v dollars, want 30 for its 10 questions", v.Number)
	}
}

func TestIntervalsHoldTheirNumbersAndAreOfTheSameResamplesForAllRows(t *testing.T) {
	a := &book.Arena{Name: metrics.PaperArena, Benchmarks: []book.Benchmark{{Name: "x", Runs: 1}, {Name: "y", Runs: 1}}}
	for q := range 40 {
		a.Queries = append(a.Queries, routing.Query{Problem: routing.Problem{ID: fmt.Sprint("q", q)}})
		a.Question, a.Strata = append(a.Question, q), append(a.Strata, q%2)
		a.Outcomes = append(a.Outcomes, []routing.Outcome{{Correct: float64(q / 7 % 2), USD: 1, Bucket: routing.Wrong}, {Correct: float64(min(1, q%5)), USD: 5, Bucket: routing.Wrong}})
	}
	e := toyEngine(20, 20)
	e.spec.Experiment.Evaluate.Bootstrap = 200
	rows := toyRows(a)[:2]
	twin := rows[0]
	twin.method.ID, twin.method.Name = "", "entrorouter"
	lines := e.measure(a, append(rows, twin))
	for _, m := range lines {
		for _, v := range m.Values {
			if v.Bounded && (v.Number < v.Low || v.Number > v.High) {
				t.Errorf("%s: %v %s outside [%v, %v]", m.Label(), v.Number, v.Unit, v.Low, v.High)
			}
		}
	}
	// Rows that decide alike differ by exactly nothing in every resample.
	v, ok := measured(t, lines, "cheap", "avg", "").Value(units.Difference)
	if !ok || v.Number != 0 || v.Low != 0 || v.High != 0 {
		t.Errorf("difference of twins: %+v", v)
	}
	if v, _ := measured(t, lines, "dear", "avg", "").Value(metrics.Accuracy); v.Low == v.High {
		t.Errorf("no interval: %+v", v)
	}
}

// What a run has paid for is measured also where some numbers are not defined: nobody solves anything, nothing costs
// anything, or a single resample has no solved question.
func TestWhatIsNotDefinedIsLeftOutAndTheRestStays(t *testing.T) {
	for name, outcome := range map[string]func(q int) routing.Outcome{
		"nobody solves anything": func(int) routing.Outcome { return routing.Outcome{Bucket: routing.Wrong, USD: 1} },
		"nothing costs anything": func(q int) routing.Outcome { return routing.Outcome{Correct: float64(q % 2), Bucket: routing.Wrong} },
		"one question of 3 is solved": func(q int) routing.Outcome {
			return routing.Outcome{Correct: float64(max(0, q-1)), Bucket: routing.Wrong, USD: 1}
		},
	} {
		a := &book.Arena{Name: metrics.PaperArena, Benchmarks: []book.Benchmark{{Name: "x", Runs: 1}}}
		for q := range 3 {
			a.Queries = append(a.Queries, routing.Query{Problem: routing.Problem{ID: fmt.Sprint("q", q)}})
			a.Question, a.Strata = append(a.Question, q), append(a.Strata, 0)
			a.Outcomes = append(a.Outcomes, []routing.Outcome{outcome(q), outcome(q)})
		}
		e := toyEngine(3)
		e.spec.Experiment.Evaluate.Bootstrap = 200
		cheap, dear := a.Score(a.Always(0)), a.Score(a.Always(1))
		rows := []scored{
			{method: spec.Method{Name: "fixed", ID: "cheap"}, seeds: []uint64{1}, columns: []book.Scores{cheap}},
			{method: spec.Method{Name: "entrorouter"}, seeds: []uint64{1, 2}, columns: []book.Scores{dear, dear}},
		}
		set := &metrics.Set{Measurements: e.measure(a, rows)}
		if err := set.Write(io.Discard); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := measured(t, set.Measurements, "cheap", "avg", "").Value(metrics.Accuracy); !ok {
			t.Errorf("%s: no accuracy", name)
		}
	}
}

func TestMcNemarTakesTheMedianOfTrainings(t *testing.T) {
	a := &book.Arena{Benchmarks: []book.Benchmark{{Runs: 1}, {Runs: 1}}, Strata: []int{0, 0, 0, 0, 0, 0, 1, 1}}
	of := func(accuracy ...float64) book.Scores { return book.Scores{Accuracy: accuracy, Buckets: [][]float64{}} }
	reference := scored{columns: []book.Scores{of(0, 0, 0, 0, 0, 0, 100, 100)}}
	row := scored{columns: []book.Scores{
		of(100, 100, 100, 100, 100, 0, 0, 0), // 5 against 0: 1/16
		of(100, 100, 50, 0, 0, 0, 0, 0),      // 2 against 0: 1/2; a coin is left out
		of(0, 0, 0, 0, 0, 0, 0, 0),           // alike: 1
	}}
	if p, ok := mcNemar(a, 0, row, reference); !ok || p != 0.5 {
		t.Errorf("p is %v (%v), want 1/2", p, ok)
	}
	row.columns = row.columns[:2]
	if p, ok := mcNemar(a, 0, row, reference); !ok || p != (0.5+1./16)/2 {
		t.Errorf("p of two trainings is %v (%v)", p, ok)
	}
	a.Benchmarks[0].Runs = 2
	if _, ok := mcNemar(a, 0, row, reference); ok {
		t.Error("a benchmark of two runs was tested")
	}
}

func TestStrataOfDifficulty(t *testing.T) {
	for _, c := range []struct {
		best, experts int
		want          string
	}{{0, 3, "easy"}, {1, 3, "medium"}, {2, 3, "hard"}, {2, 5, "medium"}, {4, 5, "hard"}, {0, 2, "easy"}, {1, 2, "hard"}} {
		if got := strata[stratum(c.best, c.experts)]; got != c.want {
			t.Errorf("m_best %d of %d: %s, want %s", c.best, c.experts, got, c.want)
		}
	}
}

func TestTheRoutingDistributionByHand(t *testing.T) {
	a := toyArena()
	e := toyEngine(1, 2)
	e.spec.Experiment.Evaluate.Bootstrap = 50
	// The question of x and the first of y are hard, the other is easy; nothing is medium.
	set := &metrics.Set{Measurements: e.measureStrata(a, toyRows(a)[2:], []int{2, 2, 0})}
	for _, c := range []struct {
		stratum, expert, unit string
		want                  float64
	}{
		{"easy", "", metrics.USDPerQuery, 1},
		{"hard", "", metrics.USDPerQuery, 3.5}, // the mean of 2 and 5
		{"hard", "cheap", report.Share, 37.5},  // a half and all of x's two runs, none of y
		{"hard", "dear", report.Share, 62.5},
		{"easy", "cheap", report.Share, 100},
	} {
		m, ok, err := set.Find(metrics.Keys("stratum", c.stratum, "expert", c.expert)...)
		if err != nil || !ok {
			t.Fatalf("%s, %q: %v", c.stratum, c.expert, err)
		}
		if v, _ := m.Value(c.unit); math.Abs(v.Number-c.want) > 1e-9 || !v.Bounded || v.Low > c.want || v.High < c.want {
			t.Errorf("%s of %s, %q: %+v, want %v", c.unit, c.stratum, c.expert, v, c.want)
		}
	}
	if found := set.Where(metrics.Keys("stratum", "medium")...); len(found) != 0 {
		t.Errorf("an empty stratum has %d lines", len(found))
	}
}
