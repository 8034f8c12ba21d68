// The programs of optimizer steps, compiled and not run.

package train

import (
	"errors"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// CompileSFT has the backend of m compile the largest program of an optimizer step of SFT on a batch of copies of a row: the
// whole step or, where Micro divides the batch, the gradients of a part. m may be an Outline.
func (c Conduct) CompileSFT(m *policy.Model, row policy.Row, cfg spec.SFT) error {
	experts := len(m.Policy().Experts())
	batch := make([]Example, cfg.Batch)
	for i := range batch {
		batch[i] = Example{Row: row, Prob: make([]float64, experts), Weight: 1}
	}
	parts, err := c.sftParts(m.Policy(), batch, cfg.Batch)
	if err != nil {
		return err
	}
	l, err := newLearner(m, cfg.WeightDecay, cfg.Dropout, 0, sftLoss)
	if err != nil {
		return err
	}
	return errors.Join(l.compile(parts), l.close())
}

// CompileGRPO is CompileSFT for GRPO, on a batch of prompts that are copies of a row. The pass that looks at what the policy chooses is
// no part of it: it takes less.
func (c Conduct) CompileGRPO(m *policy.Model, row policy.Row, cfg spec.GRPO) error {
	experts := len(m.Policy().Experts())
	if _, writes := policy.WriterOf(m.Policy()); writes {
		return errors.New("the rollouts of a policy that writes have no shape before they are written")
	}
	batch, rows := make([]Prompt, cfg.Batch), slices.Repeat([]policy.Row{row}, cfg.Batch)
	for i := range batch {
		batch[i] = Prompt{Row: row, Reward: make([]float64, experts)}
	}
	n := cfg.Batch * cfg.Group
	all := samples{choices: cfg.Group, actions: make([]int32, n), advantages: make([]float32, n), logProb: make([]float32, n), written: make([][]float32, cfg.Batch)}
	var parts []part
	for _, at := range c.parts(rows) {
		inputs, err := m.Policy().Inputs(pickRows(rows, at), len(at))
		if err != nil {
			return err
		}
		p := part{policy: inputs, loss: all.inputs(at)}
		if cfg.Estimator == Exact {
			p.loss = rewardInputs(batch, at)
		}
		parts = append(parts, p)
	}
	l, err := newLearner(m, cfg.WeightDecay, 0, 0, grpoLoss(cfg))
	if err != nil {
		return err
	}
	return errors.Join(l.compile(parts), l.close())
}

// Beside returns the bytes that lie on a device beside what the program of CompileSFT or CompileGRPO takes: the moments of the trained
// weights where a batch is computed in parts, since the gradients of a part do not read them.
func (c Conduct) Beside(p policy.Policy, batch int) (bytes int64) {
	if c.Micro == 0 || batch <= c.Micro {
		return 0
	}
	for _, w := range p.Weights() {
		if w.Frozen == nil {
			bytes += 2 * 4 * int64(w.Size())
		}
	}
	return bytes
}

// compile compiles what the first part is given to.
func (l *learner) compile(parts []part) (err error) {
	defer func() {
		for _, p := range parts {
			for _, t := range slices.Concat(p.policy, p.loss) {
				err = errors.Join(err, t.FinalizeAll())
			}
		}
	}()
	p, exec := parts[0], l.whole
	var of []shapes.Shape
	for _, t := range slices.Concat(p.policy, p.loss) {
		of = append(of, t.Shape())
	}
	if len(parts) > 1 {
		exec, of = l.add, append(of, shapes.Make(dtypes.Float32))
		l.makeSums()
	}
	l.reads = len(p.policy)
	_, err = exec.Compile(of...)
	return err
}
