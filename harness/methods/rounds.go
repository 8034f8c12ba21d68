// Router-R1 and xRouter with a language model as policy, trained here.

package methods

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

// decoder is the language model of a multi-round row: the experiment's policy. It reads the problem and whom it has asked, and
// chooses by the letters of its moves. Before the reinforcement learning it is fine-tuned, with the settings of Stage I, to the cold
// start: on each problem of Stage I, after a random number of calls of random experts, to ask as often as a small network does then.
type decoder struct {
	policy  spec.Policy
	sft     spec.SFT
	backend policy.Backend
	models  *lm.Models
}

// newDecoder returns the language model of a row; nil if the row has none.
func newDecoder(s Setup, wanted bool, sft **spec.SFT) (*decoder, error) {
	switch {
	case !wanted:
		return nil, nil
	case s.Spec.Policy.Kind == "compact": // a spec that was not loaded names none
		return nil, paramFault(s.Method, "lm", "the experiment's policy is no language model; set policy.kind: lm, with a model")
	}
	if *sft == nil {
		*sft = &s.Spec.SFT
	}
	return &decoder{s.Spec.Policy, **sft, s.Backend, s.Models}, nil
}

// digest tells apart models and prompts whose routers would differ; empty without a language model.
func (d *decoder) digest() (string, error) {
	if d == nil {
		return "", nil
	}
	digest, err := stages.ModelDigest(d.policy, d.models)
	return digest + " " + lm.RoundsDigest(), err
}

// roundsStage names the reinforcement learning in files and streams.
const roundsStage = "rounds"

// teach trains the language model in an environment, and returns what to close when the policy has been played.
func (d *decoder) teach(ctx context.Context, e *theory.Environment, r theory.Reward, t theory.Training, set routing.TrainSet, work routing.Work) (_ *theory.Policy, _ []theory.Snapshot, _ io.Closer, err error) {
	if d.models == nil {
		return nil, nil, nil, stages.ErrNoModels
	}
	reads, err := d.models.NewRounds(d.backend, d.policy, stages.Shown(set.Experts), e.Select)
	if err != nil {
		return nil, nil, nil, err
	}
	model, err := policy.New(d.backend, reads, work.Seed)
	if err != nil {
		return nil, nil, nil, err
	}
	a := &actor{model: model}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	conduct := stages.Conduct(d.policy, work)
	start, err := d.coldStart(ctx, e, reads, t.InitialCall, set.SFT, work)
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err = conduct.SFT(ctx, model, start, d.sft, work.Seed.Derive("sft")); err != nil {
		return nil, nil, nil, err
	}
	if a.choices, err = conduct.Choices(model, roundsStage, t.WeightDecay, work.Seed); err != nil {
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
	taught, log, err := theory.Teach(ctx, e, r, t, a, done, func(far theory.Progress) error {
		n := len(far.Log)
		if work.Say != nil {
			work.Say(fmt.Sprintf("%s step %d of %d, with a call %.0f%%, reward %.3f", roundsStage, n, t.Steps, 100*far.Log[n-1].CallRate, far.Log[n-1].Reward))
		}
		var beside bytes.Buffer
		if err := gob.NewEncoder(&beside).Encode(far); err != nil {
			return err
		}
		return a.choices.Keep(n, t.Steps, ctx.Err() != nil, beside.Bytes())
	})
	return taught, log, a, err
}

// coldStart is what the language model is fine-tuned to before the reinforcement learning.
func (d *decoder) coldStart(ctx context.Context, e *theory.Environment, reads policy.Policy, call float64, problems []routing.Example, work routing.Work) ([]train.Example, error) {
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
