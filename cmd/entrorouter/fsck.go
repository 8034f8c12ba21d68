// The command fsck: whether what a folder of runs holds is what was written, and its repair.

package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/store"
)

func fsckCommand() *cli.Command {
	return &cli.Command{
		Name:  "fsck",
		Usage: "verify everything that a folder of runs holds",
		Description: "Compares every file of every entry with its manifest, and every row, text and page of the rollouts with its digest.\n" +
			"Exit code 0: all is what was written; 1: something is not, and one line per fault names it. It writes nothing, and works while a\n" +
			"run goes on. --repair moves damaged entries to corrupt/ and removes damaged rows, so that the next run makes them or asks for\n" +
			"them again. It says how many these are, and converts rollouts of an older format to today's.",
		Flags: append(storeFlags()[:1], &cli.BoolFlag{Name: "repair", Usage: "remove what is damaged"}),
		Action: func(c *cli.Context) error {
			if err := noArguments(c, "; --out names the folder"); err != nil {
				return err
			}
			if err := checkFolder(c.String("out"), "out"); err != nil {
				return err
			}
			if out := c.String("out"); !book.IsStore(out) && !isThere(filepath.Join(out, "rollouts.db")) {
				return usageError{fmt.Errorf("there is no folder of runs %s; --out names the folder", out)}
			}
			look := store.Inspect
			if c.Bool("repair") {
				look = store.Mend
			}
			found, err := look(c.Context, c.String("out"))
			if err != nil {
				return err
			}
			sound, err := writeFindings(c.App.Writer, found, c.Bool("repair"))
			if err == nil && !sound {
				return exitStatus(exitFailed)
			}
			return err
		},
	}
}

// writeFindings says what a folder holds, a line a fault, and what to do; sound is false if something is damaged and stays so.
func writeFindings(w io.Writer, f *store.Inspection, repaired bool) (sound bool, err error) {
	var errs []error
	say := func(format string, args ...any) {
		_, err := io.WriteString(w, harmless(fmt.Sprintf(format+"\n", args...)))
		errs = append(errs, err)
	}
	faults := len(f.Damaged) + len(f.Rollouts.Faults)
	for _, e := range f.Damaged {
		say("%v", e)
	}
	for _, fault := range f.Rollouts.Faults {
		say("rollouts.db: %s", fault)
	}
	for _, note := range f.Rollouts.Notes {
		say("rollouts.db: %s", note)
	}
	say("%d entries, %d rollouts, %d attempts; faults: %d", f.Sound+len(f.Damaged), f.Rollouts.Rollouts, f.Rollouts.Attempts, faults)
	again := fmt.Sprintf("%s (about %.2f dollars)", counted(int(f.Rollouts.Lost), "1 answer", "%d answers"), f.Rollouts.USD)
	switch {
	case faults == 0:
	case repaired && f.Rollouts.Structure:
		say("repaired: entries moved to corrupt/: %d; rollouts.db moved there too, since its pages are damaged: what could be read of it, %d rollouts, is in a new one", len(f.Damaged), f.Rollouts.Kept)
	case repaired:
		say("repaired: entries moved to corrupt/: %d; rows removed: %d; the next run makes them again and asks for %s", len(f.Damaged), f.Rollouts.Removed, again)
	case f.Rollouts.Structure:
		say("to repair it: entrorouter fsck --repair moves rollouts.db to corrupt/ and keeps what can be read of it; the next run asks for the rest")
	default:
		say("to repair it: entrorouter fsck --repair removes what is damaged; the next run makes it again and asks for %s", again)
	}
	return faults == 0 || repaired, errors.Join(errs...)
}
