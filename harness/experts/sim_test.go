package experts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/verify"
)

func TestMembersAreSortedByPriceAndPriced(t *testing.T) {
	prices := spec.Prices{Date: "2025-01-01", Models: map[string]cost.Price{"A": {Out: 2}, "B": {Out: 1}}}
	pool := spec.Pool{Name: "p", Experts: []spec.Expert{{ID: "a", Model: "A"}, {ID: "b", Model: "B"}}, Probe: &spec.Expert{ID: "c", Model: "C"}}
	experts, probe, err := Members(pool, prices)
	if err != nil || len(experts) != 2 || experts[0].ID != "b" || probe == nil || probe.ID != "c" {
		t.Errorf("%v, %v, %v", experts, probe, err)
	}
	for want, change := range map[string]func(*spec.Pool){
		`pool p: model "C" of expert c has no price in the list of 2025-01-01; it has: A, B`: func(p *spec.Pool) { p.Experts = append(p.Experts, spec.Expert{ID: "c", Model: "C"}) },
		`pool p: expert id "a b": must be a name without spaces or slashes`:                  func(p *spec.Pool) { p.Experts = []spec.Expert{{ID: "a b", Model: "A"}} },
		`pool p: expert id "a" is there twice`:                                               func(p *spec.Pool) { p.Probe = &spec.Expert{ID: "a", Model: "A"} },
	} {
		changed := pool
		change(&changed)
		if _, _, err := Members(changed, prices); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestNamesThatLeadNowhereAreRefused(t *testing.T) {
	for want, change := range map[string]func(*spec.Simulation, *[]routing.Expert){
		`cells.HMMT.mix: unknown topic "poetry"; known: algebra, `: func(s *spec.Simulation, _ *[]routing.Expert) {
			s.Cells["HMMT"] = spec.SimCell{Mix: map[string]float64{"poetry": 1}}
		},
		`cells.HMMT.mix: the shares sum to 0.5: they must sum to 1`: func(s *spec.Simulation, _ *[]routing.Expert) {
			s.Cells["HMMT"] = spec.SimCell{Mix: map[string]float64{"algebra": 0.5}}
		},
		`skills.x.w: unknown topic "poetry"`: func(s *spec.Simulation, _ *[]routing.Expert) {
			s.Experts["x"] = spec.SimSkill{W: map[string]float64{"poetry": 1}}
		},
		`skills.x.offset: unknown cell "Q"`: func(s *spec.Simulation, _ *[]routing.Expert) {
			s.Experts["x"] = spec.SimSkill{Offset: map[string]float64{"Q": 1}}
		},
		`skills.x.mean_tokens: unknown cell "Q"`: func(s *spec.Simulation, _ *[]routing.Expert) {
			s.Experts["x"] = spec.SimSkill{Tokens: map[string]float64{"Q": 1}}
		},
		`skills.x.mean_tokens.HMMT: 0: must be positive`: func(s *spec.Simulation, _ *[]routing.Expert) {
			s.Experts["x"] = spec.SimSkill{Tokens: map[string]float64{"HMMT": 0}}
		},
		`expert "y" has no skill; there are skills for: qwen3-1.7b, `: func(_ *spec.Simulation, e *[]routing.Expert) {
			*e = append(*e, routing.Expert{ID: "y", MaxTokens: 1})
		},
		`expert "qwen3-4b": max_tokens 0: must be at least 1`: func(_ *spec.Simulation, e *[]routing.Expert) { (*e)[0].MaxTokens = 0 },
	} {
		pool, experts := load(t, simFile, priceFile)
		change(pool.Simulation, &experts)
		if _, err := NewSimulated(pool, experts, 0, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	if _, err := NewSimulated(spec.Pool{Name: "x"}, nil, 0, nil, nil); err == nil || !strings.Contains(err.Error(), "no simulation section") {
		t.Errorf("a pool of another kind: %v", err)
	}
}

func TestRolloutsDependOnTheirCoordinatesAlone(t *testing.T) {
	s, pool, problems := simulated(t, 2)
	ask := func(s *Simulated, expert string, p int, sd seed.Seed) Completion {
		c, err := s.Complete(context.Background(), Request{Expert: expert, Prompt: Prompt(pool.Sampling.Prompt, problems[p].Text), Seed: sd})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	base := ask(s, "qwen3-4b", 0, 1)
	reordered := *s
	reordered.experts = []routing.Expert{s.experts[0]}
	reordered.index = map[string]int{"qwen3-4b": 0}
	ask(s, "qwen3-30b", 1, 5)
	for name, c := range map[string]Completion{"asked again": ask(s, "qwen3-4b", 0, 1), "in another pool": ask(&reordered, "qwen3-4b", 0, 1), "with bits that do not travel": ask(s, "qwen3-4b", 0, 1|1<<60)} {
		if diff := cmp.Diff(base, c); diff != "" {
			t.Errorf("%s, the same rollout came out differently: %s", name, diff)
		}
	}
	other := *s
	other.root = 8
	for name, c := range map[string]Completion{"expert": ask(s, "qwen3-30b", 0, 1), "problem": ask(s, "qwen3-4b", 1, 1), "seed": ask(s, "qwen3-4b", 0, 2), "root": ask(&other, "qwen3-4b", 0, 1)} {
		if c.Usage.Out == base.Usage.Out && c.Text == base.Text {
			t.Errorf("the %s does not matter", name)
		}
	}
}

func TestPromptsMayComeWithOrWithoutTheTemplate(t *testing.T) {
	s, pool, problems := simulated(t, 1)
	text := problems[0].Text
	for _, prompt := range []string{text, Prompt(pool.Sampling.Prompt, text), Prompt("", text)} {
		if got := s.problemText(prompt); got != text {
			t.Errorf("%q is taken for %q", prompt, got)
		}
	}
	if _, err := s.Complete(context.Background(), Request{Expert: "qwen3-4b", Prompt: text + "?"}); !errors.Is(err, ErrUnknownProblem) {
		t.Errorf("a text of no problem: %v", err)
	}
	if _, err := s.Complete(context.Background(), Request{Expert: "nobody", Prompt: text}); !errors.Is(err, ErrUnknownExpert) {
		t.Errorf("an expert outside the pool: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Complete(ctx, Request{Expert: "qwen3-4b", Prompt: text}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
}

func TestTrueIsTheMeanOfWhatIsGraded(t *testing.T) {
	s, pool, problems := simulated(t, 3)
	const rollouts = 4000
	for _, p := range problems {
		hash := routing.TextHash(p.Text)
		_, latent, _ := s.lookup(hash)
		truths, err := s.True(hash, latent)
		if err != nil {
			t.Fatal(err)
		}
		for m, e := range s.Experts()[:2] {
			var correct, cut, out float64
			for i := range rollouts {
				c, err := s.Complete(context.Background(), Request{Expert: e.ID, Prompt: Prompt(pool.Sampling.Prompt, p.Text), Seed: seed.Derive(i)})
				if err != nil {
					t.Fatal(err)
				}
				out += float64(c.Usage.Out)
				switch {
				case c.Finish == routing.Length:
					cut++
					if c.Usage.Out != int64(e.MaxTokens) {
						t.Fatalf("a response cut at %d tokens is billed %d", e.MaxTokens, c.Usage.Out)
					}
				case p.Key().Grade(c.Text).Outcome == verify.OutcomeEqual:
					correct++
				}
			}
			tolerance := 5 * math.Sqrt(0.25/rollouts)
			if math.Abs(correct/rollouts-truths[m].Correct) > tolerance || math.Abs(cut/rollouts-truths[m].Truncated) > tolerance || math.Abs(out/rollouts/truths[m].Out-1) > 5*0.4/math.Sqrt(rollouts) {
				t.Errorf("%s on %s: graded %.3f right, %.3f cut, %.0f tokens; the truth is %+v", e.ID, p.ID, correct/rollouts, cut/rollouts, out/rollouts, truths[m])
			}
		}
	}
	for want, latent := range map[string]routing.Latent{
		`unknown cell "Q"`:         {Cell: "Q"},
		`topic "physics" is not`:   {Cell: "HMMT", Topic: "physics"},
		"has no mean_tokens for c": {Cell: "MMLU", Topic: "physics"},
	} {
		hetero, experts := load(t, heteroFile, priceFile)
		if latent.Cell == "MMLU" {
			hetero.Simulation.Cells["MMLU"] = spec.SimCell{Mix: map[string]float64{"physics": 1}}
			hetero.Simulation.Topics["physics"] = 0
		}
		s, err := NewSimulated(hetero, experts, 0, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.True(1, latent); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func TestResidualsAreOfAnExpertAndAProblem(t *testing.T) {
	pool, experts := load(t, simFile, priceFile)
	twin := experts[0]
	twin.ID = "twin"
	pool.Simulation.Experts["twin"] = pool.Simulation.Experts[experts[0].ID]
	s, err := NewSimulated(pool, []routing.Expert{experts[0], twin}, 1, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 4000
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	var square, product float64
	mean := logit(s.law.success(pool.Simulation.Experts["twin"], "MATH", "algebra", 0, 0))
	for i := range n {
		truths, err := s.True(uint64(i), routing.Latent{Cell: "MATH", Topic: "algebra"})
		if err != nil {
			t.Fatal(err)
		}
		a := logit(truths[0].Correct/(1-truths[0].Truncated)) - mean
		b := logit(truths[1].Correct/(1-truths[1].Truncated)) - mean
		square += a * a / n
		product += a * b / n
	}
	if sd := math.Sqrt(square); math.Abs(sd-0.5) > 0.03 || math.Abs(product) > 0.02 {
		t.Errorf("residuals have standard deviation %.3f, want 0.5, and covariance %.3f between experts, want 0", sd, product)
	}
}

func TestAShortRequestLimitCutsTheResponse(t *testing.T) {
	s, pool, problems := simulated(t, 1)
	c, err := s.Complete(context.Background(), Request{Expert: "qwen3-4b", Prompt: Prompt(pool.Sampling.Prompt, problems[0].Text), MaxTokens: 16})
	if err != nil || c.Finish != routing.Length || c.Usage.Out != 16 {
		t.Errorf("%+v, %v", c, err)
	}
}

// written are golds in every form that generated problems have, with a wrong answer of the same form.
var written = []struct {
	gold, wrong string
	options     []string
}{
	{"0", "1", nil}, {"7", "8", nil}, {"-12", "12", nil}, {"100", "1000", nil}, {"12345678", "12345687", nil}, {"-54321", "-54322", nil},
	{`\frac{1}{2}`, `\frac{1}{3}`, nil}, {`-\frac{7}{8}`, `\frac{7}{8}`, nil}, {`\frac{355}{113}`, `\frac{22}{7}`, nil}, {"3/4", "4/3", nil},
	{`\sqrt{2}`, `\sqrt{3}`, nil}, {`5\sqrt{7}`, `7\sqrt{5}`, nil}, {`12\sqrt{101}`, `12\sqrt{102}`, nil}, {`3\sqrt{2} + 1`, `3\sqrt{2} - 1`, nil},
	{"2.75", "2.57", nil}, {"(3, -4)", "(-4, 3)", nil}, {`\{1, 2, 5\}`, `\{1, 2, 6\}`, nil}, {`[1, 5)`, `[1, 5]`, nil}, {`(-\infty, 3]`, `(-\infty, 3)`, nil},
	{`2x^{2} - 3x + 1`, `2x^{2} + 3x + 1`, nil}, {`\frac{x + 1}{2}`, `\frac{x - 1}{2}`, nil},
	{"B", "D", []string{"12 m/s", "15 m/s", "3 m/s", "1.5 m/s"}},
	{"I", "A", []string{"$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13"}},
	{"A", "C", []string{"knight", "knave", "cannot be told", "both"}},
}

func problemOf(i int) (routing.Problem, Distractor) {
	w := written[i]
	p := routing.Problem{ID: fmt.Sprint("w", i), Text: "A sequence starts at 7, gains 5 and doubles 12 times; 3/4 of it is 1 less than 100. What is left?", Gold: []string{w.gold}, Options: w.options}
	return p, func(string, []string, *rand.Rand) string { return w.wrong }
}

func TestSolutionsAreGradedAsTheyAreMeant(t *testing.T) {
	const each = 400
	missing, wrongs, respelt := 0, 0, 0
	for i := range written {
		p, wrong := problemOf(i)
		s := &Simulated{wrong: wrong}
		for n := range each {
			right := s.solve(p, true, seed.Derive("right", i, n).Rand())
			if v := p.Key().Grade(right); v.Outcome != verify.OutcomeEqual {
				t.Errorf("gold %s: a right answer is graded %s (%s): %q", p.Gold[0], v.Outcome, v.Reason, tail(right))
			} else if v.Extracted != p.Gold[0] {
				respelt++
			}
			bad := s.solve(p, false, seed.Derive("wrong", i, n).Rand())
			v := p.Key().Grade(bad)
			if v.Outcome != verify.OutcomeDifferent {
				t.Errorf("gold %s: a wrong answer is graded %s (%s): %q", p.Gold[0], v.Outcome, v.Reason, tail(bad))
			}
			wrongs++
			if v.Extracted == "" {
				missing++
			}
			cut := s.interrupt(p, seed.Derive("cut", i, n).Rand())
			if v := p.Key().Grade(cut); v.Outcome == verify.OutcomeEqual {
				t.Errorf("gold %s: a cut response is graded equal: %q", p.Gold[0], tail(cut))
			}
			for _, text := range []string{right, bad, cut} {
				if len(text) > 1024 || len(text) < 100 {
					t.Errorf("a response of %d bytes", len(text))
				}
			}
		}
	}
	if share := float64(missing) / float64(wrongs); share < 0.03 || share > 0.05 {
		t.Errorf("%.3f of the wrong responses have no answer, want about %.2f", share, noAnswerShare)
	}
	if share := float64(respelt) / float64(wrongs); share < 0.25 {
		t.Errorf("%.2f of the right answers are spelt unlike the gold: too few to exercise a verifier", share)
	}
}

func tail(s string) string { return s[max(0, len(s)-120):] }

func TestRespellingKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num, den := rapid.Int64Range(1, 1_000_000).Draw(t, "num"), rapid.Int64Range(1, 5_000).Draw(t, "den")
		gold := rapid.SampledFrom([]string{
			fmt.Sprint(num), fmt.Sprint(-num * den), fmt.Sprintf(`\frac{%d}{%d}`, num, den), fmt.Sprintf(`-\frac{%d}{%d}`, num, den), fmt.Sprintf("%d/%d", num, den),
			fmt.Sprintf(`%d\sqrt{%d}`, den, num), fmt.Sprintf(`\sqrt{%d}`, num), fmt.Sprintf(`\{%d, %d\}`, num, -den), fmt.Sprintf("(%d, %d)", num, den),
		}).Draw(t, "gold")
		spelt := respell(gold, seed.Seed(rapid.Uint64().Draw(t, "seed")).Rand())
		if v := verify.Grade(gold, `\boxed{`+spelt+`}`); v.Outcome != verify.OutcomeEqual {
			t.Fatalf("%q became %q: %s (%s)", gold, spelt, v.Outcome, v.Reason)
		}
	})
}

func TestADistractorThatFailsLeavesNoAnswer(t *testing.T) {
	p, _ := problemOf(1)
	for _, wrong := range []string{"", p.Gold[0]} {
		s := &Simulated{wrong: func(string, []string, *rand.Rand) string { return wrong }}
		for n := range 50 {
			if v := p.Key().Grade(s.solve(p, false, seed.Derive(n).Rand())); v.Outcome != verify.OutcomeDifferent {
				t.Errorf("distractor %q: graded %s", wrong, v.Outcome)
			}
		}
	}
}

// A page of responses for human eyes; UPDATE=1 writes it again.
func TestSolutionsReadLikeSolutions(t *testing.T) {
	var b strings.Builder
	for i := 1; i < len(written); i += 3 {
		p, wrong := problemOf(i)
		s := &Simulated{wrong: wrong}
		for kind, text := range []string{s.solve(p, true, seed.Derive("golden", i).Rand()), s.solve(p, false, seed.Derive("golden", i).Rand()), s.interrupt(p, seed.Derive("golden", i).Rand())} {
			fmt.Fprintf(&b, "=== gold %s, %s\n%s\n\n", p.Gold[0], []string{"right", "wrong", "cut"}[kind], text)
		}
	}
	const file = "testdata/solutions.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("responses differ from %s: look at them, then run UPDATE=1 go test", file)
	}
}
