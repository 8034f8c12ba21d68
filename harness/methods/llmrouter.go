// Row kind llmrouter: a language model is asked which expert should answer.

package methods

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/internal/strict"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// llmRouter asks a language model which expert should answer (LLM-as-a-router, appendix G of the paper). Nothing is
// trained. The paper gives neither prompt nor temperature; these are ours. The prompt holds the task, a line of JSON an
// expert (id, size, prices, and what Strengths and ShowStats add), the problem, and the wish for one JSON object.
//
// An answer is read strictly, {"model": "<id>"} and nothing else, thinking before </think> aside; failing that, as a
// text that names exactly one expert; failing that, the model is told so and asked once more; failing that, the expert
// of OnParseFail answers. What was asked at temperature 0 does not depend on the run: runs of a problem share it.
//
// The model's own tokens are in Decision.Usage, and in no cost of the table: the paper leaves out those of its own router
// (section 4.1) and does not say whether it counts those of these. Since such a router is as large as an expert, Report
// also counts them in dollars, prompt and answer, where the price is known.
type llmRouter struct {
	Model       string  `yaml:"model"`              // as its server knows it
	URL         string  `yaml:"url,omitempty"`      // base URL of the server, ending in /v1; none: a simulated router of the pool
	KeyEnv      string  `yaml:"key_env,omitempty"`  // environment variable that holds the key of that server
	Revision    string  `yaml:"revision,omitempty"` // of the weights; checkpoints served under one name need one each, or what one has said is taken for another's
	Temperature float64 `yaml:"temperature" in:"[0,100]"`
	TopP        float64 `yaml:"top_p" in:"(0,1]"`
	MaxTokens   int     `yaml:"max_tokens" in:"[1,10000000]"` // of an answer, thinking included

	Task         string            `yaml:"task"`                // what the prompt begins with
	Strengths    map[string]string `yaml:"strengths,omitempty"` // a line on an expert, by id
	ShowStats    bool              `yaml:"show_stats"`          // tell how often each expert is right on the training problems: on all, and by thirds of difficulty
	ShuffleOrder bool              `yaml:"shuffle_order"`       // draw the order of the experts anew for every problem and run; else cheapest first
	OnParseFail  string            `yaml:"on_parse_fail"`       // strongest, cheapest or an expert's id

	BilledAs string      `yaml:"billed_as,omitempty"` // model of the price list whose price its tokens have; none: Model
	Price    *cost.Price `yaml:"price,omitempty"`     // or the price itself, in USD per million tokens

	url     string // URL, which is no part of a recipe: where a server stands decides nothing
	keyEnv  string // KeyEnv, no more than that
	seed    seed.Seed
	servers Servers
}

const routerTask = "Below are language models and a problem. Choose the model that should answer the problem: the cheapest one that will very likely solve it. Do not solve the problem."

const (
	routerForm   = `Answer with one JSON object and nothing else: {"model": "<id>"}, with the id of the model you choose.`
	routerRemind = "\n\nYour last answer did not name exactly one of these models. Answer with the JSON object alone."
)

func newLLMRouter(s Setup) (routing.Method, error) {
	l := &llmRouter{TopP: 1, MaxTokens: 4096, Task: routerTask, OnParseFail: "strongest", servers: s.Servers, seed: seed.Seed(s.Spec.Seed)}
	if err := spec.DecodeParams(s.Method, l); err != nil {
		return nil, err
	}
	if l.Model == "" {
		return nil, paramFault(s.Method, "model", "not set; name the language model that routes")
	}
	if l.URL != "" && !spec.BaseURL(l.URL) {
		return nil, paramFault(s.Method, "url", "want a base URL such as http://localhost:8000/v1, got %q", l.URL)
	}
	l.url, l.URL, l.keyEnv, l.KeyEnv = l.URL, "", l.KeyEnv, ""
	if _, err := experts.RoutingPrompt(l.Task, nil, routerForm); err != nil {
		return nil, paramFault(s.Method, "task", "%v", err)
	}
	if l.Price == nil && s.Prices != nil {
		if p, ok := s.Prices[l.BilledAs]; ok {
			l.Price = &p
		} else if l.BilledAs != "" {
			return nil, paramFault(s.Method, "billed_as", "no price of %q; known: %s", l.BilledAs, strings.Join(slices.Sorted(maps.Keys(s.Prices)), ", "))
		} else if p, ok := s.Prices[l.Model]; ok {
			l.Price = &p
		}
	}
	if s.Pool == nil {
		return l, nil
	}
	if _, err := expertIndex(l.OnParseFail, routing.IDs(s.Pool)); err != nil {
		return nil, paramFault(s.Method, "on_parse_fail", "%v", err)
	}
	for _, id := range slices.Sorted(maps.Keys(l.Strengths)) {
		if !slices.Contains(routing.IDs(s.Pool), id) {
			return nil, paramFault(s.Method, "strengths", "expert %q is not in the pool; known: %s", id, strings.Join(routing.IDs(s.Pool), ", "))
		}
		if _, err := experts.RoutingPrompt("", []experts.Candidate{{ID: id, Strength: l.Strengths[id]}}, ""); err != nil {
			return nil, paramFault(s.Method, "strengths", "%v", err)
		}
	}
	return l, nil
}

