// The file of a step that measures.

package book

import (
	"errors"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/store"
)

// measurementsFile is what a step that measures writes.
const measurementsFile = "measurements.txt"

// WriteMeasurements writes what was measured.
func WriteMeasurements(d *store.Draft, set *metrics.Set) error {
	return create(d, measurementsFile, set.Write)
}

// ReadMeasurements reads what a measuring step made.
func ReadMeasurements(entry store.Entry) (*metrics.Set, error) {
	f, err := entry.Open(measurementsFile)
	if err != nil {
		return nil, err
	}
	set, err := metrics.Read(f.Name(), f)
	return set, errors.Join(err, f.Close())
}
