// Rollouts, failures and verdicts, read.

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// errLeft ends reading where nobody wants the rest.
var errLeft = errors.New("left")

// look calls read with a snapshot: what is stored meanwhile does not appear in it. what says in errors what is read.
func (db *Rollouts) look(ctx context.Context, what string, read func(*sql.Tx) error) error {
	tx, err := db.read.BeginTx(ctx, nil)
	if err == nil {
		defer tx.Rollback()
		err = read(tx)
	}
	if err == nil || err == errLeft {
		return err
	}
	return fmt.Errorf("rollouts %q: %s: %w", db.path, what, explainSQL(err))
}

// each is a sequence of what read yields, as look has it. It ends after the first error. An error of yield is errLeft, which read returns.
func each[V any](ctx context.Context, db *Rollouts, what string, read func(tx *sql.Tx, yield func(V) error) error) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		err := db.look(ctx, what, func(tx *sql.Tx) error {
			return read(tx, func(v V) error {
				if !yield(v, nil) {
					return errLeft
				}
				return nil
			})
		})
		if err != nil && err != errLeft {
			var none V
			yield(none, err)
		}
	}
}

// findScope returns the row of a scope; its id is 0 if nothing was stored under it.
func findScope(ctx context.Context, q querier, s Scope) (row scopeRow, err error) {
	if err := checkScopes(ctx, q); err != nil {
		return row, err
	}
	params, err := canonicalJSON(s)
	if err != nil {
		return row, err
	}
	err = q.QueryRowContext(ctx, "SELECT id, digest, rollouts, checksum FROM scope WHERE params = ?", string(params)).Scan(&row.id, &row.digest, &row.rollouts, &row.checksum)
	if errors.Is(err, sql.ErrNoRows) {
		return scopeRow{}, nil
	}
	return row, err
}

// words keeps one string for all rows that hold the same short word.
type words map[string]string

func (w words) of(raw []byte) string {
	if s, ok := w[string(raw)]; ok {
		return s
	}
	s := string(raw)
	if len(w) < 1000 {
		w[s] = s
	}
	return s
}

// Load yields every rollout stored under a scope, with its verdict by the given version of the verifier. It reads
// no responses, so this is how a run finds out what it need not ask again; Failures has the rest. The order means nothing. The
// sequence is a snapshot: what is stored meanwhile does not appear in it. It ends after the first error, which is ErrDamaged
// where a row is not what was written, or rows or their texts are gone.
func (db *Rollouts) Load(ctx context.Context, scope Scope, verifier string) iter.Seq2[Stored, error] {
	return each(ctx, db, "load", func(tx *sql.Tx, yield func(Stored) error) error {
		of, err := findScope(ctx, tx, scope)
		if err != nil || of.id == 0 {
			return err
		}
		blocks, err := textsOf(ctx, tx, of.id)
		if err != nil {
			return err
		}
		var hash, finish, bucket, reason, extracted sql.RawBytes
		var gold, graded sql.NullInt64
		buf, known := make(fields, 0, 512), words{}
		if err := scan(ctx, tx, `
			SELECT p.hash, r.run, r.seed, r.id, r.finish, r.tokens_in, r.tokens_out, r.text, r.digest,
				v.gold, v.bucket, v.reason, v.extracted, v.digest
			FROM rollout r JOIN problem p ON p.id = r.problem
			LEFT JOIN verdict v ON v.verifier = (SELECT id FROM verifier WHERE version = ?) AND v.rollout = r.id
			WHERE r.scope = ?`, []any{verifier, of.id}, func(rows *sql.Rows) error {
			var s Stored
			var seed, digest int64
			if err := rows.Scan(&hash, &s.Key.Run, &seed, &s.ID, &finish, &s.In, &s.Out, &s.text, &digest,
				&gold, &bucket, &reason, &extracted, &graded); err != nil {
				return err
			}
			copy(s.Key.Problem[:], hash)
			s.Key.Seed, s.Finish = uint64(seed), routing.Finish(known.of(finish))
			if s.digest(buf, of.digest) != digest {
				return damaged("rollout %d", s.ID)
			}
			s.Verdict = Verdict{Rollout: s.ID, Gold: uint64(gold.Int64), Bucket: routing.Bucket(known.of(bucket)), Reason: known.of(reason), Extracted: known.of(extracted)}
			if graded.Valid && s.Verdict.digest(buf, verifier) != graded.Int64 {
				return damaged("the verdict of version %s on rollout %d", verifier, s.ID)
			}
			of.rollouts--
			of.checksum ^= digest
			blocks[s.ID.block()]--
			return yield(s)
		}); err != nil {
			return err
		}
		if of.rollouts != 0 || of.checksum != 0 {
			return damaged("of the rollouts of model %s some are gone, or more are there than were stored", scope.Model)
		}
		for block, n := range blocks {
			if n != 0 {
				return damaged("block %d, which holds texts of model %s,", block, scope.Model)
			}
		}
		return nil
	})
}

