// Verdicts on orderings, and the numbers that they rest on.

package paper

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
)

// Verdicts on orderings.
const (
	Confirmed    = "confirmed"
	Refuted      = "refuted"
	Inconclusive = "inconclusive"
	Untestable   = "untestable here"
	Assumed      = "assumed"
	NotRun       = "not run" // no verdict: there is no measurement
	NotStated    = ""        // no verdict: the scale has no such rows
)

// Why a verdict is inconclusive whatever the interval.
const (
	whyLevel     = "level"                     // both rows are the same to the last digit, as two routers that decide alike
	whyStrongest = "always asks the strongest" // accuracy that was bought
	whyOneExpert = "always asks one expert"    // a printed number that the expert has, and no router
	whyOnePool   = "one pool"                  // of two learners, where one simulated pool is measured
	whyNeither   = "neither leads"             // of two trade-offs
	whyBoth      = "each leads at its own cost"
	whyTwoCosts  = "hull gains at two costs" // metric equal-cost compares such rows
)

// Contrast is a difference A - B with its interval.
type Contrast struct {
	metrics.Value
	Paired bool // from differences question by question or seed by seed; otherwise the intervals of both rows were combined
	Seeds  int  // training seeds whose spread was made into the interval here; 0: none, it is in the interval as it was measured
	Once   bool // a row was trained once here: nothing says what another training would give
	These  bool // what is said is said of the routers that were trained, and of no other training

	Questions int    // that both rows were scored on; 0: none was drawn, or their number was not measured
	Pools     *Pools // of an ensemble, whose median the number is; nil: it is of one pool

	questions [2]float64   // of the interval of 95%, what it reaches below and above the number but for spread
	spread    metrics.Mean // the error of training seeds, or of partitions, where lines of single ones tell it
	freedom   float64      // of Student's t, by which questions go where partitions are in them; 0: as normal errors
}

// decides says whether there is an interval that a verdict can be read off.
func (c Contrast) decides() bool { return c.Bounded && (!c.Once || c.These) }

// level says whether two rows are the same whatever is drawn: two routers that decide alike.
func (c Contrast) level() bool { return c.Bounded && c.Low == 0 && c.High == 0 }

// why says why a verdict is inconclusive whatever the interval; empty: it is not, or by the interval alone.
func (c Contrast) why(verdict string) string {
	if verdict == Inconclusive && c.level() {
		return whyLevel
	}
	return ""
}

func negative(v metrics.Value) metrics.Value {
	v.Number, v.Low, v.High = -v.Number, -v.High, -v.Low
	return v
}

// EqualCost is two rows at equal cost, and the only thing that a sentence about it reads: how far each lies, at its own cost, above
// the best coin between the other, at every setting of its knob, and the fixed experts. Both leads may be above 0: each row is then best
// where it stands.
type EqualCost struct {
	A, B Contrast
	Told Contrast // as a number of A - B: of the two, the lead that the sentence is about
}

// better is the greater of both leads, as a number of A - B.
func (e EqualCost) better() Contrast {
	if e.A.Number >= e.B.Number {
		return e.A
	}
	return e.turned()
}

// turned is the lead of B as a number of A - B.
func (e EqualCost) turned() Contrast {
	b := e.B
	b.Value, b.questions = negative(b.Value), [2]float64{b.questions[1], b.questions[0]}
	return b
}

// told is the lead that a sentence is about, as a number of A - B: that of A, and below 0 that of B where A is to be below; where they are
// to be level, the greater of the two.
func (e EqualCost) told(is string) Contrast {
	if is == "above" || is == "level" && e.A.Number >= e.B.Number {
		return e.A
	}
	return e.turned()
}

// Judged is an ordering on one scale.
type Judged struct {
	Scale   Scale
	Verdict string
	Shows   string     // of Untestable and Assumed: what the difference would say; otherwise empty
	Why     string     // why Verdict, or Shows, is inconclusive whatever the interval: one of the constants below; otherwise empty
	Delta   *Contrast  // in the metric's unit; nil: not measured
	Cost    *Contrast  // of accuracies: in percent of the strongest expert's cost
	Equal   *EqualCost // of accuracies
	AtEqual string     // the verdict by Equal, as the sentence has it; empty without
	Reason  string     // of Untestable and Assumed
	Tested  *Tested    // the test behind the verdict, adjusted for the others; nil: there is none
	Missing string     // of NotRun: what there is no measurement of
}

// Row is an ordering with its verdicts.
type Row struct {
	Section  *Section
	Ordering *Ordering
	Paper    string // the paper's numbers: A vs B
	PaperHas bool   // the paper's own table has the order
	Judged   []Judged
}

// Tested is a verdict among many.
type Tested struct {
	P          float64 // the least tail of both sides at which the interval would still decide; at least leastP
	Holm       float64 // adjusted within a section of the orderings, on one scale
	FDR        float64 // adjusted over all orderings and scales that are tested
	Detectable float64 // the difference that would have been told with 80% power, in the metric's unit: how far the interval goes at the tails 2.5% and 20% together
}

// Pools says on how many pools a sentence is true, and where its number lies.
type Pools struct {
	Came, Not   int // on how many it is true, and on how many its contrary is: of two rows that are level, neither
	Of          int
	Least, Most float64
}

// nearly is the share of pools on which a sentence has to be true, or not, for a verdict: 23 of 24.
const nearly = 0.95

func (p Pools) verdict() string {
	switch most := nearly * float64(p.Of); {
	case float64(p.Came) >= most:
		return Confirmed
	case float64(p.Not) >= most:
		return Refuted
	}
	return Inconclusive
}

// number says on how many pools the sentence is true, and prints the median with its range.
func (p Pools) number(median float64, decimals int) string {
	return fmt.Sprintf("on %d of %d pools, %s (%s to %s)", p.Came, p.Of, signed(median, decimals), report.Fixed(p.Least, decimals), report.Fixed(p.Most, decimals))
}

// overruled is the verdict on what rests on something that no difference can decide.
func overruled(needs string) string {
	return map[string]string{languageModel: Untestable, assumption: Assumed}[needs]
}
