// What rows assume that nothing measured says.

package methods

import "github.com/entrorouter/entrorouter/harness/spec"

// Assumptions are what nothing measured says about a multi-round router that is trained here.
type Assumptions struct {
	Assimilation float64 // a: how often it uses what an expert tells it, 0 to 1
	Distraction  float64 // share of its own rate that a call takes whose answer it does not use, 0 to 1
	ColdStart    float64 // probability of asking before the reinforcement learning, 0 to 1
}

// AssumptionsOf returns the assumptions of a row of kind routerr1 or xrouter; ok is false for other rows and for those
// with a policy behind a server, which assume none of this.
func AssumptionsOf(row spec.Method) (a Assumptions, ok bool, err error) {
	if row.Name != "routerr1" && row.Name != "xrouter" {
		return a, false, nil
	}
	method, err := New(Setup{Method: row, Spec: &spec.Experiment{}})
	if err != nil {
		return a, false, err
	}
	switch m := method.(type) {
	case *routerR1:
		return Assumptions{m.Assimilation, m.Distraction, m.ColdStart}, true, nil
	case *xRouter:
		return Assumptions{m.Assimilation, m.Distraction, m.ColdStart}, true, nil
	}
	return a, false, nil
}

// SimulatedModel returns the model of a row of kind llmrouter that names no server: one of the pool's simulated routers.
func SimulatedModel(row spec.Method) (model string, ok bool) {
	if row.Name != "llmrouter" || sets(row, "url") {
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

// sets says whether a row names a parameter.
func sets(row spec.Method, param string) bool {
	for i := 0; i+1 < len(row.Params.Content); i += 2 {
		if row.Params.Content[i].Value == param {
			return true
		}
	}
	return false
}
