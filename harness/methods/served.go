// What the rows of Router-R1 and xRouter with a policy behind a server have in common.

package methods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/multiround"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// servedPolicy is a router model behind an OpenAI-compatible server, trained elsewhere.
type servedPolicy struct {
	URL         string  `yaml:"url"`                // base URL, ending in /v1
	KeyEnv      string  `yaml:"key_env,omitempty"`  // environment variable that holds the key of that server
	Model       string  `yaml:"model"`              // name that the server knows it by
	Revision    string  `yaml:"revision,omitempty"` // of the weights; checkpoints served under one name need one each, or what one has said is taken for another's
	Temperature float64 `yaml:"temperature" in:"[0,100]"`
	TopP        float64 `yaml:"top_p" in:"(0,1]"`
}

// byPolicy builds a row with a policy behind a server where its parameters name one, and elsewhere one with a policy that
// is fitted here.
func byPolicy(served, fitted func(Setup) (routing.Method, error)) func(Setup) (routing.Method, error) {
	return func(s Setup) (routing.Method, error) {
		if sets(s.Method, "policy") {
			return served(s)
		}
		return fitted(s)
	}
}

// served is a multi-round router whose policy is behind a server. Nothing is fitted. The training seed is the root of the
// policy's sampling, so fits with several seeds differ by its luck alone; what experts say does not depend on it.
//
// The exported fields are its recipe: everything that can change a trajectory, and no address.
type served struct {
	Kind     string              `yaml:"kind"`
	Version  int                 `yaml:"version"`  // of prompts and rules
	Verifier string              `yaml:"verifier"` // that graded the trajectories
	Model    string              `yaml:"model"`
	Revision string              `yaml:"revision,omitempty"`
	Sampling spec.Sampling       `yaml:"sampling"`
	Failures string              `yaml:"failures"`
	Protocol multiround.Protocol `yaml:"protocol"`
	Reward   any                 `yaml:"reward"`

	name    string
	url     string
	keyEnv  string
	setup   Setup
	rewards func(pool []routing.Expert, strongest float64) (multiround.Reward, error)
}

// newServed builds the method of a row from its decoded parameters.
func newServed(s Setup, p servedPolicy, failures string, protocol multiround.Protocol, reward any, rewards func([]routing.Expert, float64) (multiround.Reward, error)) (routing.Method, error) {
	if err := experts.CheckURL(p.URL); err != nil {
		return nil, paramFault(s.Method, "policy.url", "%v", err)
	}
	if p.Model == "" {
		return nil, paramFault(s.Method, "policy.model", "not set; give the name that the server knows the policy by")
	}
	return &served{
		Kind: "served", Version: multiround.Version, Verifier: multiround.Verifier, Model: p.Model, Revision: p.Revision,
		Sampling: spec.Sampling{Temperature: p.Temperature, TopP: p.TopP}, Failures: failures, Protocol: protocol, Reward: reward,
		name: s.Method.Name, url: p.URL, keyEnv: p.KeyEnv, setup: s, rewards: rewards,
	}, nil
}

func (m *served) Name() string { return m.name }

// Endpoints implements Asking.
func (m *served) Endpoints() []experts.Endpoint {
	return []experts.Endpoint{{Expert: routing.Expert{ID: m.policyID(), Model: m.Model, Revision: m.Revision}, URL: m.url, KeyEnv: m.keyEnv}}
}

// policyID names the policy among the endpoints; no expert can be called so.
func (m *served) policyID() string { return "policy of " + m.setup.Method.RowID() }

func (m *served) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	if m.setup.Servers == nil {
		return nil, errors.New("method " + m.name + ": there is nobody to ask the policy's server")
	}
	endpoints, sampling, err := m.setup.Servers.Pool(ctx)
	if err != nil {
		return nil, err
	}
	chat, err := m.setup.Servers.Chat(ctx, slices.Concat(endpoints, m.Endpoints()))
	if err != nil {
		return nil, err
	}
	var usd, accuracy []float64
	strongest := 0.0
	if examples := train.Examples(); len(examples) > 0 {
		usd, accuracy = routing.Means(examples, len(train.Experts))
		strongest = usd[len(usd)-1]
	}
	reward, err := m.rewards(train.Experts, strongest)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", m.name, err)
	}
	return &servedRouter{
		engine: &multiround.Engine{
			Policy:  multiround.Endpoint{Chat: chat, ID: m.policyID(), Sampling: m.Sampling},
			Experts: train.Experts, Chat: chat, Sampling: sampling, Accuracy: accuracy,
			Protocol: m.Protocol, Failures: m.Failures, Policies: work.Seed, Calls: seed.Seed(m.setup.Spec.Seed), Log: work.Log,
		},
		model: m.Model, progress: m.setup.Servers.Progress, reward: reward, concurrency: m.setup.Spec.Profile.Concurrency, dir: work.Dir,
	}, nil
}

