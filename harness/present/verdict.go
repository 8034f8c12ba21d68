// Whether a router pays, in words: read off the measurements of rows and their intervals.

package present

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// kindVerdict is the output that says whether a router pays.
const kindVerdict = "verdict"

// toldApart is a difference of accuracy that is worth knowing of, in points.
const toldApart = 2.0

// Finding is what a verdict comes to.
type Finding string

// Findings, from the best.
const (
	Saves     Finding = "saves"     // a router above every coin flip and cheaper than the strongest expert, whose accuracy it has but for toldApart and for what can be told
	Above     Finding = "above"     // a router above every coin flip, and less accurate than the strongest expert or no cheaper
	Level     Finding = "level"     // no router is above the coin flip for all that can be told
	TooFew    Finding = "too few"   // there are too few questions for any of these
	Undefined Finding = "undefined" // gains are not defined
)

// Verdict says whether a router pays on a pool, and by how much.
//
// The intervals of routers are those of the measurements, widened so that they hold for all routers at once (Bonferroni; trained has
// by how much): the one that is best on these questions is named. A row that is measured at several budgets is as many routers. The strongest expert is the most accurate one here.
type Verdict struct {
	Finding   Finding
	Why       string   // of Undefined
	Questions int      // that were scored
	Routers   int      // that were tried
	Strongest string   // id of the expert
	Dearest   string   // id of the expert, by the price of output tokens
	Dearer    []string // ids of the experts that cost more a question all the same, as they write more
	Best      Judged   // the router that the finding is about; zero for TooFew and Undefined
	Flip      []string // ids of the experts of the coin flip that costs what Best costs
	Needed    int      // about how many scored questions tell differences of toldApart points; 0: these do, or nobody knows
	Spread    bool     // these do not, since trainings are few that differ: most of an interval's width is theirs

	experts, routers []Judged
	strongest        Judged
}

// Judged is a row, an expert that is always asked or a router.
type Judged struct {
	Label    string
	Row      string // id
	Budget   int    // percent of the dearest expert's dollars that its knob is set to spend; 0: it stands where it is
	Accuracy Range  // percent
	Share    Range  // dollars in percent of the dearest expert's
	Dollars  Range  // of 1,000 questions; zero where dollars are not measured
	Gain     Range  // points of accuracy above the coin flip of the same cost
	Beside   Range  // points of accuracy above the strongest expert's
	Saving   Range  // percent of the strongest expert's dollars, which are taken as known where it is not the dearest

	line    metrics.Measurement
	trained trained
	spread  float64 // of the square of a widened interval's reach, the share that is of trainings
}

// Range is a number with its interval.
type Range struct{ Number, Low, High float64 }

func rangeOf(v metrics.Value) Range { return Range{v.Number, v.Low, v.High} }

// times is the range of a multiple.
func (r Range) times(by float64) Range {
	out := Range{r.Number * by, r.Low * by, r.High * by}
	if by < 0 {
		out.Low, out.High = out.High, out.Low
	}
	return out
}

func (r Range) plus(x float64) Range { return Range{r.Number + x, r.Low + x, r.High + x} }

// wider is the range with its ends so many times as far away.
func (r Range) wider(by float64) Range {
	return Range{r.Number, r.Number - by*(r.Number-r.Low), r.Number + by*(r.High-r.Number)}
}

// within is the range without what the number cannot be.
func (r Range) within(least, most float64) Range {
	return Range{r.Number, max(r.Low, least), min(r.High, most)}
}

// half is half the width.
func (r Range) half() float64 { return (r.High - r.Low) / 2 }

// Points writes a range as points with one decimal.
func (r Range) Points() string { return r.written(" points") }

// written writes a range with one decimal, and a unit after the number.
func (r Range) written(unit string) string {
	return fmt.Sprintf("%s%s [%s, %s]", fixedPoint(r.Number), unit, fixedPoint(r.Low), fixedPoint(r.High))
}

// Percent writes a range as whole percentages, without the ends where they are the number.
func (r Range) Percent() string {
	if r.Low == r.High {
		return fmt.Sprintf("%.0f%%", r.Number+0)
	}
	return fmt.Sprintf("%.0f%% [%.0f, %.0f]", r.Number+0, math.Round(r.Low)+0, math.Round(r.High)+0)
}

func fixedPoint(x float64) string { return fmt.Sprintf("%.1f", math.Round(10*x)/10+0) }

// verdictText is what the output prints: a line per row, and the verdict as the last.
func (r *Run) verdictText(o spec.Output) (string, error) {
	var b strings.Builder
	parts := r.parts(metrics.PaperArena)
	for i, p := range parts {
		v, err := r.verdict(p, o.Rows)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteString("\n")
		}
		if len(parts) > 1 {
			fmt.Fprintf(&b, "Pool %s\n", p.pool.Name)
		}
		v.lines(&b)
		paragraphs, err := notes("verdict", ofVerdict{words: r.words(), Verdict: v})
		if err != nil {
			return "", err
		}
		b.WriteString(strings.Join(paragraphs, "\n") + "\n")
	}
	return b.String(), nil
}

