// Whose folders in memory are removed, and whose temporary files are moved.
package testmain

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Folders that a killed test binary left are removed, and none that is in use, has just been made or is not ours.
func TestFoldersOfTheKilledAreRemoved(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TMPDIR", "")
	if hold(t.TempDir()) == nil {
		t.Skip("folders are held on Linux alone")
	}
	long := time.Now().Add(-time.Hour)
	made := map[string]string{}
	for _, name := range []string{"entrorouter-test-left", "entrorouter-test-used", "entrorouter-test-new", "other"} {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Join(dir, "001"), 0o777); err != nil {
			t.Fatal(err)
		}
		if name != "entrorouter-test-new" {
			if err := os.Chtimes(dir, long, long); err != nil {
				t.Fatal(err)
			}
		}
		made[name] = dir
	}
	held := hold(made["entrorouter-test-used"])
	defer held.Close()
	leave := use(root)
	for name, dir := range made {
		if _, err := os.Stat(dir); (err != nil) != (name == "entrorouter-test-left") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if dir := os.TempDir(); filepath.Dir(dir) != root {
		t.Errorf("temporary files are in %s", dir)
	} else if leave(); os.TempDir() == dir {
		t.Error("and stay there")
	} else if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is still there", dir)
	}
}

// Who says where temporary files belong has them there.
func TestTheFolderOfTheUserStays(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	defer use(t.TempDir())()
	if os.TempDir() != dir {
		t.Errorf("temporary files are in %s", os.TempDir())
	}
}
