// Conversations that methods have with models: every message is asked for once and kept.

package asking

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// talk asks for the next message of conversations, and for nothing twice, not even at the same time: an answer is stored, and
// synced, under all that can change it (the model and its revision, the whole request, the source) before it is returned, so
// a killed run that goes on asks only for what it has not got. Failures are not stored.
//
// Answers lie with the rollouts. They name a request by a hash: a conversation is sent again with every turn, and storing it
// as often would grow with the square of its length.
type talk struct {
	*Asker
	next      experts.Chatter // nil: nobody may be asked
	endpoints map[string]experts.Endpoint
	source    string // who answers where the model's name does not say it, as in store.Scope
	flight    *flight
}

// Chat implements experts.Chatter.
func (t *talk) Chat(ctx context.Context, q experts.ChatRequest) (experts.Completion, error) {
	e, ok := t.endpoints[q.Expert]
	if !ok {
		return experts.Completion{}, fmt.Errorf("%w %q", experts.ErrUnknownExpert, q.Expert)
	}
	sum := q.Digest(e)
	row := store.Row{Text: "chat " + hex.EncodeToString(sum[:]), Seed: experts.WireSeed(q.Seed)}
	scope := store.Scope{Source: t.source, Model: e.Model, Revision: e.Revision, Split: "chat"}
	// Who asks the same at the same time waits for the one answer. Both belong to one run, so if one is told to stop so
	// is the other.
	answer, err, _ := t.talked.asking.Do(e.Revision+"\x00"+row.Text, func() (any, error) { return t.answer(ctx, q, scope, row) })
	if err != nil {
		return experts.Completion{}, err
	}
	return answer.(experts.Completion), nil
}

// answer finds an answer, or asks for it and stores it.
func (t *talk) answer(ctx context.Context, q experts.ChatRequest, scope store.Scope, row store.Row) (none experts.Completion, err error) {
	id, err := t.find(ctx, scope, row.Key())
	if err != nil {
		return none, err
	} else if id != 0 {
		return t.read(ctx, scope, id)
	}
	if t.next == nil {
		return none, fmt.Errorf("%w: an answer of expert %s is not stored, and --offline forbids asking for it", steps.ErrIncomplete, q.Expert)
	}
	prompt := 0
	for _, m := range q.Messages {
		prompt += len(m.Content)
	}
	q.Attempts = t.ledgerOf(t.flight, t.endpoints[q.Expert].Expert, scope, row, prompt)
	c, err := t.next.Chat(ctx, q)
	if err != nil {
		return none, t.ended(err, t.flight)
	}
	t.flight.answered.Store(true)
	text, err := json.Marshal(message{c.Text, c.Reasoning, c.Calls, string(c.Finish), c.Usage.In, c.Usage.Out, c.Top})
	if err != nil {
		return none, err
	}
	row.Response, row.Finish, row.In, row.Out = string(text), c.Finish, c.Usage.In, c.Usage.Out
	t.rollouts.Keep(scope, row, "", store.Verdict{}, func(id store.RolloutID) {
		t.talked.mu.Lock()
		defer t.talked.mu.Unlock()
		t.talked.stored[scope][row.Key()] = store.Stored{ID: id}
	})
	return c, t.rollouts.Sync(context.WithoutCancel(ctx)) // it was paid for
}

// find returns where an answer is stored; 0: nowhere. A scope is read once.
func (t *talk) find(ctx context.Context, scope store.Scope, key store.RolloutKey) (store.RolloutID, error) {
	t.talked.mu.Lock()
	defer t.talked.mu.Unlock()
	if have, ok := t.talked.stored[scope]; ok {
		return have[key].ID, nil
	}
	have, err := t.load(ctx, scope, "")
	if err != nil {
		return 0, err
	}
	if t.talked.stored == nil {
		t.talked.stored = map[store.Scope]map[store.RolloutKey]store.Stored{}
	}
	t.talked.stored[scope] = have
	return have[key].ID, nil
}

func (t *talk) read(ctx context.Context, scope store.Scope, id store.RolloutID) (experts.Completion, error) {
	text, err := t.rollouts.Response(ctx, id)
	if err != nil {
		return experts.Completion{}, err
	}
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return experts.Completion{}, fmt.Errorf("stored answer of model %q: %w", scope.Model, err)
	}
	return experts.Completion{
		Text: m.Text, Reasoning: m.Reasoning, Calls: m.Calls, Finish: routing.Finish(m.Finish), Usage: cost.Usage{In: m.In, Out: m.Out}, Top: m.Top,
	}, nil
}
