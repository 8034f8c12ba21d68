// The file of rollouts: what is in it, and how it is opened.

package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// Rollouts is the ledger of an experiment's folder: everything that experts were asked, what they answered, what
// became of each attempt and what it cost. A rollout is stored under all that can change the answer and nothing else
// (Scope and RolloutKey): no method, no concurrency, no address. A request that has no answer is a stored failure,
// which a later answer replaces.
//
// An attempt is stored before it is sent (Begin) and again when it ended (End), whatever became of it. One that has no
// end was in flight when the program was killed: it may have cost up to its bound.
//
// Verdicts are a table of their own, by rollout and version of the verifier, so that a better verifier grades again
// without asking anybody.
//
// One goroutine writes. What is handed to End, Keep and Fail is synced to disk at most 100 ms later, and at once if
// somebody waits in Begin or Sync; all that came by then shares one transaction. So a kill or, if the disk keeps its
// promises, a power cut loses what arrived in the last 100 ms, and of what was sent nothing is forgotten.
//
// When the disk fails or is full, whoever waits is told at once, and nothing is begun from then on. What was queued, and what ends
// later, is kept and tried again each second for 30 seconds and at Close, which counts what could not be written. What was
// synced before is safe.
//
// Every row carries a digest that is checked when it is read. What is not as it was written is an error that wraps
// ErrDamaged and names it.
//
// It is safe for concurrent use. One process writes; others may read meanwhile and never wait.
type Rollouts struct {
	path  string
	read  *sql.DB
	codec codec

	w *writer // nil: opened for reading
}

// ErrDamaged says that something in a file of rollouts is not what was written.
var ErrDamaged = errors.New("damaged")

// damaged says what is damaged and what to do about it.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w; 'entrorouter fsck' says what else is, and how to repair it", fmt.Sprintf(format, args...), ErrDamaged)
}

// Scope is the part of a rollout's key that it shares with all rollouts of an expert in an experiment. A field added
// later must be left out of the JSON when it is zero: otherwise nothing stored before is found again.
type Scope struct {
	// Source says who answers when the model's name does not: "http", or the kind of pool and a hash of its
	// parameters or data. Simulated experts bear the names of real models and must never be taken for them.
	Source      string        `json:"source"`
	Model       string        `json:"model"`
	Revision    string        `json:"revision"`
	Prompt      string        `json:"prompt"` // template around the problem's text
	Temperature float64       `json:"temperature"`
	TopP        float64       `json:"top_p"`
	TopK        int           `json:"top_k"`
	MaxTokens   int           `json:"max_tokens"`
	Split       routing.Split `json:"split"`

	MinP            float64 `json:"min_p,omitempty"`
	System          string  `json:"system,omitempty"`
	Stop            string  `json:"stop,omitempty"` // JSON, as the next and the last
	TemplateKwargs  string  `json:"chat_template_kwargs,omitempty"`
	ReasoningEffort string  `json:"reasoning_effort,omitempty"`
	LeaveOut        string  `json:"leave_out,omitempty"` // sampling that was not sent
}

// TextKey identifies a problem by its text: the first half of the SHA-256.
type TextKey [16]byte

// KeyOfText returns the key of a problem's text.
func KeyOfText(text string) TextKey {
	sum := sha256.Sum256([]byte(text))
	return TextKey(sum[:16])
}

