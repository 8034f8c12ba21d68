package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
)

var exportQueries = []routing.Query{
	{Problem: routing.Problem{ID: "easy", Text: "What is 1 + 1?"}},
	{Problem: routing.Problem{ID: "hard", Text: "Let $a$ be the number of subsets of a set with 7 elements. Find the remainder of $a^{12}$ on division by $1009$."}},
}

// served is the policy of an exported folder, with the pool of the experiment.
func served(t *testing.T, r *spec.Resolved, dir string) *policy.Model {
	t.Helper()
	b, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	models := lm.NewModels(0, "")
	t.Cleanup(func() { models.Close() })
	experts, _, err := routing.Members(r.Pools[0], r.Prices)
	if err != nil {
		t.Fatal(err)
	}
	var pool []lm.Expert
	for _, x := range experts {
		pool = append(pool, lm.Expert{ID: x.ID, Params: x.Params, Price: x.Price})
	}
	cfg := r.Experiment.Policy
	cfg.Model, cfg.Tune = &spec.LanguageModel{Folder: dir}, &spec.Tune{Part: "full"}
	p, err := models.New(b, cfg, pool)
	if err != nil {
		t.Fatal(err)
	}
	m, err := policy.New(b, p, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// chatServer answers as a server that has the folder: one token, with the log-probabilities of the letters and of one more token.
func chatServer(t *testing.T, m *policy.Model, spoil func(answer map[string]any, top []map[string]any)) *httptest.Server {
	t.Helper()
	system, letters, err := lm.Prompt(poolOf(m))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodGet {
			json.NewEncoder(w).Encode(map[string]any{"data": []map[string]any{{"id": "router"}}})
			return
		}
		if q.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, q)
			return
		}
		var asked struct {
			Model       string
			Messages    []struct{ Role, Content string }
			MaxTokens   int  `json:"max_tokens"`
			LogProbs    bool `json:"logprobs"`
			TopLogProbs int  `json:"top_logprobs"`
		}
		if err := json.NewDecoder(q.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		if asked.Model != "router" || len(asked.Messages) != 2 || asked.Messages[0].Role != "system" || asked.Messages[0].Content != system || asked.Messages[1].Role != "user" || asked.MaxTokens != 1 || !asked.LogProbs || asked.TopLogProbs != 20 {
			t.Errorf("asked %+v", asked)
		}
		p, err := m.Probs(q.Context(), []string{asked.Messages[1].Content})
		if err != nil {
			t.Error(err)
			return
		}
		top := []map[string]any{{"token": "Well", "logprob": math.Log(.25)}}
		for k, letter := range letters {
			top = append(top, map[string]any{"token": letter, "logprob": math.Log(p[0][k] * .75)})
		}
		answer := map[string]any{"logprobs": map[string]any{"content": []any{map[string]any{"token": "Well", "top_logprobs": top}}}}
		spoil(answer, top)
		answer["message"], answer["finish_reason"] = map[string]string{"content": "Well"}, "length"
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{answer}, "usage": map[string]int{"prompt_tokens": 200, "completion_tokens": 1, "total_tokens": 201}})
	}))
	t.Cleanup(s.Close)
	return s
}