// Recommended is the router by which the verdict on the only pool pays; ok: there is one.
func (r *Run) Recommended() (router Judged, ok bool, err error) {
	i := slices.IndexFunc(r.Spec.Experiment.Outputs, func(o spec.Output) bool { return o.Kind == kindVerdict })
	if i < 0 || len(r.Spec.Pools) != 1 {
		return Judged{}, false, nil
	}
	v, err := r.verdict(r.parts(metrics.PaperArena)[0], r.Spec.Experiment.Outputs[i].Rows)
	return v.Best, v.Finding == Saves || v.Finding == Above, err
}

// ofVerdict is what the template of a verdict fills in.
type ofVerdict struct {
	words
	Verdict
}

// Coin says what a router is held against at its cost.
func (v Verdict) Coin() string {
	if len(v.Flip) == 1 {
		return "always asking " + v.Flip[0]
	}
	return "the coin flip between " + strings.Join(v.Flip, " and ")
}

// Price is what Best costs beside the strongest expert, in dollars of 1,000 questions; empty where dollars are not measured.
func (v Verdict) Price() string {
	if v.Best.Dollars == (Range{}) {
		return ""
	}
	return fmt.Sprintf("$%s instead of $%s for 1,000 questions", report.Significant(v.Best.Dollars.Number), report.Significant(v.strongest.Dollars.Number))
}

