// What the protocols of experiments are like, side by side, as far as anybody has to know who plans no steps: how rows are trained, and
// where questions and answers come from.

package spec

// Trainings are what trains the rows of an experiment more than once: training seeds or, where questions are divided into folds, the
// divisions.
type Trainings struct {
	Flag  string    // of a command line, which says how many: seeds or partitions
	One   string    // what one of them is called: training seed, partition or, of the small environment, seed
	First uint64    // the first of them
	Of    *[]uint64 // them, in the experiment
	Folds int       // into which each divides the questions, with a training for each; 0: it divides none
	All   bool      // every number is of them; otherwise those of rows alone
}

// Trainings are those of the experiment, which they point into.
func (x *Experiment) Trainings() Trainings {
	switch x.Protocol {
	case "folds":
		return Trainings{Flag: "partitions", One: "partition", First: 0, Of: &x.Folds.Seeds, Folds: x.Folds.K, All: true}
	case "collapse":
		return Trainings{Flag: "seeds", One: "seed", First: 1, Of: &x.Evaluate.Seeds, All: true}
	}
	return Trainings{Flag: "seeds", One: "training seed", First: 1, Of: &x.Evaluate.Seeds}
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

// AsksExperts says whether experts are asked, while the experiment is carried out, the questions of benchmarks.
func (x *Experiment) AsksExperts() bool { return x.Protocol == "split" }

// ReadsAnswers says whether every pool has questions of its own, recorded with their answers in the data folder: pools are then measured,
// and shown, one by one.
func (x *Experiment) ReadsAnswers() bool { return x.Protocol == "folds" }
