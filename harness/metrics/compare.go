// Two files of measurements against each other: which gate a number has, and whether it closes.

package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Gate says what a difference between two measurements was held against.
type Gate string

const (
	// Exact: both sides have the same problems and the row trains nothing, so it is the same number wherever it runs.
	Exact Gate = "exact"
	// Golden: same problems, same training seeds, same backend and architecture, in XLA the same processor: the same number
	// to the last digit, and the same interval.
	Golden Gate = "golden"
	// Seeds: same problems, other training seeds. The band is a prediction interval from the spread of the reference's
	// seeds, three at least: t(n-1) * SD * sqrt(1/n_ours + 1/n_reference).
	Seeds Gate = "seeds"
	// Question: other problems. The band is the question variance of both sides, read off their intervals. Only averages
	// of rows that train nothing are held against it, and neither those that compare with a trained row, as what other
	// training problems do to a router is not measured, nor those whose interval leaves out a choice made on the sample.
	Question Gate = "questions"
	// Paired: the same questions under another recipe. The band is a t interval of the mean difference question by question,
	// and of the training seeds where trainings differ.
	Paired Gate = "paired"
	// None: nothing says how far the numbers may be apart; the difference is reported and decides nothing. Change.Reason says why.
	None Gate = "none"
)

// Comparison says what two files of measurements of one experiment have in common.
type Comparison struct {
	SameProblems  bool                     // drawn from the same seed, in the same sizes, or recorded in the same files
	SameMachine   bool                     // of one backend and architecture: what trains nothing counts and draws alike, the ends of intervals too
	SameNumerics  bool                     // trainings of the same seeds repeat themselves: in XLA of one processor too
	Untrained     func(Measurement) bool   // of a row that trains nothing and draws nothing
	OtherTraining func(Measurement) bool   // of a line that may depend on trainings, whose seeds differ though lines of single seeds do not say so
	Jumps         func(Measurement) Reason // why a number does not move by little and often with its seed, as the t interval supposes; zero: it does
	Relative      func(unit string) bool   // the unit compares with another row, and so depends on that row's training seeds
	Sampled       func(unit string) bool   // the unit rests on a choice made on the sample, which its interval holds fixed
	Confidence    float64                  // of the intervals in the files, e.g. 0.95
	FalseAlarm    float64                  // probability that any of the statistical gates closes although nothing changed
}

// Change is the comparison of one number.
type Change struct {
	Label, Unit     string
	Ours, Reference float64
	Missing         bool   // we do not have the number, though the same rows were asked for
	Lost            bool   // the reference does not have the number, though it has everything that its line is about
	Why             string // of a number that is missing: why it is not defined; empty: it was not measured
	Gate            Gate
	Band            float64 // greatest difference that is noise; 0 for Exact and Golden, meaningless for None
	Noise           float64 // for Golden: what the band of Seeds would be, or NaN
	Reason          Reason  // for None, unless the number is missing or lost
	OtherRecipe     bool    // the sides are of other recipes, so that a number need not repeat itself
}

// Reason says why nothing judges a number.
type Reason struct {
	What string // the numbers that are not judged so, as they are counted: "settings of a knob"
	Why  string
}

// String is one clause of both.
func (r Reason) String() string { return r.What + ": " + r.Why }

// noSpread is why a number is not judged of which the reference does not tell how far training seeds move it.
const noSpread = "the reference keeps the mean over its training seeds and not how far each moves it"

// unjudged says why nothing judges a number of a line. over is what is known of its training seeds.
func (c Comparison) unjudged(ref Measurement, unit string, untrained bool, over spread) Reason {
	if !c.SameProblems {
		switch {
		case !untrained:
			return Reason{"trained rows on other problems", "how far other training problems move a router is not measured"}
		case c.Relative(unit):
			return Reason{"comparisons with a trained row on other problems", "how far other training problems move that row is not measured"}
		case c.Sampled(unit):
			return Reason{"hull gains on other problems", "other problems may have another hull, which no interval counts"}
		case !overAll(ref):
			return Reason{"parts of other problems", "only averages over all benchmarks are judged there"}
		}
		return Reason{"numbers without an interval on other problems", "nothing says how far the draw of the questions moves them"}
	}
	switch {
	case over.n == 0 && c.OtherTraining(ref):
		return Reason{"numbers of other trainings", "their seeds, or the partitions of recorded answers, are not the reference's, and no line of a single one says how far they move a number"}
	case oneTraining(ref):
		return Reason{"single trainings", "another backend, architecture or, in XLA, processor need not repeat them; their means over training seeds are judged"}
	case over.n == 0 && ref.Key("knob") != "":
		return Reason{"settings of a knob", noSpread}
	case over.n == 0 && ref.Key("step") != "":
		return Reason{"steps of a training", noSpread + "; its first and last steps are judged"}
	case over.n == 0 && ref.Name != "Route":
		return Reason{"summaries of rows", noSpread}
	case over.n == 0 && ref.Key("benchmark") != Average:
		return Reason{"single benchmarks", noSpread + "; averages are judged"}
	case over.n == 0:
		return Reason{"further numbers of averages", noSpread + "; accuracy and dollars are judged"}
	case over.n < 3:
		return Reason{"means of fewer than three training seeds in the reference", "so few do not say how far another one moves them"}
	case over.sd == 0:
		return Reason{"numbers that are the same for each training seed of the reference", "that does not say how far another one moves them"}
	}
	return c.Jumps(ref)
}

