// What goes into a file of rollouts: attempts, answers, failures and verdicts.

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Begin stores an attempt that is about to be sent and returns once it is synced; all who wait at a time share one
// transaction. After an error nothing may be sent. It is not interrupted by ctx, which would leave an attempt behind that
// was never made.
func (db *Rollouts) Begin(ctx context.Context, a Attempt) (AttemptID, error) {
	err := cmp.Or(ctx.Err(), db.w.failure())
	if err == nil {
		id := AttemptID(db.w.nextAttempt.Add(1))
		began := db.w.now()
		if err = db.w.wait(change{size: len(a.Text), do: func(t *transaction) error { return t.beginAttempt(id, a, began) }}); err == nil {
			db.w.began.Store(id, began)
			return id, nil
		}
	}
	return 0, fmt.Errorf("rollouts %q: attempt not begun: %w", db.path, err)
}

func (t *transaction) beginAttempt(id AttemptID, a Attempt, began time.Time) error {
	scope, err := t.scope(a.Scope)
	if err != nil {
		return err
	}
	problem, key, err := t.problem(a.Text)
	if err != nil {
		return err
	}
	server, err := t.server(a.Server)
	if err != nil {
		return err
	}
	row := StoredAttempt{ID: id, Process: t.process.Load(), Key: RolloutKey{key, a.Run, a.Seed}, Server: a.Server, Began: began, Most: a.Most}
	_, err = t.stmts.attempt.ExecContext(t.ctx, int64(id), sql.NullInt64{Int64: row.Process, Valid: row.Process != 0}, scope.id, problem, a.Run, int64(a.Seed), server,
		began.UnixMilli(), a.Most.In, a.Most.Out, a.Most.USD, row.begun(t.buf, scope.digest))
	return err
}

// End queues what became of an attempt that was begun.
func (db *Rollouts) End(e Ended) {
	ended := db.w.now()
	if began, ok := db.w.began.LoadAndDelete(e.ID); ok {
		// The clock of the wall may have been set meanwhile: what is kept is how long the attempt took.
		ended = began.(time.Time).Add(ended.Sub(began.(time.Time)))
	}
	db.w.add(change{what: "ends of attempts", size: len(e.Error), do: func(t *transaction) error { return t.endAttempt(e, ended.UnixMilli()) }}, false)
}

func (t *transaction) endAttempt(e Ended, ended int64) error {
	var scope, begun int64
	err := t.stmts.begun.QueryRowContext(t.ctx, int64(e.ID)).Scan(&scope, &begun)
	if errors.Is(err, sql.ErrNoRows) {
		t.broken = damaged("attempt %d was begun and is gone or ended twice", e.ID)
		return nil
	} else if err != nil {
		return err
	}
	digest := e.digest(t.buf, begun, ended)
	if _, err := t.stmts.end.ExecContext(t.ctx, ended, e.Class, e.Error, e.Spent.In, e.Spent.Out, e.Spent.USD, e.Estimated, digest, int64(e.ID)); err != nil {
		return err
	}
	k := tallyKey{scope, e.Class}
	v := t.tallies[k]
	v.attempts++
	v.Add(e.Spent)
	if e.Estimated {
		v.estimated++
	}
	t.tallies[k] = v
	return nil
}

// Keep queues an answer and, unless its bucket is empty, the verdict that a version of the verifier gave on it; the
// verdict's own Rollout is not read. A failure stored under the same key goes. stored is called by the goroutine that
// writes, once the answer is synced; nil: nobody wants to know. It must not call this file's methods.
//
// An answer that is stored already is an error of the file, which Begin and Sync return from then on.
func (db *Rollouts) Keep(scope Scope, row Row, verifier string, verdict Verdict, stored func(RolloutID)) {
	var id RolloutID
	c := db.keep(scope, row, verifier, verdict, &id)
	if stored != nil {
		c.done = func(err error) {
			if err == nil && id != 0 {
				stored(id)
			}
		}
	}
	db.w.add(c, false)
}

