// Package generate has a server write what a policy writes before it chooses: at full size vLLM samples, and this program trains.
//
// Each step hands the adapters that are trained over as a folder of PEFT's, loads it under a name of its own through vLLM's calls for
// that (the server needs --enable-lora, --max-lora-rank of at least the policy's rank and VLLM_ALLOW_RUNTIME_LORA_UPDATING=true), samples
// tokens from tokens, and takes the folder away again. The log-probabilities that training starts from are computed here; those that
// the server names come back beside the tokens, so that how far the two are apart can be seen.
//
// A server that has an exported model needs no adapters: Likeliest, Next and After are how it routes.
package generate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Server is a vLLM that has the model which training started from, or an exported one. Write and Look are for one goroutine at a time.
type Server struct {
	URL    string        // base URL, ending in /v1
	Key    string        // bearer token; empty: none
	Folder string        // where adapters are put; the server reads them under the same path
	Flight int           // requests under way at most
	Client *http.Client  // nil: one without a bound on how long an answer takes
	Wait   time.Duration // before a request is tried again, then longer; 0: a second

	run   string // tells the names of its adapters from those of other processes, killed ones and other machines' too; made when it is needed
	loads int
}

// tries is how often a request is sent that a server does not answer.
const tries = 5

// parting is how many times Wait a server may take to give adapters back, since that is waited for after Ctrl-C too.
const parting = 30

// Write has the server write n texts behind every row, as policy.Writer: at temperature 1, or the likeliest, until the token that
// ends a text or up to a bound. Row.Said has the server's log-probabilities.
func (s *Server) Write(ctx context.Context, m *policy.Model, ids []string, rows []policy.Row, n int, greedy bool, root seed.Seed) (written []policy.Row, err error) {
	p, ok := m.Policy().(*lm.Policy)
	if !ok || !p.Writes() {
		return nil, fmt.Errorf("generate: a policy of kind %s writes nothing", m.Policy().Kind())
	}
	end, most := p.Bound(greedy)
	written = make([]policy.Row, n*len(rows))
	err = s.adapted(ctx, func(folder string) error { return adapters.Write(m, folder) }, func(name string) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(max(1, s.Flight))
		for i := range written {
			group.Go(func() error {
				defer crash.Exit()
				// Of rows that share an id, as where a new pass begins within a batch, each has its own stream.
				own := root.Derive("generate", ids[i/n], i/n, i%n)
				row, err := s.text(ctx, name, rows[i/n], end, most, greedy, own)
				written[i] = row
				return err
			})
		}
		return group.Wait()
	})
	if err != nil {
		return nil, err
	}
	return written, nil
}

// adapters is how adapters are handed over.
var adapters = lm.Export{DType: safetensors.F32, Adapter: true}

// adapted calls use with the name under which the server has the adapters that write makes a folder of, and takes them away again.
func (s *Server) adapted(ctx context.Context, write, use func(string) error) (err error) {
	s.run = cmp.Or(s.run, rand.Text())
	s.loads++
	name := fmt.Sprintf("router-%s-%d", s.run, s.loads)
	folder, err := filepath.Abs(filepath.Join(s.Folder, name))
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := write(folder); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	if err := s.load(ctx, name, folder); err != nil {
		return err
	}
	defer func() {
		parts, done := context.WithTimeout(context.WithoutCancel(ctx), parting*s.wait())
		defer done()
		unloaded := s.post(parts, "unload_lora_adapter", map[string]string{"lora_name": name}, nil)
		if parts.Err() != nil {
			unloaded = fmt.Errorf("generate: %s/unload_lora_adapter: no answer within %s, so the server may still have %s", s.URL, parting*s.wait(), name)
		}
		err = errors.Join(err, unloaded)
	}()
	if err := s.has(ctx, name); err != nil {
		return err
	}
	return use(name)
}

// wait is how long it is before a request is tried again.
func (s *Server) wait() time.Duration { return cmp.Or(s.Wait, time.Second) }

