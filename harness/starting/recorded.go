// Files for outcomes that are recorded already.

package starting

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Names of the files of a folder with recorded outcomes, plain or with .gz after them.
const (
	Queries  = "queries.jsonl"
	Outcomes = "outcomes.jsonl"
)

// Beginning is what an experiment begins with.
type Beginning struct {
	Files     []File
	Priceless []string // models whose price is to be filled in
	Uncounted []string // models none of whose answers has output tokens, so that dollars leave out what they wrote
	Left      string   // which models and questions are left out and what remains, without a stop; empty: nothing is
}

// Recorded returns the files of an experiment on the outcomes in a folder, which has the files Queries and Outcomes as
// recording.Table describes them. Of questions and models that do not meet some are left out: see kept. Of models without a price
// the price file has a line to fill in. Errors are spec.ErrUsage where the folder or a price is at fault, or a pool is there of other outcomes.
func Recorded(ctx context.Context, folder, name string, o Origin, now time.Time) (b Beginning, err error) {
	x, err := measured(ctx, folder, name, o, now)
	if err != nil {
		return b, err
	}
	if err := x.fits(filepath.Join(folder, filepath.FromSlash(poolFile(name)))); err != nil {
		return b, err
	}
	return x.all(name)
}

// Update is Recorded for outcomes that have grown since: the files are to be written over those that are there, whose prices stay where no
// other one is given.
func Update(ctx context.Context, folder, name string, o Origin, now time.Time) (b Beginning, err error) {
	x, err := measured(ctx, folder, name, o, now)
	if err != nil {
		return b, err
	}
	path := filepath.Join(folder, filepath.FromSlash(priceFile(name)))
	var held struct {
		Basis, Date string
		Models      map[string]cost.Price
	}
	switch text, err := os.ReadFile(path); {
	case errors.Is(err, fs.ErrNotExist):
		return b, fmt.Errorf("%w: --update writes anew what init wrote, and %s is not there; leave it out", spec.ErrUsage, path)
	case err != nil:
		return b, err
	case yaml.Unmarshal(text, &held) != nil:
		return b, fmt.Errorf("%w: %s cannot be read; mend it, or delete it and give the prices", spec.ErrUsage, path)
	}
	if len(o.Prices) == 0 {
		x.Date = cmp.Or(held.Date, x.Date)
	}
	for i, e := range x.Experts {
		if p, ok := held.Models[e.Model]; ok && e.Price == nil {
			x.Experts[i].Price = &Price{Price: p, Inferred: held.Basis == "inferred"}
		}
	}
	return x.all(name)
}

// all is what the experiment begins with, with all its files.
func (x experiment) all(name string) (b Beginning, err error) {
	b = x.beginning()
	b.Files, err = x.filled(map[string]string{"pool": poolFile(name), "prices": priceFile(name), "spec": name + ".yaml"})
	return b, err
}

func priceFile(name string) string { return "prices/" + name + ".yaml" }

func poolFile(name string) string { return "pools/" + name + ".yaml" }

// FillIn returns the price file that an earlier Recorded wrote, with prices that it left to be filled in; there is false where the
// folder has none yet. A file that is not as Recorded writes it is an error, and so are another price of a model that has one and a
// pool of other outcomes.
func FillIn(ctx context.Context, folder, name string, o Origin, now time.Time) (b Beginning, there bool, err error) {
	path := filepath.Join(folder, filepath.FromSlash(priceFile(name)))
	before, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, false, nil
	} else if err != nil {
		return b, true, err
	}
	x, err := measured(ctx, folder, name, o, now)
	if err != nil {
		return b, true, err
	}
	changed := fmt.Errorf("%w: %s is there already, and not as init wrote it; write the prices into it, or delete it and call init again", spec.ErrUsage, path)
	var held struct {
		Date   string
		Models map[string]cost.Price
	}
	if yaml.Unmarshal(before, &held) != nil {
		return b, true, changed
	}
	was := x
	was.Date, was.Experts = held.Date, slices.Clone(x.Experts)
	for i, e := range x.Experts {
		p, ok := held.Models[e.Model]
		if was.Experts[i].Price = nil; !ok {
			continue
		}
		if e.Price != nil && e.Price.Price != p {
			return b, true, fmt.Errorf("%w: --price %s: it has another price in %s; change it there", spec.ErrUsage, e.Model, path)
		}
		x.Experts[i].Price = &Price{Price: p}
		was.Experts[i].Price = x.Experts[i].Price
	}
	only := map[string]string{"prices": priceFile(name)}
	if files, err := was.filled(only); err != nil || !bytes.Equal(files[0].Data, before) {
		return b, true, cmp.Or(err, changed)
	}
	if err := x.fits(filepath.Join(folder, filepath.FromSlash(poolFile(name)))); err != nil {
		return b, true, err
	}
	b = x.beginning()
	b.Files, err = x.filled(only)
	return b, true, err
}

