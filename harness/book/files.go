// The files of a step: made, and read as tables.

package book

import (
	"errors"
	"fmt"
	"io"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/table"
)

// create makes a file of a step of what write writes.
func create(d *store.Draft, file string, write func(io.Writer) error) error {
	f, err := d.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// writeTable makes a file of a step of rows.
func writeTable[T any](d *store.Draft, file string, columns []table.Column[T], rows []T) error {
	return create(d, file, func(w io.Writer) error { return table.Write(w, columns, rows) })
}

// readTable calls row for every row of a file of a step, and returns the path of the file.
func readTable[T any](entry store.Entry, file string, columns []table.Column[T], row func(T) error) (path string, err error) {
	f, err := entry.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.Name(), table.Read(f.Name(), f, columns, row)
}

// readQueries reads a file of a step that has a line for each of some queries, in their order. what a line is, for messages; fits says
// whether it can be that of a query.
func readQueries[T any](entry store.Entry, file, what string, columns []table.Column[T], queries []routing.Query, fits func(line *T, q routing.Query) bool) ([]T, error) {
	out := make([]T, 0, len(queries))
	path, err := readTable(entry, file, columns, func(line T) error {
		i := len(out)
		if i >= len(queries) || !fits(&line, queries[i]) {
			return fmt.Errorf("not the %s of query %d; remove the folder of this step and run again", what, i+1)
		}
		out = append(out, line)
		return nil
	})
	if err == nil && len(out) != len(queries) {
		err = fmt.Errorf("%s: %ss of %d queries, want %d; remove the folder of this step and run again", path, what, len(out), len(queries))
	}
	return out, err
}
