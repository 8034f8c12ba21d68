// Where tables and figures go: below results/, which git ignores, unless the committed ones are to be rewritten.
package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

const (
	ownFigures       = "results/figures" // ignored by git
	committedFigures = "figures"
	changedFigures   = "changed" // below ownFigures: of specs that flags change
)

// figuresFlags are those of every command that writes tables and figures.
func figuresFlags(usage string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "figures", Value: ownFigures, Usage: usage},
		&cli.BoolFlag{Name: "update", Usage: "write to the committed folder, " + committedFigures + ", and overwrite what is in it"},
	}
}

// figuresFolder is the folder that figuresFlags name.
func figuresFolder(c *cli.Context) (string, error) {
	switch {
	case !c.Bool("update"):
		return c.String("figures"), nil
	case c.IsSet("figures"):
		return "", usageError{fmt.Errorf("--update is --figures %s; leave one of --update and --figures out", committedFigures)}
	}
	return committedFigures, nil
}
