// The commands run, plan and list, and the flags that commands share.

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/machine"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/programs"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

// storeFlags are those of every command that reads a store.
func storeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "out", Value: filepath.Join("results", "runs"), Usage: "folder of the store and the rollouts", EnvVars: []string{"ENTROROUTER_OUT"}},
		&cli.StringFlag{Name: "data", Usage: "data folder of benchmarks and recorded outcomes", EnvVars: []string{"ENTROROUTER_DATA"}},
	}
}

func verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "log to standard error"}
}

func fullFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "full", Usage: usage} }

func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "say nothing of progress", EnvVars: []string{"ENTROROUTER_QUIET"}}
}

// runFlags are those of every command that carries an experiment out.
func runFlags() []cli.Flag {
	return append(storeFlags(),
		&cli.BoolFlag{Name: "offline", Usage: "ask no expert: what is not stored is an error (exit code 4)"},
		&cli.Float64Flag{Name: "max-cost", DefaultText: "no limit", Usage: "stop asking when `USD` are spent by this command, prompts included (exit code 4)"},
		&cli.Int64Flag{Name: "max-tokens", DefaultText: "no limit", Usage: "stop asking when `N` tokens are spent by this command, prompts included (exit code 4)"},
		&cli.DurationFlag{Name: "deadline", DefaultText: "none", Usage: "stop asking after `TIME`, as in 7h30m (exit code 4)"},
		&cli.DurationFlag{Name: "grace", Value: 10 * time.Minute, Usage: "let requests in flight finish for `TIME` after the first Ctrl-C"},
		&cli.IntFlag{Name: "save-every", Value: 10, Usage: "keep the state of a training every `N` steps: a run that is stopped goes on from there"},
		pluginFlag(),
		verboseFlag(), quietFlag())
}

func pluginFlag() cli.Flag {
	return &cli.StringFlag{Name: "plugin", Usage: "PJRT plugin of policies on XLA, a name or the absolute path of the library", DefaultText: "cuda", EnvVars: []string{"ENTROROUTER_PLUGIN"}}
}

func seedsFlag() cli.Flag {
	return &cli.IntFlag{Name: "seeds", DefaultText: "those of the spec", Usage: "train with seeds 1 to `N`"}
}

// changeFlags change a spec before it is planned.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "rows", DefaultText: "all", Usage: "carry out the rows `A,B` alone, with those that they are matched to"},
		&cli.IntFlag{Name: "limit", DefaultText: "none", Usage: "score at most `N` questions of each benchmark"},
		&cli.GenericFlag{Name: "set", Value: &texts{}, Usage: "set a knob of the spec, `PATH=VALUE` in YAML, as in grpo.steps=30; repeat it for more knobs"},
	}
}

// changesOf are the changes that changeFlags ask for.
func changesOf(c *cli.Context) (x spec.Changes, err error) {
	set, ours := c.Generic("set").(*texts) // show has another flag of that name
	if !ours {
		return x, nil
	}
	x.Set, x.Limit = *set, c.Int("limit")
	if c.IsSet("rows") {
		x.Rows = []string{}
		for _, id := range strings.Split(c.String("rows"), ",") {
			if id = strings.TrimSpace(id); id != "" {
				x.Rows = append(x.Rows, id)
			}
		}
		if len(x.Rows) == 0 {
			return x, usageError{errors.New("--rows names no row; give ids with commas between them, as in --rows entrorouter,knn")}
		}
	}
	if c.IsSet("limit") && x.Limit < 1 {
		return x, usageError{fmt.Errorf("--limit %d: want 1 or more", x.Limit)}
	}
	return x, nil
}

// maxSeeds is more than anybody waits for.
const maxSeeds = 1000

func runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "carry out experiments and print their tables",
		ArgsUsage: "SPEC...",
		Description: "SPEC is the name of a built-in experiment ('entrorouter list' shows them) or a path to a YAML file,\n" +
			"whose folder may override any built-in file. What is stored already is not done again. Servers that want a key get\n" +
			"that of the environment variable ENTROROUTER_API_KEY.\n\n" +
			"A run of several, or with --against, prints a summary; the tables are in the folder.\n" +
			"--rows, --limit and --set change the spec as it is read; titles say so, and by default what is written goes to\n" +
			ownFigures + "/" + changedFigures + ".\n" +
			"--json: seconds, folder, against and experiments: experiment, title, seconds, steps, stored, may_be_had, files,\n" +
			"agreement (verdict same, noise, not judged or regression; compared, regressions, rows).",
		Flags: slices.Concat(runFlags(), changeFlags(), []cli.Flag{seedsFlag(),
			&cli.StringFlag{Name: "against", Usage: "hold the measurements against those of the folder `DIR`, as check does; exit code 3 on a regression"},
			fullFlag("print every table of several experiments, not only the first of the first"),
			&cli.BoolFlag{Name: "json", Usage: "JSON instead of text"},
		}, figuresFlags("folder for tables and figures; empty: do not write any")),
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return usageError{fmt.Errorf("run takes one SPEC or more; built in: %s", strings.Join(spec.Names(experiments.FS), ", "))}
			}
			folder, err := figuresFolder(c)
			if err != nil {
				return err
			}
			switch {
			case c.IsSet("against") && c.String("against") == "":
				return usageError{errors.New("--against is empty; name a folder of measurements, or leave it out")}
			case c.IsSet("against") && c.Bool("update"):
				return usageError{errors.New("--update writes over what --against compares with; leave one of them out")}
			case c.Bool("json") && c.Bool("full"):
				return usageError{errors.New("--json prints no tables; leave --full out")}
			}
			changes, err := changesOf(c)
			switch {
			case err != nil:
				return err
			case changes.Any() && c.Bool("update"):
				return usageError{fmt.Errorf("--update writes the committed tables, which are those of the spec as it stands; leave %s out", strings.Join(changes.Flags(), " "))}
			case changes.Any() && c.IsSet("against"):
				return usageError{fmt.Errorf("--against compares the spec as it stands; leave %s out", strings.Join(changes.Flags(), " "))}
			case changes.Any() && !c.IsSet("figures"):
				folder = filepath.Join(folder, changedFigures) // claims reads what is in the folder itself
			}
			// A fault in the last spec should not wait for the first to be carried out.
			var specs []*spec.Resolved
			for _, arg := range c.Args().Slice() {
				r, err := loadSpec(c, arg)
				if err != nil {
					return err
				}
				specs = append(specs, r)
			}
			began, end := time.Now(), &runSummary{Folder: folder, Against: c.String("against"), several: len(specs) > 1 || c.IsSet("against")}
			show := newProgress(c.App.ErrWriter, c.Bool("quiet"))
			o := optionsShown(c, show)
			if len(specs) > 1 {
				todo, err := harness.ToDo(c.Context, specs, o)
				if err != nil {
					return err
				}
				show.expect(todo)
			}
			for _, r := range specs {
				x, err := finish(c, r, o, folder, end.Against)
				if err != nil {
					if x != nil { // computed, and not written
						err = errors.Join(end.print(c, x), err)
					}
					return err
				}
				end.Experiments = append(end.Experiments, x)
				if err := end.print(c, x); err != nil {
					return err
				}
			}
			end.Seconds = time.Since(began).Seconds()
			named := specs[0].Named
			if changes.Any() {
				named = "" // show reads the spec as it stands
			}
			if err := end.conclude(c, named); err != nil {
				return err
			}
			if err := allHad(end.mayBeHad()); err != nil {
				return err
			}
			if end.regressed() {
				return exitStatus(exitMismatch)
			}
			return nil
		},
	}
}

// allHad is an error if answers are missing that may be had.
func allHad(missing int) error {
	if missing > 0 {
		return fmt.Errorf("%w: %d answers failed and may be had: run the same command again, and it asks for these alone", harness.ErrIncomplete, missing)
	}
	return nil
}

func planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "say what run would do, one line per step, and why",
		ArgsUsage: "SPEC",
		Description: "Each step is stored, to do, or not needed (not stored, and nothing that is to do reads it). The last two lines say\n" +
			"what is to do and what answers will cost, and what a run from an empty store takes, roughly: where this machine has less\n" +
			"memory or disk, run and plan refuse it and name the knob (" + harness.PreflightEnv + "=off: try all the same). Nothing is written;\n" +
			"'entrorouter explain SPEC' groups what is to do by the knob that moved it. --json: name, key, stored, state, why.\n" +
			"With --compile the training steps of language models are written instead, as StableHLO for a CUDA card and without\n" +
			"a weight being read; where --python has jax-cuda13-pjrt they are compiled for an H200, and the memory they take is printed.\n" +
			"'make xla-cpu' makes what that needs, and a program built with XLA.",
		Flags: append(slices.Concat(storeFlags(), changeFlags()), seedsFlag(), &cli.BoolFlag{Name: "json", Usage: "one JSON array instead of lines"},
			&cli.StringSliceFlag{Name: "tokens-per-second", Usage: "for models that have not answered yet, `ID=N,...`: the servers of model ID read and write N tokens per second in all; plan then says how long the answers take. writer=N and training=N are the speeds of a policy that writes: of its own texts, and of learning from them"},
			&cli.StringFlag{Name: "compile", Usage: "write the programs of training steps into the folder `DIR`"},
			&cli.StringFlag{Name: "plugin", Value: filepath.Join("build", "xla", "xla_cuda_programs.so"), Usage: "the plugin that writes programs"},
			&cli.StringFlag{Name: "python", Value: filepath.Join("build", "xla", "venv", "bin", "python"), Usage: "Python whose jax-cuda13-pjrt compiles them"}),
		Action: func(c *cli.Context) error {
			r, err := load(c)
			if err != nil {
				return err
			}
			if c.String("compile") != "" {
				return compilePrograms(c, r)
			}
			steps, needs, err := harness.Plan(c.Context, r, options(c))
			if err != nil {
				return err
			}
			var all explain.Asked
			for _, s := range steps {
				if s.Asked != nil {
					all = all.Add(*s.Asked)
				}
			}
			rates, err := tokensPerSecond(c.StringSlice("tokens-per-second"), all, needs)
			if err != nil {
				return err
			}
			all = all.At(rates)
			for i, s := range steps {
				if s.Asked != nil {
					a := s.Asked.At(rates)
					steps[i].Asked = &a
				}
			}
			if c.Bool("json") {
				enc := json.NewEncoder(c.App.Writer)
				enc.SetIndent("", "  ")
				return enc.Encode(steps)
			}
			w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
			for _, s := range steps {
				why := s.Why
				if s.Asked != nil {
					why += "; asks for " + askedText(*s.Asked)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.State, s.Name, s.Key, why)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.App.Writer, "%s\n%s%s\n", toDo(steps, all), writingText(needs, rates), needs)
			return err
		},
	}
}

// tokensPerSecond reads ID=N of models whose speed nobody knows.
func tokensPerSecond(pairs []string, all explain.Asked, needs harness.Needs) (map[string]float64, error) {
	asked := slices.Sorted(maps.Keys(all.Unpaced))
	if needs.Learned.Texts > 0 {
		asked = append(asked, writerRate, trainingRate)
	}
	rates := map[string]float64{}
	for _, pair := range pairs {
		model, text, ok := strings.Cut(pair, "=")
		rate, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil || !(rate > 0) || math.IsInf(rate, 0) {
			return nil, fmt.Errorf("%w: --tokens-per-second %q: want ID=N, N tokens per second above 0", spec.ErrUsage, pair)
		}
		if !slices.Contains(asked, model) {
			return nil, fmt.Errorf("%w: --tokens-per-second %q: no model of that name is to be asked and has answered nothing yet; those that are: %s", spec.ErrUsage, pair, cmp.Or(strings.Join(asked, ", "), "none"))
		}
		rates[model] = rate
	}
	return rates, nil
}

// toDo says how much of a plan is to do, and what is asked for.
func toDo(steps []explain.StepStatus, all explain.Asked) string {
	todo := 0
	for _, s := range steps {
		if s.State == explain.StateToDo {
			todo++
		}
	}
	if todo == 0 {
		return fmt.Sprintf("Nothing will run: all %d steps are stored or not needed.", len(steps))
	}
	text := fmt.Sprintf("To do: %d of %d steps", todo, len(steps))
	if all.Rollouts > 0 {
		text += ", answers to ask for: " + askedText(all)
	}
	return text + "."
}

