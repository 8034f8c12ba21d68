// An entry in the making.

package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Draft is an entry being made. Who else wants to make it waits for Commit or Discard; one of them must be called. It is
// for use by one goroutine at a time.
type Draft struct {
	store  *Store
	recipe Recipe
	dir    string
	done   chan struct{}   // in Store.making; nil: committed or discarded
	open   map[string]bool // files created and not yet closed
	notes  map[string]any
}

// Begin starts to make the entry of a recipe, waiting until ctx ends if somebody else is at it. The entry may exist
// already: Commit then requires that it is made again byte for byte, which shows whether a stage is deterministic.
// Make is what most callers want.
func (s *Store) Begin(ctx context.Context, r Recipe) (*Draft, error) {
	k := r.Key()
	done := make(chan struct{})
	for {
		s.mu.Lock()
		other, busy := s.making[k]
		if !busy {
			s.making[k] = done
		}
		s.mu.Unlock()
		if !busy {
			break
		}
		s.log.Info("waiting for an entry that is being made", "entry", k.String())
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("%s is being made elsewhere: %w", k, ctx.Err())
		}
	}
	d := &Draft{store: s, recipe: r, dir: s.draftDir(k), done: done, open: map[string]bool{}}
	if err := d.start(); err != nil {
		d.Discard()
		return nil, fmt.Errorf("%s: %w", k, explainWrite(d.dir, err))
	}
	return d, nil
}

func (d *Draft) start() error {
	if err := os.RemoveAll(d.dir); err != nil { // left by a maker that died since the store was opened
		return err
	}
	if err := d.store.at.do("mkdir", d.dir); err != nil {
		return err
	}
	return os.Mkdir(d.dir, 0o777)
}

// Dir returns the temporary folder of the draft, for code that writes its files itself. Whatever lies in it at Commit
// becomes the entry.
func (d *Draft) Dir() string { return d.dir }

// Note adds to env.json what holds of this making of the entry and need not hold of another: how long it took, on what device.
// The value of a name is encoded as JSON.
func (d *Draft) Note(name string, value any) {
	if d.notes == nil {
		d.notes = map[string]any{}
	}
	d.notes[name] = value
}

// env is env.json: what the store says of every entry, and the notes.
func (d *Draft) env() ([]byte, error) {
	if d.notes == nil {
		return d.store.env, nil
	}
	all := map[string]any{}
	if err := json.Unmarshal(d.store.env, &all); err != nil {
		return nil, fmt.Errorf("env: %w", err)
	}
	maps.Copy(all, d.notes)
	data, err := indentJSON(all)
	if err != nil {
		return nil, fmt.Errorf("env: %w", err)
	}
	return data, nil
}

// Create makes a file of the entry, with folders as needed. name is a slash-separated path. Writes are buffered;
// the file must be closed before Commit.
func (d *Draft) Create(name string) (io.WriteCloser, error) {
	if err := checkFileName(name); err != nil {
		return nil, fmt.Errorf("%s: %w", d.recipe.Key(), err)
	}
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := d.store.at.do("create", path); err != nil {
		return nil, explainWrite(path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, explainWrite(path, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, explainWrite(path, err)
	}
	d.open[name] = true
	return &draftFile{
		Writer: bufio.NewWriterSize(hooked{f, d.store.at}, 64<<10),
		f:      f,
		closed: func() { delete(d.open, name) },
	}, nil
}

// WriteFile writes a whole file of the entry.
func (d *Draft) WriteFile(name string, data []byte) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	f.Write(data) // Close repeats its error
	return f.Close()
}

type draftFile struct {
	*bufio.Writer
	f      *os.File
	closed func()
}

func (f *draftFile) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	return n, explainWrite(f.f.Name(), err)
}

// Close writes out the buffer. After a failed Write it repeats that error, so checking Close alone is enough.
func (f *draftFile) Close() error {
	f.closed()
	err := f.Flush()
	if closeErr := f.f.Close(); err == nil {
		err = closeErr
	}
	return explainWrite(f.f.Name(), err)
}

func checkFileName(name string) error {
	if !fs.ValidPath(name) || name == "." || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("file name %q: want a relative slash-separated path", name)
	}
	if slices.Contains([]string{recipeFile, envFile, manifestFile}, name) {
		return fmt.Errorf("file name %q is reserved for the store", name)
	}
	return nil
}

// Discard drops the draft. After Commit it does nothing, so it can be deferred.
func (d *Draft) Discard() {
	if d.done == nil {
		return
	}
	os.RemoveAll(d.dir) // what stays behind is removed by the next Open
	s := d.store
	s.mu.Lock()
	delete(s.making, d.recipe.Key())
	s.mu.Unlock()
	close(d.done)
	d.done = nil
}

