// The questions behind an experiment: who answered them, what of it was right, and to whom each row sent them.

package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
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
	Whole   int // of those shown, so many have whole responses, after Sample
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
	Decided             []Decided  // every decision
	Unscored            []string   // models without an answer in every run: the question is scored for nobody
	Texts               bool       // whole answers are stored
}

// Answered is what an expert answered to a question.
type Answered struct {
	Expert  string
	Answers []Answer // [runs]
}

// Answer is what an expert answered once.
type Answer struct {
	Run       int
	Bucket    routing.Bucket
	Reason    string
	Extracted string  // what it was read as, or why there is none
	Tokens    float64 // written
	USD       float64
	Whole     string // the response, of the first answer to sampled questions; empty: it is not here
}

// Decided are decisions of a row that are alike: of one training or partition, for the same expert.
type Decided struct {
	Row    string // label
	Seed   uint64 // of the training; of recordings the partition
	Runs   string // of a question that was asked several times: those decided so, as 0–3
	Expert string // whose answer stands
}

// Ask collects at most so many questions of a run, evenly spaced over every benchmark, of all sets together, each expert's first response whole.
// The large arena, where nobody answered, is left out.
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
			read := r.Extracted
			if r.Failure != nil {
				read = r.Failure.Error
			}
			of := Answer{r.Run, r.Bucket, r.Reason, read, float64(r.Usage.Out), r.USD, ""}
			if len(a.Answers) == 0 {
				of.Whole = r.Response
			}
			a.Answers = append(a.Answers, of)
		}
		for _, o := range p.Outcomes {
			if o.Expert == x {
				a.Answers = append(a.Answers, Answer{Bucket: o.Bucket, Reason: "as recorded", Tokens: o.Tokens, USD: o.USD})
			}
		}
		q.Cells = append(q.Cells, a)
	}
	for _, row := range s.Rows {
		q.To = append(q.To, s.sentTo(row.ID, p.Decisions))
		q.Decided = append(q.Decided, decidedBy(row, p.Decisions)...)
	}
	return q
}

// decidedBy are the decisions of a row; runs that follow one another and are alike are one.
func decidedBy(row Routed, decisions []trail.DecisionResult) (all []Decided) {
	var first, last int
	for _, d := range decisions {
		if d.Row != row.ID {
			continue
		}
		if at := len(all) - 1; at >= 0 && all[at].Seed == d.Seed && all[at].Expert == d.Expert && d.Run == last+1 {
			last = d.Run
			all[at].Runs = fmt.Sprintf("%d–%d", first, last)
			continue
		}
		first, last = d.Run, d.Run
		all = append(all, Decided{row.Label, d.Seed, strconv.Itoa(d.Run), d.Expert})
	}
	return all
}

// Sample leaves whole responses to so many questions of all sets, evenly spaced over those shown, and says how many have them.
func Sample(sets []*QuestionSet, most int) {
	all := 0
	for _, s := range sets {
		all += len(s.Shown)
	}
	at := 0
	for _, s := range sets {
		for i := range s.Shown {
			q := &s.Shown[i]
			if at++; all <= most || at*most/all > (at-1)*most/all {
				if q.Texts {
					s.Whole++
				}
				continue
			}
			for k := range q.Cells {
				for j := range q.Cells[k].Answers {
					q.Cells[k].Answers[j].Whole = ""
				}
			}
		}
	}
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
	for _, x := range a.Answers {
		if of++; x.Bucket == routing.Correct {
			right++
		}
	}
	return right, of
}

// split is the mark of a cell in which as many answers are right as are not.
const split = "split"

// usual is the bucket of most answers, the first of several, or split; empty: there are none.
func (a Answered) usual() (b string) {
	switch right, of := a.count(); {
	case of > 0 && 2*right == of:
		return split
	case 2*right > of:
		return string(routing.Correct)
	}
	most := 0
	for _, bucket := range append(slices.Clone(routing.Buckets[:]), routing.Unanswered) {
		n := 0
		for _, x := range a.Answers {
			if x.Bucket == bucket && bucket != routing.Correct {
				n++
			}
		}
		if n > most {
			b, most = string(bucket), n
		}
	}
	return b
}

// answerSigns are the marks of buckets.
var answerSigns = []kind{
	{mark{string(routing.Correct), yes, "yes"}, "right"},
	{mark{split, "½", "open"}, "as many answers are right as are not"},
	{mark{string(routing.Wrong), no, "no"}, "wrong"},
	{mark{string(routing.NoAnswer), "∅", "no"}, "nothing that could be an answer was found"},
	{mark{string(routing.Truncated), "✂", "given"}, "the limit of tokens cut it: wrong, and paid for"},
	{mark{string(routing.Ungraded), open, "open"}, "the verifier could not decide: counts as wrong"},
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
	Packed     string // the cards of the rows, by anchor
}

type row struct {
	Question
	Anchor, Before, After string
	Answers               string // where whole answers are; empty: nowhere
	Sent                  string // an expert a row, as a digit of base 36; - for none
	Disagree              bool   // of the experts some are usually right, and some are not
	Grid                  []gridCell
}

type gridCell struct {
	mark
	Right, Of int
	Chosen    bool // by the row that is outlined first
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
				c.mark = answerSigns[slices.IndexFunc(answerSigns, func(k kind) bool { return k.Word == a.usual() })].mark
			}
			r.Grid = append(r.Grid, c)
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

// pack makes the cards of the rows, HTML by anchor, and packs them: a list of JSON, compressed by gzip, in base64.
func (s *asked) pack() error {
	cards := make([][2]string, 0, len(s.Rows))
	for _, r := range s.Rows {
		var b bytes.Buffer
		if err := pageTemplate.ExecuteTemplate(&b, "card", struct {
			row
			Grid string
		}{r, s.Anchor}); err != nil {
			return err
		}
		cards = append(cards, [2]string{r.Anchor, string(bytes.Map(harmless, b.Bytes()))})
	}
	var b bytes.Buffer
	to := base64.NewEncoder(base64.StdEncoding, &b)
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	list := json.NewEncoder(z)
	list.SetEscapeHTML(false) // nothing but the script reads it
	if err := list.Encode(cards); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	s.Packed = b.String()
	return nil
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
