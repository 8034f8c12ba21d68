// What is trained of a row, in numbers that say what a run of it takes.

package methods

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Network is what is trained of a row in steps, for estimates.
type Network struct {
	Backend string  // what computes it: go or xla; empty: neither, its steps are not counted
	LM      bool    // it is a language model
	Lacks   string  // folder of the language model that has no config.json, so that Weights, Frozen and FLOPs are not known; empty: none
	Weights int64   // that are trained
	Frozen  int64   // bytes of those of a language model that are not
	FLOPs   float64 // of a text in a step: forward, backward, update
	Reading float64 // of a text before all steps, by layers that are frozen below the trained ones
	Reads   int64   // tokens of the longest prompt of a language model
	Writes  int64   // tokens that it may write before it chooses, in training; 0: it writes nothing
	Routes  int64   // and when it routes
	Group   int64   // rollouts of a problem of a batch of Batch; 0: there are none
	Batch   int64
	Knob    string // that makes them many, as the row's params name it
	Value   string // of the knobs that do, in words

	effort func(one, two int64) Effort
}

// Effort is what fits take: optimizer steps, texts that go through the network in them, and how many of these the policy writes itself.
type Effort struct{ Steps, Texts, Written float64 }

func (e Effort) add(steps, texts float64) Effort {
	return Effort{e.Steps + steps, e.Texts + texts, e.Written}
}

// Effort returns that of one fit to so many training problems of the two stages, the choice of its weight decay included.
func (n Network) Effort(one, two int) Effort {
	if n.effort == nil {
		return Effort{}
	}
	return n.effort(int64(one), int64(two))
}

// What training was measured at on the Go backend and two cores.
const (
	stepSeconds = 1e-3 // of a step whose network is small
	goFLOPS     = 4e9  // of a large one, a second
	goLMFLOPS   = 2e9  // of a language model: lm-tiny 1.4e9, one of four layers and 128 units 2.7e9
)

// Seconds is how long a fit of some effort takes on the Go backend and two cores that reads so many texts before its steps or to route them.
func (n Network) Seconds(e Effort, read int) float64 {
	rate := goFLOPS
	if n.LM {
		rate = goLMFLOPS
	}
	return e.Steps*stepSeconds + (e.Texts*n.FLOPs+float64(read)*n.Reading)/rate
}

// promptTokens is about how many tokens a language model here reads with a problem: the tables of routers have 200 to 330.
const promptTokens = 256

// movesRead is about how many situations the episodes of a problem come to in a step, which are read once however many episodes come there.
const movesRead = 2

// Operations of a weight and a token, or a text of a network that reads words.
const (
	trainedFLOPs = 6 // forward, backward, update
	frozenFLOPs  = 2 // forward
)

// hashed is a network of one layer over hashed words.
func hashed(knob string, buckets, width int) Network {
	weights := int64(buckets) * int64(width)
	return Network{Weights: weights, FLOPs: trainedFLOPs * float64(weights), Knob: knob + "buckets", Value: fmt.Sprintf("%d buckets of %d units", buckets, width)}
}

// sftEffort is Stage I on so many problems.
func sftEffort(cfg spec.SFT, problems int64) (steps, texts float64) {
	epochs := float64(cfg.Epochs)
	return epochs * float64((problems+int64(cfg.Batch)-1)/int64(cfg.Batch)), epochs * float64(problems)
}

// decoderNetwork is a language model that chooses among so many.
func decoderNetwork(p spec.Policy, choices int) Network {
	n := Network{LM: true, Knob: "policy.model", Value: "a language model"}
	n.Reads = int64(p.MaxTokens)
	if w := p.Writes; w != nil {
		n.Writes, n.Routes = int64(w.Tokens), int64(w.AtTest())
	}
	c, err := lm.ConfigOf(*p.Model)
	if err != nil {
		n.Lacks = p.Model.Folder
		return n
	}
	n.Value = fmt.Sprintf("%d layers of width %d and %d inside", c.Layers, c.Hidden, c.Inner)
	s := c.Shares(p, choices)
	n.Weights, n.Frozen = s.Trained, s.FrozenBytes
	tokens := float64(promptTokens)
	if p.Writes != nil {
		tokens += float64(p.Writes.Tokens)
	}
	n.FLOPs = tokens * (trainedFLOPs*float64(s.TrainedProducts) + frozenFLOPs*float64(s.PassedProducts))
	n.Reading = tokens * frozenFLOPs * float64(s.ReadProducts)
	return n
}
