//go:build unix

package main

// The command asks servers and is killed, interrupted, or has no room; each time it goes on, and ends with the bytes of a run
// that nobody disturbed.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/entrorouter/entrorouter/harness/asking/askingtest"
	"github.com/entrorouter/entrorouter/harness/experts/fault"
)

// asked is an experiment that the command carries out as a process of its own, and what is in the books of its servers.
type asked struct {
	*testing.T
	*askingtest.World
	askingtest.Books
	out, figures string
	posts        atomic.Int64
}

func newAsked(t *testing.T, tests int) *asked {
	return &asked{T: t, World: askingtest.New(t, tests), out: filepath.Join(t.TempDir(), "out"), figures: filepath.Join(t.TempDir(), "figures")}
}

// serve starts a server that fails by a plan. stop waits until every request is over.
func (x *asked) serve(asking string, plan fault.Plan) (stop func()) {
	x.Helper()
	h := x.Handler(x, plan, fault.Options{Served: x.Count})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/chat/completions" {
			x.posts.Add(1)
		}
		h.ServeHTTP(w, r)
	}))
	x.Reach(x, asking, server.URL+"/v1")
	return func() { server.Close(); h.Close() }
}

// command is the program as a process, before it is started. What it prints is in out and errs.
func (x *asked) command() (cmd *exec.Cmd, out, errs *bytes.Buffer) {
	x.Helper()
	program, err := os.Executable()
	if err != nil {
		x.Fatal(err)
	}
	cmd = exec.Command(program)
	cmd.Args = []string{"entrorouter", "run", x.Spec, "--data", x.Data, "--out", x.out, "--figures", x.figures}
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, errs
	return cmd, out, errs
}

// finish carries the experiment out to its end and returns every byte of it.
func (x *asked) finish() map[string]string {
	x.Helper()
	defer x.serve("", nil)()
	cmd, out, errs := x.command()
	if err := cmd.Run(); err != nil {
		x.Fatalf("%v: %s", err, errs)
	}
	return x.found(out)
}

// found is everything that a finished run leaves.
func (x *asked) found(out *bytes.Buffer) map[string]string {
	x.Helper()
	folders := strings.NewReplacer(x.out, "out", x.figures, "figures", x.Data, "data", filepath.Dir(x.Spec), "specs") // commands name them
	printed := untimed(folders.Replace(out.String()))
	if printed == "" {
		x.Fatalf("no summary of one experiment in %q", out)
	}
	files := map[string]string{"": printed}
	for _, root := range []string{filepath.Join(x.out, "stages"), filepath.Join(x.out, "experiments"), x.figures} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if hidden := strings.HasPrefix(d.Name(), ".") && strings.HasSuffix(d.Name(), ".tmp"); err != nil || d.IsDir() || d.Name() == "env.json" || hidden {
				return err // a kill may leave the beginning of a figure
			}
			data, err := os.ReadFile(path)
			name, _ := filepath.Rel(filepath.Dir(root), path)
			files[name] = string(data)
			if d.Name() == indexFile {
				files[name] = digestOfSpec.ReplaceAllString(folders.Replace(files[name]), "")
			}
			return err
		})
		if err != nil {
			x.Fatal(err)
		}
	}
	return files
}

// digestOfSpec is that of a page: of a spec with the address of its servers, which every run has anew.
var digestOfSpec = regexp.MustCompile("in canonical form: `[0-9a-f]{64}`")

// same says that two runs left the same.
func (x *asked) same(want, got map[string]string) {
	x.Helper()
	for name, data := range want {
		if got[name] != data {
			x.Errorf("I3: %q is %.300q, want %.300q", name, got[name], data)
		}
	}
	for name, data := range got {
		if _, ok := want[name]; !ok {
			x.Errorf("I3: %q is there too: %.300q", name, data)
		}
	}
}

// KILLS says how often TestKilledAtAnyTime kills, 20 times by default.
const killsVariable = "KILLS"

