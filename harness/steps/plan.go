// A plan and its steps.

package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Plan is the steps of an experiment. It is laid out by one goroutine; then several may get its steps.
type Plan struct {
	Spec    *spec.Resolved
	Options Options
	Store   *store.Store

	Steps    []*Step // inputs come before what reads them
	Measured []*Step // what the run is for: they make measurements.txt

	clock clock
}

// Step is a pure function from a recipe and the keys of its inputs to a folder of plain text. Its key is known before
// anything has run; its entry is made at most once.
type Step struct {
	explain.Step // what it is called, its recipe, and what people may ask about it

	inputs []*Step
	make   func(ctx context.Context, draft *store.Draft) error

	lock  sync.Mutex // of what follows
	task  Task
	made  bool
	ran   bool // by this run; otherwise it was stored before
	entry store.Entry
}

// Say says how the making of the step proceeds, while it is made.
func (s *Step) Say(text string) { s.task.Say(text) }

// Input is a step that another reads, under the name that it has there: a path that says what it is, as in
// "outcomes/paper/aime24"; that of the knob, if one of the spec says which it is.
type Input struct {
	As string
	*Step
}

// As is the step as the input of another.
func (s *Step) As(name string) Input { return Input{name, s} }

// Open opens the store for a plan without steps.
func Open(r *spec.Resolved, o Options) (*Plan, error) {
	p := &Plan{Spec: r, Options: o.Filled()}
	if o.Look {
		if info, err := os.Stat(o.Out); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("store %q: not a directory; name the folder that runs write to", o.Out)
		}
		p.Store = store.OpenReadOnly(o.Out)
		return p, nil
	}
	var err error
	p.Store, err = store.Open(o.Out, store.Options{Log: p.Options.Log, Env: p.Options.Env})
	if o.Beside && (errors.Is(err, store.ErrLocked) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		p.Options.Log.Warn("what is stored is only read and nobody is asked", "since", err)
		p.Store, p.Options.Look, p.Options.Offline, err = store.OpenReadOnly(o.Out), true, true, nil
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Close lets other runs write to the store.
func (p *Plan) Close() error { return p.Store.Close() }

// Stored is how many steps were stored before and not carried out again.
func (p *Plan) Stored() (n int) {
	for _, s := range p.Steps {
		if !s.ran {
			n++
		}
	}
	return n
}
