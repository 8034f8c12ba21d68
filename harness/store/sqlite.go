// SQLite: connections, and what its errors mean.

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrDamaged says that something in a file of rollouts is not what was written.
var ErrDamaged = errors.New("damaged")

// damaged says what is damaged and what to do about it.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w; 'entrorouter fsck' says what else is, and how to repair it", fmt.Sprintf(format, args...), ErrDamaged)
}

func connect(path string, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)"}, pragmas...)}
	return sql.Open("sqlite", fileName(path)+"?"+q.Encode())
}

// fileName is the name of a file as SQLite takes it before options.
func fileName(path string) string {
	name := url.URL{Path: filepath.ToSlash(path)}
	return "file:" + name.EscapedPath()
}

// querier is a database, a connection of it or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// explainSQL adds to an error of SQLite what to do about it.
func explainSQL(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the low byte is the kind, the rest its detail
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk is full; free some space and run again, what was stored before is safe: %w", err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another process has been writing for 10 seconds; wait for it and run again: %w", err)
	case sqlite3.SQLITE_CANTOPEN: // SQLite does not say why; the one limit that the system does not have is that of the path
		if e := mayOpen(4); e != nil {
			return fmt.Errorf("this process may open no more files, allow more with ulimit -n: %w: %w", e, err)
		}
		return fmt.Errorf("file or folder is not writable, or its path is longer than the 500 bytes that SQLite takes; change its permissions or choose another path: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Errorf("file or folder is not writable; change its permissions or choose another path: %w", err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("is not an SQLite file; choose another path: %w", err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("is %w: 'entrorouter fsck' says how to repair it: %w", ErrDamaged, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the disk failed or is full; what was stored before is safe: %w", err)
	}
	return err
}

// mayOpen fails if a process may not open as many further files, of which SQLite needs several for a database.
func mayOpen(files int) error {
	if files == 0 {
		return nil
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer file.Close()
	return mayOpen(files - 1)
}

// scan calls do for every row of a query.
func scan(ctx context.Context, q querier, query string, args []any, do func(*sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
