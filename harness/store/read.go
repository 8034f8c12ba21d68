// Rollouts and verdicts, read.

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// Stored is a rollout as it is found in the file, without its response.
type Stored struct {
	ID      RolloutID
	Key     RolloutKey
	Finish  routing.Finish
	In, Out int64   // tokens
	Verdict Verdict // of the verifier asked for; its Bucket is empty if there is none
}

// scopeID returns the row of a scope and 0 if nothing was stored under it.
func (db *Rollouts) scopeID(ctx context.Context, s Scope) (id int64, err error) {
	params, err := canonicalJSON(s)
	if err != nil {
		return 0, err
	}
	err = db.read.QueryRowContext(ctx, "SELECT id FROM scope WHERE params = ?", string(params)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// Have returns the ids of the rollouts that are stored under a scope, len(keys), 0 where there is none. For more than
// some ten thousand keys Load is faster.
func (db *Rollouts) Have(ctx context.Context, scope Scope, keys []RolloutKey) ([]RolloutID, error) {
	ids, err := db.have(ctx, scope, keys)
	if err != nil {
		return nil, fmt.Errorf("rollouts %q: look up: %w", db.path, explainSQL(err))
	}
	return ids, nil
}

func (db *Rollouts) have(ctx context.Context, scope Scope, keys []RolloutKey) ([]RolloutID, error) {
	ids := make([]RolloutID, len(keys))
	scopeID, err := db.scopeID(ctx, scope)
	if err != nil || scopeID == 0 {
		return ids, err
	}
	find, err := db.read.PrepareContext(ctx, `SELECT id FROM rollout
		WHERE scope = ? AND problem = (SELECT id FROM problem WHERE hash = ?) AND run = ? AND seed = ?`)
	if err != nil {
		return nil, err
	}
	defer find.Close()
	for i, k := range keys {
		err := find.QueryRowContext(ctx, scopeID, k.Problem[:], k.Run, int64(k.Seed)).Scan(&ids[i])
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	return ids, nil
}

// Load yields every rollout stored under a scope, with its verdict by the given version of the verifier. It reads
// no responses, so this is how a run finds out what it need not ask again. The order means nothing. The sequence is a
// snapshot: what is stored meanwhile does not appear in it. It ends after the first error.
func (db *Rollouts) Load(ctx context.Context, scope Scope, verifier string) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		fail := func(err error) {
			if err != nil {
				yield(Stored{}, fmt.Errorf("rollouts %q: load: %w", db.path, explainSQL(err)))
			}
		}
		scopeID, err := db.scopeID(ctx, scope)
		if err != nil || scopeID == 0 {
			fail(err)
			return
		}
		rows, err := db.read.QueryContext(ctx, `
			SELECT p.hash, r.run, r.seed, r.id, r.finish, r.tokens_in, r.tokens_out,
				coalesce(v.gold, 0), coalesce(v.bucket, ''), coalesce(v.reason, ''), coalesce(v.extracted, '')
			FROM rollout r JOIN problem p ON p.id = r.problem
			LEFT JOIN verdict v ON v.verifier = (SELECT id FROM verifier WHERE version = ?) AND v.rollout = r.id
			WHERE r.scope = ?`, verifier, scopeID)
		if err != nil {
			fail(err)
			return
		}
		defer rows.Close()
		var hash sql.RawBytes
		for rows.Next() {
			var s Stored
			var seed, gold int64
			if err := rows.Scan(&hash, &s.Key.Run, &seed, &s.ID, &s.Finish, &s.In, &s.Out,
				&gold, &s.Verdict.Bucket, &s.Verdict.Reason, &s.Verdict.Extracted); err != nil {
				fail(err)
				return
			}
			copy(s.Key.Problem[:], hash)
			s.Key.Seed, s.Verdict.Gold, s.Verdict.Rollout = uint64(seed), uint64(gold), s.ID
			if !yield(s, nil) {
				return
			}
		}
		fail(rows.Err())
	}
}

// Response returns the text of one rollout.
func (db *Rollouts) Response(ctx context.Context, id RolloutID) (string, error) {
	texts, err := db.blockTexts(ctx, id.block())
	if err == nil && id.pos() >= len(texts) {
		err = sql.ErrNoRows
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("no rollout has this id")
	}
	if err != nil {
		return "", fmt.Errorf("rollouts %q: response %d: %w", db.path, id, explainSQL(err))
	}
	return texts[id.pos()], nil
}

func (db *Rollouts) blockTexts(ctx context.Context, block int64) ([]string, error) {
	var packed []byte
	if err := db.read.QueryRowContext(ctx, "SELECT texts FROM response WHERE block = ?", block).Scan(&packed); err != nil {
		return nil, err
	}
	texts, err := db.codec.unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("block %d is damaged: %w", block, err)
	}
	return texts, nil
}

