package compare

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
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

// Differences of 4 and 8 over two partitions into five folds have the variance 8 times 1/2 + 1/4, of independent trainings 8 times 1/2;
// as two samples they have (32+8)/2 times
// 1/2 + 1/2 + 2/4, and times 1/2 + 1/2.
func TestPartitionsOfTwoRunsAreNoIndependentTrainings(t *testing.T) {
	ours, theirs := []float64{14, 22}, []float64{10, 14}
	for _, c := range []struct {
		name      string
		sameSeeds bool
		folds     int
		want      metrics.Mean
	}{
		{"the same partitions", true, 5, metrics.Mean{Value: 6, Variance: 6, DF: 1}},
		{"the same seeds", true, 0, metrics.Mean{Value: 6, Variance: 4, DF: 1}},
		{"other partitions", false, 5, metrics.Mean{Value: 6, Variance: 30, DF: 2}},
		{"other seeds", false, 0, metrics.Mean{Value: 6, Variance: 20, DF: 2}},
	} {
		if got := spreadOf(ours, theirs, c.sameSeeds, c.folds); math.Abs(got.Value-c.want.Value) > 1e-9 || math.Abs(got.Variance-c.want.Variance) > 1e-9 || got.DF != c.want.DF {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if one := spreadOf([]float64{1}, []float64{2}, true, 5); one.DF != 0 {
		t.Errorf("one partition: %+v", one)
	}
	fold := func(folds ...int) book.Row { return book.Row{Trainings: []book.Training{{Fold: folds}}} }
	if got := foldsOf(fold(0, 2, 1, 2)); got != 3 {
		t.Errorf("%d folds, want 3", got)
	}
}
