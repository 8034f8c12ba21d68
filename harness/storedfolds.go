package harness

import (
	"context"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// foldRows reads the rows of protocol folds, pool by pool. What the experts did is not in the store: it is read from the
// data folder of our run, where the recordings are those that the recipes name, by checksum. nil if any is another; a pool
// that our run does not have is a name without rows.
func (r *StoredRun) foldRows(ctx context.Context, ours *spec.Resolved, o Options) ([]*storedRows, error) {
	var out []*storedRows
	for _, s := range r.steps {
		if s.Key.Stage != "measure-folds" {
			continue
		}
		of := &storedRows{}
		measured, err := r.find(s.Key)
		if err != nil {
			return nil, err
		}
		var params struct {
			Pool   string
			Source recordingSource
			Rows   []string
		}
		inputs := measured.recipe.Inputs()
		if err := measured.decode(&params); err != nil || len(params.Rows) == 0 || len(params.Source.Experts) == 0 || len(inputs)%len(params.Rows) != 0 {
			return nil, r.unreadable(measured, "list of rows and experts in its recipe")
		}
		i := slices.IndexFunc(ours.Pools, func(p spec.Pool) bool { return p.Name == params.Pool })
		if i < 0 {
			of.arenas = []*storedArena{{Arena: book.Arena{Name: params.Pool}}}
			out = append(out, of)
			continue
		}
		if of := ours.Pools[i].Recorded; of == nil || of.Queries.SHA256 != params.Source.Queries || of.Outcomes.SHA256 != params.Source.Outcomes {
			return nil, nil
		}
		for _, id := range params.Rows {
			of.rows = append(of.rows, storedRow{id: id})
		}
		probe := noProbe
		for k, key := range inputs {
			f, err := r.find(key)
			if err != nil {
				return nil, err
			}
			var fit struct {
				Method    struct{ Method string }
				Partition *uint64
				Probe     string
			}
			if err := f.decode(&fit); err != nil || fit.Method.Method == "" || fit.Partition == nil || fit.Probe == "" {
				return nil, r.unreadable(f, "method, partition and probe in its recipe")
			}
			row := &of.rows[k%len(params.Rows)]
			row.fits = append(row.fits, storedFit{f, fit.Method.Method, *fit.Partition})
			probe = fit.Probe
		}
		a, err := recordedArena(ctx, ours.Pools[i], params.Source, probe, o)
		if err != nil {
			return nil, err
		}
		of.arenas = []*storedArena{a}
		out = append(out, of)
	}
	return out, nil
}

// recordedArena is a recording as an arena: its questions, asked once, and what the experts of a recipe did on them. Which
// questions are left out for their gaps depends on the probe too.
func recordedArena(ctx context.Context, pool spec.Pool, source recordingSource, probe string, o Options) (*storedArena, error) {
	recording := *pool.Recorded
	recording.Benchmarks, recording.PromptTokens, recording.Format, recording.Gaps = source.Benchmarks, source.PromptTokens, source.Format, source.Gaps
	pool.Recorded = &recording
	x := spec.Experiment{CountInput: source.CountInput}
	x.Folds.Probe = probe
	c := &recorded{e: &engine{spec: &spec.Resolved{Experiment: x}, poolSpec: pool, opt: o.filled(), experts: source.Experts}}
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	a := &storedArena{Arena: *c.arena(), decided: foldsArena}
	for _, size := range a.Sizes() {
		a.share = append(a.share, float64(size))
	}
	return a, nil
}
