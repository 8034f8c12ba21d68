// The command list: the built-in experiments and the methods.

package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func listCommand() *cli.Command {
	return &cli.Command{
		Name:        "list",
		Usage:       "list the built-in experiments with their titles, and the methods that a spec can name",
		Description: "--json: experiments (name, title, protocol, rows) and methods (name, says).",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "JSON instead of text"}},
		Action: func(c *cli.Context) error {
			if err := noArguments(c, ""); err != nil {
				return err
			}
			var all listing
			for _, name := range methods.Kinds() {
				all.Methods = append(all.Methods, listedMethod{name, methods.Says(name)})
			}
			for _, name := range spec.Names(experiments.FS) {
				r, err := loadAny(c, name)
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

// listed is a built-in experiment.
type listed struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Protocol string   `json:"protocol"`
	Rows     []string `json:"rows"`
}

// listedMethod is a method that a spec can name, and what it is.
type listedMethod struct {
	Name string `json:"name"`
	Says string `json:"says"`
}
