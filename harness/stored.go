package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// StoredRun is a finished run of an experiment as its store tells it, whatever spec and whatever version of the program
// made it: what is read are the list of its steps and the recipes and files of their entries. Nothing is written.
type StoredRun struct {
	dir, experiment string
	store           *store.Store
	steps           []store.Step
	read            map[store.Key]found // entries that were verified
}

// OpenStoredRun reads the list of steps that the last run of an experiment left in a store. Entries are read later, so a
// run into the same store in between does not change what is found.
func OpenStoredRun(dir, experiment string) (*StoredRun, error) {
	s := store.OpenReadOnly(dir)
	steps, err := s.ReadIndex(experiment)
	if errors.Is(err, fs.ErrNotExist) {
		names, err := s.Experiments()
		if err != nil {
			return nil, err
		}
		has := "it has none"
		if len(names) > 0 {
			has = "it has: " + strings.Join(names, ", ")
		}
		return nil, fmt.Errorf("%w: %s holds no finished run of experiment %s; %s", ErrUsage, dir, experiment, has)
	}
	if err != nil {
		return nil, err
	}
	return &StoredRun{dir, experiment, s, steps, map[store.Key]found{}}, nil
}

// IsStore says whether a folder holds runs, finished or not.
func IsStore(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "stages"))
	return err == nil && info.IsDir()
}

// found is an entry of a run.
type found struct {
	name   string // of its step
	key    store.Key
	recipe store.Recipe
	entry  store.Entry
}

// recordedParams are what a recipe says of an experiment, in the names of the files (see recipe.go). What a stage does not
// depend on is empty.
type recordedParams struct {
	Pools      []string
	Seed       *uint64
	CountInput bool `yaml:"count_input"`
	Policy     struct{ Backend string }
	Evaluate   struct{ Seeds []uint64 }
	Folds      spec.Folds
	Methods    []struct{ ID string }
	Method     struct{ Name string }
	Benchmarks []struct {
		ID             string
		spec.Benchmark `yaml:",inline"`
	}
	Pool   spec.Pool
	Prices spec.Prices
	Build  struct{ Numerics string }
}

// params reads the parameters of the recipe, which are JSON and so YAML. Those of another version are empty where they
// have other names.
func (f found) params() (p recordedParams) {
	_ = yaml.Unmarshal(f.recipe.Params(), &p) // what could not be read is empty, and whoever needs it says so
	return p
}

// experts returns the experts that a recipe names, cheapest first, and the probe.
func (p recordedParams) experts() ([]routing.Expert, *routing.Expert, error) {
	return experts.Members(p.Pool, p.Prices)
}

// find reads an entry of the run.
func (r *StoredRun) find(k store.Key) (found, error) {
	if f, ok := r.read[k]; ok {
		return f, nil
	}
	entry, recipe, err := r.store.Find(k)
	switch {
	case errors.Is(err, store.ErrMissing):
		return found{}, fmt.Errorf("%w: step %q of the run in %s is not in its store (%s is gone); %s", ErrUsage, r.nameOf(k), r.dir, k, r.again(k))
	case errors.Is(err, store.ErrCorrupt):
		return found{}, fmt.Errorf("step %q of the run in %s is damaged: %w; %s", r.nameOf(k), r.dir, err, r.again(k))
	case err != nil:
		return found{}, fmt.Errorf("step %q of the run in %s: %w", r.nameOf(k), r.dir, err)
	}
	r.read[k] = found{r.nameOf(k), k, recipe, entry}
	return r.read[k], nil
}

// again says how an entry is made again that is gone or damaged. A run looks for what a step reads only if that step is
// to do, so those that were made from the entry have to go.
func (r *StoredRun) again(k store.Key) string {
	var remove []string
	for at := k; ; {
		i := slices.IndexFunc(r.steps, func(s store.Step) bool {
			entry, recipe, err := r.store.Find(s.Key)
			if err != nil || !recipe.Reads(at) {
				return false
			}
			remove = append(remove, entry.Dir)
			return true
		})
		if i < 0 {
			break
		}
		at = r.steps[i].Key
	}
	run := fmt.Sprintf("run experiment %s there again", r.experiment)
	if remove == nil {
		return run
	}
	return "remove " + strings.Join(remove, " and ") + " and " + run
}

// nameOf names the step of a key.
func (r *StoredRun) nameOf(k store.Key) string {
	if i := slices.IndexFunc(r.steps, func(s store.Step) bool { return s.Key == k }); i >= 0 {
		return r.steps[i].Name
	}
	return k.String()
}

// unreadable says that an entry of another version does not hold what this one reads.
func (r *StoredRun) unreadable(f found, what string) error {
	return fmt.Errorf("%w: step %q of the run in %s has no %s, which this version reads; compare the measurements of both instead: --against FILE", ErrUsage, f.name, r.dir, what)
}

