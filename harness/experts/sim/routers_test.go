package sim

// The simulated routers: their skill, and what their answers depend on.

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// routingPrompt shows experts in the given order and a problem.
func routingPrompt(t testing.TB, order []routing.Expert, text string) string {
	t.Helper()
	var candidates []experts.Candidate
	for _, e := range order {
		candidates = append(candidates, experts.Candidate{ID: e.ID, Billions: e.Params, In: e.Price.In, Out: e.Price.Out})
	}
	template, err := experts.RoutingPrompt("Choose.", candidates, "Answer.")
	if err != nil {
		t.Fatal(err)
	}
	return experts.Prompt(template, text)
}

func TestSimulatedRoutersNameTheCheapestLikelyExpertWithTheirSkill(t *testing.T) {
	const n = 3000
	s, _, problems := simulated(t, n)
	members := s.Experts()[:3]
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
			c, err := r.Complete(t.Context(), experts.Request{Expert: "r", Prompt: routingPrompt(t, members, p.Text), Seed: seed.Derive(p.ID)})
			if err != nil {
				t.Fatal(err)
			}
			switch c.Text {
			case `{"model": "` + members[best].ID + `"}`:
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
	members := s.Experts()[:3]
	back := slices.Clone(members)
	slices.Reverse(back)
	ask := func(id string, order []routing.Expert, text string, sd seed.Seed) string {
		c, err := r.Complete(t.Context(), experts.Request{Expert: id, Prompt: routingPrompt(t, order, text), Seed: sd})
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	malformed, differ, another := 0, 0, 0
	for _, p := range problems {
		first := ask("r", members, p.Text, 1)
		if again := ask("r", back, p.Text, 1); again != first {
			t.Fatalf("%q, with the experts in another order %q", first, again)
		}
		if !strings.HasPrefix(first, `{"model": "qwen`) {
			malformed++
		}
		if ask("r", members, p.Text, 2) != first {
			differ++
		}
		if ask("other", members, p.Text, 1) != first {
			another++
		}
	}
	if malformed < 70 || malformed > 130 || differ < 50 || another < 50 {
		t.Errorf("of 200 answers %d are malformed, %d differ with another seed, %d from another router", malformed, differ, another)
	}
	// Alone, an expert is named whatever the skill.
	if got := ask("other", members[1:2], problems[0].Text, 1); got != `{"model": "qwen3-30b"}` {
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
	h := loopback(t, r, experts.HTTPOptions{})
	if err := h.Preflight(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	q := experts.Request{Expert: "b", Prompt: routingPrompt(t, s.Experts()[:3], problems[0].Text), Seed: 3}
	direct, err := r.Complete(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	served, err := h.Complete(t.Context(), q)
	served.Server = ""
	if diff := cmp.Diff(direct, served); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for name, c := range map[string]struct {
		expert, prompt string
		want           error
	}{
		"a router that is not there": {"c", q.Prompt, experts.ErrUnknownExpert},
		"no problem":                 {"b", "Choose.", experts.ErrUnknownProblem},
		"another problem":            {"b", routingPrompt(t, s.Experts()[:3], "2+2"), experts.ErrUnknownProblem},
		"no candidate":               {"b", routingPrompt(t, nil, problems[0].Text), experts.ErrUnknownExpert},
		"an unknown candidate":       {"b", routingPrompt(t, []routing.Expert{{ID: "gpt"}}, problems[0].Text), experts.ErrUnknownExpert},
		"a broken candidate":         {"b", "{\"id\":\n" + q.Prompt, experts.ErrUnknownExpert},
	} {
		if _, err := r.Complete(t.Context(), experts.Request{Expert: c.expert, Prompt: c.prompt}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A simulated router that is shown the choice writes the analysis behind it: the topic, and the level of the problem with its skill.
func TestASimulatedTeacherExplainsAChoiceWithItsSkill(t *testing.T) {
	const n = 2000
	s, _, problems := simulated(t, n)
	members := s.Experts()[:3]
	var candidates []experts.Candidate
	for _, e := range members {
		candidates = append(candidates, experts.Candidate{ID: e.ID, Out: e.Price.Out})
	}
	template, err := experts.RationalePrompt("Explain.", candidates, members[1].ID, "Write.")
	if err != nil {
		t.Fatal(err)
	}
	for _, knobs := range []spec.SimRouter{{Skill: 1, Tau: 0.8}, {Skill: 0.25, Tau: 0.8}, {Skill: 1, Tau: 0.8, Malformed: 1}} {
		r := NewRouters(s, map[string]spec.SimRouter{"r": knobs}, s.lookup)
		levels, useless := 0, 0
		for _, p := range problems {
			request := experts.Request{Expert: "r", Prompt: experts.Prompt(template, p.Text), Seed: seed.Derive(p.ID)}
			c, err := r.Complete(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := r.Complete(t.Context(), request); again.Text != c.Text || again.Usage != c.Usage {
				t.Fatalf("%q and then %q", c.Text, again.Text)
			}
			analysis, choice, _ := strings.Cut(c.Text, "\n")
			_, latent, _ := s.lookup(routing.TextHash(p.Text))
			truths, err := s.True(routing.TextHash(p.Text), latent)
			if err != nil {
				t.Fatal(err)
			}
			mean := (truths[0].Correct + truths[1].Correct + truths[2].Correct) / 3
			want := "very hard."
			switch {
			case mean >= .9:
				want = " routine."
			case mean >= .7:
				want = " moderate."
			case mean >= .4:
				want = " hard."
			}
			if strings.HasSuffix(analysis, want) && (want != " hard." || !strings.HasSuffix(analysis, "very hard.")) {
				levels++
			}
			if choice != `{"model": "`+members[1].ID+`"}` || analysis == "" || strings.Contains(analysis, members[1].ID) {
				useless++
			} else if !strings.Contains(analysis, latent.Topic) {
				t.Errorf("%q says nothing of the topic %s", analysis, latent.Topic)
			}
		}
		if knobs.Malformed == 0 && (useless > 0 || math.Abs(float64(levels)/n-knobs.Skill) > 0.04) {
			t.Errorf("skill %v: %d of %d levels are right, %d texts are of no use", knobs.Skill, levels, n, useless)
		}
		if knobs.Malformed == 1 && useless < n {
			t.Errorf("%d of %d texts that cannot be used can", n-useless, n)
		}
	}
}