// namingServer is such a server that can be asked for any token, as vLLM: it says which tokens a chat and a letter are, and how likely the last token of a text is.
func namingServer(t *testing.T, m *policy.Model, chat *httptest.Server) *httptest.Server {
	t.Helper()
	p := m.Policy().(*lm.Policy)
	_, letters, err := lm.Prompt(poolOf(m))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var asked struct {
			Model     string
			Messages  []struct{ Role, Content string }
			Prompt    json.RawMessage
			Begin     bool  `json:"add_generation_prompt"`
			Special   *bool `json:"add_special_tokens"`
			MaxTokens *int  `json:"max_tokens"`
			LogProbs  *int  `json:"logprobs"`
			Echo      bool
		}
		switch q.URL.Path {
		case "/tokenize", "/v1/completions":
			if err := json.NewDecoder(q.Body).Decode(&asked); err != nil || asked.Model != "router" {
				t.Errorf("asked %+v (%v)", asked, err)
			}
		default:
			chat.Config.Handler.ServeHTTP(w, q)
			return
		}
		switch letter, prompts := "", [][]int32(nil); {
		case len(asked.Messages) == 2 && asked.Begin:
			rows, err := p.Encode(q.Context(), []string{asked.Messages[1].Content})
			if err != nil {
				t.Error(err)
			}
			json.NewEncoder(w).Encode(map[string]any{"tokens": rows[0].IDs})
		case json.Unmarshal(asked.Prompt, &letter) == nil && asked.Special != nil && !*asked.Special:
			json.NewEncoder(w).Encode(map[string]any{"tokens": []int32{p.Labels()[slices.Index(letters, letter)]}})
		case json.Unmarshal(asked.Prompt, &prompts) == nil && asked.Echo && asked.LogProbs != nil && asked.MaxTokens != nil && *asked.MaxTokens == 0:
			var choices []any
			for i, prompt := range prompts {
				last := len(prompt) - 1
				probs, err := m.ProbsOf(q.Context(), []policy.Row{{IDs: prompt[:last]}})
				if err != nil {
					t.Error(err)
				}
				choices = append(choices, map[string]any{"index": i, "logprobs": map[string]any{
					"tokens": []string{"token_id:0", fmt.Sprintf("token_id:%d", prompt[last])}, "token_logprobs": []any{nil, math.Log(probs[0][slices.Index(p.Labels(), prompt[last])] * .75)},
				}})
			}
			slices.Reverse(choices)
			json.NewEncoder(w).Encode(map[string]any{"choices": choices})
		default:
			t.Errorf("%s asked %+v", q.URL, asked)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func poolOf(m *policy.Model) (pool []lm.Expert) {
	for _, x := range m.Policy().(*lm.Policy).About().Pool {
		pool = append(pool, x.Expert)
	}
	return pool
}

func TestAnExportedRowDecidesTheSameHereAndBehindAServer(t *testing.T) {
	for name, tune := range map[string]spec.Tune{"full": {Part: "full"}, "head": {Part: "head"}} {
		r, out := languageModel(t, tune), t.TempDir()
		r.Named = "tiny"
		runIn(t, r, out)
		dir := filepath.Join(t.TempDir(), "hf")
		x := protocol.Export{Row: "entrorouter", Dir: dir, As: lm.Export{DType: safetensors.F32}}
		done, err := x.Write(t.Context(), r, Options{Out: out})
		if err != nil || done.Seed != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
		routed, err := protocol.Route(t.Context(), r, Options{Out: out}, protocol.By{Row: "entrorouter"}, exportQueries)
		if err != nil {
			t.Fatal(err)
		}
		m := served(t, r, dir)
		texts := []string{exportQueries[0].Problem.Text, exportQueries[1].Problem.Text}
		probs, err := m.Probs(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := m.Policy().Encode(t.Context(), texts)
		server := chatServer(t, m, func(map[string]any, []map[string]any) {})
		asked, err := protocol.RouteOnServer(t.Context(), r, Options{Out: out}, "entrorouter", protocol.Server{URL: server.URL + "/v1"}, exportQueries)
		if err != nil {
			t.Fatal(err)
		}
		without := chatServer(t, m, func(_ map[string]any, top []map[string]any) { top[2]["token"] = " B" }) // whose likeliest tokens lack a letter
		named, err := protocol.RouteOnServer(t.Context(), r, Options{Out: out}, "entrorouter", protocol.Server{URL: namingServer(t, m, without).URL + "/v1"}, exportQueries)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range routed {
			for id, p := range line.Prob {
				if math.Abs(p-named[i].Prob[id]) > 1e-5 || line.Expert != named[i].Expert {
					t.Errorf("%s: %+v here, %+v behind a server that was asked for letters", name, line, named[i])
				}
			}
			if line.Expert != asked[i].Expert || line.USD != asked[i].USD || line.Tokens != int64(len(rows[i].IDs)+1) || asked[i].Tokens != 201 || !(line.MS > 0) || !(asked[i].MS > 0) {
				t.Errorf("%s: %+v here, %+v behind a server", name, line, asked[i])
			}
			for k, id := range m.Policy().Experts() {
				if math.Abs(line.Prob[id]-probs[i][k]) > 1e-5 || math.Abs(line.Prob[id]-asked[i].Prob[id]) > 1e-5 {
					t.Errorf("%s: %s has probability %v by the checkpoint, %v exported, %v behind a server", name, id, line.Prob[id], probs[i][k], asked[i].Prob[id])
				}
			}
		}
		card, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		about := m.Policy().(*lm.Policy).About()
		key, _ := done.Fit.MarshalText()
		for _, want := range []string{
			about.System, "\nIt is trained on a simulation", "| A | qwen3-4b | 4 | 0.03 | 0.03 |", string(key), "| it read profile/sft | profile-",
			"entrorouter run tiny\n", "| paper | the row | ", `"kind": "lm"`, map[string]string{"full": "| trained | every weight |", "head": "a linear head on a frozen language model"}[name],
		} {
			if !strings.Contains(string(card), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, card)
			}
		}
	}
}

// writingServer answers with tokens as a server that has the folder: a text for a prompt, and behind it the log-probabilities of the
// letters and of one more token.
func writingServer(t *testing.T, m *policy.Model) *httptest.Server {
	t.Helper()
	p := m.Policy().(*lm.Policy)
	end, most := p.Bound(true)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodGet {
			json.NewEncoder(w).Encode(map[string]any{"data": []map[string]any{{"id": "router"}}})
			return
		}
		var asked struct {
			Model       string
			Prompt      []int32
			Temperature float64
			MaxTokens   int     `json:"max_tokens"`
			LogProbs    int     `json:"logprobs"`
			Stop        []int32 `json:"stop_token_ids"`
			IDs         bool    `json:"return_tokens_as_token_ids"`
		}
		if err := json.NewDecoder(q.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		if q.URL.Path != "/v1/completions" || q.Header.Get("Authorization") != "Bearer sesame" || asked.Model != "router" || asked.Temperature != 0 || !asked.IDs {
			t.Errorf("%s asked %+v", q.URL, asked)
		}
		said := map[string]any{}
		token := func(id int32) string { return fmt.Sprintf("token_id:%d", id) }
		if asked.LogProbs == 20 && asked.MaxTokens == 1 {
			probs, err := m.ProbsOf(q.Context(), []policy.Row{{IDs: asked.Prompt, Written: []int32{}}})
			if err != nil {
				t.Error(err)
				return
			}
			top := map[string]float64{token(end): math.Log(.25)}
			for k, id := range p.Labels() {
				top[token(id)] = math.Log(probs[0][k] * .75)
			}
			said["top_logprobs"] = []any{top}
		} else {
			if asked.MaxTokens != most || !slices.Equal(asked.Stop, []int32{end}) {
				t.Errorf("asked %+v", asked)
			}
			written, err := p.Write(q.Context(), m, []string{"x"}, []policy.Row{{IDs: asked.Prompt}}, 1, true, 0)
			if err != nil {
				t.Error(err)
				return
			}
			var tokens []string
			for _, id := range written[0].Written {
				tokens = append(tokens, token(id))
			}
			said["tokens"], said["token_logprobs"] = tokens, make([]float64, len(tokens))
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"logprobs": said}}})
	}))
	t.Cleanup(s.Close)
	return s
}