// GoldKey hashes what a response to p is graded against. A verdict counts only for the answer it was given on.
func GoldKey(p routing.Problem) uint64 {
	h := sha256.New()
	word := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	list := func(texts []string) {
		word(uint64(len(texts)))
		for _, t := range texts {
			word(uint64(len(t)))
			h.Write([]byte(t))
		}
	}
	list(p.Gold)
	list(p.Options)
	for _, t := range p.Tolerance {
		word(math.Float64bits(t.Abs))
		word(math.Float64bits(t.Rel))
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// RolloutKey is the part of a rollout's key below its scope.
type RolloutKey struct {
	Problem TextKey
	Run     int
	Seed    uint64
}

// RolloutID names a stored rollout within its file: block of responses (high 48 bits) and position in it.
type RolloutID int64

func idOf(block int64, pos int) RolloutID { return RolloutID(block*blockRows + int64(pos)) }
func (id RolloutID) block() int64         { return int64(id) / blockRows }
func (id RolloutID) pos() int             { return int(int64(id) % blockRows) }

// Row is a rollout to be stored.
type Row struct {
	Text      string // of the problem
	Run       int
	Seed      uint64
	Response  string
	Reasoning string // sent apart from the response; empty: none was
	Finish    routing.Finish
	In, Out   int64 // tokens
}

// Key returns the row's key below its scope.
func (r Row) Key() RolloutKey { return RolloutKey{KeyOfText(r.Text), r.Run, r.Seed} }

// Verdict is the grade of one stored rollout.
type Verdict struct {
	Rollout   RolloutID
	Gold      uint64         // GoldKey of the problem graded against
	Bucket    routing.Bucket // empty: not graded
	Reason    string         // reason code of the verifier
	Extracted string         // the answer found
}

const (
	applicationID = 0x456e526f // "EnRo"
	schemaVersion = 2
	schema        = `
CREATE TABLE scope (
	id       INTEGER PRIMARY KEY,
	params   TEXT NOT NULL UNIQUE, -- canonical JSON of Scope
	digest   INTEGER NOT NULL,     -- of params
	rollouts INTEGER NOT NULL,     -- how many there are in this scope
	checksum INTEGER NOT NULL,     -- all their digests in one exclusive or: a row that is lost shows
	want     INTEGER NOT NULL      -- how many rollouts the last run wanted; 0: it did not say
) STRICT;
CREATE TABLE problem (
	id   INTEGER PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE, -- first 16 bytes of the SHA-256 of the text
	text TEXT NOT NULL
) STRICT;
CREATE TABLE rollout (
	scope      INTEGER NOT NULL REFERENCES scope,
	problem    INTEGER NOT NULL REFERENCES problem,
	run        INTEGER NOT NULL,
	seed       INTEGER NOT NULL, -- 64 bits, as a signed integer
	id         INTEGER NOT NULL, -- block*65536 + position of the text
	finish     TEXT NOT NULL,
	tokens_in  INTEGER NOT NULL,
	tokens_out INTEGER NOT NULL,
	text       INTEGER NOT NULL, -- digest of response and reasoning
	digest     INTEGER NOT NULL, -- of all above
	PRIMARY KEY (scope, problem, run, seed)
) STRICT, WITHOUT ROWID;
CREATE TABLE response ( -- blocks that are full
	block INTEGER PRIMARY KEY,
	scope INTEGER NOT NULL REFERENCES scope,
	rows  INTEGER NOT NULL, -- rollouts whose text is here
	texts BLOB NOT NULL     -- zstd: count, lengths, texts; of each position response and reasoning
) STRICT;
CREATE INDEX response_rows ON response (scope, rows);
CREATE TABLE unpacked ( -- texts of blocks that are not full yet
	id        INTEGER PRIMARY KEY, -- rollout.id
	scope     INTEGER NOT NULL REFERENCES scope,
	response  BLOB NOT NULL,
	reasoning BLOB NOT NULL,
	digest    INTEGER NOT NULL     -- rollout.text
) STRICT;
CREATE TABLE verifier (
	id      INTEGER PRIMARY KEY,
	version TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE verdict (
	verifier  INTEGER NOT NULL REFERENCES verifier,
	rollout   INTEGER NOT NULL, -- rollout.id
	gold      INTEGER NOT NULL, -- hash of the answer graded against
	bucket    TEXT NOT NULL,
	reason    TEXT NOT NULL,
	extracted TEXT NOT NULL,
	digest    INTEGER NOT NULL,
	PRIMARY KEY (verifier, rollout)
) STRICT, WITHOUT ROWID;
CREATE TABLE failure ( -- requests without an answer
	scope   INTEGER NOT NULL REFERENCES scope,
	problem INTEGER NOT NULL REFERENCES problem,
	run     INTEGER NOT NULL,
	seed    INTEGER NOT NULL,
	class   TEXT NOT NULL,
	error   TEXT NOT NULL,
	again   INTEGER NOT NULL, -- 1: may succeed when asked again
	digest  INTEGER NOT NULL,
	PRIMARY KEY (scope, problem, run, seed)
) STRICT, WITHOUT ROWID;
CREATE TABLE process ( -- runs of the program
	id      INTEGER PRIMARY KEY,
	name    TEXT NOT NULL,
	command TEXT NOT NULL,
	pid     INTEGER NOT NULL,
	host    TEXT NOT NULL,
	started INTEGER NOT NULL -- milliseconds since 1970
) STRICT;
CREATE TABLE server (
	id      INTEGER PRIMARY KEY,
	url     TEXT NOT NULL UNIQUE,
	version TEXT NOT NULL -- as it last called itself; empty: it did not say
) STRICT;
CREATE TABLE attempt (
	id         INTEGER PRIMARY KEY,
	process    INTEGER REFERENCES process,
	scope      INTEGER NOT NULL REFERENCES scope,
	problem    INTEGER NOT NULL REFERENCES problem,
	run        INTEGER NOT NULL,
	seed       INTEGER NOT NULL,
	server     INTEGER NOT NULL REFERENCES server,
	began      INTEGER NOT NULL, -- milliseconds since 1970
	most_in    INTEGER NOT NULL, -- upper bound of what it can cost
	most_out   INTEGER NOT NULL,
	most_usd   REAL NOT NULL,
	ended      INTEGER,          -- milliseconds since 1970; NULL: it has no end
	class      TEXT NOT NULL,
	error      TEXT NOT NULL,
	tokens_in  INTEGER NOT NULL,
	tokens_out INTEGER NOT NULL,
	usd        REAL NOT NULL,
	estimated  INTEGER NOT NULL, -- 1: counted by us, since the server did not say
	digest     INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_ended ON attempt (ended);
CREATE TABLE tally ( -- attempts that ended, added up
	scope      INTEGER NOT NULL REFERENCES scope,
	class      TEXT NOT NULL,
	attempts   INTEGER NOT NULL,
	tokens_in  INTEGER NOT NULL,
	tokens_out INTEGER NOT NULL,
	usd        REAL NOT NULL,
	estimated  INTEGER NOT NULL, -- attempts
	PRIMARY KEY (scope, class)
) STRICT, WITHOUT ROWID;
`
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
	if db.read, err = connect(path, "query_only(1)"); err != nil {
		return nil, err
	}
	db.read.SetMaxIdleConns(4) // and no limit: loops over one sequence may read another
	if _, err := identify(ctx, db.read); err != nil {
		return nil, explainSQL(err) // before anything is changed: the file may be somebody else's
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
	if db.w, err = newWriter(ctx, path, write, db.codec); err != nil {
		return nil, explainSQL(err)
	}
	write = nil // the writer closes it
	return db, nil
}

// ReadRollouts opens the rollouts at path for looking only: neither the file nor a file beside it is made or written, but
// the index of the log that lies there while somebody writes or after a kill. The error is fs.ErrNotExist if there are no
// rollouts, which is so too where a run was killed before it made the first table.
func ReadRollouts(ctx context.Context, path string) (*Rollouts, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	fail := func(err error) (*Rollouts, error) { return nil, fmt.Errorf("rollouts %q: %w", path, explainSQL(err)) }
	codec, err := newCodec()
	if err != nil {
		return fail(err)
	}
	// SQLite would make files beside the file to read it together with a writer. Where there is no log, nobody writes.
	how := "immutable=1"
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		how = "mode=ro"
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

func connect(path string, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)"}, pragmas...)}
	return sql.Open("sqlite", fileName(path)+"?"+q.Encode())
}

// fileName is the name of a file as SQLite takes it before options.
func fileName(path string) string {
	name := url.URL{Path: filepath.ToSlash(path)}
	return "file:" + name.EscapedPath()
}

// identify returns the format of a file, 0 if it is still empty, and refuses one that is not ours or is newer than this
// program.
func identify(ctx context.Context, q querier) (format int, err error) {
	var application, tables int
	if err := q.QueryRowContext(ctx, "SELECT * FROM pragma_application_id, pragma_user_version, "+
		"(SELECT count(*) FROM sqlite_schema)").Scan(&application, &format, &tables); err != nil {
		return 0, err
	}
	switch {
	case tables == 0:
		return 0, nil
	case application != applicationID:
		return 0, errors.New("is an SQLite file of another program; choose another path")
	case format < 1 || format > schemaVersion:
		return 0, fmt.Errorf("has format %d and this program reads format %d; use the program that wrote it, "+
			"or another path", format, schemaVersion)
	}
	return format, nil
}

// querier is a database, a connection of it or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// checkScopes fails if a scope is not what was written: nothing stored under it would be found again.
func checkScopes(ctx context.Context, q querier) error {
	return scan(ctx, q, "SELECT id, params, digest FROM scope", nil, func(rows *sql.Rows) error {
		var id, sum int64
		var params []byte
		if err := rows.Scan(&id, &params, &sum); err != nil {
			return err
		}
		if digestOfScope(params) != sum {
			return damaged("scope %d", id)
		}
		return nil
	})
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

// Close writes what is queued and closes the file. The error says what could not be written.
func (db *Rollouts) Close() error {
	var errs []error
	if db.w != nil {
		errs = append(errs, db.w.stop())
	}
	if db.read != nil {
		errs = append(errs, explainSQL(db.read.Close()))
	}
	if db.w != nil { // last, so that nobody reads
		errs = append(errs, explainSQL(db.w.disconnect()))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("rollouts %q: close: %w", db.path, err)
	}
	return nil
}

// Path returns the path of the file.
func (db *Rollouts) Path() string { return db.path }

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
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
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
