// The command plan: says what run would do, what that takes, and writes the programs of training steps.

package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/preflight"
	"github.com/entrorouter/entrorouter/harness/programs"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "say what run would do, one line per step, and why",
		ArgsUsage: "SPEC",
		Description: "Each step is stored, to do, or not needed (not stored, and nothing that is to do reads it). The last line but one says\n" +
			"what is to do, what answers will cost and how long it takes, judging by what such steps took in the store, or else on two cores.\n" +
			"The last line says roughly what a run from an empty store takes. If this machine has less memory or disk, run and plan refuse\n" +
			"the experiment and name the knob to change (" + preflight.Env + "=off: try all the same). Nothing is written.\n" +
			"'entrorouter explain SPEC' groups what is to do by the knob that moved it.\n\n" +
			"With --compile the training steps of language models are written instead, as StableHLO for a CUDA card and without\n" +
			"reading a weight. If --python has jax-cuda13-pjrt, they are compiled for an H200, and the memory that they take is printed.\n" +
			"'make xla-cpu' makes what that needs, and a program built with XLA.\n\n" +
			"--json: steps (name, key, stored, state, why, asked, seconds, untimed), and of all of them to_do, asked, seconds, untimed;\n" +
			"from_empty_store: bytes of memory, device and disk, trainings and their steps.",
		Flags: append(slices.Concat(storeFlags(), changeFlags(), trainingFlags()), &cli.BoolFlag{Name: "json", Usage: "JSON instead of lines"},
			&cli.StringSliceFlag{Name: "tokens-per-second", Usage: "for models that have not answered yet, `ID=N,...`: the servers of model ID read and write N tokens per second in all. plan then says how long the answers take. writer=N and training=N are the speeds at which a policy that writes does so, and at which it learns from what it wrote"},
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
			for i, s := range steps {
				if s.Asked != nil {
					a := s.Asked.At(rates)
					steps[i].Asked = &a
				}
			}
			if c.Bool("json") {
				return writeJSON(c.App.Writer, plannedJSON(steps, needs))
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
			_, err = fmt.Fprintf(c.App.Writer, "%s\n%s%s\n", toDo(steps), writingText(needs, rates), needs)
			return err
		},
	}
}

// tokensPerSecond reads ID=N of models whose speed nobody knows.
func tokensPerSecond(pairs []string, all explain.Asked, needs preflight.Needs) (map[string]float64, error) {
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

// plannedRun is a plan as --json prints it.
type plannedRun struct {
	Steps   []explain.StepStatus `json:"steps"`
	ToDo    int                  `json:"to_do"`
	Asked   *explain.Asked       `json:"asked,omitempty"`
	Seconds float64              `json:"seconds"`
	Untimed int                  `json:"untimed,omitempty"` // steps to do whose seconds nobody knows

	FromEmptyStore struct {
		Memory        int64 `json:"memory"`           // bytes
		Device        int64 `json:"device,omitempty"` // bytes, where XLA computes
		Disk          int64 `json:"disk"`             // bytes
		Trainings     int64 `json:"trainings"`
		TrainingSteps int64 `json:"training_steps"`
	} `json:"from_empty_store"`
}

func plannedJSON(steps []explain.StepStatus, needs preflight.Needs) plannedRun {
	out := plannedRun{Steps: steps}
	todo, all := total(steps)
	out.ToDo, out.Seconds, out.Untimed = todo, all.Seconds, all.Untimed
	if all.Rollouts > 0 {
		out.Asked = &all.Asked
	}
	e := &out.FromEmptyStore
	e.Memory, e.Device, e.Disk, e.Trainings, e.TrainingSteps = needs.Memory, needs.Device, needs.Disk, needs.Trainings, needs.Steps
	return out
}

// total is how many steps of a plan are to do, and what they take.
func total(steps []explain.StepStatus) (todo int, all explain.Work) {
	for _, s := range steps {
		if s.State != explain.StateToDo {
			continue
		}
		todo++
		all.Seconds += s.Seconds
		if s.Untimed {
			all.Untimed++
		}
		if s.Asked != nil {
			all.Asked = all.Asked.Add(*s.Asked)
		}
	}
	return todo, all
}

// toDo says how much of a plan is to do, what is asked for and how long it takes.
func toDo(steps []explain.StepStatus) string {
	todo, all := total(steps)
	if todo == 0 {
		return fmt.Sprintf("Nothing will run: all %d steps are stored or not needed.", len(steps))
	}
	text := fmt.Sprintf("To do: %d of %d steps", todo, len(steps))
	if all.Rollouts > 0 {
		text += ", answers to ask for: " + askedText(all.Asked)
	}
	return text + "; " + takesText(all) + "."
}

// Names under which --tokens-per-second has the speed of what is no expert.
const (
	writerRate   = "writer"   // who writes a policy's own texts
	trainingRate = "training" // and who learns from them, forward and backward
)

// writingText says what policies that write before they choose write and learn from, at most, and how long that takes at some tokens per second;
// empty: none writes.
func writingText(n preflight.Needs, rates map[string]float64) string {
	if n.Learned.Texts == 0 {
		return ""
	}
	takes := func(rate string, tokens int64) string {
		if r, ok := rates[rate]; ok {
			return hoursText(float64(tokens) / r / 3600)
		}
		return "--tokens-per-second " + rate + "=N says how long"
	}
	texts := func(t preflight.Tokens) string {
		return fmt.Sprintf("%s (%s tokens)", counted(int(t.Texts), "1 text", "%d texts"), rounded(float64(t.Tokens)))
	}
	return fmt.Sprintf("of the routers' own texts, from an empty store at most: %s written in Stage II and %s to route, %s; %s read in training, %s\n",
		texts(n.Rollouts), texts(n.Routed), takes(writerRate, n.Rollouts.Tokens+n.Routed.Tokens), texts(n.Learned), takes(trainingRate, n.Learned.Tokens))
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
	written, err := programs.OfExperiment(r, plugin, folder)
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
