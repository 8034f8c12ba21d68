package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRecipesAreComparedFieldByField(t *testing.T) {
	type member struct {
		ID    string `json:"id"`
		Match string
	}
	params := func(tau float64, ks []int, members ...member) map[string]any {
		return map[string]any{"tau": tau, "k": ks, "gate": map[string]bool{"on": true}, "rows": members}
	}
	a, b := member{"a", ""}, member{"b.c", ""}
	stored := recipe(t, "targets", 2, params(0.8, []int{2}, a, b))
	for _, c := range []struct {
		name   string
		wanted Recipe
		want   []Field
	}{
		{"the same", recipe(t, "targets", 2, params(0.8, []int{2}, a, b)), nil},
		{"one field", recipe(t, "targets", 2, params(0.7, []int{2}, a, b)), []Field{{[]string{"params", "tau"}, "0.8", "0.7"}}},
		{"a version and a list of plain values, which is one field", recipe(t, "targets", 3, params(0.8, []int{2, 3}, a, b)),
			[]Field{{[]string{"params", "k"}, "[2]", "[2,3]"}, {[]string{"version"}, "2", "3"}}},
		{"a member of a list with names", recipe(t, "targets", 2, params(0.8, []int{2}, a, member{"b.c", "a"})),
			[]Field{{[]string{"params", "rows", "b.c", "Match"}, `""`, `"a"`}}},
		{"one that is gone", recipe(t, "targets", 2, params(0.8, []int{2}, b)),
			[]Field{{[]string{"params", "rows"}, `["a","b.c"]`, `["b.c"]`}}},
		{"none of them", recipe(t, "targets", 2, params(0.8, []int{2})), []Field{{[]string{"params", "rows"}, `["a","b.c"]`, "null"}}},
		{"another order", recipe(t, "targets", 2, params(0.8, []int{2}, b, a)), []Field{{[]string{"params", "rows"}, `["a","b.c"]`, `["b.c","a"]`}}},
		{"nothing at all", recipe(t, "targets", 2, nil), []Field{{[]string{"params", "gate", "on"}, "true", ""}, {[]string{"params", "k"}, "[2]", ""}, {[]string{"params", "rows"}, `["a","b.c"]`, ""}, {[]string{"params", "tau"}, "0.8", ""}}},
		{"other inputs, which are no fields", recipe(t, "targets", 2, params(0.8, []int{2}, a, b), stored.Key()), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Compare(stored, c.wanted)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMembersOfAListAreToldByTheirNames(t *testing.T) {
	of := func(l2 int, names ...string) Recipe {
		var list []map[string]any
		for _, n := range names {
			list = append(list, map[string]any{"name": n, "l2": l2})
		}
		return recipe(t, "fit", 1, map[string]any{"of": list})
	}
	for _, c := range []struct {
		stored, wanted Recipe
		want           []Field
	}{
		{of(1, "bag", "knn"), of(2, "bag", "knn"), []Field{{[]string{"params", "of", "bag", "l2"}, "1", "2"}, {[]string{"params", "of", "knn", "l2"}, "1", "2"}}},
		{of(1, "bag"), of(1, "bag", "knn"), []Field{{[]string{"params", "of"}, `["bag"]`, `["bag","knn"]`}}},
		{of(1, "bag", "bag"), of(2, "bag", "bag"), []Field{{[]string{"params", "of"}, `[{"l2":1,"name":"bag"},{"l2":1,"name":"bag"}]`, `[{"l2":2,"name":"bag"},{"l2":2,"name":"bag"}]`}}},
	} {
		if diff := cmp.Diff(c.want, Compare(c.stored, c.wanted)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestTheRecipesOfAStageComeLastMadeFirst(t *testing.T) {
	s := openStore(t, t.TempDir())
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var want []Key
	for _, tau := range []float64{0.1, 0.2, 0.3} {
		e, err := s.Make(t.Context(), recipe(t, "targets", 1, tau), build)
		if err != nil {
			t.Fatal(err)
		}
		day = day.AddDate(0, 0, -1)
		if err := os.Chtimes(e.Path(recipeFile), day, day); err != nil {
			t.Fatal(err)
		}
		want = append(want, e.Key)
	}
	if err := os.MkdirAll(filepath.Join(s.root, "stages", "targets", "unreadable"), 0o777); err != nil {
		t.Fatal(err)
	}
	got, err := s.Recipes("targets")
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d recipes, %v", len(got), err)
	}
	for i, r := range got {
		if r.Key() != want[i] {
			t.Errorf("%d is %s, want %s", i, r.Key(), want[i])
		}
	}
	if got, err := s.Recipes("none"); err != nil || got != nil {
		t.Errorf("a stage that never ran: %v, %v", got, err)
	}
}

func TestLookingMakesNothing(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	s := OpenReadOnly(root)
	if _, err := s.Make(t.Context(), recipe(t, "targets", 1, nil), mustNotBuild(t)); !errors.Is(err, ErrMissing) {
		t.Errorf("%v, want ErrMissing", err)
	}
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	made, err := openStore(t, root).Make(t.Context(), recipe(t, "targets", 1, nil), build)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := s.Make(t.Context(), recipe(t, "targets", 1, nil), mustNotBuild(t)); err != nil || e.Digest != made.Digest {
		t.Errorf("%+v, %v", e, err)
	}
}

// A file that nobody writes is read without a file beside it, one that is being written with what is in its log.
func TestRolloutsAreLookedAtWithoutAFileBesideThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	if _, err := ReadRollouts(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want fs.ErrNotExist", err)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil { // a run that was killed at once
		t.Fatal(err)
	}
	if _, err := ReadRollouts(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v of an empty file, want fs.ErrNotExist", err)
	}
	lookAt := func(path string) string {
		t.Helper()
		ctx := t.Context()
		db, err := ReadRollouts(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for s, err := range db.Load(ctx, Scope{}, "") {
			if err != nil {
				t.Fatal(err)
			}
			text, err := db.Response(ctx, s.ID)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		return ""
	}
	db := openDB(t, path)
	put(t, db, Scope{}, row)
	if got := lookAt(path); got != row.Response {
		t.Errorf("while it is written: %q", got)
	}
	// A run that was killed leaves the log, with or without its index.
	for _, left := range []string{"-wal -shm", "-wal"} {
		killed := filepath.Join(t.TempDir(), "r.db")
		for _, suffix := range append(strings.Fields(left), "") {
			data, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(killed+suffix, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := lookAt(killed); got != row.Response {
			t.Errorf("after a kill that left %s: %q", left, got)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := lookAt(path); got != row.Response {
		t.Errorf("afterwards: %q", got)
	}
	found, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(found) != 1 {
		t.Errorf("beside the file there are %v, %v", found, err)
	}
}
