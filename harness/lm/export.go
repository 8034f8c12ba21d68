// A trained policy as files for other programs: a whole model, or its adapters.

package lm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/entrorouter/entrorouter/harness/folder"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

// Export says how a trained policy is written.
type Export struct {
	DType   safetensors.DType // F32 or BF16
	Adapter bool              // the low-rank adapters alone, as PEFT lays them out, for the folder that training started from
	Card    []byte            // README.md of the folder; nil: none
}

// Names of the files of adapters, as PEFT has them, and of a model card.
const (
	adapterFile       = "adapter_model.safetensors"
	adapterConfigFile = "adapter_config.json"
	cardFile          = "README.md"
)

// ErrNoAdapter says that a policy has no adapters that a folder could be written of.
var ErrNoAdapter = errors.New("no adapter to export")

// Write writes a trained policy into dir, which must be empty or not there yet. The folder of a whole model is loaded by
// transformers and by Open, and its scores of the labels as first tokens of an answer are the policy's: weights that were
// trained stand in place of the base's, adapters are added to what they adapt. Where a head alone was trained, the labels'
// rows of the model's head are replaced; a head that was tied to the embedding is written beside it then. Files that say
// how texts become tokens are those of the base.
//
// Weights go from the model to the file one at a time. The folder is made by folder.Make.
func (x Export) Write(m *policy.Model, dir string) error {
	p, ok := m.Policy().(*Policy)
	if !ok {
		return fmt.Errorf("export: a policy of kind %s is no language model", m.Policy().Kind())
	}
	fill := x.model
	if x.Adapter {
		fill = x.adapter
	}
	return x.write(dir, func(dir string) error { return fill(p, trainedValues(m), dir) })
}

// write makes a folder with the card beside what fill writes.
func (x Export) write(dir string, fill func(dir string) error) error {
	err := folder.Make(dir, func(dir string) error {
		if x.Card != nil {
			if err := os.WriteFile(filepath.Join(dir, cardFile), x.Card, 0o666); err != nil {
				return err
			}
		}
		return fill(dir)
	})
	if err != nil && !errors.Is(err, spec.ErrUsage) {
		return fmt.Errorf("export to %s: %w", dir, err)
	}
	return err
}

// Blank writes adapters as Write does of a policy that nobody has trained: those of its rank, every weight 0, which change nothing.
func (x Export) Blank(p *Policy, dir string) error {
	blank := map[string]func() ([]float32, error){}
	for _, s := range p.decoder.AdapterSizes() {
		blank[s.Name] = func() ([]float32, error) { return make([]float32, size(s.Dims)), nil }
	}
	return x.write(dir, func(dir string) error { return x.adapter(p, blank, dir) })
}

// trainedValues returns how the trained weights are read.
func trainedValues(m *policy.Model) map[string]func() ([]float32, error) {
	read := map[string]func() ([]float32, error){}
	for _, w := range m.Policy().Weights() {
		if w.Frozen != nil {
			continue
		}
		read[w.Name] = func() ([]float32, error) {
			value, err := m.Scope().GetVariable(w.Name).Value()
			if err != nil {
				return nil, err
			}
			return tensors.CopyFlatData[float32](value)
		}
	}
	return read
}

func (x Export) model(p *Policy, trained map[string]func() ([]float32, error), dir string) error {
	c := p.base.Config
	if c.Position == 0 {
		c.Position = p.record.Policy.MaxTokens + p.About().Writes + 1 // prompts that it has read, and the answer
	}
	if p.head() {
		c.Tied = false
	}
	dims := map[string][]int{}
	for _, t := range c.Sizes() {
		dims[t.Name] = t.Dims
	}
	values := func(name string) ([]float32, error) {
		if read, ok := trained[name]; ok {
			return read()
		}
		from := name
		if name == headName {
			from = p.base.Config.headWeight()
		}
		w, err := p.base.values(Size{from, dims[name]})
		if err != nil {
			return nil, err
		}
		rows := trained[labelHead]
		product := strings.TrimSuffix(name, ".weight")
		switch {
		case p.decoder.LoRA.adapts(product):
			a, err := trained[product+loraA]()
			if err != nil {
				return nil, err
			}
			b, err := trained[product+loraB]()
			if err != nil {
				return nil, err
			}
			p.decoder.LoRA.merge(w, a, b, dims[name][1])
		case name == headName && rows != nil:
			values, err := rows()
			if err != nil {
				return nil, err
			}
			for i, label := range p.labels {
				copy(w[int(label)*c.Hidden:], values[i*c.Hidden:(i+1)*c.Hidden])
			}
		}
		return w, nil
	}
	return write(dir, c, values, x.DType, p.base)
}

