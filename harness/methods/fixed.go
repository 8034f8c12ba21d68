package methods

import (
	"context"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// fixed asks the same expert every time: an id of the pool, or "cheapest", "middle" or
// "strongest" by price.
type fixed struct {
	Expert string `yaml:"expert"`
}

func newFixed(s Setup) (routing.Method, error) {
	f := &fixed{}
	if err := spec.DecodeParams(s.Method, f); err != nil {
		return nil, err
	}
	if f.Expert == "" {
		return nil, fmt.Errorf("method fixed: expert is not set; give an expert's id, cheapest, middle or strongest")
	}
	return f, nil
}

func (f *fixed) Name() string { return "fixed" }

func (f *fixed) Fit(_ context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	n := len(train.Experts)
	switch f.Expert {
	case "cheapest":
		return always{0, n}, nil
	case "middle":
		return always{(n - 1) / 2, n}, nil
	case "strongest":
		return always{n - 1, n}, nil
	}
	m := slices.IndexFunc(train.Experts, func(e routing.Expert) bool { return e.ID == f.Expert })
	if m < 0 {
		var ids []string
		for _, e := range train.Experts {
			ids = append(ids, e.ID)
		}
		return nil, fmt.Errorf("method fixed: expert %q is not in the pool; known: %v, cheapest, middle, strongest", f.Expert, ids)
	}
	return always{m, n}, nil
}

// always routes every query to expert m of n.
type always struct{ m, n int }

func (a always) Route(_ context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return decide(queries, a.n, func(int, routing.Query) int { return a.m }), nil
}
