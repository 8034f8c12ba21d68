// Package store keeps what an experiment has already paid for: the outputs of its stages, by what went into them,
// and the responses of its experts.
//
// # Stages
//
// A stage is a pure function from a Recipe (name, version, parameters, keys of the entries it reads) to a folder of
// files. Store.Make runs it once and finds the folder again ever after, for every experiment whose recipe agrees:
//
//	entry, err := st.Make(ctx, recipe, func(ctx context.Context, draft *store.Draft) error {
//		return draft.WriteFile("targets.csv", rows)
//	})
//
// On disk, below the root:
//
//	stages/<stage>/<key12>/    an entry: its files, and
//	    recipe.json            what was asked for; its SHA-256 is the key
//	    env.json               versions and machine; never compared and not in the manifest
//	    manifest.json          size and SHA-256 of every file but env.json; written last
//	experiments/<name>.txt     which entry each step of an experiment's last run used
//	tmp/<stage>-<key12>/       an entry being made; removed at the next Open if its maker died
//	lock                       held by the one process that writes; says which
//	unfinished/<stage>-<key12>/  from which a maker that was stopped goes on; removed when the entry is committed
//	states/                    what frozen language models made of texts, see package lm; may be removed at any time
//	corrupt/<stage>-<key12>.N/ entries that failed verification, for inspection
//
// Entries lie below stages/ and not below the experiment because they belong to their recipe: two tables that
// profile the same problems share one profile. The index in experiments/ is the way from a table to its entries.
//
// An entry appears under its name by one rename, after every file, the manifest and the folders have been synced. So
// a crash or a power cut at any moment leaves the whole entry or none. Entries are verified whenever they are read.
//
// # Rollouts
//
// Rollouts are the exception, since they arrive one by one and cost money: they live in an SQLite file, see Rollouts.
//
// One process at a time writes to a store; any number may look at it meanwhile. Of its goroutines two that want the same
// entry take turns: the second waits and finds it.
package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

var (
	// ErrMissing says that nothing is stored under a recipe.
	ErrMissing = errors.New("not in the store")
	// ErrCorrupt says that what is stored is not what was written. Make moves it aside and makes it again.
	ErrCorrupt = errors.New("corrupt entry")
	// ErrForm says that a recipe has a form that this version does not read.
	ErrForm = errors.New("not a recipe of this version")
)

const (
	recipeFile   = "recipe.json"
	envFile      = "env.json"
	manifestFile = "manifest.json"
	rolloutsFile = "rollouts.db"
)

// Options of Open. The zero value is usable.
type Options struct {
	Log *slog.Logger // nil: silent
	Env any          // encoded to env.json in every new entry; nil: an empty object
}

// Store holds the outputs of stages below one root folder.
type Store struct {
	root string
	log  *slog.Logger
	env  []byte
	at   step

	held   *lock // of the folder; nil: read-only
	mu     sync.Mutex
	making map[Key]chan struct{} // closed when the entry is made or given up
}

// Open opens the store at root for writing, making the folder if needed, and removes what crashed runs left half-made. It
// must be closed. The error is ErrLocked, and names the process, if another one writes there.
func Open(root string, o Options) (*Store, error) { return open(root, o, nil) }

// OpenReadOnly returns the store at root for looking only: nothing is made, removed or written, not even the folder,
// which need not exist. Make finds entries and fails where it would make one.
func OpenReadOnly(root string) *Store {
	return &Store{root: root, log: slog.New(slog.DiscardHandler)}
}

func open(root string, o Options, at step) (*Store, error) {
	s := &Store{root: root, log: o.Log, at: at, making: map[Key]chan struct{}{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Env == nil {
		o.Env = struct{}{}
	}
	var err error
	if s.env, err = indentJSON(o.Env); err != nil {
		return nil, fmt.Errorf("store %q: env: %w", root, err)
	}
	for _, dir := range []string{"stages", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			return nil, fmt.Errorf("store %q: %w", root, explainWrite(root, err))
		}
	}
	if s.held, err = lockFolder(root); err != nil {
		return nil, fmt.Errorf("store %q: %w", root, err)
	}
	if err := errors.Join(s.sweep(), s.sweepUnfinished()); err != nil {
		return nil, errors.Join(fmt.Errorf("store %q: %w", root, explainWrite(filepath.Join(root, "tmp"), err)), s.Close())
	}
	return s, nil
}

// Close lets others write.
func (s *Store) Close() error {
	if s.held == nil {
		return nil
	}
	err := s.held.unlock()
	s.held = nil
	return err
}

// Rollouts opens the rollouts of the folder: for reading if the store was opened so. The error is fs.ErrNotExist then if there
// are none.
func (s *Store) Rollouts(ctx context.Context) (*Rollouts, error) {
	path := filepath.Join(s.root, rolloutsFile)
	if s.held == nil {
		return ReadRollouts(ctx, path)
	}
	return openRollouts(ctx, path)
}

// Root returns the folder of the store.
func (s *Store) Root() string { return s.root }

func (s *Store) entryDir(k Key) string { return filepath.Join(s.root, "stages", k.Stage, k.Short()) }
func (s *Store) draftDir(k Key) string { return filepath.Join(s.root, "tmp", k.String()) }

// sweep removes the drafts of runs that died: nobody else writes here.
func (s *Store) sweep() error {
	tmp := filepath.Join(s.root, "tmp")
	found, err := os.ReadDir(tmp)
	if err != nil {
		return err
	}
	for _, f := range found {
		if err := os.RemoveAll(filepath.Join(tmp, f.Name())); err != nil {
			return err
		}
		s.log.Debug("removed a half-made entry", "entry", f.Name())
	}
	return nil
}

// Get returns the verified entry of a recipe. The error is ErrMissing if there is none, and a *CorruptError, which
// wraps ErrCorrupt and lists every fault, if there is one that cannot be trusted.
func (s *Store) Get(r Recipe) (Entry, error) { return s.find(r.Key()) }

// Make returns the entry of a recipe, running build to make it if it is missing. If another goroutine is
// making it, Make waits for that one until ctx ends. A corrupt entry is moved aside with a warning and made again. If
// build fails nothing is stored.
func (s *Store) Make(ctx context.Context, r Recipe, build func(context.Context, *Draft) error) (Entry, error) {
	e, err := s.Get(r)
	if err == nil {
		return e, nil
	}
	if s.held == nil {
		return Entry{}, err
	}
	d, err := s.Begin(ctx, r)
	if err != nil {
		return Entry{}, err
	}
	defer d.Discard()
	e, err = s.Get(r) // again: somebody else may have made it while we waited for the lock
	switch {
	case err == nil:
		return e, nil
	case errors.Is(err, ErrCorrupt):
		s.log.Warn("stored entry cannot be trusted and is made again", "fault", err)
	case !errors.Is(err, ErrMissing):
		return Entry{}, err
	}
	if err := build(ctx, d); err != nil {
		return Entry{}, fmt.Errorf("%s: %w", r.Key().Stage, err)
	}
	return d.Commit()
}

// setAside moves an entry to corrupt/. The caller is the one who makes it.
func (s *Store) setAside(k Key) (string, error) {
	to, err := s.asideName(k.String())
	if err != nil {
		return "", err
	}
	return to, os.Rename(s.entryDir(k), to)
}

// asideName returns a name in corrupt/ that is not taken.
func (s *Store) asideName(name string) (string, error) {
	base := filepath.Join(s.root, "corrupt", name)
	if err := os.MkdirAll(filepath.Dir(base), 0o777); err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		to := fmt.Sprintf("%s.%d", base, i)
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, nil
		}
	}
}

