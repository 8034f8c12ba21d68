// A policy behind a server as a router.

package multiround

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Router routes by playing: every query is a conversation. It is not safe for concurrent use.
type Router struct {
	Engine      *Engine
	Name        string                                          // of the policy, for people
	Progress    func(what string, total int) (one, done func()) // shows that so many conversations are to be had
	Reward      Reward
	Concurrency int    // conversations at a time
	Dir         string // for what happened; empty: nothing is written

	played []Trajectory // by all calls of Route
	last   Summary      // of the last
}

// Route plays the queries and leaves what happened in trajectories.jsonl and summary.json.
func (r *Router) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	one, done := r.Progress("conversations of "+r.Name, len(queries))
	defer done()
	trajectories, err := r.Engine.PlayAll(ctx, queries, r.Concurrency, one)
	if err != nil {
		return nil, err
	}
	if err := r.Reward.Fill(trajectories); err != nil {
		return nil, err
	}
	r.played = append(r.played, trajectories...)
	r.last = summarise(trajectories, r.Engine.Experts)
	if err := r.report(); err != nil {
		return nil, err
	}
	out := make([]routing.Decision, len(queries))
	for i, t := range trajectories {
		out[i] = r.decision(t)
	}
	return out, nil
}

// decision reads a trajectory as a decision. Its distribution is the first move that was made: the server does not tell
// the probabilities of others.
func (r *Router) decision(t Trajectory) routing.Decision {
	d := routing.Decision{
		Problem: t.Problem, Run: t.Run, Prob: make([]float64, len(r.Engine.Experts)), Expert: routing.Self, Calls: []routing.Call{},
		Answer: &routing.Answer{Text: t.Answer, Bare: t.Bare, Finish: t.Finish},
		Usage:  cost.Usage{In: t.Usage.In, Out: t.Usage.Out},
	}
	if t.From != "" {
		d.Expert = expertIndex(r.Engine.Experts, t.From)
	}
	if move, ok := t.firstMove(r.Engine.Experts); ok && move > 0 {
		d.Prob[move-1] = 1
	}
	for _, c := range t.Calls {
		if c.Failed == "" {
			d.Calls = append(d.Calls, routing.Call{Expert: expertIndex(r.Engine.Experts, c.Expert), Usage: cost.Usage{In: c.In, Out: c.Out}})
		}
	}
	return d
}

// Units of what a Router reports beside the call rates that every router with calls has.
const (
	formatRate   = "well-formed-%"           // trajectories that keep to the format
	invalidTurns = "invalid-turns-%"         // turns of the policy with an action that could not be carried out
	failedCalls  = "failed-calls-%"          // calls that had no answer
	brokenOff    = "broken-off-%"            // conversations that the policy's server refused to go on with
	givenCall    = "accuracy-given-call-%"   // of queries with a call
	givenNone    = "accuracy-given-none-%"   // of queries without
	firstMove    = "first-move-entropy-nats" // over answering and calling each expert, all queries together
	meanReward   = "reward"                  // of the row's own kind
)

// Report returns measurements of the last call of Route, averaged over its queries.
func (r *Router) Report() []metrics.Value {
	s := r.last
	refused := float64(s.Endings[EndRefused]) / float64(max(s.Trajectories, 1))
	percent := func(v *float64, unit string) (out []metrics.Value) {
		if v != nil {
			out = append(out, metrics.Rounded(100**v, unit, 3))
		}
		return out
	}
	out := slices.Concat(percent(s.Format, formatRate), percent(&s.Invalid, invalidTurns), percent(&s.Failed, failedCalls), percent(&refused, brokenOff), percent(s.AccuracyCall, givenCall), percent(s.AccuracyNone, givenNone))
	for _, x := range r.Engine.Experts {
		out = append(out, metrics.Rounded(100*s.Expert[x.ID], "asked-"+x.ID+"-%", 3))
	}
	return append(out, metrics.Rounded(s.Entropy, firstMove, 4), metrics.Rounded(s.Reward, meanReward, 4))
}

// report replaces both files whole: a folder that several calls write to never holds a part of one.
func (r *Router) report() error {
	if r.Dir == "" {
		return nil
	}
	if err := store.WriteTo(filepath.Join(r.Dir, "trajectories.jsonl"), func(w io.Writer) error {
		return writeTrajectories(w, r.played)
	}); err != nil {
		return err
	}
	summary, err := json.MarshalIndent(summarise(r.played, r.Engine.Experts), "", "  ")
	if err != nil {
		return err
	}
	return store.WriteFile(filepath.Join(r.Dir, "summary.json"), append(summary, '\n'))
}
