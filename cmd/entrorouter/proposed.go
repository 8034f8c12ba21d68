// Commands that are proposed to a reader.

package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// shellWord writes a text as one word of a command that is proposed.
func shellWord(s string) string {
	if !strings.ContainsAny(s, " \t\n'\"\\$&|;<>()*?[]{}`!#~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// runs are the commands that make the measurements of specs, a command for those that are made with the same flags; dir is the folder that
// they write to, empty: the one where no flag says otherwise.
func runs(dir string, specs ...*spec.Resolved) (commands []string) {
	var ensembles, order []string
	to := ""
	if dir != "" {
		to = " --figures " + shellWord(dir)
	}
	names, data := map[string]string{}, map[string]string{} // by flags
	for _, r := range specs {
		if r.Experiment.Ensemble != nil {
			ensembles = append(ensembles, "entrorouter ensemble "+r.Named+to)
			continue
		}
		name, flags := unflagged(r.Named)
		if names[flags] == "" {
			order = append(order, flags)
		}
		names[flags] += " " + name
		if withData(r) != r.Named {
			data[flags] = " --data DIR"
		}
	}
	for _, flags := range order {
		commands = append(commands, "entrorouter run"+names[flags]+flags+data[flags]+to)
	}
	return append(commands, ensembles...)
}

// withData is how a command that carries out a spec, or reads what a run of it did, names it: with a folder of data, where it reads one
// and was given none.
func withData(r *spec.Resolved) string {
	if len(r.Data()) > 0 && !strings.Contains(r.Named, " --data ") {
		return r.Named + " --data DIR"
	}
	return r.Named
}

// asGiven are those of some flags that the command line has, as a command that is proposed has them, with a space before each.
func asGiven(c *cli.Context, flags ...string) (words string) {
	for _, flag := range flags {
		if c.IsSet(flag) {
			words += " --" + flag + " " + shellWord(fmt.Sprint(c.Value(flag)))
		}
	}
	return words
}

// routeBy is the command that routes by a router of a spec, as that was run.
func routeBy(c *cli.Context, r *spec.Resolved, by present.Judged) string {
	name, _ := unflagged(r.Named)
	command := "entrorouter route " + name + " FILE" + asGiven(c, "out", "data") + " --row " + shellWord(by.Row)
	if by.Budget > 0 {
		command += fmt.Sprintf(" --budget %d", by.Budget)
	}
	return command
}

// unflagged divides how a command names a spec into the name and the flags, with a space before them.
func unflagged(named string) (name, flags string) {
	name, flags, has := strings.Cut(named, " --")
	if has {
		flags = " --" + flags
	}
	return name, flags
}
