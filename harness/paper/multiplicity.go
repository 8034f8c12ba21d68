// What is left of verdicts on orderings when many are given at once: p values, Holm's and Benjamini and Hochberg's.

package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

const (
	// leastP is below what intervals of 500 to 2,000 resamples and of a few seeds say: a smaller p would be a property of the
	// normal distribution and not of the data.
	leastP = 0.001
	// survives is the error of a family of verdicts, as 0.05 is that of one.
	survives = 0.05
)

// The sides of an interval.
const (
	below = iota
	above
)

// reach is how far the interval goes from the number to one side with such a tail. Questions and
// seeds, or partitions, are combined as in the interval of 95%: the first as normal errors, the others by Student's t.
func (c Contrast) reach(side int, tail float64) float64 {
	questions := metrics.Mean{Variance: 1, DF: cmp.Or(c.freedom, math.Inf(1))}
	half := c.questions[side] * questions.Half(tail) / questions.Half(0.025)
	if c.spread.DF > 0 {
		half = math.Hypot(half, c.spread.Half(tail))
	}
	return half
}

// detectable is the difference that would have been told with 80% power: it has to be so far away that four in five intervals of its size,
// at a tail of 2.5%, do not reach back.
func (c Contrast) detectable() float64 {
	return max(c.reach(below, 0.025)+c.reach(below, 0.2), c.reach(above, 0.025)+c.reach(above, 0.2))
}

// p is twice the least tail at which the interval ends short of an edge that lies so far away on one side.
func (c Contrast) p(side int, far float64) float64 {
	low, high := leastP/2, 0.5
	if c.reach(side, low) <= far {
		return leastP
	}
	for range 50 {
		if middle := (low + high) / 2; c.reach(side, middle) <= far {
			high = middle
		} else {
			low = middle
		}
	}
	return 2 * high
}

// tested is the test behind a verdict; nil where there is none: no verdict by a difference, no interval, one training, or
// two routers that decide alike. What might have decided and did not for a reason of its own has a test of p 1: leaving it out for what
// came of it would flatter the others.
func (o *Ordering) tested(j Judged) *Tested {
	c := j.Delta
	if c == nil || !slices.Contains([]string{Confirmed, Refuted, Inconclusive}, j.Verdict) || !c.decides() {
		return nil
	}
	switch j.Why {
	case whyNeither, whyBoth:
		return &Tested{P: 1, Detectable: max(j.Equal.A.detectable(), j.Equal.B.detectable())}
	case whyStrongest:
		return &Tested{P: 1, Detectable: c.detectable()}
	case "":
		if c.reach(below, leastP)+c.reach(above, leastP) > 0 {
			return &Tested{P: o.p(*c), Detectable: c.detectable()}
		}
	}
	return nil
}

// p is that of the verdict that an interval decides.
func (o *Ordering) p(c Contrast) float64 {
	switch x := c.Number; {
	case o.Is == "level" && math.Abs(x) <= o.Margin: // inside both edges
		return max(c.p(below, x+o.Margin), c.p(above, o.Margin-x))
	case o.Is == "level" && x > 0:
		return c.p(below, x-o.Margin)
	case o.Is == "level":
		return c.p(above, -o.Margin-x)
	case x > 0:
		return c.p(below, x)
	default:
		return c.p(above, -x)
	}
}

// adjust gives every test its two adjusted values: Holm's among those of one section on one scale, and Benjamini and
// Hochberg's among all.
func adjust(rows []Row) {
	type family struct {
		section *Section
		scale   string
	}
	families := map[family][]*Tested{}
	var all []*Tested
	for _, r := range rows {
		for _, j := range r.Judged {
			if j.Tested != nil {
				at := family{r.Section, j.Scale.ID}
				families[at], all = append(families[at], j.Tested), append(all, j.Tested)
			}
		}
	}
	for _, tests := range families {
		for i, p := range holm(values(tests)) {
			tests[i].Holm = p
		}
	}
	for i, p := range falseDiscovery(values(all)) {
		all[i].FDR = p
	}
}

