package harness

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// profile is the measured pass rates of a problem set (section 3.2): Rollouts rollouts of every expert and of the
// probe on every problem. The paper stops at the probe where it passes; every expert is asked all the same, since
// the ablation without the gate needs their rates. A profile of test problems (split Strata) needs no probe.
type profile struct {
	*step
	e     *engine
	set   *problemSet
	split routing.Split
	probe *routing.Expert // nil: not asked
	read  *routing.Profile
}

func (e *engine) newProfile(set *problemSet, split routing.Split) (*profile, error) {
	p := &profile{e: e, set: set, split: split}
	params := e.askParams(e.spec.Experiment.Profile.Rollouts, split)
	if split == routing.Train {
		p.probe = e.probe
		params.Probe = e.probe
	}
	var err error
	p.step, err = e.newStep("profile "+set.benchmark, "profile", profileVersion, params, []*step{set.step}, func(ctx context.Context, d *store.Draft) error {
		pr, err := p.measure(ctx)
		if err != nil {
			return err
		}
		return writeProfile(d, pr)
	})
	if err != nil {
		return nil, err
	}
	p.step.benchmark = set.benchmark
	p.step.asks = func(ctx context.Context) (int, bool, error) {
		asked := e.experts
		if p.probe != nil {
			asked = e.members()
		}
		return e.notAsked(ctx, set, asked, split, e.spec.Experiment.Profile.Rollouts)
	}
	return p, nil
}

func (p *profile) measure(ctx context.Context) (*routing.Profile, error) {
	if err := p.set.load(ctx); err != nil {
		return nil, err
	}
	n, problems := p.e.spec.Experiment.Profile.Rollouts, p.set.problems
	pr := &routing.Profile{}
	for _, x := range p.e.experts {
		pr.Experts = append(pr.Experts, x.ID)
	}
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
		rollouts, err := p.e.ask(ctx, *p.probe, p.split, problems, n)
		if err != nil {
			return nil, err
		}
		for i := range problems {
			pr.ProbeSamples = append(pr.ProbeSamples, n)
			pr.ProbeCorrect = append(pr.ProbeCorrect, count(rollouts[i], routing.Correct))
		}
	}
	for j, x := range p.e.experts {
		rollouts, err := p.e.ask(ctx, x, p.split, problems, n)
		if err != nil {
			return nil, err
		}
		for i, of := range rollouts {
			pr.Samples[i][j] = n
			pr.Correct[i][j] = count(of, routing.Correct)
			pr.Truncated[i][j] = count(of, routing.Truncated)
			pr.Unknown[i][j] = count(of, routing.Ungraded)
			for _, r := range of {
				pr.Tokens[i][j] += float64(r.Usage.Out) / float64(n)
				pr.USD[i][j] += x.Price.USD(r.Usage, p.e.spec.Experiment.CountInput) / float64(n)
			}
		}
	}
	return pr, nil
}

func count(rollouts []graded, b routing.Bucket) int {
	n := 0
	for _, r := range rollouts {
		if r.Bucket == b {
			n++
		}
	}
	return n
}

// askParams is what, beside the problems, decides the rollouts of the pool and their grades.
type askParams struct {
	Source     string
	Experts    []routing.Expert
	Probe      *routing.Expert `json:",omitempty"`
	Sampling   any
	Seed       uint64
	Runs       int
	Split      routing.Split
	CountInput bool
	Verifier   string
}

func (e *engine) askParams(runs int, split routing.Split) askParams {
	return askParams{Source: e.source, Experts: e.experts, Sampling: e.poolSpec.Sampling, Seed: e.spec.Experiment.Seed,
		Runs: runs, Split: split, CountInput: e.spec.Experiment.CountInput, Verifier: verify.Version}
}

