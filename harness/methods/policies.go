// What rows that train a policy by package stages share.

package methods

import (
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/train"
)

// policyRow is a row that trains a policy.
type policyRow struct {
	stages.Training `yaml:",inline"`

	reads string // the param that says what a policy of kind compact reads
}

func (p *policyRow) traits() Traits {
	t := Traits{
		Allowance: Allowance{policyInWords(p.Policy, p.Features), oneOf(len(p.Validate.WeightDecay), "weight decays")},
		Network:   p.network,
	}
	if p.Policy.Kind == "lm" {
		t.LM = &p.Policy
	}
	return t
}

// network is the policy.
func (p *policyRow) network(experts int) (n Network) {
	of := p.Policy
	switch f := p.Features; {
	case of.Kind == "lm":
		n = decoderNetwork(of, experts)
	case len(f.Read) == 0:
		n = hashed("policy.", of.Buckets, of.Hidden)
	case f.Characters.Buckets > f.Words.Buckets:
		n = hashed(p.reads+".characters.", f.Characters.Buckets, of.Hidden)
	default:
		n = hashed(p.reads+".words.", f.Words.Buckets, of.Hidden)
	}
	n.Backend = of.Backend
	rollouts := int64(1) // of a problem, that go through the network
	if of.Reasons() {
		rollouts = int64(p.GRPO.Group)
	}
	if p.With.StageTwo != nil {
		n.Group, n.Batch = int64(p.GRPO.Group), int64(p.GRPO.Batch)
	}
	n.effort = func(one, two int64) (e Effort) {
		fit := func(one, two int64) {
			e = e.add(sftEffort(p.SFT, one))
			if p.With.StageTwo != nil {
				texts := float64(p.GRPO.Steps) * float64(min(int64(p.GRPO.Batch), two)*rollouts)
				e = e.add(float64(p.GRPO.Steps)*float64(p.GRPO.Epochs), texts*float64(p.GRPO.Epochs))
				if n.Writes > 0 {
					e.Written += texts
				}
			}
		}
		for range p.Validate.WeightDecay {
			fit(one-one/5, two-two/5) // see stages: a fifth is held out
		}
		fit(one, two)
		return e
	}
	return n
}

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
	case !p.Reasons():
		return nil
	case s.Spec.Teacher == nil:
		return paramFault(s.Method, "policy.rationale", "cot needs teacher in the spec: who writes the rationales of Stage I")
	case s.Spec.Writer != nil && (p.Tune.LoRA == nil || p.Model.Folder == ""):
		return paramFault(s.Method, "policy.tune", "a writer takes adapters on a model that it has: want tune lora and a folder as model")
	}
	return nil
}

// checkEstimator refuses a Stage II that cannot sum over what the policy may write.
func checkEstimator(s Setup, k stages.Knobs) error {
	if k.Policy.Reasons() && k.GRPO.Estimator == train.Exact {
		return paramFault(s.Method, "grpo.estimator", "exact cannot sum over all texts that a policy with rationale cot may write; use sampled")
	}
	return nil
}

// carriesOut gives a row's training what the setup has, and checks its policy and what that reads, in which it leaves what its recipe says.
func (s Setup) carriesOut(p *policyRow, reads *spec.Features) (err error) {
	if err := checkPolicy(s, p.Policy); err != nil {
		return err
	}
	w := &p.With
	w.Name, w.Decoding, w.Backend, w.Memory, w.Models, w.Writer, w.Handover = s.Method.Name, s.Spec.Evaluate.Decoding, s.Backend, s.Stages, s.Models, s.Spec.Writer, s.Out
	if x := s.Spec.Teacher; x != nil {
		asked := routing.Expert{ID: x.Model, Model: x.Model, Revision: x.Revision, MaxTokens: x.MaxTokens, Price: s.Prices[x.Model]}
		w.Teacher = &stages.Teacher{Teacher: *x, Endpoint: experts.Endpoint{Expert: asked, URL: x.URL, KeyEnv: x.KeyEnv}, Seed: seed.Seed(s.Spec.Seed)}
		if s.Servers != nil {
			w.Teacher.Servers = s.Servers
		}
	}
	w.Reading, err = s.policyReads(p.reads, reads, p.Policy)
	p.Features = *reads
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
