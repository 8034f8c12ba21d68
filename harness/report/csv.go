// Tables as CSV.

package report

import (
	"encoding/csv"
	"io"
	"regexp"
	"slices"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// CSV writes tables in long form, one line a cell, with every digit and both ends of the interval; a difference
// has as many as its paper's number.
type CSV struct{}

// Write prints t: section, row, reference, group, column, unit, ours, low, high, why ours is not defined and, as the style asks,
// paper and difference. What was not measured has no line; a part of a line that is missing is empty.
func (CSV) Write(w io.Writer, t *Table) error {
	if err := t.check(); err != nil {
		return err
	}
	heads := []string{"section", "row", "reference", "group", "column", "unit", "ours", "low", "high", "undefined"}
	if t.Style.Paper != None {
		heads = append(heads, "paper")
	}
	if t.Style.Differences {
		heads = append(heads, "difference")
	}
	records := [][]string{heads}
	for _, r := range t.Rows {
		c := 0
		for _, g := range t.Groups {
			for _, column := range g.Columns {
				cell, unit := r.Cells[c], column.Unit
				c++
				cell.Ours, cell.Paper = column.value(cell.Ours), column.value(cell.Paper)
				if column.Per1000 {
					unit = per1000
				}
				if cell.Ours == nil && cell.Why == "" && (cell.Paper == nil || t.Style.Paper == None) {
					continue
				}
				ours := []string{"", "", ""}
				if cell.Ours != nil {
					ours = ends(*cell.Ours)
				}
				record := append([]string{r.Section, r.Label, strconv.FormatBool(r.Reference), g.Title, column.Title, unit}, append(ours, cell.Why)...)
				if t.Style.Paper != None {
					record = append(record, "")
					if v := cell.Paper; v != nil {
						record[len(record)-1] = metrics.Format(v.Number, v.Decimals)
					}
				}
				if t.Style.Differences {
					record = append(record, "")
					if ours, paper := cell.Ours, cell.Paper; ours != nil && paper != nil {
						d := metrics.Rounded(ours.Number-paper.Number, unit, column.differenceDecimals(*paper))
						record[len(record)-1] = metrics.Format(d.Number, d.Decimals)
					}
				}
				records = append(records, record)
			}
		}
	}
	return writeRecords(w, records)
}

// calculated matches a cell that a spreadsheet carries out as a formula (OWASP, "CSV injection"), harmless one that begins like it
// and can be none: a number, after which there are words at most.
var (
	calculated = regexp.MustCompile(`^[-+=@\t\r]`)
	harmless   = regexp.MustCompile(`^[-+@]?[0-9][\w .%]*$`)
)

// writeRecords writes CSV that is opened in spreadsheets: what would be a formula there has an apostrophe before it, which makes
// it text.
func writeRecords(w io.Writer, records [][]string) error {
	c := csv.NewWriter(w)
	for _, record := range records {
		cells := slices.Clone(record)
		for i, cell := range cells {
			if calculated.MatchString(cell) && !isNumber(cell) && !harmless.MatchString(cell) {
				cells[i] = "'" + cell
			}
		}
		if err := c.Write(cells); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}
