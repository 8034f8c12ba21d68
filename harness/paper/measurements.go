// Lines of measurement files, found by experiment, scale and keys.

package paper

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Measurements are the lines of any number of measurement files, which carry the key experiment.
type Measurements struct {
	of    map[string][]metrics.Measurement // by experiment
	at    map[string][]metrics.Measurement // by experiment and the keys of a Place, those of trainings left out
	files map[string]string                // label -> file

	first  map[string]float64 // accuracy of the first single seed, by label without the seed
	varies map[string]bool    // by method: whether single seeds differ in accuracy anywhere; absent: it has no two

	folds map[string]int // by experiment: of a cross-validation; 0: nobody says

	written map[string]bool // by experiment: whether 'run' wrote it
	seeded  map[string]bool // by experiment: whether it has a line of a single seed
}

// errNotRun says that no file has what was asked for.
var errNotRun = errors.New("not run")

// errNotStated says that a scale has no such table or row.
var errNotStated = errors.New("not stated")

// Add takes in the lines of a file. A line that another file has as well is an error: it would not be clear which
// of the two counts.
func (s *Measurements) Add(file string, set *metrics.Set) error {
	if s.of == nil {
		s.of, s.at, s.files = map[string][]metrics.Measurement{}, map[string][]metrics.Measurement{}, map[string]string{}
		s.first, s.varies = map[string]float64{}, map[string]bool{}
		s.written, s.seeded, s.folds = map[string]bool{}, map[string]bool{}, map[string]int{}
	}
	folds := set.Folds()
	_, written := set.Provenance()
	for _, m := range set.Measurements {
		experiment := m.Key("experiment")
		if experiment == "" {
			return fmt.Errorf("%s: %s has no key experiment; want the measurements that 'run' writes", file, m.Label())
		}
		label := m.Label()
		if first, ok := s.files[label]; ok {
			return fmt.Errorf("%s: %s is in %s as well; name one of them", file, label, first)
		}
		s.files[label] = file
		s.of[experiment] = append(s.of[experiment], m)
		spot := spotOf(experiment, slices.DeleteFunc(slices.Clone(m.Keys), func(k metrics.Key) bool { return slices.Contains(outer, k.Name) }))
		s.at[spot] = append(s.at[spot], m)
		s.written[experiment] = s.written[experiment] || written
		s.seeded[experiment] = s.seeded[experiment] || m.Key("seed") != ""
		s.folds[experiment] = max(s.folds[experiment], folds)
		s.compareSeeds(m)
	}
	return nil
}

// compareSeeds remembers whether single seeds of a method differ.
func (s *Measurements) compareSeeds(m metrics.Measurement) {
	v, ok := m.Value(metrics.Accuracy)
	if !ok || m.Key("seed") == "" {
		return
	}
	method := m.Key("method")
	label := withoutSeed(m)
	if first, seen := s.first[label]; seen {
		s.varies[method] = s.varies[method] || v.Number != first
	} else {
		s.first[label] = v.Number
	}
}

func withoutSeed(m metrics.Measurement) string {
	m.Keys = slices.DeleteFunc(slices.Clone(m.Keys), func(k metrics.Key) bool { return k.Name == "seed" })
	return m.Label()
}

// once says whether a row has one training on a scale: one seed has lines there, and no other scale shows that the row
// is the same under every seed. 'run' writes no line of a single seed where it trained with one; then it is every row but
// those that no seed changes.
func (s *Measurements) once(experiment string, scale Scale, method string, seedless []string) bool {
	if varies, known := s.varies[method]; method == "" || scale.bySeeds() || known && !varies {
		return false
	}
	if s.written[experiment] && !s.seeded[experiment] {
		return !slices.Contains(seedless, method)
	}
	only, lines := "", s.of[experiment]
	for i := range lines {
		m := &lines[i]
		if seed := m.Key("seed"); seed == "" || seed == only || m.Key("method") != method || !scale.has(*m) {
			continue
		} else if only != "" {
			return false
		} else {
			only = seed
		}
	}
	return only != ""
}

// has says whether a line is of the scale.
func (s Scale) has(m metrics.Measurement) bool {
	for name, want := range s.Keys {
		if m.Key(name) != want {
			return false
		}
	}
	return true
}

// Experiments lists the experiments that have a line, sorted.
func (s *Measurements) Experiments() []string { return sortedKeys(s.of) }

// trainings are the keys of lines of one training alone: its seed, or the fold of a cross-validation that it left out.
var trainings = []string{"seed", "fold"}

// spotOf is what lines of an experiment at the keys of a place share, whatever their name and training. It reorders the keys.
func spotOf(experiment string, at []metrics.Key) string {
	slices.SortFunc(at, func(a, b metrics.Key) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	b.WriteString(experiment)
	for _, k := range at {
		if k.Name != "line" && !slices.Contains(trainings, k.Name) {
			b.WriteString("\n" + k.Name + "=" + k.Value)
		}
	}
	return b.String()
}

// outer are the keys that say which experiment and scale a line belongs to.
var outer = []string{"experiment", "pool", "arena"}

// find returns the one line of an experiment and scale with exactly the given keys.
func (s *Measurements) find(experiment string, scale Scale, at Place) (metrics.Measurement, bool, error) {
	var found []metrics.Measurement
	for _, m := range s.at[spotOf(experiment, at.keys())] {
		if matches(m, scale, at) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return metrics.Measurement{}, false, nil
	case 1:
		return found[0], true, nil
	}
	return metrics.Measurement{}, false, fmt.Errorf("%s and %s are both %v of experiment %s on scale %s: the keys of the scale have to tell them apart",
		found[0].Label(), found[1].Label(), at, experiment, scale.ID)
}

// line is find where the line has to be there.
func (s *Measurements) line(experiment string, scale Scale, at Place) (metrics.Measurement, error) {
	m, ok, err := s.find(experiment, scale, at)
	if err == nil && !ok {
		err = errNotRun
	}
	return m, err
}

func matches(m metrics.Measurement, scale Scale, at Place) bool {
	if !scale.has(m) {
		return false
	}
	inner := 0
	if name, ok := at["line"]; ok {
		if m.Name != name {
			return false
		}
		inner++
	}
	for _, k := range m.Keys {
		if slices.Contains(outer, k.Name) {
			continue
		}
		if at[k.Name] != k.Value {
			return false
		}
		inner++
	}
	return inner == len(at)
}

// seeds returns the lines of single trainings at a place, by seed, or by partition and fold as 0.3.
func (s *Measurements) seeds(experiment string, scale Scale, at Place) map[string]metrics.Measurement {
	found := map[string]metrics.Measurement{}
	for _, m := range s.at[spotOf(experiment, at.keys())] {
		for _, key := range trainings {
			id := m.Key(key)
			if id == "" {
				continue
			}
			with := Place{key: id}
			maps.Copy(with, at)
			if matches(m, scale, with) {
				found[id] = m
			}
		}
	}
	return found
}
