// Rows of an arena and their trainings, and the names by which a run is opened.

package book

import (
	"fmt"
	"path"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// Decisions reads what a training decided, one a query in their order, answers graded.
func (a *Arena) Decisions(t Training) ([]routing.Decision, error) {
	all, err := ReadDecisions(t.Entry, a.Name, a.decided(), len(a.Experts))
	if err != nil {
		return nil, err
	}
	return answered(a, all), nil
}

// Sweep reads what a training would decide at every setting of its knob; nil if it has none.
func (a *Arena) Sweep(t Training) (*Sweep, error) {
	fit, err := ReadFit(t.Sweeper)
	if err != nil || fit.Knobs == nil {
		return nil, err
	}
	s, err := ReadSweep(t.Sweeper, a.Name, a.decided(), len(fit.Knobs), len(a.Experts))
	if err != nil {
		return nil, err
	}
	s.Queries = answered(a, s.Queries)
	return s, nil
}

// Title names an arena among those of a run: a recording is named after its pool.
func (a *Arena) Title() string {
	if a.Name == Recorded {
		return a.Pool
	}
	return a.Name
}

// Row returns the row of an id; ok is false if it decides nothing here.
func (a *Arena) Row(id string) (r Row, ok bool) {
	for _, r := range a.Rows {
		if r.ID == id {
			return r, true
		}
	}
	return Row{}, false
}

// Total is the number of questions of one pass over all benchmarks.
func (a *Arena) Total() float64 {
	sum := 0.0
	for _, b := range a.Benchmarks {
		sum += b.Pass
	}
	return sum
}

// The names of what a measuring step reads. A run is opened by them.

// OfArena names an input that is there for every benchmark of an arena: what is "problems", "profile", "outcomes" or, of
// the model that plays the router, "self".
func OfArena(what, arena, benchmark string) string { return path.Join(what, arena, benchmark) }

// OfRow names an input that is there for every training of a row: what is "fit" or "crossfit", or "sweep" for the fit behind a match.
func OfRow(what, row string, seed uint64) string { return fmt.Sprintf("%s/%s/%d", what, row, seed) }
