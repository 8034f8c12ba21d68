// Package rounds trains routers that ask several experts one after the other, or answer themselves: what the rows of Router-R1 and
// xRouter that are trained here have in common. A policy behind a server plays in package multiround.
//
//	rounds.go    the training: the environment of package theory, built from training problems
//	sight.go     what a small network sees of a text
//	decoder.go   a language model in its place
//	course.go    what happened in every step, as a file
//	router.go    a trained policy that routes
//
// It names no row; which rows there are is the business of package methods.
package rounds

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// Knobs are those of a router that asks several experts, whatever it is rewarded for, as the params of a row have them.
type Knobs struct {
	Assimilation float64 `yaml:"assimilation" in:"[0,1]"`     // a, how often the router uses what an expert tells it: assumed
	Distraction  float64 `yaml:"distraction" in:"[0,1]"`      // share of its own rate that a call takes whose answer it does not use: assumed
	MaxTurns     int     `yaml:"max_turns" in:"[1,6]"`        // calls at most
	ColdStart    float64 `yaml:"cold_start" in:"(0,1)"`       // probability of asking before the reinforcement learning, in every state
	FormatFail   float64 `yaml:"format_fail" in:"[0,1]"`      // probability that a call is malformed
	CallBonus    float64 `yaml:"call_bonus" in:"[0,1000000]"` // added to episodes with a call; an ablation

	Steps  int     `yaml:"steps" in:"[1,1000000]"`      // batches
	Mini   int     `yaml:"mini_batch" in:"[1,1000000]"` // problems an update
	LR     float64 `yaml:"lr" in:"(0,100]"`             // Adam's step of the policy
	Hidden int     `yaml:"hidden" in:"[1,65536]"`       // units of the network
	L2     float64 `yaml:"l2" in:"(0,1000000000]"`      // penalty of the regressions that it sees

	LM     bool         `yaml:"lm,omitempty"`     // the experiment's policy, a language model, in place of the network: see Decoder
	SFT    *spec.SFT    `yaml:"sft,omitempty"`    // of a language model, to the cold start; default: the experiment's
	Anchor *spec.Anchor `yaml:"anchor,omitempty"` // soft anchor on the first move, the router among the experts, free and with its own pass rate; an ablation
}

// Training trains a policy that asks experts, one after the other, or answers itself, by reinforcement learning in the environment of
// package theory. The environment is built from the training problems: of each, the measured pass rates of the probe, which plays the
// router, and of the experts, and the experts' measured mean dollars. What it cannot take from anywhere is how often a router uses what an
// expert tells it. That is one number, the assimilation, and every row that follows from it has to be labelled so.
//
// The policy is a network of one hidden layer or a language model, see Decoder. The network sees how many calls have been made and of whom
// last, and of the text one number for the router and for each expert: the logit of its pass rate by a logistic regression on the text,
// fitted to the problems of Stage I. The reinforcement learning runs on those of Stage II.
//
// Of the answers that a router has seen, the one stands whose author has the highest mean pass rate on the training
// problems, the router among them; which answer to a problem is right it does not know. A call that is not assimilated
// takes a share of the router's own rate, see theory.Environment. When a trained policy routes, coins for assimilation
// are thrown by problem, run and call; that share is not thrown but scored by its expectation. A second call of an expert
// gets the answer of the first, which is all that recorded outcomes hold, and is paid again.
type Training struct {
	Knobs
	Selects  bool                        // an expert's answer may be handed over as it is
	Reward   theory.Reward               // but for the bonus of the knobs
	Learning theory.Training             // but for what the knobs say
	Unit     func(usd []float64) float64 // dollars -> the unit of the reward's costs; usd are the mean dollars of a call [M]
	With     With
}

// With is what a training is carried out with.
type With struct {
	Name     string          // names streams of random numbers, and the training in errors
	Decoding string          // sample, or the likeliest move
	Texts    *features.Texts // what fits have read; nil: no memory
	Fits     *predict.Fits   // regressions that were fitted; nil: no memory
	Decoder  *Decoder        // nil: a small network
}

// Features are those of the regressions that a network sees: few buckets, since the policy reads nothing else.
func Features() spec.Features {
	return spec.Features{Read: []string{spec.ReadStructure, spec.ReadWords}, Words: spec.Words{Buckets: 1024, NGrams: 2}}
}

