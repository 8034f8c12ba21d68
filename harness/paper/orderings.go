// A file of orderings: which row is above which, on which scales.

package paper

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// What an ordering may rest on, so that a difference decides nothing.
const (
	languageModel = "language-model"
	assumption    = "assumption"
)

// Metrics of orderings that are above a curve: over the hull of the fixed experts at the row's own cost, and over another row at equal cost.
const (
	hullGain    = "hull-gain"
	atEqualCost = "equal-cost"
)

// Orderings is a file of orderings.
type Orderings struct {
	Reference string    `yaml:"reference"` // the row that measurements take paired differences from
	Scales    []Scale   `yaml:"scales"`
	Names     Names     `yaml:"names"`
	Sections  []Section `yaml:"sections"`

	Digest []DigestLine `yaml:"digest"`
	Front  []FrontRow   `yaml:"front"` // rows of the front page's table of real outcomes

	Models []ModelLine `yaml:"language-models"` // the table of what language models say

	// OnePool is why a number of one simulated pool decides nothing, so that claims and orderings there are assumed, but for those between
	// two learners, which are inconclusive; empty: it decides.
	OnePool string `yaml:"one-pool"`

	Strongest string `yaml:"strongest"` // the paper's row that asks the strongest expert always
	Hull      string `yaml:"hull"`      // the row, as measurements call it, that is on the hull of the fixed experts: hull gains are held against it alone

	// Experts are the rows, as measurements call them, that ask one expert whatever the question: a sentence about one is about the expert.
	Experts []string `yaml:"experts"`

	// Learners are the rows, as measurements call them, that learn from answers: which of two is ahead on one simulated pool decides nothing.
	Learners []string `yaml:"learners"`

	// Seedless are the rows of simulated scales, as measurements call them, that are the same under every training seed.
	Seedless []string `yaml:"seedless"`
}

// Scale is a column of the table of verdicts.
type Scale struct {
	ID      string            `yaml:"id"`
	Title   string            `yaml:"title"`
	Kind    string            `yaml:"kind"`    // the key of an ordering that says which rows are meant
	Keys    map[string]string `yaml:"keys"`    // of its measurements
	Average string            `yaml:"average"` // value of the key benchmark over all questions, the only one that it shares with the paper; empty: avg

	Rule   string `yaml:"rule"`   // of recorded answers: by which other rule than the main rows the router takes the strongest expert
	Trains string `yaml:"trains"` // of a language model: which of its weights were trained
	Study  string `yaml:"study"`  // of a language model: the experiment
	Seeds  bool   `yaml:"seeds"`  // low and high of its measurements are the least and the most over training seeds

	Experiments map[string]string `yaml:"experiments"` // experiment of each of the paper's tables that it has; empty: all, by the table's name
	Rows        map[string]string `yaml:"rows"`        // what it calls each of the paper's rows that it has; empty: all, by the same names
}

// experiment returns where a scale has the rows of a table; what is about no table, a language model has in its study.
func (s Scale) experiment(table string) (name string, ok bool) {
	if table == "" && s.model() {
		return s.Study, true
	}
	if s.Experiments == nil {
		return table, table != ""
	}
	name, ok = s.Experiments[table]
	return name, ok
}

// average is the benchmark over all questions.
func (s Scale) average() string { return cmp.Or(s.Average, metrics.Average) }

// Section is orderings about one table.
type Section struct {
	Title     string     `yaml:"title"`
	Table     string     `yaml:"table"` // of the paper and, unless an ordering says otherwise, the experiment; may be empty
	Orderings []Ordering `yaml:"orderings"`
}

// Ordering puts row A above or below row B, or says that they are level.
type Ordering struct {
	ID        string  `yaml:"id"`
	Source    string  `yaml:"source"`
	Says      string  `yaml:"says"`
	A         Operand `yaml:"a"`
	B         Operand `yaml:"b"`
	Metric    string  `yaml:"metric"`    // accuracy (default), cost, equal-cost (of two trade-offs), hull-gain (beside the hull itself), or a unit of measurements
	Is        string  `yaml:"is"`        // above, below or level: A beside B
	Margin    float64 `yaml:"margin"`    // of level: how far apart still counts as level
	Benchmark string  `yaml:"benchmark"` // the paper's name; empty: the average
	Needs     string  `yaml:"needs"`     // language-model or assumption; empty: nothing
	Reason    string  `yaml:"reason"`    // required with needs
	Paper     string  `yaml:"paper"`     // the paper's own numbers, where its table does not have both rows

	Contradicted bool `yaml:"contradicted"` // those numbers do not have the order

	Simulated   *Rows `yaml:"simulated"`
	Ensemble    *Rows `yaml:"ensemble"`
	Training    *Rows `yaml:"training"`
	Environment *Rows `yaml:"environment"`
	Recorded    *Rows `yaml:"recorded"`
	Model       *Rows `yaml:"language-model"`

	line int
}

