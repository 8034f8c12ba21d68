// Language models opened as policies, new and from a checkpoint.

package lm

import (
	"context"
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"

	"github.com/entrorouter/entrorouter/harness/internal/strict"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// States returns the states [texts][D] that the head of a policy's language model reads after its prompt, all layers as published,
// whatever the policy trains. They are computed once for all policies of a pool, and kept.
func (m *Models) States(ctx context.Context, backend policy.Backend, cfg spec.Policy, experts []Expert, texts []string) ([][]float32, error) {
	cfg.Tune, cfg.Rationale, cfg.Writes = &spec.Tune{Part: "head"}, "none", nil
	p, err := m.New(backend, cfg, experts)
	if err != nil {
		return nil, err
	}
	rows, err := p.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	states := make([][]float32, len(rows))
	for i, row := range rows {
		states[i] = row.Values
	}
	return states, nil
}

// New builds the policy that a spec describes for a pool, cheapest first.
func (m *Models) New(backend policy.Backend, cfg spec.Policy, experts []Expert) (*Policy, error) {
	p, err := m.build(backend, record{Policy: cfg, Experts: slices.Clone(experts)})
	if err != nil {
		return nil, fmt.Errorf("lm policy: %w", err)
	}
	return p, nil
}

// Read returns the policy of what Config returns, as JSON. Another model in the folder it names is an error.
func (m *Models) Read(backend policy.Backend, raw []byte) (*Policy, error) {
	var s record
	err := strict.JSON(raw, &s)
	var p *Policy
	if err == nil {
		p, err = m.build(backend, s)
	}
	if err == nil && p.record.Digest != s.Digest {
		err = fmt.Errorf("it was trained from a model or a prompt with sha256 %s, the one that is here has %s; bring back the former or train again", s.Digest, p.record.Digest)
	}
	if err != nil {
		return nil, fmt.Errorf("lm policy: %w", err)
	}
	return p, nil
}

func (m *Models) build(backend policy.Backend, s record) (*Policy, error) {
	if s.Policy.Kind != kind {
		return nil, fmt.Errorf("policy.kind is %q; this is a policy of kind %s", s.Policy.Kind, kind)
	}
	if knob, fault := s.Policy.Check(); fault != "" {
		return nil, fmt.Errorf("policy%s: %s", knob, fault)
	}
	if len(s.Experts) < 2 {
		return nil, fmt.Errorf("%d experts; a router needs at least 2", len(s.Experts))
	}
	base, err := m.base(*s.Policy.Model)
	if err != nil {
		return nil, err
	}
	if s.Digest, err = m.Digest(s.Policy); err != nil {
		return nil, err
	}
	p := &Policy{record: s, base: base, decoder: decoderOf(base.Config, s.Policy)}
	if p.vocabulary, err = base.vocabulary(); err != nil {
		return nil, err
	}
	if p.labels, err = labels(p.vocabulary, len(s.Experts)); err != nil {
		return nil, err
	}
	for i, id := range p.labels {
		if err := base.embeds("the label "+label(i), id); err != nil {
			return nil, err
		}
	}
	if p.system, err = instructions(s.Experts, p.Writes()); err != nil {
		return nil, err
	}
	if p.Writes() {
		if p.end, err = lineBreak(p.vocabulary); err != nil {
			return nil, err
		}
	}
	switch tune := s.Policy.Tune; {
	case tune.Part == "full" || tune.LoRA != nil:
		return p, nil
	case tune.Last > 0:
		p.from = base.Config.Layers - tune.Last
	default:
		p.from = base.Config.Layers + 1
	}
	p.trunk, err = m.trunk(backend, p.decoder, base, p.from)
	return p, err
}

// decoderOf is how a policy computes with a model of some sizes.
func decoderOf(c Config, p spec.Policy) Decoder {
	d := Decoder{Config: c, Compute: dtypes.Float32, Checkpoint: p.Checkpoint}
	if p.Compute == "bfloat16" {
		d.Compute = dtypes.BFloat16
	}
	if l := p.Tune.LoRA; l != nil {
		d.LoRA = &LoRA{Rank: l.R, Scale: l.Alpha / float64(l.R), Targets: l.Targets}
	}
	return d
}
