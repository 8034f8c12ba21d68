// Ensembles of simulated pools: what no data fix is drawn many times.

package spec

// Ensemble is how simulated pools are drawn that fit the paper's fixed experts alike and differ in what no data fix. What is true on all of
// them does not rest on a choice of ours.
type Ensemble struct {
	Pools int `yaml:"pools" in:"[2,1000]"` // how many are drawn

	Noise       Range `yaml:"noise"`        // simulation.text.noise, logits
	TopicLeak   Range `yaml:"topic_leak"`   // simulation.text.topic_leak
	ResidualSD  Range `yaml:"residual_sd"`  // simulation.residual_sd, logits
	TopicSD     Range `yaml:"topic_sd"`     // of simulation.topic_difficulty, which is drawn anew, logits
	StrengthSD  Range `yaml:"strength_sd"`  // of the experts' w, which are drawn anew, logits
	TokensSigma Range `yaml:"tokens_sigma"` // simulation.tokens.sigma
}

// Range is what a knob is drawn from.
type Range struct {
	From  float64 `yaml:"from" in:"[0,1000]"`                 // the least
	To    float64 `yaml:"to" in:"[0,1000]"`                   // the most
	Scale string  `yaml:"scale,omitempty" oneof:"linear log"` // default: linear
	Why   string  `yaml:"why"`                                // the reason for the range
}

// Drawn are the knobs of one pool of an ensemble.
type Drawn struct{ Noise, TopicLeak, ResidualSD, TopicSD, StrengthSD, TokensSigma float64 }

// Drawing is a knob of an ensemble with its range.
type Drawing struct {
	Knob string
	Range
	Of func(*Drawn) *float64 // where a pool has it
}

// Ranges are the knobs of an ensemble with their ranges, in order.
func (e *Ensemble) Ranges() []Drawing {
	return []Drawing{
		{"noise", e.Noise, func(d *Drawn) *float64 { return &d.Noise }},
		{"topic_leak", e.TopicLeak, func(d *Drawn) *float64 { return &d.TopicLeak }},
		{"residual_sd", e.ResidualSD, func(d *Drawn) *float64 { return &d.ResidualSD }},
		{"topic_sd", e.TopicSD, func(d *Drawn) *float64 { return &d.TopicSD }},
		{"strength_sd", e.StrengthSD, func(d *Drawn) *float64 { return &d.StrengthSD }},
		{"tokens_sigma", e.TokensSigma, func(d *Drawn) *float64 { return &d.TokensSigma }},
	}
}
