// What a file of rollouts says of a run that is going on, or was killed.

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// Attempts yields every attempt in the order in which they began. It ends after the first error, which is ErrDamaged where a row
// is not what was written.
func (db *Rollouts) Attempts(ctx context.Context) iter.Seq2[StoredAttempt, error] {
	return each(ctx, db, "attempts", func(tx *sql.Tx, yield func(StoredAttempt) error) error {
		return attempts(ctx, tx, "ORDER BY a.id", yield)
	})
}

// attempts reads the attempts that a clause selects.
func attempts(ctx context.Context, q querier, clause string, yield func(StoredAttempt) error) error {
	var params, hash sql.RawBytes
	var buf fields
	scopes := readScopes{}
	return scan(ctx, q, `
		SELECT a.id, coalesce(a.process, 0), a.scope, s.params, s.digest, p.hash, a.run, a.seed, v.url, a.began, a.most_in, a.most_out, a.most_usd,
			a.ended, a.class, a.error, a.tokens_in, a.tokens_out, a.usd, a.estimated, a.digest
		FROM attempt a JOIN scope s ON s.id = a.scope JOIN problem p ON p.id = a.problem JOIN server v ON v.id = a.server `+clause, nil, func(rows *sql.Rows) error {
		var a StoredAttempt
		var scope, of, seed, began, digest int64
		var ended sql.NullInt64
		if err := rows.Scan(&a.ID, &a.Process, &scope, &params, &of, &hash, &a.Key.Run, &seed, &a.Server, &began, &a.Most.In, &a.Most.Out, &a.Most.USD,
			&ended, &a.Class, &a.Error, &a.Spent.In, &a.Spent.Out, &a.Spent.USD, &a.Estimated, &digest); err != nil {
			return err
		}
		var err error
		if a.Scope, err = scopes.read(scope, params); err != nil {
			return err
		}
		copy(a.Key.Problem[:], hash)
		a.Key.Seed, a.Began = uint64(seed), time.UnixMilli(began)
		if a.digest(buf, of, ended) != digest {
			return damaged("attempt %d", a.ID)
		}
		if ended.Valid {
			a.Ended = time.UnixMilli(ended.Int64)
		}
		return yield(a)
	})
}

// lookAt reads the one row of a query whose one parameter is a scope.
func (db *Rollouts) lookAt(ctx context.Context, what string, scope Scope, query string, into ...any) error {
	return db.look(ctx, what, func(tx *sql.Tx) error {
		of, err := findScope(ctx, tx, scope)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, query, of.id).Scan(into...)
	})
}

// Pace is how many seconds an attempt of a scope took that was answered, on average over the last thousand; ok is false if there
// is none. Of what was imported nobody knows how long it took.
func (db *Rollouts) Pace(ctx context.Context, scope Scope) (seconds float64, ok bool, err error) {
	var ms sql.NullFloat64
	err = db.lookAt(ctx, "pace", scope, `SELECT avg(took) FROM (SELECT ended - began AS took FROM attempt
		WHERE scope = ? AND class = '`+AnsweredClass+`' AND ended > began ORDER BY id DESC LIMIT 1000)`, &ms)
	return ms.Float64 / 1000, ms.Valid, err
}

// Counted counts the answers of a scope, and those whose tokens were counted here, since the server did not say.
func (db *Rollouts) Counted(ctx context.Context, scope Scope) (answers, here int64, err error) {
	err = db.lookAt(ctx, "counted tokens", scope, `SELECT coalesce(sum(attempts), 0), coalesce(sum(estimated), 0) FROM tally
		WHERE scope = ? AND class = '`+AnsweredClass+`'`, &answers, &here)
	return answers, here, err
}

// Repeated counts the answers of a scope, and those whose text an answer to the same problem has that came before, byte for byte. It
// reads every row, about two seconds a million.
func (db *Rollouts) Repeated(ctx context.Context, scope Scope) (answers, repeated int64, err error) {
	err = db.lookAt(ctx, "repeated answers", scope, `SELECT coalesce(sum(n), 0), coalesce(sum(n - texts), 0)
		FROM (SELECT count(*) AS n, count(DISTINCT text) AS texts FROM rollout WHERE scope = ? GROUP BY problem)`, &answers, &repeated)
	return answers, repeated, err
}

// Status is how far a folder's runs are.
type Status struct {
	Holder  *Holder           `json:"holder"`  // the process that writes; nil: none
	Run     *Run              `json:"run"`     // the last one that asked; nil: none did, or it did not say
	Scopes  []ScopeStatus     `json:"scopes"`  // in the order in which they were first asked
	Oldest  *time.Time        `json:"oldest"`  // when the oldest request began that is in flight; nil: none is
	Servers map[string]string `json:"servers"` // what those called themselves that said it, by URL
}

// ScopeStatus is how far one expert is with one split.
type ScopeStatus struct {
	Scope      Scope            `json:"scope"`
	Answered   int64            `json:"answered"`    // rollouts that are stored
	Want       int64            `json:"want"`        // rollouts that the last run wanted; 0: it did not say
	Failed     map[string]int64 `json:"failed"`      // requests without an answer, by class
	Errors     map[string]int64 `json:"errors"`      // attempts that ended without an answer, by class
	InFlight   int64            `json:"in_flight"`   // attempts of the process that writes, without an end yet
	Lost       int64            `json:"lost"`        // attempts of processes that are gone, without an end
	LastMinute int64            `json:"last_minute"` // answers
	Spent      Spent            `json:"spent"`       // by the attempts that ended
	Bound      Spent            `json:"bound"`       // at most, by those without an end

	Repeated *int64 `json:"repeated,omitempty"` // answers that repeat another one; nil: nobody counted
}