// textsOf counts the texts of a scope by block.
func textsOf(ctx context.Context, q querier, scope int64) (map[int64]int64, error) {
	blocks := map[int64]int64{}
	err := scan(ctx, q, `SELECT block, rows FROM response WHERE scope = ?
		UNION ALL SELECT id / ?, count(*) FROM unpacked WHERE scope = ? GROUP BY 1`, []any{scope, blockRows, scope}, func(rows *sql.Rows) error {
		var block, n int64
		err := rows.Scan(&block, &n)
		blocks[block] += n
		return err
	})
	return blocks, err
}

// Failures yields the requests of a scope that have no answer. It ends after the first error.
func (db *Rollouts) Failures(ctx context.Context, scope Scope) iter.Seq2[Failed, error] {
	return each(ctx, db, "failures", func(tx *sql.Tx, yield func(Failed) error) error {
		of, err := findScope(ctx, tx, scope)
		if err != nil || of.id == 0 {
			return err
		}
		var hash sql.RawBytes
		var buf fields
		return scan(ctx, tx, `SELECT p.hash, f.run, f.seed, f.class, f.error, f.again, f.digest
			FROM failure f JOIN problem p ON p.id = f.problem WHERE f.scope = ?`, []any{of.id}, func(rows *sql.Rows) error {
			var f Failed
			var seed, digest int64
			if err := rows.Scan(&hash, &f.Key.Run, &seed, &f.Class, &f.Error, &f.Again, &digest); err != nil {
				return err
			}
			copy(f.Key.Problem[:], hash)
			f.Key.Seed = uint64(seed)
			if f.digest(buf, of.digest) != digest {
				return damaged("the failure of model %s on problem %x, run %d,", scope.Model, f.Key.Problem, f.Key.Run)
			}
			return yield(f)
		})
	})
}

// Response returns the text of one rollout.
func (db *Rollouts) Response(ctx context.Context, id RolloutID) (string, error) {
	response, _, err := db.Texts(ctx, id)
	return response, err
}

// Texts returns the text of one rollout and the thinking that was sent apart from it.
func (db *Rollouts) Texts(ctx context.Context, id RolloutID) (response, reasoning string, err error) {
	err = db.look(ctx, fmt.Sprintf("response %d", id), func(tx *sql.Tx) error {
		texts, err := db.texts(ctx, tx, id.block())
		if err != nil {
			return err
		}
		t, ok := texts[id.pos()]
		if !ok {
			return errors.New("no rollout has this id")
		}
		response, reasoning = t.response, t.reasoning
		return nil
	})
	return response, reasoning, err
}

// text is what was sent for one rollout.
type text struct{ response, reasoning string }

