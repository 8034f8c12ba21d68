package score

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book/booktest"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/units"
)

func measured(t *testing.T, lines []metrics.Measurement, method, benchmark, seed string) metrics.Measurement {
	t.Helper()
	m, ok, err := (&metrics.Set{Measurements: lines}).Find(metrics.Keys("method", method, "benchmark", benchmark, "seed", seed)...)
	if err != nil || !ok {
		t.Fatalf("%s on %s: %v", method, benchmark, err)
	}
	return m
}

// decided makes a row of decisions that are scored and not examined.
func decided(s *Sample, row Row, trainings ...[]routing.Decision) Row {
	for k, d := range trainings {
		row.Seeds, row.Scores = append(row.Seeds, uint64(k+1)), append(row.Scores, s.Score(d))
	}
	return row
}

// toySample has always the cheap expert, always the dear one, and two trainings of a router, in benchmarks of so many
// questions a pass.
func toySample(a *book.Arena, pass ...float64) *Sample {
	s := &Sample{Arena: a, Reference: "router", Resampling: Resampling{Confidence: 0.95}}
	for b, n := range pass {
		a.Benchmarks[b].Pass = n
	}
	a.Pool, a.Experts = "pool", []routing.Expert{{ID: "cheap"}, {ID: "dear"}}
	s.rows = []Row{decided(s, Row{ID: "cheap"}, a.Always(0)), decided(s, Row{ID: "dear"}, a.Always(1))}
	return s
}

func (s *Sample) withRouter() *Sample {
	s.rows = append(s.rows, decided(s, Row{ID: "router"},
		[]routing.Decision{{Expert: 0}, {Expert: 1}, {Expert: 1}, {Expert: 0}},
		[]routing.Decision{{Expert: 0}, {Expert: 0}, {Expert: 1}, {Expert: 0}}))
	return s
}

func TestMeasurementsByHand(t *testing.T) {
	lines := toySample(booktest.Arena(), 1, 2).withRouter().Route()
	// Router: question x is right in both runs of training 1 (dollars (1+4)/2) and in one of training 2 ((1+2)/2);
	// y's questions are right in both trainings, for 5 and 1 dollars.
	for _, c := range []struct {
		method, benchmark, seed, unit string
		want                          float64
	}{
		{"router", "x", "", metrics.Accuracy, 75},
		{"router", "x", "", metrics.USD, 2},
		{"router", "x", "", "correct", 1.5},
		{"router", "x", "", "wrong", 0.5},
		{"router", "y", "", metrics.Accuracy, 100},
		{"router", "y", "", metrics.USD, 6}, // of the whole benchmark
		{"router", "y", "", metrics.Questions, 2},
		{"router", "avg", "", metrics.Accuracy, 91.667}, // (75 + 100 + 100)/3: a question weighs the same whatever its runs
		{"router", "avg", "", metrics.USDPerQuery, 2.66666667},
		{"router", "avg", "1", metrics.Accuracy, 100},
		{"router", "avg", "2", metrics.Accuracy, 83.333},
		{"router", "avg", "2", metrics.USDPerQuery, 2.5},
		{"router", "avg", "", units.SeedSD, 11.785}, // |100 - 83.333|/sqrt(2)
		{"router", "avg", "", units.CostShare, 43.243},
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
		{"router", "avg", "", units.HullGain, 41.667}, // both fixed experts are right on half
		{"router", "avg", "2", units.HullGain, 33.333},
	} {
		v, ok := measured(t, lines, c.method, c.benchmark, c.seed).Value(c.unit)
		if !ok || math.Abs(v.Number-c.want) > 1e-9 {
			t.Errorf("%s of %s on %s, seed %q: %v (%v), want %v", c.unit, c.method, c.benchmark, c.seed, v.Number, ok, c.want)
		}
	}
	for _, c := range []struct{ method, benchmark, unit, why string }{
		{"cheap", "avg", units.PGR, "both fixed experts are right on half"},
		{"dear", "x", units.McNemar, "x has two runs"},
		{"router", "y", units.McNemar, "it is the reference"},
	} {
		if v, ok := measured(t, lines, c.method, c.benchmark, "").Value(c.unit); ok {
			t.Errorf("%s on %s has %s %v, though %s", c.method, c.benchmark, c.unit, v.Number, c.why)
		}
	}
	if m := measured(t, lines, "router", "avg", ""); m.N != 4 {
		t.Errorf("N is %d, want 4 queries", m.N)
	}
	for _, b := range []string{"avg", "x"} {
		if _, ok := measured(t, lines, "router", b, "").Value(units.Difference); ok {
			t.Error("the reference row has a difference from itself")
		}
	}
}

