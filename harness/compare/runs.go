// Two runs of an experiment, held against each other by recipes, bytes and decisions question by question.

package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// RunReport is what moved between two runs of an experiment.
type RunReport struct {
	Experiment string         `json:"experiment"`
	Asked      []Asked        `json:"asked"`     // what the recipes differ in
	Broken     []string       `json:"broken"`    // steps of one recipe on one architecture that hold other bytes, though their inputs do not
	Followed   []string       `json:"followed"`  // steps that hold other bytes because their inputs do
	Gone       []string       `json:"gone"`      // rows and benchmarks that only the other run has
	Questions  []Overlap      `json:"questions"` // an arena each
	Rows       []RowMove      `json:"rows"`
	Gates      int            `json:"gates"`      // how many differences are held against an interval
	Confidence float64        `json:"confidence"` // of every interval
	Numbers    *NumbersReport `json:"-"`          // the measured numbers, where they have to speak: no decisions, no common questions, or other numbers where recipes are the same
}

// Asked is a difference between recipes of steps that have one name in both runs.
type Asked struct {
	Fields []AskedField `json:"fields"`
	Steps  []string     `json:"steps"` // whose own recipe differs so
}

// AskedField is a field of a recipe, in JSON; empty where a recipe does not have it.
type AskedField struct {
	Name      string `json:"name"`
	Ours      string `json:"ours"`
	Reference string `json:"reference"`
}

// Overlap counts the questions of an arena.
type Overlap struct {
	Arena  string `json:"arena"`
	Common int    `json:"common"`
	Ours   int    `json:"only_ours"`
	Theirs int    `json:"only_theirs"`
}

// RowMove is what moved of a row in an arena, over the questions that both runs have.
type RowMove struct {
	Row       string         `json:"row"`
	Arena     string         `json:"arena"`
	Exact     bool           `json:"exact"`   // one recipe, so that nothing may differ
	Follows   bool           `json:"follows"` // its trainings differ because an input of theirs does
	Seeds     [2][]uint64    `json:"seeds"`   // of the trainings, of recordings their partitions; ours, theirs
	Questions int            `json:"questions"`
	Changed   int            `json:"changed"` // questions that went to other experts, in any run or training
	Cells     []CellMove     `json:"cells"`   // every benchmark, then the average
	Most      []QuestionMove `json:"most"`    // that moved most, the most first
}

// CellMove is what moved of a row on a benchmark, or on average.
type CellMove struct {
	Benchmark string `json:"benchmark"`
	Questions int    `json:"questions"`
	Changed   int    `json:"changed"`
	Accuracy  Move   `json:"accuracy"` // percent
	USD       Move   `json:"usd"`      // dollars per question
}

// Move is the difference of a number between two runs.
type Move struct {
	Ours       float64      `json:"ours"`
	Reference  float64      `json:"reference"`
	Difference float64      `json:"difference"` // ours minus the reference's, question by question
	Low        float64      `json:"low"`        // confidence interval of the difference
	High       float64      `json:"high"`
	Bounded    bool         `json:"bounded"`       // Low and High are known
	Moved      int          `json:"moved"`         // questions on which it differs
	Gate       metrics.Gate `json:"gate"`          // exact, paired or none
	Band       float64      `json:"band"`          // greatest difference that is noise; 0 for exact, meaningless for none
	Few        bool         `json:"few,omitempty"` // so few questions moved that nothing is more than noise
	Why        string       `json:"why,omitempty"` // of gate none

	errors []metrics.Mean // of the questions, and of the training seeds where trainings differ
}

// Regressed says whether the gate closes.
func (m Move) Regressed() bool {
	return m.Gate != metrics.None && !m.Few && math.Abs(m.Difference) > m.Band
}

// QuestionMove is one question of a row.
type QuestionMove struct {
	Problem   string     `json:"problem"`
	Benchmark string     `json:"benchmark"`
	Accuracy  [2]float64 `json:"accuracy"` // percent; ours, theirs
	USD       [2]float64 `json:"usd"`
	Chosen    [2]string  `json:"chosen"` // who got most of its runs and trainings
}

// Regressed says whether any number of the row moved by more than noise.
func (r RowMove) Regressed() bool {
	return slices.ContainsFunc(r.Cells, func(c CellMove) bool { return c.Accuracy.Regressed() || c.USD.Regressed() }) || r.Exact && r.Differs()
}

