// Opening the arenas behind a measuring step by the names of its inputs.

package book

import (
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Stages of the steps that measure arenas.
const (
	MeasureStage      = "measure"
	MeasureFoldsStage = "measure-folds"
)

// Entries finds what is stored. An error says what is missing or damaged, and how it is made again.
type Entries interface {
	Find(store.Key) (store.Entry, store.Recipe, error)
}

// errOther says that a recipe is of another version of the program, or of something that has no arena.
var errOther = errors.New("not what this version reads")

// recipeParams are what a recipe says of an experiment, in the names of the files that set it. What a step does not depend on is
// empty.
type recipeParams struct {
	Pools      []string
	Seed       *uint64
	CountInput bool `yaml:"count_input"`
	Policy     struct{ Backend string }
	Evaluate   struct{ Seeds []uint64 }
	Targets    struct{ Tau float64 }
	Folds      spec.Folds
	Methods    []rowParams
	Method     struct{ Name string }
	Benchmarks []struct {
		ID             string
		spec.Benchmark `yaml:",inline"`
	}
	Pool   spec.Pool
	Prices spec.Prices
	Build  struct{ Numerics string }
}

// rowParams are what a recipe says of a row that is measured.
type rowParams struct{ ID string }

// paramsOf reads the parameters of a recipe, which are JSON and so YAML. Those of another version are empty where they have
// other names.
func paramsOf(r store.Recipe) (p recipeParams) {
	_ = yaml.Unmarshal(r.Params(), &p) // what could not be read is empty, and whoever needs it says so
	return p
}

// reader reads the arenas behind one recipe.
type reader struct {
	from   Entries
	params recipeParams
	inputs map[string]store.Key
}

// Open reads the arenas that a step measures, given its recipe: those of protocol split, or the one of a recorded pool. The
// entries that the recipe names must be stored; the step itself need not be. Where rows are named, no other row is read.
func Open(from Entries, measured store.Recipe, rows ...string) ([]*Arena, error) {
	r := &reader{from, paramsOf(measured), measured.Inputs()}
	if rows != nil {
		r.params.Methods = slices.DeleteFunc(r.params.Methods, func(m rowParams) bool { return !slices.Contains(rows, m.ID) })
	}
	if len(paramsOf(measured).Methods) == 0 || len(r.params.Pools) != 1 {
		return nil, fmt.Errorf("%w: no list of rows and no pool in the recipe", errOther)
	}
	if _, ok := r.inputs[OfArena("outcomes", Recorded, "")]; ok {
		a, err := r.recording()
		return []*Arena{a}, err
	}
	if len(r.params.Benchmarks) == 0 || len(r.params.Evaluate.Seeds) == 0 {
		return nil, fmt.Errorf("%w: no list of benchmarks and seeds in the recipe", errOther)
	}
	paper, err := r.arena(metrics.PaperArena)
	if err != nil {
		return nil, err
	}
	if _, ok := r.inputs[OfArena("outcomes", metrics.LargeArena, r.params.Benchmarks[0].ID)]; !ok {
		return []*Arena{paper}, nil
	}
	large, err := r.arena(metrics.LargeArena)
	if err != nil {
		return nil, err
	}
	// A large set stands for whole benchmarks, which have no fewer questions than the paper asks.
	for b, whole := range r.params.Benchmarks {
		large.Benchmarks[b].Pass = max(float64(whole.Size), paper.Benchmarks[b].Pass)
	}
	return []*Arena{paper, large}, nil
}

// find reads an input.
func (r *reader) find(name string) (store.Entry, store.Recipe, error) {
	k, ok := r.inputs[name]
	if !ok {
		return store.Entry{}, store.Recipe{}, fmt.Errorf("%w: no input %q in the recipe", errOther, name)
	}
	return r.from.Find(k)
}

// arena reads an arena of protocol split.
func (r *reader) arena(name string) (*Arena, error) {
	a := &Arena{Pool: r.params.Pools[0], Name: name}
	for _, b := range r.params.Benchmarks {
		if err := r.benchmark(a, b.ID); err != nil {
			return nil, err
		}
	}
	unprofiled, err := r.best(a)
	if err != nil {
		return nil, err
	}
	if err := a.leaveOut(unprofiled); err != nil {
		return nil, err
	}
	for _, row := range r.params.Methods {
		of := Row{ID: row.ID}
		for _, seed := range r.params.Evaluate.Seeds {
			name := OfRow("fit", row.ID, seed)
			if _, ok := r.inputs[name]; !ok {
				continue // of a method that does not depend on the seed
			}
			kind, t, err := r.training(name, OfRow("sweep", row.ID, seed))
			if err != nil {
				return nil, err
			}
			t.Seed, of.Kind = seed, kind
			of.Trainings = append(of.Trainings, t)
		}
		if of.Trainings == nil {
			return nil, fmt.Errorf("%w: no training of row %s among the inputs in the recipe", errOther, row.ID)
		}
		if err := a.addRow(of); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// addRow adds a row that decides something here, or why it could not be fitted.
func (a *Arena) addRow(r Row) error {
	for _, t := range r.Trainings {
		fit, err := ReadFit(t.Entry)
		if err != nil {
			return err
		}
		if fit.Unfit != "" {
			a.Unfit = append(a.Unfit, Unfit{r.ID, fit.Unfit})
			return nil
		}
	}
	if r.Trainings[0].Entry.Has(decisionsFile(a.Name)) {
		a.Rows = append(a.Rows, r)
	}
	return nil
}

// training reads a training and the name of its method. A match has the method of the fit behind it.
func (r *reader) training(name, behind string) (kind string, t Training, err error) {
	entry, recipe, err := r.find(name)
	if err != nil {
		return "", t, err
	}
	t = Training{Entry: entry, Sweeper: entry}
	if _, ok := r.inputs[behind]; ok {
		if t.Sweeper, recipe, err = r.find(behind); err != nil {
			return "", t, err
		}
	}
	if kind = paramsOf(recipe).Method.Name; kind == "" {
		err = fmt.Errorf("%w: no method in the recipe of %s", errOther, recipe.Key())
	}
	return kind, t, err
}

// benchmark adds the problems of a benchmark and what every expert did on them.
func (r *reader) benchmark(a *Arena, benchmark string) error {
	entry, recipe, err := r.find(OfArena("outcomes", a.Name, benchmark))
	if err != nil {
		return err
	}
	params := paramsOf(recipe)
	experts, _, err := routing.Members(params.Pool, params.Prices)
	k, ok := recipe.Inputs()[OfArena("problems", "", benchmark)]
	if err != nil || len(experts) == 0 || !ok {
		return fmt.Errorf("%w: no experts and problems in the recipe of %s", errOther, recipe.Key())
	}
	set, _, err := r.from.Find(k)
	if err != nil {
		return err
	}
	problems, latents, err := ReadProblems(set)
	if err != nil {
		return err
	}
	runs := 1 // where outcomes are expectations
	if len(params.Benchmarks) == 1 {
		runs = params.Benchmarks[0].Runs
	}
	outcomes, err := ReadOutcomes(entry, len(problems), runs, len(experts))
	if err != nil {
		return err
	}
	a.Experts, a.CountInput = experts, params.CountInput
	a.Add(Benchmark{Name: benchmark, Runs: runs, Pass: float64(len(problems))}, problems)
	a.Outcomes, a.Latents = append(a.Outcomes, outcomes...), append(a.Latents, latents...)
	a.Sources = append(a.Sources, entry.Key)
	self, ok := r.inputs[OfArena("self", a.Name, benchmark)]
	if !ok {
		return nil
	}
	entry, recipe, err = r.from.Find(self)
	if err != nil {
		return err
	}
	params = paramsOf(recipe)
	if _, probe, err := routing.Members(params.Pool, params.Prices); err == nil && probe != nil {
		a.Probe = probe.ID
	}
	outcomes, err = ReadOutcomes(entry, len(problems), runs, 1)
	for _, own := range outcomes {
		a.Self = append(a.Self, own[0])
	}
	a.Sources = append(a.Sources, self)
	return err
}

// best finds m_best of every question: by the true pass rates of the large arena, or by profiles of the test problems. A
// question that some experts have no rollout of in its profile comes back with them.
func (r *reader) best(a *Arena) (unprofiled map[int][]string, err error) {
	kappa := make([]float64, len(a.Experts))
	add := func(of func(m int) float64) {
		for m := range kappa {
			kappa[m] = of(m)
		}
		a.Best = append(a.Best, routing.MBest(kappa, r.params.Targets.Tau, len(kappa)-1))
	}
	if a.Name == metrics.LargeArena {
		for _, o := range a.Outcomes {
			add(func(m int) float64 { return o[m].Correct })
		}
		return nil, nil
	}
	if _, ok := r.inputs[OfArena("profile", a.Name, a.Benchmarks[0].Name)]; !ok {
		return nil, nil // nobody wants to know
	}
	for _, b := range a.Benchmarks {
		entry, _, err := r.find(OfArena("profile", a.Name, b.Name))
		if err != nil {
			return nil, err
		}
		pr, err := ReadProfile(entry, a.IDs())
		if err != nil {
			return nil, err
		}
		for i := range pr.Problems {
			if without := pr.Without(i); without != nil {
				if unprofiled == nil {
					unprofiled = map[int][]string{}
				}
				unprofiled[len(a.Best)] = without
				a.Best = append(a.Best, 0)
				continue
			}
			add(func(m int) float64 { return pr.Kappa(i, m) })
		}
	}
	return unprofiled, nil
}

// recording reads the arena of a recorded pool.
func (r *reader) recording() (*Arena, error) {
	entry, recipe, err := r.find(OfArena("outcomes", Recorded, ""))
	if err != nil {
		return nil, err
	}
	params := paramsOf(recipe)
	a := &Arena{Pool: r.params.Pools[0], Name: Recorded, CountInput: params.CountInput, Sources: []store.Key{entry.Key}}
	if a.Experts, _, err = routing.Members(params.Pool, params.Prices); err != nil || len(a.Experts) == 0 {
		return nil, fmt.Errorf("%w: no experts in the recipe of %s", errOther, recipe.Key())
	}
	problems, _, err := ReadProblems(entry)
	if err != nil {
		return nil, err
	}
	for q, p := range problems {
		b := slices.IndexFunc(a.Benchmarks, func(b Benchmark) bool { return b.Name == p.Benchmark })
		if b < 0 {
			b = len(a.Benchmarks)
			a.Benchmarks = append(a.Benchmarks, Benchmark{Name: p.Benchmark, Runs: 1})
		}
		a.Benchmarks[b].Pass++
		a.Queries, a.Question, a.Strata = append(a.Queries, routing.Query{Problem: p}), append(a.Question, q), append(a.Strata, b)
	}
	if a.Outcomes, err = ReadOutcomes(entry, len(problems), 1, len(a.Experts)); err != nil {
		return nil, err
	}
	partitions, err := readFolds(entry, len(problems))
	if err != nil {
		return nil, err
	}
	for _, row := range r.params.Methods {
		of := Row{ID: row.ID}
		for _, p := range partitions {
			kind, t, err := r.training(OfRow("crossfit", row.ID, p.Seed), "")
			if err != nil {
				return nil, err
			}
			t.Seed, t.Fold, of.Kind = p.Seed, p.Fold, kind
			of.Trainings = append(of.Trainings, t)
		}
		if err := a.addRow(of); err != nil {
			return nil, err
		}
	}
	return a, nil
}
