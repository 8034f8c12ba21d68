package gofiles_test

import (
	"errors"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/entrorouter/entrorouter/internal/gofiles"
)

func TestEachVisitsTheFilesOfTheModuleAlone(t *testing.T) {
	module := fstest.MapFS{}
	for _, name := range []string{"go.mod", "a.go", "p/b.go", "p/b_test.go", "p/notes.md", "p/testdata/c.go", ".d/d.go", "_e/e.go", "build/tree/go.mod", "build/tree/f.go"} {
		module[name] = &fstest.MapFile{Data: []byte(name)}
	}
	var names []string
	err := gofiles.Each(module, func(name string, source []byte) error {
		if string(source) != name {
			t.Errorf("%s has the text of %s", name, source)
		}
		names = append(names, name)
		return nil
	})
	if want := []string{"a.go", "p/b.go", "p/b_test.go"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v; want %v", names, err, want)
	}
	stop := errors.New("stop")
	if err := gofiles.Each(module, func(string, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}
