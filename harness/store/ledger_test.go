package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/entrorouter/entrorouter/harness/routing"
)

var attempt = Attempt{Scope: Scope{Model: "m"}, Text: row.Text, Run: row.Run, Seed: row.Seed, Server: "http://one/v1", Most: Spent{10, 100, 0.5}}

func TestAnAnswerIsKeptWithItsVerdictAndReplacesAFailure(t *testing.T) {
	db := newDB(t)
	failure := RolloutFailure{Text: row.Text, Run: row.Run, Seed: row.Seed, Class: "refused", Error: "400 Bad Request", Again: true}
	db.Fail(attempt.Scope, failure)
	if err := db.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := Failed{row.Key(), "refused", "400 Bad Request", true}
	if got := collect(t, db.Failures(t.Context(), attempt.Scope)); len(got) != 1 || got[0] != want {
		t.Errorf("failures %+v, want %+v", got, want)
	}
	kept := row
	kept.Reasoning = "I add."
	var id RolloutID
	db.Keep(attempt.Scope, kept, "7", Verdict{Gold: 3, Bucket: routing.Correct, Reason: "equal", Extracted: "2"}, func(stored RolloutID) { id = stored })
	if err := db.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, db.Failures(t.Context(), attempt.Scope)); got != nil {
		t.Errorf("failures %+v after the answer", got)
	}
	got := collect(t, db.Load(t.Context(), attempt.Scope, "7"))
	if len(got) != 1 || got[0].ID != id || got[0].Verdict != (Verdict{id, 3, routing.Correct, "equal", "2"}) {
		t.Errorf("loaded %+v", got)
	}
	answers := collect(t, db.Responses(t.Context(), attempt.Scope))
	if want := (Answer{id, row.Key(), row.Finish, row.In, row.Out, row.Response, "I add."}); len(answers) != 1 || answers[0] != want {
		t.Errorf("answers %+v, want %+v", answers, want)
	}
}

func TestAnAnswerUnderATakenKeyIsAnErrorThatEndsTheRun(t *testing.T) {
	db := newDB(t)
	db.Keep(Scope{}, row, "", Verdict{}, nil)
	db.Keep(Scope{}, row, "", Verdict{}, func(RolloutID) { t.Error("the second answer was stored") })
	db.Keep(Scope{}, Row{Text: "other"}, "", Verdict{}, nil) // what comes with it is not lost
	if err := db.Sync(t.Context()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "entrorouter fsck") {
		t.Errorf("error %v", err)
	}
	if _, err := db.Begin(t.Context(), attempt); !errors.Is(err, ErrDamaged) {
		t.Errorf("begun after it: %v", err)
	}
	if got := collect(t, db.Load(t.Context(), Scope{}, "")); len(got) != 2 {
		t.Errorf("%d rollouts, want 2", len(got))
	}
}

// transactions counts the commits of a file.
func transactions(db *Rollouts) *int {
	n := 0
	db.w.at = func(op, _ string) error {
		if op == "commit" {
			n++
		}
		return nil
	}
	return &n
}

func TestWhoBeginsAtOneTimeSharesATransaction(t *testing.T) {
	db := newDB(t)
	n := transactions(db)
	var all, beginning sync.WaitGroup
	beginning.Add(2000)
	count, first := db.w.at, sync.OnceFunc(beginning.Wait)
	db.w.at = func(op, id string) error {
		if op == "commit" {
			first() // however fast the disk is, the others come while it writes
		}
		return count(op, id)
	}
	var mu sync.Mutex
	ids := map[AttemptID]bool{}
	for i := range 2000 {
		all.Go(func() {
			beginning.Done()
			a := attempt
			a.Run = i
			id, err := db.Begin(context.Background(), a)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			ids[id] = true
			mu.Unlock()
		})
	}
	all.Wait()
	for id := range ids {
		db.End(Ended{ID: id, Class: "answered", Spent: Spent{1, 2, 0.25}})
	}
	if err := db.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 2000 || *n > 100 {
		t.Errorf("%d attempts in %d transactions", len(ids), *n)
	}
	var attempts int
	var usd float64
	if err := db.read.QueryRow("SELECT sum(attempts), sum(usd) FROM tally").Scan(&attempts, &usd); err != nil || attempts != 2000 || usd != 500 {
		t.Errorf("%d attempts cost %v dollars, %v", attempts, usd, err)
	}
}

