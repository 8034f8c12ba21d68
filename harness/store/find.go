// Entries and experiments of a store, found by key and name.

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Get returns the verified entry of a recipe. The error is ErrMissing if there is none, and a *CorruptError, which
// wraps ErrCorrupt and lists every fault, if there is one that cannot be trusted.
func (s *Store) Get(r Recipe) (Entry, error) { return s.find(r.Key()) }

// Experiments lists the experiments that have an index, sorted by name.
func (s *Store) Experiments() ([]string, error) {
	found, err := fs.Glob(os.DirFS(filepath.Clean(s.root)), "experiments/*.txt")
	var names []string
	for _, f := range found {
		name := filepath.Base(f)
		names = append(names, name[:len(name)-len(".txt")])
	}
	return names, err
}

// Find returns the verified entry of a key and the recipe that it was made from. Errors are those
// of Get, and ErrForm.
func (s *Store) Find(k Key) (Entry, Recipe, error) {
	e, err := s.find(k)
	if err != nil {
		return Entry{}, Recipe{}, err
	}
	data, err := os.ReadFile(e.Path(recipeFile))
	if err != nil {
		return Entry{}, Recipe{}, err
	}
	r, err := parseRecipe(data)
	if err != nil {
		return Entry{}, Recipe{}, fmt.Errorf("%s: %w: %w", e.Path(recipeFile), ErrForm, err)
	}
	return e, r, nil
}

// find returns the verified entry of a key.
func (s *Store) find(k Key) (Entry, error) {
	dir := s.entryDir(k)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return Entry{}, fmt.Errorf("%s: %w", k, ErrMissing)
	} else if err != nil {
		return Entry{}, err
	}
	e, faults := readEntry(dir, k)
	if faults != nil {
		return Entry{}, &CorruptError{Key: k, Dir: dir, Faults: faults}
	}
	return e, nil
}

// Env reads what was written beside the entry of a key into v. The entry is not verified, and env.json is no part of it. An error is
// fs.ErrNotExist if there is none.
func (s *Store) Env(k Key, v any) error { return Entry{Dir: s.entryDir(k)}.Env(v) }
