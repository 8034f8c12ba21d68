// What rows assume that nothing measured says.

package methods

import "github.com/entrorouter/entrorouter/harness/spec"

// Assumptions are what nothing measured says about a multi-round router that is trained here.
type Assumptions struct {
	Assimilation float64 // a: how often it uses what an expert tells it, 0 to 1
	Distraction  float64 // share of its own rate that a call takes whose answer it does not use, 0 to 1
	ColdStart    float64 // probability of asking before the reinforcement learning, 0 to 1
}

// assuming is a method whose routers follow from assumptions.
type assuming interface{ assumptions() Assumptions }

// AssumptionsOf returns what a row assumes; ok is false for rows that assume nothing, as do those with a policy behind a
// server.
func AssumptionsOf(row spec.Method) (a Assumptions, ok bool, err error) {
	if !named(row.Name).assumes {
		return a, false, nil
	}
	method, err := New(Setup{Method: row, Spec: &spec.Experiment{}})
	if err != nil {
		return a, false, err
	}
	if m, ok := method.(assuming); ok {
		return m.assumptions(), true, nil
	}
	return a, false, nil
}

// StandsApart says which rows do not compete with others: yardsticks, rows whose numbers follow from an assumption, as those of
// simulated language models do, and language models that are not trained.
func StandsApart(row spec.Method, x *spec.Experiment) (bool, error) {
	if _, simulated := SimulatedModel(row); simulated || Hindsight(row.Name) || AsksBest(row) || FrozenTrunk(row, x) {
		return true, nil
	}
	_, assumes, err := AssumptionsOf(row)
	return assumes, err
}

// Asker is what a multi-round row that is trained here is, beside its assumptions.
type Asker struct {
	Reward       string  // whose, as people write it
	Assimilation float64 // assumed
	Anchored     bool    // the soft anchor acts on its first move
}

// AskerOf returns what a row is that is trained here and may ask several experts; ok is false for other rows.
func AskerOf(row spec.Method) (a Asker, ok bool, err error) {
	if !named(row.Name).assumes {
		return a, false, nil
	}
	method, err := New(Setup{Method: row, Spec: &spec.Experiment{}})
	if err != nil {
		return a, false, err
	}
	switch m := method.(type) {
	case *routerR1:
		return Asker{"Router-R1", m.Assimilation, m.Anchor != nil}, true, nil
	case *xRouter:
		return Asker{"xRouter", m.Assimilation, m.Anchor != nil}, true, nil
	}
	return a, false, nil
}

// limited is a method with a knob whose routers are held back where the knob is left alone.
type limited interface {
	limit() string // by what, as in "a share of the dollars"; empty: by nothing
}

// Limit says what holds back the routers of a row at their own operating point; empty if nothing does or if they have no
// knob.
func Limit(row spec.Method, x *spec.Experiment) (string, error) {
	if !named(row.Name).knob {
		return "", nil
	}
	method, err := New(Setup{Method: row, Spec: x})
	if err != nil {
		return "", err
	}
	if m, ok := method.(limited); ok {
		return m.limit(), nil
	}
	return "", nil
}

// SimulatedModel returns the model of a row that asks a language model and names no server: one of the pool's simulated routers.
func SimulatedModel(row spec.Method) (model string, ok bool) {
	if !AsksForDecisions(row.Name) || sets(row, "url") {
		return "", false
	}
	for i := 0; i+1 < len(row.Params.Content); i += 2 {
		if row.Params.Content[i].Value == "model" {
			model = row.Params.Content[i+1].Value
		}
	}
	return model, true
}

// ImportsPassRates says whether a row takes predicted pass rates from a file instead of predicting them.
func ImportsPassRates(row spec.Method) bool { return row.Name == "forc" && sets(row, "pihat") }

func (k *asksSeveral) assumptions() Assumptions {
	return Assumptions{k.Assimilation, k.Distraction, k.ColdStart}
}
