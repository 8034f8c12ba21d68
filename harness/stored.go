package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/book"
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

// decode reads the parameters of the recipe. Fields that v does not have are passed over.
func (f found) decode(v any) error { return json.Unmarshal(f.recipe.Params(), v) }

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
		return found{}, fmt.Errorf("run in %s: %w", r.dir, err)
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
			if err != nil || !slices.Contains(recipe.Inputs(), at) {
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
		var params struct {
			Seed   *uint64
			Seeds  []uint64 // of a step that trains with several
			Method struct {
				Policy   struct{ Backend string }
				Numerics string
			}
		}
		if f.decode(&params) == nil && params.Method.Policy.Backend != "" {
			how.backend = params.Method.Policy.Backend + params.Method.Numerics
		}
		if params.Seed != nil && (s.Key.Stage == "fit" || s.Key.Stage == "crossfit") {
			params.Seeds = []uint64{*params.Seed}
		}
		for _, x := range params.Seeds {
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
	decided  string // the arena that decisions were written for
	outcomes []found
	share    []float64 // [benchmarks] questions of one pass, by which averages weigh
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
	var params struct {
		Rows []struct {
			ID, Match string
			Fits      int
		}
		Test    []string
		Weights []float64
	}
	inputs := measured.recipe.Inputs()
	if err := measured.decode(&params); err != nil || len(params.Rows) == 0 || len(params.Test) == 0 || len(params.Weights) != len(params.Test) {
		return nil, r.unreadable(measured, "list of rows and benchmarks in its recipe")
	}
	take := func() (found, error) {
		if len(inputs) == 0 {
			return found{}, r.unreadable(measured, "list of every training in its recipe")
		}
		k := inputs[0]
		inputs = inputs[1:]
		return r.find(k)
	}
	for _, row := range params.Rows {
		of := storedRow{id: row.ID}
		for range row.Fits {
			f, err := take()
			if err != nil {
				return nil, err
			}
			fit, err := r.fit(f)
			if err != nil {
				return nil, err
			}
			of.fits = append(of.fits, fit)
			if row.Match != "" {
				if _, err := take(); err != nil {
					return nil, err
				}
			}
		}
		out.rows = append(out.rows, of)
	}
	// Then, arena by arena, the outcomes of the experts on every benchmark, and those of the router alone where a row
	// needs them.
	for _, x := range []struct{ arena, stage string }{{metrics.PaperArena, "outcomes"}, {metrics.LargeArena, "expected"}} {
		var of []found
		for _, k := range inputs {
			if k.Stage != x.stage {
				continue
			}
			f, err := r.find(k)
			if err != nil {
				return nil, err
			}
			of = append(of, f)
		}
		if len(of) == 0 && x.arena == metrics.LargeArena {
			continue
		}
		if n := len(params.Test); len(of) != n && len(of) != 2*n {
			return nil, r.unreadable(measured, "outcomes of each benchmark in its recipe")
		}
		a, err := r.arena(x.arena, params.Test, of)
		if err != nil {
			return nil, err
		}
		for b, size := range a.Sizes() {
			if x.arena == metrics.LargeArena {
				a.share = append(a.share, max(params.Weights[b], out.arenas[0].share[b]))
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
	of := f
	if f.key.Stage == "match" {
		in := f.recipe.Inputs()
		if len(in) != 2 {
			return storedFit{}, r.unreadable(f, "pair of trainings in its recipe")
		}
		own, err := r.find(in[0])
		if err != nil {
			return storedFit{}, err
		}
		fit, err := r.fit(own)
		if err != nil || methods.Seeded(fit.kind) {
			fit.found = f
			return fit, err
		}
		if of, err = r.find(in[1]); err != nil {
			return storedFit{}, err
		}
		if of.key.Stage == "match" {
			fit, err = r.fit(of)
			fit.found = f
			return fit, err
		}
	}
	var params struct {
		Method struct{ Method string }
		Seed   uint64
	}
	if err := of.decode(&params); err != nil || params.Method.Method == "" {
		return storedFit{}, r.unreadable(of, "method in its recipe")
	}
	return storedFit{f, params.Method.Method, params.Seed}, nil
}

// arena reads the problems of every benchmark and what every expert did on them.
func (r *StoredRun) arena(name string, test []string, of []found) (*storedArena, error) {
	a := &storedArena{Arena: book.Arena{Name: name}, decided: name, outcomes: of}
	for i, f := range of {
		var params struct {
			Experts    []routing.Expert
			Runs       int
			CountInput bool
		}
		if err := f.decode(&params); err != nil || len(params.Experts) == 0 || len(f.recipe.Inputs()) == 0 {
			return nil, r.unreadable(f, "list of experts in its recipe")
		}
		set, err := r.find(f.recipe.Inputs()[0])
		if err != nil {
			return nil, err
		}
		problems, _, err := book.ReadProblems(set.entry)
		if err != nil {
			return nil, err
		}
		runs := max(params.Runs, 1)
		outcomes, err := book.ReadOutcomes(f.entry, len(problems), runs, len(params.Experts))
		if err != nil {
			return nil, err
		}
		if i >= len(test) { // of the router alone
			for _, own := range outcomes {
				a.Self = append(a.Self, own[0])
			}
			continue
		}
		a.Experts, a.CountInput = params.Experts, params.CountInput
		a.Add(book.Benchmark{Name: test[i], Runs: runs}, problems)
		a.Outcomes = append(a.Outcomes, outcomes...)
	}
	return a, nil
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
