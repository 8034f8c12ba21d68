// Plays problems with a policy that asks experts in turns.

package multiround

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/verify"
)

// Version is part of the recipe of every trajectory: raised when a prompt or a rule changes.
const Version = 1

// Verifier is the version of the verifier that grades them.
const Verifier = verify.Version

// Policy is the router model.
type Policy interface {
	// Turn returns the policy's next message. It is safe for concurrent use. The error ends the run unless it wraps
	// experts.ErrRefused: a conversation that has outgrown the server's window ends itself alone.
	Turn(ctx context.Context, t Turn) (experts.Completion, error)
}

// Turn is what a policy sees.
type Turn struct {
	Messages  []experts.Message
	Tools     []experts.Tool
	Continue  bool // the last message is the policy's own and is to be continued
	MaxTokens int
	Seed      seed.Seed
}

// Endpoint is a policy behind a server.
type Endpoint struct {
	Chat     experts.Chatter
	ID       string // of the endpoint
	Sampling spec.Sampling
}

// Turn implements Policy.
func (e Endpoint) Turn(ctx context.Context, t Turn) (experts.Completion, error) {
	return e.Chat.Chat(ctx, experts.ChatRequest{
		Expert: e.ID, Messages: t.Messages, Tools: t.Tools, Continue: t.Continue,
		Seed: t.Seed, Sampling: e.Sampling, MaxTokens: t.MaxTokens,
	})
}

// Engine plays problems with one policy and one protocol.
type Engine struct {
	Policy   Policy
	Experts  []routing.Expert // [M] that the policy may call, in the order in which it is told of them
	Chat     experts.Chatter  // asks the experts
	Sampling spec.Sampling    // of the pool: the template of a problem's text, and temperature and the like where a protocol has none of its own
	Accuracy []float64        // [M] share of problems that each expert solves, told to the policy by Tools; nil: unknown
	Protocol Protocol
	Failures string    // what a failed call does: Inform or Stop
	Policies seed.Seed // root of the policy's streams
	Calls    seed.Seed // root of the experts' streams
	Log      *slog.Logger
}

// What a call that failed after all its tries does.
const (
	Inform = "inform" // the policy is told that there is no answer, as in the sources
	Stop   = "stop"   // the run ends with the error; what was answered is stored, so it goes on there when it is run again
)

// Protocol is how the policy and the engine talk: Tags or Tools.
type Protocol interface {
	// play runs one problem to its end. Everything but messages, calls and ending is filled in by the caller.
	play(ctx context.Context, g *game) error
	name() string
}

// play plays one query. The error says that the run cannot go on; a trajectory that went wrong is none.
func (e *Engine) play(ctx context.Context, q routing.Query) (Trajectory, error) {
	g := &game{engine: e, query: q, t: Trajectory{Schema: schema, Protocol: e.Protocol.name(), Problem: q.Problem.ID, Run: q.Run}}
	if err := e.Protocol.play(ctx, g); err != nil {
		return Trajectory{}, fmt.Errorf("problem %s, run %d, turn %d: %w", q.Problem.ID, q.Run, g.t.Turns, err)
	}
	g.grade()
	return g.t, nil
}

