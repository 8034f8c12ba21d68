// What others ask of a row that its kind does not say.

package methods

import (
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Traits are what a row is by its parameters. A method that has some says so in its own file, in a function traits.
type Traits struct {
	Allowance Allowance // of a row that learns from texts
	Limit     string    // what holds back its routers where their knob is left alone, as in "a share of the dollars"; empty: nothing
	Imports   bool      // it takes predicted pass rates from a file instead of predicting them
	Simulated string    // the router that it asks for every decision, one of those that the pool simulates; empty: none
	Yardstick bool      // it is there to be measured against: it knows the answers, or is the best expert for all problems

	Network func(experts int) Network // what is trained of it in steps, for a pool of so many experts; nil: nothing
	LM      *spec.Policy              // the language model that is trained, or a head on it; nil: none
	Asker   *Asker                    // of a row that is trained here and may ask several experts; nil: of another

	weighs bool // its routers weigh pass rates and dollars that they expect, by a knob
}

// Asker is what a row is that is trained here and may ask several experts. What nothing measured says is assumed.
type Asker struct {
	Reward       string  // whose, as people write it
	Anchored     bool    // the soft anchor acts on its first move
	Assimilation float64 // a, assumed: how often it uses what an expert tells it, 0 to 1
	Distraction  float64 // assumed: share of its own rate that a call takes whose answer it does not use, 0 to 1
	ColdStart    float64 // assumed: probability of asking before the reinforcement learning, 0 to 1
}

// ChoosesByLM says whether its routers are language models that are trained and choose an expert once.
func (t Traits) ChoosesByLM() bool { return t.LM != nil && t.Asker == nil }

// FrozenTrunk says whether nothing of a language model is trained but a linear head on it.
func (t Traits) FrozenTrunk() bool { return t.LM != nil && t.LM.Tune.Part == "head" }

// Apart says whether a row does not compete with others: yardsticks, rows whose numbers follow from an assumption, as those of
// simulated language models do, and language models that are not trained.
func (t Traits) Apart() bool {
	return t.Yardstick || t.Simulated != "" || t.Asker != nil || t.FrozenTrunk()
}

// TraitsOf returns the traits of a method.
func TraitsOf(m routing.Method) (t Traits) {
	if has, ok := m.(interface{ traits() Traits }); ok {
		t = has.traits()
	}
	return t
}
