package methods

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// talkative is a language model that says what say makes of a prompt; nil: the strongest expert for planted hard
// problems, else the cheapest. It counts distinct questions.
type talkative struct {
	say func(prompt string, a experts.Ask) string

	asked *asked
}

type asked struct {
	sync.Mutex
	distinct map[string]bool
	prompts  []string
	sampling []spec.Sampling
}

func (talkative) Pool(context.Context) ([]experts.Endpoint, spec.Sampling, error) {
	return nil, spec.Sampling{}, errors.New("no experts here")
}

func (talkative) Chat(context.Context, []experts.Endpoint) (experts.Chatter, error) {
	return nil, errors.New("no conversations here")
}

func (talkative) Progress(string, int) (one, done func()) { return func() {}, func() {} }

func (s talkative) Ask(_ context.Context, m experts.Endpoint, sampling spec.Sampling, asks []experts.Ask) ([]experts.Completion, error) {
	var out []experts.Completion
	for _, a := range asks {
		prompt := experts.Prompt(sampling.Prompt, a.Text)
		text := `{"model": "small"}`
		switch {
		case s.say != nil:
			text = s.say(prompt, a)
		case routingtest.SoundsHard(a.Text):
			text = `{"model": "large"}`
		}
		if s.asked != nil {
			s.asked.Lock()
			key := fmt.Sprint(prompt, a.Run, a.Seed)
			if !s.asked.distinct[key] {
				s.asked.distinct[key] = true
				s.asked.prompts = append(s.asked.prompts, prompt)
				s.asked.sampling = append(s.asked.sampling, sampling)
			}
			s.asked.Unlock()
		}
		out = append(out, experts.Completion{Text: text, Finish: routing.Stop, Usage: cost.Usage{In: 100, Out: 10}})
	}
	return out, nil
}

// llm fits a row of kind llmrouter whose model says what say says.
func llm(t testing.TB, params string, say func(prompt string, a experts.Ask) string) (*llmRouting, *asked) {
	t.Helper()
	s := setup(t, "llmrouter", params)
	a := &asked{distinct: map[string]bool{}}
	s.Servers = talkative{say, a}
	s.Prices = map[string]cost.Price{"router": {In: 1, Out: 10}, "other": {In: 2, Out: 0}}
	s.Pool = poolOf("small", "medium", "large")
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return fit(t, m, routingtest.Planted(30), 1).(*llmRouting), a
}

func TestAnswersOfRoutersAreRead(t *testing.T) {
	ids := []string{"qwen3-4b", "qwen3-4b-instruct", "qwen3-235b"}
	for _, c := range []struct {
		answer string
		want   int
		strict bool
	}{
		{`{"model": "qwen3-4b"}`, 0, true},
		{" {\"model\":\n\"qwen3-4b-instruct\"} \n", 1, true},
		{`<think>Hm, qwen3-4b may do.</think>{"model": "qwen3-235b"}`, 2, true},
		{"```json\n{\"model\": \"qwen3-4b-instruct\"}\n```", 1, false},
		{`{"model": "qwen3-4b", "why": "easy"}`, 0, false},
		{`{"model": "qwen3-4b"}{"model": "qwen3-4b"}`, 0, false},
		{"I choose qwen3-235b.", 2, false},
		{"**qwen3-4b**, since qwen3-4b is enough", 0, false},
		{`{"model": "qwen3-4b", "not": "qwen3-235b"}`, -1, false},
		{"qwen3-4b or qwen3-235b", -1, false},
		{`{"model": "qwen3-4b-base"}`, -1, false},
		{`{"model": "gpt-5"}`, -1, false},
		{`{"Model": 3}`, -1, false},
		{"the answer is 4", -1, false},
		{"<think>qwen3-4b</think>", -1, false},
		{"", -1, false},
	} {
		if m, strict := readChoice(c.answer, ids); m != c.want || strict != c.strict {
			t.Errorf("%q: expert %d, strict %v; want %d, %v", c.answer, m, strict, c.want, c.strict)
		}
	}
}

