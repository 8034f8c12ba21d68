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

// Ranges are the knobs of an ensemble with their ranges, in order.
func (e *Ensemble) Ranges() []struct {
	Knob string
	Range
} {
	return []struct {
		Knob string
		Range
	}{
		{"noise", e.Noise}, {"topic_leak", e.TopicLeak}, {"residual_sd", e.ResidualSD}, {"topic_sd", e.TopicSD},
		{"strength_sd", e.StrengthSD}, {"tokens_sigma", e.TokensSigma},
	}
}
