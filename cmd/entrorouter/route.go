// The command route: decides about problems from a file or standard input by a fitted router.

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/routing"
)

func routeCommand() *cli.Command {
	return &cli.Command{
		Name:      "route",
		Usage:     "say which expert should answer each problem, by a router of an experiment",
		ArgsUsage: "SPEC [FILE]",
		Description: "FILE holds one JSON object per line, {\"id\": ..., \"problem\": ...}, or is the queries.jsonl of logs. Without FILE, or if it is -,\n" +
			"standard input is read. A row that knows benchmarks and no texts also needs the \"benchmark\" of each problem.\n" +
			"Prints one JSON line per problem: the expert by its id and by the name of its model, the probabilities, and the expected\n" +
			"dollars. A language model's lines also have the tokens that it read and wrote, and the milliseconds of the whole call divided\n" +
			"by the problems; means go to standard error.\n\n" +
			"With --server an exported model is asked instead of the stored one, one problem after another. Tokens are then the server's\n" +
			"count; if the model writes before it chooses, they are those of the problem, of what it wrote, and of the letter.\n\n" +
			"A row with a policy behind a server plays each problem out, and prints its answer and what its calls cost. With --dir it\n" +
			"leaves trajectories.jsonl there, for a trainer. So that trajectories are graded and have a reward, give each problem its \"gold\"\n" +
			"(a text or a list) and, for multiple choice, its \"options\". --runs makes groups.",
		Flags: append(runFlags(),
			&cli.StringFlag{Name: "row", Value: methods.ReferenceRow, Usage: "id of the row whose router decides"},
			&cli.Float64Flag{Name: "budget", DefaultText: "where the row stands", Usage: "set the row's knob to spend `PERCENT` of the dearest expert's dollars on the training problems"},
			&cli.IntFlag{Name: "runs", Value: 1, Usage: "decide on each problem this many times"},
			&cli.StringFlag{Name: "server", Usage: "ask the exported model behind the OpenAI-compatible server at `URL`, which ends in /v1"},
			&cli.StringFlag{Name: "model", Usage: "`NAME` by which that server knows it", DefaultText: "the only one that it serves"},
			&cli.StringFlag{Name: "dir", Usage: "folder for what the router leaves: checkpoint, curves, trajectories"}),
		Action: func(c *cli.Context) error {
			if c.NArg() < 1 || c.NArg() > 2 {
				return usageError{fmt.Errorf("route takes SPEC and at most one FILE, got %d arguments", c.NArg())}
			}
			r, err := loadSpec(c, c.Args().First())
			if err != nil {
				return err
			}
			in, name := c.App.Reader, "standard input"
			if path := c.Args().Get(1); path != "" && path != "-" {
				f, err := os.Open(path)
				if err != nil {
					return usageError{err}
				}
				defer f.Close()
				in, name = f, path
			}
			problems, err := readProblems(in, name)
			if err != nil {
				return usageError{err}
			}
			if c.Int("runs") < 1 {
				return usageError{fmt.Errorf("--runs %d: want at least 1", c.Int("runs"))}
			}
			var queries []routing.Query
			for _, p := range problems {
				for run := range c.Int("runs") {
					queries = append(queries, routing.Query{Problem: p, Run: run})
				}
			}
			server := protocol.Server{URL: c.String("server"), Model: c.String("model")}
			switch {
			case server.URL == "" && (c.IsSet("server") || c.IsSet("model")):
				return usageError{errors.New("--model names a model of a server: say with --server which one")}
			case server.URL != "" && (c.Bool("offline") || c.String("dir") != "" || c.IsSet("budget")):
				return usageError{errors.New("--server asks a server and leaves nothing: leave --offline, --dir and --budget out")}
			case c.IsSet("budget") && !(c.Float64("budget") > 0 && c.Float64("budget") <= 100):
				return usageError{fmt.Errorf("--budget %v: want percent of what the dearest expert costs, above 0 and at most 100", c.Float64("budget"))}
			}
			by := protocol.By{Row: c.String("row"), Budget: c.Float64("budget"), Dir: c.String("dir")}
			if by.Dir != "" {
				if err := os.MkdirAll(by.Dir, 0o777); err != nil {
					return usageError{err}
				}
			}
			makeRoom(r) // the row may be fitted now
			collectOften()
			var routed []protocol.Routed
			if server.URL != "" {
				routed, err = protocol.RouteOnServer(c.Context, r, options(c), by.Row, server, queries)
			} else {
				routed, err = protocol.Route(c.Context, r, options(c), by, queries)
			}
			if err != nil {
				return err
			}
			var tokens int64
			for _, line := range routed {
				tokens += line.Tokens
			}
			if tokens > 0 {
				fmt.Fprintf(c.App.ErrWriter, "entrorouter: %s, %.1f tokens and %s ms each\n", counted(len(routed), "1 decision", "%d decisions"), float64(tokens)/float64(len(routed)), report.Significant(routed[0].MS))
			}
			w := bufio.NewWriter(c.App.Writer)
			enc := json.NewEncoder(w)
			for _, line := range routed {
				if err := enc.Encode(line); err != nil {
					return err
				}
			}
			return w.Flush()
		},
	}
}

// readProblems reads one problem a line; a problem without an id is named by its line.
func readProblems(in io.Reader, name string) ([]routing.Problem, error) {
	all := bufio.NewScanner(in)
	all.Buffer(make([]byte, 64<<10), 16<<20)
	var out []routing.Problem
	lineOf := map[string]int{}
	for n := 1; all.Scan(); n++ {
		text := bytes.TrimSpace(bytes.TrimPrefix(all.Bytes(), []byte("\ufeff")))
		if len(text) == 0 {
			continue
		}
		if !utf8.Valid(text) {
			return nil, fmt.Errorf("%s:%d: not UTF-8; convert the file", name, n)
		}
		var row struct {
			ID        string          `json:"id"`
			QueryID   string          `json:"query_id"` // in the questions of logs
			Benchmark string          `json:"benchmark"`
			Problem   string          `json:"problem"`
			Gold      json.RawMessage `json:"gold"`
			Options   []string        `json:"options"`
		}
		if err := json.Unmarshal(text, &row); err != nil {
			return nil, fmt.Errorf("%s:%d: no problem, a JSON object with the texts id and problem, and options a list of texts: %w", name, n, lines.Worded(err))
		}
		if strings.TrimSpace(row.Problem) == "" {
			return nil, fmt.Errorf("%s:%d: problem is missing or empty", name, n)
		}
		id := cmp.Or(row.ID, row.QueryID, fmt.Sprintf("line-%d", n))
		if first, twice := lineOf[id]; twice {
			return nil, fmt.Errorf("%s:%d: the id %q is that of line %d already; give every problem its own", name, n, id, first)
		}
		lineOf[id] = n
		p := routing.Problem{ID: id, Benchmark: row.Benchmark, Split: routing.Test, Text: row.Problem, Options: row.Options}
		var one string
		switch {
		case row.Gold == nil || json.Unmarshal(row.Gold, &p.Gold) == nil:
		case json.Unmarshal(row.Gold, &one) == nil:
			p.Gold = []string{one}
		default:
			return nil, fmt.Errorf("%s:%d: gold %s: want a text or a list of texts", name, n, row.Gold)
		}
		out = append(out, p)
	}
	if err := all.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, errors.New(name + " holds no problem")
	}
	return out, nil
}