func values(tests []*Tested) (p []float64) {
	for _, t := range tests {
		p = append(p, t.P)
	}
	return p
}

// order lists the positions of p, the least first.
func order(p []float64) []int {
	at := make([]int, len(p))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return at
}

// holm adjusts p values so that all of them below a level hold together with that error, whatever their dependence (Holm
// 1979).
func holm(p []float64) []float64 {
	adjusted, least := make([]float64, len(p)), 0.0
	for rank, i := range order(p) {
		least = max(least, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = least
	}
	return adjusted
}

// falseDiscovery adjusts p values so that of those below a level at most that share is expected to be false, if they are
// independent or depend positively (Benjamini and Hochberg 1995).
func falseDiscovery(p []float64) []float64 {
	adjusted, most := make([]float64, len(p)), 1.0
	at := order(p)
	for rank := len(at) - 1; rank >= 0; rank-- {
		most = min(most, float64(len(p))/float64(rank+1)*p[at[rank]])
		adjusted[at[rank]] = most
	}
	return adjusted
}

// decided says whether the test is behind a verdict that confirms or refutes.
func (j Judged) decided() bool {
	return j.Tested != nil && (j.Verdict == Confirmed || j.Verdict == Refuted)
}

// surviving counts the decided verdicts among some, and those that survive each adjustment.
func surviving(judged []Judged) (decided, holm, fdr int) {
	for _, j := range judged {
		if j.decided() {
			decided++
			if j.Tested.Holm <= survives {
				holm++
			}
			if j.Tested.FDR <= survives {
				fdr++
			}
		}
	}
	return decided, holm, fdr
}

// survivors says how many decided verdicts there are and how many survive.
func survivors(judged []Judged) string {
	decided, holm, fdr := surviving(judged)
	switch {
	case decided == 0:
		return ""
	case holm == fdr:
		return fmt.Sprintf("%d of %d", holm, decided)
	}
	return fmt.Sprintf("Holm %d, FDR %d of %d", holm, fdr, decided)
}

// line is a test in a cell, in the metric's unit.
func (t *Tested) line() string {
	return "p " + asP(t.P) + ", Holm " + asP(t.Holm) + ", FDR " + asP(t.FDR) + "; detectable " + short(t.Detectable, 3)
}

// asP writes a p value with two digits, or what it is at most.
func asP(p float64) string {
	if p <= leastP {
		return "≤" + strconv.FormatFloat(leastP, 'f', -1, 64)
	}
	return short(p, 2)
}

// fields are a test in a CSV file: p, Holm's, Benjamini and Hochberg's, and the detectable difference.
func (t *Tested) fields() []string {
	if t == nil {
		return []string{"", "", "", ""}
	}
	return []string{short(t.P, 2), short(t.Holm, 2), short(t.FDR, 2), short(t.Detectable, 3)}
}

// aboutTests says what the adjusted values are, under tables that have them.
const aboutTests = "Many verdicts are given at once. p: twice the least tail at which the interval would still decide, questions as normal errors, seeds and partitions by Student's t (where no line tells what partitions add, all of the interval); no less than 0.001, since smaller ones would tell of the normal distribution and not of the resamples. " +
	"Holm: adjusted within a section and scale, so that with values up to 0.05 all of its verdicts hold together at 95%. FDR: adjusted over all orderings and scales (Benjamini and Hochberg), so that of verdicts with values up to 0.05 a twentieth is expected to be wrong; that supposes positive dependence, which rows on the same questions mostly have. " +
	"n: the questions that both rows were scored on. Detectable: the difference that would have been told with 80% power, in its unit: the interval's longer side at tails of 2.5% and of 20%, added up. Trade-offs of which neither or both lead, and accuracy that always asking the strongest bought, count with p 1. Verdicts at equal cost beside an accuracy, those that rest on an assumption, single trainings and rows that are level have none."
