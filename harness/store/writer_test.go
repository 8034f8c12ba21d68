package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// broken makes every commit of a file fail with the error that it is given, until that is nil.
func broken(db *Rollouts) (set func(error)) {
	var mu sync.Mutex
	var now error
	db.w.at = func(op, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		now = err
	}
}

// What was begun when the disk fails is kept and written when there is room again; nothing new is begun.
func TestAfterAFailureNothingIsBegunAndWhatEndedIsWrittenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		fail := broken(db)
		first, err := db.Begin(t.Context(), attempt)
		if err != nil {
			t.Fatal(err)
		}
		fail(&errDisk{syscall.ENOSPC})
		if _, err := db.Begin(t.Context(), attempt); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("begun on a full disk: %v", err)
		}
		db.End(Ended{ID: first, Class: AnsweredClass, Spent: Spent{1, 2, 3}})
		kept := false
		db.Keep(attempt.Scope, row, "", Verdict{}, func(RolloutID) { kept = true })
		if err := db.Sync(t.Context()); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("synced on a full disk: %v", err)
		}
		time.Sleep(10 * time.Second)
		fail(nil)
		time.Sleep(2 * retryEvery)
		synctest.Wait()
		if !kept {
			t.Error("the answer was not written when there was room again")
		}
		if _, err := db.Begin(t.Context(), attempt); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("begun after a failure: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

type errDisk struct{ error }

func (e *errDisk) Unwrap() error { return e.error }

// What cannot be written in the end is counted.
func TestWhatCannotBeWrittenIsCounted(t *testing.T) {
	for fault, wait := range map[error]time.Duration{syscall.ENOSPC: retryFor, syscall.EIO: retryFor, syscall.EROFS: 0} {
		synctest.Test(t, func(t *testing.T) {
			db := newDB(t)
			path := db.path
			fail := broken(db)
			id, err := db.Begin(t.Context(), attempt)
			if err != nil {
				t.Fatal(err)
			}
			fail(fault)
			began := time.Now()
			db.End(Ended{ID: id, Class: AnsweredClass})
			for run := range 3 {
				db.Keep(attempt.Scope, Row{Text: "x", Run: run}, "", Verdict{}, func(RolloutID) { t.Error("an answer was said to be stored") })
			}
			db.Fail(attempt.Scope, RolloutFailure{Text: "x", Run: 4})
			time.Sleep(retryFor + commitAfter + retryEvery)
			synctest.Wait()
			err = db.Close()
			if want := "1 ends of attempts, 1 failures, 3 answers could not be written: "; err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, fault) {
				t.Errorf("%v: close: %v, want %q", fault, err, want)
			}
			if waited := time.Since(began); waited < wait {
				t.Errorf("%v: tried for %v, want %v", fault, waited, wait)
			}
			db = openDB(t, path)
			if err := check(t, db); err != nil {
				t.Errorf("%v: %v", fault, err)
			}
		})
	}
}

// A change waits at most 100 ms for others, and less if somebody waits for it.
func TestAChangeIsCommittedWithin100Milliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		began := time.Now()
		stored := make(chan time.Duration, 2)
		keep := func(run int) {
			db.Keep(Scope{}, Row{Text: "x", Run: run}, "", Verdict{}, func(RolloutID) { stored <- time.Since(began) })
		}
		keep(1)
		time.Sleep(60 * time.Millisecond)
		keep(2)
		if a, b := <-stored, <-stored; a != commitAfter || b != commitAfter {
			t.Errorf("written after %v and %v, want %v for both", a, b, commitAfter)
		}
		began = time.Now()
		keep(3)
		if err := db.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := <-stored; after != 0 {
			t.Errorf("written after %v though somebody waited", after)
		}
	})
}

