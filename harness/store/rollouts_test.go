package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/verify"
)

func openDB(t testing.TB, path string) *Rollouts {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	db, err := openRollouts(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func newDB(t testing.TB) *Rollouts { return openDB(t, filepath.Join(t.TempDir(), "rollouts.db")) }

// check returns the faults of a file.
func check(t testing.TB, db *Rollouts) error {
	t.Helper()
	f, err := db.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f.Faults == nil {
		return nil
	}
	return errors.New(strings.Join(f.Faults, "\n"))
}

// collect drains a sequence.
func collect[V any](t testing.TB, seq iter.Seq2[V, error]) []V {
	t.Helper()
	var all []V
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// keepAll keeps answers and returns their ids once they are synced.
func keepAll(ctx context.Context, db *Rollouts, scope Scope, rows []Row) ([]RolloutID, error) {
	ids := make([]RolloutID, len(rows))
	for i, r := range rows {
		db.Keep(scope, r, "", Verdict{}, func(id RolloutID) { ids[i] = id })
	}
	return ids, db.Sync(ctx)
}

func put(t testing.TB, db *Rollouts, scope Scope, rows ...Row) []RolloutID {
	t.Helper()
	ids, err := keepAll(t.Context(), db, scope, rows)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

var row = Row{Text: "1+1?", Run: 2, Seed: 1<<63 + 5, Response: "It is \\boxed{2}.", Finish: routing.Stop, In: 4, Out: 1 << 40}

func TestARolloutComesBackAsItWasStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new folder #1?", "100%.db")
	db := openDB(t, path)
	scope := Scope{Source: "http", Model: "m", Temperature: 0.6}
	ids := put(t, db, scope, row, Row{Text: "empty", Finish: routing.Length})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
		t.Errorf("after Close the folder holds %v, want one file", names)
	}
	db = openDB(t, path)
	want := Stored{ID: ids[0], Key: row.Key(), Finish: row.Finish, In: row.In, Out: row.Out, text: digestOfText(row.Response, "")}
	want.Verdict.Rollout = ids[0]
	if got := collect(t, db.Load(t.Context(), scope, "1")); len(got) != 2 || got[0] != want {
		t.Errorf("loaded %+v, want %+v and another", got, want)
	}
	for i, want := range []string{row.Response, ""} {
		if got, err := db.Response(t.Context(), ids[i]); got != want || err != nil {
			t.Errorf("response %q, %v; want %q", got, err, want)
		}
	}
	if _, err := db.Response(t.Context(), ids[1]+1); err == nil {
		t.Error("a response of no rollout was found")
	}
	if err := check(t, db); err != nil {
		t.Error(err)
	}
}

func TestEverythingThatCanChangeAnAnswerIsInTheKey(t *testing.T) {
	base := Scope{Source: "http", Model: "m", Revision: "r", Prompt: "{problem}", Temperature: 0.6, TopP: 0.95, TopK: 20, MaxTokens: 100, Split: routing.Train}
	scopes := []Scope{base}
	for _, change := range []func(*Scope){
		func(s *Scope) { s.Source = "simulated" },
		func(s *Scope) { s.Model = "m2" },
		func(s *Scope) { s.Revision = "r2" },
		func(s *Scope) { s.Prompt = "Solve {problem}" },
		func(s *Scope) { s.Temperature = 0 },
		func(s *Scope) { s.TopP = 1 },
		func(s *Scope) { s.TopK = 0 },
		func(s *Scope) { s.MaxTokens = 200 },
		func(s *Scope) { s.Split = routing.Test },
		func(s *Scope) { s.MinP = 0.1 },
		func(s *Scope) { s.System = "be brief" },
		func(s *Scope) { s.Stop = `["\n"]` },
		func(s *Scope) { s.TemplateKwargs = `{"enable_thinking":false}` },
		func(s *Scope) { s.ReasoningEffort = "low" },
		func(s *Scope) { s.LeaveOut = `["top_k"]` },
	} {
		s := base
		change(&s)
		scopes = append(scopes, s)
	}
	// A change of this form would hide every rollout of every user.
	const form = `{"max_tokens":100,"model":"m","prompt":"{problem}","revision":"r","source":"http","split":"train","temperature":0.6,"top_k":20,"top_p":0.95}`
	if got, err := canonicalJSON(base); string(got) != form || err != nil {
		t.Errorf("scope is filed as %s, %v", got, err)
	}
	rows := []Row{row, row, row, row}
	rows[1].Text, rows[2].Run, rows[3].Seed = "1+2?", 3, 6
	db := newDB(t)
	seen := map[RolloutID]bool{}
	for _, s := range scopes {
		for _, id := range put(t, db, s, rows...) {
			if id == 0 || seen[id] {
				t.Errorf("scope %+v: id %d is shared", s, id)
			}
			seen[id] = true
		}
	}
	for _, s := range scopes {
		if got := collect(t, db.Load(t.Context(), s, "")); len(got) != len(rows) {
			t.Errorf("scope %+v has %d rollouts, want %d", s, len(got), len(rows))
		}
	}
	if got := collect(t, db.Load(t.Context(), Scope{Model: "never asked"}, "")); got != nil {
		t.Errorf("a scope never stored has %v", got)
	}
}

func TestVerdictsBelongToAVersionOfTheVerifier(t *testing.T) {
	db := newDB(t)
	ids := put(t, db, Scope{}, row, Row{Text: "b"})
	grade := func(verifier string, v ...Verdict) {
		t.Helper()
		if err := db.PutVerdicts(t.Context(), verifier, v); err != nil {
			t.Fatal(err)
		}
	}
	old := Verdict{ids[0], 1<<63 + 1, routing.Ungraded, "unparsed", "\\boxed{2}"}
	now := Verdict{ids[0], 1<<63 + 1, routing.Correct, "equal", "2"}
	grade("1", old)
	grade("2", Verdict{ids[0], 7, routing.Wrong, "different", "2"})
	grade("2", now) // the gold was corrected
	for version, want := range map[string]Verdict{"1": old, "2": now, "3": {Rollout: ids[0]}} {
		for _, s := range collect(t, db.Load(t.Context(), Scope{}, version)) {
			if s.ID == ids[0] && s.Verdict != want {
				t.Errorf("version %s: verdict %+v, want %+v", version, s.Verdict, want)
			}
			if s.ID == ids[1] && s.Verdict.Bucket != "" {
				t.Errorf("version %s: the rollout that was not graded has %+v", version, s.Verdict)
			}
		}
	}
	if err := db.PutVerdicts(t.Context(), "1", []Verdict{{Bucket: routing.Correct}}); err == nil {
		t.Error("a verdict on no rollout was filed")
	}
}

func TestGoldKeyTellsAnswersApart(t *testing.T) {
	seen := map[uint64]int{}
	for i, p := range []routing.Problem{
		{Gold: []string{"1", "2"}},
		{Gold: []string{"12"}},
		{Gold: []string{"2", "1"}},
		{Gold: []string{"1"}, Options: []string{"2"}},
		{Gold: []string{"1", "2"}, Tolerance: []verify.Tolerance{{Abs: 0.1}}},
		{Gold: []string{"1", "2"}, Tolerance: []verify.Tolerance{{Rel: 0.1}}},
	} {
		if j, ok := seen[GoldKey(p)]; ok {
			t.Errorf("problems %d and %d have one gold key", i, j)
		}
		seen[GoldKey(p)] = i
	}
	a, b := routing.Problem{ID: "a", Text: "x", Gold: []string{"1"}}, routing.Problem{ID: "b", Text: "y", Gold: []string{"1"}}
	if GoldKey(a) != GoldKey(b) {
		t.Error("the gold key depends on more than the answer")
	}
}

// Whatever is stored in whichever batches, the file holds it.
func TestTheFileAgreesWithAMap(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		db, err := openRollouts(t.Context(), path)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { db.Close() }()
		type key struct {
			model string
			RolloutKey
		}
		want := map[key]Row{}
		for range rapid.IntRange(1, 4).Draw(rt, "batches") {
			scope := Scope{Model: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "model")}
			rows := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) Row {
				response := rapid.String().Draw(rt, "response")
				if rapid.IntRange(0, 9).Draw(rt, "long") == 0 {
					response += strings.Repeat("x", blockBytes-len(response)%7)
				}
				return Row{
					Text:     rapid.SampledFrom([]string{"p", "q", ""}).Draw(rt, "text"),
					Run:      rapid.IntRange(0, 3).Draw(rt, "run"),
					Seed:     rapid.Uint64Range(0, 2).Draw(rt, "seed"),
					Response: response,
					Finish:   rapid.SampledFrom([]routing.Finish{routing.Stop, routing.Length}).Draw(rt, "finish"),
					Out:      rapid.Int64Range(0, 9).Draw(rt, "out"),
				}
			}), 0, 20).Draw(rt, "rows")
			rows = slices.DeleteFunc(rows, func(r Row) bool { // a key is asked for once
				k := key{scope.Model, r.Key()}
				_, ok := want[k]
				if !ok {
					want[k] = r
				}
				return ok
			})
			ids, err := keepAll(t.Context(), db, scope, rows)
			if err != nil || slices.Contains(ids, 0) {
				rt.Fatal(ids, err)
			}
			if rapid.Bool().Draw(rt, "reopen") {
				if err := db.Close(); err != nil {
					rt.Fatal(err)
				}
				if db, err = openRollouts(t.Context(), path); err != nil {
					rt.Fatal(err)
				}
			}
		}
		found := 0
		for _, model := range []string{"a", "b"} {
			usage := map[RolloutID]Stored{}
			for s, err := range db.Load(t.Context(), Scope{Model: model}, "") {
				if err != nil {
					rt.Fatal(err)
				}
				usage[s.ID] = s
			}
			for a, err := range db.Responses(t.Context(), Scope{Model: model}) {
				if err != nil {
					rt.Fatal(err)
				}
				w, s := want[key{model, a.Key}], usage[a.ID]
				if a.Response != w.Response || a.Finish != w.Finish || s.Out != w.Out || s.Key != a.Key {
					rt.Fatalf("key %+v holds %q %s %d, want %q %s %d", a.Key, a.Response, a.Finish, s.Out, w.Response, w.Finish, w.Out)
				}
				found++
			}
		}
		if found != len(want) {
			rt.Fatalf("%d rollouts, want %d", found, len(want))
		}
		if err := check(t, db); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestBlocksStaySmallEnoughToReadOneResponse(t *testing.T) {
	db := newDB(t)
	var rows []Row
	for run, size := range []int{blockBytes / 2, blockBytes / 2, 1, 3 * blockBytes, 1, 0, 1} {
		rows = append(rows, Row{Run: run, Response: strings.Repeat(fmt.Sprint(run), size)})
	}
	var blocks []int64
	for i, id := range put(t, db, Scope{}, rows...) {
		blocks = append(blocks, id.block())
		if got, err := db.Response(t.Context(), id); got != rows[i].Response || err != nil {
			t.Errorf("response %d has %d bytes, %v", i, len(got), err)
		}
	}
	if want := []int64{1, 1, 2, 3, 4, 4, 4}; !slices.Equal(blocks, want) {
		t.Errorf("blocks %v, want %v", blocks, want)
	}
}