func (*llmRouter) Name() string { return "llmrouter" }

func (l *llmRouter) traits() (t Traits) {
	if l.url == "" {
		t.Simulated = l.Model
	}
	return t
}

// Endpoints implements Asking.
func (l *llmRouter) Endpoints() []experts.Endpoint { return []experts.Endpoint{l.endpoint()} }

func (l *llmRouter) endpoint() experts.Endpoint {
	x := experts.Endpoint{Expert: routing.Expert{ID: l.Model, Model: l.Model, Revision: l.Revision, MaxTokens: l.MaxTokens}, URL: l.url, KeyEnv: l.keyEnv}
	if l.Price != nil {
		x.Price = *l.Price
	}
	return x
}

func (l *llmRouter) Fit(_ context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	if l.servers == nil {
		return nil, fmt.Errorf("method llmrouter: model %q cannot be asked here", l.Model)
	}
	r := &llmRouting{llmRouter: l}
	for _, e := range train.Experts {
		r.ids = append(r.ids, e.ID)
		r.candidates = append(r.candidates, experts.Candidate{ID: e.ID, Billions: e.Params, In: e.Price.In, Out: e.Price.Out, Strength: l.Strengths[e.ID]})
	}
	if l.ShowStats {
		examples, err := profiled(l, train)
		if err != nil {
			return nil, err
		}
		for m, accuracy := range accuracies(examples, len(r.ids)) {
			r.candidates[m].Accuracy = accuracy
		}
	}
	var err error
	r.fallback, err = expertIndex(l.OnParseFail, r.ids)
	return r, err
}

// accuracies returns the mean pass rate of each expert on all examples and by thirds of difficulty, which is their mean
// pass rate over the experts, [M], to two decimals.
func accuracies(examples []routing.Example, experts int) []map[string]float64 {
	routing.InHashOrder(examples)
	ease := func(e routing.Example) (sum float64) {
		for _, k := range e.Kappa {
			sum += k
		}
		return sum
	}
	slices.SortStableFunc(examples, func(a, b routing.Example) int {
		switch d := ease(b) - ease(a); {
		case d < -1e-9:
			return -1
		case d > 1e-9:
			return 1
		}
		return 0
	})
	n := len(examples)
	out := make([]map[string]float64, experts)
	for m := range out {
		out[m] = map[string]float64{}
	}
	for name, part := range map[string][]routing.Example{"all": examples, "easy": examples[:n/3], "medium": examples[n/3 : n-n/3], "hard": examples[n-n/3:]} {
		if len(part) == 0 {
			continue
		}
		_, acc := routing.Means(part, experts)
		for m, a := range acc {
			out[m][name] = metrics.Rounded(a, "", 2).Number
		}
	}
	return out
}

// llmRouting is an LLM router that knows its pool.
type llmRouting struct {
	*llmRouter
	ids        []string
	candidates []experts.Candidate // [M]
	fallback   int

	counts llmCounts // of the last call of Route
}

// llmCounts says how many decisions of a call were come by how.
type llmCounts struct {
	decisions, loose, retried, failed, first int
	in, out                                  int64
}

// template is the prompt for the experts in an order.
func (r *llmRouting) template(order []int) (string, error) {
	candidates := make([]experts.Candidate, len(order))
	for i, m := range order {
		candidates[i] = r.candidates[m]
	}
	t, err := experts.RoutingPrompt(r.Task, candidates, routerForm)
	if err != nil {
		return "", fmt.Errorf("method llmrouter: %w", err)
	}
	return t, nil
}