// A router that answers itself for nothing is on the hull of the experts and itself, whichever training it is from.
func TestSingleSeedsOfRowsThatAnswerThemselvesHaveTheirHull(t *testing.T) {
	a := booktest.Arena()
	a.Self = []routing.Outcome{{Correct: 1}, {}, {Correct: 1}, {}} // half of x, one of y's two: 50 %
	s := toySample(a, 1, 2)
	s.rows = append(s.rows, decided(s, Row{ID: "self", Own: true}, a.Always(routing.Self), a.Always(routing.Self)))
	lines := s.Route()
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
	a := booktest.Arena()
	a.Name = metrics.LargeArena
	lines := toySample(a, 30, 10).withRouter().Route()
	for unit, want := range map[string]float64{
		metrics.Accuracy:    (30*75 + 10*100) / 40.0,
		metrics.USDPerQuery: (30*2 + 10*3) / 40.0,
		metrics.Questions:   3,
	} {
		if v, _ := measured(t, lines, "router", "avg", "").Value(unit); math.Abs(v.Number-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", unit, v.Number, want)
		}
	}
	if v, _ := measured(t, lines, "router", "y", "").Value(metrics.USD); v.Number != 30 {
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
	s := toySample(a, 20, 20)
	s.Resampling.Resamples = 200
	twin := s.rows[0]
	twin.ID = "router"
	s.rows = append(s.rows, twin)
	lines := s.Route()
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
// anything, or a single resample has no solved question. What is missing is said with its reason.
func TestWhatIsNotDefinedIsSaidAndTheRestStays(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome func(q int) routing.Outcome
		unit    string
		why     string // empty: the number is there, without an interval
	}{
		{"nobody solves anything", func(int) routing.Outcome { return routing.Outcome{Bucket: routing.Wrong, USD: 1} }, units.Retention, nothingSolved},
		{"nothing costs anything", func(q int) routing.Outcome { return routing.Outcome{Correct: float64(q % 2), Bucket: routing.Wrong} }, units.CostShare, nothingPaid},
		{"one question of 3 is solved", func(q int) routing.Outcome {
			return routing.Outcome{Correct: float64(max(0, q-1)), Bucket: routing.Wrong, USD: 1}
		}, units.Retention, ""},
	} {
		a := &book.Arena{Name: metrics.PaperArena, Benchmarks: []book.Benchmark{{Name: "x", Runs: 1}}}
		for q := range 3 {
			a.Queries = append(a.Queries, routing.Query{Problem: routing.Problem{ID: fmt.Sprint("q", q)}})
			a.Question, a.Strata = append(a.Question, q), append(a.Strata, 0)
			a.Outcomes = append(a.Outcomes, []routing.Outcome{c.outcome(q), c.outcome(q)})
		}
		s := toySample(a, 3)
		s.Resampling.Resamples = 200
		s.rows = append(s.rows, decided(s, Row{ID: "router"}, a.Always(1), a.Always(1)))
		var text bytes.Buffer
		if err := (&metrics.Set{Measurements: s.Route()}).Write(&text); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		set, err := metrics.Read("", &text)
		if err != nil {
			t.Fatal(err)
		}
		m := measured(t, set.Measurements, "cheap", "avg", "")
		if _, ok := m.Value(metrics.Accuracy); !ok {
			t.Errorf("%s: no accuracy", c.name)
		}
		v, ok := m.Value(c.unit)
		if ok != (c.why == "") || m.Why(c.unit) != c.why || v.Bounded {
			t.Errorf("%s: %s is %+v (%v), not defined because %q; want %q", c.name, c.unit, v, ok, m.Why(c.unit), c.why)
		}
	}
}

func TestMcNemarTakesTheMedianOfTrainings(t *testing.T) {
	of := func(accuracy ...float64) book.Scores { return book.Scores{Accuracy: accuracy, Buckets: [][]float64{}} }
	p := operatingPoint{
		weighed: &weighed{fixed: &fixed{Sample: &Sample{Arena: &book.Arena{Benchmarks: []book.Benchmark{{Runs: 1}, {Runs: 1}}, Strata: []int{0, 0, 0, 0, 0, 0, 1, 1}}}}},
		duel:    &duel{reference: &rowMeans{row: Row{Scores: []book.Scores{of(0, 0, 0, 0, 0, 0, 100, 100)}}}},
		rowMeans: &rowMeans{row: Row{Scores: []book.Scores{
			of(100, 100, 100, 100, 100, 0, 0, 0), // 5 against 0: 1/16
			of(100, 100, 50, 0, 0, 0, 0, 0),      // 2 against 0: 1/2; a coin is left out
			of(0, 0, 0, 0, 0, 0, 0, 0),           // alike: 1
		}}},
	}
	if v := p.mcNemar(); !p.paired() || v != 0.5 {
		t.Errorf("p is %v (%v), want 1/2", v, p.paired())
	}
	p.row.Scores = p.row.Scores[:2]
	if v := p.mcNemar(); v != (0.5+1./16)/2 {
		t.Errorf("p of two trainings is %v", v)
	}
	p.Benchmarks[0].Runs = 2
	if p.paired() {
		t.Error("a benchmark of two runs was tested")
	}
}
