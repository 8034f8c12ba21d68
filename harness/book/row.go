// Rows of an arena and their trainings.

package book

import "github.com/entrorouter/entrorouter/harness/store"

// Row is a row of a table in one arena.
type Row struct {
	ID        string
	Kind      string // name of its method
	Trainings []Training
}

// Training is one router of a row. What it decided is read when it is asked for.
type Training struct {
	Seed    uint64      // of the training; of a recording the partition
	Fold    []int       // [Q] fold in which each question is tested, under that partition; nil where training and test questions are apart
	Entry   store.Entry // with its decisions
	Sweeper store.Entry // with the sweep of its knob, if it has one: of a match the fit behind it, else Entry
}

// Matched says whether the knob of the row's router was set to what another row spends.
func (r Row) Matched() bool { return r.Trainings[0].Entry.Key != r.Trainings[0].Sweeper.Key }
