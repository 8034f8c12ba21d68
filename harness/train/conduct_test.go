package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// toyTraining is both stages on planted problems: with dropout, unequal weights and several steps.
type toyTraining struct {
	policy   policy.Policy
	examples []Example
	prompts  []Prompt
	sft      spec.SFT
	grpo     spec.GRPO
}

func newToyTraining(t *testing.T) *toyTraining {
	t.Helper()
	texts, expert := planted(50, seed.Derive("conduct"))
	y := &toyTraining{policy: newPolicy(t, texts),
		sft:  spec.SFT{Epochs: 2, Batch: 12, LR: 3e-3, WarmUp: .1, Dropout: .2},
		grpo: spec.GRPO{Estimator: Sampled, Steps: 6, Batch: 20, Group: 4, LR: 3e-3, ClipLow: .2, ClipHigh: .2, DualClip: 3, StdNorm: true, Epochs: 2}}
	rows, err := y.policy.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		q, r := make([]float64, 3), make([]float64, 3)
		q[expert[i]], r[expert[i]] = 1, 1
		id := texts[i] + string(rune('a'+i%26)) + string(rune('a'+i/26))
		y.examples = append(y.examples, Example{ID: id, Row: row, Prob: q, Weight: float64(1 + i%2)})
		y.prompts = append(y.prompts, Prompt{ID: id, Row: row, Reward: r})
	}
	return y
}

// run carries both stages out and returns the curve and the probabilities that come of them.
func (y *toyTraining) run(ctx context.Context, t *testing.T, c Conduct) (*Curve, [][]float64, error) {
	t.Helper()
	m := newModel(t, goBackend(t), y.policy)
	defer m.Close()
	curve, err := c.SFT(ctx, m, y.examples, y.sft, 1)
	if err != nil {
		return nil, nil, err
	}
	later, err := c.GRPO(ctx, m, y.prompts, y.grpo, 1)
	if err != nil {
		return nil, nil, err
	}
	curve.Append(later)
	var rows []policy.Row
	for _, x := range y.examples {
		rows = append(rows, x.Row)
	}
	probs, err := m.ProbsOf(context.Background(), rows)
	return curve, probs, err
}

// sameBits compares curves and probabilities to the last bit.
func sameBits(t *testing.T, a, b *Curve, p, q [][]float64) {
	t.Helper()
	if len(a.Points) != len(b.Points) {
		t.Fatalf("%d and %d points", len(a.Points), len(b.Points))
	}
	for i := range a.Points {
		x, y := a.Points[i], b.Points[i]
		if math.Float64bits(x.Loss) != math.Float64bits(y.Loss) || math.Float64bits(x.Entropy) != math.Float64bits(y.Entropy) || !slices.Equal(x.Share, y.Share) {
			t.Fatalf("point %d: %+v and %+v", i, x, y)
		}
	}
	for i := range p {
		if !slices.Equal(p[i], q[i]) {
			t.Fatalf("row %d: %v and %v", i, p[i], q[i])
		}
	}
}

func TestATrainingThatIsStoppedGoesOnToTheSameBits(t *testing.T) {
	y := newToyTraining(t)
	for _, micro := range []int{0, 5} {
		want, probs, err := y.run(t.Context(), t, Conduct{Micro: micro})
		if err != nil {
			t.Fatal(err)
		}
		for _, stop := range []struct {
			stage string
			step  int // steps taken when it is stopped
			again int // steps that are taken again where nothing was kept at the end
		}{{"sft", 1, 1}, {"sft", 3, 1}, {"sft", 4, 0}, {"sft", 10, 0}, {"grpo", 1, 1}, {"grpo", 5, 1}} {
			c := Conduct{Micro: micro, Dir: t.TempDir(), Every: 2}
			killed := t.TempDir() // what a process leaves that ends there without a word
			ctx, cancel := context.WithCancel(t.Context())
			c.Tell = func(p Progress) {
				if p.Stage == stop.stage && p.Step == stop.step {
					if err := os.CopyFS(killed, os.DirFS(c.Dir)); err != nil {
						t.Error(err)
					}
					cancel()
				}
			}
			if _, _, err := y.run(ctx, t, c); !errors.Is(err, context.Canceled) {
				t.Fatalf("stopped: %v", err)
			}
			for _, left := range []struct {
				dir   string
				again int
			}{{c.Dir, 0}, {killed, stop.again}} {
				c.Dir = left.dir
				var taken []int
				c.Tell = func(p Progress) {
					if p.Stage == stop.stage {
						taken = append(taken, p.Step)
					}
				}
				got, after, err := y.run(t.Context(), t, c)
				if err != nil {
					t.Fatal(err)
				}
				sameBits(t, want, got, probs, after)
				if first := stop.step + 1 - left.again; taken != nil && taken[0] != first {
					t.Errorf("stopped after step %d of %s, it went on with %d, want %d", stop.step, stop.stage, taken[0], first)
				}
			}
		}
	}
}

func TestABatchInPartsIsTheBatch(t *testing.T) {
	y := newToyTraining(t)
	y.sft.Dropout = 0 // is drawn for each part
	for _, estimator := range []string{Sampled, Exact} {
		y.grpo.Estimator = estimator
		whole, probs, err := y.run(t.Context(), t, Conduct{})
		if err != nil {
			t.Fatal(err)
		}
		for _, micro := range []int{1, 5, 7, 12} {
			parts, after, err := y.run(t.Context(), t, Conduct{Micro: micro})
			if err != nil {
				t.Fatal(err)
			}
			for i := range whole.Points {
				if x, z := whole.Points[i], parts.Points[i]; math.Abs(x.Loss-z.Loss) > 2e-5 || math.Abs(x.Entropy-z.Entropy) > 2e-5 {
					t.Errorf("%s, parts of %d, point %d: loss %v and %v, entropy %v and %v", estimator, micro, i, x.Loss, z.Loss, x.Entropy, z.Entropy)
				}
			}
			for i := range probs {
				for k := range probs[i] {
					if math.Abs(probs[i][k]-after[i][k]) > 2e-4 {
						t.Fatalf("%s, parts of %d, row %d: %v and %v", estimator, micro, i, probs[i], after[i])
					}
				}
			}
		}
	}
}

