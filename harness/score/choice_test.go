package score

import (
	"fmt"
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book/booktest"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/units"
)

// lineOf returns the one line of that name and method; knob is "" but for settings.
func lineOf(t *testing.T, lines []metrics.Measurement, name, method, knob string) metrics.Measurement {
	t.Helper()
	for _, m := range lines {
		if m.Name == name && m.Key("method") == method && m.Key("knob") == knob {
			return m
		}
	}
	t.Fatalf("no line %s of %s", name, method)
	return metrics.Measurement{}
}

func hasValue(t *testing.T, m metrics.Measurement, unit string, want float64) {
	t.Helper()
	v, ok := m.Value(unit)
	if !ok || math.Abs(v.Number-want) > 0.5000001*math.Pow(10, -float64(v.Decimals)) {
		t.Errorf("%s: %v (%v), want %v", m.Label()+" "+unit, v.Number, ok, want)
	}
}

// The toy arena with the dear expert right on the last question: 50% for 5.5/3 dollars against 83.3% for 18.5/3.
func unevenArena() *book.Arena {
	a := booktest.Arena()
	a.Outcomes[3][1] = routing.Outcome{Correct: 1, Bucket: routing.Correct, Out: 70, USD: 7}
	return a
}

// examined is a sample of one arena without rows.
func examined(a *book.Arena, best ...int) *Sample {
	a.Pool, a.Experts, a.Best = "pool", []routing.Expert{{ID: "cheap"}, {ID: "dear"}}, best
	a.Benchmarks[0].Pass, a.Benchmarks[1].Pass = 1, 2
	return &Sample{Arena: a, Resampling: Resampling{Confidence: 0.95}}
}

// add adds a row; what decisions say of no distribution is that they are sure.
func (s *Sample) add(row Row, trainings ...[]routing.Decision) {
	for i, d := range trainings {
		for k := range d {
			if d[k].Prob == nil {
				d[k].Prob = make([]float64, len(s.Outcomes[0]))
				d[k].Prob[d[k].Expert] = 1
			}
		}
		row.Seeds = append(row.Seeds, uint64(i+1))
	}
	s.Add(row, trainings, nil)
}

func TestChoicesByHand(t *testing.T) {
	a := unevenArena()
	s := examined(a, 1, 0, 0) // m_best of the question of x and the two of y
	s.Resampling.Resamples = 40
	soft := func(expert int, cheap float64) routing.Decision {
		return routing.Decision{Expert: expert, Prob: []float64{cheap, 1 - cheap}}
	}
	s.add(Row{ID: "cheap"}, a.Always(0))
	s.add(Row{ID: "dear"}, a.Always(1))
	s.add(Row{ID: "router"},
		[]routing.Decision{{Expert: 0}, {Expert: 1}, {Expert: 1}, {Expert: 0}},
		[]routing.Decision{{Expert: 0}, {Expert: 0}, {Expert: 1}, {Expert: 0}})
	s.add(Row{ID: "policy"}, []routing.Decision{soft(0, 0.75), soft(0, 0.75), soft(1, 0.25), soft(0, 0.95)})
	s.add(Row{ID: "coin", Knob: true}, []routing.Decision{soft(routing.Expected, 0.5), soft(routing.Expected, 0.5), soft(routing.Expected, 0), soft(routing.Expected, 1)})
	lines := s.Choice()

	price := (250./3 - 50) / (18.5/3 - 5.5/3) // points a dollar at which both fixed rows are worth the same
	half := math.Ln2
	third := metrics.Entropy([]float64{1, 2})
	for _, c := range []struct {
		method, unit string
		want         float64
	}{
		{"cheap", units.OracleGap, 50}, // somebody is right in every run
		{"dear", units.OracleGap, 50. / 3},
		{"router", units.OracleGap, (0 + 50./3) / 2},
		{"cheap", units.RegretPrice, price * 18.5 / 3},
		{"cheap", units.Regret, (100 - 2*price) / 3}, // all on the first question of y, where the dear one alone is right
		{"dear", units.Regret, (5*price + 6*price) / 3},
		// Training 1 is right in both runs of x, for 1 and 4 dollars, where the best single expert is right in half of
		// them for 1.5; training 2 asks that one. Both choose best in y.
		{"router", units.Regret, -(50 - price) / 3 / 2},
		// The dear expert and m_best are both right in the second run of x, where it is m_best, and on the last question
		// of y, for 7 dollars instead of 1.
		{"dear", units.CostRegret, 100 * (6. / 3) / (0.5/3 + 1./3) / (18.5 / 3)},
		{"cheap", units.CostRegret, 0},
		{"cheap", units.QueryEntropy, 0},
		{"router", units.QueryEntropy, 0},
		{"coin", units.QueryEntropy, half / 3},
		{"policy", units.QueryEntropy, (2*metrics.Entropy([]float64{1, 3}) + metrics.Entropy([]float64{1, 19})) / 3},
		{"cheap", units.Entropy, 0},
		{"dear", units.Information, 0},
		{"coin", units.Entropy, half},
		{"coin", units.Information, 0},
		{"router", units.Entropy, (half + third) / 2},
		{"router", units.Information, (0 + (2*third - math.Log(3))) / 2}, // training 2 never asks the dear expert where it is m_best
		// Policy: 0.75 where the cheap expert is right in half of the runs, 0.25 where never, 0.95 where always.
		{"policy", units.AUC, (1.5 + 0.5*1 + 0.5*0.5/2) / (1.5 * 1.5)},
		{"policy", units.ECE, (0.25 + 0.25 + 0.05) / 3},
		{"policy", units.Brier, (0.5*0.0625 + 0.5*0.5625 + 0.0625 + 0.0025) / 3},
	} {
		hasValue(t, lineOf(t, lines, "Choice", c.method, ""), c.unit, c.want)
	}
	for _, method := range []string{"cheap", "dear", "router", "coin"} {
		for _, unit := range []string{units.AUC, units.ECE, units.Brier} {
			if v, ok := lineOf(t, lines, "Choice", method, "").Value(unit); ok {
				t.Errorf("%s has %s %v: its distribution is no score", method, unit, v.Number)
			}
		}
	}
	for _, m := range lines {
		if m.Name != "Choice" {
			t.Errorf("line %s of a row without a knob", m.Label())
		}
	}
}

