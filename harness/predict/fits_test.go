package predict

import (
	"errors"
	"sync"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// One of those that want a fit makes it and the others wait; a failure is nothing to remember; without room each fits for itself.
func TestWhoeverWantsAFitWaitsForIt(t *testing.T) {
	made := 0
	one := func() (int, error) { made++; return 7, nil }
	f := NewFits(1)
	if _, err := Once(f, [32]byte{1}, func() (int, error) { return 0, errors.New("no") }); err == nil {
		t.Error("no error")
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if got, err := Once(f, [32]byte{1}, one); got != 7 || err != nil {
				t.Error(got, err)
			}
		})
	}
	wait.Wait()
	if made != 1 {
		t.Errorf("%d fits", made)
	}
	for range 2 {
		Once(f, [32]byte{2}, one)
	}
	if made != 3 || len(f.known) != 1 {
		t.Errorf("%d fits, %d known", made, len(f.known))
	}
}

// Problems of other experiments may have the same ids.
func TestAFitIsOfTexts(t *testing.T) {
	key := func(text string) [32]byte {
		key, err := KeyOfFit("kind", spec.Features{}, nil, []routing.Example{{Problem: routing.Problem{ID: "p1", Text: text}}}, func(routing.Example) []float64 { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	if key("Find x.") != key("Find x.") || key("Find x.") == key("Find y.") {
		t.Error("the key of a fit is not that of its texts")
	}
}