// CorruptError lists what is wrong with an entry.
type CorruptError struct {
	Key    Key
	Dir    string
	Faults []string // one a file
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: %v in %q: %s", e.Key, ErrCorrupt, e.Dir, strings.Join(e.Faults, "; "))
}

// Is makes errors.Is(err, ErrCorrupt) hold.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Entry is the stored output of one stage. It is read-only.
type Entry struct {
	Key    Key
	Dir    string
	Files  []File // the stage's own files, sorted by name
	Digest string // SHA-256 of the manifest, in hex: entries with equal digests hold the same bytes
}

// File is one line of a manifest.
type File struct {
	Name   string `json:"name"` // slash-separated path below the entry
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Path returns where a file of the entry lies.
func (e Entry) Path(name string) string { return filepath.Join(e.Dir, filepath.FromSlash(name)) }

// Open opens a file of the entry.
func (e Entry) Open(name string) (*os.File, error) {
	if !e.Has(name) {
		var known []string
		for _, f := range e.Files {
			known = append(known, f.Name)
		}
		return nil, fmt.Errorf("%s has no file %q; it has: %s", e.Key, name, strings.Join(known, ", "))
	}
	return os.Open(e.Path(name))
}

// Has says whether the entry has a file.
func (e Entry) Has(name string) bool {
	return slices.ContainsFunc(e.Files, func(f File) bool { return f.Name == name })
}

// ReadFile returns the content of a file of the entry.
func (e Entry) ReadFile(name string) ([]byte, error) {
	f, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// manifest lists the files of an entry, recipe.json among them.
type manifest struct {
	Key   Key    `json:"key"`
	Files []File `json:"files"`
}

// entry describes the folder that the manifest, encoded as data, belongs to.
func (m manifest) entry(dir string, data []byte) Entry {
	sum := sha256.Sum256(data)
	own := slices.DeleteFunc(slices.Clone(m.Files), func(f File) bool { return f.Name == recipeFile })
	return Entry{Key: m.Key, Dir: dir, Files: own, Digest: hex.EncodeToString(sum[:])}
}

// readEntry reads and verifies the folder of a key; faults is nil if all is well.
func readEntry(dir string, k Key) (e Entry, faults []string) {
	data, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return e, []string{faultOf(manifestFile, err)}
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return e, []string{faultOf(manifestFile, err)}
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			faults = append(faults, fmt.Sprintf("%s lists %q, which is outside the entry", manifestFile, f.Name))
			continue
		}
		got, err := describe(dir, f.Name)
		switch {
		case err != nil:
			faults = append(faults, faultOf(f.Name, err))
		case got.Size != f.Size:
			faults = append(faults, fmt.Sprintf("%s has %d bytes instead of %d", f.Name, got.Size, f.Size))
		case got.SHA256 != f.SHA256:
			faults = append(faults, fmt.Sprintf("%s has another SHA-256 than the manifest says", f.Name))
		}
	}
	// The manifest itself is covered by the recipe, which it must list and which must hash to the key, and by the
	// files, which must hash to what it says.
	stored := slices.IndexFunc(m.Files, func(f File) bool { return f.Name == recipeFile })
	if want := hex.EncodeToString(k.Sum[:]); m.Key != k || stored < 0 || m.Files[stored].SHA256 != want {
		faults = append(faults, "it was made from another recipe")
	}
	return m.entry(dir, data), faults
}

func faultOf(name string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return name + " is missing"
	}
	return fmt.Sprintf("%s: %v", name, err)
}

// describe reads a file below dir and returns its manifest line.
func describe(dir, name string) (File, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return File{}, err
	}
	return File{Name: name, Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}