// Where the strong expert is no better, money buys nothing and there is no price to regret at.
func TestRegretNeedsAPrice(t *testing.T) {
	s := examined(booktest.Arena(), 0, 0, 0)
	s.add(Row{ID: "cheap"}, s.Always(0))
	m := lineOf(t, s.Choice(), "Choice", "cheap", "")
	if _, ok := m.Value(units.Regret); ok {
		t.Errorf("%+v", m)
	}
	hasValue(t, m, units.OracleGap, 50)
}

// The router itself is one more choice: a table of two experts has three columns.
func TestOwnAnswersAreAChoice(t *testing.T) {
	a := unevenArena()
	a.Self = make([]routing.Outcome, 4)
	for i := range a.Self {
		a.Self[i] = routing.Outcome{Correct: 1, Bucket: routing.Correct}
	}
	own := func(calls ...routing.Call) routing.Decision {
		return routing.Decision{Expert: routing.Self, Prob: []float64{0, 0}, Calls: calls}
	}
	s := examined(a, 1, 0, 0)
	s.add(Row{ID: "self", Own: true}, []routing.Decision{{Expert: 1}, {Expert: 1}, own(), own(routing.Call{Expert: 1})})
	m := lineOf(t, s.Choice(), "Choice", "self", "")
	third := metrics.Entropy([]float64{1, 2})
	hasValue(t, m, units.Entropy, third)
	hasValue(t, m, units.Information, third)
	// Both are right in the second run of x, at one cost, and on the last question of y: a call of 7 dollars, then an
	// answer of its own, where m_best costs 1.
	hasValue(t, m, units.CostRegret, 100*(6./3)/(0.5/3+1./3)/(18.5/3))
}

// The distribution of a router that may answer itself is of its first move: no score, and no distribution of decisions.
func TestFirstMovesAreNoScore(t *testing.T) {
	a := unevenArena()
	a.Self = make([]routing.Outcome, 4)
	move := func(expert int, prob ...float64) routing.Decision {
		return routing.Decision{Expert: expert, Prob: prob, Calls: []routing.Call{{Expert: expert}}}
	}
	s := examined(a, 1, 0, 0)
	s.add(Row{ID: "self", Own: true}, []routing.Decision{move(0, 0.5, 0.1), move(0, 0.5, 0.1), move(1, 0.2, 0.3), move(0, 0.4, 0.1)})
	m := lineOf(t, s.Choice(), "Choice", "self", "")
	for _, unit := range []string{units.QueryEntropy, units.AUC, units.ECE, units.Brier} {
		if v, ok := m.Value(unit); ok {
			t.Errorf("%s %v", unit, v.Number)
		}
	}
	hasValue(t, m, units.Entropy, metrics.Entropy([]float64{2, 1})) // of what was done in the end
}

// A decision that carries its answer is right and paid by that, not by what the experts did.
func TestAnswersOfTheirOwnAreExamined(t *testing.T) {
	s := examined(unevenArena(), 0, 0, 0)
	s.Experts[1].Price.Out = 1e6
	said := func(b routing.Bucket, tokens int64) routing.Decision {
		return routing.Decision{Expert: 1, Prob: []float64{0, 1}, Answer: &routing.Answer{Bucket: b}, Calls: []routing.Call{{Expert: 1, Usage: cost.Usage{Out: tokens}}}}
	}
	s.add(Row{ID: "served"}, []routing.Decision{said(routing.Correct, 3), said(routing.Correct, 4), said(routing.Correct, 5), said(routing.Wrong, 6)})
	// Right together with the cheap expert in the first run of x alone, for 3 dollars instead of 1.
	hasValue(t, lineOf(t, s.Choice(), "Choice", "served", ""), units.CostRegret, 100*2/(18.5/3))
}

