// The command explain: says why steps have to be carried out, and which knob moves them.

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/explain"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say why steps will run: which knob differs from what is stored, and what it costs",
		ArgsUsage: "SPEC [STEP]",
		Description: "   explain SPEC         the knobs that differ, each with the steps that it changes and the steps that follow from these\n" +
			"   explain SPEC STEP    one step: its recipe and inputs, the nearest stored recipe, and every difference\n\n" +
			"STEP is a name as 'entrorouter plan SPEC' prints it, or the beginning of its key. A step is compared with itself\n" +
			"in the last run of the experiment, or else with the stored step of its kind that differs least. A row, problem set,\n" +
			"pool or output that the last run did not have is new, and is compared with nothing. Nothing is written.\n\n" +
			"--json: experiment, steps, to_do, work (fits, rollouts, at_most, routing, seconds, untimed) and causes: knob, changes (knob, field of\n" +
			"recipe.json, stored, wanted, change), direct, follow, work; damaged (name, key, fault). Of a STEP: name, key, stored,\n" +
			"state, why, folder, nearest, last_run, changes, because, inputs (as, name, key, state), read_by, recipe.",
		Flags: append(slices.Concat(storeFlags(), changeFlags(), trainingFlags()), &cli.BoolFlag{Name: "json", Usage: "JSON instead of text"}),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 || c.NArg() > 2 {
				return usageError{fmt.Errorf("explain takes a SPEC and at most one STEP, got %d arguments; quote a step's name: entrorouter explain main 'fit entrorouter seed=1'", c.NArg())}
			}
			r, err := loadSpec(c, c.Args().First())
			if err != nil {
				return err
			}
			if c.NArg() == 2 {
				x, err := harness.ExplainStep(c.Context, r, options(c), c.Args().Get(1))
				if err != nil {
					return err
				}
				return show(c, x, func(w io.Writer) { writeStep(w, x) })
			}
			x, err := harness.Explain(c.Context, r, options(c))
			if err != nil {
				return err
			}
			return show(c, x, func(w io.Writer) { writeExplanation(w, x) })
		},
	}
}

func writeExplanation(w io.Writer, x *explain.Explanation) {
	if x.ToDo == 0 {
		fmt.Fprintf(w, "%s: what it needs is stored, nothing will run\n", x.Experiment)
	} else {
		fmt.Fprintf(w, "%s: %d of %d steps will run%s\n", x.Experiment, x.ToDo, x.Steps, workText(x.Work))
	}
	for _, k := range x.Causes {
		text := strings.Join(firsts(changesText(k.Changes), 6), "; ")
		if k.Knob != "" {
			text = k.Knob + ": " + text
		}
		fmt.Fprintf(w, "\n%s\n", text)
		moves := "moves"
		if k.Knob == "" {
			moves = "steps"
		}
		list(w, moves, k.Direct)
		list(w, "follow", k.Follow)
		if cost := workText(k.Work); cost != "" && len(x.Causes) > 1 {
			fmt.Fprintf(w, "  costs\t%s\n", strings.TrimPrefix(cost, ": "))
		}
	}
	if x.Damaged != nil {
		fmt.Fprintf(w, "\nstored but damaged; made again when a step that is to do reads it\n")
	}
	for _, d := range x.Damaged {
		fmt.Fprintf(w, "  %s\t%s\n", d.Name, d.Fault)
	}
}

// changesText says in words what changed, those that came or went in one phrase.
func changesText(changes []explain.Change) (texts []string) {
	for _, end := range []struct{ one, many string }{{" is new", " are new"}, {" is gone", " are gone"}} {
		var members []string
		for _, c := range changes {
			if name, ok := strings.CutSuffix(c.Text, end.one); ok {
				members = append(members, name)
			}
		}
		switch len(members) {
		case 0:
		case 1:
			texts = append(texts, members[0]+end.one)
		default:
			texts = append(texts, strings.Join(members, ", ")+end.many)
		}
	}
	for _, c := range changes {
		if !strings.HasSuffix(c.Text, " is new") && !strings.HasSuffix(c.Text, " is gone") {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

// workText says what steps cost; empty: nothing.
func workText(v explain.Work) string {
	var parts []string
	if v.Fits > 0 {
		parts = append(parts, fmt.Sprintf("routers to fit: %d", v.Fits))
	}
	if v.Rollouts > 0 {
		parts = append(parts, "answers to ask for: "+askedText(v.Asked))
	}
	if v.Routing > 0 {
		parts = append(parts, fmt.Sprintf("fits that ask a language model for every decision: %d", v.Routing))
	}
	if v.Seconds > 0 || v.Untimed > 0 {
		parts = append(parts, takesText(v))
	}
	if parts == nil {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

// list prints names of steps, those that differ in the seed or the partition alone as one.
func list(w io.Writer, head string, names []string) {
	var groups []string
	at := map[string]int{}
	for _, name := range names {
		i := strings.LastIndex(name, "=")
		if i < 0 {
			groups = append(groups, name)
			continue
		}
		if g, ok := at[name[:i]]; ok {
			groups[g] += "," + name[i+1:]
			continue
		}
		at[name[:i]] = len(groups)
		groups = append(groups, name)
	}
	for i, g := range firsts(groups, 8) {
		if i > 0 {
			head = ""
		}
		fmt.Fprintf(w, "  %s\t%s\n", head, g)
	}
}

func writeStep(w io.Writer, x *explain.StepExplanation) {
	fmt.Fprintf(w, "%s\n%s, %s\n", x.Name, x.Key, x.State)
	if x.Folder != "" {
		fmt.Fprintf(w, "in %s\n", x.Folder)
	}
	for i, b := range x.Because {
		head := "because\n"
		if i > 0 {
			head = ""
		}
		fmt.Fprintf(w, "%s  %s\n", head, b)
	}
	if x.Nearest != "" {
		of := "the stored step of its kind that differs least"
		if x.LastRun {
			of = "this step in the last run"
		}
		fmt.Fprintf(w, "\ncompared with %s, %s\n", x.Nearest, of)
	}
	if len(x.Changes) > 0 && x.Changes[0].Knob != "" {
		fmt.Fprintf(w, "\nknob\tchange\tfield of the recipe\n")
		for _, c := range x.Changes {
			fmt.Fprintf(w, "%s\t%s\t%s\n", c.Knob, c.Text, c.Field)
		}
	}
	if len(x.Inputs) > 0 {
		fmt.Fprintf(w, "\ninput\tstep\tkey\tstate\n")
		for _, in := range x.Inputs {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", in.As, in.Name, in.Key, in.State)
		}
	}
	if len(x.ReadBy) > 0 {
		fmt.Fprintf(w, "\nread by\n")
		list(w, "", x.ReadBy)
	}
	fmt.Fprintf(w, "\nrecipe\n%s", x.Recipe)
}
