package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomlx/compute"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// goBackend opens a backend for one test.
func goBackend(t testing.TB) compute.Backend {
	t.Helper()
	b, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b
}

var testExperts = []string{"small", "middle", "large"}

// planted makes n texts of which each names one of three topics among noise words; expert[i] is the topic's.
func planted(n int, s seed.Seed) (texts []string, expert []int) {
	topics := []string{"triangle", "integral", "matrix"}
	r := s.Rand()
	for range n {
		k := r.IntN(len(topics))
		words := []string{topics[k]}
		for range 3 + r.IntN(8) {
			words = append(words, "w"+string(rune('a'+r.IntN(26))))
		}
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		texts = append(texts, fmt.Sprintf("Find $%d$: %s.", r.IntN(1000), strings.Join(words, " ")))
		expert = append(expert, k)
	}
	return texts, expert
}

func newPolicy(t testing.TB, texts []string) *compact.Policy {
	t.Helper()
	p, err := compact.New(t.Context(), spec.Policy{Kind: "compact", Buckets: 256, NGrams: 2, Hidden: 32}, testExperts, texts, features.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newModel(t testing.TB, b compute.Backend, p policy.Policy) *policy.Model {
	t.Helper()
	m, err := policy.New(b, p, seed.Derive("test"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var (
	sftConfig  = spec.SFT{Epochs: 5, Batch: 256, LR: 3e-3, WarmUp: .1}
	grpoConfig = spec.GRPO{Estimator: Sampled, Steps: 40, Batch: 128, Group: 16, LR: 3e-3, ClipLow: .2, ClipHigh: .2,
		DualClip: 3, StdNorm: true, Epochs: 1}
)

// task is a small planted problem: the expert of a text's topic is right, the others are wrong.
func task(t testing.TB, n int) (p *compact.Policy, examples []Example, prompts []Prompt, test []policy.Row, expert []int) {
	t.Helper()
	texts, expert := planted(2*n, seed.Derive("task"))
	p = newPolicy(t, texts)
	rows, err := p.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		q, reward := []float64{.05, .05, .05}, []float64{-3, -3, -3}
		q[expert[i]], reward[expert[i]] = .9, 1
		id := fmt.Sprintf("p%04d", i)
		examples = append(examples, Example{ID: id, Row: rows[i], Prob: q, Weight: float64(1 + i%2)})
		prompts = append(prompts, Prompt{ID: id, Row: rows[i], Reward: reward, Anchor: []float64{math.Log(.2), math.Log(.3), math.Log(.5)}})
	}
	return p, examples, prompts, rows[n:], expert[n:]
}

// accuracy is the share of rows whose likeliest expert is the planted one.
func accuracy(t *testing.T, m *policy.Model, rows []policy.Row, expert []int) float64 {
	t.Helper()
	probs, err := m.ProbsOf(context.Background(), rows)
	if err != nil {
		t.Fatal(err)
	}
	var right float64
	for i, p := range probs {
		if p[expert[i]] > max(p[(expert[i]+1)%3], p[(expert[i]+2)%3]) {
			right++
		}
	}
	return right / float64(len(rows))
}

// bytesOf is everything a training leaves: the curve and the checkpoint.
func bytesOf(t *testing.T, m *policy.Model, curve *Curve) string {
	t.Helper()
	var out bytes.Buffer
	if err := curve.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := m.Save(dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"config.json", "weights.safetensors"} {
		raw, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		out.Write(raw)
	}
	return out.String()
}

// within fails the test if f takes longer than any machine needs: a hang of the backend, not a slow run.
func within(t *testing.T, d time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("not done after %v", d)
	}
}

func TestSFTLearnsAPlantedRule(t *testing.T) {
	p, examples, _, test, expert := task(t, 600)
	m := newModel(t, goBackend(t), p)
	before := accuracy(t, m, test, expert)
	cfg := sftConfig
	cfg.Batch, cfg.Epochs, cfg.LR, cfg.Dropout = 64, 12, 1e-2, .1
	curve, err := (Conduct{}).SFT(context.Background(), m, examples, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	after := accuracy(t, m, test, expert)
	if before > .7 || after < .95 {
		t.Errorf("accuracy on unseen texts went from %v to %v", before, after)
	}
	first, last := curve.Points[0], curve.Points[len(curve.Points)-1]
	if len(curve.Points) != 12*10 || last.Loss > first.Loss/2 || last.Epoch != 11 || last.Rate >= 1e-4 {
		t.Errorf("%d points, from %+v to %+v", len(curve.Points), first, last)
	}
}

func TestGRPOMovesMassToTheBestExpert(t *testing.T) {
	p, _, prompts, test, expert := task(t, 600)
	for _, c := range []struct {
		estimator string
		std       bool
		epochs    int
	}{{Sampled, true, 1}, {Sampled, false, 1}, {Sampled, true, 2}, {Exact, false, 1}} {
		t.Run(fmt.Sprintf("%s std %v epochs %d", c.estimator, c.std, c.epochs), func(t *testing.T) {
			m := newModel(t, goBackend(t), p)
			cfg := grpoConfig
			cfg.Estimator, cfg.StdNorm, cfg.Epochs, cfg.LR = c.estimator, c.std, c.epochs, 1e-2
			curve, err := (Conduct{}).GRPO(context.Background(), m, prompts, cfg, 1)
			if err != nil {
				t.Fatal(err)
			}
			first, last := curve.Points[0], curve.Points[len(curve.Points)-1]
			if got := accuracy(t, m, test, expert); got < .9 || first.Reward > -1 || last.Reward < 0 || last.Entropy > first.Entropy {
				t.Errorf("accuracy %v; from %+v to %+v", got, first, last)
			}
			for _, q := range curve.Points {
				if c.estimator == Sampled && c.epochs == 1 && math.Abs(q.Loss) > 1e-6 {
					t.Fatalf("on-policy, the ratios are 1 and advantages have mean 0, but the loss is %v at step %d", q.Loss, q.Step)
				}
			}
			if zero := last.ZeroGroups; c.estimator == Sampled && !(zero > first.ZeroGroups && zero <= 1) || c.estimator == Exact && zero == zero {
				t.Errorf("share of groups without variance: %v, then %v", first.ZeroGroups, zero)
			}
		})
	}
}

func TestPromptsWithoutVarianceChangeNothing(t *testing.T) {
	p, _, prompts, _, _ := task(t, 50)
	for i := range prompts {
		prompts[i].Reward = []float64{.1, .1, .1}
	}
	m := newModel(t, goBackend(t), p)
	before := bytesOf(t, m, &Curve{})
	curve, err := (Conduct{}).GRPO(context.Background(), m, prompts, grpoConfig, 1)
	if err != nil {
		t.Fatal(err)
	}
	if bytesOf(t, m, &Curve{}) != before {
		t.Error("the weights moved")
	}
	for _, q := range curve.Points {
		if q.ZeroGroups < 1-1e-9 || q.Loss != 0 {
			t.Fatalf("point %+v", q)
		}
	}
}

func TestCurveNumbersAreThoseOfTheBatch(t *testing.T) {
	p, _, prompts, _, _ := task(t, 40)
	m := newModel(t, goBackend(t), p)
	var rows []policy.Row
	for _, q := range prompts {
		rows = append(rows, q.Row)
	}
	probs, err := m.ProbsOf(context.Background(), rows)
	if err != nil {
		t.Fatal(err)
	}
	var share [3]float64
	var reward, entropy, kl float64
	for i, dist := range probs {
		for k, v := range dist {
			share[k] += v / 40
			reward += v * prompts[i].Reward[k] / 40
			entropy -= v * math.Log(v) / 40
			kl += v * (math.Log(v) - prompts[i].Anchor[k]) / 40
		}
	}
	cfg := grpoConfig
	cfg.Estimator, cfg.Steps = Exact, 2
	curve, err := (Conduct{}).GRPO(context.Background(), m, prompts, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := curve.Points[0]
	for name, d := range map[string]float64{"reward": got.Reward - reward, "loss": got.Loss + reward, "entropy": got.Entropy - entropy,
		"anchor KL": got.AnchorKL - kl, "share 0": got.Share[0] - share[0], "share 2": got.Share[2] - share[2]} {
		if math.Abs(d) > 1e-5 {
			t.Errorf("%s is off by %v", name, d)
		}
	}
	if curve.Points[1].Epoch != 1 {
		t.Errorf("the second step over all 40 prompts is of pass %d", curve.Points[1].Epoch)
	}
}

// trainBoth runs both stages and returns all they leave.
func trainBoth(t *testing.T, b compute.Backend, p policy.Policy, examples []Example, prompts []Prompt, s seed.Seed) string {
	m, err := policy.New(b, p, s)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer m.Close()
	sft, grpo := sftConfig, grpoConfig
	sft.Batch, sft.Epochs, sft.Dropout = 32, 2, .2
	grpo.Batch, grpo.Steps = 32, 6
	curve, err := (Conduct{}).SFT(context.Background(), m, examples, sft, s)
	if err != nil {
		t.Error(err)
		return ""
	}
	rl, err := (Conduct{}).GRPO(context.Background(), m, prompts, grpo, s)
	if err != nil {
		t.Error(err)
		return ""
	}
	curve.Append(rl)
	return bytesOf(t, m, curve)
}

func TestASeedGivesTheSameBytesInAnyOrderAndCompany(t *testing.T) {
	p, examples, prompts, _, _ := task(t, 100)
	b := goBackend(t)
	want := trainBoth(t, b, p, examples, prompts, 1)
	if trainBoth(t, b, p, examples, prompts, 2) == want {
		t.Error("another seed gives the same training")
	}
	within(t, time.Minute, func() {
		var wg sync.WaitGroup
		for i := range 3 {
			mixed, mixedPrompts := slices.Clone(examples), slices.Clone(prompts)
			r := rand.New(rand.NewPCG(uint64(i), 1))
			r.Shuffle(len(mixed), func(i, j int) {
				mixed[i], mixed[j] = mixed[j], mixed[i]
				mixedPrompts[i], mixedPrompts[j] = mixedPrompts[j], mixedPrompts[i]
			})
			wg.Go(func() {
				if trainBoth(t, b, p, mixed, mixedPrompts, 1) != want {
					t.Error("the same seed gave another training")
				}
			})
		}
		wg.Wait()
	})
}

func TestACancelledContextStopsWithinAStep(t *testing.T) {
	p, examples, prompts, _, _ := task(t, 100)
	within(t, time.Minute, func() {
		m := newModel(t, goBackend(t), p)
		for name, stage := range map[string]func(context.Context) (*Curve, error){
			"sft":  func(ctx context.Context) (*Curve, error) { return (Conduct{}).SFT(ctx, m, examples, sftConfig, 1) },
			"grpo": func(ctx context.Context) (*Curve, error) { return (Conduct{}).GRPO(ctx, m, prompts, grpoConfig, 1) },
		} {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if curve, err := stage(ctx); !errors.Is(err, context.Canceled) || len(curve.Points) != 0 {
				t.Errorf("%s: error is %v after %d steps", name, err, len(curve.Points))
			}
			// Nothing of the stopped stage is in the way of the next one.
			if _, err := stage(context.Background()); err != nil {
				t.Errorf("%s after a stop: %v", name, err)
			}
		}
	})
}

func TestFaultsAreNamed(t *testing.T) {
	p, examples, prompts, _, _ := task(t, 20)
	m := newModel(t, goBackend(t), p)
	sft := func(change func(*spec.SFT, []Example)) func() error {
		return func() error {
			cfg, e := sftConfig, slices.Clone(examples)
			change(&cfg, e)
			_, err := (Conduct{}).SFT(context.Background(), m, e, cfg, 1)
			return err
		}
	}
	grpo := func(change func(*spec.GRPO, []Prompt)) func() error {
		return func() error {
			cfg, q := grpoConfig, slices.Clone(prompts)
			change(&cfg, q)
			_, err := (Conduct{}).GRPO(context.Background(), m, q, cfg, 1)
			return err
		}
	}
	for _, c := range []struct {
		name string
		run  func() error
		want string
	}{
		{"no epochs", sft(func(c *spec.SFT, _ []Example) { c.Epochs = 0 }), "sft: 0 epochs in batches of 256"},
		{"no rate", sft(func(c *spec.SFT, _ []Example) { c.LR = 0 }), "learning rate 0 must be above 0"},
		{"a warm-up of more than all steps", sft(func(c *spec.SFT, _ []Example) { c.WarmUp = 10 }), "warm-up share 10"},
		{"all units dropped", sft(func(c *spec.SFT, _ []Example) { c.Dropout = 1 }), "dropout 1"},
		{"a target of another pool", sft(func(_ *spec.SFT, e []Example) { e[3].Prob = []float64{1} }), `example "p0003": target has 1 values for 3 experts`},
		{"a target that is none", sft(func(_ *spec.SFT, e []Example) { e[3].Prob = []float64{1, 1, 0} }), "sums to 2, not 1"},
		{"a target below 0", sft(func(_ *spec.SFT, e []Example) { e[3].Prob = []float64{2, -1, 0} }), "is not a distribution"},
		{"a weight below 0", sft(func(_ *spec.SFT, e []Example) { e[3].Weight = -1 }), `example "p0003": weight -1`},
		{"an id twice", sft(func(_ *spec.SFT, e []Example) { e[3].ID = e[4].ID }), `id "p0004" occurs twice`},
		{"no id", sft(func(_ *spec.SFT, e []Example) { e[3].ID = "" }), "an id is empty"},
		{"no weight at all", sft(func(_ *spec.SFT, e []Example) {
			for i := range e {
				e[i].Weight = 0
			}
		}), "no example with a weight above 0"},
		{"a rate that explodes", sft(func(c *spec.SFT, _ []Example) { c.LR = 1e38 }), "lower the learning rate"},
		{"an unknown estimator", grpo(func(c *spec.GRPO, _ []Prompt) { c.Estimator = "guess" }), `unknown estimator "guess"; known: sampled, exact`},
		{"no steps", grpo(func(c *spec.GRPO, _ []Prompt) { c.Steps = 0 }), "0 steps of 128 prompts"},
		{"a dual clip inside the clip", grpo(func(c *spec.GRPO, _ []Prompt) { c.DualClip = 1 }), "dual_clip 1 must be above 1"},
		{"a reward too few", grpo(func(_ *spec.GRPO, q []Prompt) { q[3].Reward = q[3].Reward[:2] }), `prompt "p0003": 2 rewards for 3 experts`},
		{"a reward that is no number", grpo(func(_ *spec.GRPO, q []Prompt) { q[3].Reward = []float64{0, math.NaN(), 0} }), "reward NaN"},
		{"an anchor that is none", grpo(func(_ *spec.GRPO, q []Prompt) { q[3].Anchor = []float64{0, 0, 0} }), `prompt "p0003": anchor`},
		{"no prompts", func() error { _, err := (Conduct{}).GRPO(context.Background(), m, nil, grpoConfig, 1); return err }, "grpo: no prompt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestCurveAsCSV(t *testing.T) {
	curve := &Curve{Experts: []string{"a", "b"}, Points: []Point{
		{Stage: "sft", Step: 3, Epoch: 1, Rate: 3e-3, Loss: 1.5, Reward: math.NaN(), Entropy: .25, AnchorKL: math.NaN(), ZeroGroups: math.NaN(), Share: []float64{.75, .25}}}}
	curve.Append(&Curve{Points: []Point{{Stage: "grpo", Loss: -1e-9, Reward: 2, ZeroGroups: .5, Share: []float64{1, 0}}}})
	var out strings.Builder
	if err := curve.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	want := `stage,step,epoch,rate,loss,reward,entropy,anchor_kl,zero_groups,share:a,share:b
sft,3,1,3.000000e-03,1.500000,,0.250000,,,0.750000,0.250000
grpo,0,0,0.000000e+00,0.000000,2.000000,0.000000,0.000000,0.500000,1.000000,0.000000
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if err := curve.WriteCSV(failing{}); err == nil {
		t.Error("a failing writer is not reported")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestGoldenCurves pins the first ten steps of both stages. Rewrite the file with UPDATE=1; a change means that the
// same seed trains another router.
func TestGoldenCurves(t *testing.T) {
	p, examples, prompts, _, _ := task(t, 640)
	m := newModel(t, goBackend(t), p)
	sft, grpo := sftConfig, grpoConfig
	sft.Batch, sft.Epochs, grpo.Steps = 64, 1, 10
	curve, err := (Conduct{}).SFT(context.Background(), m, examples, sft, 1)
	if err != nil {
		t.Fatal(err)
	}
	rl, err := (Conduct{}).GRPO(context.Background(), m, prompts, grpo, 1)
	if err != nil {
		t.Fatal(err)
	}
	curve.Append(rl)
	var got bytes.Buffer
	if err := curve.WriteCSV(&got); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "curve.csv")
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	gotCells, wantCells := strings.FieldsFunc(got.String(), comma), strings.FieldsFunc(string(raw), comma)
	if len(gotCells) != len(wantCells) {
		t.Fatalf("%d cells, want %d", len(gotCells), len(wantCells))
	}
	for i, cell := range gotCells {
		x, err := strconv.ParseFloat(cell, 64)
		y, _ := strconv.ParseFloat(wantCells[i], 64)
		// Machines that fuse a product and a sum, and SIMD builds, differ in the last digits.
		if err != nil && cell != wantCells[i] || math.Abs(x-y) > 2e-5 {
			t.Fatalf("cell %d is %q, want %q", i, cell, wantCells[i])
		}
	}
}

func comma(r rune) bool { return r == ',' || r == '\n' }

func BenchmarkCompactTraining(b *testing.B) {
	texts, expert := planted(20000, seed.Derive("bench"))
	p := newPolicy(b, texts)
	rows, _ := p.Encode(b.Context(), texts)
	var examples []Example
	var prompts []Prompt
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 12000 {
		q := make([]float64, 3)
		q[expert[i]] = 1
		examples = append(examples, Example{ID: fmt.Sprint("s", i), Row: rows[i], Prob: q, Weight: 1})
	}
	for i := 12000; i < 20000; i++ {
		reward := []float64{r.Float64(), r.Float64(), r.Float64()}
		prompts = append(prompts, Prompt{ID: fmt.Sprint("r", i), Row: rows[i], Reward: reward})
	}
	backend := goBackend(b)
	for b.Loop() {
		m := newModel(b, backend, p)
		if _, err := (Conduct{}).SFT(context.Background(), m, examples, sftConfig, 1); err != nil {
			b.Fatal(err)
		}
		if _, err := (Conduct{}).GRPO(context.Background(), m, prompts, grpoConfig, 1); err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}
