// The command import: logs of other programs become a recording, with the pool, the prices and the spec that run it.

package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/folder"
	"github.com/entrorouter/entrorouter/harness/imports"
	"github.com/entrorouter/entrorouter/harness/starting"
)

func importCommand() *cli.Command {
	var formats, keys strings.Builder
	for _, f := range imports.Formats() {
		fmt.Fprintf(&formats, "   %-15s %s\n", f.Name, f.Reads)
		if len(f.Keys) > 0 {
			fmt.Fprintf(&keys, "   %-15s %s\n", f.Name, strings.Join(f.Keys, ", "))
		}
	}
	return &cli.Command{
		Name:      "import",
		Usage:     "make a recorded pool of logs that you have",
		ArgsUsage: "FORMAT FILE...",
		Description: "FORMAT is one of\n\n" + formats.String() + "\nFiles may be compressed (.gz). Answers are graded again where the log has them and the golds. The folder of --out gets the\n" +
			"recording, audit.txt, which is printed as well (what of the log would spoil a comparison), and what init writes. Nothing\n" +
			"is written where a file cannot be read, or where too few questions were answered by all models that are compared.\n\n" +
			"--key names the column of each of these where the log calls it otherwise; in JSON a.b is b within a, and in csv {model} stands for\n" +
			"the names of the models where each has columns of its own (--key correct={model}_ok):\n\n" + keys.String() + "\n" +
			"The exit code is 0 if the folder was written, whatever the audit says, 1 or 2 if it was not.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "write the folder `DIR`, which must be empty or not there yet"},
			nameFlag(),
			&cli.StringFlag{Name: "problems", Usage: "JSON lines `FILE` with id, problem and answer of the questions: by id, or by the text that a prompt holds"},
			&cli.StringFlag{Name: "model", Usage: "`NAME` of the model, where the log does not say"},
			&cli.StringFlag{Name: "benchmark", Usage: "`NAME` of the benchmark, where the log does not say"},
			&cli.StringSliceFlag{Name: "key", Usage: "read the `KEY=COLUMN` of csv, jsonl and lm-eval; once for each that is called otherwise"},
			&cli.StringFlag{Name: "keys", Usage: "YAML `FILE` of such pairs"},
			priceFlag(),
			&cli.BoolFlag{Name: "keep-labels", Usage: "what the log says of an answer stands, even where the verifier says otherwise"},
			&cli.Float64Flag{Name: "correct-from", Value: 1, Usage: "scores from `X` on are right"},
			&cli.Float64Flag{Name: "chars-per-token", Usage: "count `N` characters as a token where the log has no tokens"},
			&cli.StringFlag{Name: "source", Usage: "where the log is from, a `TEXT` for the pool file; default: the names of the files"},
			&cli.StringFlag{Name: "licence", Value: "unknown", Usage: "`LICENCE` of the log, for the pool file"},
		},
		Action: importAction,
	}
}

func importAction(c *cli.Context) error {
	if c.NArg() < 2 {
		return usageError{errors.New("import wants a FORMAT and the files of a log; 'entrorouter import --help' has the formats")}
	}
	format, err := imports.Find(c.Args().First())
	if err != nil {
		return usageError{err}
	}
	dir := c.String("out")
	if dir == "" {
		return usageError{errors.New("say with --out which folder to write")}
	}
	name, err := starting.Name(c.String("name"), dir)
	if err != nil {
		return err
	}
	if err := folder.Vacant(dir); err != nil { // before a log is read that may be long
		return err
	}
	o, err := importOptions(c, format)
	if err != nil {
		return usageError{err}
	}
	var files []imports.File
	for _, path := range c.Args().Slice()[1:] {
		if slices.ContainsFunc(files, func(f imports.File) bool { return f.Name == path }) {
			return usageError{fmt.Errorf("%s is named twice", path)}
		}
		files = append(files, imports.Open(path))
	}
	if path := c.String("problems"); path != "" {
		if o.Problems, err = imports.ReadProblems(imports.Open(path)); err != nil {
			return usageError{err}
		}
	}
	log, err := format.Read(c.Context, files, o)
	if err != nil {
		if c.Context.Err() != nil {
			return c.Context.Err()
		}
		return usageError{err}
	}
	source := c.String("source")
	if source == "" {
		if source = filepath.Base(files[0].Name); len(files) > 1 {
			source += fmt.Sprintf(" and %d more", len(files)-1)
		}
	}
	given, _ := c.Generic("price").(prices)
	priced := log.Priced(given)
	findings := log.Audit(priced)
	n := log.Count(o.Keep)
	fmt.Fprintf(c.App.Writer, "read: questions %d, benchmarks %d, models %d, answers %d; graded by the verifier %d, as published %d, unknown and therefore wrong %d\n%s",
		len(log.Questions), n.Benchmarks, len(log.Models), n.Answers, n.Verified, n.Published, n.Unknown, imports.Report(findings, log.Left))
	if known := inferred(priced); len(known) > 0 { // a bill in cents shows here
		fmt.Fprintf(c.App.Writer, "prices inferred from what was billed, dollars per million tokens read and written: %s\n", strings.Join(known, " "))
	}
	b, err := log.Write(c.Context, dir, name, starting.Origin{Source: source, Licence: c.String("licence"), Prices: priced}, findings, time.Now())
	if err != nil {
		return err
	}
	return begun(c, dir, name, b)
}

// inferred lists the prices that nobody gave, as --price takes them.
func inferred(priced map[string]starting.Price) (all []string) {
	for _, model := range slices.Sorted(maps.Keys(priced)) {
		if p := priced[model]; p.Inferred {
			all = append(all, fmt.Sprintf("%s=%g,%g", model, p.In, p.Out))
		}
	}
	return all
}

// importOptions reads what flags say of a log.
func importOptions(c *cli.Context, format imports.Format) (o imports.Options, err error) {
	o = imports.Options{
		Model: c.String("model"), Benchmark: c.String("benchmark"), Keep: c.Bool("keep-labels"),
		CharsPerToken: c.Float64("chars-per-token"), CorrectFrom: c.Float64("correct-from"), Keys: map[string]string{},
	}
	if n := o.CharsPerToken; c.IsSet("chars-per-token") && (!(n >= 0.01) || n > 1000) {
		return o, fmt.Errorf("--chars-per-token %g; want 0.01 to 1000", n)
	}
	if !(o.CorrectFrom > 0) || math.IsInf(o.CorrectFrom, 0) {
		return o, fmt.Errorf("--correct-from %g; want a score above 0", o.CorrectFrom)
	}
	if path := c.String("keys"); path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return o, err
		}
		if err := yaml.Unmarshal(data, &o.Keys); err != nil {
			return o, fmt.Errorf("%s: want a line KEY: COLUMN for each key, and nothing else", path)
		}
	}
	for _, pair := range c.StringSlice("key") {
		key, column, ok := strings.Cut(pair, "=")
		if !ok || column == "" {
			return o, fmt.Errorf("--key %q; want KEY=COLUMN", pair)
		}
		o.Keys[key] = column
	}
	return o, format.CheckKeys(o.Keys)
}