// Operand is one side of an ordering: a row, or the keys of any measurement.
type Operand struct {
	Row  string
	Keys Place
}

// UnmarshalYAML reads a row's name or a mapping of keys.
func (o *Operand) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		o.Row = n.Value
		return nil
	}
	return n.Decode(&o.Keys)
}

func (o Operand) empty() bool { return o.Row == "" && o.Keys == nil }

// Rows are the rows of an ordering on the scales of one kind.
type Rows struct {
	Experiment string   `yaml:"experiment"` // empty: that of the section's table
	Scales     []string `yaml:"scales"`     // those of the kind that have the rows; empty: all
	A          Operand  `yaml:"a"`          // empty: the ordering's own
	B          Operand  `yaml:"b"`
	Needs      string   `yaml:"needs"`  // beside the ordering's own
	Reason     string   `yaml:"reason"` // required with needs
	None       bool     `yaml:"none"`   // the scale has no such rows
}

// Kinds of scales. An ensemble is many simulated pools: what one pool says follows from knobs of it that nobody measured.
const (
	kindSimulated = "simulated"
	kindEnsemble  = "ensemble"
	kindRecorded  = "recorded"
	kindModel     = languageModel // the router is one: what a part does to it is measured, and needs nothing else
)

var kinds = []string{kindSimulated, kindEnsemble, "training", "environment", kindRecorded, kindModel}

// bySeeds says whether the low and high of the scale's measurements are the least and the most over training seeds.
func (s Scale) bySeeds() bool { return s.Kind == "training" || s.Kind == "environment" || s.Seeds }

// own says whether the scale's answers are drawn by the program, for routers that are no language models; pool, whether it is one of recorded
// answers, for such routers as the main rows have; model, whether the router is a language model.
func (s Scale) own() bool   { return s.Kind != kindRecorded && !s.model() }
func (s Scale) pool() bool  { return s.Kind == kindRecorded && s.Rule == "" }
func (s Scale) model() bool { return s.Kind == kindModel }

// rules lists the other rules for the strongest expert, in the order of the scales.
func (o *Orderings) rules() (rules []string) {
	for _, scale := range o.Scales {
		if scale.Rule != "" && !slices.Contains(rules, scale.Rule) {
			rules = append(rules, scale.Rule)
		}
	}
	return rules
}

// by says of a scale whether its router takes the strongest expert by such a rule.
func by(rule string) func(Scale) bool { return func(s Scale) bool { return s.Rule == rule } }

// folded says whether its rows were cross-validated on recorded answers.
func (s Scale) folded() bool { return !s.own() && !s.Seeds }

// states says whether a sentence about two rows is stated on the scale: but for simulated experts it has the rows that it names, and
// what is said of two experts says nothing of a language model, or of a rule.
func (o *Orderings) states(s Scale, a, b Place) bool {
	experts := slices.Contains(o.Experts, a["method"]) && slices.Contains(o.Experts, b["method"])
	return s.Rows == nil || s.named(a) && s.named(b) && !(experts && (s.model() || s.Rule != ""))
}

// rows are those that an ordering names for scales of a kind; nil: it names none.
func (o *Ordering) rows(kind string) *Rows {
	return map[string]*Rows{kindSimulated: o.Simulated, kindEnsemble: o.Ensemble, "training": o.Training, "environment": o.Environment, kindRecorded: o.Recorded, kindModel: o.Model}[kind]
}

// on returns the rows of an ordering on scales of a kind, and false if it has none there. Orderings about a table
// are stated on simulated scales and ensembles unless they say otherwise.
func (o *Ordering) on(kind, table string) (Rows, bool) {
	rows := o.rows(kind)
	if kind == kindModel && rows == nil && o.Recorded != nil {
		rows = &Rows{A: o.Recorded.A, B: o.Recorded.B, None: o.Recorded.None} // the same rows, on the pools that have them
	}
	r := Rows{}
	switch {
	case rows != nil && rows.None,
		rows == nil && (kind != kindSimulated && kind != kindEnsemble || table == ""),
		rows == nil && kind == kindEnsemble && o.Simulated != nil: // other rows than the ordering's own
		return r, false
	case rows != nil:
		r = *rows
	}
	if r.Experiment == "" && !hasExperiments(kind) {
		r.Experiment = table
	}
	if r.A.empty() {
		r.A = o.A
	}
	if r.B.empty() {
		r.B = o.B
	}
	r.Needs = cmp.Or(r.Needs, o.Needs)
	r.Reason = cmp.Or(r.Reason, o.Reason)
	if kind == kindModel && r.Needs == languageModel {
		r.Needs, r.Reason = "", ""
	}
	return r, true
}

