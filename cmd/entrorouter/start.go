// The commands init and try: what an experiment on somebody's own models begins with.

package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/starting"
	"github.com/entrorouter/entrorouter/harness/store"
)

// servers are the values of --model, in order.
type servers []starting.Expert

func (s *servers) String() string { return "" }

// Set reads NAME=URL.
func (s *servers) Set(text string) error {
	name, url, ok := strings.Cut(text, "=")
	if !ok || name == "" || url == "" {
		return errors.New("want a model and where it is served, as in small=http://localhost:8001/v1")
	}
	*s = append(*s, starting.Expert{Model: name, URL: strings.TrimRight(url, "/")})
	return nil
}

func initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write pool, prices and spec for a folder of logs",
		ArgsUsage: "FOLDER",
		Description: "FOLDER has the questions in " + starting.Queries + " and the graded answers of models in " + starting.Outcomes + ", one JSON object per line:\n\n" +
			"   {\"query_id\": \"q1\", \"benchmark\": \"sums\", \"problem\": \"What is 4 times 6?\", \"gold\": \"24\", \"prompt_tokens\": 15}\n" +
			"   {\"query_id\": \"q1\", \"model\": \"small\", \"correct\": 1, \"output_tokens\": 228}\n\n" +
			"'go doc ./harness/recording.Table', in a clone of the code, has the keys that may be added. The command import makes both files\n" +
			"from other logs. Pool, prices and spec are written beside them, with every knob explained, and with names, checksums and sizes.\n" +
			"Prices that no --price gives are left to be filled in, in the file, or by calling init again with --price as long as nobody has\n" +
			"changed the file; run refuses the experiment until they are. Any other file that is there already is overwritten only with\n" +
			"--update, which is for logs that have grown.",
		Flags: []cli.Flag{priceFlag(), nameFlag(),
			&cli.BoolFlag{Name: "update", Usage: "write pool, prices and spec anew, over those of earlier logs, with the prices that these have"}},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usageError{fmt.Errorf("init takes one FOLDER, which has %s and %s; got %d arguments", starting.Queries, starting.Outcomes, c.NArg())}
			}
			folder := filepath.Clean(c.Args().First())
			name, err := starting.Name(c.String("name"), folder)
			if err != nil {
				return err
			}
			given, _ := c.Generic("price").(prices)
			from := starting.Origin{Source: "own logs", Licence: "own", Prices: given}
			over := func(b starting.Beginning) error {
				for _, f := range b.Files {
					if err := store.WriteFile(filepath.Join(folder, filepath.FromSlash(f.Name)), f.Data); err != nil {
						return err
					}
				}
				return begun(c, folder, name, b)
			}
			if c.Bool("update") {
				b, err := starting.Update(c.Context, folder, name, from, time.Now())
				if err != nil {
					return err
				}
				return over(b)
			}
			if len(given) > 0 {
				if b, there, err := starting.FillIn(c.Context, folder, name, from, time.Now()); err != nil {
					return err
				} else if there {
					return over(b)
				}
			}
			b, err := starting.Recorded(c.Context, folder, name, from, time.Now())
			if err != nil {
				return err
			}
			if err := starting.Write(folder, b.Files); err != nil {
				return err
			}
			return begun(c, folder, name, b)
		},
	}
}

func tryCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.GenericFlag{Name: "model", Value: &servers{}, Usage: "a model and its server, `NAME=URL`: the name that /v1/models lists and a base URL ending in /v1; repeat it for each model"},
		priceFlag(),
		&cli.StringFlag{Name: "questions", Usage: "`FILE` of lines {\"id\": \"1\", \"problem\": \"...\", \"answer\": \"42\"}"},
		&cli.StringFlag{Name: "into", Value: "try", Usage: "`FOLDER` that pool, prices, spec and questions are written to"},
		nameFlag(),
		&cli.IntFlag{Name: "answer-tokens", Value: 16384, Usage: "tokens of the longest answer"},
		&cli.IntFlag{Name: "runs", Value: 1, Usage: "answers of every model to every question"},
	}
	for _, f := range runFlags() {
		if f.Names()[0] != "data" { // the folder that is written
			flags = append(flags, f)
		}
	}
	return &cli.Command{
		Name:  "try",
		Usage: "ask models on servers, and say whether a router between them pays",
		Description: "Every --model is a server that speaks OpenAI's protocol. Routers learn from half of the questions and are scored on the other\n" +
			"half. Pool, prices, spec and questions are written to a folder, with every knob explained, and are then carried out as by run.\n" +
			"The last line says whether a router pays, with intervals. Called again it goes on where it stopped, and asks for nothing twice.\n" +
			"Servers that want a key get the one in the environment variable ENTROROUTER_API_KEY.",
		Flags: flags,
		Action: func(c *cli.Context) error {
			models, _ := c.Generic("model").(*servers)
			given, _ := c.Generic("price").(prices)
			folder := filepath.Clean(c.String("into"))
			switch {
			case c.NArg() > 0:
				return usageError{fmt.Errorf("try takes flags alone, got %q; 'entrorouter try --help' has them", c.Args().First())}
			case c.String("questions") == "":
				return usageError{errors.New("name the file of questions with --questions FILE")}
			case c.Int("answer-tokens") < 1 || c.Int("answer-tokens") > cost.MaxTokens:
				return usageError{fmt.Errorf("--answer-tokens %d: want 1 to %d", c.Int("answer-tokens"), cost.MaxTokens)}
			case c.Int("runs") < 1 || c.Int("runs") > maxTrainings:
				return usageError{fmt.Errorf("--runs %d: want 1 to %d", c.Int("runs"), maxTrainings)}
			}
			name, err := starting.Name(c.String("name"), folder)
			if err != nil {
				return err
			}
			if err := cmp.Or(checkFolder(folder, "into"), checkFolder(c.String("out"), "out")); err != nil {
				return err
			}
			how := starting.Live{MaxTokens: c.Int("answer-tokens"), Runs: c.Int("runs")}
			files, err := starting.LiveFiles(c.Context, folder, name, c.String("questions"), *models, given, how, time.Now())
			if err != nil {
				return err
			}
			if err := starting.Write(folder, files); err != nil {
				return err
			}
			written(c, folder, files)
			r, err := loadSpec(c, filepath.Join(folder, name+".yaml"))
			if err != nil {
				return err
			}
			o := options(c)
			o.Data = folder
			began := time.Now()
			x, err := finish(c, r, o, "", "")
			if err != nil {
				return err
			}
			end := &runSummary{Seconds: time.Since(began).Seconds(), Experiments: []*carriedOut{x}, next: nextOf([]*spec.Resolved{r}, "")}
			if err := errors.Join(end.print(c, x), end.conclude(c)); err != nil {
				return err
			}
			return allHad(x.MayBeHad)
		},
	}
}
