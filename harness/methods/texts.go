// What rows share that predict pass rates and dollars from texts.

package methods

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/parallel"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

// How words are read by default.
const (
	wordBuckets = 4096
	wordNGrams  = 2
)

// textFeatures are the features of a row by default, and what of the spec's own is laid over them.
func (s Setup) textFeatures(read ...string) spec.Features {
	return s.Spec.Features.Over(defaultFeatures(read, spec.Words{Buckets: wordBuckets, NGrams: wordNGrams}))
}

func defaultFeatures(read []string, words spec.Words) spec.Features {
	return spec.Features{Read: read, Words: words, Characters: spec.Characters{Buckets: 16384, Shortest: 2, Longest: 5}}
}

// reads is readsOf the parameter that most rows have.
func (s Setup) reads(f *spec.Features) (features.Reading, error) { return s.readsOf("features", f) }

// readsOf checks the features that a row's parameter left, and leaves in them what its recipe says: what is read alone, with the checksum of
// a file. No file is read while a spec is only checked.
func (s Setup) readsOf(param string, f *spec.Features) (r features.Reading, err error) {
	if knob, fault := f.Check(); fault != "" {
		return r, paramFault(s.Method, param+knob, "%s", fault)
	}
	*f = f.Only()
	if file := f.Vectors.File; file != "" {
		path, err := s.below(param+".vectors.file", file)
		if path == "" {
			return r, err
		}
		var sum string
		if r.Vectors, sum, err = features.ReadVectors(path, file, s.IDs); err != nil {
			return r, paramFault(s.Method, param+".vectors.file", "%v", err)
		}
		if f.Vectors.SHA256 != "" && f.Vectors.SHA256 != sum {
			return r, paramFault(s.Method, param+".vectors.sha256", "the file %q has the checksum %s, not %s; it has changed", file, sum, f.Vectors.SHA256)
		}
		f.Vectors.SHA256 = sum
	}
	if v := &f.Vectors; v.Model != "" {
		if err := experts.CheckURL(v.URL); err != nil {
			return r, paramFault(s.Method, param+".vectors.url", "%v", err)
		}
		r.Vectors = embedder{experts.Endpoint{Expert: routing.Expert{ID: v.Model, Model: v.Model, Revision: v.Revision}, URL: v.URL, KeyEnv: v.KeyEnv, Embeds: true}, s.Embed}
		v.URL, v.KeyEnv = "", "" // where a server stands decides nothing
	}
	if f.Vectors.Frozen {
		var sum string
		if r.Vectors, sum, err = s.frozen(param + ".vectors.frozen"); err != nil {
			return r, err
		}
		if pinned := f.Vectors.SHA256; pinned != "" && sum != "" && pinned != sum {
			return r, paramFault(s.Method, param+".vectors.sha256", "the language model of policy, its prompt and how it is computed have the checksum %s, not %s", sum, pinned)
		}
		f.Vectors.SHA256 = cmp.Or(sum, f.Vectors.SHA256)
	}
	r.Of, r.Memory = *f, s.Texts
	return r, nil
}

// frozen is what the language model of the spec's policy makes of texts, and what tells apart models, prompts and how they are computed;
// nothing while a spec is only checked.
func (s Setup) frozen(param string) (features.Source, string, error) {
	p := s.Spec.Policy
	if p.Kind != "lm" {
		return nil, "", paramFault(s.Method, param, "policy is of kind %s, which reads no language; make policy a language model, and that of rows which train another theirs", p.Kind)
	}
	if s.Pool == nil {
		return nil, "", nil
	}
	digest, err := stages.ModelDigest(p, s.Models)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", digest, p.Compute, p.Backend))
	return frozen{s.Models, s.Backend, p, stages.Shown(s.Pool)}, fmt.Sprintf("%x", sum), nil
}

// frozen has the states of texts by a language model whose layers are all frozen. It is a features.Source.
type frozen struct {
	models  *lm.Models
	backend policy.Backend
	policy  spec.Policy
	pool    []lm.Expert
}

func (f frozen) Of(ctx context.Context, texts []string) ([][]float32, error) {
	return f.models.States(ctx, f.backend, f.policy, f.pool, texts)
}

// Embed returns the vectors of texts in their order by a model for vectors, asking for none twice.
type Embed func(ctx context.Context, model experts.Endpoint, texts []string) ([][]float32, error)

// embedder has the vectors of texts by a model. It is a features.Source.
type embedder struct {
	model experts.Endpoint
	embed Embed // nil: nobody can be asked
}

func (e embedder) Of(ctx context.Context, texts []string) ([][]float32, error) {
	if e.embed == nil {
		return nil, fmt.Errorf("there is nobody to ask model %s for vectors", e.model.Model)
	}
	return e.embed(ctx, e.model, texts)
}

