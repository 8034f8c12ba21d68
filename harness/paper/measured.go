// Claims on our own measurements, scale by scale.

package paper

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// check parses the formula and looks for what contradicts itself.
func (c *Claim) checkOurs(f *faults) {
	o := c.Ours
	o.formula = c.formula
	if o.Formula != "" {
		var err error
		if o.formula, err = Parse(o.Formula); err != nil {
			f.add(c.line, c.ID, "ours: formula: %v", err)
			return
		}
	}
	switch {
	case o.formula == nil:
		if c.Formula == "" {
			f.add(c.line, c.ID, "ours needs a formula")
		}
	case !slices.Contains([]string{"", languageModel, assumption}, o.Needs):
		f.add(c.line, c.ID, "ours: unknown needs %q; known: %s, %s", o.Needs, languageModel, assumption)
	case o.formula.gains() > 1:
		f.add(c.line, c.ID, "ours: the hull gains of two rows are at two costs; an ordering with metric: %s compares them", atEqualCost)
	case (o.Margin > 0) != (c.Printed != "" && !o.formula.compares()):
		f.add(c.line, c.ID, "ours: a margin above 0 goes with a printed number, and only with one")
	case o.Seen && o.Margin == 0:
		f.add(c.line, c.ID, "ours: seen is about a margin, and there is none")
	case (o.Margin > 0 || o.Needs != "") && o.Reason == "":
		f.add(c.line, c.ID, "ours: a margin and needs want a reason")
	}
}

// onScale evaluates a claim on a scale.
func (c *Claim) onScale(o ours) (OnScale, error) {
	s := OnScale{Scale: o.scale, Unit: c.Unit}
	if c.Ours == nil || o.scale.Kind == kindEnsemble || len(c.Ours.Scales) > 0 && !slices.Contains(c.Ours.Scales, o.scale.ID) {
		return s, nil
	}
	var err error
	if comparison, ok := c.Ours.formula.node.(comparison); ok {
		err = o.judge(comparison, &s)
	} else {
		var v Contrast
		if v, err = o.band(c.Ours.formula.node); err == nil {
			v.These = o.scale.model()
			s.Value = &v
			if c.Printed != "" {
				s.Verdict = c.printedVerdict(v)
			}
			var alone bool
			if alone, err = o.alone(c); alone && s.Verdict == Confirmed {
				s.Verdict, s.Why = Inconclusive, whyOneExpert
			}
		}
	}
	switch {
	case errors.Is(err, errNotRun):
		return OnScale{Scale: o.scale, Verdict: NotRun}, nil
	case errors.Is(err, errNotStated):
		return OnScale{Scale: o.scale}, nil
	case err != nil:
		return s, err
	default:
		needs := c.Ours.Needs
		if needs == languageModel && o.scale.model() {
			needs = ""
		}
		if needs == "" && o.scale.Kind == kindSimulated && o.orderings.OnePool != "" {
			if c.Ours.formula.compares() && o.orderings.learners(c.learnt(o)...) {
				s.Verdict, s.Why = Inconclusive, whyOnePool
				return s, nil
			}
			needs = assumption
		}
		if over := overruled(needs); over != "" && s.Verdict != "" {
			s.Verdict, s.Shows = over, s.Verdict
		}
	}
	return s, nil
}

// alone says whether the routers that a claim reads on recorded answers are one expert each but for their names, so that its number is that
// expert's.
func (o ours) alone(c *Claim) (bool, error) {
	all := false
	for _, experiment := range c.Experiments(o.scale) {
		rows := c.Rows(o.orderings, o.scale, experiment)
		rows = slices.DeleteFunc(rows, func(row string) bool { return slices.Contains(o.orderings.Experts, row) })
		for _, row := range rows {
			as := false
			for _, expert := range sortedKeys(o.scale.Rows) {
				expert = o.orderings.row(o.scale, experiment, expert)
				if as || !slices.Contains(o.orderings.Experts, expert) {
					continue
				}
				var err error
				if _, as, err = o.orderings.asExpert(o.measured, experiment, o.scale, Place{"method": row, "benchmark": o.scale.average()}, expert); err != nil {
					return false, err
				}
			}
			if !as {
				return false, nil
			}
			all = true
		}
	}
	return all, nil
}

// learnt are the rows that a claim compares on a scale, as measurements call them.
func (c *Claim) learnt(o ours) (rows []string) {
	for _, experiment := range c.Experiments(o.scale) {
		rows = append(rows, c.Rows(o.orderings, o.scale, experiment)...)
	}
	return rows
}

