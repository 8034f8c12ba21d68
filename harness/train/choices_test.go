package train

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// step is a move of an episode: a row, what was chosen of it and the episode's advantage.
type step struct {
	row, action int
	advantage   float64
}

// objective is the mean over the steps of episodes of advantage times log-probability, and its derivatives by the scores.
func objective(scores [][]float64, steps []step) (value float64, slopes [][]float64) {
	slopes = make([][]float64, len(scores))
	for i := range slopes {
		slopes[i] = make([]float64, len(scores[i]))
	}
	for _, s := range steps {
		var z float64
		for _, v := range scores[s.row] {
			z += math.Exp(v)
		}
		n := float64(len(steps))
		value += s.advantage * (scores[s.row][s.action] - math.Log(z)) / n
		slopes[s.row][s.action] += s.advantage / n
		for a, v := range scores[s.row] {
			slopes[s.row][a] -= s.advantage * math.Exp(v) / z / n
		}
	}
	return value, slopes
}

func beginChoices(t *testing.T, c Conduct, m *policy.Model) *Choices {
	t.Helper()
	x, err := c.Choices(m, "rounds", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func scoresOf(t *testing.T, x *Choices, rows []policy.Row) (all [][]float64) {
	t.Helper()
	for _, r := range rows {
		s, err := x.Scores(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// The gradient that climb takes is that of the objective of two episodes of two steps each, by finite differences of the weights.
func TestTheGradientOfEpisodesIsThatOfFiniteDifferences(t *testing.T) {
	texts, _ := planted(6, seed.Derive("choices"))
	p := newPolicy(t, texts)
	rows, err := p.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t, goBackend(t), p)
	t.Cleanup(m.Close)
	x := beginChoices(t, Conduct{}, m)
	steps := []step{{0, 1, 1.5}, {2, 0, 1.5}, {0, 2, -0.8}, {4, 2, -0.8}}
	_, slopes := objective(scoresOf(t, x, rows), steps)

	flat := make([]float32, 0, 3*len(rows))
	for _, s := range slopes {
		for _, v := range s {
			flat = append(flat, float32(v))
		}
	}
	inputs, err := p.Inputs(rows, len(rows))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	exec, err := model.NewExec(m.Backend(), m.Store(), func(scope *model.Scope, in []*graph.Node) []*graph.Node {
		last := len(in) - 1
		loss := climb(p.Forward(m.Scope(), in[:last], 0), in[last:])[0]
		names = nil
		for v := range scope.IterVariables() {
			if v.Trainable && v.InUseByGraph(loss.Graph()) {
				names = append(names, v.Path())
			}
		}
		return scope.BuildTrainableVariablesGradientsGraph(loss)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	grads, err := policy.Call(exec, append(inputs, tensors.FromFlatDataAndDimensions(flat, len(rows), 3)))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for k, name := range names {
		v := m.Store().GetVariable(name)
		dims := v.Shape().Dimensions
		old, err := v.Value()
		if err != nil {
			t.Fatal(err)
		}
		values, err := tensors.CopyFlatData[float32](old)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(values); i += 1 + len(values)/7 {
			const h = 1e-2
			at := func(d float32) float64 {
				moved := slices.Clone(values)
				moved[i] += d
				if err := v.SetValue(tensors.FromFlatDataAndDimensions(moved, dims...)); err != nil {
					t.Fatal(err)
				}
				value, _ := objective(scoresOf(t, x, rows), steps)
				return value
			}
			want := (at(h) - at(-h)) / (2 * h)
			if got := -float64(grads[k][i]); math.Abs(got-want) > 2e-4 {
				t.Errorf("%s[%d]: %v, by finite differences %v", name, i, got, want)
			} else if math.Abs(want) > 1e-3 {
				checked++
			}
		}
		at := tensors.FromFlatDataAndDimensions(values, dims...)
		if err := v.SetValue(at); err != nil {
			t.Fatal(err)
		}
	}
	if checked < 10 {
		t.Errorf("%d derivatives that are not nearly 0 were compared", checked)
	}
}

// Steps raise the objective, in parts or at once the same to rounding, and a stage that is stopped goes on to the same bits.
func TestStepsOfChoicesGoOnToTheSameBits(t *testing.T) {
	within(t, time.Minute, func() {
		texts, expert := planted(20, seed.Derive("choices"))
		p := newPolicy(t, texts)
		rows, err := p.Encode(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		var steps []step
		for i := range rows {
			steps = append(steps, step{i, expert[i], 1}, step{i, (expert[i] + 1) % 3, -1})
		}
		run := func(c Conduct, until int) (scores [][]float64, value float64) {
			m := newModel(t, goBackend(t), p)
			defer m.Close()
			x := beginChoices(t, c, m)
			done, beside, err := x.Resume()
			if err != nil {
				t.Fatal(err)
			}
			if done > 0 && (done != 4 || string(beside) != "step 4") {
				t.Fatalf("goes on behind step %d with %q", done, beside)
			}
			for ; done < until; done++ {
				_, slopes := objective(scoresOf(t, x, rows), steps)
				if err := x.Step(0.01, rows, slopes); err != nil {
					t.Fatal(err)
				}
				if err := x.Keep(done+1, 9, false, []byte{'s', 't', 'e', 'p', ' ', byte('1' + done)}); err != nil {
					t.Fatal(err)
				}
			}
			scores = scoresOf(t, x, rows)
			value, _ = objective(scores, steps)
			return scores, value
		}
		want, end := run(Conduct{Micro: 6}, 9)
		if _, begin := run(Conduct{Micro: 6}, 0); end <= begin {
			t.Errorf("the objective went from %v to %v", begin, end)
		}
		if _, whole := run(Conduct{Micro: 64}, 9); math.Abs(whole-end) > 1e-3 {
			t.Errorf("in parts %v, at once %v", end, whole)
		}
		c := Conduct{Micro: 6, Dir: t.TempDir(), Every: 2}
		run(c, 5) // kept after 4
		got, _ := run(c, 9)
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Fatalf("row %d: %v, without a stop %v", i, got[i], want[i])
			}
		}
		if err := os.WriteFile(c.file("rounds"), []byte("torn"), 0o666); err != nil {
			t.Fatal(err)
		}
		m := newModel(t, goBackend(t), p)
		defer m.Close()
		if _, _, err := beginChoices(t, c, m).Resume(); err == nil || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("a damaged state: %v", err)
		}
	})
}