// keep stores an answer, whose key must be free, and sets id.
func (db *Rollouts) keep(scope Scope, row Row, verifier string, verdict Verdict, id *RolloutID) change {
	return change{what: "answers", size: len(row.Text) + len(row.Response) + len(row.Reasoning), do: func(t *transaction) (err error) {
		*id, err = t.addRollout(scope, row)
		switch {
		case err != nil:
			return err
		case *id == 0:
			t.broken = damaged("the answer of model %s to problem %x, run %d, seed %d is stored twice", scope.Model, KeyOfText(row.Text), row.Run, row.Seed)
			return nil
		case verdict.Bucket == "":
			return nil
		}
		verdict.Rollout = *id
		return t.addVerdicts(verifier, []Verdict{verdict})
	}}
}

// addRollout stores an answer and returns its id, 0 if its key is taken.
func (t *transaction) addRollout(s Scope, r Row) (RolloutID, error) {
	scope, err := t.scope(s)
	if err != nil {
		return 0, err
	}
	problem, key, err := t.problem(r.Text)
	if err != nil {
		return 0, err
	}
	size := len(r.Response) + len(r.Reasoning)
	id, err := t.position(scope.id, size)
	if err != nil {
		return 0, err
	}
	row := Stored{ID: id, Key: RolloutKey{key, r.Run, r.Seed}, Finish: r.Finish, In: r.In, Out: r.Out, text: digestOfText(r.Response, r.Reasoning)}
	digest := row.digest(t.buf, scope.digest)
	done, err := t.stmts.rollout.ExecContext(t.ctx, scope.id, problem, r.Run, int64(r.Seed), int64(id), string(r.Finish), r.In, r.Out, row.text, digest)
	if err != nil {
		return 0, err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		t.unposition(scope.id, size)
		return 0, err
	}
	if _, err := t.stmts.text.ExecContext(t.ctx, int64(id), scope.id, []byte(r.Response), []byte(r.Reasoning), row.text); err != nil {
		return 0, err
	}
	if _, err := t.stmts.answered.ExecContext(t.ctx, scope.id, problem, r.Run, int64(r.Seed)); err != nil {
		return 0, err
	}
	scope.rollouts++
	scope.checksum ^= digest
	t.cache.scopes[s], t.changed[s] = scope, true
	return id, nil
}

// Fail queues that a request has no answer. It replaces an earlier failure under the same key.
func (db *Rollouts) Fail(scope Scope, f RolloutFailure) {
	db.w.add(change{what: "failures", size: len(f.Text) + len(f.Error), do: func(t *transaction) error { return t.addFailure(scope, f) }}, false)
}

func (t *transaction) addFailure(s Scope, f RolloutFailure) error {
	scope, err := t.scope(s)
	if err != nil {
		return err
	}
	problem, key, err := t.problem(f.Text)
	if err != nil {
		return err
	}
	row := Failed{Key: RolloutKey{key, f.Run, f.Seed}, Class: f.Class, Error: f.Error, Again: f.Again}
	_, err = t.stmts.failure.ExecContext(t.ctx, scope.id, problem, f.Run, int64(f.Seed), f.Class, f.Error, f.Again, row.digest(t.buf, scope.digest))
	return err
}

// PutVerdicts files grades given by one version of the verifier and returns once they are synced. A grade of the same rollout
// by the same version is replaced: the answer graded against may have been corrected.
func (db *Rollouts) PutVerdicts(ctx context.Context, verifier string, verdicts []Verdict) error {
	err := ctx.Err()
	for _, v := range verdicts {
		if v.Rollout == 0 || v.Bucket == "" {
			err = fmt.Errorf("verdict %+v has no rollout or no bucket", v)
		}
	}
	if err == nil {
		err = db.w.wait(change{what: "batches of verdicts", do: func(t *transaction) error { return t.addVerdicts(verifier, verdicts) }})
	}
	if err != nil {
		return fmt.Errorf("rollouts %q: %d verdicts not stored: %w", db.path, len(verdicts), err)
	}
	return nil
}