// Fit trains a policy and returns the router that it is. In work's folder it leaves the course of the training, see ReadCourse.
func (t *Training) Fit(ctx context.Context, set routing.TrainSet, work routing.Work) (routing.Router, error) {
	if len(set.SFT) == 0 || len(set.RL) == 0 {
		return nil, fmt.Errorf("method %s: no training problem to learn from in one of the stages (%d, %d)", t.With.Name, len(set.SFT), len(set.RL))
	}
	router, err := t.learn(ctx, set, work)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
	}
	return router, nil
}

func (t *Training) learn(ctx context.Context, set routing.TrainSet, work routing.Work) (*router, error) {
	look, err := t.look(ctx, set)
	if err != nil {
		return nil, err
	}
	e, unit, err := t.environment(ctx, set, look)
	if err != nil {
		return nil, err
	}
	learning := t.Learning
	learning.Steps, learning.MiniBatch, learning.LR, learning.Hidden = t.Steps, t.Mini, t.LR, t.Hidden
	learning.InitialCall, learning.LogEvery, learning.Seed = t.ColdStart, 1, uint64(work.Seed.Derive(t.With.Name))
	reward := t.Reward
	reward.CallBonus = t.CallBonus
	out := &router{Training: t, look: look, seed: work.Seed}
	var course []theory.Snapshot
	if t.With.Decoder != nil {
		out.policy, course, out.model, err = t.With.Decoder.teach(ctx, e, reward, learning, set, work)
	} else {
		out.policy, course, err = theory.Learn(ctx, e, reward, learning)
	}
	if err != nil {
		return nil, err
	}
	last := course[len(course)-1]
	work.Log.Debug("multi-round policy trained", "method", t.With.Name, "call_rate", last.CallRate, "calls", last.Calls, "accuracy", last.Accuracy, "reward", last.Reward)
	if work.Dir != "" {
		if err := writeCourse(filepath.Join(work.Dir, stages.CurveFile), set.Experts, course, unit); err != nil {
			return nil, errors.Join(err, out.Close())
		}
	}
	return out, nil
}

// environment is what the problems of Stage II are to a policy, and what a dollar counts in the reward.
func (t *Training) environment(ctx context.Context, set routing.TrainSet, look look) (*theory.Environment, float64, error) {
	problems := slices.Clone(set.RL)
	routing.InHashOrder(problems)
	seen, err := look(ctx, routing.Texts(problems))
	if err != nil {
		return nil, 0, err
	}
	m := len(set.Experts)
	c := append([]float64{0}, set.C...)
	usd, pass := routing.Means(problems, m)
	unit := t.Unit(usd)
	e := &theory.Environment{
		Cost: make([]float64, m), Trust: append([]float64{0}, pass...),
		Horizon: t.MaxTurns, Assimilation: t.Assimilation, Distraction: t.Distraction, FormatFail: t.FormatFail, Select: t.Selects,
	}
	for i, x := range problems {
		e.Trust[0] += x.Probe / float64(len(problems))
		b := seen[i]
		b.Share, b.Self, b.Expert = 1, x.Probe, x.Kappa
		if a := t.Anchor; a != nil {
			for _, l := range routing.LogAnchor(routing.Utility(append([]float64{x.Probe}, x.Kappa...), c, a.Alpha), a.T) {
				b.Anchor = append(b.Anchor, a.Strength*a.T*l)
			}
		}
		for _, v := range x.USD {
			b.Cost = append(b.Cost, v*unit)
		}
		e.Buckets = append(e.Buckets, b)
	}
	return e, unit, nil
}

// look is what a policy sees of texts: a network what its sight has, a language model the text.
type look func(ctx context.Context, texts []string) ([]theory.Bucket, error)

func (t *Training) look(ctx context.Context, set routing.TrainSet) (look, error) {
	if t.With.Decoder != nil {
		return func(_ context.Context, texts []string) ([]theory.Bucket, error) {
			seen := make([]theory.Bucket, len(texts))
			for i, text := range texts {
				seen[i].Text = text
			}
			return seen, nil
		}, nil
	}
	penalty := []float64{t.L2}
	key, err := predict.KeyOfFit("sight", Features(), penalty, set.SFT, func(e routing.Example) []float64 { return append([]float64{e.Probe}, e.Kappa...) })
	if err != nil {
		return nil, err
	}
	of, err := predict.Once(t.With.Fits, key, func() (*sight, error) { return newSight(ctx, set.SFT, len(set.Experts), penalty, t.With.Texts) })
	if err != nil {
		return nil, err
	}
	return of.buckets, nil
}
