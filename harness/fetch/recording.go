// The walk through one recorded set: look, download files of repositories or their archives, convert, check, put in its place, record.

package fetch

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/recording/publisher"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// FetchRecording makes sure that the files of a recorded set are in the data folder and what they must be. Files that are there
// are used and never written over.
func (f *Fetcher) FetchRecording(ctx context.Context, name string) (all []Result, err error) {
	p, ok := f.Recordings[name]
	if !ok {
		return nil, fmt.Errorf("%w %q; known: %s", ErrUnknown, name, strings.Join(slices.Sorted(maps.Keys(f.Recordings)), ", "))
	}
	if all, err = f.fetchRecording(ctx, name, p); err != nil {
		return all, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

func (f *Fetcher) fetchRecording(ctx context.Context, name string, p spec.Published) (all []Result, err error) {
	if info, err := os.Stat(f.Dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", f.Dir)
	}
	fetched, err := problems.ReadFetched(f.Dir)
	if err != nil {
		return nil, err
	}
	want := make([]string, len(p.Files))
	missing := 0
	for i, file := range p.Files {
		by := "recordings.yaml"
		if want[i] = file.SHA256; want[i] == spec.Unpinned {
			if record, ok := fetched[file.Path]; ok {
				want[i], by = record.SHA256, filepath.Join(f.Dir, problems.FetchedFile)
			}
		}
		at, sum, err := lines.Sum(f.Dir, file.Path, file.Models...)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			all = append(all, Result{Set: name, Path: filepath.Join(f.Dir, filepath.FromSlash(file.Path)), Rows: file.Rows, How: Fetched})
			missing++
			continue
		case err != nil:
			return nil, err
		case want[i] != spec.Unpinned && sum != want[i]:
			return nil, fmt.Errorf("%s has sha256 %s, but %s says %s; move it away to fetch it again", at, sum, by, want[i])
		}
		of := Result{Set: name, Path: at, Rows: file.Rows, SHA256: sum, How: Here}
		if want[i] == spec.Unpinned { // nobody knows better: from now on it is what is here
			of.How = Recorded
			if err := f.record(file.Path, problems.Record{Set: name, SHA256: sum, Rows: file.Rows}); err != nil {
				return nil, err
			}
		}
		all = append(all, of)
	}
	if missing == 0 {
		return all, nil
	}
	golds, err := f.golds(ctx, p.Golds)
	if err != nil {
		return nil, err
	}
	dir, leave, err := f.alone(name)
	if err != nil {
		return nil, err
	}
	defer leave()
	came, files, err := f.publications(ctx, p, dir)
	if err != nil {
		return nil, err
	}
	made, err := publisher.Converters[p.Format](followed(files, golds))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from(p), err)
	}
	for i, file := range p.Files { // all are checked before one is written
		if all[i].How != Fetched {
			continue
		}
		text, ok := made[strings.TrimSuffix(path.Base(file.Path), ".jsonl")]
		if !ok {
			return nil, fmt.Errorf("%s: format %s makes no file of this name; it makes %s", file.Path, p.Format, strings.Join(slices.Sorted(maps.Keys(made)), ", "))
		}
		rows, sum := 0, sha256.New()
		for line := range bytes.Lines(text) {
			if lines.Of(line, file.Models) {
				rows++
				sum.Write(line)
			}
		}
		all[i].SHA256 = hex.EncodeToString(sum.Sum(nil))
		if rows == file.Rows && (want[i] == spec.Unpinned || all[i].SHA256 == want[i]) {
			continue
		}
		other := filepath.Join(dir, path.Base(file.Path))
		if err := store.WriteFile(other, text); err != nil {
			return nil, err
		}
		must := fmt.Sprint(file.Rows)
		if want[i] != spec.Unpinned {
			must += " with " + want[i]
		}
		return nil, fmt.Errorf("%s: what is published makes %d lines with sha256 %s, but there must be %s; nothing is in its place, and they lie in %s beside what they were made of: "+
			"to use them move them away and give their path and sha256 in a copy of the pool beside your spec, and please report this line, so that we find out which is wrong", file.Path, rows, all[i].SHA256, must, other)
	}
	for i, file := range p.Files {
		if all[i].How != Fetched {
			continue
		}
		record := problems.Record{Set: name, SHA256: all[i].SHA256, Rows: file.Rows, From: came}
		if err := f.record(file.Path, record); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(all[i].Path), 0o777); err != nil {
			return nil, err
		}
		if err := store.WriteFile(all[i].Path, made[strings.TrimSuffix(path.Base(file.Path), ".jsonl")]); err != nil {
			return nil, err
		}
	}
	return all, os.RemoveAll(dir)
}

