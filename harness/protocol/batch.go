// What a run would ask its experts, in files that others ask for it, and what they brought.

package protocol

import (
	"context"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// Batch is the answers that an experiment wants of its experts.
type Batch struct {
	Spec    *spec.Resolved
	Options steps.Options
}

// Export writes what a run would ask the experts for now into a folder, as asking.Asker.Export says. Problem sets are made for
// it where they are missing; nobody is asked.
func (b Batch) Export(ctx context.Context, dir string, lines int) (out []asking.Exported, err error) {
	err = b.open(ctx, func(run *Run) error {
		blocks, err := run.split.blocks(ctx, false)
		if err != nil {
			return err
		}
		out, err = run.Asker.Export(ctx, blocks, dir, lines)
		return err
	})
	return out, err
}

// Import keeps the results in some files, as asking.Asker.Import says.
func (b Batch) Import(ctx context.Context, files []string) (n asking.Imported, err error) {
	err = b.open(ctx, func(run *Run) error {
		blocks, err := run.split.blocks(ctx, true)
		if err != nil {
			return err
		}
		n, err = run.Asker.Import(ctx, blocks, files)
		return err
	})
	return n, err
}

func (b Batch) open(ctx context.Context, do func(*Run) error) error {
	if err := asksExperts(b.Spec); err != nil {
		return err
	}
	if pool := b.Spec.Pools[0]; pool.Kind != "http" {
		return fmt.Errorf("%w: batches are for pools of kind http, whose experts others may ask; pool %s is of kind %s", spec.ErrUsage, pool.Name, pool.Kind)
	}
	o := b.Options
	o.Again = true // as a run does
	run, err := newSplit(ctx, b.Spec, o)
	if err != nil {
		return err
	}
	defer run.Close()
	return do(run)
}
