package problems

import (
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
)

func TestProblemsAreFoundByTheirText(t *testing.T) {
	var x Index
	if _, _, ok := x.Lookup(routing.TextHash("anything")); ok {
		t.Error("an empty index finds something")
	}
	problems, latents := generate(t, training("sim-a"), Sized, 20)
	if err := x.Add(problems, latents); err != nil {
		t.Fatal(err)
	}
	for i, p := range problems {
		q, lat, ok := x.Lookup(routing.TextHash(p.Text))
		if !ok || q.ID != p.ID || lat != latents[i] {
			t.Fatalf("looking for %s gives %s, %v, %v", p.ID, q.ID, lat, ok)
		}
	}
	if _, _, ok := x.Lookup(routing.TextHash("anything")); ok || x.Len() != 20 {
		t.Errorf("an unknown text is found, or the length is %d, want 20", x.Len())
	}
}

func TestAnIndexRefusesTwoProblemsWithOneText(t *testing.T) {
	var x Index
	err := x.Add([]routing.Problem{{ID: "a-1", Text: "p"}, {ID: "a-2", Text: "p"}}, make([]routing.Latent, 2))
	if err == nil || err.Error() != `index of problems: "a-1" and "a-2" share a text; use another seed in the spec` {
		t.Errorf("error is %v", err)
	}
	if err := x.Add(nil, make([]routing.Latent, 1)); err == nil || err.Error() != "index of problems: 0 problems with 1 latents; they must be parallel" {
		t.Errorf("error is %v", err)
	}
}

func TestOfProblemsWithOneTextTheFirstStays(t *testing.T) {
	var x Index
	x.AddNew([]routing.Problem{{ID: "a", Text: "p"}, {ID: "b", Text: "p"}}, []routing.Latent{{Cell: "1"}, {Cell: "2"}})
	x.AddNew([]routing.Problem{{ID: "c", Text: "q"}, {ID: "d", Text: "p"}}, []routing.Latent{{Cell: "3"}, {Cell: "4"}})
	p, l, ok := x.Lookup(routing.TextHash("p"))
	q, m, found := x.Lookup(routing.TextHash("q"))
	if !ok || !found || p.ID != "a" || l.Cell != "1" || q.ID != "c" || m.Cell != "3" || x.Len() != 2 {
		t.Errorf("%v %v, %v %v, %d problems", p, l, q, m, x.Len())
	}
}
