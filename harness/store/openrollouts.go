// A file of rollouts is opened, and made or brought to today's format first.

package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// openRollouts opens the rollouts at path for writing, making the file if needed. Its folder is held by a Store.
func openRollouts(ctx context.Context, path string) (_ *Rollouts, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("rollouts %q: %w", path, err)
		}
	}()
	// SQLite says only "unable to open database file", so find out why first.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, explainWrite(path, err)
	}
	f.Close()

	db := &Rollouts{path: path}
	var write *sql.DB
	defer func() {
		if err != nil {
			if write != nil {
				write.Close()
			}
			db.Close()
		}
	}()
	if db.codec, err = newCodec(); err != nil {
		return nil, err
	}
	if err := belongs(ctx, path); err != nil {
		return nil, explainSQL(err)
	}
	// FULL: a commit is synced. The cache must hold the inner pages of the tables, or inserts read as they write.
	if write, err = connect(path, "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-16384)",
		"journal_size_limit(16777216)"); err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	if err := db.prepare(ctx, write); err != nil {
		return nil, explainSQL(err)
	}
	if db.read, err = connect(path, "query_only(1)"); err != nil {
		return nil, err
	}
	db.read.SetMaxIdleConns(4) // and no limit: loops over one sequence may read another
	if db.w, err = newWriter(ctx, path, write, db.codec); err != nil {
		return nil, explainSQL(err)
	}
	write = nil // the writer closes it
	return db, nil
}

// belongs fails if a file is somebody else's, before anything in it is changed. Its connection is from before the log, and reads past
// the log later on if that cannot be opened.
func belongs(ctx context.Context, path string) error {
	before, err := connect(path, "query_only(1)")
	if err != nil {
		return err
	}
	defer before.Close()
	_, err = identify(ctx, before)
	return err
}

// ReadRollouts opens the rollouts at path for looking only: neither the file nor a file beside it is made or written, but
// the index of the log that lies there while somebody writes or after a kill. The error is fs.ErrNotExist if there are no
// rollouts, which is so too where a run was killed before it made the first table.
func ReadRollouts(ctx context.Context, path string) (*Rollouts, error) {
	f, err := os.Open(path) // SQLite does not say why it cannot
	if err != nil {
		return nil, err
	}
	f.Close()
	fail := func(err error) (*Rollouts, error) { return nil, fmt.Errorf("rollouts %q: %w", path, explainSQL(err)) }
	codec, err := newCodec()
	if err != nil {
		return fail(err)
	}
	// SQLite would make files beside the file to read it together with a writer. Where there is no log, nobody writes.
	how := "immutable=1"
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		how = "mode=ro"
		if h, held, err := HolderOf(filepath.Dir(path)); err == nil && held && h.elsewhere() {
			return fail(fmt.Errorf("%s writes there, and only that machine can read them meanwhile: run this there, or wait until it ends", h))
		}
	}
	db := &Rollouts{path: path, codec: codec}
	if db.read, err = sql.Open("sqlite", fileName(path)+"?_pragma=busy_timeout(10000)&"+how); err != nil {
		return fail(err)
	}
	format, err := identify(ctx, db.read)
	switch {
	case err != nil:
	case format == 0:
		err = fs.ErrNotExist
	case format != schemaVersion:
		err = fmt.Errorf("has format %d, which this program only reads after it has brought it to format %d: 'entrorouter fsck --repair' does, and so does the next run", format, schemaVersion)
	}
	if err != nil {
		db.Close()
		return fail(err)
	}
	return db, nil
}

// prepare makes the tables of a new file, and those of today of an older one.
func (db *Rollouts) prepare(ctx context.Context, write *sql.DB) error {
	tx, err := write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	format, err := identify(ctx, tx)
	if err != nil {
		return err
	}
	switch format {
	case schemaVersion:
		return nil
	case 0:
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
	default:
		if err := db.migrate(ctx, tx); err != nil {
			return fmt.Errorf("bring format %d to %d: %w", format, schemaVersion, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)); err != nil {
		return err
	}
	return tx.Commit()
}
