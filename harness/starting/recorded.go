// Files for outcomes that are recorded already.

package starting

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Names of the files of a folder with recorded outcomes, plain or with .gz after them.
const (
	Queries  = "queries.jsonl"
	Outcomes = "outcomes.jsonl"
)

// recorded is what templates of recorded outcomes fill in.
type recorded struct {
	Queries, Outcomes part
	Benchmarks        []string
	Repeated          bool     // some question was put to a model more than once
	Partial           []string // models that are left out, since they did not answer every question
}

// Recorded returns the files of an experiment on the outcomes in a folder, which has the files Queries and Outcomes as
// recording.Table describes them. prices are dollars a million tokens by model; of models without one, which are returned
// too, the price file has a line to fill in. Errors are spec.ErrUsage where the folder or a price is at fault.
func Recorded(ctx context.Context, folder, name string, prices map[string]cost.Price, now time.Time) (files []File, priceless []string, err error) {
	x := experiment{Name: name, Folder: folder, Date: today(now), Recorded: &recorded{}}
	r := x.Recorded
	for _, f := range []struct {
		name string
		into *part
	}{{Queries, &r.Queries}, {Outcomes, &r.Outcomes}} {
		_, _, sum, err := problems.Content(folder, f.name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("%w: %s: no such file; a folder of recorded outcomes has %s and %s, as 'go doc ./harness/recording.Table' describes them", spec.ErrUsage, filepath.Join(folder, f.name), Queries, Outcomes)
		} else if err != nil {
			return nil, nil, err
		}
		*f.into = part{Path: f.name, SHA256: sum}
	}
	table, err := recording.Load(ctx, folder, spec.Recorded{
		Queries:  spec.File{Path: Queries, SHA256: r.Queries.SHA256, Source: folder},
		Outcomes: spec.File{Path: Outcomes, SHA256: r.Outcomes.SHA256, Source: folder},
	}, nil)
	if err != nil {
		return nil, nil, err
	}
	r.Queries.N = len(table.Queries)
	for _, q := range table.Queries {
		if !slices.Contains(r.Benchmarks, q.Benchmark) {
			r.Benchmarks = append(r.Benchmarks, q.Benchmark)
		}
	}
	for _, c := range table.Partial {
		r.Partial = append(r.Partial, c.String())
	}
	if len(table.Candidates) < 2 {
		return nil, nil, fmt.Errorf("%w: %s: %d model answered every question and routing takes two or more; not every question was answered by %s", spec.ErrUsage, filepath.Join(folder, Outcomes), len(table.Candidates), strings.Join(r.Partial, ", "))
	}
	models := map[string]int{}
	for _, c := range table.Candidates {
		models[c.Model]++
	}
	for a, c := range table.Candidates {
		e := Expert{Model: c.Model}
		if models[c.Model] > 1 {
			e.Settings = settings(c)
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
		e.Says = fmt.Sprintf("right in %.1f%% of %d answers, %.0f tokens an answer", 100*float64(right)/float64(n), n, float64(tokens)/float64(n))
		x.Experts = append(x.Experts, e)
	}
	x.Train.N = r.Queries.N * 4 / 5 // of five folds four are learned from
	if err := errors.Join(identify(x.Experts), priced(x.Experts, prices)); err != nil {
		return nil, nil, err
	}
	for _, e := range x.Priceless() {
		priceless = append(priceless, e.Model)
	}
	files, err = x.filled(map[string]string{"pool": "pools/" + name + ".yaml", "prices": "prices/" + name + ".yaml", "spec": name + ".yaml"})
	return files, priceless, err
}

// settings are those of a candidate, by name.
func settings(c recording.Candidate) map[string]string {
	all := map[string]string{}
	for _, s := range strings.Fields(c.Settings) {
		name, value, _ := strings.Cut(s, "=")
		all[name] = value
	}
	return all
}

func sortedValues(of map[string]string) (values []string) {
	for _, k := range slices.Sorted(maps.Keys(of)) {
		values = append(values, of[k])
	}
	return values
}
