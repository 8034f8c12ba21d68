// A language model in the place of the small network.

package rounds

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/theory"
	"github.com/entrorouter/entrorouter/harness/train"
)

// Decoder is a language model as the policy. It reads the problem and whom it has asked, and
// chooses by the letters of its moves. Before the reinforcement learning it is fine-tuned, with the settings of Stage I, to the cold
// start: on each problem of Stage I, after a random number of calls of random experts, to ask as often as a small network does then.
type Decoder struct {
	Policy  spec.Policy
	SFT     spec.SFT // to the cold start
	Backend policy.Backend
	Models  *lm.Models
}

// Digest tells apart models and prompts whose routers would differ; empty for a nil *Decoder.
func (d *Decoder) Digest() (string, error) {
	if d == nil {
		return "", nil
	}
	digest, err := stages.ModelDigest(d.Policy, d.Models)
	return digest + " " + lm.RoundsDigest(), err
}

// stage names the reinforcement learning in files and streams.
const stage = "rounds"

// teach trains the language model in an environment, and returns what to close when the policy has been played.
func (d *Decoder) teach(ctx context.Context, e *theory.Environment, r theory.Reward, t theory.Training, set routing.TrainSet, work routing.Work) (_ *theory.Policy, _ []theory.Snapshot, _ io.Closer, err error) {
	if d.Models == nil {
		return nil, nil, nil, stages.ErrNoModels
	}
	reads, err := d.Models.NewRounds(d.Backend, d.Policy, stages.Shown(set.Experts), e.Select)
	if err != nil {
		return nil, nil, nil, err
	}
	model, err := policy.New(d.Backend, reads, work.Seed)
	if err != nil {
		return nil, nil, nil, err
	}
	a := &actor{model: model}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	conduct := stages.Conduct(d.Policy, work)
	start, err := d.coldStart(ctx, e, reads, t.InitialCall, set.SFT, work)
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err = conduct.SFT(ctx, model, start, d.SFT, work.Seed.Derive("sft")); err != nil {
		return nil, nil, nil, err
	}
	if a.choices, err = conduct.Choices(model, stage, t.WeightDecay, work.Seed); err != nil {
		return nil, nil, nil, err
	}
	var done theory.Progress
	if _, beside, err := a.choices.Resume(); err != nil {
		return nil, nil, nil, err
	} else if beside != nil {
		if err := gob.NewDecoder(bytes.NewReader(beside)).Decode(&done); err != nil {
			return nil, nil, nil, err
		}
	}
	t.WeightDecay, t.ClipNorm, t.Hidden = 0, 0, 0 // the optimizer's, and the network's
	taught, log, err := theory.Teach(ctx, e, r, t, a, done, func(far theory.Progress, stopped bool) error {
		n := len(far.Log)
		if last := far.Log[n-1]; !stopped {
			text := fmt.Sprintf("%s step %d of %d, with a call %.0f%%, reward %.3f", stage, n, t.Steps, 100*last.CallRate, last.Reward)
			if work.Say != nil {
				work.Say(text)
			}
			work.Log.Debug("training", "progress", text)
		}
		var beside bytes.Buffer
		if err := gob.NewEncoder(&beside).Encode(far); err != nil {
			return err
		}
		return a.choices.Keep(n, t.Steps, stopped, beside.Bytes())
	})
	return taught, log, a, err
}

// coldStart is what the language model is fine-tuned to before the reinforcement learning.
func (d *Decoder) coldStart(ctx context.Context, e *theory.Environment, reads policy.Policy, call float64, problems []routing.Example, work routing.Work) ([]train.Example, error) {
	examples := make([]train.Example, len(problems))
	for i, x := range problems {
		at := theory.Situation{Text: x.Problem.Text}
		stream := work.Seed.Derive("cold start", x.Problem.ID).Rand()
		for range stream.IntN(e.Horizon) {
			at.Asked = append(at.Asked, stream.IntN(len(e.Cost)))
		}
		row, err := rowOf(ctx, reads, at)
		if err != nil {
			return nil, err
		}
		examples[i] = train.Example{ID: x.Problem.ID, Row: row, Prob: e.ColdStart(at, call), Weight: 1}
	}
	return examples, nil
}

// rowOf is a situation as the language model reads it.
func rowOf(ctx context.Context, reads policy.Policy, at theory.Situation) (policy.Row, error) {
	rows, err := reads.Encode(ctx, []string{lm.Rounds(at.Text, at.Asked)})
	if err != nil {
		return policy.Row{}, err
	}
	return rows[0], nil
}

// actor is a language model that is taught and played.
type actor struct {
	model   *policy.Model
	choices *train.Choices
}

// Scores implements theory.Actor.
func (a *actor) Scores(at theory.Situation) ([]float64, error) {
	row, err := rowOf(context.Background(), a.model.Policy(), at) // one text, which is not worth stopping for
	if err != nil {
		return nil, err
	}
	return a.choices.Scores(row)
}

// Learn implements theory.Actor.
func (a *actor) Learn(rate float64, at []theory.Situation, slopes [][]float64) error {
	rows := make([]policy.Row, len(at))
	for i, x := range at {
		var err error
		if rows[i], err = rowOf(context.Background(), a.model.Policy(), x); err != nil {
			return err
		}
	}
	return a.choices.Step(rate, rows, slopes)
}

// Close frees the model.
func (a *actor) Close() (err error) {
	if a.choices != nil {
		err = a.choices.Close()
	}
	a.model.Close()
	return err
}