func TestReadersSeeWhatIsSyncedWhileOneWrites(t *testing.T) {
	db := newDB(t)
	scope := Scope{Model: "m"}
	const batches, size = 20, 50
	var wg sync.WaitGroup
	var synced, grades atomic.Int64
	done := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for running := true; running; {
				select {
				case <-done:
					running = false
				default:
				}
				rollouts, graded := synced.Load(), grades.Load()
				for s, err := range db.Load(context.Background(), scope, "1") {
					if err != nil {
						t.Error(err)
						return
					}
					if rollouts--; s.Verdict.Bucket != "" {
						graded--
					}
				}
				for _, err := range db.Responses(context.Background(), scope) {
					if err != nil {
						t.Error(err)
						return
					}
				}
				if rollouts > 0 || graded > 0 || !running && (rollouts < 0 || graded < 0) {
					t.Errorf("%d rollouts and %d grades were synced and not seen", rollouts, graded)
					return
				}
			}
		})
	}
	for b := range batches {
		rows := make([]Row, size)
		for i := range rows {
			rows[i] = Row{Text: fmt.Sprint(b), Run: i, Response: strings.Repeat("x", b*i)}
		}
		ids := put(t, db, scope, rows...)
		synced.Add(size)
		if err := db.PutVerdicts(t.Context(), "1", sampleVerdicts(ids)); err != nil {
			t.Fatal(err)
		}
		grades.Add(size)
	}
	close(done)
	wg.Wait()
}

