// Row kind fixed: always the same expert.

package methods

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// fixed asks the same expert every time: an id of the pool, or "cheapest", "middle" (the cheaper of the two in an
// even pool) or "strongest" by price, or "best", the one that is most accurate on the training problems.
type fixed struct {
	Expert string `yaml:"expert,omitempty"`
}

func newFixed(s Setup) (routing.Method, error) {
	f := &fixed{}
	if err := spec.DecodeParams(s.Method, f); err != nil {
		return nil, err
	}
	if f.Expert == "" {
		return nil, paramFault(s.Method, "expert", "not set; give an expert's id, cheapest, middle, strongest or best")
	}
	if s.Pool != nil && f.Expert != mostAccurate {
		if _, err := expertIndex(f.Expert, routing.IDs(s.Pool)); err != nil {
			return nil, paramFault(s.Method, "expert", "%v", err)
		}
	}
	return f, nil
}

// FixedExpert returns the expert that a row always asks, out of a pool's ids, cheapest first; ok is false for rows of other
// kinds.
func FixedExpert(row spec.Method, ids []string) (id string, ok bool) {
	f := &fixed{}
	if row.Name != "fixed" || spec.DecodeParams(row, f) != nil {
		return "", false
	}
	m, err := expertIndex(f.Expert, ids)
	if err != nil {
		return "", false
	}
	return ids[m], true
}

func (f *fixed) Name() string { return "fixed" }

func (f *fixed) traits() Traits { return Traits{Yardstick: f.Expert == mostAccurate} }

func (f *fixed) Fit(_ context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	ids := routing.IDs(train.Experts)
	if f.Expert == mostAccurate && !slices.Contains(ids, mostAccurate) {
		examples, err := profiled(f, train)
		if err != nil {
			return nil, err
		}
		return always{routing.Strongest(examples, len(ids), "accuracy"), len(ids)}, nil
	}
	m, err := expertIndex(f.Expert, ids)
	if err != nil {
		return nil, fmt.Errorf("method fixed: %w", err)
	}
	return always{m, len(ids)}, nil
}

// mostAccurate names the expert that is most accurate on the training problems, which no list of experts says.
const mostAccurate = "best"

// expertIndex finds an expert by id, or by price as cheapest, middle or strongest, in a pool, cheapest first.
func expertIndex(name string, ids []string) (int, error) {
	if m := slices.Index(ids, name); m >= 0 {
		return m, nil
	}
	switch name {
	case "cheapest":
		return 0, nil
	case "middle":
		return (len(ids) - 1) / 2, nil
	case "strongest":
		return len(ids) - 1, nil
	}
	return 0, fmt.Errorf("expert %q is not in the pool; known: %s, cheapest, middle, strongest, best", name, strings.Join(ids, ", "))
}

// always routes every query to expert m of n.
type always struct{ m, n int }

func (a always) Route(_ context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return routing.Choices(queries, a.n, func(int, routing.Query) int { return a.m }), nil
}