// fits says whether a pool that is there, if one is, is of the outcomes as they are now.
func (x experiment) fits(pool string) error {
	text, err := os.ReadFile(pool)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for _, f := range []part{x.Recorded.Queries, x.Recorded.Outcomes} {
		if !bytes.Contains(text, []byte(f.SHA256)) {
			return fmt.Errorf("%w: %s is not what it was when %s was written; call init again with --update, which writes the files anew and keeps the prices", spec.ErrUsage, filepath.Join(x.Folder, f.Path), pool)
		}
	}
	return nil
}

// measured is an experiment on the outcomes in a folder.
func measured(ctx context.Context, folder, name string, o Origin, now time.Time) (experiment, error) {
	o.Folder = cmp.Or(o.Folder, folder)
	x := experiment{Name: name, Folder: o.Folder, Date: today(now), Recorded: &recorded{Origin: o}}
	r := x.Recorded
	for _, f := range []struct {
		name string
		into *part
	}{{Queries, &r.Queries}, {Outcomes, &r.Outcomes}} {
		_, sum, err := lines.Sum(folder, f.name)
		if errors.Is(err, fs.ErrNotExist) {
			return experiment{}, fmt.Errorf("%w: %s: no such file; a folder of recorded outcomes has %s and %s, as 'entrorouter init --help' describes them; 'entrorouter import' makes both from other logs", spec.ErrUsage, filepath.Join(folder, f.name), Queries, Outcomes)
		} else if err != nil {
			return experiment{}, fmt.Errorf("%w: %w", spec.ErrUsage, err)
		}
		*f.into = part{Path: f.name, SHA256: sum}
	}
	files := spec.Recorded{
		Queries:  spec.File{Path: Queries, SHA256: r.Queries.SHA256, Source: folder},
		Outcomes: spec.File{Path: Outcomes, SHA256: r.Outcomes.SHA256, Source: folder},
		Gaps:     "drop",
	}
	err := cmp.Or(checkLines[question](ctx, folder, files.Queries), checkLines[outcome](ctx, folder, files.Outcomes))
	if err != nil {
		return experiment{}, fmt.Errorf("%w: %w", spec.ErrUsage, err)
	}
	all, err := recording.Coverages(ctx, folder, files)
	if err != nil {
		return experiment{}, fmt.Errorf("%w: %w", spec.ErrUsage, err)
	}
	var some []recording.Candidate
	some, r.LeftOut, err = kept(all)
	if err != nil {
		return experiment{}, fmt.Errorf("%w: %s: %w", spec.ErrUsage, o.Folder, err)
	}
	table, err := recording.Load(ctx, folder, files, some)
	if err != nil {
		return experiment{}, err
	}
	if err := suffice(table.Queries); err != nil {
		return experiment{}, fmt.Errorf("%w: %s: %w", spec.ErrUsage, o.Folder, err)
	}
	r.Queries.N = len(table.Queries)
	r.Gaps = len(all[0].Answered) - r.Queries.N
	for _, q := range table.Queries {
		if !slices.Contains(r.Benchmarks, q.Benchmark) {
			r.Benchmarks = append(r.Benchmarks, q.Benchmark)
		}
	}
	models := map[string]int{} // -> candidates, those that are left out included
	for _, c := range all {
		models[c.Model]++
	}
	for _, c := range some {
		e := Expert{Model: c.Model}
		if models[c.Model] > 1 {
			e.Settings = c.Named()
		}
		a, err := table.Find(c)
		if err != nil {
			return experiment{}, err
		}
		right, tokens, n := 0, int64(0), 0
		for q := range table.Queries {
			runs := table.Runs[q][a]
			r.Repeated = r.Repeated || len(runs) > 1
			for _, run := range runs {
				tokens, n = tokens+run.Out, n+1
				if run.Correct {
					right++
				}
			}
		}
		if tokens == 0 {
			r.Uncounted = append(r.Uncounted, c.String())
		}
		e.Says = fmt.Sprintf("right in %.1f%% of %d answers, %.0f tokens per answer", 100*float64(right)/float64(n), n, float64(tokens)/float64(n))
		x.Experts = append(x.Experts, e)
	}
	known := map[string]bool{}
	for _, c := range all {
		known[c.Model] = true
	}
	x.Train.N = r.Queries.N * (folds - 1) / folds // all folds but one are learned from
	identify(x.Experts)
	return x, priced(x.Experts, o.Prices, known)
}

