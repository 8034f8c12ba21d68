// A whole folder of runs, verified and repaired: entries of stages and rollouts.

package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Inspection is what was found in a folder of runs.
type Inspection struct {
	Sound    int             // entries of stages that are what was written
	Damaged  []*CorruptError // the others
	Rollouts Findings
}

// Inspect verifies every entry and every rollout of a folder. It only reads.
func Inspect(ctx context.Context, root string) (*Inspection, error) {
	in, err := inspectEntries(ctx, root)
	if err != nil {
		return nil, err
	}
	db, err := ReadRollouts(ctx, filepath.Join(root, rolloutsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return in, nil
	} else if errors.Is(err, ErrDamaged) { // not even its head can be read
		in.Rollouts = Findings{Faults: []string{err.Error()}, Structure: true}
		return in, nil
	} else if err != nil {
		return nil, err
	}
	defer db.Close()
	f, err := db.Check(ctx)
	if err != nil {
		return nil, err
	}
	in.Rollouts = *f
	return in, nil
}

// Mend is Inspect, after which damaged entries lie in corrupt/ and damaged rows of the rollouts are gone, so that the next run
// makes and asks them again. If the rollouts' very file is damaged it moves to corrupt/ too, and a new one has what could be read.
// It returns what it found before. The error is ErrLocked if a process writes there.
func Mend(ctx context.Context, root string) (_ *Inspection, err error) {
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) { // Open would make it
		return &Inspection{}, nil
	}
	s, err := Open(root, Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	in, err := inspectEntries(ctx, root)
	if err != nil {
		return nil, err
	}
	for _, e := range in.Damaged {
		to, err := s.asideName(e.Key.Stage + "-" + filepath.Base(e.Dir))
		if err == nil {
			err = rename(e.Dir, to)
		}
		if err != nil {
			return nil, err
		}
	}
	path := filepath.Join(root, rolloutsFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return in, nil
	}
	db, err := s.Rollouts(ctx)
	if err == nil {
		var f *Findings
		f, err = db.Repair(ctx)
		if err = errors.Join(err, db.Close()); err == nil {
			in.Rollouts = *f
		}
	}
	switch {
	case errors.Is(err, ErrDamaged):
		in.Rollouts = Findings{Faults: []string{err.Error()}, Structure: true}
	case err != nil:
		return nil, err
	}
	if !in.Rollouts.Structure {
		return in, nil
	}
	in.Rollouts.Kept, err = s.salvage(ctx, path)
	return in, err
}

// inspectEntries verifies every entry of every stage.
func inspectEntries(ctx context.Context, root string) (*Inspection, error) {
	in := &Inspection{}
	stages, err := os.ReadDir(filepath.Join(root, "stages"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []string
	for _, stage := range stages {
		if !stage.IsDir() {
			continue
		}
		dir := filepath.Join(root, "stages", stage.Name())
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	for _, dir := range found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k := Key{Stage: filepath.Base(filepath.Dir(dir))}
		data, err := os.ReadFile(filepath.Join(dir, recipeFile))
		if err == nil {
			k.Sum = sha256.Sum256(data)
		}
		var faults []string
		if k.Short() != filepath.Base(dir) {
			faults = []string{recipeFile + " is missing or not that of this folder"}
		} else {
			_, faults = readEntry(dir, k)
		}
		if faults == nil {
			in.Sound++
			continue
		}
		in.Damaged = append(in.Damaged, &CorruptError{Key: k, Dir: dir, Faults: faults})
	}
	return in, nil
}

// tables of a file of rollouts, those first that others refer to, and their keys.
var tables = [][2]string{{"scope", "id"}, {"problem", "id"}, {"verifier", "id"}, {"process", "id"}, {"server", "id"}, {"response", "block"},
	{"unpacked", "id"}, {"rollout", "scope, problem, run, seed"}, {"verdict", "verifier, rollout"}, {"failure", "scope, problem, run, seed"}, {"attempt", "id"}}

// salvage moves the file of rollouts to corrupt/, copies what can be read of it into a new one, and returns how many rollouts
// that are.
func (s *Store) salvage(ctx context.Context, path string) (kept int64, err error) {
	aside, err := s.asideName(rolloutsFile)
	if err != nil {
		return 0, err
	}
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	db, err := openRollouts(ctx, path)
	if err != nil {
		return 0, err
	}
	if err := salvageTables(ctx, aside, db.w.conn); err != nil {
		return 0, errors.Join(err, db.Close())
	}
	f, err := db.Repair(ctx) // what refers to rows that are lost goes too
	if err := errors.Join(err, db.Close()); err != nil {
		return 0, err
	}
	return f.Rollouts - f.Lost, nil
}

func salvageTables(ctx context.Context, from string, to *sql.Conn) error {
	old, err := sql.Open("sqlite", fileName(from))
	if err != nil {
		return err
	}
	defer old.Close()
	if _, err := to.ExecContext(ctx, "PRAGMA foreign_keys = 0; BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, t := range tables {
		table, key := t[0], t[1]
		// From both ends, up to the first page that cannot be read.
		for _, order := range []string{key, strings.ReplaceAll(key, ",", " DESC,") + " DESC"} {
			rows, err := old.QueryContext(ctx, fmt.Sprintf("SELECT * FROM %s NOT INDEXED ORDER BY %s", table, order))
			if err != nil {
				continue
			}
			names, err := rows.Columns()
			values, into := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			insert := fmt.Sprintf("INSERT OR IGNORE INTO %s VALUES (%s)", table, strings.TrimPrefix(strings.Repeat(", ?", len(names)), ", "))
			for err == nil && rows.Next() {
				if err = rows.Scan(into...); err == nil {
					_, err = to.ExecContext(ctx, insert, values...)
				}
			}
			err = errors.Join(err, rows.Close())
			if ctx.Err() != nil || err != nil && mayPass(err) { // the new file cannot be written
				return errors.Join(err, ctx.Err())
			}
		}
	}
	_, err = to.ExecContext(ctx, "COMMIT")
	return err
}
