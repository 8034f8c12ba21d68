// Steps of a training whose gradient somebody else knows, as that of episodes of several choices.

package train

import (
	"cmp"
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Choices scores the choices of a policy, and takes steps up the gradient of an objective of which only the derivatives by the scores
// are told. The optimizer is that of both stages. It is used by one goroutine at a time.
type Choices struct {
	conduct Conduct
	stage   string
	model   *policy.Model
	look    *model.Exec
	learner *learner
}

// choicesAtOnce is how many rows are learned from at once where Micro says nothing.
const choicesAtOnce = 16

// Choices begins a stage of a training of m, whose policy must not write before it chooses. Files are named after the stage. It reads no
// state; Resume does.
func (c Conduct) Choices(m *policy.Model, stage string, decay float64, s seed.Seed) (*Choices, error) {
	c.Micro = cmp.Or(c.Micro, choicesAtOnce)
	x := &Choices{conduct: c, stage: stage, model: m}
	var err error
	if x.look, err = model.NewExec(m.Backend(), m.Store(), func(_ *model.Scope, in []*graph.Node) *graph.Node {
		return m.Policy().Forward(m.Scope(), in, 0).Choice
	}); err != nil {
		return nil, fmt.Errorf("%s: %w", stage, err)
	}
	if x.learner, err = newLearner(m, decay, 0, s.Derive(stage), climb); err != nil {
		x.look.Finalize()
		return nil, fmt.Errorf("%s: %w", stage, err)
	}
	return x, nil
}

// climb is minus the sum of slopes [B,A] times scores: its gradient by the weights is that of the objective whose derivatives by the
// scores the slopes are. Its value says nothing.
func climb(out policy.Outputs, extra []*graph.Node) []*graph.Node {
	return []*graph.Node{graph.Neg(graph.ReduceAllSum(graph.Mul(out.Choice, extra[0])))}
}

// Scores returns the scores of a row's choices, [A].
func (x *Choices) Scores(row policy.Row) ([]float64, error) {
	inputs, err := x.model.Policy().Inputs([]policy.Row{row}, 1)
	if err != nil {
		return nil, err
	}
	out, err := policy.Call(x.look, inputs)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(out[0]))
	for i, v := range out[0] {
		scores[i] = float64(v)
	}
	return scores, nil
}

// Step takes one step at a rate from the derivatives of the objective by the scores of rows, [len(rows)][A].
func (x *Choices) Step(rate float64, rows []policy.Row, slopes [][]float64) error {
	width := len(x.model.Policy().Experts())
	var parts []part
	for _, at := range x.conduct.parts(rows) {
		inputs, err := x.model.Policy().Inputs(pickRows(rows, at), x.conduct.Micro) // a size for all parts, so that few shapes are compiled
		if err != nil {
			return err
		}
		flat := make([]float32, x.conduct.Micro*width)
		for i, k := range at {
			for a, v := range slopes[k] {
				flat[i*width+a] = float32(v)
			}
		}
		parts = append(parts, part{policy: inputs, loss: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(flat, x.conduct.Micro, width)}, rows: len(at), share: 1})
	}
	_, _, err := x.learner.step(rate, parts)
	return err
}

// Resume puts what was kept of the stage into the model and returns how many steps it had taken, and what was kept beside; 0 if nothing
// was kept.
func (x *Choices) Resume() (done int, beside []byte, err error) {
	s, err := x.conduct.resumeState(x.stage, x.model)
	return s.Done, s.Beside, err
}

// Keep writes the state after a step if it is time to, if the stage is finished or if it is stopping.
func (x *Choices) Keep(done, all int, stopping bool, beside []byte) error {
	if every := x.conduct.Every; done < all && !stopping && (every == 0 || done%every != 0) {
		return nil
	}
	return x.conduct.keepState(x.stage, x.model, state{Done: done, Beside: beside})
}

// Close frees what the stage holds, not the model.
func (x *Choices) Close() error {
	x.look.Finalize()
	return x.learner.close()
}