// Answer is a stored rollout with its response, as a verifier needs it.
type Answer struct {
	ID       RolloutID
	Key      RolloutKey
	Finish   routing.Finish
	Response string
}

// Responses yields every rollout stored under a scope with its response, in the order in which they were stored, so
// that each block is decompressed once. It may be used to grade again while PutVerdicts files the grades. It ends after
// the first error.
func (db *Rollouts) Responses(ctx context.Context, scope Scope) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		fail := func(err error) {
			if err != nil {
				yield(Answer{}, fmt.Errorf("rollouts %q: responses: %w", db.path, explainSQL(err)))
			}
		}
		scopeID, err := db.scopeID(ctx, scope)
		if err != nil || scopeID == 0 {
			fail(err)
			return
		}
		rows, err := db.read.QueryContext(ctx, `
			SELECT p.hash, r.run, r.seed, r.id, r.finish
			FROM rollout r JOIN problem p ON p.id = r.problem WHERE r.scope = ? ORDER BY r.id`, scopeID)
		if err != nil {
			fail(err)
			return
		}
		defer rows.Close()
		var hash sql.RawBytes
		var texts []string
		block := int64(-1)
		for rows.Next() {
			var a Answer
			var seed int64
			if err := rows.Scan(&hash, &a.Key.Run, &seed, &a.ID, &a.Finish); err != nil {
				fail(err)
				return
			}
			copy(a.Key.Problem[:], hash)
			a.Key.Seed = uint64(seed)
			if a.ID.block() != block {
				block = a.ID.block()
				if texts, err = db.blockTexts(ctx, block); err != nil {
					fail(err)
					return
				}
			}
			if a.ID.pos() >= len(texts) {
				fail(fmt.Errorf("block %d is damaged: it has %d responses and rollout %d is not among them",
					block, len(texts), a.ID))
				return
			}
			a.Response = texts[a.ID.pos()]
			if !yield(a, nil) {
				return
			}
		}
		fail(rows.Err())
	}
}

// Check verifies the file: SQLite's own integrity check, every block's checksum, and that every rollout has its
// response and its problem.
func (db *Rollouts) Check(ctx context.Context) error {
	if err := db.check(ctx); err != nil {
		return fmt.Errorf("rollouts %q: %w", db.path, explainSQL(err))
	}
	return nil
}

func (db *Rollouts) check(ctx context.Context) error {
	var result string
	if err := db.read.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return fmt.Errorf("is damaged: %s", result)
	}
	var broken int
	if err := db.read.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&broken); err != nil {
		return err
	}
	if broken > 0 {
		return fmt.Errorf("is damaged: %d rows refer to rows that are gone", broken)
	}
	rows, err := db.read.QueryContext(ctx, "SELECT id / ?, count(*), max(id % ?) + 1 FROM rollout GROUP BY 1", blockRows, blockRows)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var block int64
		var count, size int
		if err := rows.Scan(&block, &count, &size); err != nil {
			return err
		}
		texts, err := db.blockTexts(ctx, block)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("is damaged: block %d is missing", block)
		} else if err != nil {
			return err
		}
		if len(texts) != count || size != count {
			return fmt.Errorf("is damaged: block %d has %d responses for %d rollouts", block, len(texts), count)
		}
	}
	return rows.Err()
}
