// Package table writes and reads CSV files whose columns have types: what a file holds is one list of columns, used in both
// directions. The first line names the columns; a file with other names is refused.
package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Column is a column of a table whose rows are of type T.
type Column[T any] struct {
	Name string
	Text func(*T) string        // of the field
	Set  func(*T, string) error // the field to what Text gave; an error says what is wrong with the text alone
}

// Text is a column of any text.
func Text[T any, S ~string](name string, at func(*T) *S) Column[T] {
	return Column[T]{name, func(row *T) string { return string(*at(row)) }, func(row *T, text string) error {
		*at(row) = S(text)
		return nil
	}}
}

// Int is a column of integers.
func Int[T any, I ~int | ~int64](name string, at func(*T) *I) Column[T] {
	return Column[T]{name, func(row *T) string { return strconv.FormatInt(int64(*at(row)), 10) }, func(row *T, text string) error {
		v, err := strconv.ParseInt(text, 10, 64)
		*at(row) = I(v)
		return plain(err)
	}}
}

// Float is a column of numbers with so many decimals.
func Float[T any](name string, decimals int, at func(*T) *float64) Column[T] {
	return Column[T]{name, func(row *T) string { return strconv.FormatFloat(*at(row), 'f', decimals, 64) }, func(row *T, text string) error {
		v, err := strconv.ParseFloat(text, 64)
		*at(row) = v
		return plain(err)
	}}
}

// Measured is a column of numbers that need not be defined: NaN is empty. A zero has no sign, which is that of a rounding error.
func Measured[T any](name string, decimals int, at func(*T) *float64) Column[T] {
	of := Float(name, decimals, at)
	return Column[T]{name, func(row *T) string {
		text := of.Text(row)
		switch {
		case math.IsNaN(*at(row)):
			return ""
		case strings.Trim(text, "-0.") == "":
			return strings.TrimPrefix(text, "-")
		}
		return text
	}, func(row *T, text string) error {
		if text == "" {
			*at(row) = math.NaN()
			return nil
		}
		return of.Set(row, text)
	}}
}

// plain leaves out which function of the standard library refused a number.
func plain(err error) error {
	if n := (*strconv.NumError)(nil); errors.As(err, &n) {
		return fmt.Errorf("%q is no number", n.Num)
	}
	return err
}

// Write writes a table of rows.
func Write[T any](w io.Writer, columns []Column[T], rows []T) error {
	t := NewWriter(w, columns)
	for _, row := range rows {
		t.Write(row)
	}
	return t.Flush()
}

// Writer writes a table row by row.
type Writer[T any] struct {
	csv     *csv.Writer
	columns []Column[T]
	fields  []string
}

// NewWriter writes the names of the columns.
func NewWriter[T any](w io.Writer, columns []Column[T]) *Writer[T] {
	t := &Writer[T]{csv.NewWriter(w), columns, make([]string, len(columns))}
	for i, c := range columns {
		t.fields[i] = c.Name
	}
	t.csv.Write(t.fields) // Flush returns what went wrong
	return t
}

// Write writes a row; Flush says whether it was written.
func (t *Writer[T]) Write(row T) {
	for i, c := range t.columns {
		t.fields[i] = c.Text(&row)
	}
	t.csv.Write(t.fields)
}

// Flush ends the table and returns the first error.
func (t *Writer[T]) Flush() error {
	t.csv.Flush()
	return t.csv.Error()
}

// Records returns what a table of rows holds, line by line, the names of the columns first.
func Records[T any](columns []Column[T], rows []T) [][]string {
	records := [][]string{namesOf(columns)}
	for i := range rows {
		fields := make([]string, len(columns))
		for k, c := range columns {
			fields[k] = c.Text(&rows[i])
		}
		records = append(records, fields)
	}
	return records
}

// Read calls row for every row of a table; the row is the caller's to keep. An error of row, like those of the table itself,
// is said with the file and the line.
func Read[T any](file string, r io.Reader, columns []Column[T], row func(T) error) error {
	in := csv.NewReader(r)
	in.ReuseRecord, in.FieldsPerRecord = true, len(columns)
	names := func(head []string) bool {
		return slices.EqualFunc(head, columns, func(name string, c Column[T]) bool { return name == c.Name })
	}
	for first := true; ; first = false {
		fields, err := in.Read()
		switch {
		case errors.Is(err, io.EOF) && first:
			return fmt.Errorf("%s: empty; its first line names the columns", file)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		case first && !names(fields):
			return fmt.Errorf("%s:1: columns %q, want %q", file, fields, namesOf(columns))
		case first:
			continue
		}
		line, _ := in.FieldPos(0)
		var of T
		for i, c := range columns {
			if err := c.Set(&of, fields[i]); err != nil {
				return fmt.Errorf("%s:%d: %s: %w", file, line, c.Name, err)
			}
		}
		if err := row(of); err != nil {
			return fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
}

func namesOf[T any](columns []Column[T]) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}
