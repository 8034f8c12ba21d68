package protocol

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

func routeQueries() []routing.Query {
	return []routing.Query{
		{Problem: routing.Problem{ID: "easy", Text: "What is 1 + 1?"}},
		{Problem: routing.Problem{ID: "hard", Text: "Let $a$ be the number of subsets of a set with 7 elements. Find $a^{12}$ modulo $1009$."}, Run: 1},
	}
}

// untrained is a method that fails the test where it is fitted.
type untrained struct {
	methods.Loader
	routing.Method
	t *testing.T
}

func (u untrained) Fit(context.Context, routing.TrainSet, routing.Work) (routing.Router, error) {
	u.t.Errorf("row %s is fitted though its fit is stored", u.Name())
	return nil, errors.New("fitted")
}

func TestRouteLoadsTheStoredFit(t *testing.T) {
	out, r := t.TempDir(), toy.Tiny(t)
	carriedOut(t, r, out)
	for _, row := range []string{"sft", "entrorouter"} {
		t.Run(row, func(t *testing.T) {
			e := open(t, r, steps.Options{Out: out}).split
			f, err := e.routable(row)
			if err != nil {
				t.Fatal(err)
			}
			f.method = untrained{f.method.(methods.Loader), f.method, t}
			if _, err := e.route(t.Context(), f, By{Dir: t.TempDir()}, routeQueries()); err != nil {
				t.Error(err)
			}
		})
	}
	routed := func(dir string) (all [][]Routed) {
		t.Helper()
		for _, row := range []string{"sft", "entrorouter"} {
			got, err := Route(t.Context(), r, steps.Options{Out: out}, By{Row: row, Dir: filepath.Join(dir, row)}, routeQueries())
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, got)
		}
		return all
	}
	left, leftAgain := t.TempDir(), t.TempDir()
	stored := routed(left)
	if err := os.RemoveAll(filepath.Join(out, "stages", "fit")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(routed(leftAgain), stored); diff != "" {
		t.Errorf("a router that is fitted now decides otherwise than the stored one: %s", diff)
	}
	if diff := cmp.Diff(files(t, leftAgain), files(t, left)); diff != "" {
		t.Errorf("a router that is fitted now leaves something else than the stored one: %s", diff)
	}
}

// files returns the content of every file below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("files of %s: %d, %v", dir, len(all), err)
	}
	return all
}

func TestRouteSaysWhatToDoWithAFitThatCannotBeLoaded(t *testing.T) {
	out, r := t.TempDir(), toy.Tiny(t)
	e := open(t, r, steps.Options{Out: out}).split
	f, err := e.routable("sft")
	if err != nil {
		t.Fatal(err)
	}
	entry, err := e.Store.Make(t.Context(), f.Recipe, func(_ context.Context, d *store.Draft) error {
		return d.WriteFile("fit.json", []byte("{}\n")) // as a version that stored no checkpoint
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.route(t.Context(), f, By{}, routeQueries())
	want := "remove " + entry.Dir + " and run the experiment again: entrorouter run tiny"
	if !errors.Is(err, steps.ErrIncomplete) || !strings.Contains(err.Error(), "no config.json") || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want one that ends: %s", err, want)
	}
}
