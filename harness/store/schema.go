// The tables of a file of rollouts.

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

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
