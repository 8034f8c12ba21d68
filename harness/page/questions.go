// The questions behind an experiment: who answered them, what of it was right, and to whom each row sent them.

package page

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/trail"
)

// QuestionSet is some of the questions of an arena or of a recorded pool.
type QuestionSet struct {
	Name    string // of the arena or pool
	All     int    // questions that it has
	Experts []string
	Rows    []Routed
	Shown   []Question
}

// Routed is a row that sends questions to experts.
type Routed struct {
	ID, Label string
	Outlined  bool // its choices are outlined first
}

// Question is a question with its answers and decisions.
type Question struct {
	ID, Benchmark, Text string
	Options, Gold       []string
	Cells               []Answered // [experts]
	To                  []int      // [rows] expert that most decisions of the row went to; -1: another, or none
	Unscored            []string   // models without an answer in every run: the question is scored for nobody
	Texts               bool       // whole answers are stored
}

// Answered is what an expert answered to a question, over all runs.
type Answered struct {
	Expert string
	Groups []Answers
}

// Answers are those with one verdict and one reason for it.
type Answers struct {
	N       int // answers
	Bucket  routing.Bucket
	Reason  string
	Example string  // what the first of them was read as, or why there is none
	Tokens  float64 // written, mean
	USD     float64 // mean
}

// Ask collects at most so many questions of a run, evenly spaced over every benchmark, of all sets together. The large arena, where
// nobody answered, is left out.
func Ask(ctx context.Context, t *trail.Trail, rows []Routed, most int) (sets []QuestionSet, err error) {
	all := slices.DeleteFunc(t.Sets(), func(s trail.SetResult) bool { return s.Set == metrics.LargeArena })
	for _, s := range all {
		of := QuestionSet{Name: s.Set, All: len(s.Problems), Experts: s.Experts, Rows: rows}
		for _, id := range spaced(s.Problems, most/max(len(all), 1)) {
			p, err := t.Problem(ctx, s.Set, id, "")
			if err != nil {
				return nil, err
			}
			of.Shown = append(of.Shown, of.question(p))
		}
		sets = append(sets, of)
	}
	return sets, nil
}

// spaced picks at most so many questions: as many of each benchmark, evenly spaced.
func spaced(problems []trail.Listed, most int) (ids []string) {
	of := map[string][]string{}
	var order []string
	for _, p := range problems {
		if of[p.Benchmark] == nil {
			order = append(order, p.Benchmark)
		}
		of[p.Benchmark] = append(of[p.Benchmark], p.ID)
	}
	for i, b := range order {
		n := min((most-len(ids))/(len(order)-i), len(of[b]))
		for k := range n {
			ids = append(ids, of[b][k*len(of[b])/n])
		}
	}
	return ids
}

// question is what is shown of a problem.
func (s *QuestionSet) question(p *trail.ProblemResult) Question {
	q := Question{ID: p.Problem.ID, Benchmark: p.Problem.Benchmark, Text: p.Problem.Text, Options: p.Problem.Options, Gold: p.Problem.Gold, Unscored: p.Unscored, Texts: len(p.Rollouts) > 0}
	for _, x := range s.Experts {
		a := Answered{Expert: x}
		for _, r := range p.Rollouts {
			if r.Expert != x {
				continue
			}
			example := r.Extracted
			if r.Failure != nil {
				example = r.Failure.Error
			}
			a.add(r.Bucket, r.Reason, example, float64(r.Usage.Out), r.USD)
		}
		for _, o := range p.Outcomes {
			if o.Expert == x {
				a.add(o.Bucket, "as recorded", "", o.Tokens, o.USD)
			}
		}
		q.Cells = append(q.Cells, a)
	}
	for _, row := range s.Rows {
		q.To = append(q.To, s.sentTo(row.ID, p.Decisions))
	}
	return q
}

func (a *Answered) add(bucket routing.Bucket, reason, example string, tokens, usd float64) {
	at := slices.IndexFunc(a.Groups, func(g Answers) bool { return g.Bucket == bucket && g.Reason == reason })
	if at < 0 {
		at = len(a.Groups)
		a.Groups = append(a.Groups, Answers{Bucket: bucket, Reason: reason, Example: shortened(example)})
	}
	g := &a.Groups[at]
	g.N++
	g.Tokens += (tokens - g.Tokens) / float64(g.N)
	g.USD += (usd - g.USD) / float64(g.N)
}

// longest is how many characters of an answer are shown.
const longest = 300

func shortened(s string) string {
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}

// sentTo is the expert that most decisions of a row went to, the first of several.
func (s *QuestionSet) sentTo(row string, decisions []trail.DecisionResult) int {
	n := make([]int, len(s.Experts))
	most := -1
	for _, d := range decisions {
		if d.Row != row {
			continue
		}
		expert := d.Expert
		if expert == routing.SelfID {
			expert = s.Experts[len(s.Experts)-1]
		}
		if m := slices.Index(s.Experts, expert); m >= 0 {
			n[m]++
		}
	}
	for m := range n {
		if n[m] > 0 && (most < 0 || n[m] > n[most]) {
			most = m
		}
	}
	return most
}

// count is how many answers there are, and how many of them are right.
func (a Answered) count() (right, of int) {
	for _, g := range a.Groups {
		of += g.N
		if g.Bucket == routing.Correct {
			right += g.N
		}
	}
	return right, of
}

