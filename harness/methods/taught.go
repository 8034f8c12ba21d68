// Who teaches rows that train a policy, writes for them and has them on a server.

package methods

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
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
	// LookAtWriter finds out whether that server can write for the policy of a pool. It returns the server's address and version; none if
	// no server writes.
	LookAtWriter(ctx context.Context, pool []routing.Expert) (url, version string, err error)
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
