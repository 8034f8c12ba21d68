package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// ledgerFile makes a file with something in every table: 2 models, 40 answers each of which most are packed, failures, and
// attempts of which one has no end.
func ledgerFile(t testing.TB, path string) {
	t.Helper()
	db, err := openRollouts(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.StartRun(t.Context(), Run{Name: "main", Command: "entrorouter run main", PID: 7, Host: "here"}); err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"a", "b"} {
		scope := Scope{Model: model}
		db.Want(scope, 50)
		for i := range 41 {
			text := fmt.Sprint("problem ", i/2)
			id, err := db.Begin(t.Context(), Attempt{Scope: scope, Text: text, Run: i % 2, Server: "http://" + model, Most: Spent{10, 100, 0.5}})
			if err != nil {
				t.Fatal(err)
			}
			if i == 40 && model == "b" {
				break
			}
			db.End(Ended{ID: id, Class: AnsweredClass, Spent: Spent{5, 50, 0.25}})
			if i == 40 {
				db.Fail(scope, RolloutFailure{Text: text, Class: "refused", Error: "400", Again: true})
				break
			}
			db.Keep(scope, Row{Text: text, Run: i % 2, Response: strings.Repeat(fmt.Sprint(model, i, " "), blockBytes/60), Reasoning: "because", Finish: routing.Stop, In: 5, Out: 50},
				"1", Verdict{Gold: 1, Bucket: routing.Correct, Reason: "equal", Extracted: "2"}, nil)
		}
	}
	if err := errors.Join(db.Sync(t.Context()), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// contentsOf is all that a reader of a file is told.
func contentsOf(ctx context.Context, path string) (all []string, err error) {
	db, err := ReadRollouts(ctx, path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for _, model := range []string{"a", "b"} {
		scope := Scope{Model: model}
		for s, err := range db.Load(ctx, scope, "1") {
			if err != nil {
				return nil, err
			}
			all = append(all, fmt.Sprintf("%s %+v", model, s))
		}
		for f, err := range db.Failures(ctx, scope) {
			if err != nil {
				return nil, err
			}
			all = append(all, fmt.Sprintf("%s %+v", model, f))
		}
		for a, err := range db.Responses(ctx, scope) {
			if err != nil {
				return nil, err
			}
			all = append(all, fmt.Sprintf("%s %+v", model, a))
		}
	}
	for a, err := range db.Attempts(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprintf("%+v", a))
	}
	slices.Sort(all)
	return all, nil
}

func TestASoundFileHasNoFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollouts.db")
	ledgerFile(t, path)
	db, err := ReadRollouts(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f, err := db.Check(t.Context())
	if err != nil || f.Faults != nil || f.Rollouts != 80 || f.Attempts != 82 || !slices.Equal(f.Notes, []string{"attempts without an end: 1, which cost at most 0.500000 dollars together"}) {
		t.Errorf("%+v, %v", f, err)
	}
}

// Each damage is found by a check that names it, is noticed by who reads, and is gone after a repair, with what was damaged.
func TestDamageIsFoundNoticedAndRepaired(t *testing.T) {
	for _, c := range []struct {
		name, statement, fault string
		lost                   int64
	}{
		{"tokens", "UPDATE rollout SET tokens_out = tokens_out + 4096 WHERE id = 65536", "rollout 65536 is not what was written", 1},
		{"finish", "UPDATE rollout SET finish = 'nonsense' WHERE id = 65537", "rollout 65537 is not what was written", 1},
		{"a verdict", "UPDATE verdict SET bucket = 'wrong' WHERE rollout = 65537", "verdict of version 1 on rollout 65537 is not what was written", 0},
		{"a verdict's rollout", "UPDATE verdict SET rollout = 1 WHERE rollout = 65537", "verdict of version 1 is on rollout 1, which is gone", 0},
		{"a rollout that is gone", "DELETE FROM rollout WHERE id = 65536", "scope 1 has 39 rollouts, and 40 were stored", 0},
		{"a text", "UPDATE unpacked SET response = x'ff' WHERE id = (SELECT max(id) FROM unpacked)", "is not what was written", 1},
		{"a block", "UPDATE response SET texts = cast(substr(texts, 1, 12) || x'ff' || substr(texts, 14) AS BLOB) WHERE block = 1", "block 1 of", -1},
		{"a block of others", "UPDATE response SET texts = (SELECT texts FROM response WHERE block = (SELECT max(block) FROM response)) WHERE block = 1", "has another text than was written", -1},
		{"a block that is gone", "DELETE FROM response WHERE block = 1", "has lost its text", -1},
		{"all blocks", "DELETE FROM response", "has lost its text", -1},
		{"a problem", "UPDATE problem SET text = 'another' WHERE id = 2", "problem 2 has another text", -1},
		{"a problem's hash", "UPDATE problem SET hash = x'00112233445566778899aabbccddeeff' WHERE id = 2", "problem 2 has another text", -1},
		{"a scope", "UPDATE scope SET params = replace(params, '\"temperature\":0', '\"temperature\":1') WHERE id = 1", "scope 1 is not what was written", 40},
		{"a failure", "UPDATE failure SET again = 0", "failure of scope 1 on problem 21, run 0, is not what was written", 0},
		{"an attempt", "UPDATE attempt SET usd = 0 WHERE id = 3", "attempt 3 is not what was written", 0},
		{"a bound", "UPDATE attempt SET most_usd = 0 WHERE ended IS NULL", "is not what was written", 0},
		{"a process that is gone", "DELETE FROM process", "table attempt has", 0},
		{"a sum", "UPDATE tally SET usd = 0 WHERE scope = 1", "sum of the attempts of scope 1", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rollouts.db")
			ledgerFile(t, path)
			before, err := contentsOf(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			db := openDB(t, path)
			if _, err := db.w.conn.ExecContext(t.Context(), "PRAGMA foreign_keys = 0"); err != nil {
				t.Fatal(err)
			}
			if _, err := db.w.conn.ExecContext(t.Context(), c.statement); err != nil {
				t.Fatal(err)
			}
			if err := check(t, db); err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("faults %v, want %q", err, c.fault)
			}
			db.Close()
			quiet := []string{"a sum", "a problem", "a verdict's rollout", "a process that is gone"} // what nobody who reads is told: it costs a grading, if anything
			if _, err := contentsOf(t.Context(), path); !slices.Contains(quiet, c.name) && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "'entrorouter fsck'")) {
				t.Errorf("whoever reads is told %v", err)
			}
			db = openDB(t, path)
			f, err := db.Repair(t.Context())
			if err != nil || c.lost >= 0 && f.Lost != c.lost || c.lost < 0 && f.Lost == 0 {
				t.Errorf("repair: %+v, %v", f, err)
			}
			db.Close()
			db = openDB(t, path)
			if err := check(t, db); err != nil {
				t.Errorf("after the repair: %v", err)
			}
			db.Close()
			after, err := contentsOf(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range after {
				if _, found := slices.BinarySearch(before, line); !found && !strings.Contains(line, "Bucket: ") {
					t.Errorf("after the repair there is something new: %.300s", line)
				}
			}
			if len(after) < len(before)-125 || strings.HasPrefix(c.name, "a ") == false && len(after) == 0 {
				t.Errorf("%d of %d rows are left", len(after), len(before))
			}
			// What is gone can be stored again.
			db = openDB(t, path)
			for _, s := range []Scope{{Model: "a"}, {Model: "b"}} {
				have := map[RolloutKey]bool{}
				for _, r := range collect(t, db.Load(t.Context(), s, "1")) {
					have[r.Key] = true
				}
				for i := range 40 {
					if r := (Row{Text: fmt.Sprint("problem ", i/2), Run: i % 2}); !have[r.Key()] {
						db.Keep(s, r, "", Verdict{}, nil)
					}
				}
			}
			if err := errors.Join(db.Sync(t.Context()), check(t, db)); err != nil {
				t.Errorf("stored again: %v", err)
			}
		})
	}
}

// A bit that flips anywhere in the file is noticed by who reads, or by a check, or changes nothing.
func TestAFlippedBitNeverChangesAnythingSilently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollouts.db")
	ledgerFile(t, path)
	want, err := contentsOf(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, noticed := 400, 0
	if testing.Short() {
		n = 40
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		at, bit := r.IntN(len(sound)), r.IntN(8)
		data := slices.Clone(sound)
		data[at] ^= 1 << bit
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := contentsOf(t.Context(), path)
		if err == nil && !slices.Equal(got, want) {
			t.Errorf("bit %d of byte %d of page %d changes what is read, silently", bit, at%4096, at/4096+1)
		}
		if err != nil {
			noticed++
		}
	}
	t.Logf("%d of %d were noticed", noticed, n)
}

func TestWhatMayNotBeReadIsNotSound(t *testing.T) {
	if os.Geteuid() <= 0 {
		t.Skip("whoever runs this may read everything")
	}
	root := t.TempDir()
	for _, dir := range []string{filepath.Join(root, "stages"), filepath.Join(root, "stages", "fit")} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := Inspect(t.Context(), root); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", dir, err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(root, rolloutsFile)
	if err := os.WriteFile(path, nil, 0o000); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRollouts(t.Context(), path); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}
