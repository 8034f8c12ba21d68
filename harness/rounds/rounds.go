// Package rounds trains routers that ask several experts one after the other, or answer themselves, in the environment of package theory.
// It knows no row by name; what a policy behind a server does is in package multiround.
//
//	training.go the knobs of a training, and what it is carried out with
//	rounds.go   a fit: its environment is built from training problems
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

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/theory"
)

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
