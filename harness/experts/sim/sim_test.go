package sim

// The simulated experts: what a rollout depends on, and that the truth is the mean of what is graded.

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/experts/internal/fixture"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/verify"
)

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
		pool, members := fixture.Load(t, simFile, priceFile)
		change(pool.Simulation, &members)
		if _, err := New(pool, members, 0, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	if _, err := New(spec.Pool{Name: "x"}, nil, 0, nil, nil); err == nil || !strings.Contains(err.Error(), "no simulation section") {
		t.Errorf("a pool of another kind: %v", err)
	}
}

func TestRolloutsDependOnTheirCoordinatesAlone(t *testing.T) {
	s, pool, problems := simulated(t, 2)
	ask := func(s *Pool, expert string, p int, sd seed.Seed) experts.Completion {
		c, err := s.Complete(context.Background(), experts.Request{Expert: expert, Prompt: experts.Prompt(pool.Sampling.Prompt, problems[p].Text), Seed: sd})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	base := ask(s, "qwen3-4b", 0, 1)
	reordered := *s
	reordered.members = []routing.Expert{s.members[0]}
	reordered.index = map[string]int{"qwen3-4b": 0}
	ask(s, "qwen3-30b", 1, 5)
	for name, c := range map[string]experts.Completion{"asked again": ask(s, "qwen3-4b", 0, 1), "in another pool": ask(&reordered, "qwen3-4b", 0, 1), "with bits that do not travel": ask(s, "qwen3-4b", 0, 1|1<<60)} {
		if diff := cmp.Diff(base, c); diff != "" {
			t.Errorf("%s, the same rollout came out differently: %s", name, diff)
		}
	}
	other := *s
	other.root = 8
	for name, c := range map[string]experts.Completion{"expert": ask(s, "qwen3-30b", 0, 1), "problem": ask(s, "qwen3-4b", 1, 1), "seed": ask(s, "qwen3-4b", 0, 2), "root": ask(&other, "qwen3-4b", 0, 1)} {
		if c.Usage.Out == base.Usage.Out && c.Text == base.Text {
			t.Errorf("the %s does not matter", name)
		}
	}
}

func TestPromptsMayComeWithOrWithoutTheTemplate(t *testing.T) {
	s, pool, problems := simulated(t, 1)
	text := problems[0].Text
	for _, prompt := range []string{text, experts.Prompt(pool.Sampling.Prompt, text), experts.Prompt("", text)} {
		if got := s.problemText(prompt); got != text {
			t.Errorf("%q is taken for %q", prompt, got)
		}
	}
	if _, err := s.Complete(context.Background(), experts.Request{Expert: "qwen3-4b", Prompt: text + "?"}); !errors.Is(err, experts.ErrUnknownProblem) {
		t.Errorf("a text of no problem: %v", err)
	}
	if _, err := s.Complete(context.Background(), experts.Request{Expert: "nobody", Prompt: text}); !errors.Is(err, experts.ErrUnknownExpert) {
		t.Errorf("an expert outside the pool: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Complete(ctx, experts.Request{Expert: "qwen3-4b", Prompt: text}); !errors.Is(err, context.Canceled) {
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
				c, err := s.Complete(context.Background(), experts.Request{Expert: e.ID, Prompt: experts.Prompt(pool.Sampling.Prompt, p.Text), Seed: seed.Derive(i)})
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
		hetero, members := fixture.Load(t, heteroFile, priceFile)
		if latent.Cell == "MMLU" {
			hetero.Simulation.Cells["MMLU"] = spec.SimCell{Mix: map[string]float64{"physics": 1}}
			hetero.Simulation.Topics["physics"] = 0
		}
		s, err := New(hetero, members, 0, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.True(1, latent); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func TestResidualsAreOfAnExpertAndAProblem(t *testing.T) {
	pool, members := fixture.Load(t, simFile, priceFile)
	twin := members[0]
	twin.ID = "twin"
	pool.Simulation.Experts["twin"] = pool.Simulation.Experts[members[0].ID]
	s, err := New(pool, []routing.Expert{members[0], twin}, 1, nil, nil)
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
	c, err := s.Complete(context.Background(), experts.Request{Expert: "qwen3-4b", Prompt: experts.Prompt(pool.Sampling.Prompt, problems[0].Text), MaxTokens: 16})
	if err != nil || c.Finish != routing.Length || c.Usage.Out != 16 {
		t.Errorf("%+v, %v", c, err)
	}
}

func BenchmarkSimulated(b *testing.B) {
	s, pool, problems := simulated(b, 1)
	r := experts.Request{Expert: "qwen3-4b", Prompt: experts.Prompt(pool.Sampling.Prompt, problems[0].Text)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Seed = seed.Seed(i)
		if _, err := s.Complete(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}
