// Which rows do not compete, and what rows assume.

package present

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// reference says which rows do not compete for the best: yardsticks, which the strongest expert of the pool is, and rows
// whose numbers follow from an assumption.
func (r *Run) reference(m spec.Method, pool spec.Pool) (bool, error) {
	if id, ok := r.asks(m, pool); methods.Hindsight(m.Name) || ok && id == r.strongest(pool) {
		return true, nil
	}
	if _, ok := r.simulatedRouter(m); ok {
		return true, nil
	}
	_, ok, err := methods.AssumptionsOf(m)
	return ok, err
}

// simulatedRouter returns the simulated language model behind a row of kind llmrouter.
func (r *Run) simulatedRouter(m spec.Method) (spec.SimRouter, bool) {
	model, ok := methods.SimulatedModel(m)
	if sim := r.Spec.Pools[0].Simulation; ok && sim != nil {
		router, ok := sim.Routers[model]
		return router, ok
	}
	return spec.SimRouter{}, false
}

// assumptionNotes say what rows follow from that nothing measured says.
func (r *Run) assumptionNotes() ([]string, error) {
	var skill, tau, assimilation, distraction, coldStart stated
	for _, m := range r.Spec.Experiment.Methods {
		if s, ok := r.simulatedRouter(m); ok {
			skill.add(s.Skill, m.RowLabel())
			tau.add(s.Tau, m.RowLabel())
		}
		a, ok, err := methods.AssumptionsOf(m)
		if err != nil {
			return nil, err
		}
		if ok {
			assimilation.add(a.Assimilation, m.RowLabel())
			distraction.add(a.Distraction, m.RowLabel())
			coldStart.add(a.ColdStart, m.RowLabel())
		}
	}
	var notes []string
	if skill.values != nil {
		notes = append(notes, fmt.Sprintf("Simulated LLM routers know the true success probability of every problem: with the chance skill they name the cheapest expert whose probability reaches tau = %s, else another one. The skill is assumed: %s.", tau, skill))
	}
	if assimilation.values != nil {
		notes = append(notes, fmt.Sprintf("Assumed of the multi-round routers that are trained here: how often the router uses an expert's answer, a = %s; distraction, the share of its own rate that a call takes whose answer it does not use, %s; the cold start, its probability of asking before the reinforcement learning, %s.", assimilation, distraction, coldStart))
	}
	return notes, nil
}

// stated are the values of a parameter, each with the rows that have it.
type stated struct {
	values []float64
	rows   [][]string
}

func (s *stated) add(value float64, row string) {
	k := slices.Index(s.values, value)
	if k < 0 {
		k = len(s.values)
		s.values, s.rows = append(s.values, value), append(s.rows, nil)
	}
	s.rows[k] = append(s.rows[k], row)
}

// String names rows only where they differ.
func (s stated) String() string {
	var parts []string
	for k, v := range s.values {
		part := strconv.FormatFloat(v, 'g', -1, 64)
		if len(s.values) > 1 {
			part += " (" + strings.Join(s.rows[k], "; ") + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// ownHullNote says that hull gains of rows that may answer themselves and of the others are not alike, where there are any,
// and what follows from it for the table.
func (r *Run) ownHullNote(so string) []string {
	if !slices.ContainsFunc(r.Spec.Experiment.Methods, func(m spec.Method) bool { return methods.AnswersItself(m.Name) }) {
		return nil
	}
	return []string{"Hull gains of rows that may answer themselves, the router alone and multi-round routers, are above a hull that includes the router alone at no cost, so gains of the two kinds of rows are not against the same hull." + so}
}
