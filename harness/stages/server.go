// A policy behind a server.

package stages

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/crash"
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
	server := &onServer{
		chat: chat, endpoint: at.ID, system: system, labels: labels,
		server: &generate.Server{URL: at.URL, Key: key}, model: at.Model,
	}
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
	return t.router(writesOnServer{server, p}, pool, work), nil
}

// writesOnServer is a chooser whose weights a server has and which writes before it chooses. Each text is two requests, in tokens, so
// that what was written is read again as it was written: one for the likeliest text, one for the tokens behind it.
type writesOnServer struct {
	*onServer
	policy *lm.Policy
}

func (s writesOnServer) choose(ctx context.Context, texts []string) ([]opinion, error) {
	rows, err := s.policy.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	end, most := s.policy.Bound(true)
	letters := s.policy.Labels()
	return together(ctx, texts, func(ctx context.Context, i int) (x opinion, err error) {
		row, err := s.server.Likeliest(ctx, s.model, rows[i], end, most)
		if err != nil {
			return x, err
		}
		next, err := s.server.Next(ctx, s.model, row, topTokens)
		if err != nil {
			return x, err
		}
		var top []experts.TopToken
		for id, p := range next {
			t := experts.TopToken{LogProb: p}
			if k := slices.Index(letters, id); k >= 0 {
				t.Token = s.labels[k]
			}
			top = append(top, t)
		}
		x.prob, err = s.share(top, func() ([]float64, error) { return s.server.After(ctx, s.model, row, letters) })
		in, out := s.policy.Tokens(row)
		x.usage, x.cut = cost.Usage{In: int64(in), Out: int64(out)}, row.Cut
		return x, err
	})
}

// onServer is a chooser whose weights a server has. Each text is one request for one token; the likeliest first tokens that
// come with it have the labels among them, or else a server that is vLLM is asked for the labels.
type onServer struct {
	chat     experts.Chatter
	endpoint string
	system   string
	labels   []string

	server *generate.Server
	model  string

	asking sync.Mutex
	tokens []int32 // of the labels, as the server has them; nil: it was not asked yet
}

// topTokens is how many of the likeliest tokens are asked for: OpenAI's bound, and vLLM's as long as nobody sets another.
const topTokens = 20

// flight is how many texts are asked about at a time.
const flight = 16

// together returns what of says of each text, many at a time.
func together(ctx context.Context, texts []string, of func(ctx context.Context, i int) (opinion, error)) ([]opinion, error) {
	said := make([]opinion, len(texts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(flight)
	for i := range texts {
		group.Go(func() (err error) {
			defer crash.Exit()
			said[i], err = of(ctx, i)
			return err
		})
	}
	return said, group.Wait()
}

func (s *onServer) choose(ctx context.Context, texts []string) ([]opinion, error) {
	return together(ctx, texts, func(ctx context.Context, i int) (x opinion, err error) {
		chat := []experts.Message{{Role: "system", Content: s.system}, {Role: "user", Content: texts[i]}}
		c, err := s.chat.Chat(ctx, experts.ChatRequest{Expert: s.endpoint, Messages: chat, MaxTokens: 1, Top: topTokens})
		if err != nil {
			return x, err
		}
		x.prob, err = s.share(c.Top, func() ([]float64, error) { return s.after(ctx, chat) })
		x.usage = c.Usage
		return x, err
	})
}

// after returns the log-probabilities of the labels as the first token behind a chat.
func (s *onServer) after(ctx context.Context, chat []experts.Message) ([]float64, error) {
	messages := make([]generate.Message, len(chat))
	for i, m := range chat {
		messages[i] = generate.Message{Role: m.Role, Content: m.Content}
	}
	row, err := s.server.Chat(ctx, s.model, messages)
	if err != nil {
		return nil, err
	}
	letters, err := s.letters(ctx)
	if err != nil {
		return nil, err
	}
	return s.server.After(ctx, s.model, row, letters)
}

// letters returns the tokens of the labels, for which the server is asked once.
func (s *onServer) letters(ctx context.Context) ([]int32, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	if s.tokens != nil {
		return s.tokens, nil
	}
	var tokens []int32
	for _, label := range s.labels {
		token, err := s.server.Token(ctx, s.model, label)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	s.tokens = tokens
	return tokens, nil
}

// impossible is what vLLM sends for a log-probability of minus infinity.
const impossible = -9999

// share returns the labels' shares of what they have of the first token's probability together. ask returns their log-probabilities; it is
// called where not all of them are among the likeliest tokens that came.
func (s *onServer) share(top []experts.TopToken, ask func() ([]float64, error)) ([]float64, error) {
	if len(top) == 0 {
		return nil, fmt.Errorf("%s: the server sent no log-probabilities of its first token, so what it would choose is not known: ask one that obeys logprobs and top_logprobs", s.endpoint)
	}
	var missing []string
	p := make([]float64, len(s.labels))
	for k, label := range s.labels {
		i := slices.IndexFunc(top, func(t experts.TopToken) bool { return t.Token == label })
		if i < 0 {
			missing = append(missing, label)
			continue
		}
		p[k] = top[i].LogProb
	}
	if missing != nil {
		var err error
		if p, err = ask(); err != nil {
			is := map[bool]string{true: "is", false: "are"}[len(missing) == 1]
			return nil, fmt.Errorf("%s: %s %s not among the %d likeliest first tokens that the server sent, so the probabilities are not known: is it the exported model, and does the row choose among this pool? vLLM can be asked for other tokens; of this server: %w", s.endpoint, strings.Join(missing, ", "), is, len(top), err)
		}
	}
	best, sum := slices.Max(p), 0.0
	if !(best > impossible) {
		return nil, fmt.Errorf("%s: the letters have no probability beside other first tokens: is it the exported model?", s.endpoint)
	}
	for k := range p {
		p[k] = math.Exp(p[k] - best)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p, nil
}
