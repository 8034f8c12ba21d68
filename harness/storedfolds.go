package harness

import (
	"context"
	"fmt"
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
		params, inputs := measured.params(), measured.recipe.Inputs()
		if len(params.Methods) == 0 || len(params.Pools) != 1 || params.Pool.Recorded == nil || len(params.Folds.Seeds) == 0 || params.Folds.Probe == "" {
			return nil, r.unreadable(measured, "list of rows, recording, partitions and probe in its recipe")
		}
		i := slices.IndexFunc(ours.Pools, func(p spec.Pool) bool { return p.Name == params.Pools[0] })
		if i < 0 {
			of.arenas = []*storedArena{{Arena: book.Arena{Name: params.Pools[0]}}}
			out = append(out, of)
			continue
		}
		if of, theirs := ours.Pools[i].Recorded, params.Pool.Recorded; of == nil || of.Queries.SHA256 != theirs.Queries.SHA256 || of.Outcomes.SHA256 != theirs.Outcomes.SHA256 {
			return nil, nil
		}
		for _, row := range params.Methods {
			stored := storedRow{id: row.ID}
			for _, partition := range params.Folds.Seeds {
				name := ofRow("crossfit", row.ID, partition)
				k, ok := inputs[name]
				if !ok {
					return nil, r.unreadable(measured, fmt.Sprintf("input %q in its recipe", name))
				}
				f, err := r.find(k)
				if err != nil {
					return nil, err
				}
				stored.fits = append(stored.fits, storedFit{f, f.params().Method.Name, partition})
			}
			of.rows = append(of.rows, stored)
		}
		a, err := recordedArena(ctx, ours.Pools[i], params, o)
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
func recordedArena(ctx context.Context, pool spec.Pool, params recordedParams, o Options) (*storedArena, error) {
	of, _, err := params.experts()
	if err != nil {
		return nil, err
	}
	recording, theirs := *pool.Recorded, params.Pool.Recorded
	recording.Benchmarks, recording.PromptTokens, recording.Format, recording.Gaps = theirs.Benchmarks, theirs.PromptTokens, theirs.Format, theirs.Gaps
	pool.Recorded = &recording
	x := spec.Experiment{CountInput: params.CountInput}
	x.Folds.Probe = params.Folds.Probe
	c := &recorded{e: &engine{spec: &spec.Resolved{Experiment: x}, poolSpec: pool, opt: o.filled(), experts: of}}
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	a := &storedArena{Arena: *c.arena(), decided: foldsArena}
	for _, size := range a.Sizes() {
		a.share = append(a.share, float64(size))
	}
	return a, nil
}
