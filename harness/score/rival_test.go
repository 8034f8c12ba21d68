package score

import (
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/units"
)

// The cheap expert gets 50 for 5.5/3 dollars, the dear one 250/3 for 18.5/3, and the router's knob stands at the cheap one, at the same as the dear one
// for 12.5/3, or at the dear one. The knob's middle setting takes all from who always asks the dear expert, and half of what
// a row between them gets above the coin.
func TestARowIsHeldAgainstAllSettingsOfAKnob(t *testing.T) {
	s := examined(unevenArena(), 0, 0, 0)
	s.Reference, s.Self = "knob", nil
	addKnob(s)
	s.add(Row{ID: "dear"}, s.Always(1))
	one := s.Always(0)
	one[2].Expert = 1
	s.add(Row{ID: "one"}, one)
	s.add(Row{ID: "itself", Own: true}, s.Always(0))
	lines := s.Route()

	cheap, middle := metrics.Point{Cost: 5.5 / 3, Quality: 50}, metrics.Point{Cost: 12.5 / 3, Quality: 250. / 3}
	line := lineOf(t, lines, "Route", "dear", "")
	hasValue(t, line, units.Lead, 0)
	hasValue(t, line, units.HullGain, 0)
	hasValue(t, line, units.OtherLead, 0)
	line = lineOf(t, lines, "Route", "one", "")
	hasValue(t, line, metrics.Accuracy, 250./3)
	hasValue(t, line, metrics.USDPerQuery, 2.5)
	hasValue(t, line, units.Lead, 250./3-metrics.Hull{cheap, middle}.At(2.5))
	if v, _ := line.Value(units.Lead); !v.Bounded || v.Low > v.Number || v.High < v.Number {
		t.Errorf("%+v", v)
	}
	hasValue(t, lineOf(t, lines, "Route", "itself", ""), units.Lead, 0)
	if _, ok := lineOf(t, lines, "Route", "knob", "").Value(units.Lead); ok {
		t.Error("the reference is held against itself")
	}
}

// Where a row may answer itself, the router alone costs nothing and is one more end: it is right on every question here.
func TestARowThatMayAnswerItselfIsHeldAgainstTheRouterAlone(t *testing.T) {
	s := examined(unevenArena(), 0, 0, 0)
	s.Reference = "dear"
	s.Self = []routing.Outcome{{Correct: 1}, {Correct: 1}, {Correct: 1}, {Correct: 1}}
	s.add(Row{ID: "dear"}, s.Always(1))
	s.add(Row{ID: "cheap"}, s.Always(0))
	s.add(Row{ID: "itself", Own: true}, s.Always(0))
	lines := s.Route()
	hasValue(t, lineOf(t, lines, "Route", "cheap", ""), units.Lead, 0)
	hasValue(t, lineOf(t, lines, "Route", "itself", ""), units.Lead, 50-100)
	hasValue(t, lineOf(t, lines, "Route", "itself", ""), units.OtherLead, 250./3-100)
}

// One training always answers itself and one always asks the dear expert: neither is below what a coin gets for its money, though their mean is,
// (18.5/6, 175/3) where the coin between cheap and dear gets 50 + 100/13*1.25. So a router whose training is luck is no worse than each of its trainings.
func TestGainsAndLeadsAreOfSingleTrainings(t *testing.T) {
	s := examined(unevenArena(), 0, 0, 0)
	s.Reference = "dear"
	s.Self = []routing.Outcome{{}, {}, {Correct: 1}, {}} // a third
	s.Resampling.Resamples = 40
	s.rows = []Row{decided(s, Row{ID: "dear"}, s.Always(1)), decided(s, Row{ID: "luck", Own: true}, s.Always(routing.Self), s.Always(1))}
	zero := func(row, unit string) {
		t.Helper()
		if v, ok := lineOf(t, s.Route(), "Route", row, "").Value(unit); !ok || math.Abs(v.Number) > 1e-9 || math.Abs(v.Low) > 1e-9 || math.Abs(v.High) > 1e-9 || !v.Bounded {
			t.Errorf("%s of %s: %+v, want 0 in every resample", unit, row, v)
		}
	}
	line := lineOf(t, s.Route(), "Route", "luck", "")
	hasValue(t, line, metrics.USDPerQuery, 18.5/6)
	hasValue(t, line, metrics.Accuracy, 175./3)
	zero("luck", units.HullGain)
	zero("luck", units.Lead)
	s.Reference = "luck"
	zero("dear", units.OtherLead)
}