// arch is the architecture that made an entry; empty if nothing says so.
func (f found) arch() string {
	var env struct {
		Arch string `json:"arch"`
	}
	if f.entry.Env(&env) != nil {
		return ""
	}
	return env.Arch
}

// measurements reads every number that the run measured, with the line that says how it was made.
func (r *StoredRun) measurements() (*metrics.Set, error) {
	set := &metrics.Set{}
	how, seeded := made{backend: "go" + numerics}, false
	for _, s := range r.steps {
		f, err := r.find(s.Key)
		if err != nil {
			return nil, err
		}
		params := f.params()
		if params.Policy.Backend != "" {
			how.backend = params.Policy.Backend + params.Build.Numerics
		}
		for _, x := range params.Evaluate.Seeds {
			if !slices.Contains(how.training, x) {
				how.training = append(how.training, x)
			}
		}
		if !f.entry.Has(book.MeasurementsFile) {
			continue
		}
		of, err := book.ReadMeasurements(f.entry)
		if err != nil {
			return nil, err
		}
		set.Measurements = append(set.Measurements, of.Measurements...)
		if params.Seed != nil {
			how.seed, how.arch, seeded = *params.Seed, f.arch(), true
		}
	}
	if len(set.Measurements) == 0 {
		return nil, fmt.Errorf("%w: the run in %s has no step with measurements.txt, which this version reads; run experiment %s there again", ErrUsage, r.dir, r.experiment)
	}
	for i := range set.Measurements {
		m := &set.Measurements[i]
		m.Keys = append([]metrics.Key{{Name: "experiment", Value: r.experiment}}, m.Keys...)
	}
	if seeded && how.arch != "" {
		set.Comment = []string{how.String()}
	}
	return set, nil
}

// storedRows is what the decisions of a run can be scored from.
type storedRows struct {
	arenas []*storedArena
	rows   []storedRow
}

// storedArena is an arena with the keys of what it was scored by.
type storedArena struct {
	book.Arena
	decided  string      // the arena that decisions were written for
	outcomes []store.Key // of the experts and of the model that plays the router
	share    []float64   // [benchmarks] questions of one pass, by which averages weigh
}

// storedRow is a row and its trainings.
type storedRow struct {
	id   string
	fits []storedFit
}

type storedFit struct {
	found
	kind string // method
	seed uint64
}

// rows reads how the run measured its rows, for recordings once a pool; nil if its protocol has no questions, or if its
// recordings are not those of ours.
func (r *StoredRun) rows(ctx context.Context, ours *spec.Resolved, o Options) ([]*storedRows, error) {
	if ours.Experiment.Protocol == "folds" {
		return r.foldRows(ctx, ours, o)
	}
	of, err := r.splitRows()
	if of == nil || err != nil {
		return nil, err
	}
	return []*storedRows{of}, nil
}

// splitRows reads the rows of protocol split.
func (r *StoredRun) splitRows() (*storedRows, error) {
	i := slices.IndexFunc(r.steps, func(s store.Step) bool { return s.Key.Stage == "measure" })
	if i < 0 {
		return nil, nil
	}
	out := &storedRows{}
	measured, err := r.find(r.steps[i].Key)
	if err != nil {
		return nil, err
	}
	params, inputs := measured.params(), measured.recipe.Inputs()
	if len(params.Methods) == 0 || len(params.Benchmarks) == 0 || len(params.Evaluate.Seeds) == 0 {
		return nil, r.unreadable(measured, "list of rows, benchmarks and seeds in its recipe")
	}
	for _, row := range params.Methods {
		of := storedRow{id: row.ID}
		for _, seed := range params.Evaluate.Seeds {
			k, ok := inputs[ofRow("fit", row.ID, seed)]
			if !ok {
				continue // of a method that does not depend on the seed
			}
			f, err := r.find(k)
			if err != nil {
				return nil, err
			}
			fit, err := r.fit(f)
			if err != nil {
				return nil, err
			}
			of.fits = append(of.fits, fit)
		}
		if of.fits == nil {
			return nil, r.unreadable(measured, fmt.Sprintf("training of row %s among its inputs", row.ID))
		}
		out.rows = append(out.rows, of)
	}
	for _, name := range []string{metrics.PaperArena, metrics.LargeArena} {
		a := &storedArena{Arena: book.Arena{Name: name}, decided: name}
		for _, b := range params.Benchmarks {
			k, ok := inputs[ofArena("outcomes", name, b.ID)]
			if !ok {
				break // no large set was drawn
			}
			if err := r.addBenchmark(a, b.ID, k); err != nil {
				return nil, err
			}
			if k, ok := inputs[ofArena("self", name, b.ID)]; ok {
				if err := r.addSelf(a, b.ID, k); err != nil {
					return nil, err
				}
			}
		}
		switch {
		case len(a.Benchmarks) == 0 && name == metrics.LargeArena:
			continue
		case len(a.Benchmarks) != len(params.Benchmarks):
			return nil, r.unreadable(measured, "outcomes of each benchmark among its inputs")
		}
		for b, size := range a.Sizes() {
			if name == metrics.LargeArena {
				a.share = append(a.share, max(float64(params.Benchmarks[b].Size), out.arenas[0].share[b]))
			} else {
				a.share = append(a.share, float64(size))
			}
		}
		out.arenas = append(out.arenas, a)
	}
	return out, nil
}