// Whatever is begun, ended, kept and failed in whatever order, with whatever openings between, the file holds what a model holds.
func TestTheLedgerAgreesWithAModel(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(dir, fmt.Sprint(n))
		path := filepath.Join(root, rolloutsFile)
		if err := os.Mkdir(root, 0o777); err != nil {
			rt.Fatal(err)
		}
		ctx := context.Background()
		open := func() *Rollouts {
			db, err := openRollouts(ctx, path)
			if err != nil {
				rt.Fatal(err)
			}
			return db
		}
		db := open()
		defer func() { db.Close() }()
		scope := Scope{Model: "m"}
		answers, failures := map[int]string{}, map[int]string{}
		began, ended := map[AttemptID]bool{}, 0
		rt.Repeat(map[string]func(*rapid.T){
			"begin": func(rt *rapid.T) {
				id, err := db.Begin(ctx, Attempt{Scope: scope, Text: "x", Server: "s", Most: Spent{1, 2, 3}})
				if err != nil || began[id] {
					rt.Fatalf("attempt %d: %v", id, err)
				}
				began[id] = true
			},
			"end": func(rt *rapid.T) {
				for id := range began {
					db.End(Ended{ID: id, Class: "answered", Spent: Spent{1, 1, 1}})
					delete(began, id)
					ended++
					return
				}
			},
			"keep": func(rt *rapid.T) {
				run := rapid.IntRange(0, 50).Draw(rt, "run")
				if _, ok := answers[run]; ok {
					return
				}
				answers[run] = rapid.StringN(0, 20, -1).Draw(rt, "text")
				if rapid.IntRange(0, 3).Draw(rt, "long") == 0 {
					answers[run] += strings.Repeat("x", blockBytes/3)
				}
				delete(failures, run)
				db.Keep(scope, Row{Text: "x", Run: run, Response: answers[run], Reasoning: fmt.Sprint(run)}, "1", Verdict{Bucket: routing.Wrong, Gold: uint64(run)}, nil)
			},
			"fail": func(rt *rapid.T) {
				run := rapid.IntRange(0, 50).Draw(rt, "run")
				if _, ok := answers[run]; ok {
					return
				}
				failures[run] = rapid.SampledFrom([]string{"refused", "idle"}).Draw(rt, "class")
				db.Fail(scope, RolloutFailure{Text: "x", Run: run, Class: failures[run]})
			},
			"reopen": func(rt *rapid.T) {
				if err := db.Close(); err != nil {
					rt.Fatal(err)
				}
				db = open()
			},
			"compare": func(rt *rapid.T) { // not after every action: what is held includes what came of all before
				if err := db.Sync(ctx); err != nil {
					rt.Fatal(err)
				}
				gotAnswers, gotFailures := map[int]string{}, map[int]string{}
				for a, err := range db.Responses(ctx, scope) {
					if err != nil || a.Reasoning != fmt.Sprint(a.Key.Run) {
						rt.Fatal(a, err)
					}
					gotAnswers[a.Key.Run] = a.Response
				}
				for s, err := range db.Load(ctx, scope, "1") {
					if err != nil || s.Verdict.Gold != uint64(s.Key.Run) {
						rt.Fatal(s, err)
					}
				}
				for f, err := range db.Failures(ctx, scope) {
					if err != nil {
						rt.Fatal(err)
					}
					gotFailures[f.Key.Run] = f.Class
				}
				if fmt.Sprint(answers) != fmt.Sprint(gotAnswers) || fmt.Sprint(failures) != fmt.Sprint(gotFailures) {
					rt.Fatalf("answers %.200v, want %.200v; failures %v, want %v", gotAnswers, answers, gotFailures, failures)
				}
				st, err := ReadStatus(ctx, root)
				if err != nil {
					rt.Fatal(err)
				}
				if len(st.Scopes) > 0 {
					if s := st.Scopes[0]; s.Spent.In != int64(ended) || s.InFlight+s.Lost != int64(len(began)) || s.Answered != int64(len(answers)) || s.Bound.USD != 3*float64(len(began)) {
						rt.Fatalf("status %+v, want %d ended and %d begun", s, ended, len(began))
					}
				}
			},
		})
		if err := check(t, db); err != nil {
			rt.Fatal(err)
		}
	})
}
