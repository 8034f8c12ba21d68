package trail

// Numbers of the trail against those of tables, on an arena made here.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/units"
)

// made is an arena of three experts and questions of two benchmarks, half in each.
func made(name string, draw *rand.Rand, questions int) *book.Arena {
	a := &book.Arena{Pool: "own", Name: name, Experts: []routing.Expert{{ID: "small"}, {ID: "medium"}, {ID: "large"}}}
	for _, name := range []string{"sums", "words"} {
		problems := make([]routing.Problem, questions/2)
		for i := range problems {
			problems[i].ID = fmt.Sprint(name, i)
		}
		a.Add(book.Benchmark{Name: name, Runs: 1, Pass: float64(questions / 2)}, problems)
	}
	for range a.Queries {
		of := make([]routing.Outcome, len(a.Experts))
		for m := range of {
			of[m] = routing.Outcome{Bucket: routing.Wrong, USD: float64(1+3*m) * (1 + draw.Float64())}
			if draw.Float64() < 0.4+0.2*float64(m) {
				of[m].Bucket, of[m].Correct = routing.Correct, 1
			}
		}
		a.Outcomes = append(a.Outcomes, of)
	}
	return a
}

// Trainings of a row that spend differently have the gain of tables, which is the mean of theirs.
func TestTheGainOfARowIsThatOfTheTables(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	const questions = 60
	a := made(metrics.PaperArena, draw, questions)
	for i := range a.Outcomes {
		a.Outcomes[i][1].Correct = 1 // the middle one bends the hull
	}
	measured := &score.Sample{Arena: a}
	decided := map[string][]routing.Decision{}
	r := book.Row{ID: "luck"}
	var trainings [][]routing.Decision
	for seed, dear := range []float64{0, 0.2, 0.9} {
		decisions := make([]routing.Decision, questions)
		for q := range decisions {
			if decisions[q].Prob = []float64{1, 0, 0}; draw.Float64() < dear {
				decisions[q].Expert, decisions[q].Prob = 2, []float64{0, 0, 1}
			}
		}
		at := book.Training{Seed: uint64(seed), Entry: store.Entry{Dir: fmt.Sprint(seed)}}
		r.Trainings, trainings, decided[at.Entry.Dir] = append(r.Trainings, at), append(trainings, decisions), decisions
	}
	measured.Add(score.Row{ID: r.ID, Seeds: []uint64{0, 1, 2}}, trainings, nil)
	a.Rows = []book.Row{r}
	tr := New("own", "own.yaml", []string{r.ID}, []*book.Arena{a}, false, nil)
	tr.sets[0].read = decided
	cells, err := tr.Cells("", r.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range measured.Route() {
		if line.Key("seed") != "" || line.Key("benchmark") != metrics.Average {
			continue
		}
		want, _ := line.Value(units.HullGain)
		i := slices.IndexFunc(cells, func(c Cell) bool { return c.Gain != nil })
		if i < 0 {
			t.Fatal("no cell has a gain")
		}
		c := cells[i]
		if math.Abs(c.Gain.Points-want.Number) > 5.001e-4 || math.Abs(c.Accuracy-c.Gain.Accuracy-c.Gain.Points) > 1e-9 {
			t.Errorf("%+v of %v%%, the table has %v", c.Gain, c.Accuracy, want.Number)
		}
		return
	}
	t.Error("nothing was measured")
}

// The gain of every cell of a recording, over all questions and on one benchmark, is the one that tables have.
func TestGainsOfARecordingAreThoseOfItsTables(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	const questions = 60
	a := made(book.Recorded, draw, questions)
	var partitions [2][]int
	for i := range partitions {
		for range questions {
			partitions[i] = append(partitions[i], draw.IntN(5))
		}
	}
	measured := &score.Folds{Arena: a}
	decided := map[string][]routing.Decision{}
	var ids []string
	for _, id := range []string{"one", "other"} {
		r := book.Row{ID: id}
		for i, fold := range partitions {
			at := book.Training{Seed: uint64(i), Fold: fold, Entry: store.Entry{Dir: fmt.Sprint(id, i)}}
			decisions := make([]routing.Decision, questions)
			for q := range decisions {
				decisions[q].Expert = draw.IntN(len(a.Experts))
			}
			decided[at.Entry.Dir] = decisions
			r.Trainings = append(r.Trainings, at)
			measured.Add(id, at, decisions, nil)
		}
		a.Rows, ids = append(a.Rows, r), append(ids, id)
	}
	tr := New("own", "own.yaml", ids, []*book.Arena{a}, false, nil)
	tr.sets[0].read = decided
	cells, err := tr.Cells("", "")
	if err != nil || len(cells) != 6 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	seen := 0
	for _, c := range cells {
		for _, line := range measured.Measure(c.Benchmark) {
			if line.Key("method") != c.Row || line.Key("seed") != "" {
				continue
			}
			seen++
			want, _ := line.Value(units.HullGain)
			if c.Gain != nil || c.FoldGain == nil || math.Abs(c.FoldGain.Points-want.Number) > 5.001e-4 || math.Abs(c.Accuracy-c.FoldGain.Accuracy-c.FoldGain.Points) > 1e-9 { // the table rounds
				t.Errorf("row %s on %s: %+v of %v%%, the table has %v", c.Row, c.Benchmark, c.FoldGain, c.Accuracy, want.Number)
			}
		}
	}
	if seen != len(cells) {
		t.Errorf("%d of %d cells were compared", seen, len(cells))
	}
}
