package score

import (
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book/booktest"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

func TestStrataOfDifficulty(t *testing.T) {
	for _, c := range []struct {
		best, experts int
		want          string
	}{{0, 3, "easy"}, {1, 3, "medium"}, {2, 3, "hard"}, {2, 5, "medium"}, {4, 5, "hard"}, {0, 2, "easy"}, {1, 2, "hard"}} {
		if got := Difficulties[Difficulty(c.best, c.experts)]; got != c.want {
			t.Errorf("m_best %d of %d: %s, want %s", c.best, c.experts, got, c.want)
		}
	}
}

func TestTheRoutingDistributionByHand(t *testing.T) {
	s := toySample(booktest.Arena(), 1, 2).withRouter()
	s.Resampling.Resamples = 50
	s.rows = s.rows[2:]
	s.Best = []int{1, 1, 0} // the question of x and the first of y are hard, the other is easy; nothing is medium, and one question has no interval
	set := &metrics.Set{Measurements: s.Difficulty()}
	for _, c := range []struct {
		stratum, expert, unit string
		want                  float64
	}{
		{"easy", "", metrics.USDPerQuery, 1},
		{"hard", "", metrics.USDPerQuery, 3.5}, // the mean of 2 and 5
		{"hard", "cheap", units.Share, 37.5},   // a half and all of x's two runs, none of y
		{"hard", "dear", units.Share, 62.5},
		{"easy", "cheap", units.Share, 100},
	} {
		m, ok, err := set.Find(metrics.Keys("stratum", c.stratum, "expert", c.expert)...)
		if err != nil || !ok {
			t.Fatalf("%s, %q: %v", c.stratum, c.expert, err)
		}
		if v, _ := m.Value(c.unit); math.Abs(v.Number-c.want) > 1e-9 || v.Bounded != (c.stratum == "hard") || v.Bounded && (v.Low > c.want || v.High < c.want) {
			t.Errorf("%s of %s, %q: %+v, want %v", c.unit, c.stratum, c.expert, v, c.want)
		}
	}
	if found := set.Where(metrics.Keys("stratum", "medium")...); len(found) != 0 {
		t.Errorf("an empty stratum has %d lines", len(found))
	}
}
