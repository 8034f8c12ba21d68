package score

import (
	"fmt"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/units"
)

// oneFold are 40 questions that the cheap expert is right on where k is odd, for a dollar, and the dear one always, for four.
// Knobs of so many settings but the ends ask the dear one first where a router is sure of it.
func oneFold() (a *book.Arena, sweep func(sure func(k int) bool) *book.Sweep) {
	const questions = 40
	a = &book.Arena{Name: book.Recorded, Pool: "pool", Experts: []routing.Expert{{ID: "cheap"}, {ID: "dear"}}, Benchmarks: []book.Benchmark{{Name: "b", Runs: 1, Pass: questions}}}
	for k := range questions {
		a.Queries, a.Question, a.Strata = append(a.Queries, routing.Query{}), append(a.Question, k), append(a.Strata, 0)
		a.Outcomes = append(a.Outcomes, []routing.Outcome{{Correct: float64(k % 2), USD: 1}, {Correct: 1, USD: 4}})
	}
	return a, func(sure func(k int) bool) *book.Sweep {
		s := &book.Sweep{Settings: 3}
		for k := range questions {
			from := 1
			if sure(k) {
				from = 2
			}
			s.Queries = append(s.Queries, book.Swept{First: 1, Turns: []book.Turn{{Setting: from, Expert: 0}}})
		}
		return s
	}
}

// Three routers and a yardstick: one that knows where the cheap expert is wrong, one that knows half of it, twice, and one by hand that
// would be best of all. Between the experts the hull is a line from (1, 50) to (4, 100); the first router's middle setting is at (2.5, 100),
// 25 points above it, and the second's at (1.75, 75), 12.5 above.
func TestCurvesAreTheSameOfBothProtocols(t *testing.T) {
	a, sweep := oneFold()
	all := sweep(func(k int) bool { return k%2 == 0 })
	half := sweep(func(k int) bool { return k%4 == 0 })
	rows := []struct {
		id    string
		sweep *book.Sweep
	}{{"all", all}, {"half", half}, {"again", half}, {"yardstick", all}}

	resampling := Resampling{Resamples: 60, Confidence: 0.95, Seed: 1}
	s := &Sample{Arena: a, Apart: []string{"yardstick"}, Resampling: resampling}
	f := &Folds{Arena: a, Apart: []string{"yardstick"}, Whole: true, Resampling: resampling}
	for _, r := range rows {
		decisions := a.Always(0)
		for k := range decisions {
			decisions[k].Prob = []float64{1, 0}
		}
		s.Add(Row{ID: r.id, Knob: true, Seeds: []uint64{1}}, [][]routing.Decision{decisions}, []*book.Sweep{r.sweep})
		f.Add(r.id, book.Training{Seed: 1, Fold: make([]int, len(a.Queries))}, decisions, r.sweep)
	}
	of := map[string][]metrics.Measurement{"split": s.Choice(), "folds": f.Measure(metrics.BothStrata)}
	// Tents of 25 points at half the way and of 12.5 at a quarter of it, over 19 budgets.
	tent := func(top, at float64) (mean float64) {
		for i := 1; i <= 19; i++ {
			mean += top * min(float64(i)/20/at, (1-float64(i)/20)/(1-at)) / 19
		}
		return mean
	}
	first, second := tent(25, 0.5), tent(12.5, 0.25)
	for protocol, lines := range of {
		name := map[string]string{"split": "Curve", "folds": "Route"}[protocol]
		for _, c := range []struct {
			method, unit string
			want         float64
		}{
			{"all", units.MeanGain, first},
			{"half", units.MeanGain, second},
			{"all", units.MeanLead, first - second},
			{"half", units.MeanLead, second - first},
			{"again", units.MeanLead, second - first},           // its equal is no rival
			{"all", fmt.Sprintf(units.GainAt, 50), 25 * 2. / 3}, // a budget of 2, a third of the way
			{"all", fmt.Sprintf(units.QualityAt, 50), 50 + 50*2./3},
			{"half", fmt.Sprintf(units.GainAt, 25), 0}, // both cost 1 at least
			{"half", fmt.Sprintf(units.GainAt, 75), 12.5 * (1 - 2./3) / 0.75},
		} {
			hasValue(t, seedless(t, lines, name, c.method), c.unit, c.want)
		}
		m := seedless(t, lines, name, "all")
		if v, _ := m.Value(units.MeanLead); !v.Bounded || v.Low <= 0 {
			t.Errorf("%s: the row that knows more leads by %+v", protocol, v)
		}
		if v, ok := seedless(t, lines, name, "yardstick").Value(units.MeanLead); ok {
			t.Errorf("%s: a yardstick leads by %+v", protocol, v)
		}
	}
}

// seedless is the line of a row that averages over its trainings.
func seedless(t *testing.T, lines []metrics.Measurement, name, method string) metrics.Measurement {
	t.Helper()
	for _, m := range lines {
		if m.Name == name && m.Key("method") == method && m.Key("seed") == "" {
			return m
		}
	}
	t.Fatalf("no line %s of %s", name, method)
	return metrics.Measurement{}
}

// A row that is trained and has no curve says why, number by number.
func TestACurveThatIsNotDefinedSaysWhy(t *testing.T) {
	a, _ := oneFold()
	s := &Sample{Arena: a, Resampling: Resampling{Confidence: 0.95}}
	s.add(Row{ID: "talker", NoCurve: "it answers itself"}, a.Always(0))
	s.add(Row{ID: "cheap"}, a.Always(0))
	lines := s.Choice()
	m := lineOf(t, lines, "Curve", "talker", "")
	for _, unit := range []string{units.MeanGain, units.MeanLead, fmt.Sprintf(units.GainAt, 25), units.AIQ} {
		if why := m.Why(unit); why != "it answers itself" {
			t.Errorf("%s: %q", unit, why)
		}
	}
	if n := len(lines); n != 3 {
		t.Errorf("%d lines, want two Choice and one Curve", n)
	}
}
