// Answers with the verdicts that stand on them.

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
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
	return func(yield func(Graded, error) bool) {
		fail := func(err error) {
			if err != nil {
				yield(Graded{}, fmt.Errorf("rollouts %q: verdicts: %w", db.path, explainSQL(err)))
			}
		}
		// CROSS JOIN makes SQLite ask every version for one rollout, which its index answers at once.
		rows, err := db.read.QueryContext(ctx, `
			SELECT r.id, r.scope, s.params, p.hash, r.run, r.seed, r.finish,
				coalesce(f.version, ''), coalesce(v.gold, 0), coalesce(v.bucket, ''), coalesce(v.reason, ''), coalesce(v.extracted, '')
			FROM rollout r JOIN scope s ON s.id = r.scope JOIN problem p ON p.id = r.problem
			LEFT JOIN (verifier f CROSS JOIN verdict v ON v.verifier = f.id) ON v.rollout = r.id
			ORDER BY r.id, f.version = ?, f.id DESC`, verifier)
		if err != nil {
			fail(err)
			return
		}
		defer rows.Close()
		var hash, params sql.RawBytes
		var texts []string
		scopes := map[int64]Scope{}
		block, last := int64(-1), RolloutID(0)
		for rows.Next() {
			var g Graded
			var scope, seed, gold int64
			if err := rows.Scan(&g.ID, &scope, &params, &hash, &g.Key.Run, &seed, &g.Finish,
				&g.Verifier, &gold, &g.Verdict.Bucket, &g.Verdict.Reason, &g.Verdict.Extracted); err != nil {
				fail(err)
				return
			}
			if g.ID == last {
				continue // verdicts of other versions
			}
			last = g.ID
			if _, ok := scopes[scope]; !ok {
				var s Scope
				if err := json.Unmarshal(params, &s); err != nil {
					fail(fmt.Errorf("scope %d is damaged: %w", scope, err))
					return
				}
				scopes[scope] = s
			}
			copy(g.Key.Problem[:], hash)
			g.Scope, g.Key.Seed, g.Verdict.Gold, g.Verdict.Rollout = scopes[scope], uint64(seed), uint64(gold), g.ID
			if g.ID.block() != block {
				block = g.ID.block()
				if texts, err = db.blockTexts(ctx, block); err != nil {
					fail(err)
					return
				}
			}
			if g.ID.pos() >= len(texts) {
				fail(fmt.Errorf("block %d is damaged: it has %d responses and rollout %d is not among them", block, len(texts), g.ID))
				return
			}
			g.Response = texts[g.ID.pos()]
			if !yield(g, nil) {
				return
			}
		}
		fail(rows.Err())
	}
}
