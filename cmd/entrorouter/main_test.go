package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/entrorouter/entrorouter/harness/fetch/fetchtest"
	"github.com/entrorouter/entrorouter/harness/gguf/gguftest"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// What is asserted of standard error must not depend on how long a run takes: progress has tests of its own.
func TestMain(m *testing.M) {
	os.Setenv("ENTROROUTER_QUIET", "1")
	collectSeldom()
	testscript.Main(sharing{m}, map[string]func(){
		"entrorouter": func() { os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// sharing gives the tests a folder for what they share, and an environment of their own.
type sharing struct{ *testing.M }

var shared string

func (s sharing) Run() int {
	for _, set := range os.Environ() { // what a person who runs the tests has set for runs, but for what tests are told by
		if name, _, _ := strings.Cut(set, "="); strings.HasPrefix(name, "ENTROROUTER_") && !slices.Contains([]string{"ENTROROUTER_QUIET", "ENTROROUTER_LIVE", "ENTROROUTER_VLLM", "ENTROROUTER_XLA"}, name) {
			os.Unsetenv(name)
		}
	}
	var err error
	if shared, err = os.MkdirTemp("", "entrorouter"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(shared)
	return s.M.Run()
}

// finished is a run that tests share and that none may write to: its store is in out, its tables and figures are in fig,
// and what it printed is in the file printed.
type finished func() (dir string, err error)

var (
	smokeRun = runOnce("smoke", "smoke")
	tinyRun  = runOnce("tiny", "tiny.yaml")
	longRun  = runOnce("long", "tiny.yaml", "size: 100", "size: 300") // long enough to be stopped in the middle
)

func runOnce(name, spec string, edits ...string) finished {
	return sync.OnceValues(func() (string, error) {
		dir := filepath.Join(shared, name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			return "", err
		}
		if file, err := os.ReadFile(filepath.Join("testdata", spec)); err == nil {
			if err := os.WriteFile(filepath.Join(dir, spec), []byte(strings.NewReplacer(edits...).Replace(string(file))), 0o666); err != nil {
				return "", err
			}
		}
		var out, errs bytes.Buffer
		cmd := exec.Command("entrorouter", "run", spec, "--out", "out", "--figures", "fig")
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
		if err := cmd.Run(); err != nil || errs.Len() > 0 {
			return "", fmt.Errorf("run %s: %v: %s", name, err, errs.String())
		}
		return dir, os.WriteFile(filepath.Join(dir, "printed"), out.Bytes(), 0o666)
	})
}

// store puts what the run has stored into a folder.
func (f finished) store(t testing.TB, to string) {
	t.Helper()
	dir, err := f()
	if err == nil {
		err = linkTree(to, filepath.Join(dir, "out"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// measured are the measurements of an experiment in a folder.
func measured(t testing.TB, dir, experiment string) *metrics.Set {
	t.Helper()
	set, err := readMeasurements(dir, &spec.Resolved{Experiment: spec.Experiment{Name: experiment}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// stored puts what a run has stored, and what it wrote and printed, into the folder of a script.
func stored(ts *testscript.TestScript, neg bool, args []string) {
	of := map[string]finished{"smoke": smokeRun, "tiny": tinyRun, "long": longRun}
	if neg || len(args) != 1 || of[args[0]] == nil {
		ts.Fatalf("usage: stored smoke|tiny|long")
	}
	dir, err := of[args[0]]()
	ts.Check(err)
	ts.Check(linkTree(ts.MkAbs("out"), filepath.Join(dir, "out")))
	ts.Check(os.CopyFS(ts.MkAbs("fig"), os.DirFS(filepath.Join(dir, "fig"))))
	ts.Check(os.WriteFile(ts.MkAbs("printed"), []byte(ts.ReadFile(filepath.Join(dir, "printed"))), 0o666))
}

// linkTree makes the folder to with the files of a store: entries are never written to, so that they are links, and what
// is written to is copied.
func linkTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		if strings.HasPrefix(name, "stages") {
			return os.Link(path, target)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o666)
	})
}

// One script a promise. Besides the usual commands there are
//
//	stored run           puts the finished run smoke, tiny or long here: its store into out, its tables into fig, what it printed into printed
//	exits N cmd...       cmd ends with exit code N
//	says pattern         standard error is one line that starts with "entrorouter: " and matches
//	same a b             two folders hold the same files; env.json and locks are never compared
//	alike a b            two runs of one experiment printed the same, but for how long they took, what was found in the store and where
//	await glob [bytes]   waits until a file matches, of at least that size
//	smalldisk dir size   mounts a disk of that size, or skips the script
//	copydir from to      copies a folder
//	edit file old new    replaces text in a file
//	damagepage file t    damages the last page of table t of a database
//	tinygguf file        writes a small Llama model as GGUF
//	questions file n     writes n training problems of the run that is stored here as questions
//	logs dir n           writes recorded outcomes of two models to n questions
//	hub dir [bytes]      publishes the data sets of a folder at $HUB; the first file stays silent after some bytes
//
// and every script finds tiny.yaml in its folder, a free port in $PORT and the folder of the paper's tables in $PAPER.
func TestScripts(t *testing.T) {
	testscript.Run(t, scripts("testdata/script"))
}

// scripts are those of a folder.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			env.Values[tester{}] = env.T()
			spec, err := os.ReadFile("testdata/tiny.yaml")
			if err != nil {
				return err
			}
			data, err := filepath.Abs("../../../shared/data")
			if err != nil {
				return err
			}
			if _, err := os.Stat(data); err == nil {
				env.Setenv("DATA", data)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			_, port, err := net.SplitHostPort(l.Addr().String())
			if err := errors.Join(err, l.Close()); err != nil {
				return err
			}
			env.Setenv("PORT", port)
			paper, err := filepath.Abs("../../results/paper")
			if err != nil {
				return err
			}
			env.Setenv("PAPER", paper)
			env.Setenv("ENTROROUTER_QUIET", "1")
			return os.WriteFile(filepath.Join(env.WorkDir, "tiny.yaml"), spec, 0o644)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "data":
				_, err := os.Stat("../../../shared/data/outcomes")
				return err == nil, nil
			case "tex":
				return texInstalled(), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"stored": stored, "exits": exits, "says": says, "same": same, "alike": alike, "await": await, "smalldisk": smallDisk, "copydir": copyDir, "edit": edit, "append": appendTo, "damagepage": damagePage, "tinygguf": tinyGGUF, "hub": hub, "questions": questions, "logs": logs,
		},
	}
}

// tester is the key of a script's testscript.T.
type tester struct{}

// texInstalled says whether TeX is here, with the packages and fonts that our documents name.
func texInstalled() bool {
	return exec.Command("kpsewhich", "booktabs.sty", "multirow.sty", "microtype.sty", "times.sty", "ptmr8t.tfm").Run() == nil
}

// writeGGUF writes a small Llama model.
func writeGGUF(path string) error {
	return os.WriteFile(path, gguftest.Encode(gguftest.Model("llama")), 0o666)
}

func tinyGGUF(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tinygguf file")
	}
	ts.Check(writeGGUF(ts.MkAbs(args[0])))
}

func hub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: hub dir [bytes]")
	}
	h := &fetchtest.Hub{Root: ts.MkAbs(args[0])}
	if len(args) == 2 {
		var err error
		h.Stall, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	server := httptest.NewServer(h)
	ts.Defer(server.Close)
	ts.Setenv("HUB", server.URL)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: says pattern")
	}
	text := ts.ReadFile("stderr")
	line, rest, ended := strings.Cut(text, "\n")
	if !ended || rest != "" || !strings.HasPrefix(line, "entrorouter: ") {
		ts.Fatalf("standard error is not one sentence:\n%s", text)
	}
	if ok, err := regexp.MatchString(args[0], line); err != nil || !ok {
		ts.Fatalf("%q does not match %q (%v)", line, args[0], err)
	}
}

func same(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same dir dir")
	}
	a, b := tree(ts, ts.MkAbs(args[0])), tree(ts, ts.MkAbs(args[1]))
	if len(a) == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
	for name, data := range a {
		other, ok := b[name]
		if !ok {
			ts.Fatalf("%s is in %s only", name, args[0])
		}
		if !bytes.Equal(data, other) {
			ts.Fatalf("%s differs:\n%.2000s\n---\n%.2000s", name, data, other)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			ts.Fatalf("%s is in %s only", name, args[1])
		}
	}
}

func alike(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: alike file file")
	}
	a, b := untimed(ts.ReadFile(args[0])), untimed(ts.ReadFile(args[1]))
	if a == "" || a != b {
		ts.Fatalf("%s and %s are not alike: %s", args[0], args[1], cmp.Diff(a, b))
	}
}

var (
	ended   = regexp.MustCompile(`(?m)^1 experiment in (\d+:)?\d+:\d\d: (1 step|\d+ steps) made, \d+ found in the store$`)
	storeIn = regexp.MustCompile(` --out \S+?(;|$| )`)
)

// untimed is what a run of one experiment printed without what another run of it need not repeat; empty if it does not say once how long it took.
func untimed(printed string) string {
	if len(ended.FindAllString(printed, -1)) != 1 {
		return ""
	}
	return storeIn.ReplaceAllString(ended.ReplaceAllString(printed, ""), "$1")
}

func tree(ts *testscript.TestScript, root string) map[string][]byte {
	files := map[string][]byte{}
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "env.json" {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[name], err = os.ReadFile(path)
		if d.Name() == indexFile {
			files[name] = foldersOfCommands.ReplaceAll(files[name], []byte("$1"))
		}
		return err
	}))
	return files
}