// Differs says whether the numbers are not the same.
func (c Change) Differs() bool { return c.Missing || c.Lost || c.Ours != c.Reference }

// Regressed says whether the gate closes.
func (c Change) Regressed() bool {
	return c.Missing || c.Lost || c.Gate != None && math.Abs(c.Ours-c.Reference) > c.Band
}

// Verdict says in words what the change is.
func (c Change) Verdict() string {
	switch {
	case c.Missing:
		return "missing"
	case c.Lost:
		return "lost in the reference"
	case !c.Differs():
		return "same"
	case c.Gate == None:
		return "not judged"
	case c.OtherRecipe && c.Regressed() && (c.Gate == Exact || c.Gate == Golden):
		return "regression: by another recipe than the reference's"
	case c.Gate == Golden && math.Abs(c.Ours-c.Reference) <= c.Noise:
		return "regression: the same seeds gave another number, though other seeds move it as much"
	case c.Gate == Exact || c.Gate == Golden && c.Regressed():
		return "regression: the same spec always gives the same number"
	case c.Regressed():
		return "regression"
	}
	return "noise"
}

// Allowed is the greatest difference that is noise; of a number that has to repeat itself, what noise would be with other seeds.
func (c Change) Allowed() (band float64, known bool) {
	switch {
	case c.Gate == Golden:
		return c.Noise, !math.IsNaN(c.Noise)
	case c.Gate == None:
		return 0, false
	}
	return c.Band, true
}

// Place divides the label into the row, or the name of what has none, and the rest but for what all lines share.
func (c Change) Place() (row string, rest []string) {
	name, keys, _ := strings.Cut(c.Label, "/")
	row = strings.ToLower(name)
	for _, k := range strings.Split(keys, "/") {
		switch key, value, _ := strings.Cut(k, "="); key {
		case "method":
			if row = value; name != "Route" {
				rest = slices.Insert(rest, 0, strings.ToLower(name))
			}
		case "experiment", "pool":
		default:
			rest = append(rest, k)
		}
	}
	return row, rest
}

