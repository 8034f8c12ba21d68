package methods

import (
	"context"
	"fmt"
	"strings"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// fixed asks the same expert every time: an id of the pool, or "cheapest", "middle" (the cheaper of the two in an
// even pool) or "strongest" by price.
type fixed struct {
	Expert string `yaml:"expert,omitempty"`
}

func newFixed(s Setup) (routing.Method, error) {
	f := &fixed{}
	if err := spec.DecodeParams(s.Method, f); err != nil {
		return nil, err
	}
	if f.Expert == "" {
		return nil, paramFault(s.Method, "expert", "not set; give an expert's id, cheapest, middle or strongest")
	}
	return f, nil
}

func (f *fixed) Name() string { return "fixed" }

func (f *fixed) Fit(_ context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	n := len(train.Experts)
	var ids []string
	for m, e := range train.Experts {
		if e.ID == f.Expert {
			return always{m, n}, nil
		}
		ids = append(ids, e.ID)
	}
	switch f.Expert {
	case "cheapest":
		return always{0, n}, nil
	case "middle":
		return always{(n - 1) / 2, n}, nil
	case "strongest":
		return always{n - 1, n}, nil
	}
	return nil, fmt.Errorf("method fixed: expert %q is not in the pool; known: %s, cheapest, middle, strongest", f.Expert, strings.Join(ids, ", "))
}

// always routes every query to expert m of n.
type always struct{ m, n int }

func (a always) Route(_ context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return decide(queries, a.n, func(int, routing.Query) int { return a.m }), nil
}
