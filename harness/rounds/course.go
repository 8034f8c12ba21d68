// What a policy did in every step of its training, as a file.

package rounds

import (
	"io"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/table"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// writeCourse writes what a policy did in every step of its training, on the episodes that it learned from. Costs are
// dollars an episode. What is not defined, as an accuracy given calls where there is none, is left empty.
func writeCourse(path string, experts []routing.Expert, curve []theory.Snapshot, unit float64) error {
	return policy.WriteFile(path, func(w io.Writer) error {
		out := table.NewWriter(w, course(routing.IDs(experts)))
		for _, s := range curve {
			s.Cost /= unit
			out.Write(s)
		}
		return out.Flush()
	})
}

// ReadCourse reads the curve that a multi-round row left behind that was trained here on a pool of these experts, costs in dollars.
func ReadCourse(file string, r io.Reader, experts []string) (curve []theory.Snapshot, err error) {
	return curve, table.Read(file, r, course(experts), func(s theory.Snapshot) error {
		curve = append(curve, s)
		return nil
	})
}

// course are the columns of a step.
func course(experts []string) []table.Column[theory.Snapshot] {
	columns := []table.Column[theory.Snapshot]{
		table.Int("step", func(s *theory.Snapshot) *int { return &s.Step }),
		table.Measured("reward", 6, func(s *theory.Snapshot) *float64 { return &s.Reward }),
		table.Measured("call_rate", 6, func(s *theory.Snapshot) *float64 { return &s.CallRate }),
		table.Measured("calls", 6, func(s *theory.Snapshot) *float64 { return &s.Calls }),
		table.Measured("format_rate", 6, func(s *theory.Snapshot) *float64 { return &s.Format }),
		table.Measured("entropy", 6, func(s *theory.Snapshot) *float64 { return &s.Entropy }),
		table.Measured("accuracy", 6, func(s *theory.Snapshot) *float64 { return &s.Accuracy }),
		table.Measured("accuracy_given_call", 6, func(s *theory.Snapshot) *float64 { return &s.AccuracyCall }),
		table.Measured("accuracy_given_none", 6, func(s *theory.Snapshot) *float64 { return &s.AccuracyNone }),
		table.Measured("usd", 9, func(s *theory.Snapshot) *float64 { return &s.Cost }),
	}
	for m, id := range experts {
		columns = append(columns, table.Measured("call_rate:"+id, 6, func(s *theory.Snapshot) *float64 {
			if s.Expert == nil {
				s.Expert = make([]float64, len(experts))
			}
			return &s.Expert[m]
		}))
	}
	return columns
}