// Differs says whether any number of the row, or any decision, is not the same.
func (r RowMove) Differs() bool {
	return r.Changed > 0 || len(r.Most) > 0
}

// Regressed says whether anything moved by more than noise.
func (r *RunReport) Regressed() bool {
	return len(r.Broken) > 0 || len(r.Gone) > 0 || slices.ContainsFunc(r.Rows, RowMove.Regressed) || r.Numbers != nil && len(r.Numbers.Regressions()) > 0
}

// Runs holds a finished run of an experiment, which measured so, against another run of it. backend is what a run is made
// with that says nothing of it.
//
// What two runs asked for is in the recipes of their steps. Steps of one recipe must hold the same bytes (on one
// architecture; rows that train nothing on any). Where recipes differ, rows are compared question by question on the
// questions that both runs have, by text and gold answer; recordings pool by pool, where a partition is a training
// that shares its questions with the others (metrics.MeanOfPartitions): the error of a mean difference is that of its questions, clustered by question and stratified by benchmark for the average,
// and that of the trainings where these differ, added as independent errors are. With m such differences each is held
// against the t interval of a false alarm rate of FalseAlarm/m. Where no error is known (one training on each side,
// trainings that all agree, one question), or from trainings that leave one degree of freedom, nothing is gated, nor are
// rows that are set to another's spending, which jump from one setting of their knob to the next when trainings differ.
// Where so few questions moved that even all of them going one way is not rare enough, nothing is more than noise: k fair
// coins agree with probability 2^(1-k).
//
// Measured numbers are compared where no questions are in common: of the collapse and of other problems. Where recipes differ in nothing but their trainings, the numbers
// of what they share must be the same.
func Runs(r *spec.Resolved, measured *metrics.Set, ours, other *book.Run, backend string) (*RunReport, error) {
	x := &r.Experiment
	report := &RunReport{Experiment: x.Name, Asked: []Asked{}, Broken: []string{}, Followed: []string{}, Gone: []string{}, Questions: []Overlap{}, Rows: []RowMove{}, Confidence: x.Evaluate.Confidence}
	broken, err := report.compareSteps(ours, other)
	if err != nil {
		return nil, err
	}
	mine, err := ours.Arenas()
	if err != nil {
		return nil, err
	}
	theirs, err := other.Arenas()
	if err != nil {
		return nil, err
	}
	paired := mine != nil && theirs != nil
	if paired {
		if paired, err = report.compareArenas(sides{ours, other}, mine, theirs, broken); err != nil {
			return nil, err
		}
	}
	if paired && len(report.Broken) == 0 && len(report.Asked)+len(report.Gone) > 0 {
		return report, nil
	}
	set, err := other.Measurements(backend)
	if err != nil {
		return nil, err
	}
	report.Numbers = numbers(r, measured, set, len(report.Asked) == 0)
	if paired && len(report.Broken) == 0 {
		// What trainings move is judged above. What they do not move has one recipe, though its measurement has another.
		repeats := slices.DeleteFunc(report.Numbers.Changes, func(c metrics.Change) bool {
			return !c.Missing && c.Gate != metrics.Exact && c.Gate != metrics.Golden
		})
		if report.Numbers.Changes = repeats; len(report.Numbers.Regressions()) == 0 {
			report.Numbers = nil
		}
	}
	return report, nil
}

// What became of a step of one recipe.
const (
	whole   = iota // the same bytes
	first          // other bytes, of the same inputs
	follows        // other bytes, of other inputs
)

// compareSteps finds what recipes differ in and which steps of one recipe hold other bytes.
func (r *RunReport) compareSteps(ours, other *book.Run) (broken map[store.Key]int, err error) {
	broken = map[store.Key]int{}
	byName, byKey := map[string]store.Key{}, map[store.Key]bool{}
	for _, s := range other.Steps {
		byName[s.Name], byKey[s.Key] = s.Key, true
	}
	for _, s := range ours.Steps {
		k, named := byName[s.Name]
		if !byKey[s.Key] && !named {
			continue
		}
		if byKey[s.Key] {
			k = s.Key
		}
		a, err := ours.Step(s.Key)
		if err != nil {
			return nil, err
		}
		b, err := other.Step(k)
		if err != nil {
			return nil, err
		}
		if k == s.Key {
			if a.Entry.Digest != b.Entry.Digest && book.MadeAlike(a.Entry, b.Entry) {
				if slices.ContainsFunc(slices.Collect(maps.Values(a.Recipe.Inputs())), func(in store.Key) bool { return broken[in] != whole }) {
					broken[s.Key], r.Followed = follows, append(r.Followed, s.Name)
				} else {
					broken[s.Key], r.Broken = first, append(r.Broken, s.Name)
				}
			}
			continue
		}
		r.ask(s.Name, a.Recipe, b.Recipe)
	}
	return broken, nil
}