// printedVerdict holds a printed number against the interval of ours.
func (c *Claim) printedVerdict(v Contrast) string {
	printed, _ := asPrinted(c.Printed)
	v.Number, v.Low, v.High = v.Number-printed, v.Low-printed, v.High-printed
	return (&Ordering{Is: "level", Margin: c.Ours.Margin}).verdict(v)
}

// ours reads the measurements of a scale as if they were the paper's tables.
type ours struct {
	measured  *Measurements
	orderings *Orderings
	scale     Scale
	tables    *Tables // the paper's: they say which rows and benchmarks a table has
}

// place is where a row of the paper stands in our measurements.
func (o ours) place(table, row, benchmark string) (experiment string, at Place, err error) {
	experiment, ok := o.scale.experiment(table)
	if !ok {
		return "", nil, errNotStated
	}
	if _, has := o.scale.Rows[row]; o.scale.Rows != nil && !has {
		return "", nil, errNotStated
	}
	switch {
	case benchmark == metrics.Average:
		benchmark = o.scale.average()
	case o.scale.Average != "":
		return "", nil, errNotStated // none of the paper's benchmarks
	default:
		benchmark = o.orderings.Names.benchmark(benchmark)
	}
	return experiment, Place{"method": o.orderings.row(o.scale, experiment, row), "benchmark": benchmark}, nil
}

// reading is a measured number with its interval and, of a row that was trained, what single seeds gave.
type reading struct {
	metrics.Value
	seeds map[string]float64
	once  bool // trained once

	questions int // behind it; 0: nobody says
}

// reading returns the first of the units that a line has.
func (o ours) reading(experiment string, at Place, units ...string) (reading, error) {
	m, err := o.measured.line(experiment, o.scale, at)
	if err != nil {
		return reading{}, err
	}
	for _, unit := range units {
		if v, ok := m.Value(unit); ok {
			r := reading{Value: v, seeds: o.seeds(experiment, at, unit)}
			r.once = o.measured.once(experiment, o.scale, at["method"], o.orderings.Seedless)
			r.questions = questionsOf(m, m)
			return r, nil
		}
	}
	return reading{}, errNotRun
}

// seeds returns a unit by seed, and nil unless every line of a single seed has it. Partitions of the same questions are no seeds.
func (o ours) seeds(experiment string, at Place, unit string) map[string]float64 {
	if o.scale.folded() {
		return nil
	}
	lines := o.measured.seeds(experiment, o.scale, at)
	found := map[string]float64{}
	for seed, m := range lines {
		if v, ok := m.Value(unit); ok {
			found[seed] = v.Number
		}
	}
	if len(found) < 2 || len(found) < len(lines) {
		return nil
	}
	return found
}

const (
	meanGain  = "mean-gain-points"
	retention = "retention-%"
	saving    = "saving-%"
	share     = "share-%"
)

// read reads what a function names.
func (o ours) read(r reference) (reading, error) {
	table, row, benchmark := r.words[0], r.words[1], metrics.Average
	if r.function == "accuracy" || r.function == "usd" {
		benchmark = r.words[2]
	}
	experiment, at, err := o.place(table, row, benchmark)
	if err != nil {
		return reading{}, err
	}
	switch r.function {
	case "accuracy":
		return o.reading(experiment, at, metrics.Accuracy)
	case "gain":
		return o.reading(experiment, at, metricUnits[hullGain].own)
	case "usd":
		return o.reading(experiment, at, metrics.USD, metrics.USDPerQuery)
	case "share":
		if o.scale.Kind != kindSimulated {
			return reading{}, errNotStated
		}
		return o.reading(experiment, Place{"method": at["method"], "stratum": r.words[2], "expert": r.words[3]}, share)
	case "retention":
		return o.retention(experiment, at, r)
	case "saving":
		return o.saving(experiment, at, r)
	case "cell":
		return reading{}, errors.New("a cell is one of a paper's tables; ours names what is measured: accuracy, usd, mean and the others")
	case "lead":
		return reading{}, errors.New("on measurements a lead stands alone on the left of > 0")
	}
	if len(r.words) > 2 {
		return reading{}, fmt.Errorf("%s of some benchmarks is in no measurement; take all", r.function)
	}
	switch r.function {
	case "mean":
		return o.reading(experiment, at, metrics.Accuracy)
	case "query":
		return o.reading(experiment, at, metrics.USDPerQuery, costShare)
	}
	query, err := o.reading(experiment, at, metrics.USDPerQuery, costShare)
	if err != nil {
		return reading{}, err
	}
	t := newTrace(o.tables)
	_, questions := t.sum(table, row, nil, metrics.Accuracy)
	return query.scaled(questions), t.err
}