// The command is killed at any time, again and again, and goes on each time: every answer is stored once, what was stored stays,
// only what is missing is asked for, the books know what was spent, and the end is that of a run that nobody disturbed.
func TestKilledAtAnyTime(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv(killsVariable))
	if err != nil {
		kills = 20
	}
	if testing.Short() {
		kills = 5
	}
	calm := newAsked(t, 60)
	begin := time.Now()
	want := calm.finish()
	whole := time.Since(begin)
	plan := fault.Plan{
		{Share: 0.1, Attempts: fault.First(1), End: fault.Reset, After: fault.Events(2)},
		{Share: 0.1, Attempts: fault.First(1), Status: 429, Headers: map[string]string{"Retry-After": "0.01"}},
		{Delay: 3 * time.Millisecond},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n, finished := 0, 0; n < kills; finished++ {
		x := newAsked(t, 60)
		for ended := false; !ended; {
			stop := x.serve("", plan)
			cmd, out, errs := x.command()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if n < kills {
				// Some kills come by the clock, and some while it is asked.
				if r.IntN(2) == 0 {
					time.Sleep(time.Duration(r.Int64N(int64(whole + whole/4))))
				} else {
					for until, end := x.posts.Load()+r.Int64N(60), time.Now().Add(whole); x.posts.Load() < until && time.Now().Before(end); {
						time.Sleep(100 * time.Microsecond)
					}
				}
				cmd.Process.Kill()
			}
			err := cmd.Wait()
			stop()
			ended = cmd.ProcessState.Exited()
			if ended && err != nil {
				t.Fatalf("after %d kills: %v: %s", n, err, errs)
			} else if !ended {
				n++
			}
			if found := x.Audit(t, x.out, true); ended {
				x.same(want, x.found(out))
				if found.Rows != x.Keys {
					t.Errorf("%d of %d answers", found.Rows, x.Keys)
				}
			}
			if t.Failed() {
				t.Fatalf("after %d kills", n)
			}
		}
	}
}

// answering waits until the servers were asked so often.
func (x *asked) answering(posts int64) {
	x.Helper()
	for end := time.Now().Add(time.Minute); x.posts.Load() < posts; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("%d requests after a minute", x.posts.Load())
		}
	}
}

// ended waits for a command and holds its exit code and its last line against what they are to be.
func (x *asked) ended(cmd *exec.Cmd, errs *bytes.Buffer, code int, says string) {
	x.Helper()
	err := cmd.Wait()
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	last := lines[len(lines)-1]
	if got := cmd.ProcessState.ExitCode(); got != code || says == "" && errs.Len() > 0 || says != "" && (!strings.HasPrefix(last, "entrorouter: ") || !strings.Contains(last, says)) {
		x.Errorf("I6: exit code %d (%v), want %d and %q:\n%s", got, err, code, says, errs)
	}
}

// resumed carries the experiment out to its end: exactly what is missing is asked for.
func (x *asked) resumed(want map[string]string, stored int) {
	x.Helper()
	stop := x.serve("", nil)
	cmd, out, errs := x.command()
	if err := cmd.Start(); err != nil {
		x.Fatal(err)
	}
	x.ended(cmd, errs, exitOK, "")
	stop()
	if found := x.Audit(x, x.out, true); found.Asked != x.Keys-stored {
		x.Errorf("I3: %d requests, with %d of %d answers stored", found.Asked, stored, x.Keys)
	}
	x.same(want, x.found(out))
}

