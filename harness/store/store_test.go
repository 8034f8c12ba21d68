package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func openStore(t testing.TB, root string) *Store {
	t.Helper()
	s, err := Open(root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// contents is the output of the test's stage: one file in a folder, one empty, one of several buffers.
var contents = map[string]string{
	"curve.csv":        "step,loss\n0,1.5\n",
	"weights/a/model":  strings.Repeat("0123456789abcdef", 9000),
	"weights/b/.empty": "",
}

func build(_ context.Context, d *Draft) error {
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		if err := d.WriteFile(name, []byte(contents[name])); err != nil {
			return err
		}
	}
	return nil
}

func mustNotBuild(t testing.TB) func(context.Context, *Draft) error {
	return func(context.Context, *Draft) error {
		t.Error("the stage ran again")
		return nil
	}
}

func checkContents(t testing.TB, e Entry) {
	t.Helper()
	var names []string
	for _, f := range e.Files {
		names = append(names, f.Name)
		got, err := e.ReadFile(f.Name)
		if err != nil || string(got) != contents[f.Name] || f.Size != int64(len(got)) {
			t.Errorf("%s: %d bytes, %v; want %d", f.Name, len(got), err, len(contents[f.Name]))
		}
	}
	if want := slices.Sorted(maps.Keys(contents)); !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}

// tree lists everything below root, files with their content.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() {
			found[name+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		found[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAStageRunsOnceAndIsFoundEverAfter(t *testing.T) {
	root := t.TempDir()
	s, r := openStore(t, root), recipe(t, "fit", 1, map[string]int{"seed": 1})
	if _, err := s.Get(r); !errors.Is(err, ErrMissing) {
		t.Fatalf("before: error %v, want ErrMissing", err)
	}
	made, err := s.Make(t.Context(), r, build)
	if err != nil {
		t.Fatal(err)
	}
	checkContents(t, made)
	s.Close()
	found, err := openStore(t, root).Make(t.Context(), r, mustNotBuild(t))
	if err != nil {
		t.Fatal(err)
	}
	checkContents(t, found)
	if found.Digest != made.Digest || found.Dir != made.Dir {
		t.Errorf("found %+v, made %+v", found, made)
	}
	if left, _ := os.ReadDir(filepath.Join(root, "tmp")); len(left) > 0 {
		t.Errorf("tmp holds %v", left)
	}
	if _, err := found.Open("nope"); err == nil || !strings.Contains(err.Error(), "curve.csv") {
		t.Errorf("error %v, want one that lists the files", err)
	}
}

func TestTheEnvironmentDoesNotChangeTheDigest(t *testing.T) {
	var digests []string
	for _, env := range []any{map[string]string{"go": "1.26"}, map[string]string{"go": "1.27"}, nil} {
		s, err := Open(t.TempDir(), Options{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Make(t.Context(), recipe(t, "fit", 1, nil), build)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(e.Dir, envFile)); err != nil {
			t.Error(err)
		}
		digests = append(digests, e.Digest)
	}
	if digests[0] != digests[1] || digests[1] != digests[2] {
		t.Errorf("digests %v, want equal ones", digests)
	}
}

// What is noted of a making lies beside what the store says of all, and is no part of the entry.
func TestNotesAreInTheEnvironmentAlone(t *testing.T) {
	digests := map[string]bool{}
	for _, ms := range []float64{1.5, 2} {
		s, err := Open(t.TempDir(), Options{Env: map[string]string{"os": "plan9"}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Make(t.Context(), recipe(t, "fit", 1, nil), func(ctx context.Context, d *Draft) error {
			d.Note("ms", map[string]float64{"paper": ms})
			return build(ctx, d)
		})
		if err != nil {
			t.Fatal(err)
		}
		var env struct {
			OS string
			MS map[string]float64
		}
		if err := e.Env(&env); err != nil || env.OS != "plan9" || env.MS["paper"] != ms {
			t.Errorf("%+v, %v", env, err)
		}
		digests[e.Digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("the digest depends on a note: %v", digests)
	}
}

// A state that a maker left behind stays until the entry is there, and is counted while nobody is at it.
func TestWhatIsLeftUnfinishedIsCountedAndGoesWithTheEntry(t *testing.T) {
	root := t.TempDir()
	r := recipe(t, "fit", 1, nil)
	stop := errors.New("stopped")
	leave := func(_ context.Context, d *Draft) error {
		if err := os.MkdirAll(d.Unfinished(), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(d.Unfinished(), "sft.state"), make([]byte, 100), 0o666); err != nil {
			return err
		}
		if _, entries, _, err := d.store.Unfinished(); entries != 0 || err != nil {
			t.Errorf("while it is being made %d entries are left, %v", entries, err)
		}
		return stop
	}
	s := openStore(t, root)
	if _, err := s.Make(t.Context(), r, leave); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	s.Close()
	s = openStore(t, root)
	// A maker that was stopped before it kept anything leaves folders at most, with which nobody can go on.
	if _, err := s.Make(t.Context(), recipe(t, "fit", 2, nil), func(_ context.Context, d *Draft) error {
		return errors.Join(os.MkdirAll(filepath.Join(d.Unfinished(), "0"), 0o777), stop)
	}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	dir, entries, bytes, err := s.Unfinished()
	if want := filepath.Join(root, "unfinished"); dir != want || entries != 1 || bytes != 100 || err != nil {
		t.Errorf("%s holds %d entries of %d bytes, %v; want 1 of 100 in %s", dir, entries, bytes, err, want)
	}
	// The entry is finished, but its maker died before it removed the state.
	if _, err := s.Make(t.Context(), r, build); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, r.Key().String())
	if err := os.MkdirAll(left, 0o777); err != nil {
		t.Fatal(err)
	}
	s.Close()
	openStore(t, root)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state of a finished entry is still there: %v", err)
	}
}

func TestAFailedStageLeavesNothing(t *testing.T) {
	root := t.TempDir()
	s, r := openStore(t, root), recipe(t, "fit", 1, nil)
	before := tree(t, root)
	boom := errors.New("diverged")
	_, err := s.Make(t.Context(), r, func(ctx context.Context, d *Draft) error {
		return errors.Join(build(ctx, d), boom)
	})
	if !errors.Is(err, boom) {
		t.Errorf("error %v, want %v", err, boom)
	}
	if after := tree(t, root); !maps.Equal(before, after) {
		t.Errorf("left behind: %v", slices.Sorted(maps.Keys(after)))
	}
}

func TestCorruptEntriesAreReportedMovedAsideAndMadeAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(dir string) error
		want   string
	}{
		{"a changed byte", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "curve.csv"), []byte("step,loss\n0,1.6\n"), 0o666)
		}, "curve.csv has another SHA-256"},
		{"a cut file", func(dir string) error { return os.Truncate(filepath.Join(dir, "weights/a/model"), 100) },
			"weights/a/model has 100 bytes instead of 144000"},
		{"a missing file", func(dir string) error { return os.Remove(filepath.Join(dir, "weights/b/.empty")) },
			"weights/b/.empty is missing"},
		{"a missing manifest", func(dir string) error { return os.Remove(filepath.Join(dir, manifestFile)) },
			"manifest.json is missing"},
		{"an empty manifest", func(dir string) error { return os.Truncate(filepath.Join(dir, manifestFile), 0) },
			"manifest.json: "},
		{"a changed recipe", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, recipeFile), []byte("{}"), 0o666)
		}, "recipe.json has 2 bytes"},
		{"an entry of another recipe under this name", func(dir string) error {
			other, err := NewRecipe("fit", 2, nil, nil)
			if err != nil {
				return err
			}
			s, err := Open(filepath.Join(dir, "..", "..", "..", "other"), Options{})
			if err != nil {
				return err
			}
			e, err := s.Make(context.Background(), other, build)
			if err != nil {
				return err
			}
			return errors.Join(os.RemoveAll(dir), os.Rename(e.Dir, dir))
		}, "another recipe"},
		{"a manifest that points outside", func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, manifestFile))
			if err != nil {
				return err
			}
			data = []byte(strings.Replace(string(data), "curve.csv", "../../x", 1))
			return os.WriteFile(filepath.Join(dir, manifestFile), data, 0o666)
		}, "outside the entry"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r := openStore(t, t.TempDir()), recipe(t, "fit", 1, nil)
			first, err := s.Make(t.Context(), r, build)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.damage(first.Dir); err != nil {
				t.Fatal(err)
			}
			_, err = s.Get(r)
			var corrupt *CorruptError
			if !errors.Is(err, ErrCorrupt) || !errors.As(err, &corrupt) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want ErrCorrupt that says %q", err, c.want)
			}
			again, err := s.Make(t.Context(), r, build)
			if err != nil {
				t.Fatal(err)
			}
			checkContents(t, again)
			if again.Digest != first.Digest {
				t.Errorf("digest %s, first %s", again.Digest, first.Digest)
			}
			if aside, _ := os.ReadDir(filepath.Join(s.root, "corrupt")); len(aside) != 1 {
				t.Errorf("corrupt/ holds %v, want one entry", aside)
			}
		})
	}
}

