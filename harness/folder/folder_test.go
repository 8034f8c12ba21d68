package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/folder"
)

// names are what a folder holds.
func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	held, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range held {
		names = append(names, h.Name())
	}
	return names
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderIsMadeWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	fill := func(temporary string) error {
		write(t, filepath.Join(temporary, "a"))
		return nil
	}
	for _, name := range []string{"new", filepath.Join("deep", "er"), "empty"} {
		at := filepath.Join(dir, name)
		if name == "empty" {
			if err := os.Mkdir(at, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := folder.Make(at, fill); err != nil || !slices.Equal(names(t, at), []string{"a"}) {
			t.Errorf("%s holds %v: %v", name, names(t, at), err)
		}
	}
	failure := errors.New("the disk is on fire")
	before := names(t, dir)
	if err := folder.Make(filepath.Join(dir, "never"), func(temporary string) error {
		return errors.Join(fill(temporary), failure)
	}); !errors.Is(err, failure) || !slices.Equal(names(t, dir), before) {
		t.Errorf("%v, then %v: %v", before, names(t, dir), err)
	}
}

// Nothing that anybody else made is replaced.
func TestWhatIsThereIsLeft(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := folder.Make(".", nil); err == nil || !strings.Contains(err.Error(), ". is the folder that you are in, which would be replaced") {
		t.Error(err)
	}
	write(t, "file")
	if err := folder.Make("file", nil); err == nil || !strings.Contains(err.Error(), "file is a file; name a folder") {
		t.Error(err)
	}
	for _, name := range []string{"held", "a.part"} {
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(name, "notes"))
	}
	if err := folder.Make("held", nil); err == nil || !strings.Contains(err.Error(), "held holds notes already") {
		t.Error(err)
	}
	if err := folder.Make("a", func(string) error { return nil }); err != nil || !slices.Equal(names(t, "."), []string{"a", "a.part", "file", "held"}) {
		t.Errorf("%v: %v", names(t, "."), err)
	}
}
