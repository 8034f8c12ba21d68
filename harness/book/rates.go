// The file of the pass rates that a router predicts.

package book

import (
	"fmt"
	"path"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/table"
)

// ratesFile is what a fit predicts of the queries of an arena.
func ratesFile(arena string) string { return path.Join("rates", arena+".csv") }

// predicted is a line of it.
type predicted struct {
	problem string
	run     int
	rates   []float64
}

// rateColumns have every digit: how sure a router was is what a log loss depends on.
func rateColumns(experts int) []table.Column[predicted] {
	columns := []table.Column[predicted]{
		table.Text("problem", func(p *predicted) *string { return &p.problem }),
		table.Int("run", func(p *predicted) *int { return &p.run }),
	}
	for m := range experts {
		columns = append(columns, table.Float(fmt.Sprintf("rate:%d", m), -1, func(p *predicted) *float64 {
			if p.rates == nil {
				p.rates = make([]float64, experts)
			}
			return &p.rates[m]
		}))
	}
	return columns
}

// WriteRates writes the pass rates that were predicted of each expert where decisions were made, [len(decisions)][M], a line a query.
func WriteRates(d *store.Draft, arena string, decisions []routing.Decision, rates [][]float64) error {
	var lines []predicted
	for i, x := range decisions {
		lines = append(lines, predicted{x.Problem, x.Run, rates[i]})
	}
	return writeTable(d, ratesFile(arena), rateColumns(len(rates[0])), lines)
}

// Rates reads the pass rates that a training predicted, [len(a.Queries)][M]; nil if it predicted none.
func (a *Arena) Rates(t Training) ([][]float64, error) {
	if !t.Entry.Has(ratesFile(a.Name)) {
		return nil, nil
	}
	lines, err := readQueries(t.Entry, ratesFile(a.Name), "prediction", rateColumns(len(a.Experts)), a.decided(), func(p *predicted, q routing.Query) bool {
		outside := func(r float64) bool { return !(0 <= r && r <= 1) }
		return p.problem == q.Problem.ID && p.run == q.Run && !slices.ContainsFunc(p.rates, outside)
	})
	if err != nil {
		return nil, err
	}
	var rates [][]float64
	for _, p := range answered(a, lines) {
		rates = append(rates, p.rates)
	}
	return rates, nil
}