// PlayAll plays queries, at most n at a time, and returns their trajectories in order. It ends at the first error.
// played is called in the caller's goroutine whenever one has been played.
func (e *Engine) PlayAll(ctx context.Context, queries []routing.Query, n int, played func()) ([]Trajectory, error) {
	out := make([]Trajectory, len(queries))
	done := make(chan struct{}, len(queries))
	group, playing := errgroup.WithContext(ctx)
	group.SetLimit(max(n, 1) + 1) // and the one that hands out
	group.Go(func() error {
		defer crash.Exit()
		for i, q := range queries {
			group.Go(func() (err error) {
				defer crash.Exit()
				if err = playing.Err(); err == nil {
					out[i], err = e.play(playing, q)
				}
				done <- struct{}{}
				return err
			})
		}
		return nil
	})
	for range queries {
		<-done
		played()
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// game is one query being played.
type game struct {
	engine *Engine
	query  routing.Query
	t      Trajectory

	answer routing.Answer
}

// ask has the policy write its next message. ok is false if the server refused, which ends the trajectory.
func (g *game) ask(ctx context.Context, t Turn) (c experts.Completion, ok bool, err error) {
	g.t.Turns++
	t.Seed = g.engine.Policies.Derive("policy", g.query.Problem.Text, g.query.Run, g.t.Turns)
	c, err = g.engine.Policy.Turn(ctx, t)
	// The first request of a conversation says whether the server takes requests at all.
	if g.t.Turns > 1 && errors.Is(err, experts.ErrRefused) {
		g.engine.Log.Warn("the policy's server refused to go on", "problem", g.query.Problem.ID, "run", g.query.Run, "turn", g.t.Turns, "err", err)
		g.t.Turns--
		g.t.Ending = EndRefused
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	g.t.Usage.In += c.Usage.In
	g.t.Usage.Out += c.Usage.Out
	return c, true, nil
}

// call asks an expert. Seeds differ by turn and by place in the turn, so that a policy that asks twice may hear two
// answers; a protocol may fix them. A failed call is one without a response.
func (g *game) call(ctx context.Context, x routing.Expert, place int, messages []experts.Message, s spec.Sampling, fixed *seed.Seed, maxTokens int) (Call, error) {
	e := g.engine
	c := Call{Turn: g.t.Turns, Expert: x.ID, Prompt: messages[len(messages)-1].Content, Temperature: s.Temperature}
	if len(messages) > 1 {
		c.System = messages[0].Content
	}
	stream := e.Calls.Derive("call", g.query.Problem.Text, g.query.Run, g.t.Turns, place)
	if fixed != nil {
		stream = *fixed
	}
	reply, err := e.Chat.Chat(ctx, experts.ChatRequest{Expert: x.ID, Messages: messages, Seed: stream, Sampling: s, MaxTokens: maxTokens})
	if err != nil {
		if e.Failures == Stop || !errors.Is(err, experts.ErrRefused) && !errors.Is(err, experts.ErrUnavailable) {
			return c, err
		}
		e.Log.Warn("a call failed", "problem", g.query.Problem.ID, "run", g.query.Run, "turn", g.t.Turns, "expert", x.ID, "err", err)
		c.Failed = err.Error()
		return c, nil
	}
	c.Response, c.Finish = spoken(reply.Text), string(reply.Finish)
	c.Tokens = Tokens(reply.Usage)
	return c, nil
}

// spoken returns what a model says after its thinking. here: the sources' experts do not think aloud; a server may have
// taken the thinking out already, and then the two agree.
func spoken(text string) string { return strings.TrimSpace(experts.BehindThinking(text)) }

func (g *game) say(m Message) { g.t.Messages = append(g.t.Messages, m) }

func (g *game) invalid(reason Reason) {
	g.t.Invalid = append(g.t.Invalid, Invalid{g.t.Turns, reason})
}

func (g *game) end(how Ending, answer string, bare bool, finish routing.Finish) {
	g.t.Ending, g.answer = how, routing.Answer{Text: answer, Bare: bare, Finish: finish}
}

// grade fills in the verdict. A trajectory without an answer has one.
func (g *game) grade() {
	g.t.Answer, g.t.Bare, g.t.Finish = g.answer.Text, g.answer.Bare, g.answer.Finish
	g.t.Verdict = g.query.Problem.Grade(g.answer)
	if g.t.Verdict == routing.Correct {
		g.t.Correct = 1
	}
}

// about lists experts for a prompt, a line each.
func about(x routing.Expert) string {
	var b strings.Builder
	if x.Params > 0 {
		fmt.Fprintf(&b, "%g billion parameters, ", x.Params)
	}
	fmt.Fprintf(&b, "%g US dollars per million tokens read and %g per million written", x.Price.In, x.Price.Out)
	return b.String()
}
