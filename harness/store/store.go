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
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
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

// Close lets others write.
func (s *Store) Close() error {
	if s.held == nil {
		return nil
	}
	err := s.held.unlock()
	s.held = nil
	return err
}

func (s *Store) entryDir(k Key) string { return filepath.Join(s.root, "stages", k.Stage, k.Short()) }
func (s *Store) draftDir(k Key) string { return filepath.Join(s.root, "tmp", k.String()) }

// setAside moves an entry to corrupt/. The caller is the one who makes it.
func (s *Store) setAside(k Key) (string, error) {
	to, err := s.asideName(k.String())
	if err != nil {
		return "", err
	}
	return to, rename(s.entryDir(k), to)
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
