// The command batch: what a run would ask, in files for vllm run-batch and hosted batch APIs, and what they brought.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/protocol"
)

func batchCommand() *cli.Command {
	return &cli.Command{
		Name:      "batch",
		Usage:     "let a batch service ask the experts: write the missing requests as files, and read its results",
		ArgsUsage: "export SPEC | import SPEC FILE...",
		Description: "For pools of kind http, when a run outgrows one machine. The files are those of OpenAI's batch API, which vllm run-batch\n" +
			"and hosted services read and write.\n\n" +
			"   batch export SPEC --dir DIR         writes what run would ask for as DIR/EXPERT-0001.jsonl and so on\n" +
			"   batch import SPEC FILE...           keeps what is new in files of results, as if run had asked; doing so twice is no harm\n\n" +
			"If a line is not a result of this spec, that is an error, and nothing is kept. Afterwards run goes on with what\n" +
			"was kept and asks for what is still missing. Rows that talk with models themselves ask during the run.",
		Flags: append(storeFlags(), verboseFlag(),
			&cli.StringFlag{Name: "dir", Usage: "write the folder `DIR`, which must be empty or not there yet"},
			&cli.IntFlag{Name: "shard", Value: 2000, Usage: "write at most `N` requests into a file: vllm run-batch may keep one whole file in memory"}),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			switch {
			case len(args) == 2 && args[0] == "export":
				return exportBatch(c, args[1])
			case len(args) > 2 && args[0] == "import":
				return importBatch(c, args[1], args[2:])
			case len(args) == 2 && args[0] == "import":
				return usageError{errors.New("batch import takes a SPEC and the files of results")}
			}
			return usageError{errors.New("batch takes export and a SPEC, or import, a SPEC and the files of results")}
		},
	}
}

func exportBatch(c *cli.Context, name string) error {
	dir := c.String("dir")
	switch {
	case dir == "":
		return usageError{errors.New("say with --dir which folder to write")}
	case c.Int("shard") < 1:
		return usageError{fmt.Errorf("--shard %d: a file holds one request at least", c.Int("shard"))}
	}
	if err := checkFolder(dir, "dir"); err != nil {
		return err
	}
	r, err := loadSpec(c, name)
	if err != nil {
		return err
	}
	done, err := protocol.Batch{Spec: r, Options: options(c)}.Export(c.Context, dir, c.Int("shard"))
	if err != nil {
		return err
	}
	var all explain.Asked
	shards := 0
	for _, x := range done {
		asked := explain.Asked{Rollouts: x.Requests, Tokens: x.Tokens, USD: x.USD, Bound: x.Bound}
		fmt.Fprintf(c.App.Writer, "%s: requests %s, shards %d\n", x.Expert, askedText(asked), x.Shards)
		all = all.Add(asked)
		shards += x.Shards
	}
	if done == nil {
		fmt.Fprintf(c.App.Writer, "%s: nothing is to be asked for, and nothing was written\n", r.Experiment.Name)
		return nil
	}
	fmt.Fprintf(c.App.Writer, "%s: requests %s, shards %d\n", dir, askedText(all), shards)
	return nil
}

func importBatch(c *cli.Context, name string, files []string) error {
	for _, flag := range []string{"dir", "shard"} {
		if c.IsSet(flag) {
			return usageError{fmt.Errorf("--%s is of batch export", flag)}
		}
	}
	var empty []string
	for _, file := range files {
		switch nothing, err := blank(file); {
		case err != nil:
			return usageError{err}
		case nothing:
			empty = append(empty, file)
		}
	}
	if len(empty) == len(files) {
		return usageError{fmt.Errorf("there is nothing in %s; name files of results", some(empty, namesAtMost))}
	}
	r, err := loadSpec(c, name)
	if err != nil {
		return err
	}
	for _, file := range empty {
		fmt.Fprintf(c.App.Writer, "%s: there is nothing in it\n", file)
	}
	n, err := protocol.Batch{Spec: r, Options: options(c)}.Import(c.Context, files)
	if n != (asking.Imported{}) {
		fmt.Fprintf(c.App.Writer, "%s: answers %d, failures %d, known before %d\n", r.Experiment.Name, n.Answered, n.Failed, n.Known)
	}
	return err
}

// blank says whether there is nothing in a file of results but white space. The error says what is no file.
func blank(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, fmt.Errorf("%s: %w; name files of results", name, errors.Unwrap(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return false, fmt.Errorf("%s is a folder; name files of results, as in %s", name, filepath.Join(name, "*.jsonl"))
	}
	var head [4096]byte
	n, err := io.ReadFull(f, head[:])
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	return ended && len(bytes.TrimSpace(head[:n])) == 0, nil
}
