package main

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// What goreleaser is told is what make calls: platforms, flags and how the version comes in.
func TestGoreleaserMakesWhatMakeReleaseMakes(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make")
	}
	var told struct {
		Builds []struct {
			Main                         string
			Env, Flags, Ldflags, Targets []string
		}
	}
	if err := yaml.Unmarshal([]byte(documentText(t, ".goreleaser.yaml")), &told); err != nil || len(told.Builds) != 1 {
		t.Fatal(told, err)
	}
	b := told.Builds[0]
	c := exec.Command("make", "-n", "-C", filepath.Join("..", ".."), "release", "VERSION={{ .Tag }}")
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") })
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	platforms := strings.ReplaceAll(strings.Join(b.Targets, " "), "_", "/")
	call := fmt.Sprintf("%s GOOS=${p%%/*} GOARCH=${p#*/} go build %s -ldflags '%s'", strings.Join(b.Env, " "), strings.Join(b.Flags, " "), strings.Join(b.Ldflags, " "))
	for _, want := range []string{"for p in " + platforms + ";", call, b.Main} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in what make release calls:\n%s", want, out)
		}
	}
}

// ownModule makes a module proxy with one version of this checkout, named after what is in it, so that the build of a checkout that
// has not changed is found in Go's cache. When the test has ended nothing of it is left among the modules.
func ownModule(t *testing.T, r *reader) {
	root := filepath.Join("..", "..")
	run := func(why, name string, args ...string) string {
		c := exec.Command(name, args...)
		c.Dir, c.Env = root, append(os.Environ(), "GOPROXY=off")
		out, err := c.Output()
		if err != nil {
			t.Skipf("%s: %v", why, err)
		}
		return string(out)
	}
	run("modules that the program needs are not in Go's cache", "go", "list", "-deps", "./cmd/entrorouter")
	names := strings.FieldsFunc(run("this is no checkout", "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), func(r rune) bool { return r == 0 })
	content := map[string][]byte{}
	sum := sha256.New()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) { // removed, and not committed
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		content[name] = data
		fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(data))
	}
	const module = "github.com/entrorouter/entrorouter"
	version := fmt.Sprintf("v0.0.0-20010101000000-%x", sum.Sum(nil)[:6])
	versions := filepath.Join(r.dir, "proxy", module, "@v")
	if err := os.MkdirAll(versions, 0o777); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	z := zip.NewWriter(archive)
	for _, name := range names {
		if data, ok := content[name]; ok {
			w, err := z.Create(module + "@" + version + "/" + name)
			if err == nil {
				_, err = w.Write(data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{version + ".mod": content["go.mod"], version + ".info": fmt.Appendf(nil, `{"Version":%q,"Time":"2001-01-01T00:00:00Z"}`, version), "list": nil} {
		if err := os.WriteFile(filepath.Join(versions, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(versions, "..", "@latest"), fmt.Appendf(nil, `{"Version":%q,"Time":"2001-01-01T00:00:00Z"}`, version), 0o666); err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(run("no Go", "go", "env", "GOMODCACHE"))
	t.Cleanup(func() {
		download := filepath.Join(cache, "cache", "download", module, "@v")
		kept, _ := filepath.Glob(filepath.Join(download, version+".*")) // the pattern is ours
		for _, path := range append(kept, filepath.Join(download, "list"), filepath.Join(cache, module+"@"+version)) {
			if err := os.RemoveAll(path); err != nil {
				t.Error(err)
			}
		}
	})
}
