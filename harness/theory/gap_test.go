package theory

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

// Worked out by hand.
func TestGapsAndThresholds(t *testing.T) {
	medium := Call{Self: 0.60, Expert: 0.92, Cost: 1, Lambda: 0.3, Assimilation: 0.5, Distraction: 0.05}
	near(t, "gap", medium.Gap(), 0.5*0.32-0.5*0.05-0.3)
	near(t, "threshold", medium.Threshold(), 0.35/0.37)

	dominated := Call{Self: 0.9, Expert: 0.5, Cost: 0.1, Lambda: 0.3, Assimilation: 1}
	near(t, "gap to a weaker expert", dominated.Gap(), -0.03)
	if !math.IsInf(dominated.Threshold(), 1) {
		t.Errorf("threshold of an expert that cannot help = %v, want +Inf", dominated.Threshold())
	}
	weak := Call{Self: 0.05, Distraction: 0.08}
	near(t, "loss by distraction ends at no chance at all", weak.Gap(), -0.05)
}

func call(t *rapid.T) Call {
	unit := rapid.Float64Range(0, 1)
	return Call{
		Self: unit.Draw(t, "self"), Expert: unit.Draw(t, "expert"), Cost: unit.Draw(t, "cost"),
		Lambda: unit.Draw(t, "lambda"), Assimilation: unit.Draw(t, "a"), Distraction: rapid.Float64Range(0, 0.2).Draw(t, "delta"),
	}
}

func TestTheGapChangesSignAtTheThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := call(t)
		if away := c.Assimilation - c.Threshold(); math.Abs(away) > 1e-9 && (c.Gap() > 0) != (away > 0) {
			t.Fatalf("gap %v at a = %v, threshold %v", c.Gap(), c.Assimilation, c.Threshold())
		}
	})
}

// The theorem of appendix A, and its converse.
func TestTheEffectiveTrustRegionIsEmptyExactlyWhereAskingDoesNotPay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := call(t)
		gap := c.Gap()
		if math.Abs(gap) < 1e-6 {
			t.Skip("too near the edge for floating point")
		}
		p := rapid.SampledFrom([]float64{0, 1e-3, 0.1, 0.5, 0.9, 0.999, 1}).Draw(t, "p")
		epsilon := math.Pow(10, rapid.Float64Range(-6, 1).Draw(t, "log epsilon"))
		in := TrustRegion(c.Self, c.Self+gap, p, epsilon, Candidates(p, 100))
		if (len(in) == 0) != Collapses(gap, p) {
			t.Fatalf("gap %v, p %v, epsilon %v: %d policies in the region", gap, p, epsilon, len(in))
		}
	})
}

// Rewards that are equal improve nothing, however a mean of them is rounded.
func TestEqualRewardsLeaveNoTrustRegion(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		reward, p := r.Float64(), r.Float64()
		if in := TrustRegion(reward, reward, p, 1, Candidates(p, 50)); len(in) > 0 {
			t.Fatalf("rewards of %v: %d policies are said to improve on p = %v", reward, len(in), p)
		}
	}
}

func TestOneCallLeadsByTheLargestGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := pilot()
		e.Horizon = 1
		e.Assimilation = rapid.Float64Range(0, 1).Draw(t, "a")
		lambda := rapid.Float64Range(0, 1).Draw(t, "lambda")
		for b := range e.Buckets {
			want, least := math.Inf(-1), math.Inf(1)
			for _, c := range e.Calls(b, lambda) {
				want, least = max(want, c.Gap()), min(least, c.Threshold())
			}
			if got := e.lead(b, lambda); math.Abs(got-want) > 1e-12 {
				t.Fatalf("bucket %d: lead %v, largest gap %v", b, got, want)
			}
			if got := e.Threshold(b, lambda); least <= 1 && math.Abs(got-least) > 1e-8 {
				t.Fatalf("bucket %d: threshold %v, least of the experts' %v", b, got, least)
			}
		}
	})
}

// Asked n times before it is answered, one expert is used with the effective assimilation 1-(1-a)^n; the distractions add up if it never is, and every call is paid.
func TestRepeatedCallsOfOneExpertUseItMoreOften(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := call(t)
		if c.Expert < c.Self {
			t.Skip("an assimilated weak answer still guards against distraction")
		}
		e := &Environment{
			Cost: []float64{c.Cost}, Buckets: []Bucket{{Share: 1, Self: c.Self, Expert: []float64{c.Expert}}},
			Horizon: 4, Assimilation: c.Assimilation, Distraction: c.Distraction,
		}
		want := math.Inf(-1)
		for n := 1.0; n <= 4; n++ {
			missed := math.Pow(1-c.Assimilation, n)
			want = max(want, (1-missed)*(c.Expert-c.Self)-missed*min(n*c.Distraction, c.Self)-n*c.Lambda*c.Cost)
		}
		if got := e.lead(0, c.Lambda); math.Abs(got-want) > 1e-12 {
			t.Fatalf("lead %v, best number of calls %v", got, want)
		}
	})
}
