// Row kind second: always the second cheapest expert.

package methods

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// second asks the second cheapest expert every time.
type second struct{}

func newSecond(s Setup) (routing.Method, error) {
	m := &second{}
	return m, spec.DecodeParams(s.Method, m)
}

func (*second) Name() string { return "second" }

func (*second) Fit(_ context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	return always{min(1, len(train.Experts)-1), len(train.Experts)}, nil
}
