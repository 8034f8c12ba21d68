// The command verify on a file: lines are graded on all cores and leave in their order.

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// verifyFile grades the rows of a file.
func verifyFile(c *cli.Context, policy verify.Policy) error {
	in, name, size := c.App.Reader, "standard input", int64(-1)
	if path := c.Args().First(); path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if info.IsDir() {
			return fmt.Errorf("%s is a folder; name a file of JSON lines", path)
		}
		if info.Mode().IsRegular() && !strings.HasSuffix(path, ".gz") {
			size = info.Size()
		}
		if there, err := os.Stat(c.String("out")); err == nil && os.SameFile(info, there) {
			return fmt.Errorf("--out %s is the file of answers itself; choose another", c.String("out"))
		}
		in, name = f, path
	}
	var other map[string]verify.Outcome
	if c.IsSet("compare") {
		var err error
		if other, err = otherVerdicts(c.String("compare")); err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
	}
	quiet := c.Bool("summary") && !c.IsSet("out")
	g := grading{other: other, name: name, policy: policy, jobs: c.Int("jobs"), quiet: quiet, stderr: c.App.ErrWriter}
	if isTerminal(g.stderr) && (quiet || c.IsSet("out") || !isTerminal(c.App.Writer)) {
		g.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(g.stderr), progressbar.OptionSetDescription("verify"), progressbar.OptionSetWidth(24),
			progressbar.OptionShowBytes(true), progressbar.OptionSetPredictTime(size > 0),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		g.bar.RenderBlank()
	}
	// The heap is a few megabytes, so that collecting it less often costs few more and saves a sixth of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	err := writeOut(c, func(w io.Writer) error { return g.run(c.Context, in, w) })
	if g.bar != nil {
		g.bar.Finish()
	}
	g.others = len(other)
	if err != nil {
		return err
	}
	report := c.App.Writer
	if !c.IsSet("out") && !quiet {
		report = c.App.ErrWriter
	}
	if c.Bool("json") {
		err = jsonLines(report).Encode(&g.tally)
	} else {
		err = g.report(report)
	}
	if err != nil {
		return err
	}
	if g.bad > 0 {
		first := ""
		if g.bad > maxFaults {
			first = fmt.Sprintf(", of which the first %d are named", maxFaults)
		}
		return fmt.Errorf("%d bad of %d rows in %s%s; the others are graded", g.bad, g.bad+g.answers(), name, first)
	}
	return nil
}

// grading grades rows with several threads and writes the verdicts in the order of the rows. It holds a few chunks of
// rows a thread, however long the file is, and a few bytes of the id of every row.
type grading struct {
	tally
	name   string // of the input, for messages
	policy verify.Policy
	jobs   int
	quiet  bool // no verdicts
	stderr io.Writer
	named  int                      // bad rows so far
	bar    *progressbar.ProgressBar // nil: none

	other map[string]verify.Outcome // of another grader, by row; nil: nothing is compared

	seed maphash.Seed
	ids  map[uint64]int // hash of the id of a row -> its line
}