// texts returns the texts of a block by position.
func (db *Rollouts) texts(ctx context.Context, q querier, block int64) (map[int]text, error) {
	var packed []byte
	out := map[int]text{}
	err := q.QueryRowContext(ctx, "SELECT texts FROM response WHERE block = ?", block).Scan(&packed)
	if err == nil {
		all, err := db.codec.unpack(packed)
		if err != nil || len(all)%2 != 0 {
			return nil, damaged("block %d", block)
		}
		for i := 0; i < len(all); i += 2 {
			out[i/2] = text{all[i], all[i+1]}
		}
		return out, nil
	} else if !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	err = scan(ctx, q, "SELECT id, response, reasoning, digest FROM unpacked WHERE id BETWEEN ? AND ?", []any{int64(idOf(block, 0)), int64(idOf(block, blockRows-1))}, func(rows *sql.Rows) error {
		var id RolloutID
		var response, reasoning []byte
		var digest int64
		if err := rows.Scan(&id, &response, &reasoning, &digest); err != nil {
			return err
		}
		t := text{string(response), string(reasoning)}
		if digestOfText(t.response, t.reasoning) != digest {
			return damaged("the text of rollout %d", id)
		}
		out[id.pos()] = t
		return nil
	})
	return out, err
}

// reader reads texts in the order of their ids, each block once.
type reader struct {
	db    *Rollouts
	tx    *sql.Tx
	block int64
	texts map[int]text
}

// text returns the text of a rollout, whose digest is known.
func (r *reader) text(ctx context.Context, id RolloutID, digest int64) (text, error) {
	if r.texts == nil || id.block() != r.block {
		var err error
		if r.texts, err = r.db.texts(ctx, r.tx, id.block()); err != nil {
			return text{}, err
		}
		r.block = id.block()
	}
	t, ok := r.texts[id.pos()]
	if !ok || digestOfText(t.response, t.reasoning) != digest {
		return text{}, damaged("the text of rollout %d", id)
	}
	return t, nil
}

// Answer is a stored rollout with its response, as a verifier needs it.
type Answer struct {
	ID        RolloutID
	Key       RolloutKey
	Finish    routing.Finish
	In, Out   int64 // tokens
	Response  string
	Reasoning string
}

// Responses yields every rollout stored under a scope with its response, in the order in which they were stored, so
// that each block is decompressed once. It may be used to grade again while PutVerdicts files the grades. It ends after
// the first error.
func (db *Rollouts) Responses(ctx context.Context, scope Scope) iter.Seq2[Answer, error] {
	return each(ctx, db, "responses", func(tx *sql.Tx, yield func(Answer) error) error {
		of, err := findScope(ctx, tx, scope)
		if err != nil || of.id == 0 {
			return err
		}
		var hash sql.RawBytes
		var buf fields
		texts := reader{db: db, tx: tx}
		return scan(ctx, tx, `
			SELECT p.hash, r.run, r.seed, r.id, r.finish, r.tokens_in, r.tokens_out, r.text, r.digest
			FROM rollout r JOIN problem p ON p.id = r.problem WHERE r.scope = ? ORDER BY r.id`, []any{of.id}, func(rows *sql.Rows) error {
			var s Stored
			var seed, digest int64
			if err := rows.Scan(&hash, &s.Key.Run, &seed, &s.ID, &s.Finish, &s.In, &s.Out, &s.text, &digest); err != nil {
				return err
			}
			copy(s.Key.Problem[:], hash)
			s.Key.Seed = uint64(seed)
			if s.digest(buf, of.digest) != digest {
				return damaged("rollout %d", s.ID)
			}
			t, err := texts.text(ctx, s.ID, s.text)
			if err != nil {
				return err
			}
			return yield(Answer{s.ID, s.Key, s.Finish, s.In, s.Out, t.response, t.reasoning})
		})
	})
}

// readScopes are the scopes that a query has met, by their row.
type readScopes map[int64]Scope

// read returns the scope of a row, decoded once.
func (r readScopes) read(id int64, params []byte) (Scope, error) {
	s, ok := r[id]
	if !ok {
		if err := json.Unmarshal(params, &s); err != nil {
			return s, damaged("scope %d", id)
		}
		r[id] = s
	}
	return s, nil
}
