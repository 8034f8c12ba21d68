// The walk through one set: look, download, convert, check, put in its place, record.

package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// scratch is the folder of a data folder in which downloads lie until their set is whole.
const scratch = ".fetch"

// Fetch makes sure that the file of a set is in the data folder and what it must be. A file that is there is used and never
// written over.
func (f *Fetcher) Fetch(ctx context.Context, name string) (Result, error) {
	b, ok := f.Benchmarks[name]
	if !ok || b.File == nil || b.File.Home == nil {
		return Result{}, fmt.Errorf("%w %q; known: %s", ErrUnknown, name, strings.Join(f.Sets(), ", "))
	}
	result, err := f.fetch(ctx, name, b)
	if err != nil {
		return result, fmt.Errorf("%s: %w", name, err)
	}
	return result, nil
}

func (f *Fetcher) fetch(ctx context.Context, name string, b spec.Benchmark) (Result, error) {
	if info, err := os.Stat(f.Dir); err == nil && !info.IsDir() {
		return Result{}, fmt.Errorf("%s is no folder", f.Dir)
	}
	fetched, err := problems.ReadFetched(f.Dir)
	if err != nil {
		return Result{}, err
	}
	record, recorded := fetched[b.File.Path]
	want, by := b.File.SHA256, "benchmarks.yaml"
	if want == spec.Unpinned && recorded {
		want, by = record.SHA256, filepath.Join(f.Dir, problems.FetchedFile)
	}
	path, sum, err := lines.Sum(f.Dir, b.File.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Result{}, err
	case want != spec.Unpinned && sum != want:
		return Result{}, fmt.Errorf("%s has sha256 %s, but %s says %s; move it away to fetch it again", path, sum, by, want)
	default:
		result := Result{Set: name, Path: path, Rows: b.Size, SHA256: sum, How: Here}
		if want != spec.Unpinned {
			return result, nil
		}
		if err := f.readable(ctx, name, b, b.File.Path, sum); err != nil {
			return Result{}, err
		}
		result.How = Recorded
		return result, f.record(b.File.Path, problems.Record{Set: name, SHA256: sum, Rows: b.Size})
	}

	dir, leave, err := f.alone(name)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	made, err := f.make(ctx, name, b, dir, record.From)
	if err != nil {
		return Result{}, err
	}
	lines := filepath.Join(scratch, name, linesFile)
	if err := f.readable(ctx, name, b, filepath.ToSlash(lines), made.SHA256); err != nil {
		return Result{}, err
	}
	to := filepath.Join(f.Dir, filepath.FromSlash(b.File.Path))
	if want != spec.Unpinned && made.SHA256 != want {
		if b.File.SHA256 == spec.Unpinned {
			return Result{}, fmt.Errorf("what is published now makes lines with sha256 %s, but %s says %s; take the entry out of it to begin anew", made.SHA256, by, want)
		}
		other := strings.TrimSuffix(to, filepath.Ext(to)) + ".fetched" + filepath.Ext(to)
		if err := f.place(dir, other); err != nil {
			return Result{}, err
		}
		return Result{}, fmt.Errorf("the %d rows that are published make lines with sha256 %s, but %s says %s; they lie in %s: to use them give that path and that sha256 in a copy of benchmarks.yaml beside the spec", made.Rows, made.SHA256, by, want, other)
	}
	// What is recorded without a file is fetched again and must be the same; a file without its record would be taken as found.
	if err := f.record(b.File.Path, made); err != nil {
		return Result{}, err
	}
	return Result{Set: name, Path: to, Rows: made.Rows, SHA256: made.SHA256, How: Fetched}, f.place(dir, to)
}

// alone returns the folder in which a set is made, which is this process's alone until it leaves.
func (f *Fetcher) alone(name string) (dir string, leave func() error, err error) {
	dir = filepath.Join(f.Dir, scratch, name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", nil, err
	}
	lock := flock.New(filepath.Join(f.Dir, scratch, name+".lock"))
	mine, err := lock.TryLock()
	if err == nil && !mine {
		err = errors.New("another process is fetching it; wait until that has ended")
	}
	return dir, lock.Unlock, err
}