// Compare compares our measurements with a reference, number by number in the order of the reference. Numbers that only
// we have are left out, and Added lists them: a new row, benchmark or unit regresses nothing. But where the reference has each key
// of a line on other lines of its name, the line was lost there. Where a number must be the same on the same backend and
// architecture, so must the ends of its interval: resamples are drawn alike, and add up alike there.
//
// With m statistical gates each is set to a false alarm rate of FalseAlarm/m (Bonferroni). Bands are computed from the
// spread measured in the reference and from nothing else.
func Compare(ours, reference *Set, c Comparison) []Change {
	byLabel := map[string]Measurement{}
	for _, m := range ours.Measurements {
		byLabel[m.Label()] = m
	}
	mine, theirs, ourSpread, over := seedsOf(ours), seedsOf(reference), spreads(ours), spreads(reference)
	allSeeds := c.allSeeds(mine, theirs, reference)
	type statistical struct {
		change int
		sd     float64 // over the reference's training seeds
		df     float64
		seeds  float64 // 1/n_ours + 1/n_reference; 0: the row has no training seed
		se2    float64 // question variance of both sides
	}
	var out []Change
	var gated []statistical
	moved := map[string]bool{} // sweeps of which some number did: which settings of the knob are listed depends on that
	for _, ref := range reference.Measurements {
		method, seed := ref.Key("method"), training(ref)
		our, have := byLabel[ref.Label()]
		if !have && seed != "" && !slices.Contains(mine[method], seed) {
			continue // a training that we did not ask for
		}
		untrained := c.Untrained(ref)
		sameSeeds := (seed != "" || slices.Equal(mine[method], theirs[method])) && (untrained || !c.OtherTraining(ref))
		if !have && c.optional(ref, allSeeds) {
			continue
		}
		if have && our.N != ref.N && c.SameProblems && (sameSeeds || untrained) {
			out = append(out, Change{Label: ref.Label(), Unit: "rollouts", Ours: float64(our.N), Reference: float64(ref.N), Gate: Exact})
		}
		for _, v := range ref.Values {
			x := Change{Label: ref.Label(), Unit: v.Unit, Reference: v.Number, Gate: None, Noise: math.NaN()}
			o, ok := our.Value(v.Unit)
			sameSeeds := sameSeeds && (allSeeds || !c.Relative(v.Unit))
			if have && !ok && (!sameSeeds || !c.SameProblems) {
				continue // a spread over seeds, of one seed; a ratio that these problems do not define
			}
			if x.Ours = o.Number; ref.Key("knob") != "" && x.Ours != x.Reference {
				moved[ref.labelWithout("knob")] = true
			}
			if !have || !ok {
				x.Missing, x.Why = true, our.Why(v.Unit)
				out = append(out, x)
				continue
			}
			var s statistical
			at := place{ref.Label(), v.Unit}
			// Seeds that all give one number, as a share of few questions may, do not say how far it can move, nor do two of
			// them: the interval of one degree of freedom is hundreds of standard deviations wide.
			if of := over[at]; !oneTraining(ref) && of.n > 2 && of.sd > 0 {
				n := max(ourSpread[at].n, len(mine[method]), 1)
				s = statistical{sd: of.sd, df: float64(of.n - 1), seeds: 1/float64(n) + 1/float64(of.n)}
			}
			switch {
			case !c.SameProblems && untrained && sameSeeds && !c.Relative(v.Unit) && !c.Sampled(v.Unit) && overAll(ref) && o.Bounded && v.Bounded:
				x.Gate = Question
				s = statistical{}
				z := distuv.UnitNormal.Quantile(0.5 + c.Confidence/2)
				s.se2 = square((o.High-o.Low)/(2*z)) + square((v.High-v.Low)/(2*z))
			case !c.SameProblems:
			case untrained && sameSeeds && (c.SameNumerics || !c.Relative(v.Unit)):
				x.Gate = Exact
			case c.SameNumerics && sameSeeds:
				x.Gate = Golden
			case s.seeds > 0 && c.Jumps(ref) == Reason{}:
				x.Gate = Seeds
			}
			if x.Gate == None {
				x.Reason = c.unjudged(ref, v.Unit, untrained && sameSeeds, over[at])
			}
			if s.change = len(out); x.Gate == Seeds || x.Gate == Question || x.Gate == Golden && s.seeds > 0 {
				gated = append(gated, s)
			}
			out = append(out, x)
			if c.SameMachine && (x.Gate == Exact || x.Gate == Golden) {
				out = append(out, ends(x, o, v)...)
			}
		}
	}
	lost := lostBy(reference)
	for _, m := range ours.Measurements {
		if !lost(m) || c.optional(m, allSeeds) || m.Key("knob") != "" && moved[m.labelWithout("knob")] {
			continue
		}
		for _, v := range m.Values {
			out = append(out, Change{Label: m.Label(), Unit: v.Unit, Ours: v.Number, Lost: true, Gate: None, Noise: math.NaN()})
		}
	}
	if len(gated) == 0 {
		return out
	}
	p := 1 - c.FalseAlarm/float64(len(gated))/2
	normal := distuv.UnitNormal.Quantile(p)
	for _, s := range gated {
		band := 0.0
		if s.seeds > 0 {
			t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: s.df}.Quantile(p)
			band = t * s.sd * math.Sqrt(s.seeds)
		}
		band = math.Hypot(band, normal*math.Sqrt(s.se2))
		if x := &out[s.change]; x.Gate == Golden {
			x.Noise = band
		} else {
			x.Band = band
		}
	}
	return out
}

// Added returns our numbers that the reference does not have, but for those of lines that it lost, and of settings of a knob that other
// trainings put elsewhere.
func Added(ours, reference *Set, c Comparison) (added []Change) {
	theirs, sweeps := map[string]Measurement{}, map[string]bool{}
	for _, m := range reference.Measurements {
		theirs[m.Label()] = m
		if m.Key("knob") != "" {
			sweeps[m.labelWithout("knob")] = true
		}
	}
	allSeeds, lost := c.allSeeds(seedsOf(ours), seedsOf(reference), reference), lostBy(reference)
	for _, m := range ours.Measurements {
		their, have := theirs[m.Label()]
		if !have {
			optional, newSweep := c.optional(m, allSeeds), m.Key("knob") != "" && !sweeps[m.labelWithout("knob")]
			if optional && !newSweep || !optional && lost(m) {
				continue
			}
		}
		for _, v := range m.Values {
			if _, ok := their.Value(v.Unit); !ok {
				added = append(added, Change{Label: m.Label(), Unit: v.Unit, Ours: v.Number, Reference: math.NaN(), Gate: None, Noise: math.NaN()})
			}
		}
	}
	return added
}

