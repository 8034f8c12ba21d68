// How often the rows of an experiment are trained, and what says so.

package spec

// Trainings are what trains the rows of an experiment more than once: training seeds or, where questions are divided into folds, the
// divisions.
type Trainings struct {
	Flag  string    // of a command line, which says how many: seeds or partitions
	First uint64    // the first of them
	Of    *[]uint64 // them, in the experiment
}

// Trainings are those of the experiment, which they point into.
func (x *Experiment) Trainings() Trainings {
	if x.Recorded() {
		return Trainings{"partitions", 0, &x.Folds.Seeds}
	}
	return Trainings{"seeds", 1, &x.Evaluate.Seeds}
}

// UpTo are the first n that a command line may ask for.
func (t Trainings) UpTo(n int) (all []uint64) {
	for i := range n {
		all = append(all, t.First+uint64(i))
	}
	return all
}

// More is a number of trainings over which a spread is known well: ten, or twice as many as there are.
func (t Trainings) More() int { return max(10, 2*len(*t.Of)) }
