// How an experiment is carried out, as flags say.

package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/machine"
	"github.com/entrorouter/entrorouter/harness/memory"
	"github.com/entrorouter/entrorouter/harness/preflight"
)

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
	if os.Getenv(preflight.Env) == "off" {
		room = machine.Room{}
	}
	log := slog.New(slog.NewTextHandler(show, &slog.HandlerOptions{Level: level}))
	return harness.Options{
		Room: room, Budget: budget(c), Grace: c.Duration("grace"), Cut: cut,
		Out: c.String("out"), Data: c.String("data"), Offline: c.Bool("offline"), Key: os.Getenv("ENTROROUTER_API_KEY"),
		Plugin:   c.String("plugin"),
		Every:    max(c.Int("save-every"), 0),
		Memory:   new(memory.Lasting),
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

// cutKey is where the commands find when what is in flight is to be given up.
const cutKey = "cut"
