// What a plan prints: a line a step.

package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/store"
)

// StepStatus is one line of a plan.
type StepStatus struct {
	Name   string `json:"name"`
	Key    string `json:"key"`
	Stored bool   `json:"stored"`
	State  string `json:"state"`           // StateStored, StateToDo or StateNotNeeded
	Why    string `json:"why,omitempty"`   // it is to do: what changed, or which step that is to do it reads; also what is damaged and not needed
	Asked  *Asked `json:"asked,omitempty"` // it is to do: the answers that it needs and no step before it asks for; nil: none

	Seconds float64 `json:"seconds,omitempty"` // it is to do: about how long it takes, without answers of servers
	Untimed bool    `json:"untimed,omitempty"` // it is to do, and nobody knows how long it takes
	Bytes   float64 `json:"-"`                 // about what it stores
}

// Status says what a run would do, step by step.
func (p *Plan) Status(ctx context.Context) ([]StepStatus, error) {
	x, err := newExplainer(p)
	if err != nil {
		return nil, err
	}
	var out []StepStatus
	var counted []*Step
	for _, s := range p.Steps {
		st := x.status(s)
		st.Bytes = x.estimate(s).Bytes
		if st.State == StateToDo {
			var cost Work
			if err := x.work(ctx, &cost, s, counted); err != nil {
				return nil, err
			}
			counted = append(counted, s)
			st.Seconds, st.Untimed = cost.Seconds, cost.Untimed > 0
			if cost.Rollouts > 0 {
				st.Asked = &cost.Asked
			}
		}
		out = append(out, st)
	}
	return out, x.err
}

// status is the line of a step.
func (x *explainer) status(s *Step) StepStatus {
	st := StepStatus{Name: s.Name, Key: s.Recipe.Key().String(), Stored: x.missing[s] == nil, State: x.state(s)}
	if st.State != StateToDo && !errors.Is(x.missing[s], store.ErrCorrupt) {
		return st
	}
	r := x.reason(s)
	switch {
	case x.err != nil: // there is no plan to print
	case r.own != nil:
		st.Why = r.own[0].String()
		if more := len(r.own) - 1; more > 0 {
			st.Why += fmt.Sprintf(", and %d more", more)
		}
	case len(r.from) == 1:
		st.Why = "follows " + r.from[0].Name
	default:
		st.Why = fmt.Sprintf("follows %s and %d more", r.from[0].Name, len(r.from)-1)
	}
	return st
}