// sized is a policy that notes how many rows are computed with at once.
type sized struct {
	policy.Policy
	sizes map[int]bool
}

func (p sized) Inputs(rows []policy.Row, size int) ([]*tensors.Tensor, error) {
	p.sizes[size] = true
	return p.Policy.Inputs(rows, size)
}

func TestNoPassHasMoreRowsThanAPartMay(t *testing.T) {
	y := newToyTraining(t)
	const micro = 5 // the last of 50 examples in batches of 12 are two, which one part holds
	p := sized{y.policy, map[int]bool{}}
	m := newModel(t, goBackend(t), p)
	c := Conduct{Micro: micro}
	if _, err := c.SFT(t.Context(), m, y.examples, y.sft, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GRPO(t.Context(), m, y.prompts, y.grpo, 1); err != nil {
		t.Fatal(err)
	}
	for size := range p.sizes {
		if size > micro {
			t.Errorf("a pass of %d rows, where at most %d were asked for", size, micro)
		}
	}
}

// trained is a training that was carried out, and the file of the state that it left.
func trained(t *testing.T) (y *toyTraining, c Conduct, path string, data []byte) {
	t.Helper()
	y, c = newToyTraining(t), Conduct{Dir: t.TempDir()}
	if _, _, err := y.run(t.Context(), t, c); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(c.Dir, "sft.state")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return y, c, path, data
}

func TestADamagedStateIsNoBeginning(t *testing.T) {
	y, c, path, data := trained(t)
	for name, damaged := range map[string][]byte{"half of it": data[:len(data)/2], "a changed byte": append(slices.Clone(data[:len(data)-1]), data[len(data)-1]^1), "nothing": nil} {
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := y.run(t.Context(), t, c); err == nil || !strings.Contains(err.Error(), path+": its checksum is wrong; remove the file, and the training begins again") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// A whole file that this version did not write is refused with a sentence, and so is one that lacks a weight.
func TestAStateOfAnotherVersionIsNoBeginning(t *testing.T) {
	y, c, path, data := trained(t)
	body, ok := bytes.CutPrefix(data[:len(data)-sha256.Size], []byte(stateVersion))
	if !ok {
		t.Fatalf("the file begins with %q", data[:40])
	}
	another := `it was kept by another version of the program, this one reads "entrorouter training 1"`
	empty := new(bytes.Buffer)
	if err := (state{Done: 3}).write(empty, nil); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name, want string
		file       []byte
	}{
		{"without a version, as it was written before there was one", another, body},
		{"of the next version", another, append([]byte("entrorouter training 2\n"), body...)},
		{"of no weights", "/model/hidden.weight is not in it", empty.Bytes()[:empty.Len()-sha256.Size]},
	} {
		sum := sha256.Sum256(f.file)
		if err := os.WriteFile(path, append(slices.Clone(f.file), sum[:]...), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err := y.run(t.Context(), t, c)
		if err == nil || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), f.want) || !strings.HasSuffix(err.Error(), "; remove the file, and the training begins again") {
			t.Errorf("%s: error is %v", f.name, err)
		}
	}
}

// A kill while a state is written leaves a part of it, which may be large and which nobody reads.
func TestWhatAKillLeavesOfAStateGoesWithTheNextRun(t *testing.T) {
	y, c := newToyTraining(t), Conduct{Dir: t.TempDir()}
	for _, name := range []string{"sft.state.tmp123", "grpo.state.tmp45"} {
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte("half of a state"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := y.run(t.Context(), t, c); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(c.Dir, "*"))
	if want := []string{filepath.Join(c.Dir, "grpo.state"), filepath.Join(c.Dir, "sft.state")}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left %v, want %v (%v)", left, want, err)
	}
}

func TestProgressCountsTheTokensOfEveryPass(t *testing.T) {
	y := newToyTraining(t)
	y.grpo.Steps, y.grpo.Batch = 2, len(y.prompts)
	ids := 0
	for _, q := range y.prompts {
		ids += len(q.Row.IDs)
	}
	for estimator, passes := range map[string]int{Sampled: 3, Exact: 2} { // two epochs, before which samples are drawn
		y.grpo.Estimator = estimator
		m := newModel(t, goBackend(t), y.policy)
		defer m.Close()
		_, err := Conduct{Tell: func(p Progress) {
			// After the first step of two as much time is left as was spent.
			if got := p.Tokens * p.Left.Seconds(); p.Step == 1 && math.Abs(got-float64(passes*ids)) > .5 {
				t.Errorf("%s: %v tokens were read, want %d times %d", estimator, got, passes, ids)
			}
		}}.GRPO(t.Context(), m, y.prompts, y.grpo, 1)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestProgressIsToldOnOneLine(t *testing.T) {
	p := Progress{Stage: "grpo", Step: 3, Of: 40, Loss: -0.01234, Took: 1234567 * time.Microsecond, Tokens: 1234.5, Memory: 3 << 29, Left: 90 * time.Second}
	if got, want := p.String(), "grpo step 3 of 40, loss -0.0123, 1.235s, 1234 tokens/s, 1.5 GiB, 1m30s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