func (g *grading) run(ctx context.Context, in io.Reader, out io.Writer) error {
	g.reasons, g.seed, g.ids = map[string]int{}, maphash.MakeSeed(), map[uint64]int{}
	ctx, cancel := context.WithCancel(ctx)
	order := make(chan *chunk, 2*g.jobs) // what limits the memory
	work := make(chan *chunk, 2*g.jobs)
	read := make(chan error, 1)
	// A read from a terminal or pipe cannot be called off, so nobody waits for this one after an interrupt.
	go func() {
		defer crash.Exit()
		rows, err := rowsIn(in)
		if err != nil {
			read <- err
			close(order)
			return
		}
		read <- split(rows, func(c *chunk) error {
			for _, to := range []chan *chunk{order, work} {
				select {
				case to <- c:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
		close(order)
	}()
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	for range g.jobs {
		workers.Go(func() {
			defer crash.Exit()
			for {
				select {
				case c := <-work:
					g.grade(c)
					close(c.done)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	w := bufio.NewWriterSize(out, 64<<10)
	for {
		var c *chunk
		var more bool
		select {
		case c, more = <-order:
		default: // whoever waits for the verdicts of what was sent so far gets them
			if err := w.Flush(); err != nil {
				return err
			}
			select {
			case c, more = <-order:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if !more {
			if err := <-read; err != nil {
				return fmt.Errorf("%s: %w", g.name, err)
			}
			return w.Flush()
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := g.take(c, w); err != nil {
			return err
		}
	}
}

// grade fills in what becomes of a chunk's rows.
func (g *grading) grade(c *chunk) {
	c.tally, c.faults = tally{}, nil
	c.graded.Reset()
	c.ids = make([]string, len(c.rows))
	enc := jsonLines(&c.graded)
	for i, r := range c.rows {
		err := fmt.Errorf("longer than %d MiB", maxRow>>20)
		if r.first > 0 {
			err = fmt.Errorf("the id is that of line %d already; give every row its own", r.first)
		} else if r.text != nil {
			var task verify.Task
			if task, err = verify.ParseTask(r.text); err == nil {
				c.ids[i] = task.ID
				v := task.Grade(g.policy)
				c.add(v.Verdict)
				switch {
				case g.other != nil:
					g.compare(c, v)
				case !g.quiet:
					err = enc.Encode(v)
				}
			}
		}
		if err != nil {
			c.faults = append(c.faults, fmt.Sprintf("%s:%d: %v", g.name, r.line, err))
		}
	}
	c.bad = len(c.faults)
}

// repeat marks the rows of a chunk whose id an earlier row has, and says whether there are any. Chunks come in the order of
// the rows.
func (g *grading) repeat(c *chunk) (found bool) {
	for i, id := range c.ids {
		if id == "" {
			continue
		}
		hash := maphash.String(g.seed, id)
		if first, twice := g.ids[hash]; twice {
			c.rows[i].first, found = first, true
		} else {
			g.ids[hash] = c.rows[i].line
		}
	}
	return found
}

// compare counts whether another grader agrees about a row, and writes the row down if it does not.
func (g *grading) compare(c *chunk, v verify.Graded) {
	theirs, ok := g.other[v.ID]
	if !ok {
		c.alone++
		return
	}
	c.pairs[v.Outcome][theirs]++
	if theirs == v.Outcome || g.quiet {
		return
	}
	fmt.Fprintf(&c.graded, "%s: the other grader says %s\n", harmless(v.ID), theirs)
	for line := range strings.Lines(harmless(v.Explain())) {
		c.graded.WriteString("  " + line)
	}
	c.graded.WriteByte('\n')
}

// take counts and writes a graded chunk.
func (g *grading) take(c *chunk, w io.Writer) error {
	if g.repeat(c) {
		g.grade(c)
	}
	g.merge(c.tally)
	if g.bar != nil {
		if len(c.faults) > 0 {
			g.bar.Clear()
		}
		g.bar.Add(c.bytes)
	}
	for _, fault := range c.faults {
		if g.named++; g.named <= maxFaults {
			complain(g.stderr, fault)
		}
	}
	_, err := w.Write(c.graded.Bytes())
	return err
}

// chunk is a run of consecutive rows and what becomes of them.
type chunk struct {
	rows  []row
	ids   []string // of the rows; empty: none
	bytes int

	tally
	graded bytes.Buffer
	faults []string
	done   chan struct{}
}

type row struct {
	line  int
	text  []byte // nil: longer than maxRow
	first int    // line of an earlier row with this one's id; 0: none
}

// split cuts the input into chunks of rows and sends them. A chunk ends when it is large, or when no more input waits.
func split(r *bufio.Reader, send func(*chunk) error) error {
	c := &chunk{done: make(chan struct{})}
	for line := 1; ; line++ {
		text, size, err := readRow(r)
		if err != nil && err != io.EOF {
			return err
		}
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		c.bytes += size
		if size > maxRow || len(bytes.TrimSpace(text)) > 0 {
			c.rows = append(c.rows, row{line: line, text: text})
		}
		if err == io.EOF || c.bytes >= maxChunk || r.Buffered() == 0 {
			if err := send(c); err != nil {
				return err
			}
			c = &chunk{done: make(chan struct{})}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// rowsIn is the text of a file, unpacked where gzip packed it.
func rowsIn(file io.Reader) (*bufio.Reader, error) {
	r := bufio.NewReaderSize(file, 64<<10)
	head, err := r.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch string(head) {
	case "\x1f\x8b":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		return bufio.NewReaderSize(z, 64<<10), nil
	case "\xff\xfe", "\xfe\xff":
		return nil, errors.New("it is UTF-16; convert it to UTF-8")
	}
	return r, nil
}

// readRow reads a line, however long: beyond maxRow it is counted and not kept.
func readRow(r *bufio.Reader) (text []byte, size int, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if size += len(part); size <= maxRow {
			text = append(text, part...)
		} else {
			text = nil
		}
		if err != bufio.ErrBufferFull {
			return text, size, err
		}
	}
}

// otherVerdicts reads the verdicts of another grader by the ids of their rows.
func otherVerdicts(path string) (map[string]verify.Outcome, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	verdicts := map[string]verify.Outcome{}
	r, err := rowsIn(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for line := 1; ; line++ {
		text, _, err := readRow(r)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			if line == 1 {
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			var row struct {
				ID      string          `json:"id"`
				Verdict json.RawMessage `json:"verdict"`
			}
			if err := json.Unmarshal(text, &row); err != nil {
				return nil, fmt.Errorf("%s:%d: not a row with \"id\" and \"verdict\": %w", path, line, lines.Worded(err))
			}
			var o verify.Outcome
			switch string(row.Verdict) {
			case "true":
				o = verify.OutcomeEqual
			case "false":
				o = verify.OutcomeDifferent
			default:
				if err := json.Unmarshal(row.Verdict, &o); err != nil {
					return nil, fmt.Errorf("%s:%d: verdict %s; want equal, different, unknown, true or false", path, line, row.Verdict)
				}
			}
			if _, twice := verdicts[row.ID]; twice || row.ID == "" {
				return nil, fmt.Errorf("%s:%d: id %q is empty or stands twice; every row needs an id of its own", path, line, row.ID)
			}
			verdicts[row.ID] = o
		}
		if err == io.EOF {
			return verdicts, nil
		}
	}
}

// jsonLines encodes one value a line and leaves < and & as they are.
func jsonLines(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

const (
	maxJobs   = 1024      // more threads than a machine runs at once
	maxRow    = 64 << 20  // bytes; a response of ten million characters fits in any escaping
	maxChunk  = 256 << 10 // bytes of rows that are graded together
	maxFaults = 20        // bad rows that are named: more of them are the same mistake
)

// writeOut writes verdicts to standard output or to --out. A regular file appears under its name when it is whole, packed if that
// ends in .gz; a device or a pipe is written to as it is.
func writeOut(c *cli.Context, write func(io.Writer) error) error {
	if !c.IsSet("out") {
		return write(c.App.Writer)
	}
	path := c.String("out")
	info, err := os.Stat(path)
	switch {
	case path == "":
		return errors.New("--out is empty; name a file")
	case err == nil && info.IsDir():
		return fmt.Errorf("--out %s is a folder; name a file", path)
	case (err != nil || info.Mode().IsRegular()) && strings.HasSuffix(path, ".gz"):
		return store.WriteTo(path, func(w io.Writer) error {
			z := gzip.NewWriter(w)
			return errors.Join(write(z), z.Close())
		})
	case err != nil || info.Mode().IsRegular():
		return store.WriteTo(path, write)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
