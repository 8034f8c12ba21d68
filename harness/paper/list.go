// A file of claims, as it is written.

package paper

// List is a file of claims.
type List struct {
	// Sizes are numbers of questions that a benchmark may have had; a claim is tried with each and holds if it holds
	// with one. The first is the size in the tables.
	Sizes       map[string][]float64 `yaml:"sizes"`
	Claims      []Claim              `yaml:"claims"`
	Averages    []Averages           `yaml:"averages"`
	Granularity []Granularity        `yaml:"granularity"`
	Repeated    []Repeated           `yaml:"repeated"`
	Costs       []Costs              `yaml:"costs"`
	Totals      []Totals             `yaml:"totals"`
}

// Claim is a sentence with a number or a comparison in it.
type Claim struct {
	ID      string  `yaml:"id"`
	Source  string  `yaml:"source"`  // section, table or caption
	Says    string  `yaml:"says"`    // in our words
	Printed string  `yaml:"printed"` // as printed, with all its digits; empty: a comparison, or nothing to contradict
	Unit    string  `yaml:"unit"`    // behind the numbers; may be empty
	Formula string  `yaml:"formula"` // empty: no table holds what it is made of
	Allow   float64 `yaml:"allow"`   // tolerance beside rounding: sampling noise of rows drawn at random
	Slip    string  `yaml:"slip"`    // a formula in another unit: the verdict is WrongUnit where only it gives the printed number; empty: none
	Ours    *Ours   `yaml:"ours"`    // what it means on our measurements; nil: nothing
	Verdict string  `yaml:"verdict"` // recorded
	Reason  string  `yaml:"reason"`  // says why, where the verdict is not Holds; may say more where it is

	line          int
	formula, slip *Formula
}

// Ours says what a claim means on our measurements.
type Ours struct {
	Formula string   `yaml:"formula"` // empty: that of the claim
	Scales  []string `yaml:"scales"`  // where it means something; empty: wherever its rows are
	Margin  float64  `yaml:"margin"`  // of a printed number: how far off still counts as the same
	Seen    bool     `yaml:"seen"`    // the margin was chosen after a table of verdicts had been seen
	Needs   string   `yaml:"needs"`   // language-model or assumption; empty: nothing
	Reason  string   `yaml:"reason"`  // of the margin, or of what it needs

	formula *Formula
}

// Averages is the check of all printed averages of a table.
type Averages struct {
	Table    string   `yaml:"table"`
	Mismatch []string `yaml:"mismatch"` // recorded: "row accuracy" or "row cost"
	Reason   string   `yaml:"reason"`

	line int
}

// Granularity is the check whether printed percentages can be k/(questions x runs).
type Granularity struct {
	Table     string   `yaml:"table"`
	Benchmark string   `yaml:"benchmark"` // empty: all of them
	Count     int      `yaml:"count"`     // questions x runs; 0: that of the tables
	Mismatch  []string `yaml:"mismatch"`  // recorded: "row benchmark"
	Reason    string   `yaml:"reason"`

	line int
}

// Repeated is one row that the paper prints in several tables: its cells have to agree in every digit that is printed.
type Repeated struct {
	Rows     []string `yaml:"rows"`     // table:row, at least two
	Mismatch []string `yaml:"mismatch"` // recorded: "table:row benchmark unit"
	Reason   string   `yaml:"reason"`

	line int
}

// Costs is what the costs of a table are made of: the answers of experts at their prices.
type Costs struct {
	Table    string            `yaml:"table"`
	Experts  map[string]Expert `yaml:"experts"` // by row; that of another table is written table:row
	Apart    float64           `yaml:"apart"`   // an expert's mean tokens on a benchmark are at most so many times another's; at least 1
	Random   string            `yaml:"random"`  // the row that draws one of them uniformly; empty: none
	Between  []string          `yaml:"between"` // rows, of any table, that ask one of them each time
	Mismatch []string          `yaml:"mismatch"`
	Reason   string            `yaml:"reason"`

	line int
}

// Expert is what an expert's answers cost.
type Expert struct {
	Price float64 `yaml:"price"` // dollars per million tokens written, above 0
	Limit float64 `yaml:"limit"` // most tokens of an answer, above 0
}

// Totals are the control totals of a table, as they were read from the paper: of every row and of every column the sum of
// the accuracies and the sum of the costs, the printed averages among them. A cell that is not as it was moves one of
// each, which names it.
type Totals struct {
	Table   string                `yaml:"table"`
	Rows    map[string][2]float64 `yaml:"rows"`
	Columns map[string][2]float64 `yaml:"columns"`

	line int
}
