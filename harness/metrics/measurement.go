// Package metrics holds measurements, their text format, and the statistics of routing results.
//
// It knows plain numbers only: columns with one entry a question, points in the plane of cost and quality,
// strata and folds as integers. Letters in doc comments: P questions, M experts, J settings of a knob, B resamples.
//
// Every definition names its source:
//
//   - one operating point: Retention, Saving, PGR, Hull.Gain, OracleGap, Regret with ExchangeRate
//   - all settings of a knob (KnobCurve): AIQ, MeanGain, APGR, AUDC, CPT, QNC, Peak; FoldCurves inside folds
//   - decisions: Entropy, MutualInformation; a router's score: Ranking.AUC, ECE, Brier
//   - uncertainty: Resample, BootstrapParallel, Evidence.Interval, McNemar
//
// Qualities are in percent (0 to 100) wherever the paper prints percent, so a gain of 1 is one point; costs
// may be in any unit as long as one comparison keeps to one.
package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Units of measurements. A unit ending in -% is a percentage; counts and dollars are not scaled.
const (
	Accuracy    = "accuracy-%" // share of correct answers, runs averaged inside a question
	USD         = "usd"        // dollars of one pass over the benchmark, averaged over runs
	USDPerQuery = "usd/query"  // dollars per question and run
	Questions   = "questions"  // distinct questions behind the line; N/questions is the number of runs
)

// Average is the value of the key benchmark on lines that average over benchmarks: accuracy a question,
// dollars per question.
const Average = "avg"

// BothStrata is the value of the key benchmark on lines of all questions of a recorded pool.
const BothStrata = "all"

// Values of the key arena.
const (
	PaperArena = "paper" // the paper's sizes and runs, scored by graded rollouts
	LargeArena = "large" // many generated problems, scored by the true success probability of the simulated experts
)

// Value is a number with a unit.
type Value struct {
	Number   float64
	Unit     string
	Decimals int // decimals written at least; a number transcribed as 80.0 has 1

	Bounded   bool    // Low and High are set
	Low, High float64 // confidence interval of Number, in the same unit
}

// Undefined is a number that does not exist, such as a share of nothing, and why.
type Undefined struct {
	Unit string
	Why  string // one line: the strongest expert solved nothing
}

// Rounded returns a value rounded half away from zero to the given number of decimals, which are all written:
// files compared byte by byte hold such values.
func Rounded(number float64, unit string, decimals int) Value {
	return Value{Number: round(number, decimals), Unit: unit, Decimals: decimals}
}

// Within returns v with the interval [low, high], rounded like v itself.
func (v Value) Within(low, high float64) Value {
	v.Bounded, v.Low, v.High = true, round(low, v.Decimals), round(high, v.Decimals)
	return v
}

// Side says where the interval of v lies: 1 above 0, -1 below it, 0 around it. A number without an interval is on neither side.
func (v Value) Side() int {
	switch {
	case v.Bounded && v.Low > 0:
		return 1
	case v.Bounded && v.High < 0:
		return -1
	}
	return 0
}

func round(x float64, decimals int) float64 {
	scale := math.Pow(10, float64(decimals))
	return math.Round(x*scale)/scale + 0 // + 0 turns -0 into 0
}

// Measurement is one line of a measurement file: what was measured (Name), where (Keys), on how many rollouts
// (N) and the numbers that came out.
type Measurement struct {
	Name   string  // starts with an upper-case letter: Route
	Keys   []Key   // in writing order
	N      int     // rollouts behind the line, at least 1
	Values []Value // at least one; no unit twice

	Undefined []Undefined // numbers that the line would have; no unit that Values has
	Note      string      // one line on how to read it; empty: none
}

// Key returns the value of the named key, and "" if m has none.
func (m Measurement) Key(name string) string {
	for _, k := range m.Keys {
		if k.Name == name {
			return k.Value
		}
	}
	return ""
}

// Value returns the value in the given unit.
func (m Measurement) Value(unit string) (Value, bool) {
	for _, v := range m.Values {
		if v.Unit == unit {
			return v, true
		}
	}
	return Value{}, false
}

// Why returns why the number in the given unit is not defined; empty if it is, or if the line would not have it.
func (m Measurement) Why(unit string) string {
	for _, u := range m.Undefined {
		if u.Unit == unit {
			return u.Why
		}
	}
	return ""
}

// Label returns the name and the keys as written in a file, without the word Benchmark.
func (m Measurement) Label() string {
	var b strings.Builder
	b.WriteString(m.Name)
	for i, k := range m.Keys {
		b.WriteByte('/')
		b.WriteString(k.Name)
		b.WriteByte('=')
		b.WriteString(escape(k.Value, i == len(m.Keys)-1))
	}
	return b.String()
}

// Set is a file of measurements.
type Set struct {
	Comment      []string // leading lines that start with '#', without it: source, unit conventions
	Measurements []Measurement
}

// Sort orders the measurements by label, the order in which they are written.
func (s *Set) Sort() {
	labels := make([]string, len(s.Measurements))
	for i, m := range s.Measurements {
		labels[i] = m.Label()
	}
	s.sortBy(labels)
}

// sortBy is Sort where the labels of the measurements are known already.
func (s *Set) sortBy(labels []string) {
	if slices.IsSorted(labels) {
		return
	}
	order := make([]int, len(labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(labels[a], labels[b]) })
	sorted := make([]Measurement, len(order))
	for i, k := range order {
		sorted[i] = s.Measurements[k]
	}
	s.Measurements = sorted
}

// Where returns the measurements that carry all the given keys. A key with an empty value asks for lines that
// do not have that key: Where(Key{"method", "random"}, Key{"seed", ""}) leaves single seeds out.
func (s *Set) Where(keys ...Key) []Measurement {
	var found []Measurement
	for i := range s.Measurements {
		if m := &s.Measurements[i]; m.has(keys) {
			found = append(found, *m)
		}
	}
	return found
}

// has says whether m carries all the given keys, see Where. Sets are looked through line by line, so m is not copied.
func (m *Measurement) has(keys []Key) bool {
next:
	for _, want := range keys {
		for i := range m.Keys {
			if k := &m.Keys[i]; k.Name == want.Name {
				if k.Value != want.Value {
					return false
				}
				continue next
			}
		}
		if want.Value != "" {
			return false
		}
	}
	return true
}

// Find returns the one measurement that carries all the given keys; ok is false if there is none. Several
// are an error that names the keys in which they differ, so that a table never picks one in silence.
func (s *Set) Find(keys ...Key) (m Measurement, ok bool, err error) {
	found := s.Where(keys...)
	switch len(found) {
	case 0:
		return Measurement{}, false, nil
	case 1:
		return found[0], true, nil
	}
	return Measurement{}, false, fmt.Errorf("%d measurements at %s, which differ in %s: ask for one of them",
		len(found), Describe(keys), strings.Join(residue(found), ", "))
}

// residue lists the keys in which measurements differ, in order of appearance.
func residue(ms []Measurement) []string {
	var names []string
	for _, m := range ms {
		for _, k := range m.Keys {
			if slices.Contains(names, k.Name) {
				continue
			}
			if slices.ContainsFunc(ms, func(o Measurement) bool { return o.Key(k.Name) != k.Value }) {
				names = append(names, k.Name)
			}
		}
	}
	return names
}