func (r reading) scaled(by float64) reading {
	r.Number, r.Low, r.High = r.Number*by, r.Low*by, r.High*by
	seeds := maps.Clone(r.seeds)
	for seed := range seeds {
		seeds[seed] *= by
	}
	r.seeds = seeds
	return r
}

// retention reads the retention that was measured, question by question, or else makes it of the difference to the
// strongest expert, which is paired, and of that expert's accuracy.
func (o ours) retention(experiment string, at Place, r reference) (reading, error) {
	_, strongest, err := o.place(r.words[0], r.words[2], metrics.Average)
	if err != nil {
		return reading{}, err
	}
	whole, err := o.reading(experiment, strongest, metrics.Accuracy)
	if err != nil {
		return reading{}, err
	}
	found, err := o.reading(experiment, at, retention)
	if err == nil {
		if found.seeds = o.seeds(experiment, at, metrics.Accuracy); found.seeds != nil {
			for seed := range found.seeds {
				found.seeds[seed] *= 100 / whole.Number
			}
		}
		return found, nil
	} else if !errors.Is(err, errNotRun) {
		return reading{}, err
	}
	behind, err := o.orderings.contrast(o.measured, experiment, o.scale, at, strongest, metricUnits["accuracy"])
	if err != nil {
		return reading{}, err
	}
	c, err := propagate([]reading{{Value: behind.Value, once: behind.Once, questions: behind.Questions}, {Value: whole.Value, questions: whole.questions}}, func(x []float64) float64 { return 100 * (1 + x[0]/x[1]) })
	return reading{Value: c.Value, once: c.Once, questions: c.Questions}, err
}

// saving reads the saving that was measured, or else what is left of the strongest expert's cost. Shares of cost are of the dearest expert's,
// which need not be the strongest.
func (o ours) saving(experiment string, at Place, r reference) (reading, error) {
	cost, err := o.reading(experiment, at, costShare)
	if err != nil {
		return reading{}, err
	}
	_, place, err := o.place(r.words[0], r.words[2], metrics.Average)
	if err != nil {
		return reading{}, err
	}
	strongest, err := o.reading(experiment, place, costShare)
	if err != nil && !errors.Is(err, errNotRun) {
		return reading{}, err
	}
	if err == nil && strongest.Number > 0 && strongest.Number != 100 {
		c, err := propagate([]reading{cost, strongest}, func(x []float64) float64 { return 100 * (1 - x[0]/x[1]) })
		return reading{Value: c.Value, once: c.Once, questions: c.Questions}, err
	}
	left := cost.scaled(-1)
	left.Number, left.Low, left.High = 100-cost.Number, 100-cost.High, 100-cost.Low
	for seed := range left.seeds {
		left.seeds[seed] += 100
	}
	found, err := o.reading(experiment, at, saving)
	if errors.Is(err, errNotRun) {
		return left, nil
	}
	found.seeds = left.seeds
	return found, err
}

// band evaluates a formula that is no comparison, with an interval.
func (o ours) band(n node) (Contrast, error) {
	var leaves []reading
	var of []node
	at := func(n node) int { return slices.IndexFunc(of, func(m node) bool { return same(n, m) }) }
	var collect func(n node) error
	collect = func(n node) error {
		if i := at(n); i >= 0 {
			return nil
		}
		leaf, is, err := o.leaf(n)
		if err != nil {
			return err
		}
		if is {
			of, leaves = append(of, n), append(leaves, leaf)
			return nil
		}
		for _, child := range children(n) {
			if err := collect(child); err != nil {
				return err
			}
		}
		return nil
	}
	if err := collect(n); err != nil {
		return Contrast{}, err
	}
	return propagate(leaves, func(x []float64) float64 {
		return substituted(n, func(n node) (float64, bool) {
			if i := at(n); i >= 0 {
				return x[i], true
			}
			return 0, false
		}).eval(nil) // nothing in it reads a table
	})
}

// leaf returns what is measured as one number: what a function reads, and the difference of a function between two rows.
func (o ours) leaf(n node) (reading, bool, error) {
	switch n := n.(type) {
	case reference:
		r, err := o.read(n)
		return r, true, err
	case binary:
		c, ok, err := o.difference(n)
		if ok && err == nil {
			return reading{Value: c.Value, once: c.Once, questions: c.Questions}, true, nil
		}
		return reading{}, ok, err
	}
	return reading{}, false, nil
}