// lines writes what every row gets and costs.
func (v Verdict) lines(b *strings.Builder) {
	if len(v.experts) == 0 { // nothing can be said
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	defer t.Flush()
	dollars := slices.ContainsFunc(v.experts, func(j Judged) bool { return j.Dollars != Range{} })
	head := []string{"", "accuracy, %"}
	if dollars {
		head = append(head, "$ per 1,000 questions")
	}
	fmt.Fprintln(t, strings.Join(append(head, "cost, % of dearest", "points above the coin flip"), "\t"))
	for _, j := range slices.Concat(v.experts, v.routers) {
		cells := []string{j.Label, j.Accuracy.written("")}
		if dollars {
			cells = append(cells, report.Significant(j.Dollars.Number))
		}
		fmt.Fprintln(t, strings.Join(append(cells, fixedPoint(j.Share.Number), j.Gain.written("")), "\t"))
	}
}

// verdict judges the rows of a part; rows are the ids of the routers.
func (r *Run) verdict(p part, rows []string) (v Verdict, err error) {
	pool := p.pool
	var ids []string
	var routers []spec.Method
	var standing []Judged // of routers
	strongest := 0        // index into experts
	for _, m := range r.Spec.Experiment.Methods {
		id, fixed := r.asks(m, pool)
		if router := slices.Contains(rows, m.RowID()); !fixed && !router || fixed && slices.Contains(ids, id) {
			continue
		}
		j, why, err := r.judged(m, p)
		if err != nil {
			return v, err
		}
		if why != "" {
			return Verdict{Finding: Undefined, Why: why}, nil
		}
		questions, _ := j.line.Value(metrics.Questions)
		v.Questions = int(questions.Number)
		if !fixed {
			routers, standing = append(routers, m), append(standing, j)
			continue
		}
		if ids, v.experts = append(ids, id), append(v.experts, j); j.Accuracy.Number > v.experts[strongest].Accuracy.Number {
			strongest = len(ids) - 1
		}
	}
	cheapest := slices.MinFunc(v.experts, func(a, b Judged) int { return cmp.Compare(a.Share.Number, b.Share.Number) }).Share.Number
	for i, j := range standing {
		v.routers = append(v.routers, j.settings(routers[i], cheapest)...)
	}
	v.Routers, v.Strongest, v.strongest = len(v.routers), ids[strongest], v.experts[strongest]
	for i := range v.routers {
		j := &v.routers[i]
		var widen float64
		widen, j.spread = j.trained.widening(v.Routers, v.Questions, r.Spec.Experiment.Evaluate.Confidence)
		j.Gain = j.Gain.wider(widen).within(-100, 100)
		j.Beside = r.beside(*j, v.strongest, v.Strongest == r.strongest(pool)).wider(widen).within(-100, 100)
		if j.line.Name == "" { // a setting, whose share is of the dearest expert's dollars
			j.Dollars = v.experts[slices.Index(ids, r.strongest(pool))].Dollars.times(j.Share.Number / 100)
		}
		j.Saving = j.Share.times(-100/v.strongest.Share.Number).plus(100).wider(widen).within(math.Inf(-1), 100)
	}
	v.Dearest, v.Dearer = r.strongest(pool), dearer(v.experts, ids)
	v.find()
	if v.Finding != TooFew {
		v.Flip = flip(v.experts, ids, v.Best.Share.Number)
	}
	return v, nil
}

// find decides what the verdict comes to.
func (v *Verdict) find() {
	least := func(of func(Judged) float64) func(a, b Judged) int {
		return func(a, b Judged) int { return cmp.Compare(of(a), of(b)) }
	}
	above := slices.DeleteFunc(slices.Clone(v.routers), func(j Judged) bool { return j.Gain.Low <= 0 })
	saving := slices.DeleteFunc(slices.Clone(above), func(j Judged) bool { return j.Beside.High < 0 || j.Beside.Number < -toldApart || j.Saving.Low <= 0 })
	switch {
	case v.Questions < metrics.FewestQuestions:
		v.Finding = TooFew
		return
	case len(saving) > 0:
		v.Finding, v.Best = Saves, slices.MaxFunc(saving, least(func(j Judged) float64 { return j.Saving.Number }))
	case len(above) > 0:
		v.Finding, v.Best = Above, slices.MaxFunc(above, least(func(j Judged) float64 { return j.Gain.Low }))
	default:
		v.Finding, v.Best = Level, slices.MaxFunc(v.routers, least(func(j Judged) float64 { return j.Gain.Number }))
	}
	half, spread := v.Best.Gain.half(), v.Best.spread
	switch v.Finding {
	case Saves:
		half = max(half, v.Best.Beside.half())
	case Level: // what always asks one expert has no width, and says nothing of the others
		for _, j := range v.routers {
			if j.Gain.half() > half {
				half, spread = j.Gain.half(), j.spread
			}
		}
	}
	switch {
	case half <= toldApart:
	case spread > 0.5:
		v.Spread = true
	default: // the width of an interval goes with the root of the number of questions
		needed := float64(v.Questions) * math.Pow(half/toldApart, 2)
		digits := math.Pow(10, math.Floor(math.Log10(needed)))
		v.Needed = int(math.Ceil(needed/digits) * digits)
	}
}

// judged reads the line of a row that averages over trainings and partitions; why says what of it is not defined.
func (r *Run) judged(m spec.Method, p part) (j Judged, why string, err error) {
	for _, found := range r.Measurements.Where(slices.Concat(p.at, metrics.Keys("method", m.RowID(), "seed", "", "benchmark", p.all))...) {
		if found.Name == "Route" {
			j.line = found
		}
	}
	j.Label, j.Row, j.trained = r.label(m), m.RowID(), r.trained(j.line)
	if j.line.Name == "" {
		return j, "", fmt.Errorf("nothing was measured of row %s on all questions of pool %s", m.RowID(), p.pool.Name)
	}
	for _, of := range []struct {
		unit string
		into *Range
	}{{metrics.Accuracy, &j.Accuracy}, {units.CostShare, &j.Share}, {units.HullGain, &j.Gain}} {
		value, ok := j.line.Value(of.unit)
		switch {
		case !ok:
			return j, cmp.Or(j.line.Why(of.unit), of.unit+" was not measured"), nil
		case !value.Bounded:
			return j, "numbers have no intervals; evaluate.bootstrap is how many resamples these are of", nil
		}
		*of.into = rangeOf(value)
	}
	if usd, ok := j.line.Value(metrics.USDPerQuery); ok {
		j.Dollars = rangeOf(usd).times(1000)
	}
	return j, "", nil
}

// settings are the routers that a row stands for: of protocol folds a row with a knob spends without limit at its own operating
// point, and what it does for a part of the dollars that is less is on its curve. Below what the cheapest expert costs, in percent of the
// dearest, a curve leaves questions without an answer, which no router does.
func (j Judged) settings(m spec.Method, cheapest float64) []Judged {
	if methods.Policy(m.Name) || !methods.Knob(m.Name) {
		return []Judged{j}
	}
	var all []Judged
	for _, percent := range units.Budgets() {
		share := float64(percent)
		if share >= j.Share.Number { // it spends no more than it does without limit
			return append(all, j)
		}
		gain, ok := j.line.Value(fmt.Sprintf(units.GainAt, percent))
		accuracy, also := j.line.Value(fmt.Sprintf(units.QualityAt, percent))
		if ok && also && gain.Bounded && accuracy.Bounded && share >= cheapest {
			all = append(all, Judged{Label: fmt.Sprintf("%s at %d%%", j.Label, percent), Row: j.Row, Budget: percent, Accuracy: rangeOf(accuracy).within(0, 100), Gain: rangeOf(gain), Share: Range{share, share, share}, trained: j.trained})
		}
	}
	if all == nil {
		return []Judged{j}
	}
	return all
}

// beside is the accuracy of a router above the strongest expert's. Where the pair is measured it is paired: as a contrast, or as
// what is kept of the dearest expert's accuracy. Otherwise both intervals count, as if the two were of other questions.
func (r *Run) beside(router, strongest Judged, dearest bool) Range {
	if router.line.Name == "" { // a setting
		return apart(router, strongest)
	}
	pair := metrics.Keys("pool", router.line.Key("pool"), "benchmark", router.line.Key("benchmark"), "row", router.line.Key("method"), "versus", strongest.line.Key("method"))
	for _, contrast := range r.Measurements.Where(pair...) {
		if v, ok := contrast.Value(units.Difference); ok && v.Bounded {
			return rangeOf(v)
		}
	}
	if kept, ok := router.line.Value(units.Retention); ok && kept.Bounded && dearest {
		return rangeOf(kept).plus(-100).times(strongest.Accuracy.Number / 100)
	}
	return apart(router, strongest)
}

// apart is the difference of two accuracies as if they were of other questions.
func apart(router, strongest Judged) Range {
	d, half := router.Accuracy.Number-strongest.Accuracy.Number, math.Hypot(router.Accuracy.half(), strongest.Accuracy.half())
	return Range{d, d - half, d + half}
}

// trained is how much of the intervals of a row is the spread of its trainings, or of partitions.
type trained struct {
	share float64 // of the square of an interval's reach, in the number of the row in which it is greatest; 0: trained once
	df    float64 // degrees of freedom of that part
}

// trained reads the share off the lines of single trainings. Not every number has these, so what is found is the greatest share of the
// numbers that do: on the side of intervals that are too wide, as far as the others are like them.
func (r *Run) trained(line metrics.Measurement) (of trained) {
	values := map[string][]float64{}
	for _, single := range r.Measurements.Where(line.Keys...) {
		if single.Name == line.Name && single.Key("seed") != "" {
			for _, v := range single.Values {
				values[v.Unit] = append(values[v.Unit], v.Number)
			}
		}
	}
	x := &r.Spec.Experiment
	folds := x.Trainings().Folds
	for _, unit := range []string{metrics.Accuracy, units.CostShare, units.HullGain, units.MeanGain, units.Retention} {
		spread := metrics.MeanOf(values[unit])
		if folds > 0 {
			spread = metrics.MeanOfPartitions(values[unit], folds)
		}
		v, ok := line.Value(unit)
		if reach := min(v.Number-v.Low, v.High-v.Number); ok && v.Bounded && reach > 0 && spread.DF > 0 {
			of.share, of.df = max(of.share, min(1, math.Pow(spread.Half((1-x.Evaluate.Confidence)/2)/reach, 2))), spread.DF
		}
	}
	return of
}

// widening is how many times as wide an interval of the row is that holds for n numbers at once, and what share of the square of that is
// of trainings. An interval is made of Student's t of questions and of trainings, added by the root of the sum of squares: each grows by
// its own t.
func (t trained) widening(n, questions int, confidence float64) (by, spread float64) {
	growth := func(df float64) float64 {
		one, tail := metrics.Mean{Variance: 1, DF: df}, (1-confidence)/2
		return one.Half(tail/float64(n)) / one.Half(tail)
	}
	ofQuestions := (1 - t.share) * math.Pow(growth(float64(max(questions-1, 1))), 2)
	if t.share == 0 {
		return math.Sqrt(ofQuestions), 0
	}
	ofTrainings := t.share * math.Pow(growth(t.df), 2)
	return math.Sqrt(ofQuestions + ofTrainings), ofTrainings / (ofQuestions + ofTrainings)
}

// dearer names the experts that cost more than the dearest by price.
func dearer(experts []Judged, ids []string) (all []string) {
	for i, e := range experts {
		if e.Share.Low > 100 {
			all = append(all, ids[i])
		}
	}
	return all
}

// flip names the experts between whom a coin is flipped at a cost: one where the cheapest costs more or the dearest on the hull less.
func flip(experts []Judged, ids []string, share float64) []string {
	points := make([]metrics.Point, len(experts))
	for i, e := range experts {
		points[i] = metrics.Point{Quality: e.Accuracy.Number, Cost: e.Share.Number}
	}
	vertices := metrics.Vertices(points)
	slices.SortFunc(vertices, func(a, b int) int { return cmp.Compare(points[a].Cost, points[b].Cost) })
	next := slices.IndexFunc(vertices, func(i int) bool { return points[i].Cost > share })
	switch next {
	case -1:
		return []string{ids[vertices[len(vertices)-1]]}
	case 0:
		return []string{ids[vertices[0]]}
	}
	return []string{ids[vertices[next-1]], ids[vertices[next]]}
}
