// The command fetch: benchmarks and training sets from where they are published.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/fetch"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func fetchCommand() *cli.Command {
	return &cli.Command{
		Name:      "fetch",
		Usage:     "get benchmarks, training sets and recorded answers from where they are published",
		ArgsUsage: "SET|SPEC...",
		Description: "A SET is an entry of benchmarks.yaml with a home, or one of recordings.yaml. For a SPEC, every set that it reads is fetched.\n" +
			"A file that is already in the data folder is used and never overwritten. It must have the SHA-256 of benchmarks.yaml, or the\n" +
			"one that fetched.yaml in that folder records. What is missing is downloaded, checked, converted to JSON lines, and only then put\n" +
			"in its place. A download that was cut short is resumed. Where nobody has pinned a revision or a SHA-256, the first fetch\n" +
			"records it, and later ones want the same.\n\n" +
			"Files behind a login need HF_TOKEN, a token of Hugging Face, which is sent to huggingface.co alone.\n\n" +
			"The exit code is 0 if every set is there as it must be, 1 if one is missing or refused, 2 for an unknown one.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "data", Usage: "data folder", EnvVars: []string{"ENTROROUTER_DATA"}},
			&cli.BoolFlag{Name: "list", Usage: "print what there is: rows, licence, what is pinned, whether it is in the data folder"},
			&cli.StringFlag{Name: "specs", Usage: "folder `DIR` of your specs, whose benchmarks.yaml replaces the built-in one"},
			&cli.StringFlag{Name: "home", Usage: "`URL` of a mirror of Hugging Face and of raw GitHub files, with their paths; HF_TOKEN is not sent there"},
		},
		Action: fetchAction,
	}
}

func fetchAction(c *cli.Context) error {
	var fsys fs.FS = experiments.FS
	if dir := c.String("specs"); dir != "" {
		var err error
		if fsys, err = spec.Layer(dir, fsys); err != nil {
			return usageError{err}
		}
	}
	f, err := fetcher(c, fsys)
	if err != nil {
		return err
	}
	switch {
	case c.Bool("list"):
		return listSets(c.App.Writer, f)
	case !c.Args().Present():
		return usageError{errors.New("fetch wants the names of sets or specs; 'entrorouter fetch --list' prints the sets")}
	case f.Dir == "":
		return usageError{errors.New("say with --data DIR in which folder the sets are or are to be")}
	}
	var all []fetched
	for _, arg := range c.Args().Slice() {
		of, err := setsOf(c, fsys, f, arg)
		if err != nil {
			return err
		}
		for _, w := range of {
			if !slices.ContainsFunc(all, func(o fetched) bool { return o.path() == w.path() }) {
				all = append(all, w)
			}
		}
	}
	var failed error
	for _, w := range all {
		err := w.fetch(c.Context, c.App.Writer, c.App.ErrWriter)
		if c.Context.Err() != nil {
			return c.Context.Err()
		}
		if err != nil && failed != nil {
			complain(c.App.ErrWriter, failed)
		}
		if err != nil {
			failed = err
		}
	}
	return failed
}

// fetcher gets the sets of a folder of specs.
func fetcher(c *cli.Context, fsys fs.FS) (*fetch.Fetcher, error) {
	all, err := spec.LoadBenchmarks(fsys)
	if err != nil {
		return nil, err
	}
	recordings, err := spec.LoadRecordings(fsys)
	if err != nil {
		return nil, err
	}
	f := &fetch.Fetcher{
		Dir: c.String("data"), Benchmarks: all, Recordings: recordings, Archives: fetch.Archives, HuggingFace: fetch.HuggingFace, GitHub: fetch.GitHub, Token: os.Getenv("HF_TOKEN"),
		Now: time.Now,
	}
	if home := strings.TrimSuffix(c.String("home"), "/"); home != "" {
		if !strings.HasPrefix(home, "http://") && !strings.HasPrefix(home, "https://") {
			return nil, usageError{fmt.Errorf("--home wants an address such as https://mirror.example, got %q", home)}
		}
		f.HuggingFace, f.GitHub, f.Archives, f.Token = home, home, home, ""
	}
	return f, nil
}

