//go:build unix

package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// The tests of this file start the test binary again as a child that does nothing but write, and kill it.
const (
	childVariable = "STORE_TEST_CHILD"
	batchSize     = 50
)

func TestMain(m *testing.M) {
	task, path, ok := strings.Cut(os.Getenv(childVariable), " ")
	if !ok {
		os.Exit(m.Run())
	}
	err := fmt.Errorf("unknown task %q", task)
	switch task {
	case "rollouts":
		err = writeRollouts(path)
	case "ledger":
		err = askAll(path)
		if err == nil {
			os.Exit(0)
		}
	case "stages":
		err = writeStages(path)
	case "hold":
		err = holdEntry(path)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// child starts a child and returns the lines that it prints.
func child(t *testing.T, task, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+task+" "+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// kill ends the child at once and returns the last line that it printed, or the one given.
func kill(t *testing.T, cmd *exec.Cmd, lines *bufio.Scanner, last int) int {
	t.Helper()
	cmd.Process.Kill()
	for lines.Scan() { // before Wait, which closes the pipe
		last, _ = strconv.Atoi(lines.Text())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return last
}

func killedRow(n int) Row {
	return Row{Text: fmt.Sprint("problem ", n/5), Run: n % 5, Seed: uint64(n), Response: strings.Repeat(fmt.Sprint(n, " "), 100), Out: int64(n)}
}

// writeRollouts goes on from where the file ends and prints every row count that was acknowledged.
func writeRollouts(path string) error {
	ctx := context.Background()
	db, err := openRollouts(ctx, path)
	if err != nil {
		return err
	}
	n := 0
	var ungraded []RolloutID // killed between the two transactions
	for s, err := range db.Load(ctx, Scope{}, "1") {
		if err != nil {
			return err
		}
		if n++; s.Verdict.Bucket == "" {
			ungraded = append(ungraded, s.ID)
		}
	}
	if err := db.PutVerdicts(ctx, "1", sampleVerdicts(ungraded)); err != nil {
		return err
	}
	for {
		rows := make([]Row, batchSize)
		for i := range rows {
			rows[i] = killedRow(n + i)
		}
		ids, err := keepAll(ctx, db, Scope{}, rows)
		if err != nil {
			return err
		}
		if err := db.PutVerdicts(ctx, "1", sampleVerdicts(ids)); err != nil {
			return err
		}
		n += len(rows)
		fmt.Println(n)
	}
}

func TestAKilledWriterLosesNoAcknowledgedRollout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollouts.db")
	for round := range 10 {
		cmd, lines := child(t, "rollouts", path)
		acked := 0
		for i := 0; i <= round%4 && lines.Scan(); i++ {
			acked, _ = strconv.Atoi(lines.Text())
		}
		time.Sleep(time.Duration(round*137%1000) * time.Microsecond)
		acked = kill(t, cmd, lines, acked)

		db := openDB(t, path)
		if err := check(t, db); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		n, graded := 0, 0
		for s, err := range db.Load(t.Context(), Scope{}, "1") {
			if err != nil {
				t.Fatal(err)
			}
			if n++; s.Verdict.Bucket != "" {
				graded++
			}
		}
		for a, err := range db.Responses(t.Context(), Scope{}) {
			if err != nil {
				t.Fatal(err)
			}
			if want := killedRow(int(a.Key.Seed)); a.Key != want.Key() || a.Response != want.Response {
				t.Fatalf("round %d: row %d came back changed", round, a.Key.Seed)
			}
		}
		if n < acked || n > acked+batchSize || graded < acked {
			t.Fatalf("round %d: %d rollouts and %d grades, acknowledged %d", round, n, graded, acked)
		}
		db.Close()
	}
}

const (
	killedKeys    = 3000
	killedWorkers = 16
)

var killedScope = Scope{Model: "m"}

// askAll asks for what is missing of killedKeys answers as a run does: 16 at a time, each attempt begun before it is sent, some of
// which fail at first. It prints "sent <key>" as the server would count it, and "kept <key>" once an answer is synced.
func askAll(path string) error {
	ctx := context.Background()
	db, err := openRollouts(ctx, path)
	if err != nil {
		return err
	}
	if err := db.StartRun(ctx, Run{Name: "killed", PID: os.Getpid(), Started: time.Now()}); err != nil {
		return err
	}
	have := map[RolloutKey]bool{}
	for s, err := range db.Load(ctx, killedScope, "1") {
		if err != nil {
			return err
		}
		have[s.Key] = true
	}
	todo := make(chan int)
	go func() {
		for n := range killedKeys {
			if !have[killedRow(n).Key()] {
				todo <- n
			}
		}
		close(todo)
	}()
	var workers errgroup.Group
	for range killedWorkers {
		workers.Go(func() error {
			for n := range todo {
				row := killedRow(n)
				for try := 0; ; try++ {
					id, err := db.Begin(ctx, Attempt{Scope: killedScope, Text: row.Text, Run: row.Run, Seed: row.Seed, Server: "http://one", Most: Spent{In: 1, Out: 2, USD: 1.5}})
					if err != nil {
						return err
					}
					fmt.Println("sent", n)
					if n%7 == 0 && try == 0 {
						db.End(Ended{ID: id, Class: "broken", Error: "reset", Spent: Spent{In: 1, Out: 1, USD: 1}, Estimated: true})
						db.Fail(killedScope, RolloutFailure{Text: row.Text, Run: row.Run, Seed: row.Seed, Class: "broken", Error: "reset", Again: true})
						continue
					}
					db.End(Ended{ID: id, Class: AnsweredClass, Spent: Spent{In: 1, Out: 1, USD: 1}})
					db.Keep(killedScope, row, "1", Verdict{Gold: 1, Bucket: routing.Correct}, func(RolloutID) { fmt.Println("kept", n) })
					break
				}
			}
			return nil
		})
	}
	return errors.Join(workers.Wait(), db.Close())
}

// A run that is killed again and again, and goes on each time, ends with every answer once; what was acknowledged stays; only what was
// in flight, or not acknowledged yet, is asked again; and what the servers counted lies between what is recorded and its bound.
func TestAKilledRunKnowsWhatItSpent(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, rolloutsFile)
	served, kept := 0, map[int]bool{}
	sent := map[int]int{}
	look := func(round int) (rows map[int]bool, attempts, lost int64) {
		t.Helper()
		st, err := ReadStatus(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Scopes) == 0 {
			return nil, 0, 0
		}
		s := st.Scopes[0]
		if low, high := s.Spent.USD, s.Spent.USD+s.Bound.USD; float64(served) < low || float64(served) > high {
			t.Errorf("round %d: the server counts %d dollars; recorded are %v to %v", round, served, low, high)
		}
		db, err := ReadRollouts(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := check(t, db); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		rows = map[int]bool{}
		for a, err := range db.Responses(t.Context(), killedScope) {
			if err != nil {
				t.Fatal(err)
			}
			n := int(a.Key.Seed)
			if want := killedRow(n); a.Key != want.Key() || a.Response != want.Response {
				t.Fatalf("round %d: answer %d came back changed", round, n)
			}
			rows[n] = true
		}
		for n := range kept {
			if !rows[n] {
				t.Errorf("round %d: answer %d was acknowledged and is gone", round, n)
			}
		}
		return rows, int64(math.Round(s.Spent.USD)) + s.Lost, s.Lost
	}
	repeats := 0
	for round := 0; ; round++ {
		cmd, lines := child(t, "ledger", path)
		r := rand.New(rand.NewPCG(1, uint64(round)))
		until := r.IntN(800)
		if round == 10 {
			until = -1 // to the end
		}
		read := func() bool {
			if !lines.Scan() {
				return false
			}
			word, number, _ := strings.Cut(lines.Text(), " ")
			n, err := strconv.Atoi(number)
			if err != nil {
				return true // a line that was cut
			}
			if word == "kept" {
				kept[n] = true
				return true
			}
			served++
			if sent[n]++; sent[n] > 1 && n%7 != 0 || sent[n] > 2 {
				repeats++
			}
			return true
		}
		for i := 0; i != until && read(); i++ {
		}
		if until >= 0 {
			time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
			cmd.Process.Kill()
		}
		for read() {
		}
		err := cmd.Wait()
		rows, attempts, lost := look(round)
		if until < 0 {
			if err != nil || len(rows) != killedKeys || attempts < int64(served) {
				t.Errorf("at the end: %v, %d answers, %d attempts for %d requests", err, len(rows), attempts, served)
			}
			// What was in flight, and what ended and was not written within its 100 ms, which a handful of transactions cover here.
			if repeats > 10*2*killedWorkers+int(lost) {
				t.Errorf("%d requests were repeated after 10 kills, with %d attempts without an end", repeats, lost)
			}
			return
		}
	}
}

func killedRecipe(n int) Recipe {
	r, err := NewRecipe("fit", 1, n, nil)
	if err != nil {
		panic(err)
	}
	return r
}

// writeStages makes one entry after the other and prints each that was acknowledged.
func writeStages(root string) error {
	s, err := Open(root, Options{})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if _, err := s.Make(context.Background(), killedRecipe(n), build); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func TestAKilledRunLeavesWholeEntriesAndIsSweptUp(t *testing.T) {
	root := t.TempDir()
	next := 0
	for round := range 10 {
		cmd, lines := child(t, "stages", root)
		last := -1
		for last < next+round%3 && lines.Scan() {
			last, _ = strconv.Atoi(lines.Text())
		}
		time.Sleep(time.Duration(round*137%1000) * time.Microsecond)
		last = kill(t, cmd, lines, last)

		s := openStore(t, root)
		s.Close() // the next child writes
		if left, _ := os.ReadDir(filepath.Join(root, "tmp")); len(left) > 0 {
			t.Errorf("round %d: Open left %v in tmp", round, left)
		}
		for next = 0; ; next++ {
			e, err := s.Get(killedRecipe(next))
			if errors.Is(err, ErrMissing) {
				break
			} else if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			checkContents(t, e)
		}
		if next <= last {
			t.Errorf("round %d: entry %d is missing, and %d was acknowledged", round, next, last)
		}
	}
}

// holdEntry begins an entry and waits to be killed.
func holdEntry(root string) error {
	s, err := Open(root, Options{})
	if err != nil {
		return err
	}
	if _, err := s.Begin(context.Background(), killedRecipe(0)); err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	time.Sleep(time.Minute)
	return err
}

// Whoever comes second is told who writes; a holder that was killed keeps nobody out, nor does a copy of its folder.
func TestASecondProcessIsRefusedUntilTheFirstDies(t *testing.T) {
	root := t.TempDir()
	cmd, lines := child(t, "hold", root)
	if !lines.Scan() {
		t.Fatal("the child does not hold the entry")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	who := fmt.Sprintf("process %d on %s, since 2", cmd.Process.Pid, host)
	if _, err := Open(root, Options{}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), who) || !strings.Contains(err.Error(), "entrorouter status") {
		t.Errorf("error %v, want one that says %q", err, who)
	}
	if h, ok, err := HolderOf(root); !ok || h.PID != cmd.Process.Pid || err != nil {
		t.Errorf("holder %v %t, %v", h, ok, err)
	}
	if _, err := OpenReadOnly(root).Experiments(); err != nil {
		t.Errorf("who only looks is kept out: %v", err)
	}
	copied := filepath.Join(t.TempDir(), "copied")
	if err := os.CopyFS(copied, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	openStore(t, copied)
	kill(t, cmd, lines, 0)
	if h, ok, err := HolderOf(root); ok || err != nil {
		t.Errorf("holder %v after its death, %v", h, err)
	}
	s := openStore(t, root)
	e, err := s.Make(t.Context(), killedRecipe(0), build)
	if err != nil {
		t.Fatal(err)
	}
	checkContents(t, e)
}
