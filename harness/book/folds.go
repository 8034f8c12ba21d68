// The file of the folds of a recording.

package book

import (
	"fmt"
	"io"
	"strconv"

	"encoding/csv"

	"github.com/entrorouter/entrorouter/harness/store"
)

const foldsFile = "folds.csv"

// Partition is an assignment of the questions of a recording to folds.
type Partition struct {
	Seed uint64
	Fold []int // [Q]
}

// WriteFolds writes folds.csv: a line a question, the fold of each partition under its seed.
func WriteFolds(d *store.Draft, partitions []Partition) error {
	lines := make([][]string, 1+len(partitions[0].Fold))
	for _, p := range partitions {
		lines[0] = append(lines[0], strconv.FormatUint(p.Seed, 10))
		for q, fold := range p.Fold {
			lines[1+q] = append(lines[1+q], strconv.Itoa(fold))
		}
	}
	return create(d, foldsFile, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(lines) })
}

// readFolds reads folds.csv of so many questions.
func readFolds(entry store.Entry, questions int) ([]Partition, error) {
	f, err := entry.Open(foldsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if len(lines) != questions+1 {
		return nil, fmt.Errorf("%s: %d lines, want one for each of %d questions and the seeds; remove the folder of this step and run again", f.Name(), len(lines), questions)
	}
	partitions := make([]Partition, len(lines[0]))
	for i, text := range lines[0] {
		if partitions[i].Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return nil, fmt.Errorf("%s:1: %q is no seed", f.Name(), text)
		}
	}
	for q, line := range lines[1:] {
		for i, text := range line {
			fold, err := strconv.Atoi(text)
			if err != nil || fold < 0 {
				return nil, fmt.Errorf("%s:%d: %q is no fold", f.Name(), q+2, text)
			}
			partitions[i].Fold = append(partitions[i].Fold, fold)
		}
	}
	return partitions, nil
}
