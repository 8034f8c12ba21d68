// What the rows of Router-R1 and xRouter with a policy behind a server have in common; it plays in package multiround.

package methods

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/experts"
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
	x := experts.Endpoint{Expert: routing.Expert{ID: m.policyID(), Model: m.Model, Revision: m.Revision}, URL: m.url, KeyEnv: m.keyEnv}
	switch p := m.Protocol.(type) {
	case multiround.Tags:
		x.MaxTokens = p.ResponseMaxTokens
	case multiround.Tools:
		x.MaxTokens, x.Tools = p.ResponseMaxTokens, true
	}
	return []experts.Endpoint{x}
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
	return &multiround.Router{
		Engine: &multiround.Engine{
			Policy:  multiround.Endpoint{Chat: chat, ID: m.policyID(), Sampling: m.Sampling},
			Experts: train.Experts, Chat: chat, Sampling: sampling, Accuracy: accuracy,
			Protocol: m.Protocol, Failures: m.Failures, Policies: work.Seed, Calls: seed.Seed(m.setup.Spec.Seed), Log: work.Log,
		},
		Name: m.Model, Progress: m.setup.Servers.Progress, Reward: reward, Concurrency: m.setup.Spec.Profile.Concurrency, Dir: work.Dir,
	}, nil
}
