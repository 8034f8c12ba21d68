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
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/trail"
)

// QuestionSet is some of the questions of an arena or of a recorded pool.
type QuestionSet struct {
	Name    string // of the arena or pool
	All     int    // questions that it has
	Experts []string
	Rows    []Routed
	Every   []Glance // all that are scored, in their order
	Shown   []Question
	Whole   int // of those shown, so many have whole responses, after Sample
}

// Routed is a row that sends questions to experts.
type Routed struct {
	ID, Label string
	Outlined  bool // its choices are outlined first
}

// Glance is what the grid says of a question.
type Glance struct {
	ID, Benchmark string
	Gold          []string      // any of them will do
	Cells         []trail.Tally // [experts]
	To            []int         // [rows] expert that most decisions of the row went to; -1: none
}

// Question is a question with its answers and decisions.
type Question struct {
	ID, Benchmark, Text string
	Options, Gold       []string
	Cells               []Answered // [experts]
	To                  []int      // [rows] expert that most decisions of the row went to; -1: none
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
		every, err := t.Overview(ctx, s.Set)
		if err != nil {
			return nil, err
		}
		to := map[string][]int{}
		for _, q := range every {
			g := Glance{ID: q.Problem, Benchmark: q.Benchmark, Gold: q.Gold, Cells: q.Experts, To: of.sentTo(q.Chosen)}
			of.Every, to[g.ID] = append(of.Every, g), g.To
		}
		for _, id := range spaced(s.Problems, most/max(len(all), 1)) {
			p, err := t.Problem(ctx, s.Set, id, "")
			if err != nil {
				return nil, err
			}
			q := of.question(p)
			if q.To = to[id]; q.To == nil { // scored for nobody
				q.To = of.sentTo(nil)
			}
			of.Shown = append(of.Shown, q)
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

// sentTo is, for each row, the expert whose answer stood most often; -1 where several did as often, or nobody's.
func (s *QuestionSet) sentTo(chosen map[string]map[string]float64) []int {
	to := make([]int, len(s.Rows))
	for i, row := range s.Rows {
		to[i] = -1
		most := 0.0
		for m, x := range s.Experts {
			share := chosen[row.ID][x]
			if m == len(s.Experts)-1 { // the model that plays the router, if any does
				share += chosen[row.ID][routing.SelfID]
			}
			switch {
			case share > most+rounding:
				to[i], most = m, share
			case share > most-rounding:
				to[i] = -1
			}
		}
	}
	return to
}

// rounding is what sums of shares may be off by.
const rounding = 1e-9

// tally counts the answers.
func (a Answered) tally() trail.Tally {
	t := trail.Tally{Buckets: map[routing.Bucket]int{}}
	for _, x := range a.Answers {
		t.Buckets[x.Bucket]++
	}
	return t
}

// count is how many answers there are, and how many of them are right.
func count(t trail.Tally) (right, of int) {
	for _, n := range t.Buckets {
		of += n
	}
	return t.Buckets[routing.Correct], of
}

// split is the mark of a cell in which as many answers are right as are not.
const split = "split"

// usual is the place in answerSigns of the bucket of most answers, the first of several, or of a split; -1: there are no answers.
func usual(t trail.Tally) (at int) {
	right, of := count(t)
	most, word := 0, routing.Bucket(split)
	switch {
	case of == 0:
		return -1
	case 2*right > of:
		word = routing.Correct
	case 2*right < of:
		for _, bucket := range append(slices.Clone(routing.Buckets[:]), routing.Unanswered) {
			if n := t.Buckets[bucket]; n > most && bucket != routing.Correct {
				word, most = bucket, n
			}
		}
	}
	return slices.IndexFunc(answerSigns, func(k kind) bool { return k.Word == string(word) })
}

// answerSigns are the marks of buckets.
var answerSigns = []kind{
	{mark{string(routing.Correct), paper.Sign(paper.Confirmed), "yes"}, "right"},
	{mark{split, "½", "open"}, "as many answers are right as are not"},
	{mark{string(routing.Wrong), paper.Sign(paper.Refuted), "no"}, "wrong"},
	{mark{string(routing.NoAnswer), "∅", "no"}, "nothing that could be an answer was found"},
	{mark{string(routing.Truncated), "✂", "given"}, "the limit of tokens cut it: wrong, and paid for"},
	{mark{string(routing.Ungraded), paper.Sign(paper.Inconclusive), "open"}, "the verifier could not decide: counts as wrong"},
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
	PackedAll  string // columns; empty: there are no others
	Show       string // command that shows a question of the set, without its id
	AnswersAt  string // address of whole answers, without the question's id; empty: nowhere
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

func (s *QuestionSet) asked(x *spec.Resolved, served bool) asked {
	experiment := x.Experiment.Name
	out := asked{QuestionSet: s, Anchor: slug(experiment + "-" + s.Name), Signs: answerSigns, Show: "entrorouter show " + x.Named + " --set " + s.Name + " --problem "}
	if served {
		out.AnswersAt = answersOf(experiment, s.Name, "")
	}
	out.Default = max(slices.IndexFunc(s.Rows, func(r Routed) bool { return r.Outlined }), 0)
	for _, q := range s.Shown {
		if !slices.Contains(out.Benchmarks, q.Benchmark) {
			out.Benchmarks = append(out.Benchmarks, q.Benchmark)
		}
		r := row{Question: q, Anchor: "q-" + slug(out.Anchor+"-"+q.ID)}
		if served && q.Texts {
			r.Answers = out.AnswersAt + url.PathEscape(q.ID)
		}
		if n := len(out.Rows); n > 0 {
			r.Before, out.Rows[n-1].After = out.Rows[n-1].Anchor, r.Anchor
		}
		usually := map[bool]bool{}
		for m, a := range q.Cells {
			c := gridCell{Chosen: len(q.To) > 0 && q.To[out.Default] == m}
			t := a.tally()
			if c.Right, c.Of = count(t); c.Of > 0 {
				usually[2*c.Right > c.Of] = true
				c.mark = answerSigns[usual(t)].mark
			}
			r.Grid = append(r.Grid, c)
		}
		r.Disagree = len(usually) == 2
		for _, m := range q.To {
			r.Sent += digit(m)
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// digit is an expert as a digit of base 36; - for none.
func digit(m int) string {
	if m < 0 {
		return "-"
	}
	return strconv.FormatInt(int64(m), 36)
}

// columns are all questions of a set for the page's script. They are kept by column, which packs best.
type columns struct {
	IDs        []string `json:"ids"`
	Benchmarks []string `json:"benchmarks"` // names
	Of         []int    `json:"of"`         // [questions] into Benchmarks
	Gold       []string `json:"gold"`       // [questions] the gold answer that a right one was read as; empty: none was
	Signs      []kind   `json:"signs"`
	Experts    []column `json:"experts"`
	Sent       []string `json:"sent"` // [rows] a digit for each question
}

// column is what an expert's answers to every question came to.
type column struct {
	Sign       string     `json:"sign"` // a digit for each question
	Right      []int      `json:"right"`
	Of         []int      `json:"of"`
	USD        []float64  `json:"usd"`         // two significant digits
	ReadRight  [][]string `json:"read_right"`  // what right answers were read as; empty text: as the question's Gold
	ReadOthers [][]string `json:"read_others"` // and the others
}

func (s *QuestionSet) columns() columns {
	out := columns{Signs: answerSigns, Experts: make([]column, len(s.Experts)), Sent: make([]string, len(s.Rows))}
	sent, sign := make([]strings.Builder, len(s.Rows)), make([]strings.Builder, len(s.Experts))
	for _, q := range s.Every {
		out.IDs = append(out.IDs, q.ID)
		at := slices.Index(out.Benchmarks, q.Benchmark)
		if at < 0 {
			at = len(out.Benchmarks)
			out.Benchmarks = append(out.Benchmarks, q.Benchmark)
		}
		out.Of = append(out.Of, at)
		for i, m := range q.To {
			sent[i].WriteString(digit(m))
		}
		gold := ""
		for m, t := range q.Cells {
			x := &out.Experts[m]
			var read []string
			for _, text := range t.Readings.Right {
				if slices.Contains(q.Gold, text) && (gold == "" || gold == text) {
					gold, text = text, ""
				}
				read = append(read, text)
			}
			x.ReadRight, x.ReadOthers = append(x.ReadRight, read), append(x.ReadOthers, t.Others)
			right, of := count(t)
			sign[m].WriteString(digit(usual(t)))
			usd, _ := strconv.ParseFloat(strconv.FormatFloat(t.USD, 'e', 1, 64), 64)
			x.Right, x.Of, x.USD = append(x.Right, right), append(x.Of, of), append(x.USD, usd)
		}
		out.Gold = append(out.Gold, gold)
	}
	for i := range sent {
		out.Sent[i] = sent[i].String()
	}
	for m := range sign {
		out.Experts[m].Sign = sign[m].String()
	}
	return out
}

// pack makes the cards of the rows, HTML by anchor, and packs them, and all questions.
func (s *asked) pack() (err error) {
	cards := make([][2]string, 0, len(s.Rows))
	for _, r := range s.Rows {
		var b bytes.Buffer
		if err := pageTemplate().ExecuteTemplate(&b, "card", struct {
			row
			Grid string
		}{r, s.Anchor}); err != nil {
			return err
		}
		cards = append(cards, [2]string{r.Anchor, string(bytes.Map(Harmless, b.Bytes()))})
	}
	if s.Packed, err = packed(cards); err == nil && len(s.Every) > len(s.Rows) {
		s.PackedAll, err = packed(s.columns())
	}
	return err
}

// packed is JSON, compressed by gzip, in base64.
func packed(of any) (string, error) {
	var b bytes.Buffer
	to := base64.NewEncoder(base64.StdEncoding, &b)
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	list := json.NewEncoder(z)
	list.SetEscapeHTML(false) // nothing but the script reads it
	if err := list.Encode(of); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	if err := to.Close(); err != nil {
		return "", err
	}
	return b.String(), nil
}

// disputed is the anchor of the first question of a benchmark that some of the rows have answered right and others not, or else of the
// first that they send to different experts, or else of its first, on which they do not differ; empty: the page has none of it. No benchmark
// in particular is any.
func (s asked) disputed(rows []string, benchmark string) (anchor string, differ bool) {
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
			return q.Anchor, true
		}
		if anchor == "" || len(to) > 1 && !differ {
			anchor, differ = q.Anchor, len(to) > 1
		}
	}
	return anchor, differ
}

// link is where numbers of a table's row lead to: the grid of its set, if that is shown.
func link(sets []asked) func(report.Row) report.Link {
	return func(r report.Row) report.Link {
		keys := map[string]string{}
		for _, k := range r.Keys {
			keys[k.Name] = k.Value
		}
		of, other := cmp.Or(keys["arena"], keys["pool"]), false
		if of == metrics.LargeArena { // nobody answered its questions: the row's other ones are shown
			of, other = metrics.PaperArena, true
		}
		for _, s := range sets {
			if s.Name == of && slices.ContainsFunc(s.QuestionSet.Rows, func(r Routed) bool { return r.ID == keys["method"] }) {
				return report.Link{Href: "#g-" + s.Anchor, Row: keys["method"], Name: other}
			}
		}
		return report.Link{}
	}
}

// Addresses of a server that has the report and the pages beside it.
const (
	ReportPath  = "/"
	StatusPath  = "/status"
	AnswersPath = "/answers/" // answersOf a question
)

// answersOf is the address of the whole answers to a question.
func answersOf(experiment, set, question string) string {
	return AnswersPath + url.PathEscape(experiment) + "/" + url.PathEscape(set) + "/" + url.PathEscape(question)
}