// ask notes what two recipes of a step differ in, but for what its seeds say.
func (r *RunReport) ask(step string, ours, theirs store.Recipe) {
	var fields []AskedField
	for _, f := range store.Compare(theirs, ours) {
		if f.Path[len(f.Path)-1] != "seeds" {
			fields = append(fields, AskedField{f.Name(), f.Wanted, f.Stored})
		}
	}
	if len(fields) == 0 {
		return
	}
	i := slices.IndexFunc(r.Asked, func(x Asked) bool { return slices.Equal(x.Fields, fields) })
	if i < 0 {
		i, r.Asked = len(r.Asked), append(r.Asked, Asked{Fields: fields})
	}
	r.Asked[i].Steps = append(r.Asked[i].Steps, step)
}

// sides are two runs.
type sides struct{ ours, theirs *book.Run }

// compareArenas compares every row in the arenas that two runs share and gates what moved; ok is false if they have no
// question in common.
func (r *RunReport) compareArenas(runs sides, ours, theirs []*book.Arena, broken map[store.Key]int) (ok bool, err error) {
	asked := map[string]bool{} // rows
	for _, b := range theirs {
		i := slices.IndexFunc(ours, func(a *book.Arena) bool { return a.Title() == b.Title() })
		switch {
		case i < 0 && b.Name == book.Recorded:
			r.Gone = append(r.Gone, "pool "+b.Pool)
			continue
		case i < 0:
			r.Gone = append(r.Gone, "the "+b.Name+" set")
			continue
		}
		a := ours[i]
		for _, row := range b.Rows {
			if err := r.compareRecipes(runs, a, row, asked); err != nil {
				return false, err
			}
		}
		for _, bench := range b.Benchmarks {
			if !slices.ContainsFunc(a.Benchmarks, func(of book.Benchmark) bool { return of.Name == bench.Name }) {
				r.Gone = append(r.Gone, "benchmark "+bench.Name+" of the "+b.Title()+" set")
			}
		}
		p := pair(a, b)
		r.Questions = append(r.Questions, p.overlap)
		if len(p.questions) == 0 {
			continue
		}
		ok = true
		for _, row := range a.Rows {
			other, has := b.Row(row.ID)
			if !has {
				continue
			}
			moved, err := p.compare(row, other, r.Confidence)
			if err != nil {
				return false, err
			}
			moved.Follows = moved.Exact && !slices.ContainsFunc(row.Trainings, func(t book.Training) bool { return broken[t.Entry.Key] != follows })
			r.Rows = append(r.Rows, moved)
		}
	}
	r.eachMove(func(m *Move) { r.Gates++ })
	alarm := FalseAlarm / float64(r.Gates)
	r.eachMove(func(m *Move) {
		m.Band = metrics.HalfOf(alarm/2, m.errors...)
		m.Few = math.Ldexp(1, 1-m.Moved) > alarm
	})
	return ok, nil
}

// compareRecipes notes what the recipes of a row differ in, once a pool, or that it is gone. Names of steps hold seeds, and rows that ask
// for the same share a step: there is none of one name in both runs then.
func (r *RunReport) compareRecipes(runs sides, a *book.Arena, theirs book.Row, asked map[string]bool) error {
	if asked[a.Pool+" "+theirs.ID] {
		return nil
	}
	asked[a.Pool+" "+theirs.ID] = true
	ours, ok := a.Row(theirs.ID)
	if !ok {
		if gone := "row " + theirs.ID; !slices.Contains(r.Gone, gone) {
			r.Gone = append(r.Gone, gone)
		}
		return nil
	}
	mine, err := runs.ours.Step(ours.Trainings[0].Entry.Key)
	if err != nil {
		return err
	}
	other, err := runs.theirs.Step(theirs.Trainings[0].Entry.Key)
	if err != nil {
		return err
	}
	if mine.Name != other.Name {
		r.ask(mine.Name, mine.Recipe, other.Recipe)
	}
	return nil
}

