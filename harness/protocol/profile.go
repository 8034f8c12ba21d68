// The step that measures pass rates of experts on problems.

package protocol

import (
	"context"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

func (e *experiment) newProfile(ctx context.Context, set *problemSet, split routing.Split) (*profile, error) {
	p := &profile{e: e, set: set}
	of, asked := e.Params(e.pool), e.pool.Experts
	if split == routing.Train && e.pool.Probe != nil {
		p.probe, asked = e.pool.Probe, e.pool.Members()
	}
	of.Spec("profile.rollouts")
	var err error
	if p.want, err = e.newWant(ctx, of, set, asked, split, e.Spec.Experiment.Profile.Rollouts); err != nil {
		return nil, err
	}
	p.Step, err = e.Add("profile "+set.benchmark, "profile", profileVersion, of, []steps.Input{set.As("problems/" + set.benchmark)}, func(ctx context.Context, d *store.Draft) error {
		pr, err := p.measure(ctx)
		if err != nil {
			return err
		}
		return book.WriteProfile(d, pr)
	})
	if err != nil {
		return nil, err
	}
	p.step, p.Benchmark, p.Asks = p.Step, set.benchmark, p.asked
	p.Step.Amount = p.want.amount()
	return p, nil
}

func (p *profile) measure(ctx context.Context) (*routing.Profile, error) {
	if err := p.set.load(ctx); err != nil {
		return nil, err
	}
	n, problems := p.e.Spec.Experiment.Profile.Rollouts, p.set.problems
	pr := &routing.Profile{Experts: p.e.pool.IDs()}
	m := len(pr.Experts)
	for _, q := range problems {
		pr.Problems = append(pr.Problems, q.ID)
		pr.Correct = append(pr.Correct, make([]int, m))
		pr.Samples = append(pr.Samples, make([]int, m))
		pr.Truncated = append(pr.Truncated, make([]int, m))
		pr.Unknown = append(pr.Unknown, make([]int, m))
		pr.Tokens = append(pr.Tokens, make([]float64, m))
		pr.USD = append(pr.USD, make([]float64, m))
	}
	if p.probe != nil {
		rollouts, err := p.answers(ctx, *p.probe)
		if err != nil {
			return nil, err
		}
		for i := range problems {
			pr.ProbeSamples = append(pr.ProbeSamples, n-count(rollouts[i], routing.Unanswered))
			pr.ProbeCorrect = append(pr.ProbeCorrect, count(rollouts[i], routing.Correct))
		}
	}
	for j, x := range p.e.pool.Experts {
		rollouts, err := p.answers(ctx, x)
		if err != nil {
			return nil, err
		}
		for i, of := range rollouts {
			samples := n - count(of, routing.Unanswered)
			pr.Samples[i][j] = samples
			pr.Correct[i][j] = count(of, routing.Correct)
			pr.Truncated[i][j] = count(of, routing.Truncated)
			pr.Unknown[i][j] = count(of, routing.Ungraded)
			for _, r := range of { // what was not answered has no usage
				pr.Tokens[i][j] += float64(r.Usage.Out) / float64(max(1, samples))
				pr.USD[i][j] += x.Price.USD(r.Usage, p.e.Spec.Experiment.CountInput) / float64(max(1, samples))
			}
		}
	}
	return pr, nil
}

func count(rollouts []asking.Graded, b routing.Bucket) int {
	n := 0
	for _, r := range rollouts {
		if r.Bucket == b {
			n++
		}
	}
	return n
}

// load returns the profile, measuring it first if need be.
func (p *profile) load(ctx context.Context) (*routing.Profile, error) {
	if p.read != nil {
		return p.read, nil
	}
	entry, err := p.e.Get(ctx, p.Step)
	if err != nil {
		return nil, err
	}
	p.read, err = book.ReadProfile(entry, p.e.pool.IDs())
	return p.read, err
}

// measured says whether every expert, and the probe if it was asked, answered a problem at least once.
func (p *profile) measured(pr *routing.Profile, i int) bool {
	return pr.Without(i) == nil && (p.probe == nil || pr.ProbeSamples[i] > 0)
}

// examples returns the problems with what was measured on them. Those that some expert never answered are left out.
func (p *profile) examples(ctx context.Context) ([]routing.Example, error) {
	pr, err := p.load(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.set.load(ctx); err != nil {
		return nil, err
	}
	var out []routing.Example
	for i := range pr.Problems {
		if !p.measured(pr, i) {
			continue
		}
		x := routing.Example{Problem: p.set.problems[i], Samples: pr.Samples[i], Tokens: pr.Tokens[i], USD: pr.USD[i], Probe: pr.Probe(i)}
		for m := range pr.Experts {
			x.Kappa = append(x.Kappa, pr.Kappa(i, m))
		}
		out = append(out, x)
	}
	if out == nil {
		return nil, fmt.Errorf("%w: no problem of %s was answered by every expert, so there is nothing to learn from; status says what failed, and the same command asks again for what may be had", steps.ErrIncomplete, p.set.benchmark)
	}
	return out, nil
}

// dollars are the problems by their ids alone, with what each costs the experts: what can be said without reading their
// texts.
func (p *profile) dollars(ctx context.Context) ([]routing.Example, error) {
	pr, err := p.load(ctx)
	if err != nil {
		return nil, err
	}
	var out []routing.Example
	for i, id := range pr.Problems {
		if p.measured(pr, i) {
			out = append(out, routing.Example{Problem: routing.Problem{ID: id}, USD: pr.USD[i]})
		}
	}
	return out, nil
}
