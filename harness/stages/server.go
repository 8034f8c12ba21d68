// A policy behind a server.

package stages

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/generate"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// OnServer returns a router that asks a server, by chat or, of a policy that writes, with tokens, in place of the router that Fit
// returns. key is the server's, empty: none. pool are the experts that Fit had and work is Fit's. A policy that writes needs the
// vocabulary of the model that its training starts from.
func (t *Training) OnServer(chat experts.Chatter, at experts.Endpoint, key string, pool []routing.Expert, work routing.Work) (routing.Router, error) {
	system, labels, err := lm.Prompt(Shown(pool))
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
	}
	server := onServer{chat, at.ID, system, labels}
	if !t.Policy.Reasons() {
		return t.router(server, pool, work), nil
	}
	if t.With.Models == nil {
		return nil, fmt.Errorf("method %s: %w", t.With.Name, ErrNoModels)
	}
	p, err := t.With.Models.New(t.With.Backend, t.Policy, Shown(pool))
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
	}
	return t.router(writesOnServer{server, &generate.Server{URL: at.URL, Key: key}, at.Model, p}, pool, work), nil
}

// writesOnServer is a chooser whose weights a server has and which writes before it chooses. Each text is two requests, in tokens, so
// that what was written is read again as it was written: one for the likeliest text, one for the tokens behind it.
type writesOnServer struct {
	onServer
	server *generate.Server
	model  string
	policy *lm.Policy
}

func (s writesOnServer) choose(ctx context.Context, texts []string) (said []opinion, err error) {
	rows, err := s.policy.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	end, most := s.policy.Bound(true)
	letters := s.policy.Labels()
	for _, row := range rows {
		if row, err = s.server.Likeliest(ctx, s.model, row, end, most); err != nil {
			return nil, err
		}
		next, err := s.server.Next(ctx, s.model, row, topTokens)
		if err != nil {
			return nil, err
		}
		var top []experts.TopToken
		for id, p := range next {
			t := experts.TopToken{LogProb: p}
			if k := slices.Index(letters, id); k >= 0 {
				t.Token = s.labels[k]
			}
			top = append(top, t)
		}
		p, err := s.share(top)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.endpoint, err)
		}
		in, out := s.policy.Tokens(row)
		said = append(said, opinion{prob: p, usage: cost.Usage{In: int64(in), Out: int64(out)}, cut: row.Cut})
	}
	return said, nil
}

// onServer is a chooser whose weights a server has. Each text is one request for one token; the likeliest first tokens that
// come with it have the labels among them.
type onServer struct {
	chat     experts.Chatter
	endpoint string
	system   string
	labels   []string
}

// topTokens is how many of the likeliest tokens are asked for: OpenAI's bound, and vLLM's as long as nobody sets another.
const topTokens = 20

func (s onServer) choose(ctx context.Context, texts []string) (said []opinion, err error) {
	for _, text := range texts {
		c, err := s.chat.Chat(ctx, experts.ChatRequest{
			Expert: s.endpoint, Messages: []experts.Message{{Role: "system", Content: s.system}, {Role: "user", Content: text}}, MaxTokens: 1, Top: topTokens,
		})
		if err != nil {
			return nil, err
		}
		p, err := s.share(c.Top)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.endpoint, err)
		}
		said = append(said, opinion{prob: p, usage: c.Usage})
	}
	return said, nil
}

// share returns the labels' shares of what they have of the first token's probability together.
func (s onServer) share(top []experts.TopToken) ([]float64, error) {
	if len(top) == 0 {
		return nil, fmt.Errorf("the server sent no log-probabilities of its first token, so what it would choose is not known: ask one that obeys logprobs and top_logprobs")
	}
	var missing []string
	p, sum := make([]float64, len(s.labels)), 0.0
	best := math.Inf(-1)
	for _, t := range top {
		best = max(best, t.LogProb)
	}
	for k, label := range s.labels {
		i := slices.IndexFunc(top, func(t experts.TopToken) bool { return t.Token == label })
		if i < 0 {
			missing = append(missing, label)
			continue
		}
		p[k] = math.Exp(top[i].LogProb - best)
		sum += p[k]
	}
	switch {
	case missing != nil:
		return nil, fmt.Errorf("%s not among the %d likeliest first tokens that the server sent, so the probabilities are not known: is it the exported model, and does the row choose among this pool?", strings.Join(missing, ", ")+map[bool]string{true: " is", false: " are"}[len(missing) == 1], len(top))
	case !(sum > 0):
		return nil, fmt.Errorf("the letters have no probability beside other first tokens: is it the exported model?")
	}
	for k := range p {
		p[k] /= sum
	}
	return p, nil
}
