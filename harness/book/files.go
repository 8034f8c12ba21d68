// The files of a step: made, and read as tables.

package book

import (
	"errors"
	"io"

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
