//go:build unix

package main

// The command on a computer whose clock is set forwards and back by an hour each second, as it runs.

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts/fault"
	"github.com/entrorouter/entrorouter/harness/store"
)

// clockVariable has TestOurClockJumps build the command, which takes minutes: package time is below everything.
const clockVariable = "CLOCK"

// jumping builds the command with a package time whose clock of the wall, and no other, is off by an hour in two of three seconds
// where CLOCK_JUMPS is set.
func jumping(t *testing.T) (program string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir, in := t.TempDir(), filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	code, err := os.ReadFile(filepath.Join(in, "time.go"))
	if err != nil {
		t.Fatal(err)
	}
	const read = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if !strings.Contains(string(code), read) {
		t.Fatalf("package time of %s reads the clock in another way than this test knows", runtime.Version())
	}
	overlay := map[string]string{}
	for name, text := range map[string]string{
		"time.go": strings.Replace(string(code), read, read+"\tsec += jump(mono)\n", 1),
		"jump.go": `package time

import "syscall"

var _, jumps = syscall.Getenv("CLOCK_JUMPS")

func jump(mono int64) int64 {
	if !jumps {
		return 0
	}
	return ((mono-startNano)/1e9%3 - 1) * 3600
}
`} {
		overlay[filepath.Join(in, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o666); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "entrorouter")
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// Nothing is lost when our clock jumps, no wait becomes one of an hour and none is cut short, a deadline is kept, no attempt took
// another time than it did, and the end is that of a run whose clock was left alone.
func TestOurClockJumps(t *testing.T) {
	if os.Getenv(clockVariable) == "" {
		t.Skipf("builds the command for minutes: set %s=1", clockVariable)
	}
	program := jumping(t)
	want := newAsked(t, 20)
	calm := want.finish()
	off := map[time.Duration]bool{} // by how much the dates of attempts are
	for name, c := range map[string]struct {
		deadline    string
		code        int
		says        string
		least, most time.Duration
	}{
		"to the end":    {"10m", exitOK, "", 5 * time.Second, 2 * time.Minute},
		"to a deadline": {"4s", exitIncomplete, "the deadline", 4 * time.Second, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			x := newAsked(t, 20)
			stop := x.serve("server_wait: 120, idle_timeout: 60", fault.Plan{
				{Status: 503, Path: "/", Until: 2 * time.Second},
				{Status: 429, Requests: fault.First(3), Headers: map[string]string{"Retry-After": "{in 3s}"}},
				{Share: 0.3, Attempts: fault.First(1), End: fault.Reset, After: fault.Events(2)},
				{Delay: 500 * time.Millisecond},
			})
			cmd, _, errs := x.command()
			cmd.Path, cmd.Args = program, append(cmd.Args, "--deadline", c.deadline)
			cmd.Env = append(os.Environ(), "CLOCK_JUMPS=1")
			begin := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(errs.String(), c.says) {
				t.Errorf("I6: exit code %d, want %d and %q:\n%s", code, c.code, c.says, errs)
			}
			if took := time.Since(begin); took < c.least || took > c.most {
				t.Errorf("it took %s", took)
			}
			stop()
			found := x.Audit(t, x.out, false)
			if c.code == exitOK && found.Rows != x.Keys || c.code != exitOK && found.Rows == x.Keys || found.Attempts["limited"] == 0 || found.Attempts["broken"] == 0 {
				t.Errorf("%+v", found)
			}
			db, err := store.ReadRollouts(t.Context(), filepath.Join(x.out, "rollouts.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for a, err := range db.Attempts(t.Context()) {
				if took := a.Ended.Sub(a.Began); err != nil || took < 0 || took > time.Minute {
					t.Errorf("an attempt took %s, %v", took, err)
				}
				off[a.Began.Sub(begin).Round(time.Hour)] = true
			}
			x.resumed(calm, found.Rows)
		})
	}
	if len(off) != 3 {
		t.Errorf("dates of attempts are off by %v: the clock was not set", off)
	}
}

// A clock that was set back dates what runs into the future. 60 answers in the last minute and 120 left take two minutes all the same.
func TestAStatusHasNoTimesBelowNone(t *testing.T) {
	now := time.Now()
	later := now.Add(time.Hour)
	said := statusReport(&store.Status{Holder: &store.Holder{PID: 1, Started: later}, Oldest: &later, Scopes: []store.ScopeStatus{{Answered: 80, Want: 200, LastMinute: 60}}}, now)
	for _, want := range []string{"oldest request in flight: 0s\n", "time left: about 2m0s, at the rate of the last minute\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("the status lacks %q:\n%s", want, said)
		}
	}
}