// Look finds out, before anything is paid, whether the server can write for a policy: it has room for the longest prompt with the longest
// text behind it, takes adapters of the policy's rank and gives them back, and sends tokens as they are asked for. It returns what the
// server calls its version.
func (s *Server) Look(ctx context.Context, p *lm.Policy) (version string, err error) {
	var is struct {
		Version string `json:"version"`
	}
	if err := s.call(ctx, http.MethodGet, "../version", nil, &is); err != nil {
		return "", fmt.Errorf("%w; the writer is to be a vLLM, which says its version", err)
	}
	served, err := s.served(ctx)
	if err != nil {
		return "", err
	}
	_, most := p.Bound(true)
	if room, longest := served.room(), p.Longest(); room > 0 && room < len(longest.IDs)+most {
		return "", fmt.Errorf("generate: %s has room for %d tokens, and the longest prompt has %d (policy.max_tokens) with at most %d behind it (policy.writes): start it with --max-model-len %d or more", s.URL, room, len(longest.IDs), most, len(longest.IDs)+most)
	}
	rows, err := p.Encode(ctx, []string{"What is 1 + 1?"})
	if err != nil {
		return "", err
	}
	end, _ := p.Bound(false)
	err = s.adapted(ctx, func(folder string) error { return adapters.Blank(p, folder) }, func(name string) error {
		_, err := s.text(ctx, name, rows[0], end, 1, false, 0)
		return err
	})
	return is.Version, err
}

// models are those that a server has.
type models struct {
	Data []struct {
		ID     string `json:"id"`
		Parent string `json:"parent"`        // of adapters
		Room   int    `json:"max_model_len"` // tokens of a prompt and what is behind it
	} `json:"data"`
}

func (s *Server) served(ctx context.Context) (m models, err error) {
	return m, s.call(ctx, http.MethodGet, "models", nil, &m)
}

// room is that of the model that was started; 0: the server does not say.
func (m models) room() int {
	for _, x := range m.Data {
		if x.Parent == "" {
			return x.Room
		}
	}
	return 0
}

// load hands an adapter over.
func (s *Server) load(ctx context.Context, name, folder string) error {
	err := s.post(ctx, "load_lora_adapter", map[string]string{"lora_name": name, "lora_path": folder}, nil)
	if err != nil {
		err = fmt.Errorf("%w; the server must read that folder and take adapters while it runs (--enable-lora, --max-lora-rank of at least policy.tune.lora.r, VLLM_ALLOW_RUNTIME_LORA_UPDATING=true)", err)
	}
	return err
}

// has looks whether the server has an adapter that it said it loaded.
func (s *Server) has(ctx context.Context, name string) error {
	served, err := s.served(ctx)
	if err != nil {
		return err
	}
	for _, x := range served.Data {
		if x.ID == name {
			return nil
		}
	}
	return fmt.Errorf("generate: %s said that it loaded adapter %s and does not serve it", s.URL, name)
}

// completion is what vLLM answers to a request for one text.
type completion struct {
	Choices []choice `json:"choices"`
}

type choice struct {
	Index    int `json:"index"`
	LogProbs struct {
		Tokens        []string             `json:"tokens"`
		TokenLogProbs []*float64           `json:"token_logprobs"`
		TopLogProbs   []map[string]float64 `json:"top_logprobs"`
	} `json:"logprobs"`
}