// fetched is a set to fetch and what gets it.
type fetched struct {
	*fetch.Fetcher
	set string
}

// path is that of its file, by which a set of two folders of specs is one.
func (w fetched) path() string {
	if _, recorded := w.Recordings[w.set]; recorded {
		return w.set
	}
	return w.Benchmarks[w.set].File.Path
}

// setsOf are the sets that an argument names: itself, or those that the spec of that name reads, which specs has or a path leads to.
func setsOf(c *cli.Context, specs fs.FS, f *fetch.Fetcher, arg string) (all []fetched, err error) {
	_, recorded := f.Recordings[arg]
	if b, ok := f.Benchmarks[arg]; recorded || ok && b.File != nil && b.File.Home != nil {
		return []fetched{{f, arg}}, nil
	}
	fsys, name, err := spec.Find(arg, specs)
	if err != nil {
		return nil, usageError{err}
	}
	if !strings.HasSuffix(name, ".yaml") && !slices.Contains(spec.Names(specs), name) { // no path, and no name
		return nil, usageError{fmt.Errorf("no set %q can be fetched, and no spec has that name%s", arg, spec.Options(arg, slices.Concat(f.Sets(), slices.Sorted(maps.Keys(f.Recordings)))))}
	}
	r, err := loadFrom(c, fsys, name, arg, spec.Changes{})
	if err != nil {
		return nil, err
	}
	if f, err = fetcher(c, fsys); err != nil {
		return nil, err
	}
	for _, set := range r.Sets() {
		all = append(all, fetched{f, set})
	}
	if all == nil {
		fmt.Fprintf(c.App.Writer, "%s: reads no set that is published\n", arg)
	}
	return all, nil
}

// fetch fetches the set and says what came of it.
func (w fetched) fetch(ctx context.Context, out, errs io.Writer) (err error) {
	p, recorded := w.Recordings[w.set]
	got := make([]fetch.Result, 1)
	done := showBytes(w.Fetcher, errs)
	if recorded {
		got, err = w.FetchRecording(ctx, w.set)
	} else {
		got[0], err = w.Fetch(ctx, w.set)
	}
	done()
	if err != nil {
		return err
	}
	var from []string
	for _, o := range p.From {
		from = append(from, "github "+o.String())
	}
	licence := p.Licence
	if file := w.Benchmarks[w.set].File; !recorded {
		from, licence = []string{file.Source}, file.Licence
	}
	if p.Golds != "" {
		fmt.Fprintf(out, "%s: the right answers are those of %s\n", w.set, p.Golds)
	}
	for _, r := range got {
		fmt.Fprintf(out, "%s: %s, %s, in %s\n  %s; licence: %s; sha256 %s\n", w.set, counted(r.Rows, "1 row", "%d rows"), r.How, r.Path, strings.Join(from, ", "), licence, r.SHA256)
	}
	return nil
}

func listSets(w io.Writer, f *fetch.Fetcher) error {
	all, err := f.Status()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "set\ttitle\tfor\trows\tpinned\there\tlicence")
	for _, s := range all {
		here := "no"
		if s.Present {
			here = "yes"
		} else if f.Dir == "" {
			here = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", s.Set, s.Title, s.Split, s.Rows, s.Pinned, here, s.Licence)
	}
	return t.Flush()
}

// bytesShown is the progress of downloads on a terminal.
type bytesShown struct {
	out  io.Writer
	what string
	bar  *progressbar.ProgressBar
}

// showBytes shows the progress of a fetcher until done is called.
func showBytes(f *fetch.Fetcher, out io.Writer) (done func()) {
	p := &bytesShown{out: out}
	f.Progress = p.show
	return p.done
}

func (p *bytesShown) show(what string, n, total int64) {
	if p.bar == nil || p.what != what {
		p.done()
		total = cmp.Or(total, -1)
		p.what = what
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetVisibility(isTerminal(p.out)),
			progressbar.OptionSetDescription(filepath.Base(what)), progressbar.OptionSetWidth(24), progressbar.OptionShowBytes(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	p.bar.Set64(n)
}

func (p *bytesShown) done() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
