package theory

import (
	"math"
	"strings"
	"testing"
)

// Percentiles as numpy has them: of 0, 1, ..., 100 the 5th is 5 and the 95th is 95.
func TestRouterR1ScoresCheapnessBetweenPercentilesOfRoots(t *testing.T) {
	s, err := NewScorer(Reward{Kind: RouterR1, Alpha: 0.6, Window: 1000})
	if err != nil {
		t.Fatal(err)
	}
	s.Observe(0)
	if got := s.Score(1, 0, 0); math.Abs(got-(0.4+0.6*0.5)) > 1e-12 {
		t.Errorf("a single cost is worth %v, want the middle, 0.7", got)
	}
	for u := 1; u <= 100; u++ {
		s.Observe(float64(u * u))
	}
	for _, c := range []struct {
		name               string
		right, cost, alpha float64
		want               float64
	}{
		{"nothing spent is as cheap as can be", 1, 0, 0.6, 1},
		{"at the 5th percentile too", 1, 25, 0.6, 1},
		{"half way in roots", 1, 2500, 0.6, 0.7},
		{"at the 95th percentile nothing is left", 1, 95 * 95, 0.6, 0.4},
		{"nor above", 1, 1e6, 0.6, 0.4},
		{"a wrong answer earns nothing, however cheap", 0, 0, 0.6, 0},
	} {
		if got := s.Score(c.right, c.cost, 1); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTheWindowForgetsTheOldest(t *testing.T) {
	s, err := NewScorer(Reward{Kind: RouterR1, Alpha: 1, Window: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []float64{1e6, 4, 16} { // roots 2 and 4 are left: percentiles 2.1 and 3.9
		s.Observe(c)
	}
	if got := s.Score(1, 9, 1); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("a root of 3 between 2.1 and 3.9 scores %v", got)
	}
}

func TestXRouterTakesCappedDollarsFromARightAnswer(t *testing.T) {
	for _, c := range []struct {
		name           string
		k, right, cost float64
		want           float64
	}{
		{"right without calls", 1, 1, 0, 1},
		{"right at 0.1 dollars", 1, 1, 0.1, 0.7},
		{"right at more than the cap", 1, 1, 5, 0.2},
		{"wrong costs nothing more", 1, 0, 5, 0},
		{"another K", 2, 1, 0.1, 1.7},
		{"no K is 1", 0, 1, 0.1, 0.7},
	} {
		s, err := NewScorer(Reward{Kind: XRouter, Lambda: 3, K: c.k, CostMax: 0.8})
		if err != nil {
			t.Fatal(err)
		}
		s.Observe(c.cost)
		if got := s.Score(c.right, c.cost, 1); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestRewardsThatMakeNoSenseAreRefused(t *testing.T) {
	for want, r := range map[string]Reward{
		"unknown kind": {Kind: "r2"}, "window is 0": {Kind: RouterR1}, "alpha is 2": {Kind: Linear, Alpha: 2},
		"at least 0, got -1": {Kind: XRouter, K: -1},
	} {
		if _, err := NewScorer(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
}