func TestAnExportedRowThatWritesDecidesTheSameHereAndBehindAServer(t *testing.T) {
	r, out := languageModel(t, spec.Tune{Part: "full"}), t.TempDir()
	x := &r.Experiment
	x.Policy.Rationale, x.Policy.Writes = "cot", &spec.Writes{Tokens: 24, TestTokens: 30}
	x.Teacher = &spec.Teacher{Model: "router-0.8", Temperature: 1, TopP: 1, MaxTokens: 100, Attempts: 2}
	x.SFT.Epochs = 2 // of the two queries one has a text that ends and one a text that is cut
	x.Methods = slices.DeleteFunc(x.Methods, func(m spec.Method) bool { return m.Name != "sft" })
	x.Evaluate.MaxProblems = 2
	runIn(t, r, out)
	dir := filepath.Join(t.TempDir(), "hf")
	if _, err := (protocol.Export{Row: "sft", Dir: dir, As: lm.Export{DType: safetensors.F32}}).Write(t.Context(), r, Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	routed, err := protocol.Route(t.Context(), r, Options{Out: out}, protocol.By{Row: "sft"}, exportQueries)
	if err != nil {
		t.Fatal(err)
	}
	at := protocol.Server{URL: writingServer(t, served(t, r, dir)).URL + "/v1"}
	asked, err := protocol.RouteOnServer(t.Context(), r, Options{Out: out, Key: "sesame"}, "sft", at, exportQueries)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range routed {
		if line.Expert != asked[i].Expert || line.USD != asked[i].USD || line.Tokens != asked[i].Tokens || line.Tokens < 100 {
			t.Errorf("%+v here, %+v behind a server", line, asked[i])
		}
		for id, p := range line.Prob {
			if math.Abs(p-asked[i].Prob[id]) > 1e-5 {
				t.Errorf("%s has probability %v here, %v behind a server", id, p, asked[i].Prob[id])
			}
		}
	}
}

func TestWhatAServerDoesNotSayIsAnError(t *testing.T) {
	r, out := languageModel(t, spec.Tune{Part: "full"}), t.TempDir()
	runIn(t, r, out)
	dir := filepath.Join(t.TempDir(), "hf")
	if _, err := (protocol.Export{Row: "sft", Seed: 1, Dir: dir, As: lm.Export{DType: safetensors.BF16}}).Write(t.Context(), r, Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	m := served(t, r, dir)
	route := func(row string, s protocol.Server) error {
		_, err := protocol.RouteOnServer(t.Context(), r, Options{Out: out}, row, s, exportQueries)
		return err
	}
	for want, spoil := range map[string]func(map[string]any, []map[string]any){
		"sent no log-probabilities of its first token": func(answer map[string]any, _ []map[string]any) { delete(answer, "logprobs") },
		"the letters have no probability beside other first tokens": func(_ map[string]any, top []map[string]any) {
			for _, x := range top[1:] {
				x["logprob"] = nil
			}
		},
		"B is not among the 4 likeliest first tokens":                     func(_ map[string]any, top []map[string]any) { top[2]["token"] = " B" },
		"A, C are not among the 4 likeliest first tokens that the server": func(_ map[string]any, top []map[string]any) { top[1]["token"], top[3]["token"] = "a", "c" },
	} {
		if err := route("sft", protocol.Server{URL: chatServer(t, m, spoil).URL + "/v1", Model: "router"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
	good := chatServer(t, m, func(map[string]any, []map[string]any) {}).URL + "/v1"
	if err := route("sft", protocol.Server{URL: good, Model: "other"}); err == nil || !strings.Contains(err.Error(), `does not serve the model "other"; it serves: router`) {
		t.Errorf("error is %v", err)
	}
	for want, c := range map[string]struct{ row, url string }{
		"row mixture is no language model": {"mixture", good},
		"want a base URL":                  {"sft", "localhost"},
	} {
		if err := route(c.row, protocol.Server{URL: c.url}); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}

func TestExportsThatThereIsNothingForAreRefused(t *testing.T) {
	r, out := languageModel(t, spec.Tune{LoRA: &spec.LoRA{R: 2, Alpha: 4, Targets: []string{"q_proj"}}}), t.TempDir()
	r.Named = "tiny"
	export := func(x protocol.Export, r *spec.Resolved, out string) error {
		x.Dir, x.As.DType = filepath.Join(t.TempDir(), "hf"), safetensors.F32
		_, err := x.Write(t.Context(), r, Options{Out: out})
		return err
	}
	none := filepath.Join(out, "none")
	if err := export(protocol.Export{Row: "sft"}, r, none); !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "not finished in this store; run it first: entrorouter run tiny") {
		t.Errorf("no store: error is %v", err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a store was made")
	}
	runIn(t, r, out)
	for want, x := range map[string]protocol.Export{
		"row mixture is no language model":                     {Row: "mixture"},
		`has no row "nosuch"`:                                  {Row: "nosuch"},
		"row sft was not trained with seed 7; its seeds are 1": {Row: "sft", Seed: 7},
		"which no folder holds; write the whole model":         {Row: "sft", As: lm.Export{Adapter: true}},
	} {
		if err := export(x, r, out); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
	if err := export(protocol.Export{Row: "lm-r1"}, rounds(t), out); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "row lm-r1 is a language model that asks several experts, which keeps no checkpoint to export or serve") {
		t.Errorf("several rounds: error is %v", err)
	}
	if err := export(protocol.Export{Row: "sft"}, r, out); err != nil {
		t.Errorf("adapters merged: %v", err)
	}
	changed := *r
	changed.Experiment.SFT.LR /= 2
	if err := export(protocol.Export{Row: "sft"}, &changed, out); !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "was run, but not as it is now") {
		t.Errorf("another spec: error is %v", err)
	}
}