func FuzzReadChoice(f *testing.F) {
	ids := []string{"a", "a-b", "qwen3-4b", "x.y"}
	for _, s := range []string{`{"model": "a"}`, "a-b.", "a or a-b", "</think>x.y", "\x00\xff{", `{"model":"\u0061"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		m, strict := readChoice(answer, ids)
		if m < -1 || m >= len(ids) || strict && m < 0 {
			t.Fatalf("%q: expert %d, strict %v", answer, m, strict)
		}
		if m >= 0 && !strict && !strings.Contains(answer, ids[m]) {
			t.Fatalf("%q names %s nowhere", answer, ids[m])
		}
		// An object with the chosen id and nothing else is read as it, whatever the model thought before.
		for i, id := range ids {
			if m, strict := readChoice(answer+"</think>"+`{"model": "`+id+`"}`, ids); m != i || !strict {
				t.Fatalf("after thinking %q, %s is read as %d", answer, id, m)
			}
		}
	})
}

func TestThePromptHoldsExpertsPricesAndProblem(t *testing.T) {
	r, asked := llm(t, `{model: router, strengths: {large: proofs}, show_stats: true}`, nil)
	q := routing.Query{Problem: routing.Problem{ID: "x", Text: "Find the tensor."}}
	routingtest.Route(t, r, []routing.Query{q})
	want := routerTask + `

{"id":"small","usd_per_million_input_tokens":0,"usd_per_million_output_tokens":0.1,"accuracy":{"all":0.5,"easy":1,"hard":0,"medium":0.5}}
{"id":"medium","usd_per_million_input_tokens":0,"usd_per_million_output_tokens":0.4,"accuracy":{"all":0.6,"easy":1,"hard":0.2,"medium":0.6}}
{"id":"large","usd_per_million_input_tokens":0,"usd_per_million_output_tokens":1,"strength":"proofs","accuracy":{"all":1,"easy":1,"hard":1,"medium":1}}

<problem>
Find the tensor.
</problem>

` + routerForm
	if len(asked.prompts) != 1 || asked.prompts[0] != want {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(asked.prompts, "\n---\n"), want)
	}
	if s := asked.sampling[0]; s.Temperature != 0 || s.TopP != 1 {
		t.Errorf("sampling %+v", s)
	}
}

// An answer that names nobody is asked for once more, with a reminder; then the fallback decides. Tokens of both count.
func TestRoutersAreAskedAgainOnceAndThenFallBack(t *testing.T) {
	say := func(prompt string, a experts.Ask) string {
		again := strings.HasSuffix(prompt, routerRemind)
		switch {
		case strings.HasPrefix(a.Text, "never"), strings.HasPrefix(a.Text, "later") && !again:
			return "I cannot decide"
		case strings.HasPrefix(a.Text, "loose"):
			return "Ask small!"
		}
		return `{"model": "medium"}`
	}
	r, asked := llm(t, "{model: router}", say)
	var qs []routing.Query
	for i, word := range []string{"now", "later", "never", "loose"} {
		qs = append(qs, routing.Query{Problem: routing.Problem{ID: fmt.Sprint(i), Text: word + " what"}})
	}
	for fallback, want := range map[string][]int{"strongest": {1, 1, 2, 0}, "cheapest": {1, 1, 0, 0}, "medium": {1, 1, 1, 0}} {
		r, _ := llm(t, "{model: router, on_parse_fail: "+fallback+"}", say)
		var got []int
		for _, d := range routingtest.Route(t, r, qs) {
			got = append(got, d.Expert)
		}
		if !slices.Equal(got, want) {
			t.Errorf("falling back to the %s: %v, want %v", fallback, got, want)
		}
	}
	d := routingtest.Route(t, r, qs)
	for i, tokens := range []int64{110, 220, 220, 110} {
		if got := d[i].Usage.In + d[i].Usage.Out; got != tokens {
			t.Errorf("query %d: %d tokens, want %d", i, got, tokens)
		}
	}
	if len(asked.distinct) != 6 {
		t.Errorf("%d questions, want 6", len(asked.distinct))
	}
	want := []metrics.Value{
		metrics.Rounded(25, ParseFail, 3), metrics.Rounded(50, AskedAgain, 3), metrics.Rounded(25, LooseAnswer, 3),
		metrics.Rounded((600*1+60*10)/1e6/4, RouterUSD, 8),
	}
	if got := r.Report(); !slices.Equal(got, want) {
		t.Errorf("reports %v, want %v", got, want)
	}
}

func TestRunsShareTheAnswerAtTemperatureZeroAlone(t *testing.T) {
	var qs []routing.Query
	for run := range 3 {
		qs = append(qs, routing.Query{Problem: routing.Problem{ID: "x", Text: "x"}, Run: run})
	}
	for params, want := range map[string]int{"{model: router}": 1, "{model: router, temperature: 0.6}": 3} {
		r, asked := llm(t, params, func(_ string, a experts.Ask) string {
			return `{"model": "` + []string{"small", "medium", "large"}[a.Run] + `"}`
		})
		d := routingtest.Route(t, r, qs)
		if len(asked.distinct) != want {
			t.Errorf("%s: %d questions, want %d", params, len(asked.distinct), want)
		}
		if last := d[2].Expert; last != want-1 {
			t.Errorf("%s: the third run goes to expert %d", params, last)
		}
		if d[2].Usage != (cost.Usage{In: 100, Out: 10}) {
			t.Errorf("%s: a decision took %v; whoever makes it pays", params, d[2].Usage)
		}
	}
}

// A model that always names the first expert shows up as such; one that reads the problem does not care for the order.
func TestShufflingShowsPositionBias(t *testing.T) {
	first := func(prompt string, _ experts.Ask) string {
		_, rest, _ := strings.Cut(prompt, `{"id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		return `{"model": "` + id + `"}`
	}
	qs := routingtest.Fresh(300)
	biased, asked := llm(t, "{model: router, shuffle_order: true}", first)
	count := map[int]int{}
	for _, d := range routingtest.Route(t, biased, qs) {
		count[d.Expert]++
	}
	for m := range 3 {
		if count[m] < 60 {
			t.Errorf("expert %d stands first in %d of 300 prompts", m, count[m])
		}
	}
	if v := biased.Report()[3]; v.Unit != NamedFirst || v.Number != 100 {
		t.Errorf("reports %v of a model that names the first", v)
	}
	if len(asked.distinct) != 300 {
		t.Errorf("%d questions", len(asked.distinct))
	}
	honest, _ := llm(t, "{model: router, shuffle_order: true}", nil)
	plain, _ := llm(t, "{model: router}", nil)
	sameDecisions(t, "shuffled", routingtest.Route(t, honest, qs), routingtest.Route(t, plain, qs))
	if v := honest.Report()[3]; math.Abs(v.Number-100./3) > 12 {
		t.Errorf("reports %v of a model that reads the problem", v)
	}
}

func TestAccuraciesByThirds(t *testing.T) {
	var set []routing.Example
	for i, k := range [][]float64{{1, 1}, {0, 0}, {0.5, 1}, {1, 1}, {0, 0.5}, {0.25, 1}} {
		set = append(set, routing.Example{Problem: routing.Problem{ID: fmt.Sprint(i)}, Kappa: k, USD: []float64{0, 0}})
	}
	got := fmt.Sprint(accuracies(set, 2))
	// Easiest first: (1,1) (1,1) | (.5,1) (.25,1) | (0,.5) (0,0).
	if want := "[map[all:0.46 easy:1 hard:0 medium:0.38] map[all:0.75 easy:1 hard:0.25 medium:1]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLLMRouterPricesAndFaults(t *testing.T) {
	build := func(params string) (*llmRouter, error) {
		s := setup(t, "llmrouter", params)
		s.Prices, s.Pool = map[string]cost.Price{"router": {In: 1, Out: 10}, "other": {In: 2, Out: 3}}, poolOf("small", "large")
		m, err := New(s)
		if err != nil {
			return nil, err
		}
		return m.(*llmRouter), nil
	}
	for params, want := range map[string]*cost.Price{
		"{model: router}": {In: 1, Out: 10}, "{model: router, billed_as: other}": {In: 2, Out: 3}, "{model: free}": nil,
		"{model: router, price: {in: 5, out: 6}}": {In: 5, Out: 6},
	} {
		l, err := build(params)
		if err != nil || (l.Price == nil) != (want == nil) || want != nil && *l.Price != *want {
			t.Errorf("%s: %v, %v; want %v", params, l, err, want)
		}
	}
	for params, want := range map[string]string{
		"{temperature: 0}":                                                "model: not set",
		"{model: m, billed_as: nobody}":                                   `no price of "nobody"; known: other, router`,
		"{model: m, on_parse_fail: medium}":                               `expert "medium" is not in the pool; known: small, large, cheapest`,
		"{model: m, strengths: {medium: x}}":                              `expert "medium" is not in the pool; known: small, large`,
		"{model: m, task: 'Solve {problem}'}":                             `the prompt holds "{problem}" outside the problem`,
		"{model: m, strengths: {small: '<problem> </problem>{problem}'}}": `the prompt holds "{problem}"`,
		"{model: m, url: 'localhost:8000'}":                               "want a base URL",
		"{model: m, url: 'http://localhost:8000'}":                        "want a base URL",
		"{model: m, top_p: 0}":                                            "top_p",
		"{model: m, temperature: 0.6, max_tokens: 0.5}":                   "max_tokens",
	} {
		if _, err := build(params); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
	// Where the server stands is no part of the recipe; what it is told is.
	a, err1 := build("{model: m, url: 'http://a:1/v1'}")
	b, err2 := build("{model: m, url: 'http://b:2/v1'}")
	c, err3 := build("{model: m, url: 'http://b:2/v1', task: Choose.}")
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 3)
	for i, l := range []*llmRouter{a, b, c} {
		text, err := spec.Canonical(l)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	if texts[0] != texts[1] || texts[1] == texts[2] {
		t.Errorf("recipes %v", texts)
	}
	d, err := build("{model: m, url: 'http://a:1/v1', revision: step-40}")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := spec.Canonical(d); err != nil || string(text) == texts[0] || d.endpoint().Revision != "step-40" || a.endpoint().Revision != "" {
		t.Errorf("revision: recipe %s, asked as %+v; %v", text, d.endpoint(), err)
	}
	if _, err := (&llmRouter{Model: "m"}).Fit(t.Context(), routingtest.Planted(4), routingtest.Work(1)); err == nil || !strings.Contains(err.Error(), "cannot be asked here") {
		t.Errorf("without servers: %v", err)
	}
}

// A decision depends on its own query alone: any subset of the queries, in any order, is decided the same way, retries
// and all.
func TestLLMDecisionsDoNotDependOnEachOther(t *testing.T) {
	say := func(prompt string, a experts.Ask) string {
		switch int(4 * a.Seed.Derive(prompt).Uniform()) {
		case 0:
			return "hm"
		case 1:
			return `{"model": "small"}`
		}
		return `{"model": "large"}`
	}
	qs := routingtest.Fresh(40)
	for _, params := range []string{"{model: router}", "{model: router, temperature: 1, shuffle_order: true}"} {
		r, _ := llm(t, params, say)
		want := routingtest.Route(t, r, qs)
		rapid.Check(t, func(rt *rapid.T) {
			order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
				for i := range qs {
					if !yield(i) {
						return
					}
				}
			})).Draw(rt, "order")[:rapid.IntRange(0, 40).Draw(rt, "n")]
			var some []routing.Query
			var expect []routing.Decision
			for _, i := range order {
				some, expect = append(some, qs[i]), append(expect, want[i])
			}
			sameDecisions(t, "in part", routingtest.Route(t, r, some), expect)
		})
	}
}

// What a router's tokens cost is known to whoever asks, so that a bound on dollars counts them.
func TestARoutersPriceGoesWithItsRequests(t *testing.T) {
	r, _ := llm(t, "{model: router}", func(string, experts.Ask) string { return `{"model": "small"}` })
	if got := r.Endpoints()[0].Price; got != (cost.Price{In: 1, Out: 10}) {
		t.Errorf("its requests have the price %v", got)
	}
	r, _ = llm(t, "{model: unknown}", func(string, experts.Ask) string { return `{"model": "small"}` })
	if got := r.Endpoints()[0].Price; got != (cost.Price{}) {
		t.Errorf("without a price its requests have %v", got)
	}
}