// compilePrograms writes the programs of training steps and prints what they take.
func compilePrograms(c *cli.Context, r *spec.Resolved) error {
	folder := c.String("compile")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	plugin, err := filepath.Abs(c.String("plugin"))
	if err != nil {
		return err
	}
	written, err := harness.WritePrograms(r, plugin, folder)
	if err != nil {
		return err
	}
	var files []string
	for _, p := range written {
		files = append(files, p.Path)
	}
	takes, err := programs.CompileH200(c.Context, c.String("python"), files)
	if errors.Is(err, programs.ErrNoCompiler) {
		fmt.Fprintf(c.App.Writer, "written: %s\n%v: nothing is said of memory\n", strings.Join(files, ", "), err)
		return nil
	} else if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "arguments\toutputs\taliased\ttemporary\tbeside\ttotal\tGiB on an H200 of\t")
	for i, m := range takes {
		beside := written[i].Beside
		for _, bytes := range []int64{m.Arguments, m.Outputs, m.Aliased, m.Temporary, beside, m.Total() + beside} {
			fmt.Fprintf(w, "%.3f\t", float64(bytes)/(1<<30))
		}
		fmt.Fprintf(w, "%s\t\n", files[i])
	}
	return w.Flush()
}

func listCommand() *cli.Command {
	return &cli.Command{
		Name:        "list",
		Usage:       "list the built-in experiments with their titles, and the methods that a spec can name",
		Description: "--json: experiments (name, title, protocol, rows) and methods (name, says).",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "JSON instead of text"}},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usageError{fmt.Errorf("list takes no arguments, got %q", c.Args().First())}
			}
			var all listing
			for _, name := range methods.Kinds() {
				all.Methods = append(all.Methods, listedMethod{name, methods.Says(name)})
			}
			for _, name := range spec.Names(experiments.FS) {
				r, err := loadSpec(c, name)
				if err != nil {
					return err
				}
				x := listed{Name: name, Title: r.Experiment.Title, Protocol: r.Experiment.Protocol, Rows: []string{}}
				for _, m := range r.Experiment.Methods {
					x.Rows = append(x.Rows, m.RowID())
				}
				all.Experiments = append(all.Experiments, x)
			}
			return show(c, all, all.write)
		},
	}
}

// listing is what list prints.
type listing struct {
	Experiments []listed       `json:"experiments"`
	Methods     []listedMethod `json:"methods"`
}

// listedMethod is a method that a spec can name, and what it is.
type listedMethod struct {
	Name string `json:"name"`
	Says string `json:"says"`
}

// listed is a built-in experiment.
type listed struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Protocol string   `json:"protocol"`
	Rows     []string `json:"rows"`
}

func (l listing) write(w io.Writer) {
	fmt.Fprintln(w, "experiments:")
	for _, x := range l.Experiments {
		fmt.Fprintf(w, "  %s\t%s\n", x.Name, x.Title)
	}
	fmt.Fprintln(w, "\nmethods:")
	for _, m := range l.Methods {
		fmt.Fprintf(w, "  %s\t%s\n", m.Name, m.Says)
	}
}

// terminal says what standard output can show.
func terminal(w io.Writer) report.Terminal {
	if !isTerminal(w) {
		return report.Terminal{}
	}
	width, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		width = 0
	}
	return report.Terminal{Width: width, Bold: true}
}

// load reads the spec that the command line names.
func load(c *cli.Context) (*spec.Resolved, error) {
	if c.NArg() != 1 {
		return nil, usageError{fmt.Errorf("%s takes one SPEC, got %d arguments; built in: %s", c.Command.Name, c.NArg(), strings.Join(spec.Names(experiments.FS), ", "))}
	}
	return loadSpec(c, c.Args().First())
}

// loadSpec reads a spec by its name or path.
func loadSpec(c *cli.Context, arg string) (*spec.Resolved, error) {
	fsys, name, err := spec.Find(arg, experiments.FS)
	if err != nil {
		return nil, usageError{err}
	}
	return loadFrom(c, fsys, name, arg)
}