// eachMove visits what is gated by an interval.
func (r *RunReport) eachMove(visit func(*Move)) {
	for i := range r.Rows {
		for c := range r.Rows[i].Cells {
			for _, m := range []*Move{&r.Rows[i].Cells[c].Accuracy, &r.Rows[i].Cells[c].USD} {
				if m.Gate == metrics.Paired {
					visit(m)
				}
			}
		}
	}
}

// pairing is what two runs have in common in an arena.
type pairing struct {
	ours, theirs *book.Arena
	overlap      Overlap
	questions    [][2]int  // index of a question in both arenas
	strata       []int     // [questions] index into benches of ours
	share        []float64 // [benchmarks of ours] weight in the average; 0: nothing in common
	experts      []string  // of either run
}

// pair finds the questions that two arenas have in common: of one benchmark, with one text and one gold answer. Of
// questions that are alike in these, those of one id are paired, then the others in their order.
func pair(ours, theirs *book.Arena) pairing {
	p := pairing{ours: ours, theirs: theirs, overlap: Overlap{Arena: ours.Title()}, share: make([]float64, len(ours.Benchmarks)), experts: ours.IDs()}
	for _, id := range theirs.IDs() {
		if !slices.Contains(p.experts, id) {
			p.experts = append(p.experts, id)
		}
	}
	content := func(a *book.Arena, i int) string {
		q := a.Queries[i].Problem
		return fmt.Sprintf("%s %016x %q %q", q.Benchmark, routing.TextHash(q.Text), q.Options, q.Gold)
	}
	left := map[string][]int{} // queries of theirs, by content
	for i, q := range theirs.Queries {
		if q.Run == 0 {
			left[content(theirs, i)] = append(left[content(theirs, i)], i)
		}
	}
	match := map[int]int{} // query of ours to one of theirs
	for _, sameID := range []bool{true, false} {
		for i, q := range ours.Queries {
			if _, done := match[i]; done || q.Run != 0 {
				continue
			}
			of := left[content(ours, i)]
			if k := slices.IndexFunc(of, func(k int) bool { return !sameID || theirs.Queries[k].Problem.ID == q.Problem.ID }); k >= 0 {
				match[i] = of[k]
				left[content(ours, i)] = slices.Delete(of, k, k+1)
			}
		}
	}
	p.overlap.Theirs = len(theirs.Strata)
	for i, q := range ours.Queries {
		if q.Run != 0 {
			continue
		}
		k, ok := match[i]
		if !ok {
			p.overlap.Ours++
			continue
		}
		p.overlap.Common++
		p.overlap.Theirs--
		question := ours.Question[i]
		p.questions = append(p.questions, [2]int{question, theirs.Question[k]})
		b := ours.Strata[question]
		p.strata = append(p.strata, b)
		p.share[b] = ours.Benchmarks[b].Pass
	}
	return p
}

// side is what one run says of a row on the questions in common.
type side struct {
	accuracy, usd [][]float64   // [trainings][questions]
	chosen        [][][]float64 // [trainings][questions][experts and the router itself]
}

func (p pairing) read(a *book.Arena, row book.Row, which int) (s side, err error) {
	for _, t := range row.Trainings {
		decisions, err := a.Decisions(t)
		if err != nil {
			return s, err
		}
		c := a.Score(decisions)
		var accuracy, usd []float64
		var chosen [][]float64
		own := c.Own()
		for _, q := range p.questions {
			accuracy, usd = append(accuracy, c.Accuracy[q[which]]), append(usd, c.USD[q[which]])
			to := make([]float64, len(p.experts)+1)
			for m, share := range c.Chosen[q[which]] {
				to[slices.Index(p.experts, a.Experts[m].ID)] = share
			}
			to[len(p.experts)] = own[q[which]]
			chosen = append(chosen, to)
		}
		s.accuracy, s.usd, s.chosen = append(s.accuracy, accuracy), append(s.usd, usd), append(s.chosen, chosen)
	}
	return s, nil
}

