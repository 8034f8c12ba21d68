package methods

import (
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

func TestDifficultyOfOneProblem(t *testing.T) {
	set := routingtest.Planted(1)
	valid(t, routingtest.Route(t, fit(t, build(t, "difficulty", ""), set, 1), routingtest.Fresh(1))[0], routingtest.Fresh(1)[0], 3, false)
}