const linesFile = "lines.jsonl"

// make downloads the files of a set and writes its lines into a folder.
func (f *Fetcher) make(ctx context.Context, name string, b spec.Benchmark, dir string, came []problems.Came) (problems.Record, error) {
	home := b.File.Home
	c, err := newConverter(name, home)
	if err != nil {
		return problems.Record{}, err
	}
	sources, err := f.sources(ctx, home, came)
	if err != nil {
		return problems.Record{}, err
	}
	made := problems.Record{Set: name}
	left := int64(home.Most) << 20
	hash := sha256.New()
	err = store.WriteTo(filepath.Join(dir, linesFile), func(w io.Writer) error {
		out := io.MultiWriter(w, hash)
		counted := map[string]bool{}
		at := 0 // rows of the part
		for i, s := range sources {
			if i > 0 && s.part != sources[i-1].part {
				at = 0
			}
			if home.First && made.Rows == b.Size {
				break
			}
			path := keep(dir, s)
			sum, err := f.download(ctx, home, s, path, left)
			if err != nil {
				return err
			}
			if !counted[path] { // several parts may be of one file
				counted[path] = true
				info, err := os.Stat(path)
				if err != nil {
					return err
				}
				left -= info.Size()
				made.From = append(made.From, problems.Came{Repo: s.repo, Revision: s.revision, Path: s.path, SHA256: sum})
			}
			n, err := convert(ctx, c, path, s, &at, b.Size-made.Rows, out)
			if err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
			made.Rows += n
		}
		return nil
	})
	made.SHA256 = hex.EncodeToString(hash.Sum(nil))
	if err == nil && made.Rows != b.Size {
		err = fmt.Errorf("its home has %d rows, but benchmarks.yaml says %d", made.Rows, b.Size)
	}
	return made, err
}

// convert writes the lines of one file and returns how many there are; of a home that wants the first rows only, at most that
// many. at counts the rows of the part.
func convert(ctx context.Context, c *converter, path string, s source, at *int, most int, to io.Writer) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var line bytes.Buffer
	for r, err := range rows(f, c.home.Format, c.columns()) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return n, err
		}
		*at++
		first := max(s.part.From, 1)
		if *at < first || s.part.To > 0 && *at > s.part.To {
			continue
		}
		line.Reset()
		kept, err := c.line(&line, r, *at-first+1, s.part.Name)
		if err != nil {
			return n, err
		}
		if !kept {
			continue
		}
		if _, err := to.Write(line.Bytes()); err != nil {
			return n, err
		}
		if n++; c.home.First && n == most {
			break
		}
	}
	return n, nil
}

// readable checks that a file has the lines that package problems reads.
func (f *Fetcher) readable(ctx context.Context, name string, b spec.Benchmark, path, sum string) error {
	file := *b.File
	file.Path, file.SHA256 = path, sum
	b.File = &file
	_, err := problems.JSONL{Dir: f.Dir, Benchmarks: spec.Benchmarks{name: b}}.Load(ctx, name)
	return err
}

// record says what a file of the data folder is from now on.
func (f *Fetcher) record(path string, r problems.Record) error {
	all, err := problems.ReadFetched(f.Dir)
	if err != nil {
		return err
	}
	r.Date = f.Now().UTC().Format(time.DateOnly)
	if old, ok := all[path]; ok && old.SHA256 == r.SHA256 {
		r.Date = old.Date // of the first time
	}
	all[path] = r
	var text bytes.Buffer
	text.WriteString("# What files of this folder were when they first came here. 'entrorouter fetch' writes this and holds them to it.\n")
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(all); err != nil {
		return err
	}
	return store.WriteFile(filepath.Join(f.Dir, problems.FetchedFile), text.Bytes())
}

// place moves the lines of a set to their path and removes what they were made of.
func (f *Fetcher) place(dir, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(dir, linesFile), to); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
