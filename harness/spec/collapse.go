// The knobs of protocol collapse.

package spec

import (
	"cmp"
)

// Collapse is protocol collapse: policies trained in a small multi-round environment without problems or language
// models (section 3.1 and appendix A; package theory). A call costs the expert's output price over the dearest one's.
type Collapse struct {
	Buckets  []CollapseBucket  `yaml:"buckets"`           // kinds of problem
	Setting  CollapseSetting   `yaml:"setting"`           // what curves, sweep and controls have in common
	Training CollapseTraining  `yaml:"training"`          // the same for all
	Curves   []float64         `yaml:"curves" in:"[0,1]"` // assimilations whose training is drawn
	Sweep    CollapseSweep     `yaml:"sweep"`             // the grid of the phase diagram
	Controls []CollapseControl `yaml:"controls"`          // the setting with one thing changed
}

// CollapseBucket is a kind of problem. Its probabilities are a choice, no measurement.
type CollapseBucket struct {
	ID      string             `yaml:"id"`                     // in measurements
	Label   string             `yaml:"label" line:"true"`      // in the figure
	Share   float64            `yaml:"share" in:"(0,1000000]"` // of the problems; shares are weights
	Self    float64            `yaml:"self" in:"[0,1]"`        // probability that the router alone is right
	Success map[string]float64 `yaml:"success" in:"[0,1]"`     // expert id -> probability that it is right
}

// CollapseSetting is what curves, sweep and controls have in common.
type CollapseSetting struct {
	Assimilation float64 `yaml:"assimilation" in:"[0,1]"`                 // of the controls; curves and sweep have their own
	Distraction  float64 `yaml:"distraction" in:"[0,1]"`                  // lost by a call that is not assimilated
	Horizon      int     `yaml:"horizon" in:"[1,6]"`                      // calls at most
	Select       bool    `yaml:"select"`                                  // an expert's answer may be handed over as it is
	FormatFail   float64 `yaml:"format_fail" in:"[0,1]"`                  // probability that a call is malformed; reward -1
	Reward       string  `yaml:"reward" oneof:"linear router_r1 xrouter"` // linear: correct - lambda*cost
	Lambda       float64 `yaml:"lambda" in:"[0,1000000]"`                 // price of cost: linear, xrouter
	Alpha        float64 `yaml:"alpha" in:"[0,1]"`                        // weight of cost: router_r1
	CostMax      float64 `yaml:"cost_max" in:"[0,1000000]"`               // cap on the penalty: xrouter
	Window       int     `yaml:"window" in:"[1,1000000]"`                 // costs that a cost is compared with: router_r1
	CallBonus    float64 `yaml:"call_bonus" in:"[0,1000000]"`             // added to episodes with a call
	StdNorm      bool    `yaml:"std_norm"`                                // divide advantages by the group's sample standard deviation
	EntropyBonus float64 `yaml:"entropy_bonus" in:"[0,1000000]"`          // weight of the policy's entropy
	Policy       string  `yaml:"policy" oneof:"table network"`            // table: a row of logits a bucket and number of calls; network: one hidden layer
	Algorithm    string  `yaml:"algorithm" oneof:"grpo ppo"`              // ppo: with a critic, one episode a problem, as many episodes a step
	Outcomes     string  `yaml:"outcomes" oneof:"chances replay"`         // replay: each problem is right or wrong for good, as recorded outcomes are; needs a network
}

// CollapseTraining is how all policies are trained.
type CollapseTraining struct {
	Steps       int     `yaml:"steps" in:"[1,1000000]"`     // updates
	Batch       int     `yaml:"batch" in:"[1,1000000]"`     // problems per step
	Group       int     `yaml:"group" in:"[2,4096]"`        // episodes a problem
	LR          float64 `yaml:"lr" in:"(0,100]"`            // Adam, a table
	NetworkLR   float64 `yaml:"network_lr" in:"(0,100]"`    // a network
	CriticLR    float64 `yaml:"critic_lr" in:"(0,100]"`     // the critic of ppo
	Hidden      int     `yaml:"hidden" in:"[1,65536]"`      // units of a network
	InitialCall float64 `yaml:"initial_call" in:"(0,1)"`    // probability of asking after the cold start, in every state
	LogEvery    int     `yaml:"log_every" in:"[1,1000000]"` // steps between points of a curve
}

// CollapseSweep is a grid of settings.
type CollapseSweep struct {
	Assimilation []float64 `yaml:"assimilation" in:"[0,1]"` // rising
	Lambda       []float64 `yaml:"lambda" in:"[0,1000000]"` // rising; holds setting.lambda
}

// CollapseControl changes the setting where it names a knob.
type CollapseControl struct {
	ID           string   `yaml:"id"`                                                // in measurements
	Label        string   `yaml:"label" line:"true"`                                 // in the figure
	Reward       string   `yaml:"reward,omitempty" oneof:"linear router_r1 xrouter"` // instead of the setting's
	Assimilation *float64 `yaml:"assimilation,omitempty" in:"[0,1]"`                 // 0 to 1
	Distraction  *float64 `yaml:"distraction,omitempty" in:"[0,1]"`                  // 0 to 1
	Horizon      *int     `yaml:"horizon,omitempty" in:"[1,6]"`                      // 1 to 6
	Select       *bool    `yaml:"select,omitempty"`                                  // an expert's answer may be handed over
	FormatFail   *float64 `yaml:"format_fail,omitempty" in:"[0,1]"`                  // 0 to 1
	Lambda       *float64 `yaml:"lambda,omitempty" in:"[0,1000000]"`                 // at least 0
	CallBonus    *float64 `yaml:"call_bonus,omitempty" in:"[0,1000000]"`             // at least 0
	StdNorm      *bool    `yaml:"std_norm,omitempty"`                                // divide advantages by the deviation
	EntropyBonus *float64 `yaml:"entropy_bonus,omitempty" in:"[0,1000000]"`          // at least 0
	Policy       string   `yaml:"policy,omitempty" oneof:"table network"`            // instead of the setting's
	Algorithm    string   `yaml:"algorithm,omitempty" oneof:"grpo ppo"`              // instead of the setting's
	Outcomes     string   `yaml:"outcomes,omitempty" oneof:"chances replay"`         // instead of the setting's
	LeftOut      bool     `yaml:"left_out,omitempty"`                                // of the figure; it is in the measurements
}

// Apply returns the setting with the changes of a control.
func (c CollapseControl) Apply(s CollapseSetting) CollapseSetting {
	s.Reward = cmp.Or(c.Reward, s.Reward)
	s.Policy = cmp.Or(c.Policy, s.Policy)
	s.Algorithm = cmp.Or(c.Algorithm, s.Algorithm)
	s.Outcomes = cmp.Or(c.Outcomes, s.Outcomes)
	change(&s.Assimilation, c.Assimilation)
	change(&s.Distraction, c.Distraction)
	change(&s.Horizon, c.Horizon)
	change(&s.Select, c.Select)
	change(&s.FormatFail, c.FormatFail)
	change(&s.Lambda, c.Lambda)
	change(&s.CallBonus, c.CallBonus)
	change(&s.StdNorm, c.StdNorm)
	change(&s.EntropyBonus, c.EntropyBonus)
	return s
}

func change[T any](knob, to *T) {
	if to != nil {
		*knob = *to
	}
}