// policyReads is reads for a policy, which reads what a spec or a row says is read, and else the counts of words that the policy's own knobs
// are of. A language model reads the text itself.
func (s Setup) policyReads(param string, f *spec.Features, p spec.Policy) (features.Reading, error) {
	own := sets(s.Method, param)
	switch {
	case own && p.Kind == "lm":
		return features.Reading{}, paramFault(s.Method, param, "a language model reads the text itself; leave %s out", param)
	case own && len(f.Read) == 0:
		return features.Reading{}, paramFault(s.Method, param+".read", "not set, and then a policy reads words as policy says; name what it reads, or set policy.buckets and policy.ngrams")
	case len(f.Read) == 0 || p.Kind == "lm":
		*f = spec.Features{}
		return features.Reading{Memory: s.Texts}, nil
	}
	*f = f.Over(defaultFeatures(nil, spec.Words{Buckets: p.Buckets, NGrams: p.NGrams}))
	return s.readsOf(param, f)
}

// corpus is training problems and the rows that a method reads of them.
type corpus struct {
	features.Set
	examples []routing.Example // in hash order
	rows     []policy.Row
}

// newCorpus puts examples in hash order and reads the first most of them by read: features.Set.Rows or features.Set.Directions.
// What features need to know of texts they learn from a random sample.
func newCorpus(ctx context.Context, examples []routing.Example, most int, by features.Reading, read func(features.Set, context.Context, []string) ([]policy.Row, error)) (c corpus, err error) {
	routing.InHashOrder(examples)
	c.examples = examples
	texts := routing.Texts(examples[:min(len(examples), most)])
	if c.Set, err = features.New(ctx, by, texts[:min(len(texts), learn.SearchRows)]); err != nil {
		return corpus{}, err
	}
	c.rows, err = read(c.Set, ctx, texts)
	return c, err
}

// passing predicts the pass rates of the experts from a row, [M].
type passing interface{ Pass(policy.Row) []float64 }

// textual predicts pass rates and dollars of the experts from texts.
type textual[P passing] struct {
	Features features.Set  `json:"features"`
	Pass     P             `json:"pass"`
	Dollars  learn.Amounts `json:"dollars"` // [M]
	USD      []float64     `json:"usd"`     // [M] means on the training problems
}

func (t textual[P]) predict(ctx context.Context, texts []string) ([]scores, error) {
	rows, err := t.Features.Rows(ctx, texts)
	if err != nil {
		return nil, err
	}
	return parallel.Map(ctx, len(rows), func(i int) scores {
		return scores{pass: t.Pass.Pass(rows[i]), usd: t.Dollars.At(rows[i])}
	})
}

// router is a utility router.
func (t textual[P]) router() (routing.Router, error) {
	return newUtilityRouter(len(t.USD), dollarUnit(t.USD), t.predict), nil
}

// again is router of what came back from a file.
func (t textual[P]) again(by features.Reading) (_ routing.Router, err error) {
	if t.Features, err = t.Features.With(by); err != nil {
		return nil, err
	}
	return t.router()
}

// fitTexts returns what predicts pass rates, by what fitPass fits to the rows and the penalty it chose, and dollars: by
// regression with a penalty chosen from grid, or the experts' means.
func fitTexts[P passing](ctx context.Context, c corpus, experts int, grid []float64, meanCost bool, log *slog.Logger, fitPass func(d learn.Design) (P, float64, error)) (textual[P], error) {
	d := learn.NewDesign(c.rows, c.Width())
	t := textual[P]{Features: c.Set}
	t.USD, _ = means(c.examples, experts)
	var passL2, usdL2 float64
	var g errgroup.Group
	g.Go(func() (err error) {
		defer crash.Exit()
		t.Pass, passL2, err = fitPass(d)
		return err
	})
	g.Go(func() (err error) {
		defer crash.Exit()
		if meanCost {
			t.Dollars = learn.ConstantAmounts(t.USD, c.Width())
			return nil
		}
		t.Dollars, usdL2, err = learn.FitAmounts(ctx, d, labels(c.examples, experts, dollars), t.USD, grid)
		return err
	})
	if err := g.Wait(); err != nil {
		return textual[P]{}, err
	}
	log.Debug("pass rates and dollars fitted to texts", "problems", len(c.examples), "pass_l2", passL2, "usd_l2", usdL2)
	return t, nil
}

// labels returns a number of every example and expert, [M][examples].
func labels(examples []routing.Example, experts int, of func(e routing.Example, m int) float64) [][]float64 {
	y := make([][]float64, experts)
	for m := range y {
		y[m] = make([]float64, len(examples))
		for i, e := range examples {
			y[m][i] = of(e, m)
		}
	}
	return y
}

func passRate(e routing.Example, m int) float64 { return e.Kappa[m] }

func dollars(e routing.Example, m int) float64 { return e.USD[m] }

// penaltyGrid is what the penalty of a regression is chosen from unless a row says otherwise.
func penaltyGrid() []float64 { return []float64{100, 30, 10, 3, 1, 0.3, 0.1} }

// penalties returns the penalties of a row once each, strongest first.
func penalties(l2 []float64) []float64 {
	slices.SortFunc(l2, func(a, b float64) int { return cmp.Compare(b, a) })
	return slices.Compact(l2)
}