func TestNothingIsBegunAfterTheContextEnded(t *testing.T) {
	db := newDB(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Begin(ctx, attempt); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	var n int
	if err := db.read.QueryRow("SELECT count(*) FROM attempt").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d attempts, %v", n, err)
	}
}

// Blocks are filled across openings, and a text is the same before and after its block is packed.
func TestTextsWaitForTheirBlock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollouts.db")
	want := map[string]string{}
	for session := range 4 {
		db := openDB(t, path)
		for i := range 5 {
			r := Row{Text: fmt.Sprint(session, " ", i), Response: strings.Repeat(fmt.Sprint(session), blockBytes/16), Reasoning: strings.Repeat("r", i)}
			want[r.Key().String()] = r.Response + "|" + r.Reasoning
			db.Keep(Scope{}, r, "", Verdict{}, nil)
			if err := db.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, a := range collect(t, db.Responses(t.Context(), Scope{})) {
			if want[a.Key.String()] != a.Response+"|"+a.Reasoning {
				t.Fatalf("session %d: answer %d came back changed", session, a.ID)
			}
		}
		var packed, unpacked int
		if err := db.read.QueryRow("SELECT (SELECT count(*) FROM response), (SELECT count(*) FROM unpacked)").Scan(&packed, &unpacked); err != nil {
			t.Fatal(err)
		}
		if n := 5 * (session + 1); packed != (n-1)/15 || unpacked != n-15*packed {
			t.Errorf("session %d: %d blocks and %d texts beside them", session, packed, unpacked)
		}
		if err := errors.Join(check(t, db), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func (k RolloutKey) String() string { return fmt.Sprintf("%x/%d/%d", k.Problem, k.Run, k.Seed) }

// set is a time by a clock of the wall that is set by whole seconds, forwards or back. Its monotonic reading stays, as it does
// when a system's clock is set: what package time keeps of both is read here.
func set(now time.Time, seconds int64) time.Time {
	t := (*struct {
		wall uint64 // 1 bit: there is a monotonic reading; 33 bits: seconds; 30 bits: nanoseconds
		mono int64
	})(unsafe.Pointer(&now))
	t.wall += uint64(seconds) << 30
	return now
}

// Whatever is done to the clock while requests are under way, each took as long as it took: rates are of true times, and what ended
// before the clock was set back is not of the last minute for an hour.
func TestAttemptsTakeAsLongAsTheyTakeWhenTheClockIsSet(t *testing.T) {
	db := newDB(t)
	start, seconds, elapsed := time.Now(), int64(0), time.Duration(0)
	db.w.now = func() time.Time { return set(start.Add(elapsed), seconds) }
	if now := db.w.now(); now.Sub(start) != 0 || set(now, 3600).Sub(start) != 0 || set(now, 3600).UnixMilli()-start.UnixMilli() != 3600e3 {
		t.Fatal("package time keeps wall and monotonic time in another way than this test knows")
	}
	var ids []AttemptID
	for range 4 {
		id, err := db.Begin(t.Context(), attempt)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for k, id := range ids { // after 10, 20, 30 and 40 seconds
		elapsed, seconds = time.Duration(k+1)*10*time.Second, int64(k%3-1)*3600
		db.End(Ended{ID: id, Class: AnsweredClass, Spent: Spent{1, 2, 0.25}})
	}
	if err := db.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	k := 0
	for a, err := range db.Attempts(t.Context()) {
		k++
		if took := a.Ended.Sub(a.Began); took != time.Duration(k)*10*time.Second || err != nil {
			t.Errorf("attempt %d took %s, %v", k, took, err)
		}
	}
	if pace, ok, err := db.Pace(t.Context(), attempt.Scope); pace != 25 || !ok || err != nil {
		t.Errorf("an answer takes %v seconds, %v", pace, err)
	}

	elapsed, seconds = 0, 3600 // one before the clock is set back, and one after
	late, err := db.Begin(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	db.End(Ended{ID: late, Class: AnsweredClass})
	seconds = 0
	now, err := db.Begin(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	db.End(Ended{ID: now, Class: AnsweredClass})
	if err := db.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	st, err := ReadStatus(t.Context(), filepath.Dir(db.path))
	if err != nil || st.Scopes[0].LastMinute != 1 { // those of before are to end 10 to 40 seconds from now
		t.Errorf("%d answers in the last minute, %v", st.Scopes[0].LastMinute, err)
	}
}