// difference measures a function of two rows that is subtracted, paired where the measurements have that.
func (o ours) difference(b binary) (Contrast, bool, error) {
	left, isLeft := b.left.(reference)
	right, isRight := b.right.(reference)
	if b.operator != '-' || !isLeft || !isRight || left.function != right.function || left.words[0] != right.words[0] {
		return Contrast{}, false, nil
	}
	benchmark, u := metrics.Average, units{}
	switch left.function {
	case "accuracy", "usd":
		if left.words[2] != right.words[2] {
			return Contrast{}, false, nil
		}
		benchmark, u = left.words[2], metricUnits["accuracy"]
		if left.function == "usd" {
			u = units{own: metrics.USD}
		}
	case "mean", "query", "total":
		if len(left.words)+len(right.words) > 4 {
			return Contrast{}, false, nil
		}
		u = metricUnits[map[bool]string{true: "accuracy", false: "cost"}[left.function == "mean"]]
	default:
		return Contrast{}, false, nil
	}
	experiment, a, err := o.place(left.words[0], left.words[1], benchmark)
	if err != nil {
		return Contrast{}, true, err
	}
	_, other, err := o.place(right.words[0], right.words[1], benchmark)
	if err != nil {
		return Contrast{}, true, err
	}
	c, err := o.orderings.contrast(o.measured, experiment, o.scale, a, other, u)
	if err != nil {
		return Contrast{}, true, err
	}
	return *c, true, nil
}

// gains is how many hull gains stand on the sides of one comparison at most, or in a formula without one.
func (f *Formula) gains() (most int) {
	in := func(parts ...node) int {
		return len(slices.DeleteFunc(references(parts...), func(r reference) bool { return r.function != "gain" }))
	}
	pairs, ok := f.node.(comparison)
	if !ok {
		return in(f.node)
	}
	for _, p := range pairs {
		most = max(most, in(p.left, p.right))
	}
	return most
}

// propagate gives f of measured numbers an interval, as if their errors were independent: each in turn goes to the ends
// of its own interval, and what that moves f by is added in quadrature, to either side (MOVER). Training seeds are
// shared by all rows: their spread is that of f seed by seed.
func propagate(x []reading, f func([]float64) float64) (Contrast, error) {
	x = slices.Clone(x)
	at := make([]float64, len(x))
	bounded := true
	var names []string
	c := Contrast{}
	for i, r := range x {
		at[i] = r.Number
		bounded = bounded && r.Bounded
		c.Once = c.Once || r.once
		if i == 0 || r.questions < c.Questions {
			c.Questions = r.questions
		}
		if r.seeds == nil {
			continue
		}
		mine := sortedKeys(r.seeds)
		single := make([]float64, len(mine))
		for k, seed := range mine {
			single[k] = r.seeds[seed]
		}
		x[i].Value = withoutSeeds(r.Value, metrics.MeanOf(single))
		if names == nil {
			names = mine
		} else if !slices.Equal(names, mine) {
			return c, fmt.Errorf("rows have the seeds %s and %s; they have to be the same", strings.Join(names, ", "), strings.Join(mine, ", "))
		}
	}
	c.Number = f(at)
	if math.IsNaN(c.Number) || math.IsInf(c.Number, 0) {
		return c, fmt.Errorf("the result is %v: a division by zero", c.Number)
	}
	if !bounded {
		return c, nil
	}
	up, down := 0.0, 0.0
	for i, r := range x {
		most, least := 0.0, 0.0
		for _, end := range []float64{r.Low, r.High} {
			moved := slices.Clone(at)
			moved[i] = end
			d := f(moved) - c.Number
			most, least = max(most, d), min(least, d)
		}
		up, down = math.Hypot(up, most), math.Hypot(down, least)
	}
	if len(names) > 0 {
		var each []float64
		for _, seed := range names {
			moved := slices.Clone(at)
			for i, r := range x {
				if v, trained := r.seeds[seed]; trained {
					moved[i] = v
				}
			}
			each = append(each, f(moved))
		}
		c.Seeds = len(each)
		half := metrics.MeanOf(each).Half(0.025)
		up, down = math.Hypot(up, half), math.Hypot(down, half)
	}
	c.Bounded, c.Low, c.High = true, c.Number-down, c.Number+up
	return c, nil
}