// hasExperiments says whether scales of a kind name the experiment of each table.
func hasExperiments(kind string) bool {
	return slices.Contains([]string{kindRecorded, kindEnsemble, kindModel}, kind)
}

// stated says whether an ordering has rows on any scale.
func (o *Ordering) stated(table string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		_, ok := o.on(kind, table)
		return ok
	})
}

// ReadOrderings reads a file of orderings. Errors start with file:line.
func ReadOrderings(file string, data []byte) (*Orderings, error) {
	o := &Orderings{}
	if err := decode(file, data, o); err != nil {
		return nil, err
	}
	f := &faults{file: file}
	lines, scales := linesOf(data, "sections", "orderings"), linesOf(data, "scales")
	for i, s := range o.Scales {
		switch {
		case s.ID == "" || s.Title == "":
			f.add(scales[i], "scale", "id and title must both be set")
		case !slices.Contains(kinds, s.Kind):
			f.add(scales[i], s.ID, "unknown kind %q; known: %s", s.Kind, strings.Join(kinds, ", "))
		case (s.Kind == kindModel) != (s.Trains != "" && s.Study != ""):
			f.add(scales[i], s.ID, "trains and study go with kind %s, and only with it", kindModel)
		case s.Rule != "" && s.Kind != kindRecorded:
			f.add(scales[i], s.ID, "a rule goes with kind %s alone", kindRecorded)
		}
		if first := slices.IndexFunc(o.Scales, func(other Scale) bool { return other.ID == s.ID }); first < i {
			f.add(scales[i], s.ID, "the id is taken by line %d", scales[first])
		}
	}
	seen := map[string]int{}
	for i := range o.Sections {
		for j := range o.Sections[i].Orderings {
			x := &o.Sections[i].Orderings[j]
			x.line, lines = lines[0], lines[1:]
			if first, ok := seen[x.ID]; ok {
				f.add(x.line, x.ID, "the id is taken by line %d", first)
			}
			seen[x.ID] = x.line
			x.check(o.Sections[i].Table, f)
			o.checkHull(x, o.Sections[i].Table, f)
		}
	}
	o.checkScales(f)
	o.checkDigest(linesOf(data, "digest"), f)
	o.checkModels(linesOf(data, "language-models"), f)
	return o, f.err()
}

// checkScales looks for scales that rows name and nobody has.
func (o *Orderings) checkScales(f *faults) {
	var known []string
	for _, s := range o.Scales {
		known = append(known, s.ID)
	}
	for _, s := range o.Sections {
		for i := range s.Orderings {
			x := &s.Orderings[i]
			for _, kind := range kinds {
				r, _ := x.on(kind, s.Table)
				for _, id := range r.Scales {
					if !slices.Contains(known, id) {
						f.add(x.line, x.ID, "%s: unknown scale %q; known: %s", kind, id, strings.Join(known, ", "))
					}
				}
			}
		}
	}
}

// checkStated looks for rows that are named for scales of a kind and that no such scale has.
func (o *Orderings) checkStated(x *Ordering, table string, f *faults) {
	for _, kind := range kinds {
		r, ok := x.on(kind, table)
		if !ok || x.rows(kind) == nil {
			continue
		}
		scales, stated := 0, 0
		for _, scale := range o.Scales {
			if scale.Kind != kind {
				continue
			}
			scales++
			if a, b := o.sides(x, r, scale); o.states(scale, a, b) {
				stated++
			}
		}
		if scales > 0 && stated == 0 {
			f.add(x.line, x.ID, "%s: no scale of this kind has both rows", kind)
		}
	}
}

// checkHull holds hull gains, each above the hull at its row's own cost, to be compared with the hull itself.
func (o *Orderings) checkHull(x *Ordering, table string, f *faults) {
	if x.Metric != hullGain {
		return
	}
	for _, kind := range kinds {
		if r, ok := x.on(kind, table); ok && cmp.Or(r.B.Row, r.B.Keys["method"]) != o.Hull {
			f.add(x.line, x.ID, "%s: b is row %q, and the hull is row %q: the hull gains of two rows are at two costs; compare them with metric: %s", kind, cmp.Or(r.B.Row, r.B.Keys["method"]), o.Hull, atEqualCost)
			return
		}
	}
}

