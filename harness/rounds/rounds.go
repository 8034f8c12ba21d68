// Package rounds trains routers that ask several experts one after the other, or answer themselves, in the environment of package theory.
// It knows no row by name; what a policy behind a server does is in package multiround.
//
//	rounds.go   the training: its environment is built from training problems
//	sight.go    what a small network sees of a text
//	decoder.go  a language model in its place
//	course.go   what happened in every step, as a file
//	router.go   a trained policy that routes
//
// Which rows there are, and with which knobs, is the business of package methods.
package rounds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/theory"
)

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
	Name     string // names streams of random numbers, and the training in errors
	Horizon  int    // calls at most
	Selects  bool   // an expert's answer may be handed over as it is
	Reward   theory.Reward
	Learning theory.Training             // without cold start, log and seed
	Unit     func(usd []float64) float64 // dollars -> the unit of the reward's costs; usd are the mean dollars of a call [M]
	Decoding string                      // sample, or the likeliest move
	Anchor   *spec.Anchor                // on the first move, the router among the experts, free and with its own pass rate; nil: none

	Assimilation float64 // probability that the router uses what an expert tells it
	Distraction  float64 // share of its own rate that a call takes whose answer it does not use
	ColdStart    float64 // probability of asking before the reinforcement learning, in every state
	FormatFail   float64 // probability that a call is malformed

	Penalty float64         // of the regressions that a network sees
	Texts   *features.Texts // what fits have read; nil: no memory
	Fits    *predict.Fits   // regressions that were fitted; nil: no memory
	Decoder *Decoder        // nil: a small network
}

// Features are those of the regressions that a network sees: few buckets, since the policy reads nothing else.
func Features() spec.Features {
	return spec.Features{Read: []string{spec.ReadStructure, spec.ReadWords}, Words: spec.Words{Buckets: 1024, NGrams: 2}}
}

// Fit trains a policy and returns the router that it is, an io.Closer. In work's folder it leaves the course of the training, see
// ReadCourse.
func (t *Training) Fit(ctx context.Context, set routing.TrainSet, work routing.Work) (routing.Router, error) {
	if len(set.SFT) == 0 || len(set.RL) == 0 {
		return nil, fmt.Errorf("method %s: no training problem to learn from in one of the stages (%d, %d)", t.Name, len(set.SFT), len(set.RL))
	}
	router, err := t.learn(ctx, set, work)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", t.Name, err)
	}
	return router, nil
}

func (t *Training) learn(ctx context.Context, set routing.TrainSet, work routing.Work) (*router, error) {
	look, err := t.look(ctx, set, work.Log)
	if err != nil {
		return nil, err
	}
	e, unit, err := t.environment(ctx, set, look)
	if err != nil {
		return nil, err
	}
	learning := t.Learning
	learning.InitialCall, learning.LogEvery, learning.Seed = t.ColdStart, 1, uint64(work.Seed.Derive(t.Name))
	out := &router{training: t, look: look, seed: work.Seed}
	var course []theory.Snapshot
	if t.Decoder != nil {
		out.policy, course, out.model, err = t.Decoder.teach(ctx, e, t.Reward, learning, set, work)
	} else {
		out.policy, course, err = theory.Learn(ctx, e, t.Reward, learning)
	}
	if err != nil {
		return nil, err
	}
	last := course[len(course)-1]
	work.Log.Debug("multi-round policy trained", "method", t.Name, "call_rate", last.CallRate, "calls", last.Calls, "accuracy", last.Accuracy, "reward", last.Reward)
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
		Horizon: t.Horizon, Assimilation: t.Assimilation, Distraction: t.Distraction, FormatFail: t.FormatFail, Select: t.Selects,
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

func (t *Training) look(ctx context.Context, set routing.TrainSet, log *slog.Logger) (look, error) {
	if t.Decoder != nil {
		return func(_ context.Context, texts []string) ([]theory.Bucket, error) {
			seen := make([]theory.Bucket, len(texts))
			for i, text := range texts {
				seen[i].Text = text
			}
			return seen, nil
		}, nil
	}
	penalty := []float64{t.Penalty}
	key, err := predict.KeyOfFit("sight", Features(), penalty, set.SFT, func(e routing.Example) []float64 { return append([]float64{e.Probe}, e.Kappa...) })
	if err != nil {
		return nil, err
	}
	of, err := predict.Once(t.Fits, key, func() (*sight, error) { return newSight(ctx, set.SFT, len(set.Experts), penalty, t.Texts, log) })
	if err != nil {
		return nil, err
	}
	return of.buckets, nil
}