// addKnob adds a row whose knob asks, from its first setting on, the dear expert always, then the cheap one on the last question, then
// the cheap one always.
func addKnob(s *Sample) {
	s.Resampling.Resamples = 40
	s.Queries = make([]routing.Query, 4)
	cheapFrom := func(setting int) book.Swept {
		return book.Swept{First: 1, Turns: []book.Turn{{Setting: setting, Expert: 0}}}
	}
	always := s.Always(0)
	for k := range always {
		always[k].Prob = []float64{1, 0}
	}
	s.Add(Row{ID: "knob", Knob: true, Seeds: []uint64{1}}, [][]routing.Decision{always},
		[]*book.Sweep{{Settings: 3, Queries: []book.Swept{cheapFrom(2), cheapFrom(2), cheapFrom(2), cheapFrom(1)}}})
}

func TestCurvesByHand(t *testing.T) {
	s := examined(unevenArena(), 0, 0, 0)
	addKnob(s)
	lines := s.Choice()

	// Settings: the dear expert always; the cheap one on the last question, as right for 6 dollars less; the cheap one.
	dear, middle, cheap := metrics.Point{Cost: 18.5 / 3, Quality: 250. / 3}, metrics.Point{Cost: 12.5 / 3, Quality: 250. / 3}, metrics.Point{Cost: 5.5 / 3, Quality: 50}
	points := []metrics.Point{dear, middle, cheap}
	for j, p := range points {
		m := lineOf(t, lines, units.SweepName, "knob", fmt.Sprintf("%03d", j))
		hasValue(t, m, metrics.Accuracy, p.Quality)
		hasValue(t, m, metrics.USDPerQuery, p.Cost)
		hasValue(t, m, units.CostShare, 100*p.Cost/dear.Cost)
	}
	m := lineOf(t, lines, "Curve", "knob", "")
	at := (middle.Cost - cheap.Cost) / (dear.Cost - cheap.Cost) // 7/13 of the way the curve is as good as the strongest
	hasValue(t, m, units.AIQ, 250./3-at*(100./3)/2)
	hasValue(t, m, units.AUDC, 250./3-at*(100./3)/2)
	hasValue(t, m, units.APGR, 1-at/2)
	hasValue(t, m, "cpt50-%", 100*at/2)
	hasValue(t, m, "cpt80-%", 100*at*0.8)
	hasValue(t, m, units.QNC, 100*middle.Cost/dear.Cost)
	hasValue(t, m, units.Peak, 250./3)
	gain := 0.0 // above the line between the two experts, at 19 budgets
	for i := 1; i <= 19; i++ {
		b := float64(i) / 20
		gain += (min(b/at, 1) - b) * (100. / 3) / 19
	}
	hasValue(t, m, units.MeanGain, gain)
	// The question that goes to the cheap expert first is the one it is right on; of the others it is right on half of
	// one: (1*(0.5+1) + 0.5*1/2 + 0.5*0.5/2)/(1.5*1.5).
	hasValue(t, lineOf(t, lines, "Choice", "knob", ""), units.AUC, (1.5+0.25+0.125)/2.25)
}

func TestSettingsThatHardlyDifferHaveOneLine(t *testing.T) {
	curve := metrics.NewKnobCurve(5, []metrics.Point{{Cost: 10, Quality: 50}})
	for j, by := range []float64{-0.02, -0.04, -1, 0} { // 0.2, 0.6 and 10.6 of a hundred cheaper than the first
		curve.Change(0, j+1, metrics.Point{Cost: by})
	}
	var knobs []string
	for _, m := range sweepLines(nil, 1, []*metrics.KnobCurve{curve}, []float64{1}, 10) {
		knobs = append(knobs, m.Key("knob"))
	}
	if got := fmt.Sprint(knobs); got != "[000 002 003 004]" {
		t.Errorf("settings %s", got)
	}
}

// A training whose score is the same on every question tells nothing and counts as what it is, not as none.
func TestATrainingThatTellsNothingCounts(t *testing.T) {
	soft := func(expert int, cheap float64) routing.Decision {
		return routing.Decision{Expert: expert, Prob: []float64{cheap, 1 - cheap}}
	}
	s := examined(unevenArena(), 1, 0, 0)
	tells := []routing.Decision{soft(0, 0.75), soft(0, 0.75), soft(1, 0.25), soft(0, 0.95)}
	flat := []routing.Decision{soft(0, 0.6), soft(0, 0.6), soft(0, 0.6), soft(0, 0.6)}
	s.add(Row{ID: "policy"}, tells, flat)
	s.add(Row{ID: "flat"}, flat)
	lines := s.Choice()
	one := (1.5 + 0.5*1 + 0.5*0.5/2) / (1.5 * 1.5)
	hasValue(t, lineOf(t, lines, "Choice", "policy", ""), units.AUC, (one+0.5)/2)
	if v, ok := lineOf(t, lines, "Choice", "flat", "").Value(units.AUC); ok {
		t.Errorf("a row that tells nothing has an AUC of %v", v.Number)
	}
}
