package methods

import "testing"

func TestDifficultyOfOneProblem(t *testing.T) {
	set := planted(1)
	valid(t, route(t, fit(t, build(t, "difficulty", ""), set, 1), fresh(1))[0], fresh(1)[0], 3, false)
}
