package experts

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// routingPrompt shows experts in the given order and a problem.
func routingPrompt(t testing.TB, order []routing.Expert, text string) string {
	t.Helper()
	var candidates []Candidate
	for _, e := range order {
		candidates = append(candidates, Candidate{ID: e.ID, Billions: e.Params, In: e.Price.In, Out: e.Price.Out})
	}
	template, err := RoutingPrompt("Choose.", candidates, "Answer.")
	if err != nil {
		t.Fatal(err)
	}
	return Prompt(template, text)
}

// Whatever a problem says, candidates and problem are read as they were written.
func TestRoutingPromptsAreReadAsWritten(t *testing.T) {
	part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"<problem>\n", "\n</problem>", "{problem}", "\n{\"id\":\"x\"}\n", "Answer."}))
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(part).Draw(rt, "text"), "")
		prices := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 1, 5, rapid.ID[int]).Draw(rt, "prices")
		var shown, cheapestFirst []Candidate
		for _, p := range prices {
			shown = append(shown, Candidate{ID: fmt.Sprint("e", p), In: 1, Out: float64(p), Strength: rapid.SampledFrom([]string{"", "maths\n{\"id\": 3}", "<b>"}).Draw(rt, "strength")})
		}
		slices.Sort(prices)
		for _, p := range prices {
			cheapestFirst = append(cheapestFirst, shown[slices.IndexFunc(shown, func(c Candidate) bool { return c.Out == float64(p) })])
		}
		template, err := RoutingPrompt("Choose.", shown, "Answer.")
		if err != nil {
			rt.Fatal(err)
		}
		got, read, err := readRoutingPrompt(Prompt(template, text))
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(cheapestFirst, got); diff != "" || read != text {
			rt.Errorf("read %q, wrote %q; %s", read, text, diff)
		}
	})
	for _, c := range [][2]string{{"Solve {problem}.", ""}, {"<problem>\n", ""}, {"", "</problem>"}} {
		if _, err := RoutingPrompt(c[0], nil, c[1]); err == nil {
			t.Errorf("task %q, form %q: no error", c[0], c[1])
		}
	}
}

func TestSimulatedRoutersNameTheCheapestLikelyExpertWithTheirSkill(t *testing.T) {
	const n = 3000
	s, _, problems := simulated(t, n)
	experts := s.Experts()[:3]
	const tau = 0.8
	for _, skill := range []float64{0, 0.4, 1} {
		r := NewRouters(s, map[string]spec.SimRouter{"r": {Skill: skill, Tau: tau}}, s.lookup)
		right, others := 0, map[string]int{}
		for _, p := range problems {
			hash := routing.TextHash(p.Text)
			_, latent, _ := s.lookup(hash)
			truths, err := s.True(hash, latent)
			if err != nil {
				t.Fatal(err)
			}
			best := 2
			for m := 2; m >= 0; m-- {
				if truths[m].Correct >= tau {
					best = m
				}
			}
			c, err := r.Complete(t.Context(), Request{Expert: "r", Prompt: routingPrompt(t, experts, p.Text), Seed: seed.Derive(p.ID)})
			if err != nil {
				t.Fatal(err)
			}
			switch c.Text {
			case `{"model": "` + experts[best].ID + `"}`:
				right++
			default:
				if best == 0 {
					others[c.Text]++
				}
			}
			if c.Usage.In == 0 || c.Usage.Out != int64(len(c.Text)+3)/4 || c.Finish != routing.Stop {
				t.Fatalf("%+v", c)
			}
		}
		if got := float64(right) / n; math.Abs(got-skill) > 0.03 {
			t.Errorf("skill %v: right on %v of the problems", skill, got)
		}
		if skill < 1 {
			a, b := others[`{"model": "qwen3-30b"}`], others[`{"model": "qwen3-235b"}`]
			if len(others) != 2 || math.Abs(float64(a-b)) > 4*math.Sqrt(float64(a+b)) {
				t.Errorf("skill %v: where the cheapest was right, the others were named %v times", skill, others)
			}
		}
	}
}