// Left is how many rollouts are still to be asked for, as far as the last run said how many it wants.
func (s *ScopeStatus) Left() int64 {
	failed := int64(0)
	for _, n := range s.Failed {
		failed += n
	}
	return max(0, s.Want-s.Answered-failed)
}

// ReadStatus says how far the runs of a folder are. It only reads, and takes well under a second whatever is stored. A folder that
// is not there or empty has an empty status.
func ReadStatus(ctx context.Context, root string) (*Status, error) {
	st := &Status{}
	h, ok, err := HolderOf(root)
	if err != nil {
		return nil, err
	}
	if ok {
		st.Holder = &h
	}
	db, err := ReadRollouts(ctx, filepath.Join(root, rolloutsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	} else if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := db.look(ctx, "status", func(tx *sql.Tx) error { return st.read(ctx, tx) }); err != nil {
		return nil, err
	}
	return st, nil
}

// ReadRepeated counts the answers that repeat others, as Rollouts.Repeated does.
func (st *Status) ReadRepeated(ctx context.Context, root string) error {
	if len(st.Scopes) == 0 {
		return nil
	}
	db, err := ReadRollouts(ctx, filepath.Join(root, rolloutsFile))
	if err != nil {
		return err
	}
	defer db.Close()
	for i := range st.Scopes {
		_, repeated, err := db.Repeated(ctx, st.Scopes[i].Scope)
		if err != nil {
			return err
		}
		st.Scopes[i].Repeated = &repeated
	}
	return nil
}

func (st *Status) read(ctx context.Context, tx *sql.Tx) error {
	var process int64
	var run Run
	var started int64
	err := tx.QueryRowContext(ctx, "SELECT id, name, command, pid, host, started FROM process ORDER BY id DESC LIMIT 1").Scan(&process, &run.Name, &run.Command, &run.PID, &run.Host, &started)
	switch {
	case err == nil:
		run.Started = time.UnixMilli(started)
		st.Run = &run
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	now := time.Now()
	of := map[int64]*ScopeStatus{}
	at := map[Scope]*ScopeStatus{}
	for _, q := range []struct {
		query string
		args  []any
		scan  func(*sql.Rows) error
	}{
		{"SELECT id, params, rollouts, want FROM scope ORDER BY id", nil, func(rows *sql.Rows) error {
			var id int64
			var params []byte
			s := &ScopeStatus{Failed: map[string]int64{}, Errors: map[string]int64{}}
			if err := rows.Scan(&id, &params, &s.Answered, &s.Want); err != nil {
				return err
			}
			of[id] = s
			if err := json.Unmarshal(params, &s.Scope); err != nil {
				return damaged("scope %d", id)
			}
			at[s.Scope] = s
			return nil
		}},
		{"SELECT url, version FROM server WHERE version != ''", nil, func(rows *sql.Rows) error {
			var url, version string
			err := rows.Scan(&url, &version)
			if st.Servers == nil {
				st.Servers = map[string]string{}
			}
			st.Servers[url] = version
			return err
		}},
		{"SELECT scope, class, attempts, tokens_in, tokens_out, usd FROM tally", nil, func(rows *sql.Rows) error {
			var id, n int64
			var class string
			var spent Spent
			if err := rows.Scan(&id, &class, &n, &spent.In, &spent.Out, &spent.USD); err != nil {
				return err
			}
			s := of[id]
			if s == nil {
				return damaged("the sums of scope %d", id)
			}
			s.Spent.Add(spent)
			if class != AnsweredClass {
				s.Errors[class] += n
			}
			return nil
		}},
		{"SELECT scope, class, count(*) FROM failure GROUP BY 1, 2", nil, func(rows *sql.Rows) error {
			var id, n int64
			var class string
			if err := rows.Scan(&id, &class, &n); err != nil {
				return err
			}
			if of[id] == nil {
				return damaged("failures of scope %d", id)
			}
			of[id].Failed[class] = n
			return nil
		}},
		// What ended later than now did so before the clock was set back.
		{"SELECT scope, count(*) FROM attempt WHERE ended > ? AND ended <= ? AND class = ? GROUP BY 1", []any{now.Add(-time.Minute).UnixMilli(), now.UnixMilli(), AnsweredClass}, func(rows *sql.Rows) error {
			var id, n int64
			if err := rows.Scan(&id, &n); err != nil {
				return err
			}
			if of[id] == nil {
				return damaged("attempts of scope %d", id)
			}
			of[id].LastMinute = n
			return nil
		}},
	} {
		if err := scan(ctx, tx, q.query, q.args, q.scan); err != nil {
			return err
		}
	}
	running := st.Holder != nil && (st.Run == nil || st.Run.PID == st.Holder.PID)
	err = attempts(ctx, tx, "WHERE a.ended IS NULL", func(a StoredAttempt) error {
		s := at[a.Scope]
		s.Bound.Add(a.Most)
		if running && a.Process == process {
			s.InFlight++
			if st.Oldest == nil || a.Began.Before(*st.Oldest) {
				st.Oldest = &a.Began
			}
		} else {
			s.Lost++
		}
		return nil
	})
	for _, id := range slices.Sorted(maps.Keys(of)) {
		st.Scopes = append(st.Scopes, *of[id])
	}
	return err
}