// merge adds Scale * B A to a weight [out,in]: A is [Rank,in], B [out,Rank].
func (l *LoRA) merge(w, a, b []float32, in int) {
	for o := range len(w) / in {
		row := w[o*in : (o+1)*in]
		for r := range l.Rank {
			scale := float32(l.Scale) * b[o*l.Rank+r]
			for i, v := range a[r*in : (r+1)*in] {
				row[i] += scale * v
			}
		}
	}
}

// peft is what comes before the names of a model's weights in PEFT's files.
const peft = "base_model.model."

func (x Export) adapter(p *Policy, trained map[string]func() ([]float32, error), dir string) error {
	lora := p.decoder.LoRA
	switch {
	case lora == nil:
		return fmt.Errorf("%w: the policy was trained without any; write the whole model", ErrNoAdapter)
	case p.base.dir == "":
		return fmt.Errorf("%w: the model below them is a fresh one, which no folder holds; write the whole model", ErrNoAdapter)
	}
	var infos []safetensors.Info
	for _, s := range p.decoder.AdapterSizes() {
		infos = append(infos, safetensors.Info{Name: peft + s.Name, DType: x.DType, Dims: s.Dims})
	}
	err := writeWeights(filepath.Join(dir, adapterFile), infos, func(name string) ([]float32, error) { return trained[name[len(peft):]]() })
	if err != nil {
		return err
	}
	base, err := filepath.Abs(p.base.dir)
	if err != nil {
		return err
	}
	return tokenizer.WriteJSON(filepath.Join(dir, adapterConfigFile), map[string]any{
		"peft_type": "LORA", "task_type": "CAUSAL_LM", "inference_mode": true, "bias": "none", "fan_in_fan_out": false, "lora_dropout": 0,
		"r": lora.Rank, "lora_alpha": p.record.Policy.Tune.LoRA.Alpha, "target_modules": lora.Targets, "base_model_name_or_path": base,
	})
}

// About is what a reader of an exported policy needs to know of it.
type About struct {
	Pool   []Labelled
	System string // message before the problem
	Base   string // what training started from, in words
	Digest string // SHA-256 of what decides what that computes
	Tune   string // which weights were trained, in words
	Writes int    // tokens that it writes at most before it chooses; 0: it only chooses
}

// About says what the policy is.
func (p *Policy) About() About {
	a := About{Pool: labelled(p.record.Experts), System: p.system, Digest: p.base.Digest}
	if p.Writes() {
		a.Writes = p.record.Policy.Writes.AtTest()
	}
	c := p.base.Config
	a.Base = fmt.Sprintf("a fresh model whose weights are random, seed %d", p.record.Policy.Model.Seed)
	if p.base.dir != "" {
		a.Base = p.base.dir
	}
	a.Base += fmt.Sprintf(" (%s, layers: %d, width %d, %d weights)", c.Arch, c.Layers, c.Hidden, c.Parameters())
	switch tune := p.record.Policy.Tune; {
	case tune.LoRA != nil:
		a.Tune = fmt.Sprintf("low-rank adapters of rank %d with alpha %g on %s", tune.LoRA.R, tune.LoRA.Alpha, strings.Join(tune.LoRA.Targets, ", "))
	case tune.Last > 0:
		a.Tune = fmt.Sprintf("the last layers, %d of them, and the norm after them", tune.Last)
	case p.head():
		a.Tune = "the letters' rows of the head: a linear head on a frozen language model"
	default:
		a.Tune = "every weight"
	}
	return a
}
