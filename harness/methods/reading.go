// What a row reads beside its training problems: features of texts, vectors, predictions of other programs. Each is checked, and its
// checksum is part of the recipe.

package methods

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/parallel"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
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

// decode lays a row's parameters over its defaults in into, and returns how it reads texts: by the features that are one of them.
func (s Setup) decode(into any, f *spec.Features) (features.Reading, error) {
	if err := spec.DecodeParams(s.Method, into); err != nil {
		return features.Reading{}, err
	}
	return s.readsOf("features", f)
}

// byDirection has scores of texts, each from its direction.
func byDirection(of features.Set, scores func(row policy.Row, text string) predict.Scores) predict.Predictor {
	return func(ctx context.Context, texts []string) ([]predict.Scores, error) {
		rows, err := of.Directions(ctx, texts)
		if err != nil {
			return nil, err
		}
		return parallel.Map(ctx, len(rows), func(i int) predict.Scores { return scores(rows[i], texts[i]) })
	}
}

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

// importFile reads a file of another program's predictions. sum is what the row says its SHA-256 is, empty if nothing; the one found is
// returned, so that it becomes part of the recipe. Nothing is read, and nil returned, while a spec is only checked.
func (s Setup) importFile(param, file, sum string, read predict.ReadLine) (*predict.Imported, string, error) {
	if path, err := s.below(param, file); path == "" {
		return nil, sum, err
	}
	_, found, err := lines.Sum(s.Data, file)
	if err != nil {
		return nil, "", paramFault(s.Method, param, "%v", err)
	}
	if sum != "" && sum != found {
		return nil, "", paramFault(s.Method, param+"_sha256", "the file %q has the checksum %s, not %s; it has changed", file, found, sum)
	}
	in, err := predict.Import(s.Data, file, found, read)
	if err != nil {
		return nil, "", paramFault(s.Method, param, "%v", err)
	}
	return in, found, nil
}

// below returns where a file below the data folder is that a parameter names; empty while a spec is only checked.
func (s Setup) below(param, path string) (string, error) {
	switch {
	case !filepath.IsLocal(filepath.FromSlash(path)):
		return "", paramFault(s.Method, param, "want a path below the data folder, got %q", path)
	case s.Pool == nil:
		return "", nil
	case s.Data == "":
		return "", paramFault(s.Method, param, "%q is read from the data folder; say which with --data DIR", path)
	}
	return filepath.Join(s.Data, filepath.FromSlash(path)), nil
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
