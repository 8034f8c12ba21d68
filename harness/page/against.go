// A run beside another: how many of its numbers moved, and which.

package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Against is another run that experiments are held against.
type Against struct {
	Name string   // folder or file of its measurements, as it was given
	None []string // experiments that it has no measurements of
}

// mostMoved is how many numbers of one kind are listed.
const mostMoved = 50

// compared is an experiment held against another run of it.
type compared struct {
	Experiment, Title, Name, How        string
	All, Same, Within, Unjudged, Beyond int
	Kinds                               []movedKind // that have any
	Command                             string      // that lists every number
}

// movedKind are numbers that moved, those that moved most first.
type movedKind struct {
	Title string
	All   int
	Of    []moved // those listed
}

type moved struct {
	Row, Benchmark, Rest, Unit       string
	Before, After, Difference, Noise string
	Verdict                          string

	size float64
}

// compared holds an experiment against the run of a name; nil: the other run does not have it.
func (e *Experiment) compared(name string) *compared {
	r := e.Against
	if r == nil {
		return nil
	}
	labels := map[string]string{}
	for _, m := range e.Run.Spec.Experiment.Methods {
		labels[m.RowID()] = m.RowLabel()
	}
	out := &compared{Experiment: r.Experiment, Title: e.Run.Spec.Experiment.Title, Name: name, How: r.How(), All: len(r.Changes), Same: r.Same(), Command: e.Compare}
	for _, kind := range []struct {
		title string
		count *int
		of    []metrics.Change
	}{
		{"Moved by more than noise", &out.Beyond, r.Regressions()},
		{"Moved, and not judged", &out.Unjudged, r.Ungated()},
		{"Moved within noise", &out.Within, r.Noise()},
	} {
		*kind.count = len(kind.of)
		if len(kind.of) == 0 {
			continue
		}
		k := movedKind{Title: kind.title, All: len(kind.of)}
		for _, c := range kind.of {
			k.Of = append(k.Of, movedNumber(c, labels))
		}
		slices.SortStableFunc(k.Of, func(a, b moved) int { return cmp.Compare(b.size, a.size) })
		k.Of = k.Of[:min(len(k.Of), mostMoved)]
		out.Kinds = append(out.Kinds, k)
	}
	return out
}

// movedNumber is a number as the page lists it. How much it moved is told in bands of noise where there is one, and otherwise as a share
// of the larger of both.
func movedNumber(c metrics.Change, labels map[string]string) moved {
	row, rest := c.Place()
	m := moved{Row: cmp.Or(labels[row], row), Unit: c.Unit, Verdict: strings.TrimPrefix(c.Verdict(), "regression: ")}
	rest = slices.DeleteFunc(rest, func(k string) bool {
		value, is := strings.CutPrefix(k, "benchmark=")
		if is {
			m.Benchmark = value
		}
		return is
	})
	m.Rest = strings.Join(rest, " ")
	if !c.Lost {
		m.Before = fmt.Sprintf("%g", c.Reference)
	}
	if !c.Missing {
		m.After = fmt.Sprintf("%g", c.Ours)
	}
	by := math.Abs(c.Ours - c.Reference)
	switch band, known := c.Allowed(); {
	case c.Missing || c.Lost:
		m.size = math.Inf(1)
		return m
	case known && band > 0:
		m.Noise, m.size = fmt.Sprintf("%.4g", band), by/band
	case known: // it has to repeat itself
		m.Noise, m.size = "0", math.MaxFloat64
	default:
		m.size = by / max(math.Abs(c.Ours), math.Abs(c.Reference))
	}
	m.Difference = fmt.Sprintf("%+.4g", c.Ours-c.Reference)
	return m
}
