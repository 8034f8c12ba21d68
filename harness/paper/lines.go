// What orderings.yaml says of the tables that are made of verdicts: the digest, the front page, language models.

package paper

// DigestLine is a line of the table for a reader in a hurry: a sentence and the claims and orderings that it stands for.
type DigestLine struct {
	Group string   `yaml:"group"` // heading of the lines from here on; empty: that of the line before
	Says  string   `yaml:"says"`
	Front string   `yaml:"front"` // the same in few words, for the front page; empty: it is not there
	Paper []string `yaml:"paper"` // claims whose verdict on the paper's own tables it has; none: no table has such a row
	Of    []string `yaml:"of"`    // claims and orderings whose verdicts on our measurements it has

	line int
}

// FrontRow is a column of the front page's table of real outcomes: a row of the tables.
type FrontRow struct {
	Title  string `yaml:"title"`
	Method string `yaml:"method"` // of measurements
}

// ModelLine is a part of the table of what language models say: sentences of the paper, and what would decide them at its size.
type ModelLine struct {
	Says   string   `yaml:"says"`   // all of them in short, where no language model was measured on any; empty: each for itself
	Of     []string `yaml:"of"`     // claims and orderings
	Decide string   `yaml:"decide"` // what it would take to decide them

	line int
}