// overTrainings averages a column over trainings, to so many decimals that the order of adding cannot be seen.
func overTrainings(columns [][]float64) []float64 {
	mean := make([]float64, len(columns[0]))
	for q := range mean {
		for _, c := range columns {
			mean[q] += c[q]
		}
		mean[q] = math.Round(mean[q]/float64(len(columns))*1e12) / 1e12
	}
	return mean
}

// compare compares a row.
func (p pairing) compare(ours, theirs book.Row, confidence float64) (out RowMove, err error) {
	a, err := p.read(p.ours, ours, 0)
	if err != nil {
		return out, err
	}
	b, err := p.read(p.theirs, theirs, 1)
	if err != nil {
		return out, err
	}
	out = RowMove{Row: ours.ID, Arena: p.ours.Title(), Questions: len(p.questions), Most: []QuestionMove{}}
	same := func(alike func(x, y book.Training) bool) bool {
		return slices.EqualFunc(ours.Trainings, theirs.Trainings, alike)
	}
	sameFits := same(func(x, y book.Training) bool { return x.Entry.Key == y.Entry.Key })
	madeAlike := same(func(x, y book.Training) bool { return book.MadeAlike(x.Entry, y.Entry) })
	sameOutcomes := slices.Equal(p.ours.Sources, p.theirs.Sources)
	recorded := p.ours.Name == book.Recorded
	trained := methods.Seeded(ours.Kind) || ours.Matched() || recorded && !methods.TrainsNothing(ours.Kind)
	out.Exact = sameFits && sameOutcomes && (madeAlike || !trained && p.ours.Name != metrics.LargeArena)

	for i, row := range []book.Row{ours, theirs} {
		for _, t := range row.Trainings {
			out.Seeds[i] = append(out.Seeds[i], t.Seed)
		}
	}
	sameSeeds := slices.Equal(out.Seeds[0], out.Seeds[1])
	changed := make([]bool, len(p.questions))
	for q := range changed {
		if sameSeeds {
			for k := range a.chosen {
				changed[q] = changed[q] || !slices.Equal(a.chosen[k][q], b.chosen[k][q])
			}
		} else {
			changed[q] = !slices.Equal(meanShare(a.chosen, q), meanShare(b.chosen, q))
		}
		if changed[q] {
			out.Changed++
		}
	}
	folds := 0
	if recorded {
		folds = min(foldsOf(ours), foldsOf(theirs))
	}
	// Trainings that were the same are no source of error.
	seeds := trained && !(sameFits && madeAlike)
	move := func(mine, others [][]float64) (by []Move, average Move) {
		x, y := overTrainings(mine), overTrainings(others)
		d := make([]float64, len(x))
		for q := range d {
			d[q] = x[q] - y[q]
		}
		moved := func(b int) (n int) {
			for q, v := range d {
				if v != 0 && (b < 0 || p.strata[q] == b) {
					n++
				}
			}
			return n
		}
		levels := func(column []float64) ([]metrics.Mean, metrics.Mean) {
			return metrics.Stratified(p.strata, column, p.share)
		}
		xs, xa := levels(x)
		ys, ya := levels(y)
		ds, da := levels(d)
		// [trainings] means of a stratum, or of the average for b < 0.
		singles := func(columns [][]float64, b int) (out []float64) {
			for _, c := range columns {
				by, average := levels(c)
				if b < 0 {
					out = append(out, average.Value)
				} else {
					out = append(out, by[b].Value)
				}
			}
			return out
		}
		finish := func(x, y, d metrics.Mean, b int) Move {
			m := Move{Ours: x.Value, Reference: y.Value, Difference: d.Value, Moved: moved(b), Gate: metrics.Paired}
			if out.Exact {
				m.Gate = metrics.Exact
				return m
			}
			m.errors = []metrics.Mean{d}
			unknown := d.DF == 0
			if seeds {
				mine, others := singles(mine, b), singles(others, b)
				spread := spreadOf(mine, others, sameSeeds, folds)
				m.errors = append(m.errors, spread)
				unknown = unknown || spread.DF == 0
				switch {
				case spread.DF == 0:
					m.Why = "one training on each side"
				case spread.Variance == 0:
					m.Why = "all trainings agree"
				case spread.DF == 1:
					// Student's t of one degree of freedom has no variance: the band would be thousands of points wide.
					m.Why = "too few trainings"
				case ours.Matched():
					m.Why = "follows another row"
				}
			}
			if d.DF == 0 {
				m.Why = "one question"
			}
			if m.Difference == 0 && !unknown {
				m.Why = ""
			}
			if m.Why != "" {
				m.Gate = metrics.None
			}
			if half := metrics.HalfOf((1-confidence)/2, m.errors...); !math.IsNaN(half) {
				m.Low, m.High, m.Bounded = d.Value-half, d.Value+half, true
			}
			return m
		}
		for b := range ds {
			by = append(by, finish(xs[b], ys[b], ds[b], b))
		}
		return by, finish(xa, ya, da, -1)
	}
	accuracy, accuracyAverage := move(a.accuracy, b.accuracy)
	usd, usdAverage := move(a.usd, b.usd)
	for k, bench := range p.ours.Benchmarks {
		c := CellMove{Benchmark: bench.Name, Accuracy: accuracy[k], USD: usd[k]}
		for q, of := range p.strata {
			if of == k {
				c.Questions++
				if changed[q] {
					c.Changed++
				}
			}
		}
		if c.Questions > 0 {
			out.Cells = append(out.Cells, c)
		}
	}
	out.Cells = append(out.Cells, CellMove{Benchmark: metrics.Average, Questions: out.Questions, Changed: out.Changed, Accuracy: accuracyAverage, USD: usdAverage})
	out.Most = p.most(a, b, changed)
	return out, nil
}

