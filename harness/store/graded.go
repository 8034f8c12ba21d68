// Answers with the verdicts that stand on them.

package store

import (
	"context"
	"database/sql"
	"iter"
)

// Graded is a stored answer with a verdict on it.
type Graded struct {
	Answer
	Scope    Scope
	Verdict  Verdict
	Verifier string // version that gave it; empty if nothing graded the answer
}

// Graded yields every answer with the last verdict of another version than verifier, or with that of verifier where no
// other graded it: what grading again is to be compared with. Answers come in the order in which they were stored. The
// sequence is a snapshot, and it ends after the first error.
func (db *Rollouts) Graded(ctx context.Context, verifier string) iter.Seq2[Graded, error] {
	return each(ctx, db, "verdicts", func(tx *sql.Tx, yield func(Graded) error) error {
		var hash, params sql.RawBytes
		var buf fields
		texts := reader{db: db, tx: tx}
		scopes := readScopes{}
		last := RolloutID(0)
		// CROSS JOIN makes SQLite ask every version for one rollout, which its index answers at once.
		return scan(ctx, tx, `
			SELECT r.id, r.scope, s.params, s.digest, p.hash, r.run, r.seed, r.finish, r.tokens_in, r.tokens_out, r.text, r.digest,
				coalesce(f.version, ''), coalesce(v.gold, 0), coalesce(v.bucket, ''), coalesce(v.reason, ''), coalesce(v.extracted, ''), v.digest
			FROM rollout r JOIN scope s ON s.id = r.scope JOIN problem p ON p.id = r.problem
			LEFT JOIN (verifier f CROSS JOIN verdict v ON v.verifier = f.id) ON v.rollout = r.id
			ORDER BY r.id, f.version = ?, f.id DESC`, []any{verifier}, func(rows *sql.Rows) error {
			var g Graded
			var s Stored
			var scope, of, seed, gold, digest int64
			var graded sql.NullInt64
			if err := rows.Scan(&s.ID, &scope, &params, &of, &hash, &s.Key.Run, &seed, &s.Finish, &s.In, &s.Out, &s.text, &digest,
				&g.Verifier, &gold, &g.Verdict.Bucket, &g.Verdict.Reason, &g.Verdict.Extracted, &graded); err != nil {
				return err
			}
			if s.ID == last {
				return nil // verdicts of other versions
			}
			last = s.ID
			var err error
			if g.Scope, err = scopes.read(scope, params); err != nil {
				return err
			}
			copy(s.Key.Problem[:], hash)
			s.Key.Seed, g.Verdict.Gold, g.Verdict.Rollout = uint64(seed), uint64(gold), s.ID
			if s.digest(buf, of) != digest {
				return damaged("rollout %d", s.ID)
			}
			if graded.Valid && g.Verdict.digest(buf, g.Verifier) != graded.Int64 {
				return damaged("the verdict of version %s on rollout %d", g.Verifier, s.ID)
			}
			t, err := texts.text(ctx, s.ID, s.text)
			if err != nil {
				return err
			}
			g.Answer = Answer{s.ID, s.Key, s.Finish, s.In, s.Out, t.response, t.reasoning}
			return yield(g)
		})
	})
}
