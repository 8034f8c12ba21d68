// What others ask of rows that train a policy.

package methods

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

// Servable is a method whose policy, if that is a language model, can be asked behind a server once it is exported.
type Servable interface {
	// OnServer returns a router that asks a server, by chat or with tokens, in place of the router that Fit returns. key is the server's,
	// empty: none. pool are the experts that Fit had and work is Fit's.
	OnServer(chat experts.Chatter, at experts.Endpoint, key string, pool []routing.Expert, work routing.Work) (routing.Router, error)
}

// Taught is a method whose Stage I may learn from what a teacher writes.
type Taught interface {
	// Teacher returns the model that is asked; ok is false where nobody is.
	Teacher() (teacher experts.Endpoint, ok bool)
}

// Written is a method whose policy may be written for by a server.
type Written interface {
	// LookAtWriter finds out whether that server can write for the policy of a pool, and puts adapters into folder where the spec names none.
	// It returns the server's address and version; none if no server writes.
	LookAtWriter(ctx context.Context, pool []routing.Expert, folder string) (url, version string, err error)
}

// TeacherOf returns whom a method learns from; ok is false for nobody.
func TeacherOf(m routing.Method) (x experts.Endpoint, ok bool) {
	if t, is := m.(Taught); is {
		x, ok = t.Teacher()
	}
	return x, ok
}

// Endpoints returns the models that a method asks, to decide or to learn, and that are no experts of the pool.
func Endpoints(m routing.Method) (all []experts.Endpoint) {
	if a, ok := m.(Asking); ok {
		all = a.Endpoints()
	}
	if t, ok := TeacherOf(m); ok {
		all = append(all, t)
	}
	return all
}

// WrittenBy returns who writes a method's rollouts, as its recipe has it; empty: nobody does, or this program.
func WrittenBy(m routing.Method, x *spec.Experiment) string {
	if _, taught := TeacherOf(m); taught && x.Writer != nil {
		return "server"
	}
	return ""
}

// LanguageModel returns the policy of a row that trains a language model, or a head on one, to choose an expert once; ok is false for other
// rows.
func LanguageModel(row spec.Method, x *spec.Experiment) (p spec.Policy, ok bool) {
	method, err := New(Setup{Method: row, Spec: x})
	if err != nil {
		return p, false // said where the row is planned
	}
	if t, _, ok := trains(method); ok && t.Policy.Kind == "lm" {
		return t.Policy, true
	}
	return p, false
}

// AsksByLanguageModel says whether a row trains a language model, or a head on one, to ask several experts.
func AsksByLanguageModel(row spec.Method, x *spec.Experiment) bool {
	method, err := New(Setup{Method: row, Spec: x})
	return err == nil && asksBy(method) != nil // said where the row is planned
}

// asksBy is the language model of a row that asks several experts; nil: it has none, or is another row.
func asksBy(m routing.Method) *spec.Policy {
	if k, ok := m.(interface{ languageModel() *spec.Policy }); ok {
		return k.languageModel()
	}
	return nil
}

// TrainsLanguageModel says whether a fit of a method holds a language model's weights, its own beside those that all read.
func TrainsLanguageModel(m routing.Method) bool {
	if t, _, ok := trains(m); ok {
		return t.Policy.Kind == "lm"
	}
	return asksBy(m) != nil
}

// trains returns the training of a method that trains a policy, and the param that says what a compact one reads; ok is false for others.
func trains(m routing.Method) (t *stages.Training, reads string, ok bool) {
	switch m := m.(type) {
	case *stages.Training:
		return m, "features", true
	case *entroPlus:
		return m.Training, "policy_features", true
	}
	return nil, "", false
}

// TrainingSteps returns the steps of a row as Steps of its training does; none if it trains no policy.
func TrainingSteps(s Setup, experts int) ([]stages.TrainingStep, error) {
	m, err := New(s)
	if err != nil {
		return nil, err
	}
	if t, _, ok := trains(m); ok {
		return t.Steps(experts)
	}
	return nil, nil
}

// FrozenTrunk says whether a row trains nothing of a language model but a linear head on it.
func FrozenTrunk(row spec.Method, x *spec.Experiment) bool {
	method, err := New(Setup{Method: row, Spec: x})
	if err != nil {
		return false // said where the row is planned
	}
	if t, _, ok := trains(method); ok {
		return t.Policy.Kind == "lm" && t.Policy.Tune.Part == "head"
	}
	p := asksBy(method)
	return p != nil && p.Kind == "lm" && p.Tune.Part == "head" // a spec that was not loaded names no kind
}
