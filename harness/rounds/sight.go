// What a small network sees of a text.

package rounds

import (
	"context"
	"log/slog"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/internal/remember"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// sight is what a network sees of texts: [1+M] features, standardised logits of the pass rates of the router and of each expert. It keeps
// those of every text that it was asked about, since rows and seeds ask about the same ones. It is safe for concurrent use.
type sight struct {
	features        features.Set
	fits            learn.Logits
	mean, deviation []float64
	known           remember.Memory[[]float64]
}

func newSight(ctx context.Context, examples []routing.Example, experts int, penalty []float64, memory *features.Texts, log *slog.Logger) (*sight, error) {
	c, err := predict.NewCorpus(ctx, slices.Clone(examples), len(examples), features.Reading{Of: Features(), Memory: memory}, features.Set.Rows)
	if err != nil {
		return nil, err
	}
	rates := predict.Labels(c.Examples, 1+experts, func(e routing.Example, who int) float64 {
		if who == 0 {
			return e.Probe
		}
		return e.Kappa[who-1]
	})
	s := &sight{features: c.Set, mean: make([]float64, 1+experts), deviation: make([]float64, 1+experts)}
	if s.fits, _, err = learn.FitLogits(ctx, learn.NewDesign(c.Rows, c.Width()).Asking(routing.Questions(c.Examples)), rates, penalty); err != nil {
		return nil, err
	}
	log.Debug("pass rates fitted to texts", "problems", len(c.Examples))
	found := s.logits(c.Rows)
	for _, x := range found {
		for i, v := range x {
			s.mean[i] += v / float64(len(found))
		}
	}
	for _, x := range found {
		for i, v := range x {
			s.deviation[i] += (v - s.mean[i]) * (v - s.mean[i]) / float64(len(found))
		}
	}
	return s, nil
}

func (s *sight) logits(rows []policy.Row) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		for _, fit := range s.fits {
			out[i] = append(out[i], fit.At(row))
		}
	}
	return out
}

func (s *sight) buckets(ctx context.Context, texts []string) ([]theory.Bucket, error) {
	known, err := s.known.Of(texts, func(texts []string) ([][]float64, error) {
		rows, err := s.features.Rows(ctx, texts)
		all := s.logits(rows)
		for _, x := range all {
			for i := range x {
				x[i] = (x[i] - s.mean[i]) / math.Sqrt(s.deviation[i]+1e-8)
			}
		}
		return all, err
	})
	seen := make([]theory.Bucket, len(known))
	for k, x := range known {
		seen[k].Features = x
	}
	return seen, err
}

// Features are those of the regressions that a network sees: few buckets, since the policy reads nothing else.
func Features() spec.Features {
	return spec.Features{Read: []string{spec.ReadStructure, spec.ReadWords}, Words: spec.Words{Buckets: 1024, NGrams: 2}}
}

// look is what a policy sees of texts: a network what its sight has, a language model the text.
type look func(ctx context.Context, texts []string) ([]theory.Bucket, error)