func TestTwoGoroutinesStoreWhatEachHas(t *testing.T) {
	db := newDB(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	stored := map[RolloutID]int{}
	for g := range 2 {
		wg.Go(func() {
			for p := range 20 {
				rows := make([]Row, 30)
				for i := range rows {
					rows[i] = Row{Text: fmt.Sprint(p), Run: 30*g + i}
				}
				ids, err := keepAll(context.Background(), db, Scope{}, rows)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, id := range ids {
					stored[id]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if stored[0] != 0 || len(stored) != 1200 {
		t.Errorf("%d ids of 1200 rows", len(stored))
	}
	if err := check(t, db); err != nil {
		t.Error(err)
	}
	if n := len(collect(t, db.Load(t.Context(), Scope{}, ""))); n != 1200 {
		t.Errorf("%d rollouts, want 1200", n)
	}
}

func TestSequencesCanBeNestedAndLeft(t *testing.T) {
	db := newDB(t)
	put(t, db, Scope{}, row, Row{Text: "b"}, Row{Text: "c"})
	n := 0
	var nest func(depth int)
	nest = func(depth int) {
		for _, err := range db.Responses(t.Context(), Scope{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; depth < 6 {
				nest(depth + 1)
			}
			break
		}
	}
	nest(0)
	if n != 7 {
		t.Errorf("%d loops ran, want 7", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range db.Load(ctx, Scope{}, "") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	}
}

func TestAFullDiskLosesNothingThatWasAcknowledged(t *testing.T) {
	synctest.Test(t, fullDisk)
}

func fullDisk(t *testing.T) {
	db := newDB(t)
	var pages int
	if err := db.w.conn.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := db.w.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages+40)); err != nil {
		t.Fatal(err)
	}
	stored, run := 0, 0
	var err error
	batch := func() []Row {
		rows := make([]Row, 100)
		for i := range rows {
			rows[i] = Row{Text: fmt.Sprint("problem ", run), Run: i, Response: fmt.Sprint(KeyOfText(fmt.Sprint(run, i)))}
		}
		return rows
	}
	for ; err == nil; run++ {
		if _, err = keepAll(t.Context(), db, Scope{}, batch()); err == nil {
			stored += 100
		}
	}
	if stored == 0 || !strings.Contains(err.Error(), "the disk is full; free some space and run again") {
		t.Fatalf("%d rows, then %v", stored, err)
	}
	if got := len(collect(t, db.Load(t.Context(), Scope{}, ""))); got != stored {
		t.Errorf("%d rollouts, want %d", got, stored)
	}
	if err := check(t, db); err != nil {
		t.Error(err)
	}
	time.Sleep(retryFor + 2*retryEvery) // no room for the last batch: it is given up
	synctest.Wait()
	if _, err := db.w.conn.ExecContext(t.Context(), "PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err == nil || !strings.Contains(err.Error(), "100 answers could not be written") {
		t.Errorf("close: %v", err)
	}
	db = openDB(t, db.path)
	run-- // space was freed: the same batch again
	put(t, db, Scope{}, batch()...)
	if got := len(collect(t, db.Responses(t.Context(), Scope{}))); got != stored+100 {
		t.Errorf("%d rollouts after space was freed, want %d", got, stored+100)
	}
}

func TestBadFilesAreOneClearSentence(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	other := func(name, statement string) {
		db, err := sql.Open("sqlite", at(name))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	other("foreign.db", "CREATE TABLE t (a)")
	openDB(t, at("future.db")).Close()
	other("future.db", "PRAGMA user_version = 99")
	if err := errors.Join(os.WriteFile(at("text"), []byte(strings.Repeat("not a database ", 100)), 0o666), os.Mkdir(at("folder"), 0o777)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"foreign.db":    "SQLite file of another program; choose another path",
		"future.db":     "has format 99 and this program reads format 2",
		"text":          "is not an SQLite file; choose another path",
		"folder":        "is a directory",
		"text/rollouts": "not a directory",
	} {
		before := tree(t, dir)
		_, err := openRollouts(t.Context(), at(name))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), at(name)) {
			t.Errorf("%s: error %v, want its path and %q", name, err, want)
		}
		if after := tree(t, dir); !maps.Equal(before, after) {
			t.Errorf("%s: the folder changed", name)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	c, err := newCodec()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{2, 1, 1, 'a', 'b'}, "a\x00b")
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, "")
	f.Fuzz(func(t *testing.T, raw []byte, joined string) {
		if texts, err := split(raw); err == nil && len(strings.Join(texts, "")) > len(raw) {
			t.Errorf("%d bytes became %d", len(raw), len(strings.Join(texts, "")))
		}
		texts := strings.Split(joined, "\x00")
		got, err := c.unpack(c.pack(texts))
		if err != nil || !slices.Equal(got, texts) {
			t.Errorf("%q came back as %q, %v", texts, got, err)
		}
		c.unpack(raw) // whatever it is, an error and no panic
	})
}

func TestAPathThatIsTooLongForSQLiteIsSaidToBe(t *testing.T) {
	folder := filepath.Join(t.TempDir(), strings.Repeat("d", 200), strings.Repeat("d", 200), strings.Repeat("d", 200))
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Skip(err)
	}
	if _, err := openRollouts(t.Context(), filepath.Join(folder, rolloutsFile)); err == nil || !strings.Contains(err.Error(), "or its path is longer than the 500 bytes that SQLite takes") {
		t.Error(err)
	}
}
