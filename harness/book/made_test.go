package book_test

import (
	"context"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/store"
)

func TestWhatTrainingsRanOnIsTold(t *testing.T) {
	plain, cuda, unnamed := book.Made{}, book.Made{Platform: "cuda"}, book.Made{Platform: "cpu"}
	epyc, xeon := book.Made{Platform: "cpu", Processor: "EPYC"}, book.Made{Platform: "cpu", Processor: "Xeon"}
	for _, c := range []struct {
		trainings       []book.Made
		name, processor string
	}{
		{nil, "xla", ""}, {[]book.Made{plain, plain}, "xla", ""}, {[]book.Made{unnamed, unnamed}, "xla:cpu", ""},
		{[]book.Made{cuda, plain, unnamed, cuda}, "xla:cpu+cuda", ""},
		{[]book.Made{epyc, epyc}, "xla:cpu", "EPYC"}, {[]book.Made{xeon, epyc, xeon}, "xla:cpu", "EPYC + Xeon"},
		{[]book.Made{epyc, unnamed}, "xla:cpu", ""}, {[]book.Made{epyc, cuda}, "xla:cpu+cuda", ""},
	} {
		if name, processor := book.TrainedOn("xla", c.trainings...); name != c.name || processor != c.processor {
			t.Errorf("%+v: %s, %q, want %s, %q", c.trainings, name, processor, c.name, c.processor)
		}
	}
	entry := func(env map[string]string) store.Entry {
		s, err := store.Open(t.TempDir(), store.Options{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		recipe, err := store.NewRecipe("fit", 1, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Make(t.Context(), recipe, func(context.Context, *store.Draft) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	cpu := entry(map[string]string{"arch": "amd64", "platform": "cpu", "processor": "EPYC", "go": "1.25"})
	for _, c := range []struct {
		env   map[string]string
		alike bool
	}{
		{map[string]string{"arch": "amd64", "platform": "cpu", "processor": "EPYC", "go": "1.26"}, true},
		{map[string]string{"arch": "amd64", "platform": "cpu", "processor": "Xeon"}, false},
		{map[string]string{"arch": "amd64", "platform": "cpu"}, false},
		{map[string]string{"arch": "arm64", "platform": "cpu", "processor": "EPYC"}, false},
		{map[string]string{"arch": "amd64", "platform": "cuda"}, false},
		{map[string]string{"arch": "amd64"}, false},
	} {
		if got := book.MadeAlike(cpu, entry(c.env)); got != c.alike {
			t.Errorf("%v beside %s: alike %v", c.env, cpu.Dir, got)
		}
	}
}