// At every change to the disk the test takes a copy of the store, which is what a crash there would leave, and starts
// again from it.
func TestACrashAtAnyChangeLeavesTheWholeEntryOrNone(t *testing.T) {
	root, r := filepath.Join(t.TempDir(), "runs"), recipe(t, "fit", 1, nil)
	var crashes []string
	snapshot := func(op string) {
		draft := filepath.Join(root, "tmp", r.Key().String())
		if _, err := os.Stat(filepath.Join(draft, manifestFile)); err == nil && !strings.HasSuffix(op, manifestFile) {
			if e, faults := readEntry(draft, r.Key()); faults != nil || len(e.Files) != len(contents) {
				t.Errorf("at %q the draft has a manifest and is not complete: %v", op, faults)
			}
			if info, err := os.Stat(filepath.Join(draft, envFile)); err != nil || info.Size() == 0 {
				t.Errorf("at %q the draft has a manifest and no environment: %v", op, err)
			}
		}
		dir := filepath.Join(t.TempDir(), "crashed")
		if err := os.CopyFS(dir, os.DirFS(root)); err != nil {
			t.Fatal(err)
		}
		crashes = append(crashes, dir+" "+op)
	}
	s, err := open(root, Options{}, func(op, path string) error {
		snapshot(op + " " + filepath.Base(path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := s.Make(t.Context(), r, build)
	if err != nil {
		t.Fatal(err)
	}
	snapshot("done")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(crashes) < 15 {
		t.Fatalf("only %d moments: %q", len(crashes), crashes)
	}
	complete := 0
	for _, c := range crashes {
		dir, op, _ := strings.Cut(c, " ")
		s := openStore(t, dir)
		if left, _ := os.ReadDir(filepath.Join(dir, "tmp")); len(left) > 0 {
			t.Errorf("after a crash at %q: Open left %v in tmp", op, left)
		}
		switch _, err := s.Get(r); {
		case err == nil:
			complete++
		case !errors.Is(err, ErrMissing):
			t.Errorf("after a crash at %q: %v", op, err)
		}
		e, err := s.Make(t.Context(), r, build)
		if err != nil || e.Digest != whole.Digest {
			t.Errorf("after a crash at %q: made %q, %v; want %q", op, e.Digest, err, whole.Digest)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		got, want := tree(t, dir), tree(t, root)
		if !maps.Equal(got, want) {
			t.Errorf("after a crash at %q the store differs from one that never crashed", op)
		}
	}
	if complete != 1 {
		t.Errorf("%d crashed stores hold the entry, want only the last", complete)
	}
}

func TestAFullDiskAtAnyChangeIsOneClearSentenceAndLeavesNothing(t *testing.T) {
	r := recipe(t, "fit", 1, nil)
	for fail := 1; ; fail++ {
		root := t.TempDir()
		n := 0
		s, err := open(root, Options{}, func(op, path string) error {
			if n++; n == fail {
				return &fs.PathError{Op: op, Path: path, Err: syscall.ENOSPC}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Make(t.Context(), r, build)
		if n < fail {
			if err != nil {
				t.Error(err)
			}
			return
		}
		if err == nil || strings.Count(err.Error(), "the disk is full; free some space and run again") != 1 {
			t.Errorf("change %d: error %v, want one sentence about the full disk", fail, err)
		}
		if left, _ := os.ReadDir(filepath.Join(root, "tmp")); len(left) > 0 {
			t.Errorf("change %d: tmp holds %v", fail, left)
		}
		if _, err := s.Get(r); !errors.Is(err, ErrMissing) {
			t.Errorf("change %d: error %v, want ErrMissing", fail, err)
		}
	}
}

func TestAFolderThatCannotBeWrittenIsOneClearSentence(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{file, filepath.Join(file, "runs")} {
		if _, err := Open(root, Options{}); err == nil || !strings.HasSuffix(err.Error(), ": "+file+" is a file; name a folder") {
			t.Errorf("error %v, want one that says that %s is a file", err, file)
		}
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o777) }) // so that it can be removed
	_, err := Open(filepath.Join(dir, "runs"), Options{})
	if err == nil || !strings.Contains(err.Error(), "not writable; change its permissions") {
		t.Errorf("error %v, want one that says what to do", err)
	}
}

func TestAStageThatIsNotDeterministicIsFoundOut(t *testing.T) {
	s, r := openStore(t, t.TempDir()), recipe(t, "fit", 1, nil)
	if _, err := s.Make(t.Context(), r, build); err != nil {
		t.Fatal(err)
	}
	again := func(curve string) error {
		d, err := s.Begin(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range contents {
			if name == "curve.csv" {
				text = curve
			}
			if err := d.WriteFile(name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		_, err = d.Commit()
		return err
	}
	if err := again(contents["curve.csv"]); err != nil {
		t.Errorf("the same bytes again: %v", err)
	}
	if err := again("step,loss\n"); err == nil || !strings.Contains(err.Error(), `not deterministic: made again, it differs from the stored entry in "curve.csv"`) {
		t.Errorf("error %v, want one that names curve.csv", err)
	}
}

func TestDraftsRefuseWhatCannotBeKept(t *testing.T) {
	s := openStore(t, t.TempDir())
	n := 0
	commit := func(t *testing.T, fill func(d *Draft) error) error {
		n++
		d, err := s.Begin(t.Context(), recipe(t, "fit", n, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Discard()
		if err := fill(d); err != nil {
			return err
		}
		_, err = d.Commit()
		return err
	}
	write := func(name string) func(d *Draft) error {
		return func(d *Draft) error { return d.WriteFile(name, nil) }
	}
	for _, c := range []struct {
		name string
		fill func(d *Draft) error
		want string
	}{
		{"the recipe's name", write("recipe.json"), "reserved"},
		{"the manifest's name", write("manifest.json"), "reserved"},
		{"a way out", write("../x"), `"../x"`},
		{"an absolute path", write("/x"), `"/x"`},
		{"no name", write(""), `""`},
		{"one name twice", func(d *Draft) error { return errors.Join(write("a")(d), write("a")(d)) }, "exists"},
		{"an open file", func(d *Draft) error { _, err := d.Create("a"); return err }, `files still open: "a"`},
		{"a link", func(d *Draft) error { return os.Symlink("/etc/hosts", filepath.Join(d.Dir(), "a")) }, "not a plain file"},
		{"a second commit", func(d *Draft) error { _, err := d.Commit(); return err }, "committed or discarded before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := commit(t, c.fill); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
	t.Run("files written without the draft are kept", func(t *testing.T) {
		err := commit(t, func(d *Draft) error { return os.WriteFile(filepath.Join(d.Dir(), "a"), []byte("x"), 0o666) })
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Get(recipe(t, "fit", n, nil))
		if err != nil || len(e.Files) != 1 || e.Files[0].Name != "a" {
			t.Errorf("entry %+v, %v", e, err)
		}
	})
}

func TestManyWhoWantOneEntryTakeTurns(t *testing.T) {
	s, r := openStore(t, t.TempDir()), recipe(t, "fit", 1, nil)
	var runs atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			e, err := s.Make(t.Context(), r, func(ctx context.Context, d *Draft) error {
				runs.Add(1)
				time.Sleep(20 * time.Millisecond)
				return build(ctx, d)
			})
			if err != nil {
				t.Error(err)
				return
			}
			checkContents(t, e)
		})
	}
	wg.Wait()
	if runs.Load() != 1 {
		t.Errorf("the stage ran %d times", runs.Load())
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	s, r := openStore(t, t.TempDir()), recipe(t, "fit", 1, nil)
	d, err := s.Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Discard()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = s.Make(ctx, r, mustNotBuild(t))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "is being made elsewhere") {
		t.Errorf("error %v, want the deadline", err)
	}
	if err := d.WriteFile("a", nil); err != nil {
		t.Error(err)
	}
	if _, err := d.Commit(); err != nil {
		t.Error(err)
	}
}

func TestIndexRoundTrip(t *testing.T) {
	s := openStore(t, t.TempDir())
	if _, err := s.ReadIndex("main"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want fs.ErrNotExist", err)
	}
	want := []Step{{"profile", recipe(t, "profile", 1, nil).Key()}, {"fit knn seed=1", recipe(t, "fit", 1, 5).Key()}}
	for range 2 {
		if err := s.WriteIndex("main", want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.ReadIndex("main")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("read %v, %v; want %v", got, err, want)
	}
	if err := s.WriteIndex("main", []Step{{Name: "a\tb"}}); err == nil {
		t.Error("a step name with a tab was accepted")
	}
	if err := s.WriteIndex("../main", nil); err == nil {
		t.Error("an experiment name with a slash was accepted")
	}
	path := filepath.Join(s.root, "experiments", "main.txt")
	if err := os.WriteFile(path, []byte("profile\tnonsense\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadIndex("main"); err == nil || !strings.Contains(err.Error(), "main.txt:1: malformed key") {
		t.Errorf("error %v, want file, line and fault", err)
	}
}

func TestALockHasOneHolderAndLeavesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var inside atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for taken := 0; taken < 60; {
				l, err := tryLock(path)
				if errors.Is(err, ErrLocked) {
					continue
				} else if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				time.Sleep(time.Microsecond)
				inside.Add(-1)
				l.unlock()
				taken++
			}
		})
	}
	wg.Wait()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock file is left: %v", err)
	}
}

// SQLite's log has an index in memory, which machines that share a disk do not share.
func TestWhatAnotherMachineWritesIsNotRead(t *testing.T) {
	if boot() == "" {
		t.Skip("the system does not say which machine this is")
	}
	root := t.TempDir()
	s := openStore(t, root)
	db, err := s.Rollouts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	look := func() error {
		st, err := ReadStatus(t.Context(), root)
		if err == nil && st.Holder == nil {
			t.Error("nobody writes")
		}
		return err
	}
	if err := look(); err != nil {
		t.Errorf("on the machine that writes: %v", err)
	}
	other, err := json.Marshal(Holder{PID: 8, Host: "node7", Boot: "another"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lockPath(root), other, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := look(); err == nil || !strings.Contains(err.Error(), "process 8 on node7") || !strings.Contains(err.Error(), "run this there") {
		t.Errorf("on another one: %v", err)
	}
}

func TestAnEntryIsFoundByItsKey(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root)
	r, err := NewRecipe("stage", 2, map[string]int{"knob": 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Make(t.Context(), r, build); err != nil {
		t.Fatal(err)
	}
	reader := OpenReadOnly(root)
	e, found, err := reader.Find(r.Key())
	if err != nil {
		t.Fatal(err)
	}
	checkContents(t, e)
	if found.Key() != r.Key() || string(found.JSON()) != string(r.JSON()) {
		t.Errorf("recipe %s, want %s", found.JSON(), r.JSON())
	}
	if _, _, err := reader.Find(Key{Stage: "stage"}); !errors.Is(err, ErrMissing) {
		t.Errorf("another key: %v, want ErrMissing", err)
	}
	if err := os.WriteFile(e.Path("curve.csv"), []byte("step,loss\n0,1.6\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := reader.Find(r.Key()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("other content: %v, want ErrCorrupt", err)
	}
}

// A store may be a folder that somebody has other things in: only drafts are swept.
func TestOnlyDraftsAreSwept(t *testing.T) {
	root := t.TempDir()
	draft := recipe(t, "s", 1, nil).Key().String()
	for _, name := range []string{"notes.txt", "half-done", "0123456789ab", draft} {
		if err := WriteFile(filepath.Join(root, "tmp", name, "file"), nil); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"notes.txt", "half-done", "0123456789ab", draft} {
		if _, err := os.Stat(filepath.Join(root, "tmp", name, "file")); (err == nil) != (name != draft) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