// order of the experts in the prompt of a query, by its text and run.
func (r *llmRouting) order(q routing.Query) []int {
	order := make([]int, len(r.ids))
	for m := range order {
		order[m] = m
	}
	if r.ShuffleOrder {
		r.seed.Derive("llmrouter order", q.Problem.Text, q.Run).Rand().Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

// ask is what a query asks; attempt counts from 0.
func (r *llmRouting) ask(q routing.Query, attempt int) experts.Ask {
	run := q.Run
	if r.Temperature == 0 {
		run = 0
	}
	return experts.Ask{Text: q.Problem.Text, Run: run, Seed: r.seed.Derive("llmrouter", r.Model, q.Problem.Text, run, attempt)}
}

// Route implements routing.Router. Decisions depend on nothing but their own query.
func (r *llmRouting) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	n := len(queries)
	chosen := slices.Repeat([]int{-1}, n)
	usage := make([]cost.Usage, n)
	orders := make([][]int, n)
	templates := make([]string, n)
	built := map[string]string{}
	for i, q := range queries {
		orders[i] = r.order(q)
		key := fmt.Sprint(orders[i])
		if _, ok := built[key]; !ok {
			t, err := r.template(orders[i])
			if err != nil {
				return nil, err
			}
			built[key] = t
		}
		templates[i] = built[key]
	}
	r.counts = llmCounts{decisions: n}
	for attempt, remind := range []string{"", routerRemind} {
		byTemplate := map[string][]int{}
		for i, m := range chosen {
			if m < 0 {
				byTemplate[templates[i]] = append(byTemplate[templates[i]], i)
			}
		}
		for _, t := range slices.Sorted(maps.Keys(byTemplate)) {
			of := byTemplate[t]
			asks := make([]experts.Ask, len(of))
			for k, i := range of {
				asks[k] = r.ask(queries[i], attempt)
			}
			answers, err := r.servers.Ask(ctx, r.endpoint(), spec.Sampling{Temperature: r.Temperature, TopP: r.TopP, Prompt: t + remind}, asks)
			if err != nil {
				return nil, fmt.Errorf("method llmrouter: %w", err)
			}
			for k, i := range of {
				usage[i] = usage[i].Add(answers[k].Usage)
				m, strict := readChoice(answers[k].Text, r.ids)
				chosen[i] = m
				if attempt > 0 {
					r.counts.retried++
				}
				if m >= 0 && !strict {
					r.counts.loose++
				}
				if m >= 0 && m == orders[i][0] {
					r.counts.first++
				}
			}
		}
	}
	for i, u := range usage {
		r.counts.in, r.counts.out = r.counts.in+u.In, r.counts.out+u.Out
		if chosen[i] < 0 {
			chosen[i] = r.fallback
			r.counts.failed++
		}
	}
	out := routing.Choices(queries, len(r.ids), func(i int, _ routing.Query) int { return chosen[i] })
	for i := range out {
		out[i].Usage = usage[i]
	}
	return out, nil
}

// readChoice returns the expert that an answer names, -1 if it names none or several, and whether it kept to the form.
func readChoice(answer string, ids []string) (m int, kept bool) {
	answer = experts.BehindThinking(answer)
	var object experts.Choice
	if strict.JSON([]byte(answer), &object) == nil {
		if m := slices.Index(ids, object.Model); m >= 0 {
			return m, true
		}
	}
	if found := experts.Mentioned(answer, ids); len(found) == 1 {
		return found[0], false
	}
	return -1, false
}

// Units of what Report says of a router that is a language model.
const (
	RouterUSD   = "router-usd/query" // dollars of the router's own tokens, prompt and answer; in no other cost
	ParseFail   = "parse-fail-%"     // decisions that fell to on_parse_fail
	AskedAgain  = "asked-again-%"    // decisions whose first answer named no expert
	LooseAnswer = "loose-answer-%"   // decisions whose answer was not in the form asked for but named one expert
	NamedFirst  = "named-first-%"    // answers that name the expert that stands first in the prompt, drawn at random: above 100/M is position bias
)

// Report implements Reporter.
func (r *llmRouting) Report() []metrics.Value {
	c := r.counts
	n := float64(max(c.decisions, 1))
	percent := func(k int, of float64, unit string) metrics.Value {
		return metrics.Rounded(100*float64(k)/of, unit, 3)
	}
	out := []metrics.Value{
		percent(c.failed, n, ParseFail), percent(c.retried, n, AskedAgain), percent(c.loose, n, LooseAnswer),
	}
	if r.ShuffleOrder {
		out = append(out, percent(c.first, float64(max(c.decisions-c.failed, 1)), NamedFirst))
	}
	if r.Price != nil {
		out = append(out, metrics.Rounded(r.Price.USD(cost.Usage{In: c.in, Out: c.out}, true)/n, RouterUSD, 8))
	}
	return out
}
