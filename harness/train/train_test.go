package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// goBackend opens a backend for one test.
func goBackend(t testing.TB) compute.Backend {
	t.Helper()
	b, err := lm.OpenBackend("go")
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
		for range 10 + r.IntN(30) {
			words = append(words, fmt.Sprintf("w%s", string(rune('a'+r.IntN(26)))+string(rune('a'+r.IntN(26)))))
		}
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		texts = append(texts, fmt.Sprintf("Find $%d$: %s.", r.IntN(1000), strings.Join(words, " ")))
		expert = append(expert, k)
	}
	return texts, expert
}

func compact(t testing.TB, texts []string) *lm.Compact {
	t.Helper()
	p, err := lm.NewCompact(spec.Policy{Kind: "compact", Buckets: 256, NGrams: 2, Hidden: 32}, testExperts, texts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newModel(t testing.TB, b compute.Backend, p lm.Policy) *lm.Model {
	t.Helper()
	m, err := lm.New(b, p, seed.Derive("test"))
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

func BenchmarkCompactTraining(b *testing.B) {
	texts, expert := planted(20000, seed.Derive("bench"))
	p := compact(b, texts)
	rows, _ := p.Encode(texts)
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
		if _, err := SFT(context.Background(), m, examples, sftConfig, 1); err != nil {
			b.Fatal(err)
		}
		if _, err := GRPO(context.Background(), m, prompts, grpoConfig, 1); err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}
