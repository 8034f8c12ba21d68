package harness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func runIn(t testing.TB, r *spec.Resolved, out string) *Result {
	t.Helper()
	result, err := Run(t.Context(), r, Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// tinyIn is a finished run of tiny in a folder. All tests but those of how it comes about share what it stores.
func tinyIn(t testing.TB, out string) *Result {
	t.Helper()
	tinyStore(t, out)
	return runIn(t, toy.Tiny(t), out)
}

// tinyStore copies the store of a finished run of tiny to a folder.
func tinyStore(t testing.TB, out string) {
	t.Helper()
	if err := os.CopyFS(out, os.DirFS(tiny(t))); err != nil {
		t.Fatal(err)
	}
}

// tiny is the folder of a finished run of tiny, for tests that change nothing in it.
func tiny(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(shared, "tiny")
	tinyOnce.Do(func() { runIn(t, toy.Tiny(t), dir) })
	return dir
}

var (
	shared   string // a folder for what tests share
	tinyOnce sync.Once
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // as the command does
	var err error
	if shared, err = os.MkdirTemp("", "harness"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(shared)
	os.Exit(code)
}

// Measurements say under which recipes they were made and by which versions: those that made them, whoever reads them again.
func TestMeasurementsNameTheirRecipesAndVersions(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	made := func(version string) (recipes []metrics.Recipe) {
		t.Helper()
		result, err := Run(t.Context(), toy.Tiny(t), Options{Out: out, Env: map[string]string{"entrorouter": version, "go": "go1.26", "arch": "any"}})
		if err != nil {
			t.Fatal(err)
		}
		return result.Measurements.Recipes()
	}
	step, err := ExplainStep(t.Context(), toy.Tiny(t), Options{Out: out}, "measure")
	if err != nil {
		t.Fatal(err)
	}
	want := []metrics.Recipe{{Step: "measure", Key: step.Key, By: "entrorouter v1, go 1.26"}}
	for _, version := range []string{"v1", "v2"} {
		if d := cmp.Diff(want, made(version)); d != "" {
			t.Errorf("read by %s (-want +got)\n%s", version, d)
		}
	}
}

// sameEntries wants two folders to have the same entries, byte by byte.
func sameEntries(t testing.TB, calm, out string) {
	t.Helper()
	a, b := entries(t, calm), entries(t, out)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))); diff != "" {
		t.Fatal(diff)
	}
	for name := range a {
		if string(a[name]) != string(b[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// entries returns the files of every stage entry below out, but what may differ between machines.
func entries(t testing.TB, out string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	root := filepath.Join(out, "stages")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "env.json" {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func render(t *testing.T, r *Result) string {
	t.Helper()
	text, _ := drawn(t, r)
	return text
}

// How many requests are in flight, in what order answers arrive and where the files lie decide nothing.
func TestARunIsTheSameByteForByteAtAnyConcurrency(t *testing.T) {
	one := toy.Tiny(t)
	one.Experiment.Profile.Concurrency = 3 // which was 64
	outs := []string{filepath.Join(t.TempDir(), "deeper"), t.TempDir()}
	a, b := runIn(t, one, outs[0]), tinyIn(t, outs[1])
	if x, y := render(t, a), render(t, b); x != y {
		t.Errorf("tables differ:\n%s\n%s", x, y)
	}
	x, y := entries(t, outs[0]), entries(t, outs[1])
	names := slices.Sorted(maps.Keys(x))
	if other := slices.Sorted(maps.Keys(y)); !slices.Equal(names, other) {
		t.Fatalf("entries:\n%v\n%v", names, other)
	}
	for _, name := range names {
		if !bytes.Equal(x[name], y[name]) {
			t.Errorf("%s differs", name)
		}
	}
	for _, stage := range []string{"problems", "profile", "fit", "outcomes", "expected", "measure"} {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, stage+"/") }) {
			t.Errorf("no entry of stage %s", stage)
		}
	}
}

// serving serves the simulated experts of an experiment at an address until stop is called or the test ends.
func serving(t *testing.T, r *spec.Resolved, address string, wrap func(http.Handler) http.Handler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	served, ready := make(chan error, 1), make(chan []string, 1)
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		served <- Serve(ctx, r, Options{Out: t.TempDir()}, l, asking.Serving{Wrap: wrap}, func(models []string) { ready <- models })
	}()
	select {
	case models := <-ready:
		if len(models) != 8 {
			t.Errorf("serves %v, want three experts, the probe and four routers", models)
		}
	case err := <-served:
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// overHTTP is an experiment that was run below dir, in folder sim, with its experts behind a server at address and its problems
// in files, as anybody would write them, in folder data.
func overHTTP(t *testing.T, r *spec.Resolved, dir string) (over *spec.Resolved, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	changed := *r
	over = &changed
	over.Benchmarks = spec.Benchmarks{}
	for name, data := range entries(t, filepath.Join(dir, "sim")) {
		if !strings.HasSuffix(name, "/problems.jsonl") {
			continue
		}
		var lines strings.Builder
		var benchmark string
		n := 0
		for dec := json.NewDecoder(bytes.NewReader(data)); ; n++ {
			var line struct{ Problem routing.Problem }
			if err := dec.Decode(&line); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			benchmark = line.Problem.Benchmark
			text, err := json.Marshal(map[string]string{"id": line.Problem.ID, "problem": line.Problem.Text, "answer": line.Problem.Gold[0]})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&lines, "%s\n", text)
		}
		if n < over.Benchmarks[benchmark].Size {
			continue // the second stage's draw is part of the first's
		}
		file := spec.File{Path: benchmark + ".jsonl", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(lines.String())))}
		toy.Put(t, filepath.Join(dir, "data", file.Path), lines.String())
		b := r.Benchmarks[benchmark]
		b.Generated, b.File, b.Size = nil, &file, n
		over.Benchmarks[benchmark] = b
	}
	pool := r.Pools[0]
	pool.Kind, pool.Simulation = "http", nil
	pool.Experts = slices.Clone(pool.Experts)
	for i := range pool.Experts {
		pool.Experts[i].URL = "http://" + address + "/v1"
	}
	probe := *pool.Probe
	probe.URL = pool.Experts[0].URL
	pool.Probe = &probe
	over.Pools = []spec.Pool{pool}
	return over, address
}

// contentsOf sorts what the files of one name hold.
func contentsOf(files map[string][]byte, file string) (all []string) {
	for name, data := range files {
		if strings.HasSuffix(name, "/"+file) {
			all = append(all, string(data))
		}
	}
	slices.Sort(all)
	return all
}

// A pool of kind http that points at `entrorouter serve` gets what the simulated pool gets: the same responses, pass
// rates and outcomes.
func TestAnHTTPPoolThatPointsAtServeGetsTheSameOutcomes(t *testing.T) {
	dir := t.TempDir()
	r := toy.Tiny(t)
	x := &r.Experiment
	x.Large, x.Methods, x.Outputs = 0, append(x.Methods[:2:2], spec.Method{Name: "logistic"}), nil
	x.Profile.Test = true
	runIn(t, r, filepath.Join(dir, "sim"))

	over, address := overHTTP(t, r, dir)
	stop := serving(t, r, address, nil)
	heard := &hearing{Progress: Options{}.Filled().Progress}
	if _, err := Run(t.Context(), over, Options{Out: filepath.Join(dir, "http"), Data: filepath.Join(dir, "data"), Progress: heard}); err != nil {
		t.Fatal(err)
	}
	stop()
	if heard.sent == 0 || heard.retries > 0 || heard.usd <= 0 {
		t.Errorf("progress heard of %d requests, %d retries and %g dollars", heard.sent, heard.retries, heard.usd)
	}

	for file, n := range map[string]int{"profile.csv": 4, "outcomes.csv": 2} {
		sim, http := contentsOf(entries(t, filepath.Join(dir, "sim")), file), contentsOf(entries(t, filepath.Join(dir, "http")), file)
		if len(sim) != n || !slices.Equal(sim, http) {
			t.Errorf("%s of %d and %d entries differ, want %d equal ones", file, len(sim), len(http), n)
		}
	}
}

func TestAnInterruptedRunSaysSoAndGoesOn(t *testing.T) {
	r, out := toy.Tiny(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, r, Options{Out: out, Progress: &cancelAt{Progress: Options{}.Filled().Progress, cancel: cancel, what: "fit "}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	left, err := os.ReadDir(filepath.Join(out, "tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	if x, y := render(t, runIn(t, r, out)), render(t, tinyIn(t, t.TempDir())); x != y {
		t.Errorf("tables differ:\n%s\n%s", x, y)
	}
}

// What progress is told to be made is made, each step once; a run that finds all stored makes nothing.
func TestProgressHearsOfTheStepsThatARunMakes(t *testing.T) {
	r, out := toy.Tiny(t), t.TempDir()
	all, err := ToDo(t.Context(), []*spec.Resolved{r, r}, Options{Out: out})
	if err != nil || len(all) != 2 || len(all[0]) == 0 || len(all[1]) > 0 {
		t.Fatalf("before the run are to do %v (%v), want steps of the first of two that agree", all, err)
	}
	if slices.ContainsFunc(all[0], func(s explain.Pending) bool { return s.Seconds <= 0 }) {
		t.Errorf("nobody knows how long simulated steps take: %v", all[0])
	}
	for _, want := range [][]string{namesOf(all[0]), nil} {
		heard := &hearing{Progress: Options{}.Filled().Progress}
		if _, err := Run(t.Context(), r, Options{Out: out, Progress: heard}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, heard.plan); diff != "" {
			t.Error(diff)
		}
		made := slices.DeleteFunc(heard.started, func(what string) bool { return !slices.Contains(want, what) })
		slices.Sort(made)
		if diff := cmp.Diff(strings.Join(slices.Sorted(slices.Values(want)), "\n"), strings.Join(made, "\n")); diff != "" {
			t.Error(diff)
		}
		if heard.open != 0 || heard.sent > 0 {
			t.Errorf("%d are not done; %d requests of a simulation", heard.open, heard.sent)
		}
	}
}

// hearing remembers what progress is told.
type hearing struct {
	Progress
	mu            sync.Mutex
	plan, started []string
	open          int
	sent, retries int
	usd           float64
}

func (h *hearing) Plan(steps []explain.Pending) { h.plan = namesOf(steps) }

func namesOf(steps []explain.Pending) (names []string) {
	for _, s := range steps {
		names = append(names, s.Name)
	}
	return names
}

func (h *hearing) Start(what string, total int) Task {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.started, h.open = append(h.started, what), h.open+1
	return heard{h.Progress.Start(what, total), h}
}

// heard counts what is done.
type heard struct {
	Task
	by *hearing
}

func (h heard) Done() {
	h.by.mu.Lock()
	defer h.by.mu.Unlock()
	h.by.open--
}

func (h *hearing) Sent(retry bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sent++; retry {
		h.retries++
	}
}

func (h *hearing) Spent(usd float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.usd += usd
}

// cancelAt interrupts when something starts.
type cancelAt struct {
	Progress
	cancel func()
	what   string
}

func (c *cancelAt) Start(what string, total int) Task {
	if strings.HasPrefix(what, c.what) {
		c.cancel()
	}
	return c.Progress.Start(what, total)
}

func TestAPlanTellsWhatARunThenDoes(t *testing.T) {
	r, out := toy.Tiny(t), t.TempDir()
	plan := func() []explain.StepStatus {
		steps, _, err := Plan(t.Context(), r, Options{Out: out})
		if err != nil {
			t.Fatal(err)
		}
		return steps
	}
	before := plan()
	for _, s := range before {
		if s.Stored || s.Why == "" {
			t.Errorf("%+v before anything is stored", s)
		}
	}
	runIn(t, r, out)
	after := plan()
	if len(after) != len(before) {
		t.Fatalf("%d steps before, %d after", len(before), len(after))
	}
	for i, s := range after {
		if !s.Stored || s.Why != "" || s.Key != before[i].Key || s.Name != before[i].Name {
			t.Errorf("%+v after, %+v before", s, before[i])
		}
	}
	stored := map[string]bool{}
	for name := range entries(t, out) {
		parts := strings.Split(name, "/")
		stored[parts[0]+"-"+parts[1]] = true
	}
	for _, s := range after {
		delete(stored, s.Key)
	}
	if len(stored) > 0 {
		t.Errorf("entries that were not planned: %v", slices.Sorted(maps.Keys(stored)))
	}
}

func TestARunCountsTheStepsThatWereStored(t *testing.T) {
	dir, _ := toy.Folder(t, "", toy.Constants)
	for name, load := range map[string]func() *spec.Resolved{
		"split":    func() *spec.Resolved { return toy.Tiny(t) },
		"folds":    func() *spec.Resolved { return toy.Load(t, filepath.Join(dir, "constants.yaml")) },
		"collapse": func() *spec.Resolved { return smallCollapse(t) },
	} {
		out := t.TempDir()
		run := func(r *spec.Resolved) *Result {
			t.Helper()
			result, err := Run(t.Context(), r, Options{Out: out, Data: dir})
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		if r := run(load()); r.Stored != 0 || r.Steps == 0 {
			t.Errorf("%s: %d of %d steps were stored before the first run", name, r.Stored, r.Steps)
		}
		if r := run(load()); r.Stored != r.Steps {
			t.Errorf("%s: %d of %d steps were stored before the second run", name, r.Stored, r.Steps)
		}
		more := load()
		more.Experiment.Seed++ // of the resamples of folds, of the problems of split
		if r := run(more); name == "folds" && r.Stored != r.Steps-1 || name == "split" && r.Stored != 0 {
			t.Errorf("%s: %d of %d steps were stored before a run with another seed", name, r.Stored, r.Steps)
		}
	}
}

func TestWhatCannotBeRunIsRefusedBeforeAnythingIsAsked(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*spec.Resolved)
		want   string
	}{
		{"a generated benchmark for served experts", func(r *spec.Resolved) {
			p := r.Pools[0]
			p.Kind, p.Simulation = "http", nil
			r.Pools = []spec.Pool{p}
		}, "name benchmarks that have a file"},
		{"the true success probability of served experts", func(r *spec.Resolved) {
			p := r.Pools[0]
			p.Kind, p.Simulation = "http", nil
			r.Pools = []spec.Pool{p}
			for name, b := range r.Benchmarks {
				b.Generated, b.File = nil, &spec.File{Path: "x"}
				r.Benchmarks[name] = b
			}
		}, "only a simulated pool knows the true success probability"},
		{"recorded outcomes in protocol split", func(r *spec.Resolved) {
			r.Pools = []spec.Pool{{Name: "old", Kind: "recorded", Experts: r.Pools[0].Experts}}
		}, "which protocol folds reads"},
		{"two pools in protocol split", func(r *spec.Resolved) { r.Pools = append(r.Pools, r.Pools[0]) }, "protocol split takes one"},
		{"a model without a price", func(r *spec.Resolved) { r.Prices.Models = nil }, "has no price"},
		{"expected dollars of input tokens", func(r *spec.Resolved) { r.Experiment.CountInput = true }, "set large: 0 with count_input: true"},
		{"the router's own answers without a model that plays the router", func(r *spec.Resolved) {
			r.Experiment.Targets.Gate = false
			p := r.Pools[0]
			p.Probe = nil
			r.Pools = []spec.Pool{p}
		}, "row self may answer itself as the probe of the pool, and pool sim has none"},
		{"a figure of a row that is not there", func(r *spec.Resolved) { r.Experiment.Methods = r.Experiment.Methods[:3] }, `shows the row "entrorouter"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, out := toy.Tiny(t), t.TempDir()
			c.change(r)
			_, err := Run(t.Context(), r, Options{Out: out})
			if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if stored, err := filepath.Glob(filepath.Join(out, "stages", "*")); err != nil || len(stored) > 0 {
				t.Errorf("stored: %v (%v)", stored, err)
			}
		})
	}
}

// Few problems may leave a stratum of the routing distribution empty: the figure shows the others.
func TestAnEmptyStratumIsLeftOutOfTheFigure(t *testing.T) {
	r := toy.Tiny(t)
	r.Experiment.Test = []string{"sim-math500"}
	b := r.Benchmarks["sim-math500"]
	b.Size = 2
	r.Benchmarks["sim-math500"] = b
	r.Experiment.Large = 0
	result := runIn(t, r, t.TempDir())
	n := 0
	for _, s := range score.Difficulties {
		if len(result.Measurements.Where(metrics.Keys("stratum", s, "method", methods.ReferenceRow, "expert", "")...)) > 0 {
			n++
		}
	}
	if n == len(score.Difficulties) {
		t.Skip("no stratum is empty")
	}
	render(t, result)
}

// Rows and decisions follow prices and ids, not the order in which a pool file lists its experts.
func TestTheOrderOfExpertsInThePoolDoesNotMatter(t *testing.T) {
	back := toy.Tiny(t)
	pool := back.Pools[0]
	pool.Experts = slices.Clone(pool.Experts)
	slices.Reverse(pool.Experts)
	back.Pools[0] = pool
	outs := []string{t.TempDir(), t.TempDir()}
	if x, y := render(t, tinyIn(t, outs[0])), render(t, runIn(t, back, outs[1])); x != y {
		t.Errorf("tables differ:\n%s\n%s", x, y)
	}
	x, y := entries(t, outs[0]), entries(t, outs[1])
	for name := range x {
		if !bytes.Equal(x[name], y[name]) {
			t.Errorf("%s differs", name)
		}
	}
}