func (t *transaction) addVerdicts(verifier string, verdicts []Verdict) error {
	id, err := t.verifier(verifier)
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		if _, err := t.stmts.verdict.ExecContext(t.ctx, id, int64(v.Rollout), int64(v.Gold), string(v.Bucket), v.Reason, v.Extracted, v.digest(t.buf, verifier)); err != nil {
			return err
		}
	}
	return nil
}

// Sync returns once all that was queued before is synced. It fails if something could not be written since the file was
// opened; nothing can be begun then.
func (db *Rollouts) Sync(ctx context.Context) error {
	done := make(chan error, 1)
	db.w.add(change{done: func(err error) { done <- err }}, true)
	var err error
	select {
	case err = <-done:
		err = cmp.Or(err, db.w.failure())
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("rollouts %q: %w", db.path, err)
	}
	return nil
}

// StartRun stores who writes from now on: the attempts that follow are those of this run.
func (db *Rollouts) StartRun(ctx context.Context, r Run) error {
	err := ctx.Err()
	if err == nil {
		err = db.w.wait(change{do: func(t *transaction) error {
			var id int64
			err := t.stmts.process.QueryRowContext(t.ctx, r.Name, r.Command, r.PID, r.Host, r.Started.UnixMilli()).Scan(&id)
			t.process.Store(id)
			return err
		}})
	}
	if err != nil {
		return fmt.Errorf("rollouts %q: run not stored: %w", db.path, err)
	}
	return nil
}

// Serves queues what a server calls itself.
func (db *Rollouts) Serves(url, version string) {
	db.w.add(change{what: "versions of servers", do: func(t *transaction) error {
		id, err := t.server(url)
		if err == nil {
			_, err = t.conn.ExecContext(t.ctx, "UPDATE server SET version = ? WHERE id = ?", version, id)
		}
		return err
	}}, false)
}

// Want queues how many rollouts a run wants of a scope, with those that are stored already: what status counts up to.
func (db *Rollouts) Want(scope Scope, n int) {
	db.w.add(change{what: "counts of what is wanted", do: func(t *transaction) error {
		row, err := t.scope(scope)
		if err == nil {
			_, err = t.stmts.want.ExecContext(t.ctx, n, row.id)
		}
		return err
	}}, false)
}

// ImportAnswer queues an attempt that was made elsewhere with the answer that it got and the verdict on it, as Begin, End and Keep
// would: all of it is stored or nothing. An answer that is stored already is an error of the file. After an error nothing
// more is stored.
func (db *Rollouts) ImportAnswer(a Attempt, e Ended, row Row, verifier string, v Verdict) error {
	return db.imported("imported answers", a, e, db.keep(a.Scope, row, verifier, v, new(RolloutID)))
}

// ImportFailure is ImportAnswer for an attempt that got none.
func (db *Rollouts) ImportFailure(a Attempt, e Ended, f RolloutFailure) error {
	return db.imported("imported failures", a, e, change{size: len(f.Error), do: func(t *transaction) error { return t.addFailure(a.Scope, f) }})
}

func (db *Rollouts) imported(what string, a Attempt, e Ended, became change) error {
	if err := db.w.failure(); err != nil {
		return fmt.Errorf("rollouts %q: %w", db.path, err)
	}
	e.ID = AttemptID(db.w.nextAttempt.Add(1))
	now := db.w.now()
	do := became.do
	became.what, became.size = what, became.size+len(a.Text)
	became.do = func(t *transaction) error {
		if err := t.beginAttempt(e.ID, a, now); err != nil {
			return err
		}
		if err := t.endAttempt(e, now.UnixMilli()); err != nil {
			return err
		}
		return do(t)
	}
	db.w.add(became, false)
	return nil
}
