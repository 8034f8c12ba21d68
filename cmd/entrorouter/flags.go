// Flags that commands share.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// storeFlags are those of every command that reads a store.
func storeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "out", Value: filepath.Join("results", "runs"), Usage: "folder of the store and the rollouts", EnvVars: []string{"ENTROROUTER_OUT"}},
		&cli.StringFlag{Name: "data", Usage: "data folder of benchmarks and recorded outcomes", EnvVars: []string{"ENTROROUTER_DATA"}},
	}
}

// runFlags are those of every command that carries an experiment out.
func runFlags() []cli.Flag {
	return append(storeFlags(),
		&cli.BoolFlag{Name: "offline", Usage: "ask no expert: what is not stored is an error (exit code 4)"},
		&cli.Float64Flag{Name: "max-cost", DefaultText: "no limit", Usage: "stop asking when `USD` are spent by this command, prompts included (exit code 4)", Action: above[float64]("max-cost")},
		&cli.Int64Flag{Name: "max-tokens", DefaultText: "no limit", Usage: "stop asking when `N` tokens are spent by this command, prompts included (exit code 4)", Action: above[int64]("max-tokens")},
		&cli.DurationFlag{Name: "deadline", DefaultText: "none", Usage: "stop asking after `TIME`, as in 7h30m (exit code 4)", Action: above[time.Duration]("deadline")},
		&cli.DurationFlag{Name: "grace", Value: 10 * time.Minute, Usage: "let requests in flight finish for `TIME` after the first Ctrl-C", Action: notBelow[time.Duration]("grace")},
		&cli.IntFlag{Name: "save-every", Value: 10, Usage: "save the state of a training every `N` steps: a run that was stopped goes on from there; 0: never", Action: notBelow[int]("save-every")},
		pluginFlag(),
		verboseFlag(), quietFlag())
}

// above refuses a flag that is 0 or less: what is left of a budget that is spent is not one without a limit.
func above[T int64 | float64 | time.Duration](name string) func(*cli.Context, T) error {
	return func(_ *cli.Context, x T) error {
		if x > 0 {
			return nil
		}
		return usageError{fmt.Errorf("--%s %v: want more than 0", name, x)}
	}
}

// notBelow refuses a flag that is less than 0.
func notBelow[T int | time.Duration](name string) func(*cli.Context, T) error {
	return func(_ *cli.Context, x T) error {
		if x >= 0 {
			return nil
		}
		return usageError{fmt.Errorf("--%s %v: want 0 or more", name, x)}
	}
}

// changeFlags change a spec before it is planned.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "rows", DefaultText: "all", Usage: "carry out only the rows `A,B`, and those that they are matched to"},
		&cli.IntFlag{Name: "limit", DefaultText: "none", Usage: "score at most `N` questions of each benchmark (only under protocol split)"},
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

// texts is a flag that may be given several times. Commas do not separate: an answer may hold some.
type texts []string

// Set implements cli.Generic.
func (t *texts) Set(s string) error {
	*t = append(*t, s)
	return nil
}

// String implements cli.Generic.
func (t *texts) String() string { return strings.Join(*t, ", ") }

func verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "log to standard error"}
}

func fullFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "full", Usage: usage} }

func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "say nothing of progress", EnvVars: []string{"ENTROROUTER_QUIET"}}
}

func pluginFlag() cli.Flag {
	return &cli.StringFlag{Name: "plugin", Usage: "PJRT plugin of policies on XLA, a name or the absolute path of the library", DefaultText: "cuda", EnvVars: []string{"ENTROROUTER_PLUGIN"}}
}

// checkFolder refuses a folder that a flag names where a file is in its place, or in that of a folder above it.
func checkFolder(folder, flag string) error {
	for at := filepath.Clean(folder); ; at = filepath.Dir(at) {
		switch info, err := os.Stat(at); {
		case err == nil && !info.IsDir():
			return usageError{fmt.Errorf("%s is a file; name a folder with --%s", at, flag)}
		case err == nil, at == filepath.Dir(at):
			return nil
		}
		if _, err := os.Readlink(at); err == nil {
			return usageError{fmt.Errorf("%s is a link to what is not there; name a folder with --%s", at, flag)}
		}
	}
}

// noArguments refuses arguments; more follows in the sentence that does.
func noArguments(c *cli.Context, more string) error {
	if c.NArg() == 0 {
		return nil
	}
	return usageError{fmt.Errorf("%s takes no arguments, got %q%s", c.Command.Name, c.Args().First(), more)}
}

func seedsFlag() cli.Flag {
	return &cli.IntFlag{Name: "seeds", DefaultText: "those of the spec", Usage: "train with seeds 1 to `N`"}
}

// trainingFlags say how often rows are trained.
func trainingFlags() []cli.Flag {
	return []cli.Flag{seedsFlag(), &cli.IntFlag{Name: "partitions", DefaultText: "those of the spec", Usage: "divide recorded questions into folds `N` times"}}
}

// maxTrainings is more than anybody waits for.
const maxTrainings = 1000

// setTrainings makes the trainings of a spec as many as the command line says, if it does.
func setTrainings(c *cli.Context, x *spec.Experiment) error {
	t := x.Trainings()
	switch n := c.Int(t.Flag); {
	case t.Flag == "partitions" && c.IsSet("seeds"):
		return usageError{fmt.Errorf("--seeds: spec %s trains once a fold and partition; --partitions says how often", x.Name)}
	case t.Flag == "seeds" && c.IsSet("partitions"):
		return usageError{fmt.Errorf("--partitions: spec %s divides no questions into folds; --seeds says how often it trains", x.Name)}
	case !c.IsSet(t.Flag):
	case n < 1 || n > maxTrainings:
		return usageError{fmt.Errorf("--%s %d: name how many %ss to average over, 1 to %d", t.Flag, n, t.One, maxTrainings)}
	default:
		*t.Of = t.UpTo(n)
	}
	return nil
}

// dtypeFlag says how weights are stored.
func dtypeFlag() cli.Flag {
	return &cli.StringFlag{Name: "dtype", Value: "float32", Usage: "store weights as `TYPE` float32 or bfloat16"}
}

func dtypeOf(c *cli.Context) (safetensors.DType, error) {
	switch c.String("dtype") {
	case "float32":
		return safetensors.F32, nil
	case "bfloat16":
		return safetensors.BF16, nil
	}
	return "", usageError{fmt.Errorf("--dtype %s: want float32 or bfloat16", c.String("dtype"))}
}
