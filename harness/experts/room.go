// Whether servers have room for prompts, looked at before the first request is paid for.

package experts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
)

// Planned is a prompt that an expert is to be asked.
type Planned struct {
	Problem string // its id, for messages
	Prompt  string
}

// Room looks at whether the server of an expert with the least room has enough for prompts and answers, as Preflight found it;
// one that does not say has room for all. It asks the server for the tokens of a prompt, or else, where it does not count them as
// vLLM does, guesses them at four bytes each.
//
// A prompt without room is a request that fails and is kept as such, so it is only warned of. That not even the shortest has
// room, as counted by the server, is an error that wraps ErrMisconfigured: every request would be refused.
func (h *HTTP) Room(ctx context.Context, expert string, shortest, longest Planned) error {
	e := h.ids[expert]
	if e == nil || e.room == 0 {
		return nil
	}
	left := e.room - e.MaxTokens
	n, counted := h.count(ctx, e, longest.Prompt)
	if err := ctx.Err(); err != nil || n <= left {
		return err
	}
	change := fmt.Sprintf("%s, or lower max_tokens of the expert, %d, in the pool file", e.widen(), e.MaxTokens)
	if counted {
		if least, counted := h.count(ctx, e, shortest.Prompt); counted && least > left {
			return &told{fmt.Sprintf("expert %s: %s has room for %d tokens, and the shortest prompt, of problem %s, takes %d: every request would be refused; %s", e.ID, e.narrow.base, e.room, shortest.Problem, least, change), []error{ErrMisconfigured}}
		}
	}
	then := "its request will be refused and count as not answered"
	if e.forgets {
		then = "its beginning will be forgotten where the answer is long"
	}
	how := "has"
	if !counted {
		how = "has, guessed at four bytes a token,"
	}
	h.o.Log.Warn(fmt.Sprintf("expert %s: the prompt of problem %s %s %d tokens, for which %s has no room: %s; %s", e.ID, longest.Problem, how, n, e.narrow.base, then, change))
	return ctx.Err()
}

// count returns the tokens of a prompt at the expert's narrowest server, as it counts them if it does.
func (h *HTTP) count(ctx context.Context, e *expert, prompt string) (n int, counted bool) {
	s := e.Sampling
	b := append(wire.AppendJSON([]byte(`{"model":`), e.Model), `,"messages":[`...)
	if s.System != "" {
		b = append(appendMessage(b, Message{Role: "system", Content: s.System}), ',')
	}
	b = append(appendMessage(b, Message{Role: "user", Content: prompt}), ']')
	if s.TemplateKwargs != "" {
		b = append(append(b, `,"chat_template_kwargs":`...), s.TemplateKwargs...)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var said struct {
		Count int `json:"count"`
	}
	response, body, err := h.fetch(ctx, e.narrow, e.narrow.key, http.MethodPost, e.narrow.root()+"/tokenize", append(b, '}'))
	if err == nil && response.StatusCode == http.StatusOK && json.Unmarshal(body, &said) == nil && said.Count > 0 {
		return said.Count, true
	}
	return (len(s.System) + len(prompt) + 3) / 4, false
}

// note keeps the server of an expert that has the least room.
func (e *expert) note(s *server, room int) {
	if room > 0 && (e.room == 0 || room < e.room) {
		e.room, e.narrow = room, s
	}
}

// widen says how a server is given more room than it has for an expert.
func (e *expert) widen() string {
	if e.forgets {
		return fmt.Sprintf("start it with OLLAMA_CONTEXT_LENGTH above %d", e.room)
	}
	return fmt.Sprintf("start it with a larger --max-model-len than %d", e.room)
}
