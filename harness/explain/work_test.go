package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// 7,200 tokens at two a second are an hour; of models with a speed the slowest counts, whoever else has none.
func TestHoursOfModelsThatHaveAnsweredNothing(t *testing.T) {
	all := Asked{Rollouts: 1, Hours: map[string]float64{"old": 0.5}}.Add(Asked{Rollouts: 2, Unpaced: map[string]float64{"new": 3600, "other": 10}}).Add(Asked{Unpaced: map[string]float64{"new": 3600}})
	if h := all.Longest(); h != 0.5 {
		t.Errorf("%v hours, want those of the one that has answered", h)
	}
	one := all.At(map[string]float64{"new": 2})
	if diff := cmp.Diff(Asked{Rollouts: 3, Hours: map[string]float64{"old": 0.5, "new": 1}, Unpaced: map[string]float64{"other": 10}}, one); diff != "" {
		t.Error(diff)
	}
	if h := (Asked{Unpaced: map[string]float64{"new": 1}}).Longest(); h != 0 {
		t.Errorf("%v hours without any speed", h)
	}
	if h := one.At(map[string]float64{"other": 1}).Longest(); h != 1 {
		t.Errorf("%v hours, want those of the slowest", h)
	}
	if diff := cmp.Diff(map[string]float64{"new": 7200, "other": 10}, all.Unpaced); diff != "" {
		t.Errorf("what was asked about has changed: %s", diff)
	}
}