// judge gives a comparison the verdict of its least favourable part. Parts about rows that the scale does not have are
// left out.
func (o ours) judge(c comparison, s *OnScale) error {
	var parts []pair
	for _, p := range c {
		some, err := o.parts(p)
		if err != nil {
			return err
		}
		parts = append(parts, some...)
	}
	var worst float64
	rank := []string{Refuted, Inconclusive, Confirmed}
	for _, p := range parts {
		v, unit, err := o.part(p)
		if errors.Is(err, errNotStated) {
			continue
		}
		if err != nil {
			return err
		}
		v.These = o.scale.model()
		is, bound := "above", v.Low
		if p.sign[0] == '<' {
			is, bound = "below", -v.High
		}
		verdict := (&Ordering{Is: is}).verdict(v)
		why := v.why(verdict)
		if verdict == Confirmed {
			bought, err := o.bought(p, is)
			if err != nil {
				return err
			}
			if bought {
				verdict, why = Inconclusive, whyStrongest
			}
		}
		before := slices.Index(rank, s.Verdict)
		now := slices.Index(rank, verdict)
		if before < 0 || now < before || now == before && bound < worst {
			s.Verdict, s.Why, s.Value, s.Unit, worst = verdict, why, &v, unit, bound
			if len(parts) > 1 {
				s.Against = o.against(p)
			}
		}
	}
	if s.Value == nil {
		return errNotStated
	}
	return nil
}

// bought says of a comparison of two rows' accuracies whether the better one is the strongest expert but for its name.
func (o ours) bought(p pair, is string) (bool, error) {
	var at [2]Place
	var experiment string
	for i, side := range []node{p.left, p.right} {
		r, _ := side.(reference)
		benchmark := metrics.Average
		switch {
		case r.function == "accuracy":
			benchmark = r.words[2]
		case r.function != "mean" || len(r.words) > 2:
			return false, nil
		}
		var err error
		if experiment, at[i], err = o.place(r.words[0], r.words[1], benchmark); err != nil {
			return false, err
		}
	}
	equal, err := o.orderings.equalCost(o.measured, experiment, o.scale, at[0], at[1])
	if err != nil {
		return false, err
	}
	return o.orderings.bought(o.measured, experiment, o.scale, is, at[0], at[1], equal)
}

// parts splits a comparison with the greatest or the least of several numbers into one of each, and a lead into the
// comparisons with every other row on every benchmark.
func (o ours) parts(p pair) ([]pair, error) {
	if r, ok := p.left.(reference); ok && r.function == "lead" {
		if zero, ok := p.right.(number); !ok || zero != 0 || p.sign != ">" {
			return nil, errors.New("on measurements a lead stands alone on the left of > 0")
		}
		rivals, err := rivals(o.tables, r.words[0], r.words[1], r.words[2:])
		if err != nil {
			return nil, err
		}
		var all []pair
		for _, rival := range rivals {
			all = append(all, pair{p.sign, rival.left, rival.right})
		}
		return all, nil
	}
	greater := p.sign[0] == '>'
	for i, side := range []node{p.left, p.right} {
		e, ok := side.(extreme)
		if !ok || e.greatest != (greater == (i == 1)) {
			continue
		}
		var all []pair
		for _, n := range e.of {
			one := p
			if i == 0 {
				one.left = n
			} else {
				one.right = n
			}
			more, err := o.parts(one)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	}
	return []pair{p}, nil
}

// part measures the left side of a comparison minus the right one.
func (o ours) part(p pair) (v Contrast, unit string, err error) {
	unit = " points"
	if r, ok := p.left.(reference); ok {
		switch r.function {
		case "usd":
			unit = " $"
		case "query", "total":
			unit = "% of the strongest's cost"
		}
	}
	if zero, ok := p.right.(number); ok && zero == 0 {
		v, err = o.band(p.left)
		return v, unit, err
	}
	difference := binary{'-', p.left, p.right}
	if v, ok, err := o.difference(difference); ok {
		return v, unit, err
	}
	v, err = o.band(difference)
	return v, unit, err
}

// against names the row on the right side of a comparison, or else the left, as the scale calls it.
func (o ours) against(p pair) string {
	for _, side := range []node{p.right, p.left} {
		r, ok := side.(reference)
		if !ok {
			continue
		}
		name := r.words[1]
		if ours, ok := o.scale.Rows[name]; ok {
			name = ours
		}
		if (r.function == "accuracy" || r.function == "usd") && r.words[2] != metrics.Average {
			name += " on " + r.words[2]
		}
		return name
	}
	return ""
}