// overAll says whether a line is over all benchmarks, of a recorded pool over all of its questions.
func overAll(m Measurement) bool {
	return m.Key("benchmark") == Average || m.Key("benchmark") == BothStrata
}

// allSeeds says whether both sides are of the same trainings throughout, whose seeds seedsOf lists.
func (c Comparison) allSeeds(mine, theirs map[string][]string, reference *Set) bool {
	return maps.EqualFunc(mine, theirs, slices.Equal[[]string]) && !slices.ContainsFunc(reference.Measurements, c.OtherTraining)
}

// optional says whether one side may lack a line that the other has: which settings of a knob are listed depends on where the trainings
// put it, and other problems may have none of a class.
func (c Comparison) optional(m Measurement, allSeeds bool) bool {
	return m.Key("knob") != "" && !allSeeds || m.Key("benchmark") == "" && !c.SameProblems
}

// lostBy says which lines the reference has lost: those that it does not have, though it has lines of the same name with each of their
// keys and with no more or fewer of them.
func lostBy(reference *Set) func(Measurement) bool {
	type part struct {
		name string
		keys int
		key  Key
	}
	there, labels := map[part]bool{}, map[string]bool{}
	for _, m := range reference.Measurements {
		labels[m.Label()] = true
		for _, k := range m.Keys {
			there[part{m.Name, len(m.Keys), k}] = true
		}
	}
	return func(m Measurement) bool {
		isNew := func(k Key) bool { return !there[part{m.Name, len(m.Keys), k}] }
		return !labels[m.Label()] && !slices.ContainsFunc(m.Keys, isNew)
	}
}

// ends compares the ends of the interval of a number that has to repeat itself.
func ends(x Change, our, ref Value) []Change {
	if !ref.Bounded {
		return nil
	}
	low, high := Ends(x.Unit)
	end := func(unit string, ours, reference float64) Change {
		return Change{Label: x.Label, Unit: unit, Ours: ours, Reference: reference, Missing: !our.Bounded, Gate: Golden, Noise: math.NaN()}
	}
	return []Change{end(low, our.Low, ref.Low), end(high, our.High, ref.High)}
}

// seedsOf lists the training seeds of every method that has lines of single seeds.
func seedsOf(s *Set) map[string][]string {
	out := map[string][]string{}
	for _, m := range s.Measurements {
		method, seed := m.Key("method"), m.Key("seed")
		if seed != "" && !slices.Contains(out[method], seed) {
			out[method] = append(out[method], seed)
		}
	}
	for _, seeds := range out {
		slices.SortFunc(seeds, cmp.Compare[string])
	}
	return out
}

// spread is what is known of the training seeds that measured a number.
type spread struct {
	n  int
	sd float64 // standard deviation
}

// oneTraining says whether a line is of one training alone: of a seed, or of a fold.
func oneTraining(m Measurement) bool { return training(m) != "" }

// training is the seed of the one training that a line is of, of a fold that of its partition; empty: it is of all.
func training(m Measurement) string {
	partition, _, _ := strings.Cut(m.Key("fold"), ".")
	return cmp.Or(m.Key("seed"), partition)
}

// labelWithout is the label of a line as if it had no keys of some names.
func (m Measurement) labelWithout(names ...string) string {
	m.Keys = slices.DeleteFunc(slices.Clone(m.Keys), func(k Key) bool { return slices.Contains(names, k.Name) })
	return m.Label()
}

// place is where a number stands in a file.
type place struct{ label, unit string }

// spreads returns the spread over trainings of every number of a mean line. A line of one training has the keys of its mean line and its
// seed or its fold.
func spreads(s *Set) map[place]spread {
	values := map[place][]float64{}
	for _, m := range s.Measurements {
		if !oneTraining(m) {
			continue
		}
		label := m.labelWithout("seed", "fold")
		for _, v := range m.Values {
			at := place{label, v.Unit}
			values[at] = append(values[at], v.Number)
		}
	}
	out := map[place]spread{}
	for at, x := range values {
		out[at] = spread{len(x), stat.StdDev(x, nil)}
	}
	return out
}
