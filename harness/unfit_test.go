package harness

import (
	"errors"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/units"
)

// A row that finds nothing to learn from does not end the others: it is in the tables, its numbers are not defined and the
// reason stands below.
func TestARowThatCannotBeFittedEndsNoOther(t *testing.T) {
	r, out := toy.TinyWith(t, "rl: {benchmark: sim-train-sft, size: 30}", "rl: {benchmark: sim-train-sft, size: 1}"), t.TempDir()
	result := runIn(t, r, out)
	for _, arena := range []string{metrics.PaperArena, metrics.LargeArena} {
		of := func(row string) metrics.Measurement {
			m, ok, err := result.Measurements.Find(metrics.Keys("arena", arena, "method", row, "benchmark", metrics.Average, "seed", "")...)
			if err != nil || !ok {
				t.Fatalf("%s, row %s: %v", arena, row, err)
			}
			return m
		}
		for _, unit := range []string{metrics.Accuracy, units.HullGain} {
			if why := of("entrorouter").Why(unit); why != "the row could not be fitted: no problem is left for Stage II" {
				t.Errorf("%s: %s of a row without a prompt: %q", arena, unit, why)
			}
			if why := of("mixture").Why(unit); !strings.Contains(why, "row entrorouter, to whose spending it is set, could not be fitted: no problem is left for Stage II") {
				t.Errorf("%s: %s of a row that is matched to it: %q", arena, unit, why)
			}
		}
		if v, ok := of("sft").Value(metrics.Accuracy); !ok || v.Number <= 0 {
			t.Errorf("%s: accuracy of another row is %v", arena, v)
		}
	}
	text := render(t, result)
	if !strings.Contains(text, "could not be fitted: no problem is left for Stage II") {
		t.Errorf("the reason is not in the tables:\n%s", text)
	}
	_, err := protocol.Route(t.Context(), r, Options{Out: out}, protocol.By{Row: "entrorouter"}, nil)
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "row entrorouter could not be fitted: no problem is left for Stage II") {
		t.Errorf("routing by it: %v", err)
	}
}

// The figures that would show it alone are not drawn, and the others are drawn without it.
func TestFiguresLeaveOutARowThatCouldNotBeFitted(t *testing.T) {
	r := toy.Figures(t)
	r.Experiment.Train.RL.Size = 1
	_, files := drawn(t, runIn(t, r, t.TempDir()))
	for _, name := range []string{"figures/pareto.svg", "figures/learning.svg"} {
		if _, ok := files[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	if _, ok := files["figures/alpha.svg"]; ok {
		t.Error("a sweep of rows that were not fitted is drawn")
	}
	if strings.Contains(files["figures/pareto.csv"], "entrorouter") {
		t.Errorf("a row that was not fitted is a point:\n%s", files["figures/pareto.csv"])
	}
}
