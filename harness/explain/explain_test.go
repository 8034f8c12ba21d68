package explain

import (
	"fmt"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// A member that only the stored recipe has is gone, though that recipe is planned as well, if nothing else differs.
func TestADifferenceIsAlwaysSaid(t *testing.T) {
	recipe := func(seeds ...int) store.Recipe {
		r, err := store.NewRecipe("fit", 1, map[string]any{"evaluate": map[string]any{"seeds": seeds}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	x := &explainer{plan: &Plan{Spec: &spec.Resolved{}}, planned: map[store.Key]bool{recipe(1, 2).Key(): true}}
	for _, c := range []struct {
		wanted store.Recipe
		want   string
	}{{recipe(1), "evaluate.seeds: 2 is gone"}, {recipe(1, 3), "evaluate.seeds: 3 is new"}} {
		if got := x.changes(&Step{Recipe: c.wanted}, recipe(1, 2)); len(got) != 1 || got[0].String() != c.want {
			t.Errorf("%v; want %s", got, c.want)
		}
	}
}

// Members that are objects without a name are compared as texts.
func TestADifferenceOfAListOfObjectsIsSaid(t *testing.T) {
	recipe := func(buckets int) store.Recipe {
		r, err := store.NewRecipe("fit", 1, map[string]any{"of": []map[string]any{{"name": "bag"}, {"buckets": buckets}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	x := &explainer{plan: &Plan{Spec: &spec.Resolved{}}}
	got := x.changes(&Step{Recipe: recipe(1024)}, recipe(4096))
	if want := `of: [{"name":"bag"},{"buckets":4096}] stored, [{"name":"bag"},{"buckets":1024}] wanted`; len(got) != 1 || got[0].String() != want {
		t.Errorf("%v; want %s", got, want)
	}
}

// What a row, or a row that it is a mean of, leaves to the spec is the spec's knob.
func TestAKnobOfARowOfARowIsNamed(t *testing.T) {
	mean := toy.Row(t, "mean", "", "{of: [{name: logistic, params: {l2: [1]}}, {name: knn, id: near, params: {features: {words: {ngrams: 3}}}}]}")
	for path, want := range map[string]string{
		"params.features.words.ngrams":                    "features.words.ngrams",
		"params.of.logistic.params.features.words.ngrams": "features.words.ngrams",
		"params.of.near.params.features.words.ngrams":     "", // the row's own
		"params.of.near.params.features.words.buckets":    "features.words.buckets",
		"params.of.logistic.params.l2":                    "",
		"params.of":                                       "",
	} {
		if got := leaves(&mean, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// One row that moved among rows that did not had set the knob itself; where most moved, the spec did, and the others have defaults of
// their own.
func TestAKnobThatMostRowsMovedWithIsTheSpecs(t *testing.T) {
	const path = "method.params.features.read"
	for _, c := range []struct {
		moved, stayed int
		want          string
	}{{1, 2, "methods[0].params.features.read"}, {1, 1, "methods[0].params.features.read"}, {2, 1, "features.read"}, {3, 0, "features.read"}} {
		x := &explainer{plan: &Plan{Spec: &spec.Resolved{}}, last: map[string][]store.Key{}, left: map[string]map[string]bool{}}
		for i := range c.moved + c.stayed {
			row := toy.Row(t, "knn", fmt.Sprint("row", i), "{}")
			row.Path = fmt.Sprintf("methods[%d]", i)
			r, err := store.NewRecipe("fit", 1, map[string]any{"method": map[string]any{"id": i, "params": map[string]any{"features": map[string]any{"read": "words"}}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := &Step{Name: "fit " + row.RowID(), Row: &row, Recipe: r}
			x.plan.Steps = append(x.plan.Steps, s)
			if i >= c.moved {
				x.last[s.Name] = []store.Key{r.Key()}
			}
		}
		if got := x.where(x.plan.Steps[0], path); got != c.want {
			t.Errorf("%d of %d rows moved: %q, want %q", c.moved, c.moved+c.stayed, got, c.want)
		}
	}
}