// Ctrl-C, being told to end and a terminal that closes let requests in flight finish; a second time drops them, within two seconds.
// Each time the same command goes on.
func TestSignalsLoseNothing(t *testing.T) {
	want := newAsked(t, 20)
	calm := want.finish()
	const kept = "interrupted; what was finished is kept, run the same command again to go on"
	for name, c := range map[string]struct {
		signals []os.Signal
		lost    bool // what is in flight
	}{
		"Ctrl-C":       {[]os.Signal{os.Interrupt}, false},
		"Ctrl-C twice": {[]os.Signal{os.Interrupt, os.Interrupt}, true},
		"terminated":   {[]os.Signal{syscall.SIGTERM}, false},
		"hung up":      {[]os.Signal{syscall.SIGHUP}, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := newAsked(t, 20)
			delay := 100 * time.Millisecond
			if c.lost {
				delay = time.Hour
			}
			stop := x.serve("", fault.Plan{{Requests: fault.First(40)}, {Delay: delay}})
			cmd, _, errs := x.command()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			x.answering(44)
			begin := time.Now()
			for i, s := range c.signals {
				if i > 0 {
					time.Sleep(50 * time.Millisecond) // two of them at once are one
				}
				cmd.Process.Signal(s)
			}
			x.ended(cmd, errs, exitInterrupted, kept)
			found := x.Audit(t, x.out, false)
			if took := time.Since(begin); took > 2*time.Second+delay/3600 {
				t.Errorf("it ended after %s", took)
			}
			stop()
			if last := x.Audit(t, x.out, false); found.Rows < 40 || found.Rows == x.Keys || !c.lost && found.Rows != found.Asked+last.Asked || c.lost && found.Attempts["cancelled"] == 0 {
				t.Errorf("%+v, then %+v", found, last)
			}
			x.resumed(calm, found.Rows)
		})
	}
}

// A reader of standard output that has gone loses nothing of what was paid for.
func TestAClosedPipeLosesNothing(t *testing.T) {
	want := newAsked(t, 4)
	calm := want.finish()
	x := newAsked(t, 4)
	stop := x.serve("", nil)
	cmd, _, errs := x.command()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	x.ended(cmd, errs, exitFailed, "")
	stop()
	if found := x.Audit(t, x.out, false); found.Rows != x.Keys {
		t.Errorf("%+v", found)
	}
	x.resumed(calm, x.Keys)
}

// However few files may be open, the command says that it is so, or it ends as ever.
func TestEveryLimitOfOpenFilesIsSaid(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	said, ended := 0, false
	for limit := 6; !ended && limit < 60; limit++ {
		dir := t.TempDir()
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d; exec entrorouter run testdata/tiny.yaml --out "$0/out" --figures "$0/fig" --quiet`, limit), dir)
		out, err := cmd.CombinedOutput()
		switch code := cmd.ProcessState.ExitCode(); {
		case bytes.HasPrefix(out, []byte("runtime: ")): // Go's own start failed
		case code == exitOK:
			ended = true
		case code == exitFailed && bytes.Contains(out, []byte("too many open files")):
			said++
		default:
			t.Errorf("with %d files: %v: %s", limit, err, out)
		}
	}
	if !ended || said == 0 {
		t.Errorf("a run ended well: %v; %d said that too many files are open", ended, said)
	}
}

// Without room for another open file, with a store that cannot be written or is taken away, the command says so in a line, and goes
// on where it was once that is mended.
func TestTheMachineLosesNothing(t *testing.T) {
	want := newAsked(t, 20)
	calm := want.finish()
	slow := fault.Plan{{Delay: 20 * time.Millisecond}}
	for name, c := range map[string]struct {
		shell  string // what carries out the command, as "$@"
		during func(x *asked)
		says   string
	}{
		"too many open files":         {"ulimit -n 14; exec \"$@\"", nil, "too many open files"},
		"a folder that is taken away": {"exec \"$@\"", func(x *asked) { x.answering(30); os.Rename(x.out, x.out+".away") }, "the file was removed, moved or replaced while a run wrote to it"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newAsked(t, 20)
			stop := x.serve("", slow)
			cmd, _, errs := x.command()
			program := filepath.Join(t.TempDir(), cmd.Args[0])
			if err := os.Symlink(cmd.Path, program); err != nil {
				t.Fatal(err)
			}
			cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", c.shell, "sh", program}, cmd.Args[1:]...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if c.during != nil {
				c.during(x)
			}
			x.ended(cmd, errs, exitFailed, c.says)
			stop()
			os.Rename(x.out+".away", x.out)
			found := x.Audit(t, x.out, c.during != nil) // what was in flight is lost with the file
			if found.Asked > x.Keys/2 {
				t.Errorf("%d requests after what was wrong", found.Asked)
			}
			x.resumed(calm, found.Rows)
		})
	}
}
