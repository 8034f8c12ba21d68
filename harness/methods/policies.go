// What rows that train a policy share: their checks, and how their training is carried out.

package methods

import (
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

// checkPolicy refuses a row whose policy is to compute on another backend than the run's, or whose knobs do not belong together.
func checkPolicy(s Setup, p spec.Policy) error {
	if p.Backend != s.Spec.Policy.Backend {
		return paramFault(s.Method, "policy.backend", "a run has one backend; set policy.backend of the experiment, which is %s here", s.Spec.Policy.Backend)
	}
	if knob, fault := p.Check(); fault != "" {
		return paramFault(s.Method, "policy"+knob, "%s", fault)
	}
	return checkTeacher(s, p)
}

// checkTeacher refuses a row whose policy writes and has nobody to learn it from.
func checkTeacher(s Setup, p spec.Policy) error {
	switch {
	case p.Rationale != "cot":
		return nil
	case s.Spec.Teacher == nil:
		return paramFault(s.Method, "policy.rationale", "cot needs teacher in the spec: who writes the rationales of Stage I")
	case s.Spec.Writer != nil && (p.Tune.LoRA == nil || p.Model.Folder == ""):
		return paramFault(s.Method, "policy.tune", "a writer takes adapters on a model that it has: want tune lora and a folder as model")
	}
	return nil
}

// carriesOut gives a training what the setup has, and checks its policy and what that reads by the param of this name, in which it leaves
// what its recipe says.
func (s Setup) carriesOut(t *stages.Training, param string, reads *spec.Features) (err error) {
	if err := checkPolicy(s, t.Policy); err != nil {
		return err
	}
	w := &t.With
	w.Name, w.Decoding, w.Backend, w.Memory, w.Models, w.Writer = s.Method.Name, s.Spec.Evaluate.Decoding, s.Backend, s.Stages, s.Models, s.Spec.Writer
	if x := s.Spec.Teacher; x != nil {
		asked := routing.Expert{ID: x.Model, Model: x.Model, Revision: x.Revision, MaxTokens: x.MaxTokens, Price: s.Prices[x.Model]}
		w.Teacher = &stages.Teacher{Teacher: *x, Endpoint: experts.Endpoint{Expert: asked, URL: x.URL, KeyEnv: x.KeyEnv}, Seed: seed.Seed(s.Spec.Seed)}
		if s.Servers != nil {
			w.Teacher.Servers = s.Servers
		}
	}
	w.Reading, err = s.policyReads(param, reads, t.Policy)
	t.Features = *reads
	return err
}

// twoStages are the knobs of the experiment, over which the params of a row lie.
func (s Setup) twoStages() stages.Knobs {
	x := s.Spec
	return stages.Knobs{Targets: x.Targets, Policy: startingPolicy(s), SFT: x.SFT, GRPO: x.GRPO, Validate: x.Validate}
}

// startingPolicy is the policy that the params of a row lie over: the experiment's, without the knobs of a language model if the row names
// another kind.
func startingPolicy(s Setup) spec.Policy {
	var named struct {
		Policy struct {
			Kind string `yaml:"kind"`
		} `yaml:"policy"`
	}
	p := s.Spec.Policy
	if err := s.Method.Params.Decode(&named); err == nil && named.Policy.Kind == "compact" { // a fault is said where params are decoded
		return spec.Policy{Kind: p.Kind, Buckets: p.Buckets, NGrams: p.NGrams, Hidden: p.Hidden, Backend: p.Backend}
	}
	return p
}