func (o *Ordering) check(table string, f *faults) {
	needs := []string{"", languageModel, assumption}
	before := len(f.text)
	switch {
	case o.ID == "":
		f.add(o.line, "ordering", "no id")
	case o.Source == "" || o.Says == "":
		f.add(o.line, o.ID, "source and says must both be set")
	case !slices.Contains([]string{"above", "below", "level"}, o.Is):
		f.add(o.line, o.ID, "is %q; want above, below or level", o.Is)
	case (o.Is == "level") != (o.Margin > 0):
		f.add(o.line, o.ID, "a margin above 0 goes with is: level, and only with it")
	case !slices.Contains(needs, o.Needs):
		f.add(o.line, o.ID, "unknown needs %q; known: %s, %s", o.Needs, languageModel, assumption)
	case o.Needs != "" && o.Reason == "":
		f.add(o.line, o.ID, "needs: %s wants a reason", o.Needs)
	}
	if len(f.text) > before {
		return
	}
	o.Metric = cmp.Or(o.Metric, "accuracy")
	for _, kind := range kinds {
		r, ok := o.on(kind, table)
		if !ok {
			continue
		}
		switch {
		case r.A.empty() || r.B.empty():
			f.add(o.line, o.ID, "%s: a and b must both be set", kind)
		case r.Experiment == "" && !hasExperiments(kind):
			f.add(o.line, o.ID, "%s: no experiment; the section has no table to name it", kind)
		case !slices.Contains(needs, r.Needs):
			f.add(o.line, o.ID, "%s: unknown needs %q; known: %s, %s", kind, r.Needs, languageModel, assumption)
		case r.Needs != "" && r.Reason == "":
			f.add(o.line, o.ID, "%s: needs: %s wants a reason", kind, r.Needs)
		}
	}
	if !o.stated(table) && o.Needs == "" {
		f.add(o.line, o.ID, "no rows on any scale; say what it needs, or name rows under one of %s", strings.Join(kinds, ", "))
	}
}

// Named is a row that orderings need of an experiment.
type Named struct{ Experiment, Row string }

// Rows lists the rows of experiments that orderings name, so that a test can look for them: a misspelt one would be
// "not run" for ever.
func (o *Orderings) Rows() []Named {
	var all []Named
	for _, s := range o.Sections {
		for i := range s.Orderings {
			for _, scale := range o.Scales {
				r, ok := s.Orderings[i].on(scale.Kind, s.Table)
				if !ok || !r.have(scale) {
					continue
				}
				experiment := r.Experiment
				if experiment == "" {
					experiment, ok = scale.experiment(s.Table)
				}
				r.Experiment = experiment
				a, b := o.sides(&s.Orderings[i], r, scale)
				if !o.states(scale, a, b) {
					continue
				}
				for _, row := range []string{a["method"], b["method"]} {
					if n := (Named{experiment, row}); ok && row != "" && !slices.Contains(all, n) {
						all = append(all, n)
					}
				}
			}
		}
	}
	return all
}

// have says whether a scale of their kind has the rows.
func (r Rows) have(s Scale) bool { return len(r.Scales) == 0 || slices.Contains(r.Scales, s.ID) }

// row is what an experiment on a scale calls one of the paper's rows.
func (o *Orderings) row(s Scale, experiment, name string) string {
	if ours, ok := s.Rows[name]; ok {
		name = ours
	}
	return o.Names.row(experiment, name)
}

// sides are where the lines of both rows of an ordering stand.
func (o *Orderings) sides(x *Ordering, rows Rows, scale Scale) (a, b Place) {
	at := func(side Operand) Place {
		if side.Keys != nil {
			return side.Keys
		}
		benchmark := scale.average()
		if x.Benchmark != "" {
			benchmark = o.Names.benchmark(x.Benchmark)
		}
		return Place{"method": o.row(scale, rows.Experiment, side.Row), "benchmark": benchmark}
	}
	return at(rows.A), at(rows.B)
}

// checkDigest looks for lines that say nothing.
func (o *Orderings) checkDigest(lines []int, f *faults) {
	for i := range o.Digest {
		d := &o.Digest[i]
		d.line = lines[i]
		if d.Says == "" || len(d.Of) == 0 {
			f.add(d.line, "digest", "says and of must both be set")
		}
	}
}

// checkModels looks for lines that say nothing.
func (o *Orderings) checkModels(lines []int, f *faults) {
	for i := range o.Models {
		m := &o.Models[i]
		m.line = lines[i]
		if m.Says == "" && len(m.Of) == 0 || m.Decide == "" {
			f.add(m.line, "language-models", "decide must be set, and says or of")
		}
	}
}

// named says whether a place is of a row that a scale names.
func (s Scale) named(at Place) bool {
	return slices.Contains(slices.Collect(maps.Values(s.Rows)), at["method"])
}