// spreadOf is the difference of a number between trainings of two runs, with the error that trainings add to it: of pairs where both runs
// have the same seeds, else of two samples. folds is how many a partition has where partitions are the trainings, which share all of
// their questions, and else 0.
func spreadOf(ours, theirs []float64, sameSeeds bool, folds int) metrics.Mean {
	if !sameSeeds || len(ours) < 2 {
		if folds > 0 {
			return metrics.TwoSamplesOfPartitions(ours, theirs, folds)
		}
		return metrics.TwoSample(ours, theirs)
	}
	pairs := make([]float64, len(ours))
	for k := range pairs {
		pairs[k] = ours[k] - theirs[k]
	}
	if folds > 0 {
		return metrics.MeanOfPartitions(pairs, folds)
	}
	return metrics.MeanOf(pairs)
}

// foldsOf is how many folds the partitions of a recording's row have.
func foldsOf(row book.Row) int { return 1 + slices.Max(row.Trainings[0].Fold) }

// mostMoved is how many questions of a row are named.
const mostMoved = 5

// most names the questions that moved most: by accuracy, then by dollars.
func (p pairing) most(a, b side, changed []bool) []QuestionMove {
	accuracy := [2][]float64{overTrainings(a.accuracy), overTrainings(b.accuracy)}
	usd := [2][]float64{overTrainings(a.usd), overTrainings(b.usd)}
	moved := func(q int) (float64, float64) {
		return math.Abs(accuracy[0][q] - accuracy[1][q]), math.Abs(usd[0][q] - usd[1][q])
	}
	var at []int
	for q := range changed {
		if x, y := moved(q); changed[q] || x > 0 || y > 0 {
			at = append(at, q)
		}
	}
	slices.SortStableFunc(at, func(x, y int) int {
		ax, ux := moved(x)
		ay, uy := moved(y)
		return cmp.Or(cmp.Compare(ay, ax), cmp.Compare(uy, ux))
	})
	problems := map[int]routing.Problem{}
	for i, q := range p.ours.Queries {
		problems[p.ours.Question[i]] = q.Problem
	}
	out := []QuestionMove{}
	for _, q := range at[:min(len(at), mostMoved)] {
		of := problems[p.questions[q][0]]
		m := QuestionMove{Problem: of.ID, Benchmark: of.Benchmark}
		for s, side := range []side{a, b} {
			m.Accuracy[s], m.USD[s] = accuracy[s][q], usd[s][q]
			share := meanShare(side.chosen, q)
			m.Chosen[s] = append(slices.Clone(p.experts), routing.SelfID)[slices.Index(share, slices.Max(share))]
		}
		out = append(out, m)
	}
	return out
}

// meanShare is who got a question, averaged over trainings.
func meanShare(chosen [][][]float64, q int) []float64 {
	var of [][]float64
	for _, training := range chosen {
		of = append(of, training[q])
	}
	return overTrainings(of)
}