// usual is the bucket of most answers, the first of several; empty: there are none.
func (a Answered) usual() (b routing.Bucket) {
	most := 0
	for _, bucket := range append(slices.Clone(routing.Buckets[:]), routing.Unanswered) {
		n := 0
		for _, g := range a.Groups {
			if g.Bucket == bucket {
				n += g.N
			}
		}
		if n > most {
			b, most = bucket, n
		}
	}
	return b
}

// answerSigns are the marks of buckets.
var answerSigns = []kind{
	{mark{string(routing.Correct), "✓", "yes"}, "right"},
	{mark{string(routing.Wrong), "✗", "no"}, "wrong"},
	{mark{string(routing.NoAnswer), "∅", "no"}, "nothing that could be an answer was found"},
	{mark{string(routing.Truncated), "✂", "given"}, "the limit of tokens cut it: wrong, and paid for"},
	{mark{string(routing.Ungraded), "?", "open"}, "the verifier could not decide: counts as wrong"},
	{mark{string(routing.Unanswered), "!", "none"}, "there is no answer: the request failed"},
}

// asked is a set as the page shows it.
type asked struct {
	*QuestionSet
	Anchor     string // of the grid, and with a question's id of its card
	Default    int    // row whose choices are outlined first
	Benchmarks []string
	Rows       []row
	Signs      []kind
}

type row struct {
	Question
	Anchor, Before, After string
	Answers               string // where whole answers are; empty: nowhere
	Sent                  string // an expert a row, as a digit of base 36; - for none
	Disagree              bool   // of the experts some are usually right, and some are not
	Grid                  []gridCell
	By                    []sent
}

type gridCell struct {
	mark
	Right, Of int
	Chosen    bool // by the row that is outlined first
}

// sent is an expert with the rows that asked it.
type sent struct {
	Expert string
	Rows   []string
}

func (s *QuestionSet) asked(experiment string, served bool) asked {
	out := asked{QuestionSet: s, Anchor: slug(experiment + "-" + s.Name), Signs: answerSigns}
	out.Default = max(slices.IndexFunc(s.Rows, func(r Routed) bool { return r.Outlined }), 0)
	for _, q := range s.Shown {
		if !slices.Contains(out.Benchmarks, q.Benchmark) {
			out.Benchmarks = append(out.Benchmarks, q.Benchmark)
		}
		r := row{Question: q, Anchor: "q-" + slug(out.Anchor+"-"+q.ID)}
		if served && q.Texts {
			r.Answers = answersOf(experiment, s.Name, q.ID)
		}
		if n := len(out.Rows); n > 0 {
			r.Before, out.Rows[n-1].After = out.Rows[n-1].Anchor, r.Anchor
		}
		usually := map[bool]bool{}
		for m, a := range q.Cells {
			c := gridCell{Chosen: len(q.To) > 0 && q.To[out.Default] == m}
			c.Right, c.Of = a.count()
			if c.Of > 0 {
				usually[2*c.Right > c.Of] = true
				c.mark = answerSigns[slices.IndexFunc(answerSigns, func(k kind) bool { return k.Word == string(a.usual()) })].mark
			}
			r.Grid = append(r.Grid, c)
			var by []string
			for i, to := range q.To {
				if to == m {
					by = append(by, s.Rows[i].Label)
				}
			}
			if by != nil {
				r.By = append(r.By, sent{a.Expert, by})
			}
		}
		r.Disagree = len(usually) == 2
		var to strings.Builder
		for _, m := range q.To {
			if m < 0 {
				to.WriteByte('-')
			} else {
				to.WriteString(strconv.FormatInt(int64(m), 36))
			}
		}
		r.Sent = to.String()
		out.Rows = append(out.Rows, r)
	}
	return out
}

// disputed is the anchor of the first question of a benchmark that some of the rows have answered right and others not, or else of the
// first that they send to different experts; empty: there is none. No benchmark in particular is any.
func (s asked) disputed(rows []string, benchmark string) (anchor string) {
	for _, q := range s.Rows {
		if slices.Contains(s.Benchmarks, benchmark) && q.Benchmark != benchmark {
			continue
		}
		to, right := map[int]bool{}, map[bool]bool{}
		for i, m := range q.To {
			if m >= 0 && q.Grid[m].Of > 0 && slices.Contains(rows, s.QuestionSet.Rows[i].ID) {
				to[m], right[2*q.Grid[m].Right > q.Grid[m].Of] = true, true
			}
		}
		if len(right) == 2 {
			return q.Anchor
		}
		if len(to) > 1 && anchor == "" {
			anchor = q.Anchor
		}
	}
	return anchor
}

// link is where a number of a table leads to: the grid of its set, if that is shown.
func link(sets []asked) func(report.Row, string) report.Link {
	return func(r report.Row, benchmark string) report.Link {
		keys := map[string]string{}
		for _, k := range r.Keys {
			keys[k.Name] = k.Value
		}
		for _, s := range sets {
			if s.Name != cmp.Or(keys["arena"], keys["pool"]) || !slices.ContainsFunc(s.QuestionSet.Rows, func(r Routed) bool { return r.ID == keys["method"] }) {
				continue
			}
			if !slices.Contains(s.Benchmarks, benchmark) {
				benchmark = "" // all of them
			}
			return report.Link{Href: "#g-" + s.Anchor, Row: keys["method"], Benchmark: benchmark}
		}
		return report.Link{}
	}
}
