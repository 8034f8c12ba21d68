package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestExplainNamesTheFieldsThatDifferFromTheNearestRecipe(t *testing.T) {
	s := openStore(t, t.TempDir())
	one := func(_ context.Context, d *Draft) error { return d.WriteFile("a", nil) }
	in, other := recipe(t, "profile", 1, 1).Key(), recipe(t, "profile", 1, 2).Key()
	params := func(tau float64, ks ...int) map[string]any {
		return map[string]any{"tau": tau, "k": ks, "gate": map[string]bool{"on": true}}
	}
	near := recipe(t, "targets", 2, params(0.8, 2), in).Key()
	stored := []Recipe{recipe(t, "targets", 2, params(0.8, 2), in)}
	for i := range 10 { // before and after it in the folder
		stored = append(stored, recipe(t, "targets", 1, params(0.1+float64(i)/100, 9, 9), other))
	}
	for _, r := range stored {
		if _, err := s.Make(t.Context(), r, one); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(s.Root(), "stages", "targets", "unreadable"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		r    Recipe
		want string
	}{
		{"a stage that never ran", recipe(t, "fit", 1, nil), "fit: nothing stored yet"},
		{"one field", recipe(t, "targets", 2, params(0.7, 2), in),
			"targets: differs from " + near.String() + " in params.tau: 0.8 stored, 0.7 wanted"},
		{"a field inside and the version", recipe(t, "targets", 3, map[string]any{"tau": 0.8, "k": []int{2}, "gate": map[string]bool{"on": false}}, in),
			"targets: differs from " + near.String() + " in params.gate.on: true stored, false wanted; version: 2 stored, 3 wanted"},
		{"a longer list", recipe(t, "targets", 2, params(0.8, 2, 3), in),
			"targets: differs from " + near.String() + " in params.k.1: (absent) stored, 3 wanted"},
		{"another input", recipe(t, "targets", 2, params(0.8, 2), other),
			"targets: differs from " + near.String() + " in inputs.0: " + in.String() + " stored, " + other.String() + " wanted"},
		{"the stored recipe itself", recipe(t, "targets", 2, params(0.8, 2), in), "targets: " + near.String() + " is stored"},
		{"many fields", recipe(t, "targets", 2, []int{1, 2, 3, 4, 5, 6}, in),
			"targets: differs from " + near.String() + " in params.0: (absent) stored, 1 wanted; params.1: (absent) stored, 2 wanted; " +
				"params.2: (absent) stored, 3 wanted; params.3: (absent) stored, 4 wanted; params.4: (absent) stored, 5 wanted; " +
				"params.5: (absent) stored, 6 wanted; and 3 more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			miss, err := s.Explain(c.r)
			if err != nil {
				t.Fatal(err)
			}
			if got := miss.String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAmongEquallyNearRecipesTheLastMadeIsNamed(t *testing.T) {
	s := openStore(t, t.TempDir())
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var paths []string
	taus := []float64{0.1, 0.2, 0.3}
	for _, tau := range taus {
		e, err := s.Make(t.Context(), recipe(t, "targets", 1, tau), build)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, e.Path(recipeFile))
	}
	for last := range taus {
		for i, path := range paths {
			made := day.AddDate(0, 0, (i-last+2*len(taus)-1)%len(taus))
			if err := os.Chtimes(path, made, made); err != nil {
				t.Fatal(err)
			}
		}
		miss, err := s.Explain(recipe(t, "targets", 1, 0.4))
		if want := (Field{"params", fmt.Sprint(taus[last]), "0.4"}); err != nil || !slices.Equal(miss.Fields, []Field{want}) {
			t.Errorf("miss %v, %v; want %v", miss, err, want)
		}
	}
}