type servedRouter struct {
	engine      *multiround.Engine
	model       string
	progress    func(what string, total int) (one, done func())
	reward      multiround.Reward
	concurrency int
	dir         string
	played      []multiround.Trajectory // by all calls of Route
	last        multiround.Summary      // of the last
}

// Route plays the queries and leaves what happened in trajectories.jsonl and summary.json.
func (r *servedRouter) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	one, done := r.progress("conversations of "+r.model, len(queries))
	defer done()
	trajectories, err := r.engine.PlayAll(ctx, queries, r.concurrency, one)
	if err != nil {
		return nil, err
	}
	if err := r.reward.Fill(trajectories); err != nil {
		return nil, err
	}
	r.played = append(r.played, trajectories...)
	r.last = multiround.Summarise(trajectories, r.engine.Experts)
	if err := r.report(); err != nil {
		return nil, err
	}
	out := make([]routing.Decision, len(queries))
	for i, t := range trajectories {
		out[i] = r.decision(t)
	}
	return out, nil
}

// decision reads a trajectory as a decision. Its distribution is the first move that was made: the server does not tell
// the probabilities of others.
func (r *servedRouter) decision(t multiround.Trajectory) routing.Decision {
	d := routing.Decision{
		Problem: t.Problem, Run: t.Run, Prob: make([]float64, len(r.engine.Experts)), Expert: routing.Self, Calls: []routing.Call{},
		Answer: &routing.Answer{Text: t.Answer, Bare: t.Bare, Finish: t.Finish},
		Usage:  cost.Usage{In: t.Usage.In, Out: t.Usage.Out},
	}
	for m, x := range r.engine.Experts {
		if t.From == x.ID {
			d.Expert = m
		}
	}
	for _, c := range t.Calls {
		for m, x := range r.engine.Experts {
			if c.Expert != x.ID {
				continue
			}
			if c.Turn == 1 && len(d.Calls) == 0 {
				d.Prob[m] = 1
			}
			if c.Failed == "" {
				d.Calls = append(d.Calls, routing.Call{Expert: m, Usage: cost.Usage{In: c.In, Out: c.Out}})
			}
		}
	}
	return d
}

// Units of what a served router reports beside the call rates that every router with calls has.
const (
	FormatRate   = "well-formed-%"           // trajectories that keep to the format
	InvalidTurns = "invalid-turns-%"         // turns of the policy with an action that could not be carried out
	FailedCalls  = "failed-calls-%"          // calls that had no answer
	BrokenOff    = "broken-off-%"            // conversations that the policy's server refused to go on with
	GivenCall    = "accuracy-given-call-%"   // of queries with a call
	GivenNone    = "accuracy-given-none-%"   // of queries without
	FirstMove    = "first-move-entropy-nats" // over answering and calling each expert, all queries together
	MeanReward   = "reward"                  // of the row's own kind
)

// Report implements Reporter.
func (r *servedRouter) Report() []metrics.Value {
	s := r.last
	refused := float64(s.Endings[multiround.EndRefused]) / float64(max(s.Trajectories, 1))
	percent := func(v *float64, unit string) (out []metrics.Value) {
		if v != nil {
			out = append(out, metrics.Rounded(100**v, unit, 3))
		}
		return out
	}
	out := slices.Concat(percent(s.Format, FormatRate), percent(&s.Invalid, InvalidTurns), percent(&s.Failed, FailedCalls), percent(&refused, BrokenOff), percent(s.AccuracyCall, GivenCall), percent(s.AccuracyNone, GivenNone))
	for _, x := range r.engine.Experts {
		out = append(out, metrics.Rounded(100*s.Expert[x.ID], "asked-"+x.ID+"-%", 3))
	}
	return append(out, metrics.Rounded(s.Entropy, FirstMove, 4), metrics.Rounded(s.Reward, MeanReward, 4))
}

// report replaces both files whole: a folder that several calls write to never holds a part of one.
func (r *servedRouter) report() error {
	if r.dir == "" {
		return nil
	}
	if err := replaceFile(filepath.Join(r.dir, "trajectories.jsonl"), func(w io.Writer) error {
		return multiround.WriteTrajectories(w, r.played)
	}); err != nil {
		return err
	}
	summary, err := json.MarshalIndent(multiround.Summarise(r.played, r.engine.Experts), "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(r.dir, "summary.json"), func(w io.Writer) error {
		_, err := w.Write(append(summary, '\n'))
		return err
	})
}

// replaceFile puts what write writes at path once all of it is written; until then, and if write fails, the old file stays.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp"))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