// foldersOfCommands are those that a page names in the commands that made it: other runs are carried out elsewhere.
var foldersOfCommands = regexp.MustCompile("(entrorouter [a-z]+ )[^ `]*/| --(?:out|figures) [^ `]+")

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: await glob [bytes]")
	}
	size := int64(0)
	if len(args) == 2 {
		var err error
		size, err = strconv.ParseInt(args[1], 10, 64)
		ts.Check(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && info.Size() >= size {
				return
			}
		}
	}
	ts.Fatalf("nothing matches %s after a minute", strings.Join(args, " "))
}

func smallDisk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: smalldisk dir size")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+args[1], "tmpfs", dir).CombinedOutput(); err != nil {
		ts.Logf("cannot mount a small disk: %v: %s", err, out)
		ts.Check(ts.Exec("true")) // clears the output
		skip(ts, "mounting a small disk needs root")
	}
	ts.Defer(func() { exec.Command("umount", dir).Run() })
}

func skip(ts *testscript.TestScript, why string) {
	ts.Value(tester{}).(testscript.T).Skip(why)
}

// A script that needs what the machine does not permit is skipped, as a run of the tests by anybody but root is.
func TestAScriptThatCannotBeCarriedOutHereIsSkipped(t *testing.T) {
	without, script := t.TempDir(), t.TempDir()
	nothing, err := exec.LookPath("true")
	if err != nil {
		t.Skip("there is no program true")
	}
	if err := os.Symlink(nothing, filepath.Join(without, "true")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	write(t, filepath.Join(script, "small.txtar"), "smalldisk small 32k\nexists nowhere\n")
	t.Setenv("PATH", without) // without mount
	skipped := false
	t.Run("run", func(t *testing.T) {
		t.Cleanup(func() { skipped = t.Skipped() })
		testscript.RunT(alone{t}, scripts(script))
	})
	if !skipped {
		t.Error("it was carried out")
	}
}

// alone carries out a script in its own test.
type alone struct{ *testing.T }

func (a alone) Run(_ string, do func(testscript.T)) { do(a) }
func (alone) Parallel()                             {}
func (alone) Verbose() bool                         { return testing.Verbose() }

func copyDir(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copydir from to")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}

// damagePage damages a page that the table uses: a page by its number may be a free one, which nothing reads.
func damagePage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damagepage file table")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0])+"?immutable=1")
	ts.Check(err)
	var n int
	err = db.QueryRow("SELECT max(pageno) FROM dbstat WHERE name = ? AND pagetype = 'leaf'", args[1]).Scan(&n)
	ts.Check(errors.Join(err, db.Close()))
	data := []byte(ts.ReadFile(args[0]))
	page := data[4096*(n-1) : 4096*n]
	for i := range page {
		page[i] ^= 0x5a
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

// appendTo damages every file that matches a pattern. A new file takes the place of the old one, which may be a link to what
// other scripts read.
func appendTo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: append glob")
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) == 0 {
		ts.Fatalf("nothing matches %s", args[0])
	}
	for _, path := range found {
		data := append([]byte(ts.ReadFile(path)), ' ')
		ts.Check(os.Remove(path))
		ts.Check(os.WriteFile(path, data, 0o644))
	}
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit file old new")
	}
	unquote := strings.NewReplacer(`\n`, "\n")
	text := ts.ReadFile(args[0])
	old := unquote.Replace(args[1])
	if !strings.Contains(text, old) {
		ts.Fatalf("%s does not hold %q", args[0], old)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, old, unquote.Replace(args[2]), 1)), 0o644))
}