// text asks for one text behind a row.
func (s *Server) text(ctx context.Context, name string, row policy.Row, end int32, most int, greedy bool, own seed.Seed) (policy.Row, error) {
	// What a server would take from the model's generation_config is said, too. The token that ends the model's answers ends no text here.
	body := map[string]any{
		"model": name, "prompt": row.IDs, "n": 1, "max_tokens": most, "temperature": 1, "top_p": 1, "top_k": -1, "min_p": 0, "repetition_penalty": 1,
		"seed": uint64(own) & (1<<53 - 1), "stop_token_ids": []int32{end}, "ignore_eos": true, "logprobs": 0, "return_tokens_as_token_ids": true, "skip_special_tokens": false,
	}
	if greedy {
		body["temperature"] = 0
	}
	var c completion
	if err := s.post(ctx, "completions", body, &c); err != nil {
		return row, err
	}
	if len(c.Choices) != 1 {
		return row, fmt.Errorf("generate: %s sent %d texts where one was asked for", s.URL, len(c.Choices))
	}
	choice := c.Choices[0]
	row.Written, row.Said = make([]int32, 0, len(choice.LogProbs.Tokens)), make([]float32, 0, len(choice.LogProbs.Tokens))
	if len(choice.LogProbs.Tokens) != len(choice.LogProbs.TokenLogProbs) {
		return row, fmt.Errorf("generate: %s sent %d tokens with %d log-probabilities", s.URL, len(choice.LogProbs.Tokens), len(choice.LogProbs.TokenLogProbs))
	}
	for i, token := range choice.LogProbs.Tokens {
		id, err := tokenID(token)
		if err != nil || choice.LogProbs.TokenLogProbs[i] == nil {
			return row, fmt.Errorf("generate: %s sent no token and its log-probability but %q; it must obey logprobs and return_tokens_as_token_ids", s.URL, token)
		}
		row.Written, row.Said = append(row.Written, id), append(row.Said, float32(*choice.LogProbs.TokenLogProbs[i]))
	}
	last := len(row.Written) - 1
	switch {
	case len(row.Written) == 0:
		return row, fmt.Errorf("generate: %s sent a text without its tokens; it must obey logprobs and return_tokens_as_token_ids", s.URL)
	case len(row.Written) > most:
		return row, fmt.Errorf("generate: %s wrote %d tokens where 1 to %d were asked for", s.URL, len(row.Written), most)
	case slices.Contains(row.Written[:last], end):
		return row, fmt.Errorf("generate: %s wrote on behind token %d, which ends a text; it must obey stop_token_ids", s.URL, end)
	}
	row.Cut = row.Written[last] != end
	return row, nil
}

// tokenID reads a token as it is sent with return_tokens_as_token_ids.
func tokenID(token string) (int32, error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(token, "token_id:"), 10, 32)
	return int32(id), err
}

// Likeliest has a model that the server knows by name write the likeliest text behind a row, up to the token that ends it or most
// tokens.
func (s *Server) Likeliest(ctx context.Context, name string, row policy.Row, end int32, most int) (policy.Row, error) {
	return s.text(ctx, name, row, end, most, true, 0)
}

// Next returns the likeliest n tokens behind a row and what was written behind it, with their log-probabilities; none if the server
// names none.
func (s *Server) Next(ctx context.Context, name string, row policy.Row, n int) (map[int32]float64, error) {
	var c completion
	if err := s.post(ctx, "completions", map[string]any{
		"model": name, "prompt": slices.Concat(row.IDs, row.Written), "n": 1, "max_tokens": 1, "temperature": 0, "logprobs": n, "return_tokens_as_token_ids": true,
	}, &c); err != nil {
		return nil, err
	}
	next := map[int32]float64{}
	if len(c.Choices) != 1 || len(c.Choices[0].LogProbs.TopLogProbs) == 0 {
		return next, nil
	}
	for token, p := range c.Choices[0].LogProbs.TopLogProbs[0] {
		id, err := tokenID(token)
		if err != nil {
			return nil, fmt.Errorf("generate: %s sent %q where a token was asked for; it must obey return_tokens_as_token_ids", s.URL, token)
		}
		next[id] = p
	}
	return next, nil
}