// loadFrom reads the spec that has a name in fsys; arg is what a command line calls it.
func loadFrom(c *cli.Context, fsys fs.FS, name, arg string) (*spec.Resolved, error) {
	if c.IsSet("out") && c.String("out") == "" {
		return nil, usageError{errors.New("--out is empty; name the folder of the store")}
	}
	tables, err := paper.ReadTables(results.FS, "paper")
	if err != nil {
		return nil, err
	}
	changes, err := changesOf(c)
	if err != nil {
		return nil, err
	}
	r, err := spec.Load(fsys, name, spec.Known{
		Methods: methods.Kinds(), Outputs: present.Kinds(), Paper: tables.All(),
		Build: func(x *spec.Experiment, m spec.Method) error {
			_, err := methods.New(methods.Setup{Method: m, Spec: x})
			return err
		},
	}, changes)
	if err != nil {
		return nil, err
	}
	r.Named = shellWord(arg)
	for _, flag := range changes.Flags() {
		name, value, _ := strings.Cut(flag, " ")
		r.Named += " " + name + " " + shellWord(value)
	}
	for _, flag := range []string{"out", "data", "seeds"} {
		if c.IsSet(flag) {
			r.Named += " --" + flag + " " + shellWord(fmt.Sprint(c.Value(flag)))
		}
	}
	if !c.IsSet("seeds") {
		return r, nil
	}
	n := c.Int("seeds")
	if n < 1 || n > maxSeeds {
		return nil, usageError{fmt.Errorf("--seeds %d: name how many trainings to average over, 1 to %d", n, maxSeeds)}
	}
	if r.Experiment.Recorded() {
		return nil, usageError{fmt.Errorf("--seeds: spec %s trains once a fold and partition; set folds.seeds in a spec of your own", r.Experiment.Name)}
	}
	r.Experiment.Evaluate.Seeds = nil
	for s := range n {
		r.Experiment.Evaluate.Seeds = append(r.Experiment.Evaluate.Seeds, uint64(s)+1)
	}
	return r, nil
}

// shellWord writes a text as one word of a command that is proposed.
func shellWord(s string) string {
	if !strings.ContainsAny(s, " \t\n'\"\\$&|;<>()*?[]{}`!#~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func options(c *cli.Context) harness.Options {
	return optionsShown(c, newProgress(c.App.ErrWriter, c.Bool("quiet")))
}

// optionsShown are the options of a command whose progress is shown.
func optionsShown(c *cli.Context, show *progress) harness.Options {
	level := slog.LevelWarn
	if c.Bool("verbose") {
		level = slog.LevelDebug
	}
	cut, _ := c.App.Metadata[cutKey].(<-chan struct{})
	room := machine.Left(c.String("out"))
	if os.Getenv(harness.PreflightEnv) == "off" {
		room = machine.Room{}
	}
	log := slog.New(slog.NewTextHandler(show, &slog.HandlerOptions{Level: level}))
	return harness.Options{
		Room: room, Budget: budget(c), Grace: c.Duration("grace"), Cut: cut,
		Out: c.String("out"), Data: c.String("data"), Offline: c.Bool("offline"), Key: os.Getenv("ENTROROUTER_API_KEY"),
		Plugin:   c.String("plugin"),
		Every:    max(c.Int("save-every"), 0),
		Progress: show,
		Log:      log,
		Env:      environment(),
	}
}

// budget is what the requests of a command may spend; nil if they may spend anything.
func budget(c *cli.Context) *cost.Budget {
	b := &cost.Budget{USD: c.Float64("max-cost"), Tokens: c.Int64("max-tokens")}
	if d := c.Duration("deadline"); d > 0 {
		b.Until = time.Now().Add(d)
	}
	if b.USD <= 0 && b.Tokens <= 0 && b.Until.IsZero() {
		return nil
	}
	return b
}

// environment is written beside every stored entry and never compared.
func environment() map[string]string {
	env := map[string]string{"entrorouter": built(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, path := range []string{"github.com/gomlx/gomlx", "github.com/gomlx/compute"} {
			if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == path }); i >= 0 {
				env[path] = info.Deps[i].Version
			}
		}
	}
	return env
}