// Partitions are the ways in which the questions are divided, as YAML: ten of up to 500, which take seconds, five of up to 2,000, three of
// more. What few questions leave open is mostly how they are divided.
func (x experiment) Partitions() string {
	switch n := x.Recorded.Queries.N; {
	case n <= 500:
		return "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
	case n <= 2000:
		return "[0, 1, 2, 3, 4]"
	}
	return "[0, 1, 2]"
}

// beginning says what is left out and to be filled in.
func (x experiment) beginning() (b Beginning) {
	r := x.Recorded
	left := slices.Clone(r.LeftOut)
	if r.Gaps > 0 {
		by := "model"
		if len(left) > 0 {
			by = "other model"
		}
		left = append(left, fmt.Sprintf("%d of %d questions, which not every %s answered", r.Gaps, r.Gaps+r.Queries.N, by))
	}
	if len(left) > 0 {
		b.Left = fmt.Sprintf("%s; remaining: models %d, questions %d", strings.Join(left, "; "), len(x.Experts), r.Queries.N)
	}
	b.Uncounted = r.Uncounted
	for _, e := range x.Priceless() {
		b.Priceless = append(b.Priceless, e.Model)
	}
	return b
}

// kept chooses the candidates that are compared, on the questions that all of them answered: all candidates, where these are at
// least half of the questions, and otherwise all but those that answered the fewest, as many as it takes. out says who these are.
func kept(all []recording.Coverage) (some []recording.Candidate, out []string, err error) {
	answers := map[recording.Candidate]int{}
	for _, c := range all {
		for _, answered := range c.Answered {
			answers[c.Candidate] += bit(answered)
		}
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b recording.Coverage) int { return cmp.Compare(answers[b.Candidate], answers[a.Candidate]) })
	var together []bool // questions that those who are kept answered
	for _, c := range order {
		now := slices.Clone(c.Answered)
		n := 0
		for q := range now {
			now[q] = now[q] && (together == nil || together[q])
			n += bit(now[q])
		}
		if len(some) >= 2 && 2*n < len(now) {
			break
		}
		some, together = append(some, c.Candidate), now
	}
	switch {
	case len(some) == 0:
		return nil, nil, errors.New("there is no answer of any model")
	case len(some) == 1:
		return nil, nil, fmt.Errorf("routing takes two models or more, and all answers are of %s", some[0])
	case !slices.Contains(together, true):
		return nil, nil, fmt.Errorf("routing takes models that answered the same questions, and %s and %s, which answered the most, have none in common", some[0], some[1])
	}
	for _, c := range order[len(some):] {
		out = append(out, fmt.Sprintf("%s, which answered %d of %d questions", c, answers[c.Candidate], len(c.Answered)))
	}
	slices.SortFunc(some, recording.Compare)
	return some, out, nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
