package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// A recording may ask one question twice: each of the two is paired with itself, whatever the order, and one too many with none.
func TestQuestionsAskedTwiceArePairedOnce(t *testing.T) {
	of := func(ids ...string) *book.Arena {
		a := &book.Arena{Name: "toy", Benchmarks: []book.Benchmark{{Name: "b", Runs: 1, Pass: float64(len(ids))}}}
		for i, id := range ids {
			a.Queries = append(a.Queries, routing.Query{Problem: routing.Problem{ID: id, Benchmark: "b", Text: "How much is 1+1?", Gold: []string{"2"}}})
			a.Question, a.Strata = append(a.Question, i), append(a.Strata, 0)
		}
		return a
	}
	p := pair(of("q1", "q2", "q3"), of("q2", "q1"))
	if d := cmp.Diff([][2]int{{0, 1}, {1, 0}}, p.questions); d != "" {
		t.Errorf("pairs (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Overlap{Arena: "toy", Common: 2, Ours: 1}, p.overlap); d != "" {
		t.Errorf("overlap (-want +got):\n%s", d)
	}
	if p := pair(of("q1", "q2"), of("r1", "r2")); p.overlap.Common != 2 || p.questions[0] == p.questions[1] || p.questions[0][1] == p.questions[1][1] {
		t.Errorf("pairs under other ids: %v", p.questions)
	}
}