// writeProfile writes a line a problem: the probe's correct answers and samples, then six columns an expert.
func writeProfile(d *store.Draft, pr *routing.Profile) (err error) {
	f, err := d.Create("profile.csv")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := csv.NewWriter(f)
	head := []string{"problem", "probe:correct", "probe:samples"}
	for _, id := range pr.Experts {
		head = append(head, id+":correct", id+":samples", id+":truncated", id+":unknown", id+":tokens", id+":usd")
	}
	if err := w.Write(head); err != nil {
		return err
	}
	for i, id := range pr.Problems {
		line := []string{id, "0", "0"}
		if pr.ProbeSamples != nil {
			line[1], line[2] = strconv.Itoa(pr.ProbeCorrect[i]), strconv.Itoa(pr.ProbeSamples[i])
		}
		for m := range pr.Experts {
			line = append(line, strconv.Itoa(pr.Correct[i][m]), strconv.Itoa(pr.Samples[i][m]), strconv.Itoa(pr.Truncated[i][m]), strconv.Itoa(pr.Unknown[i][m]),
				strconv.FormatFloat(pr.Tokens[i][m], 'f', 1, 64), strconv.FormatFloat(pr.USD[i][m], 'f', 9, 64))
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// load returns the profile, measuring it first if need be.
func (p *profile) load(ctx context.Context) (*routing.Profile, error) {
	if p.read != nil {
		return p.read, nil
	}
	entry, err := p.e.get(ctx, p.step)
	if err != nil {
		return nil, err
	}
	f, err := entry.Open("profile.csv")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	pr := &routing.Profile{}
	for _, x := range p.e.experts {
		pr.Experts = append(pr.Experts, x.ID)
	}
	r := csv.NewReader(f)
	r.FieldsPerRecord = 3 + 6*len(pr.Experts)
	if _, err := r.Read(); err != nil {
		return nil, fmt.Errorf("%s: %w", entry.Path("profile.csv"), err)
	}
	for line := 2; ; line++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Path("profile.csv"), err)
		}
		n := numbers{fields: rec[1:]}
		pr.Problems = append(pr.Problems, rec[0])
		pr.ProbeCorrect = append(pr.ProbeCorrect, n.int())
		pr.ProbeSamples = append(pr.ProbeSamples, n.int())
		var correct, samples, truncated, unknown []int
		var tokens, usd []float64
		for range pr.Experts {
			correct, samples = append(correct, n.int()), append(samples, n.int())
			truncated, unknown = append(truncated, n.int()), append(unknown, n.int())
			tokens, usd = append(tokens, n.float()), append(usd, n.float())
		}
		if n.err != nil {
			return nil, fmt.Errorf("%s:%d: %w", entry.Path("profile.csv"), line, n.err)
		}
		pr.Correct, pr.Samples = append(pr.Correct, correct), append(pr.Samples, samples)
		pr.Truncated, pr.Unknown = append(pr.Truncated, truncated), append(pr.Unknown, unknown)
		pr.Tokens, pr.USD = append(pr.Tokens, tokens), append(pr.USD, usd)
	}
	p.read = pr
	return pr, nil
}

// examples returns the problems with what was measured on them.
func (p *profile) examples(ctx context.Context) ([]routing.Example, error) {
	pr, err := p.load(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.set.load(ctx); err != nil {
		return nil, err
	}
	out := make([]routing.Example, len(pr.Problems))
	for i := range out {
		x := routing.Example{Problem: p.set.problems[i], Samples: pr.Samples[i], Tokens: pr.Tokens[i], USD: pr.USD[i], Probe: pr.Probe(i)}
		for m := range pr.Experts {
			x.Kappa = append(x.Kappa, pr.Kappa(i, m))
		}
		out[i] = x
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
	out := make([]routing.Example, len(pr.Problems))
	for i, id := range pr.Problems {
		out[i] = routing.Example{Problem: routing.Problem{ID: id}, USD: pr.USD[i]}
	}
	return out, nil
}

// meanDollars is what a question costs each expert on average, [M].
func (p *profile) meanDollars(ctx context.Context) ([]float64, error) {
	examples, err := p.dollars(ctx)
	if err != nil {
		return nil, err
	}
	mean := make([]float64, len(p.e.experts))
	for _, x := range examples {
		for m, v := range x.USD {
			mean[m] += v / float64(len(examples))
		}
	}
	return mean, nil
}

// numbers reads the fields of a line one after the other and keeps the first error.
type numbers struct {
	fields []string
	err    error
}

func (n *numbers) next() string {
	f := n.fields[0]
	n.fields = n.fields[1:]
	return f
}

func (n *numbers) int() int {
	v, err := strconv.Atoi(n.next())
	if err != nil && n.err == nil {
		n.err = err
	}
	return v
}

func (n *numbers) float() float64 {
	v, err := strconv.ParseFloat(n.next(), 64)
	if err != nil && n.err == nil {
		n.err = err
	}
	return v
}