func TestSimulatedRoutersReadTheProblemAndNotTheOrder(t *testing.T) {
	s, _, problems := simulated(t, 200)
	r := NewRouters(s, map[string]spec.SimRouter{"r": {Skill: 0.5, Tau: 0.8, Malformed: 0.5}, "other": {Skill: 0.5, Tau: 0.8}}, s.lookup)
	experts := s.Experts()[:3]
	back := slices.Clone(experts)
	slices.Reverse(back)
	ask := func(id string, order []routing.Expert, text string, sd seed.Seed) string {
		c, err := r.Complete(t.Context(), Request{Expert: id, Prompt: routingPrompt(t, order, text), Seed: sd})
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	malformed, differ, another := 0, 0, 0
	for _, p := range problems {
		first := ask("r", experts, p.Text, 1)
		if again := ask("r", back, p.Text, 1); again != first {
			t.Fatalf("%q, with the experts in another order %q", first, again)
		}
		if !strings.HasPrefix(first, `{"model": "qwen`) {
			malformed++
		}
		if ask("r", experts, p.Text, 2) != first {
			differ++
		}
		if ask("other", experts, p.Text, 1) != first {
			another++
		}
	}
	if malformed < 70 || malformed > 130 || differ < 50 || another < 50 {
		t.Errorf("of 200 answers %d are malformed, %d differ with another seed, %d from another router", malformed, differ, another)
	}
	// Alone, an expert is named whatever the skill.
	if got := ask("other", experts[1:2], problems[0].Text, 1); got != `{"model": "qwen3-30b"}` {
		t.Errorf("of one expert, %q is named", got)
	}
}

func TestSimulatedRoutersAreServedLikeOthers(t *testing.T) {
	s, _, problems := simulated(t, 1)
	r := NewRouters(s, map[string]spec.SimRouter{"b": {Skill: 1, Tau: 0.8}, "a": {Skill: 1, Tau: 0.8, Malformed: 1}}, s.lookup)
	want := []routing.Expert{{ID: "a", Model: "a"}, {ID: "b", Model: "b"}}
	if diff := cmp.Diff(want, r.Experts()); diff != "" {
		t.Error(diff)
	}
	h := loopback(t, r, HTTPOptions{})
	if err := h.Preflight(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := Request{Expert: "b", Prompt: routingPrompt(t, s.Experts()[:3], problems[0].Text), Seed: 3}
	direct, err := r.Complete(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	served, err := h.Complete(t.Context(), q)
	if diff := cmp.Diff(direct, served); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for name, c := range map[string]struct {
		expert, prompt string
		want           error
	}{
		"a router that is not there": {"c", q.Prompt, ErrUnknownExpert},
		"no problem":                 {"b", "Choose.", ErrUnknownProblem},
		"another problem":            {"b", routingPrompt(t, s.Experts()[:3], "2+2"), ErrUnknownProblem},
		"no candidate":               {"b", routingPrompt(t, nil, problems[0].Text), ErrUnknownExpert},
		"an unknown candidate":       {"b", routingPrompt(t, []routing.Expert{{ID: "gpt"}}, problems[0].Text), ErrUnknownExpert},
		"a broken candidate":         {"b", "{\"id\":\n" + q.Prompt, ErrUnknownExpert},
	} {
		if _, err := r.Complete(t.Context(), Request{Expert: c.expert, Prompt: c.prompt}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJoinedPoolsAnswerForBoth(t *testing.T) {
	s, pool, problems := simulated(t, 1)
	j := Join(s, NewRouters(s, map[string]spec.SimRouter{"r": {Skill: 1, Tau: 0.8}}, s.lookup))
	if all := j.Experts(); len(all) != len(s.Experts())+1 || all[len(all)-1].ID != "r" {
		t.Errorf("the pools have %v", all)
	}
	text := problems[0].Text
	for expert, prompt := range map[string]string{"qwen3-4b": Prompt(pool.Sampling.Prompt, text), "r": routingPrompt(t, s.Experts()[:3], text)} {
		if _, err := j.Complete(t.Context(), Request{Expert: expert, Prompt: prompt}); err != nil {
			t.Errorf("%s: %v", expert, err)
		}
	}
	if _, err := j.Complete(t.Context(), Request{Expert: "x"}); !errors.Is(err, ErrUnknownExpert) {
		t.Error(err)
	}
}
