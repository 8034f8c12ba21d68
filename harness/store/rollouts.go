// The file of rollouts.

package store

import (
	"database/sql"
	"errors"
	"fmt"
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

const rolloutsFile = "rollouts.db"
