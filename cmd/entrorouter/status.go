// The command status: how far a run is, while it goes on or after it was killed.

package main

import (
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/store"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "say how far a run is with asking experts, what it cost, and what went wrong",
		Description: "Reads the folder that a run writes to, while it goes on or afterwards. One line per expert and split: answers that are stored\n" +
			"and those that are left, failed requests, requests in flight, requests lost (they never ended, since their process was killed),\n" +
			"answers within the last minute, tokens, dollars, and the dollars that lost requests may have cost in addition.\n\n" +
			"--json: holder (pid, host, started), null where no process writes; run (name, command, pid, host, started), the last one that\n" +
			"asked; scopes: scope (what was asked of whom, and how), answered, want, failed and errors (by class), in_flight, lost,\n" +
			"last_minute, spent and bound (tokens_in, tokens_out, usd), repeated; oldest, when the oldest request in flight began; servers, by URL.",
		Flags: append(storeFlags()[:1], &cli.BoolFlag{Name: "repeated", Usage: "count the answers that repeat another one to the same problem, byte for byte; takes about two seconds per million"}, &cli.BoolFlag{Name: "json", Usage: "one JSON object instead of lines"}),
		Action: func(c *cli.Context) error {
			if err := noArguments(c, "; --out names the folder"); err != nil {
				return err
			}
			if err := checkFolder(c.String("out"), "out"); err != nil {
				return err
			}
			st, err := store.ReadStatus(c.Context, c.String("out"))
			if err != nil {
				return err
			}
			if c.Bool("repeated") {
				if err := st.ReadRepeated(c.Context, c.String("out")); err != nil {
					return err
				}
			}
			return show(c, st, func(w io.Writer) { io.WriteString(w, statusReport(st, time.Now())) })
		},
	}
}