// golds is the file of a problem set, which is fetched where it is not there; no file for no set.
func (f *Fetcher) golds(ctx context.Context, set string) (iter.Seq2[publisher.File, error], error) {
	if set == "" {
		return followed(), nil
	}
	got, err := f.Fetch(ctx, set)
	if err != nil {
		return nil, fmt.Errorf("golds: %w", err)
	}
	var text bytes.Buffer
	_, err = lines.Read(ctx, f.Dir, spec.File{Path: f.Benchmarks[set].File.Path, SHA256: got.SHA256}, func(line []byte) error {
		text.Write(append(line, '\n'))
		return nil
	})
	return only(publisher.File{Path: publisher.Golds, Read: func() ([]byte, error) { return text.Bytes(), nil }}), err
}

// publications downloads what a set is made of to a folder and says what came. Its files are read from there.
func (f *Fetcher) publications(ctx context.Context, p spec.Published, dir string) (came []problems.Came, files iter.Seq2[publisher.File, error], err error) {
	left := int64(p.Most) << 20
	var all []iter.Seq2[publisher.File, error]
	get := func(s source) (at string, err error) {
		at = keep(dir, s)
		sum, err := f.download(ctx, &spec.Home{Most: p.Most}, s, at, left)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(at)
		if err != nil {
			return "", err
		}
		left -= info.Size()
		came = append(came, problems.Came{Repo: s.repo, Revision: s.revision, Path: s.path, SHA256: sum})
		return at, nil
	}
	for _, o := range p.From {
		if !o.Archived() {
			for _, file := range o.Paths {
				at, err := get(source{url: join(f.GitHub, o.Repo, o.Revision, file), repo: o.Repo, revision: o.Revision, path: file})
				if err != nil {
					return nil, nil, err
				}
				all = append(all, only(publisher.File{Path: file, Read: func() ([]byte, error) { return os.ReadFile(at) }}))
			}
			continue
		}
		at, err := get(source{url: join(f.Archives, o.Repo, "tar.gz", o.Revision), repo: o.Repo, revision: o.Revision, path: o.Revision + ".tar.gz"})
		if err != nil {
			return nil, nil, err
		}
		all = append(all, unpacked(ctx, o, at))
	}
	return came, followed(all...), nil
}

// from says where a set is published.
func from(p spec.Published) string {
	var all []string
	for _, o := range p.From {
		all = append(all, o.String())
	}
	return strings.Join(all, ", ")
}

// only is one file.
func only(file publisher.File) iter.Seq2[publisher.File, error] {
	return func(yield func(publisher.File, error) bool) { yield(file, nil) }
}

// followed are files and others behind them.
func followed(all ...iter.Seq2[publisher.File, error]) iter.Seq2[publisher.File, error] {
	return func(yield func(publisher.File, error) bool) {
		for _, files := range all {
			for f, err := range files {
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

// mostUnpacked is the most bytes that a file of an archive may have.
const mostUnpacked = 1 << 30

// unpacked are the files of a repository's compressed archive whose paths its origin has, each to be read before the next one is asked for. Their paths are those
// in the repository, which the archive has as a folder.
func unpacked(ctx context.Context, o spec.Origin, archive string) iter.Seq2[publisher.File, error] {
	return func(yield func(publisher.File, error) bool) {
		wrong := func(err error) { yield(publisher.File{}, fmt.Errorf("%s: %w", filepath.Base(archive), err)) }
		f, err := os.Open(archive)
		if err != nil {
			wrong(err)
			return
		}
		defer f.Close()
		z, err := gzip.NewReader(bufio.NewReader(f))
		if err != nil {
			wrong(fmt.Errorf("is no compressed archive: %w", err))
			return
		}
		for t := tar.NewReader(z); ; {
			h, err := t.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				wrong(fmt.Errorf("its archive is damaged: %w", err))
				return
			}
			_, name, _ := strings.Cut(h.Name, "/")
			wanted := h.Typeflag == tar.TypeReg && (o.Paths == nil || slices.ContainsFunc(o.Paths, func(p string) bool { ok, _ := path.Match(p, name); return ok }))
			read := func() ([]byte, error) {
				if h.Size > mostUnpacked {
					return nil, fmt.Errorf("%s: has %d MB unpacked, more than the %d that are read", name, h.Size>>20, mostUnpacked>>20)
				}
				return io.ReadAll(t)
			}
			if wanted && !yield(publisher.File{Path: name, Read: read}, nil) {
				return
			}
		}
	}
}
