// Files of rollouts of format 1, which had no attempts, failures, reasoning and digests, made files of today's format.

package store

import (
	"context"
	"database/sql"
	"fmt"
)

// migrate copies the tables of format 1 into those of today, in the transaction given: a kill leaves the file as it was.
func (db *Rollouts) migrate(ctx context.Context, tx *sql.Tx) error {
	for _, table := range []string{"scope", "problem", "rollout", "response", "verifier", "verdict"} {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("ALTER TABLE %s RENAME TO old_%s", table, table)); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, schema+`
		INSERT INTO scope SELECT id, params, 0, 0, 0, 0 FROM old_scope;
		INSERT INTO problem SELECT id, hash, text FROM old_problem;
		INSERT INTO verifier SELECT id, version FROM old_verifier`); err != nil {
		return err
	}
	if err := db.migrateRollouts(ctx, tx); err != nil {
		return err
	}
	if err := migrateVerdicts(ctx, tx); err != nil {
		return err
	}
	for _, table := range []string{"verdict", "rollout", "response", "verifier", "problem", "scope"} { // what refers to others first
		if _, err := tx.ExecContext(ctx, "DROP TABLE old_"+table); err != nil {
			return err
		}
	}
	return nil
}

func (db *Rollouts) migrateRollouts(ctx context.Context, tx *sql.Tx) error {
	scopes := map[int64]scopeRow{}
	if err := scan(ctx, tx, "SELECT id, params FROM scope", nil, func(rows *sql.Rows) error {
		var s scopeRow
		var params []byte
		err := rows.Scan(&s.id, &params)
		s.digest = digestOfScope(params)
		scopes[s.id] = s
		return err
	}); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO rollout VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	var hash sql.RawBytes
	var buf fields
	var texts, both []string
	block, count, of := int64(0), 0, int64(0)
	flush := func() error {
		if block == 0 {
			return nil
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO response (block, scope, rows, texts) VALUES (?, ?, ?, ?)", block, of, count, db.codec.pack(both))
		return err
	}
	if err := scan(ctx, tx, `SELECT r.scope, r.problem, p.hash, r.run, r.seed, r.id, r.finish, r.tokens_in, r.tokens_out
		FROM old_rollout r JOIN old_problem p ON p.id = r.problem ORDER BY r.id`, nil, func(rows *sql.Rows) error {
		var r Stored
		var scope, problem, seed int64
		if err := rows.Scan(&scope, &problem, &hash, &r.Key.Run, &seed, &r.ID, &r.Finish, &r.In, &r.Out); err != nil {
			return err
		}
		copy(r.Key.Problem[:], hash)
		r.Key.Seed = uint64(seed)
		if r.ID.block() != block {
			if err := flush(); err != nil {
				return err
			}
			block, of, count, both = r.ID.block(), scope, 0, nil
			var packed []byte
			if err := tx.QueryRowContext(ctx, "SELECT texts FROM old_response WHERE block = ?", block).Scan(&packed); err != nil {
				return fmt.Errorf("block %d: %w", block, err)
			}
			if texts, err = db.codec.unpack(packed); err != nil {
				return fmt.Errorf("block %d: %w", block, err)
			}
			for _, t := range texts {
				both = append(both, t, "")
			}
		}
		if r.ID.pos() >= len(texts) {
			return fmt.Errorf("block %d has %d responses and rollout %d is not among them", block, len(texts), r.ID)
		}
		count++
		r.text = digestOfText(texts[r.ID.pos()], "")
		s := scopes[scope]
		digest := r.digest(buf, s.digest)
		if _, err := insert.ExecContext(ctx, scope, problem, r.Key.Run, seed, int64(r.ID), string(r.Finish), r.In, r.Out, r.text, digest); err != nil {
			return err
		}
		s.rollouts++
		s.checksum ^= digest
		scopes[scope] = s
		return nil
	}); err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	for _, s := range scopes {
		if _, err := tx.ExecContext(ctx, "UPDATE scope SET digest = ?, rollouts = ?, checksum = ? WHERE id = ?", s.digest, s.rollouts, s.checksum, s.id); err != nil {
			return err
		}
	}
	return nil
}

func migrateVerdicts(ctx context.Context, tx *sql.Tx) error {
	insert, err := tx.PrepareContext(ctx, "INSERT INTO verdict SELECT id, ?, ?, ?, ?, ?, ? FROM verifier WHERE version = ?")
	if err != nil {
		return err
	}
	defer insert.Close()
	var buf fields
	return scan(ctx, tx, `SELECT f.version, v.rollout, v.gold, v.bucket, v.reason, v.extracted
		FROM old_verdict v JOIN old_verifier f ON f.id = v.verifier`, nil, func(rows *sql.Rows) error {
		var version string
		var v Verdict
		var gold int64
		if err := rows.Scan(&version, &v.Rollout, &gold, &v.Bucket, &v.Reason, &v.Extracted); err != nil {
			return err
		}
		v.Gold = uint64(gold)
		_, err := insert.ExecContext(ctx, int64(v.Rollout), gold, string(v.Bucket), v.Reason, v.Extracted, v.digest(buf, version), version)
		return err
	})
}
