// A bar a row: how high its accuracy is.

package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// BarsLayout says which rows have a bar.
type BarsLayout struct {
	Name    string
	Caption string
	Rows    []Mark
}

// Bars draws the accuracy of every row as a bar.
func Bars(l BarsLayout, set *metrics.Set) (*Figure, error) {
	records := [][]string{{"row", metrics.Accuracy}}
	var shares []vg.Length
	for _, row := range l.Rows {
		_, accuracy, err := value(set, metrics.Accuracy, row.Keys)
		if err != nil {
			return nil, fmt.Errorf("figure %q, row %q: %w", l.Name, row.Label, err)
		}
		shares = append(shares, vg.Length(accuracy.Number/100))
		records = append(records, []string{row.Label, metrics.Format(accuracy.Number, accuracy.Decimals)})
	}
	return &Figure{
		Name: l.Name, Caption: l.Caption, width: figureWidth, height: plotHeight, records: records,
		paint: func(c draw.Canvas) {
			size := c.Size()
			for i, share := range shares {
				left := c.Min.X + size.X*vg.Length(i)/vg.Length(len(shares))
				fillRectangle(c, vg.Rectangle{
					Min: vg.Point{X: left, Y: c.Min.Y},
					Max: vg.Point{X: left + size.X/vg.Length(len(shares)+1), Y: c.Min.Y + share*size.Y},
				}, category(1))
			}
		},
	}, nil
}