// After returns the log-probability of each token as the one behind a row and what was written behind it, however unlikely it is: the
// server reads as many texts, each with one of the tokens as its last.
func (s *Server) After(ctx context.Context, name string, row policy.Row, tokens []int32) ([]float64, error) {
	prompts := make([][]int32, len(tokens))
	for i, token := range tokens {
		prompts[i] = slices.Concat(row.IDs, row.Written, []int32{token})
	}
	var c completion
	if err := s.post(ctx, "completions", map[string]any{
		"model": name, "prompt": prompts, "n": 1, "max_tokens": 0, "temperature": 0, "echo": true, "logprobs": 0, "return_tokens_as_token_ids": true,
	}, &c); err != nil {
		return nil, err
	}
	said := make([]float64, len(tokens))
	for i, token := range tokens {
		at := slices.IndexFunc(c.Choices, func(x choice) bool { return x.Index == i })
		if at < 0 {
			return nil, fmt.Errorf("generate: %s read %d of %d texts", s.URL, len(c.Choices), len(tokens))
		}
		p := c.Choices[at].LogProbs
		last := len(p.Tokens) - 1
		if last < 0 || len(p.TokenLogProbs) != len(p.Tokens) || p.TokenLogProbs[last] == nil {
			return nil, fmt.Errorf("generate: %s read a text and named no log-probabilities; it must obey echo and logprobs", s.URL)
		}
		if id, err := tokenID(p.Tokens[last]); err != nil || id != token {
			return nil, fmt.Errorf("generate: %s ended a text with %q where token %d was its last; it must obey return_tokens_as_token_ids and a max_tokens of 0", s.URL, p.Tokens[last], token)
		}
		said[i] = *p.TokenLogProbs[last]
	}
	return said, nil
}

// Message is one of a chat.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Chat returns the tokens that a model which the server knows by name reads of a chat, up to where its answer begins.
func (s *Server) Chat(ctx context.Context, name string, messages []Message) (policy.Row, error) {
	return s.tokens(ctx, map[string]any{"model": name, "messages": messages, "add_generation_prompt": true})
}

// Token returns the token that a text is; it is an error if it is several.
func (s *Server) Token(ctx context.Context, name, text string) (int32, error) {
	row, err := s.tokens(ctx, map[string]any{"model": name, "prompt": text, "add_special_tokens": false})
	if err == nil && len(row.IDs) != 1 {
		err = fmt.Errorf("generate: %s reads %q as %d tokens, not as one", s.URL, text, len(row.IDs))
	}
	if err != nil {
		return 0, err
	}
	return row.IDs[0], nil
}

func (s *Server) tokens(ctx context.Context, body map[string]any) (row policy.Row, err error) {
	var read struct {
		Tokens []int32 `json:"tokens"`
	}
	if err = s.post(ctx, "../tokenize", body, &read); err == nil && len(read.Tokens) == 0 {
		err = fmt.Errorf("generate: %s/../tokenize named no tokens; it must be that of vLLM", s.URL)
	}
	return policy.Row{IDs: read.Tokens}, err
}

func (s *Server) post(ctx context.Context, path string, body, answer any) error {
	return s.call(ctx, http.MethodPost, path, body, answer)
}

// call sends a request until the server answers it; answer may be nil. What a server says with 4xx is final, but for 429, which a gateway
// before it may say.
func (s *Server) call(ctx context.Context, method, path string, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval = s.wait()
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		return struct{}{}, s.once(ctx, method, path, raw, answer)
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(tries))
	return err
}

// once sends a request. Errors that another try cannot mend are permanent.
func (s *Server) once(ctx context.Context, method, path string, raw []byte, answer any) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("generate: %s: %w", s.URL+"/"+path, fmt.Errorf(format, args...))
	}
	to, err := url.JoinPath(s.URL, path)
	if err != nil {
		return backoff.Permanent(fault("%w", err))
	}
	request, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(raw))
	if err != nil {
		return backoff.Permanent(fault("%w", err))
	}
	request.Header.Set("Content-Type", "application/json")
	if s.Key != "" {
		request.Header.Set("Authorization", "Bearer "+s.Key)
	}
	client := cmp.Or(s.Client, http.DefaultClient)
	response, err := client.Do(request)
	if err != nil {
		return fault("%w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return fault("%w", err)
	case response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests:
		return fault("%s: %s", response.Status, beginning(text))
	case response.StatusCode != http.StatusOK:
		return backoff.Permanent(fault("%s: %s", response.Status, beginning(text)))
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return backoff.Permanent(fault("no JSON as expected (%w): %s", err, beginning(text)))
	}
	return nil
}

// beginning is enough of what a server said.
func beginning(text []byte) string {
	return strings.TrimSpace(string(text[:min(len(text), 300)]))
}
