// The command export: what other programs go on with, a trained language model as a Hugging Face folder or the answers of experts.

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/protocol"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write the trained language model of a row as a Hugging Face folder, or all answers as one file",
		ArgsUsage: "SPEC",
		Description: "   export SPEC --hf DIR            the language model of a row\n" +
			"   export SPEC --answers FILE      every stored answer of the experts, one per line (FILE.jsonl) or row (FILE.parquet)\n\n" +
			"With --hf, SPEC is an experiment that has been run and whose row has a policy of kind lm. Writes config.json, the merged weights,\n" +
			"the tokenizer with its chat template, and README.md, which says what the model is, how it was made and what was measured of it.\n" +
			"transformers loads the folder, and so does this program, as policy.model. Nothing is trained and nobody is asked.\n\n" +
			"With --answers, an answer has benchmark, problem, text_sha256, expert, split, run, seed, rollout (its number in rollouts.db), response,\n" +
			"reasoning, finish, tokens_in, tokens_out, usd, verdict, reason, extracted and verifier, and what it was asked with: source,\n" +
			"model, revision, prompt, system, temperature, top_p, top_k, min_p, max_tokens, stop, chat_template_kwargs,\n" +
			"reasoning_effort, leave_out. The run need not be finished.",
		Flags: append(slices.Concat(storeFlags(), trainingFlags()), pluginFlag(), verboseFlag(),
			&cli.StringFlag{Name: "answers", Usage: "write the stored answers into `FILE`, which ends in .jsonl or .parquet"},
			&cli.StringFlag{Name: "hf", Usage: "write the folder `DIR`, which must be empty or not there yet"},
			&cli.StringFlag{Name: "row", Value: methods.ReferenceRow, Usage: "id of the row"},
			&cli.Uint64Flag{Name: "seed", DefaultText: "the first of the experiment", Usage: "training seed of the model"},
			&cli.BoolFlag{Name: "adapter", Usage: "write the low-rank adapters alone, as PEFT reads them"},
			dtypeFlag()),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usageError{fmt.Errorf("export takes one SPEC, got %d arguments", c.NArg())}
			}
			if (c.String("hf") == "") == (c.String("answers") == "") {
				return usageError{errors.New("say with --hf which folder to write a model to, or with --answers which file to write answers to")}
			}
			if c.String("answers") != "" {
				return exportAnswers(c)
			}
			dtype, err := dtypeOf(c)
			if err != nil {
				return err
			}
			r, err := loadSpec(c, c.Args().First())
			if err != nil {
				return err
			}
			x := protocol.Export{Row: c.String("row"), Seed: c.Uint64("seed"), Dir: c.String("hf"), As: lm.Export{DType: dtype, Adapter: c.Bool("adapter")}}
			done, err := x.Write(c.Context, r, options(c))
			if err != nil {
				return err
			}
			fmt.Fprintf(c.App.Writer, "%s: row %s of %s, training seed %d, %s, as %s\n", x.Dir, x.Row, r.Experiment.Name, done.Seed, done.Fit, c.String("dtype"))
			return nil
		},
	}
}

func exportAnswers(c *cli.Context) error {
	for _, flag := range []string{"row", "seed", "adapter", "dtype"} {
		if c.IsSet(flag) {
			return usageError{fmt.Errorf("--%s is of a model: leave it out with --answers", flag)}
		}
	}
	r, err := loadSpec(c, c.Args().First())
	if err != nil {
		return err
	}
	n, err := protocol.WriteAnswers(c.Context, r, options(c), c.String("answers"))
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "%s: %s of %s\n", c.String("answers"), counted(n, "1 answer", "%d answers"), r.Experiment.Name)
	return nil
}