// Commit makes the draft the entry of its recipe: everything is synced, the manifest is written last and the folder
// gets its name. If it fails, the draft is dropped and the store is as before.
func (d *Draft) Commit() (Entry, error) {
	if d.done == nil {
		return Entry{}, fmt.Errorf("%s: draft was committed or discarded before", d.recipe.Key())
	}
	defer d.Discard()
	if len(d.open) > 0 {
		return Entry{}, fmt.Errorf("%s: commit with files still open: %s", d.recipe.Key(), listed(d.open))
	}
	e, err := d.commit()
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", d.recipe.Key(), explainWrite(d.dir, err))
	}
	if err := os.RemoveAll(d.Unfinished()); err != nil {
		d.store.log.Warn("what is left of an unfinished entry cannot be removed", "fault", err)
	}
	return e, nil
}

func (d *Draft) commit() (Entry, error) {
	s, k := d.store, d.recipe.Key()
	if err := d.put(recipeFile, d.recipe.JSON()); err != nil {
		return Entry{}, err
	}
	m := manifest{Key: k}
	dirs := []string{}
	err := filepath.WalkDir(d.dir, func(path string, f fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case f.IsDir():
			dirs = append(dirs, path)
			return nil
		case !f.Type().IsRegular():
			return fmt.Errorf("%q is not a plain file", path)
		}
		if err := d.sync(path); err != nil {
			return err
		}
		name, err := filepath.Rel(d.dir, path)
		if err != nil {
			return err
		}
		line, err := describe(d.dir, filepath.ToSlash(name))
		m.Files = append(m.Files, line)
		return err
	})
	if err != nil {
		return Entry{}, err
	}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	data, err := indentJSON(m)
	if err != nil {
		return Entry{}, err
	}

	final := s.entryDir(k)
	e := m.entry(final, data)
	if old, err := s.Get(d.recipe); err == nil {
		return old, sameFiles(old, e)
	} else if errors.Is(err, ErrCorrupt) {
		aside, err := s.setAside(k)
		if err != nil {
			return Entry{}, err
		}
		s.log.Warn("corrupt entry moved aside", "entry", k.String(), "to", aside)
	} else if !errors.Is(err, ErrMissing) {
		return Entry{}, err
	}
	env, err := d.env()
	if err != nil {
		return Entry{}, err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{envFile, env}, {manifestFile, data}} {
		if err := d.put(f.name, f.data); err != nil {
			return Entry{}, err
		}
		if err := d.sync(filepath.Join(d.dir, f.name)); err != nil {
			return Entry{}, err
		}
	}
	slices.Reverse(dirs) // inner folders first
	for _, dir := range dirs {
		if err := syncDir(dir); err != nil {
			return Entry{}, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o777); err != nil {
		return Entry{}, err
	}
	if err := s.at.do("rename", final); err != nil {
		return Entry{}, err
	}
	if err := rename(d.dir, final); err != nil {
		return Entry{}, err
	}
	for _, dir := range []string{filepath.Dir(final), filepath.Dir(filepath.Dir(final))} {
		if err := syncDir(dir); err != nil {
			return Entry{}, err
		}
	}
	return e, nil
}

func (d *Draft) put(name string, data []byte) error {
	path := filepath.Join(d.dir, name)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = hooked{f, d.store.at}.Write(data)
	return errors.Join(err, f.Close())
}

func (d *Draft) sync(path string) error {
	if err := d.store.at.do("sync", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// sameFiles says in which files two entries of one recipe differ.
func sameFiles(old, made Entry) error {
	if old.Digest == made.Digest {
		return nil
	}
	differ := map[string]bool{}
	for _, pair := range [][2][]File{{old.Files, made.Files}, {made.Files, old.Files}} {
		for _, f := range pair[0] {
			if !slices.Contains(pair[1], f) {
				differ[f.Name] = true
			}
		}
	}
	return fmt.Errorf("stage is not deterministic: made again, it differs from the stored entry in %s", listed(differ))
}

func listed(set map[string]bool) string {
	var names []string
	for name := range set {
		names = append(names, fmt.Sprintf("%q", name))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Unfinished is a folder for what should outlive a draft that is never committed: who begins the entry again finds it as it
// was left. It need not exist, and goes when the entry is committed.
func (d *Draft) Unfinished() string {
	return filepath.Join(d.store.root, unfinishedDir, d.recipe.Key().String())
}
