// An experiment of protocol split as it is planned and carried out: what its steps share, and what each is about.

package protocol

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/memory"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// Versions of the steps: raised when a change of code changes what a step means, so that stored entries of the old
// meaning are not taken for the new one.
const (
	problemsVersion = 1
	profileVersion  = 2
	outcomesVersion = 1
	expectedVersion = 1
	fitVersion      = 6
	matchVersion    = 2
	measureVersion  = 15
)

// fitting is what the fits of a pool share under either protocol.
type fitting struct {
	*steps.Plan
	remembers  memory.Memory
	pool       *steps.Pool
	backend    policy.Backend // nil: the store is only looked at
	models     *lm.Models
	processors int64
	slots      *semaphore.Weighted // as many as processors; a fit holds one while it goes on
}

// newMethod is what a row is fitted with under either protocol.
func (f *fitting) newMethod(row spec.Method, servers methods.Servers, ids features.IDs, embed methods.Embed) (routing.Method, error) {
	return methods.New(methods.Setup{
		Method: row, Spec: &f.Spec.Experiment, Pool: f.pool.Experts, Prices: f.Spec.Prices.Models, Data: f.Options.Data, Out: f.Options.Out,
		Backend: f.backend, Texts: f.remembers.Texts, Stages: f.remembers.Stages, Fits: f.remembers.Fits, Models: f.models, Servers: servers, IDs: ids, Embed: embed,
	})
}

// fitAll makes fits: those that may go on beside others, so many at a time, then those that go on alone, in order, and then the matches,
// which read fits.
func (f *fitting) fitAll(ctx context.Context, atATime int, fits []fitted) error {
	var beside, alone, matches []fitted
	for _, x := range fits {
		switch {
		case x.method == nil:
			matches = append(matches, x)
		case goesAlone(x.method):
			alone = append(alone, x)
		default:
			beside = append(beside, x)
		}
	}
	err := f.together(ctx, atATime, beside)
	for _, x := range alone {
		if err == nil {
			_, err = f.Get(ctx, x.step)
		}
	}
	if err == nil {
		err = f.together(ctx, atATime, matches)
	}
	return err
}

// together makes fits beside each other, so many at a time.
func (f *fitting) together(ctx context.Context, atATime int, fits []fitted) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for _, x := range fits {
		group.Go(func() error {
			defer crash.Exit()
			_, err := f.Get(ctx, x.step)
			return err
		})
	}
	return group.Wait()
}

// fitted is a step that fits a row, or matches it; then there is no method.
type fitted struct {
	step   *steps.Step
	method routing.Method
}

// begin waits until a fit may go on beside those that do: one for each processor, but a language model, with weights and moments of its
// own, alone, and so a row that asks models, which wait for the same servers.
func (f *fitting) begin(ctx context.Context, method routing.Method) (done func(), err error) {
	slots := int64(1)
	if goesAlone(method) {
		slots = f.processors
	}
	return func() { f.slots.Release(slots) }, f.slots.Acquire(ctx, slots)
}

func goesAlone(method routing.Method) bool {
	_, asks := method.(methods.Asking)
	_, taught := methods.TeacherOf(method)
	return methods.TraitsOf(method).LM != nil || asks || taught
}

// experiment is an experiment of protocol split as it is planned and carried out: what its steps share.
type experiment struct {
	fitting
	asker *asking.Asker
	files problems.Source

	sets                  []*problemSet
	wants                 []*want
	sftProfile, rlProfile *profile   // nil: no row looks at a training problem; the second has the problems that Stage II alone sees, and is nil, too, if there are none
	testProfiles          []*profile // [test benchmarks]: how difficult their problems are; nil: nobody asks
	arenas                []*arena
	fits                  [][]*fit // [rows][seeds]; rows that do not depend on a seed have one

	reading sync.Mutex // of what fits read
	train   *routing.TrainSet
}

// problemSet is a draw of one benchmark.
type problemSet struct {
	*steps.Step
	e         *experiment
	benchmark string
	n         int

	read     bool
	problems []routing.Problem
	latents  []routing.Latent // [len(problems)] of a generated set, else nil
}

// want is the answers that a step reads: so many runs of every problem of a set from some experts.
type want struct {
	step *steps.Step
	set  *problemSet
	asking.Block

	unanswered string // digest of the answers that were known not to be had when the step was planned; empty: none
}

// profile is the measured pass rates of a problem set (section 3.2): Rollouts rollouts of every expert and of the
// probe on every problem. The paper stops at the probe where it passes; every expert is asked all the same, since
// the ablation without the gate needs their rates. A profile of test problems (split Strata) needs no probe.
type profile struct {
	*want
	*steps.Step
	e     *experiment
	set   *problemSet
	probe *routing.Expert // nil: not asked
	read  *routing.Profile
}

// bench is one test benchmark in an arena: its problems and what every expert does on them.
type bench struct {
	*steps.Step // makes outcomes.csv
	e           *experiment
	set         *problemSet
	name        string
	runs        int              // a problem; 1 where outcomes are expectations
	experts     []routing.Expert // whose outcomes these are
	self        *bench           // the same of the model that plays the router; nil: no row needs it
}

// arena is an arena of the book with the steps that make it. It is filled when it is first read.
type arena struct {
	book.Arena
	benches []*bench
}

// fit is one method trained with one seed, and its decisions on every arena.
//
// A row that is matched to another is two steps: the fit, which does not know what the row is matched to and sweeps its
// knob, and the match, which finds the setting and reads its decisions off the sweep. The same fit serves every match.
type fit struct {
	*steps.Step
	e    *experiment
	row  spec.Method
	seed uint64

	method    routing.Method
	unmatched *fit // the fit behind a match, whose knob is set to what matched spends; nil: not matched
	matched   *fit
	hindsight bool // the row reads the outcomes it is scored on
	asking    bool // the row asks language models for every decision
}
