// Where a run reads and writes, and who hears of it.

package steps

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/machine"
	"github.com/entrorouter/entrorouter/harness/memory"
)

// ErrIncomplete says that the run stopped with work left that it was not allowed to do.
var ErrIncomplete = errors.New("incomplete")

// Options say where a run reads and writes.
type Options struct {
	Out       string            // folder of the store and the rollouts, e.g. results/runs
	Data      string            // data folder of benchmarks and recorded outcomes; empty: none
	Offline   bool              // ask no expert: what is not stored is an error
	Again     bool              // answers that were not to be had are asked for again, where that may help
	Key       string            // bearer token of the experts' servers
	Transport http.RoundTripper // carries requests to servers; nil: the network
	Plugin    string            // PJRT plugin of policies on XLA, a name or an absolute path; empty: cuda
	Every     int               // steps of a training between two states that are kept, from which it goes on if it is stopped; 0: none is kept

	Budget *cost.Budget    // what requests may spend; nil: no limit
	Grace  time.Duration   // what is in flight may finish for so long when a run is told to stop
	Cut    <-chan struct{} // closed when it may not; nil: never

	Progress Progress          // nil: silent
	Log      *slog.Logger      // nil: silent
	Env      map[string]string // versions and machine, written beside every entry, never compared; a run adds the platform of its backend

	Memory *memory.Lasting // what runs of protocol split that a process makes one after another remember; nil: each remembers for itself

	Room machine.Room // what the machine has for it; zero: nobody asks

	Look   bool // the store is only looked at: nothing is made in it, not even its folder
	Beside bool // so it is, and nobody is asked, where it cannot be written to, as while another process does
	Priced bool // and nothing that needs weights of a language model is asked: what reads a model whose weights are not here is not stored
}

// Filled puts silence where nothing was given.
func (o Options) Filled() Options {
	if o.Progress == nil {
		o.Progress = silent{}
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Env == nil {
		o.Env = map[string]string{}
	}
	return o
}

// Progress hears how far a run is. Several goroutines may call it.
type Progress interface {
	// Start says that something begins: an experiment, a step inside it, what a step consists of. total is how many parts it has, 0
	// where nobody counts. Steps may go on beside each other.
	Start(what string, total int) Task
	Say(text string) // how what began last proceeds

	Plan(steps []explain.Pending) // the experiment that has begun has these steps to make; each is started under its name
	Sent(retry bool)              // a request went to a server that is paid, perhaps not for the first time
	Spent(usd float64)            // and cost so much
}

// Task is what has begun and is not done.
type Task interface {
	Add(n int)       // so many more of its parts are done
	Say(text string) // how it proceeds
	Done()
}

type silent struct{}

func (silent) Start(string, int) Task { return silent{} }
func (silent) Add(int)                {}
func (silent) Say(string)             {}
func (silent) Done()                  {}
func (silent) Plan([]explain.Pending) {}
func (silent) Sent(bool)              {}
func (silent) Spent(float64)          {}
