package book

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/store/storetest"
)

// Sure predictions keep every digit: a loss depends on how sure they were.
func TestRatesReadAsTheyWereWritten(t *testing.T) {
	a := &Arena{Name: "x", Experts: make([]routing.Expert, 2), Queries: []routing.Query{{Problem: routing.Problem{ID: "a"}}, {Problem: routing.Problem{ID: "b"}, Run: 1}}}
	decisions := []routing.Decision{{Problem: "a"}, {Problem: "b", Run: 1}}
	want := [][]float64{{1.0 / 3, math.Nextafter(1, 0)}, {5e-324, 0}}
	read := func(write func(d *store.Draft) error) ([][]float64, error) {
		return a.Rates(Training{Entry: storetest.Entry(t, write)})
	}
	got, err := read(func(d *store.Draft) error { return WriteRates(d, "x", decisions, want) })
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, err := read(func(d *store.Draft) error { return d.WriteFile("other", nil) }); got != nil || err != nil {
		t.Errorf("rates %v, %v of a row that predicted none", got, err)
	}
	for text, want := range map[string]string{
		"problem,run,rate:0,rate:1\na,0,1,0\n":            "predictions of 1 queries, want 2",
		"problem,run,rate:0,rate:1\na,0,1,0\na,1,1,0\n":   "not the prediction of query 2",
		"problem,run,rate:0,rate:1\na,0,1.5,0\nb,1,1,0\n": "not the prediction of query 1",
		"problem,run,rate:0,rate:1\na,0,NaN,0\nb,1,1,0\n": "not the prediction of query 1",
	} {
		if _, err := read(func(d *store.Draft) error { return d.WriteFile(ratesFile("x"), []byte(text)) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
