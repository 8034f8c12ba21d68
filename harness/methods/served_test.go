package methods

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/internal/jsontest"
	"github.com/entrorouter/entrorouter/harness/multiround"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// standIns answer in process: experts always 7, and a policy that follows its seed: it answers 1 at once, or asks an
// expert and answers 2 (tags) or hands the response over (tools).
type standIns struct{ talkative }

func (standIns) Pool(context.Context) ([]experts.Endpoint, spec.Sampling, error) {
	var all []experts.Endpoint
	for _, x := range routingtest.Pool() {
		all = append(all, experts.Endpoint{Expert: x, URL: "http://localhost/v1"})
	}
	return all, spec.Sampling{Temperature: 0.6, Prompt: "{problem}"}, nil
}

func (standIns) Chat(_ context.Context, endpoints []experts.Endpoint) (experts.Chatter, error) {
	if n := len(endpoints); n != 4 || endpoints[3].Model != "router" {
		return nil, fmt.Errorf("%d endpoints: %+v", n, endpoints)
	}
	return standIns{}.answers(), nil
}

type chatFunc func(experts.ChatRequest) experts.Completion

func (f chatFunc) Chat(_ context.Context, r experts.ChatRequest) (experts.Completion, error) {
	c := f(r)
	c.Finish, c.Usage = routing.Stop, cost.Usage{In: 10, Out: 20}
	return c, nil
}

func (standIns) answers() experts.Chatter {
	return chatFunc(func(r experts.ChatRequest) experts.Completion {
		last := r.Messages[len(r.Messages)-1]
		u := seed.Derive("stand-in", r.Seed).Uniform()
		name := routingtest.Pool()[int(u*5)%3].ID
		tags := func(rest string) experts.Completion { return experts.Completion{Text: "<think>hm</think>" + rest} }
		tool := func(name, arguments string) experts.Completion {
			return experts.Completion{Calls: []experts.ToolCall{{ID: "a", Name: name, Arguments: arguments}}}
		}
		switch {
		case !strings.HasPrefix(r.Expert, "policy of "):
			return experts.Completion{Text: "\\boxed{7}"}
		case r.Tools == nil && len(r.Messages) == 1 && u < 0.6:
			return tags("<search>" + name + ":What?</search>")
		case r.Tools == nil:
			return tags(fmt.Sprintf("<answer>%d</answer>", len(r.Messages)))
		case last.Role == "user" && u < 0.6:
			return tool("call_"+name, `{"optimized_system_prompt":"x"}`)
		case last.Role == "user":
			return experts.Completion{Text: "It is 1."}
		}
		return tool("select_response", `{"model_call_name":"`+r.Messages[2].Calls[0].Name+`"}`)
	})
}

func TestServedRoutersDecideWithTheirAnswers(t *testing.T) {
	for kind, answers := range map[string][2]string{"routerr1": {"1", "2"}, "xrouter": {"It is 1.", "\\boxed{7}"}} {
		dir := t.TempDir()
		w := routingtest.Work(3)
		w.Dir = dir
		r, err := build(t, kind, servedParams).Fit(t.Context(), routingtest.Planted(10), w)
		if err != nil {
			t.Fatal(err)
		}
		asked, alone := 0, 0
		for _, d := range routingtest.Route(t, r, routingtest.Fresh(40)) {
			switch {
			case d.Answer == nil:
				t.Fatalf("%s: %+v has no answer", kind, d)
			case len(d.Calls) == 0:
				alone++
				if d.Answer.Text != answers[0] || d.Expert != routing.Self || d.Usage != (cost.Usage{In: 10, Out: 20}) {
					t.Errorf("%s: alone: %+v, %+v", kind, d, d.Answer)
				}
			default:
				asked++
				c := d.Calls[0]
				own := kind == "routerr1"
				if d.Answer.Text != answers[1] || own != (d.Expert == routing.Self) || !own && d.Expert != c.Expert || d.Prob[c.Expert] != 1 ||
					c.Usage != (cost.Usage{In: 10, Out: 20}) || d.Usage != (cost.Usage{In: 20, Out: 40}) || d.Answer.Bare != own {
					t.Errorf("%s: asked: %+v, %+v", kind, d, d.Answer)
				}
			}
		}
		if asked == 0 || alone == 0 {
			t.Errorf("%s: %d asked, %d alone", kind, asked, alone)
		}
		f, err := os.Open(filepath.Join(dir, "trajectories.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if n := len(jsontest.Lines[multiround.Trajectory](t, f)); n != 40 {
			t.Errorf("%s: %d trajectories", kind, n)
		}
		text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
		var s multiround.Summary
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err != nil || s.Trajectories != 40 || s.CallRate != float64(asked)/40 {
			t.Errorf("%s: %+v, %v", kind, s, err)
		}
	}
}

// servedParams is a row with a policy behind a server that is never asked by its address.
const servedParams = "policy: {url: \"http://localhost/v1\", model: router}"

// The recipe has what changes a trajectory and not where the server stands.
func TestRecipesOfServedRoutersNameTheModelAndNoAddress(t *testing.T) {
	recipe := func(kind, params string) string {
		b, err := spec.Canonical(build(t, kind, params))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, kind := range []string{"routerr1", "xrouter"} {
		base := recipe(kind, servedParams)
		if strings.Contains(base, "localhost") || !strings.Contains(base, `"model":"router"`) {
			t.Errorf("%s: %s", kind, base)
		}
		if diff := cmp.Diff(base, recipe(kind, strings.Replace(servedParams, "localhost", "elsewhere", 1))); diff != "" {
			t.Error(diff)
		}
		for _, change := range []string{"protocol: {max_turns: 2}", "failures: stop", "reward: {call_bonus: 0.1}"} {
			if recipe(kind, servedParams+"\n"+change) == base {
				t.Errorf("%s: the recipe does not tell %s", kind, change)
			}
		}
		if recipe(kind, strings.Replace(servedParams, "router}", "router, revision: step-40}", 1)) == base {
			t.Errorf("%s: the recipe does not tell the revision", kind)
		}
	}
}

func TestServedRoutersSayWhatIsMissing(t *testing.T) {
	for params, want := range map[string]string{
		"policy: {url: \"localhost\", model: m}": "want a base URL", "policy: {url: \"http://x/v1\"}": "model",
		"policy: {url: \"http://x/v1\", model: m}\nreward: {cost_unit: eur}": "usd_per_1k_queries",
	} {
		if _, err := New(setup(t, "xrouter", params)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", params, err, want)
		}
	}
	s := setup(t, "xrouter", servedParams)
	s.Servers = nil
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fit(t.Context(), routingtest.Planted(4), routingtest.Work(1)); err == nil || !strings.Contains(err.Error(), "nobody to ask") {
		t.Error(err)
	}
	m = build(t, "xrouter", servedParams+"\nreward: {cost_unit: normalised}")
	if _, err := m.Fit(t.Context(), routing.TrainSet{Experts: routingtest.Pool()}, routingtest.Work(1)); err == nil || !strings.Contains(err.Error(), "method xrouter: ") {
		t.Errorf("a unit that nobody knows: %v", err)
	}
}