// fit reads which method and which seed made a training; a match has those of the fit whose knob it set, or of the row
// that it is matched to where only that one depends on the seed.
func (r *StoredRun) fit(f found) (storedFit, error) {
	if f.key.Stage == "match" {
		inputs := f.recipe.Inputs()
		of := func(name string) (storedFit, error) {
			k, ok := inputs[name]
			if !ok {
				return storedFit{}, r.unreadable(f, fmt.Sprintf("input %q in its recipe", name))
			}
			in, err := r.find(k)
			if err != nil {
				return storedFit{}, err
			}
			return r.fit(in)
		}
		fit, err := of(inputFit)
		if err != nil {
			return storedFit{}, err
		}
		if !methods.Seeded(fit.kind) {
			to, err := of(inputMatch)
			if err != nil {
				return storedFit{}, err
			}
			fit.seed = to.seed
		}
		fit.found = f
		return fit, nil
	}
	params := f.params()
	if params.Method.Name == "" || len(params.Evaluate.Seeds) != 1 {
		return storedFit{}, r.unreadable(f, "method and seed in its recipe")
	}
	return storedFit{f, params.Method.Name, params.Evaluate.Seeds[0]}, nil
}

// outcomes reads what experts did on a benchmark, [problems*runs][experts], of the probe [problems*runs][1].
func (r *StoredRun) outcomes(f found, benchmark string) (ps []routing.Problem, runs int, of []routing.Expert, outcomes [][]routing.Outcome, err error) {
	params := f.params()
	of, probe, err := params.experts()
	if err == nil && len(of) == 0 && probe != nil {
		of = []routing.Expert{*probe}
	}
	k, ok := f.recipe.Inputs()["problems/"+benchmark]
	if err != nil || len(of) == 0 || !ok {
		return nil, 0, nil, nil, r.unreadable(f, "list of experts and problems in its recipe")
	}
	set, err := r.find(k)
	if err != nil {
		return nil, 0, nil, nil, err
	}
	if ps, _, err = book.ReadProblems(set.entry); err != nil {
		return nil, 0, nil, nil, err
	}
	runs = 1 // where outcomes are expectations
	if len(params.Benchmarks) == 1 {
		runs = params.Benchmarks[0].Runs
	}
	outcomes, err = book.ReadOutcomes(f.entry, len(ps), runs, len(of))
	return ps, runs, of, outcomes, err
}

// addBenchmark adds the problems of a benchmark and what every expert did on them to an arena.
func (r *StoredRun) addBenchmark(a *storedArena, name string, k store.Key) error {
	f, err := r.find(k)
	if err != nil {
		return err
	}
	problems, runs, of, outcomes, err := r.outcomes(f, name)
	if err != nil {
		return err
	}
	a.Experts, a.CountInput = of, f.params().CountInput
	a.Add(book.Benchmark{Name: name, Runs: runs}, problems)
	a.Outcomes, a.outcomes = append(a.Outcomes, outcomes...), append(a.outcomes, k)
	return nil
}

// addSelf adds what the model did on a benchmark that plays the router.
func (r *StoredRun) addSelf(a *storedArena, name string, k store.Key) error {
	f, err := r.find(k)
	if err != nil {
		return err
	}
	a.outcomes = append(a.outcomes, k)
	_, _, _, outcomes, err := r.outcomes(f, name)
	for _, own := range outcomes {
		a.Self = append(a.Self, own[0])
	}
	return err
}

// score reads what a training decided in an arena and scores it; ok is false if it decided nothing there.
func (a *storedArena) score(f storedFit) (s book.Scores, ok bool, err error) {
	if !f.entry.Has(book.DecisionsFile(a.decided)) {
		return s, false, nil
	}
	decisions, err := book.ReadDecisions(f.entry, a.decided, a.Queries, len(a.Experts))
	if err != nil {
		return s, false, err
	}
	return a.Score(decisions), true, nil
}
