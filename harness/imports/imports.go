// Package imports brings the logs of other programs into the format of recordings (recording.Table): questions, and what
// models answered to them, graded again where an answer and a gold are there. What a log cannot support is said by an audit.
//
// Where things are: row.go has the rows that every format gives, and this file how they become a log; formats.go lists the formats,
// and inspect.go, openai.go, gym.go, omnis.go, lmeval.go and rows.go read one each; problems.go finds the questions of logs that lack them; audit.go looks for
// what would spoil a comparison; write.go makes the folder of a log.
package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/verify"
)

// Log is what was read: questions, models and answers.
type Log struct {
	Questions []Question
	Models    []recording.Candidate // in order
	Answers   [][][]Answer          // [question][model][run]; none: it was not asked
	Left      []string              // what was left out, a sentence each
	Estimated map[string]int        // of which tokens, input or output, characters over Options.CharsPerToken stand in the place, and of how many answers
	Partial   int                   // answers that are wrong since their score is below 1
	After     int                   // answers to the last question of a conversation
	columns   bool                  // it is a table, whose columns a user may name
}

// Question is a question of a log.
type Question struct {
	ID, Benchmark, Split, Problem string
	Golds, Options                []string
	crosses                       bool // answers to it are in another split, too
	at                            string
}

// Answer is a completion, graded.
type Answer struct {
	Correct   bool
	Published *bool // what the log says
	Graded    bool  // the verifier has a verdict that is not unknown
	Verified  bool  // and says that it is right
	Unknown   bool  // the verifier looked at it and could not tell
	NoAnswer  bool
	In, Out   int64
	USD       float64 // NaN: unknown
	Finish    string
	Chars     int    // of the response; -1: the log has none
	Text      uint64 // hash of the response
	System    uint64 // hash of the instructions that the question was sent with
	At        string
}

// Read reads the files of a log and grades what it says.
func (f Format) Read(ctx context.Context, files []File, o Options) (*Log, error) {
	c := collector{ctx: ctx, o: o, log: &Log{Estimated: map[string]int{}, columns: slices.Contains(f.Keys, "prompt_tokens")}, at: map[string]int{}, ids: map[string]bool{}, models: map[recording.Candidate]int{}, benchmarks: map[string]string{}, named: map[string]bool{}}
	if o.CorrectFrom == 0 {
		c.o.CorrectFrom = 1
	}
	left, err := f.rows(files, c.o, c.add)
	if err != nil {
		return nil, err
	}
	if c.unnamed > 0 {
		left = append(left, fmt.Sprintf("%s: their question is not among those of the problems", counted(c.unnamed, "answer")))
	}
	c.log.Left = left
	if len(c.log.Questions) == 0 && c.unnamed > 0 {
		return nil, fmt.Errorf("the log has %s, and none of their questions is in %s: the first one is to %s, and %s begins with %s", counted(c.unnamed, "answer"), o.Problems.file, c.unknown, o.Problems.file, o.Problems.first())
	}
	if len(c.log.Questions) == 0 {
		why := ""
		if len(left) > 0 {
			why = "; left out: " + strings.Join(left, "; ")
		}
		return nil, fmt.Errorf("no answer in %s%s", those(files), why)
	}
	c.log.sort()
	return c.log, nil
}

// collector makes a log of rows.
type collector struct {
	ctx        context.Context
	o          Options
	log        *Log
	at         map[string]int  // key of a question -> its position
	ids        map[string]bool // of questions
	models     map[recording.Candidate]int
	benchmarks map[string]string // what the log calls a benchmark -> its name
	named      map[string]bool   // these names
	unnamed    int               // answers to questions that the problems lack
	unknown    string            // the first of these questions
}

// add takes a row in.
func (c *collector) add(r Row) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", r.At, fmt.Errorf(format, args...))
	}
	if c.o.Problems != nil && !c.o.Problems.fill(&r) {
		if c.unnamed++; c.unnamed == 1 {
			c.unknown = example(cmp.Or(r.Question, r.name), r.Problem)
		}
		return nil
	}
	r.Model = strings.TrimSpace(cmp.Or(r.Model, c.o.Model))
	r.Benchmark = c.benchmark(cmp.Or(r.Benchmark, c.o.Benchmark, recording.Whole))
	switch {
	case r.Model == "":
		return wrong("which model answered is not said; name it with --model")
	case !spec.Printable(r.Model):
		return wrong("the name of the model, %q, holds a character that does not print; take it out, or name the model with --model", r.Model)
	case !spec.Printable(r.Question):
		named := ""
		if c.log.columns {
			named = ", or name another column with --key query_id=COLUMN"
		}
		return wrong("the id of the question, %q, holds a character that does not print; take it out%s", r.Question, named)
	case strings.TrimSpace(r.Problem) == "" && c.o.Keys["problem"] != "":
		return wrong("the question has no text where it is to be read from, %q; name where it is with --key problem=KEY, or give the questions with --problems", c.o.Keys["problem"])
	case strings.TrimSpace(r.Problem) == "":
		named := ""
		if c.log.columns {
			named = "name its column with --key problem=COLUMN, or "
		}
		return wrong("the question has no text; %sgive the questions with --problems", named)
	case !utf8.ValidString(r.Problem):
		return wrong("the question is not UTF-8; convert the file")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		if !spec.Printable(name + r.Settings[name]) {
			return wrong("the setting %s, %q, holds a character that does not print; take it out", name, r.Settings[name])
		}
	}
	switch strings.ToLower(r.Finish) {
	case "max_tokens", "max_output_tokens", "model_length": // as Anthropic and Google, and inspect_ai, say it
		r.Finish = "length"
	}
	q, err := c.question(r)
	if err != nil {
		return wrong("%w", err)
	}
	a := Answer{Published: r.Correct, In: r.In, Out: r.Out, USD: r.USD, Finish: r.Finish, Chars: -1, System: seed.Hash(r.System), At: r.At}
	if r.Response != nil {
		a.Chars, a.Text = utf8.RuneCountInString(*r.Response), seed.Hash(*r.Response)
	}
	if r.After {
		c.log.After++
	}
	if err := c.tokens(&a, r); err != nil {
		return wrong("%w", err)
	}
	if err := c.grade(&a, r); err != nil {
		return wrong("%w", err)
	}
	m := recording.CandidateOf(r.Model, r.Settings)
	at, ok := c.models[m]
	if !ok {
		at = len(c.log.Models)
		c.models[m] = at
		c.log.Models = append(c.log.Models, m)
	}
	for len(c.log.Answers[q]) <= at {
		c.log.Answers[q] = append(c.log.Answers[q], nil)
	}
	c.log.Answers[q][at] = append(c.log.Answers[q][at], a)
	return nil
}

// benchmark is the name of one, which no other has: C++ and C# are two.
func (c *collector) benchmark(said string) string {
	name, known := c.benchmarks[said]
	if known {
		return name
	}
	plain := cmp.Or(spec.Plain(said), "benchmark")
	name = plain
	for n := 2; c.named[name]; n++ {
		name = fmt.Sprintf("%s-%d", plain, n)
	}
	c.benchmarks[said], c.named[name] = name, true
	return name
}

// question finds the question of a row or makes it.
func (c *collector) question(r Row) (int, error) {
	id := r.Question
	if id == "" {
		id = fmt.Sprintf("%016x", seed.Hash(strings.Join(append([]string{strings.TrimSpace(r.Problem)}, slices.Sorted(slices.Values(r.Options))...), "\x00")))
	}
	if !strings.HasPrefix(id, r.Benchmark) {
		id = r.Benchmark + "-" + id
	}
	key := r.Benchmark + "\x00" + id
	at, ok := c.at[key]
	if !ok {
		plain := id
		for n := 2; c.ids[id]; n++ { // which a question of another benchmark has
			id = fmt.Sprintf("%s-%d", plain, n)
		}
		c.ids[id] = true
		c.at[key] = len(c.log.Questions)
		c.log.Questions = append(c.log.Questions, Question{ID: id, Benchmark: r.Benchmark, Split: r.Split, Problem: r.Problem, Golds: r.Golds, Options: r.Options, at: r.At})
		c.log.Answers = append(c.log.Answers, nil)
		return c.at[key], nil
	}
	before, now := &c.log.Questions[at], r
	id = before.ID
	shuffled := reordered(before.Options, now.Options)
	switch {
	case strings.TrimSpace(before.Problem) != strings.TrimSpace(now.Problem) || !shuffled && !slices.Equal(before.Options, now.Options):
		return 0, fmt.Errorf("question %q reads otherwise than at %s; give two questions two ids, or one question one text with --problems", id, before.at)
	case shuffled && !slices.Equal(spelled(before.Golds, before.Options), spelled(now.Golds, now.Options)):
		return 0, fmt.Errorf("question %q has the gold %q here and %q at %s, of options in another order; give the golds with --problems, each once", id, now.Golds, before.Golds, before.at)
	case !shuffled && !slices.Equal(before.Golds, now.Golds):
		return 0, fmt.Errorf("question %q has the gold %q here and %q at %s; give the golds with --problems, each once", id, now.Golds, before.Golds, before.at)
	}
	before.crosses = before.crosses || before.Split != "" && now.Split != "" && now.Split != before.Split
	before.Split = cmp.Or(before.Split, now.Split)
	return at, nil
}

// tokens fills in what the log does not say.
func (c *collector) tokens(a *Answer, r Row) error {
	switch nothing := a.Out == unsaid && a.Chars < 0; {
	case nothing && c.log.columns:
		return errors.New("neither the output tokens nor the text of the response is there; name a column of either with --key output_tokens=COLUMN or --key response=COLUMN, or leave the line out")
	case nothing:
		return errors.New("neither the output tokens nor the text of the response is there; leave it out")
	}
	estimate := func(n *int64, what, key, text string, characters int) error {
		switch {
		case *n >= 0 && *n <= cost.MaxTokens:
			return nil
		case *n != unsaid:
			return fmt.Errorf("%d %s tokens; want 0 to %d", *n, what, cost.MaxTokens)
		case c.o.CharsPerToken == 0:
			said := fmt.Sprintf("the %s tokens are not said; ", what)
			if column := c.o.Keys[key]; column != "" {
				said = fmt.Sprintf("%s says no %s tokens; ", column, what)
			} else if c.log.columns {
				said += fmt.Sprintf("name their column with --key %s=COLUMN, or ", key)
			}
			return fmt.Errorf("%s--chars-per-token 4 counts the characters of the %s in their place", said, text)
		}
		*n = int64(math.Round(float64(characters) / c.o.CharsPerToken))
		*n = max(*n, int64(min(characters, 1))) // what is written has a token
		c.log.Estimated[what]++
		return nil
	}
	question := utf8.RuneCountInString(r.Problem)
	for _, o := range r.Options {
		question += utf8.RuneCountInString(o)
	}
	if err := estimate(&a.In, "input", "prompt_tokens", "question", question); err != nil {
		return err
	}
	return estimate(&a.Out, "output", "output_tokens", "response", a.Chars)
}

// estimated names the tokens that are estimated, and of how many answers if not of all; empty: none are.
func (l *Log) estimated() string {
	if len(l.Estimated) == 0 {
		return ""
	}
	words := strings.Join(slices.Sorted(maps.Keys(l.Estimated)), " and ") + " tokens"
	counts, all := slices.Sorted(maps.Values(l.Estimated)), l.Count(false).Answers
	switch least, most := counts[0], counts[len(counts)-1]; {
	case least == all:
		return words
	case least < most:
		return fmt.Sprintf("%s of up to %d of %d answers", words, most, all)
	default:
		return fmt.Sprintf("%s of %d of %d answers", words, most, all)
	}
}

// grade says whether an answer is right: by the verifier where it can tell, or else as published. One that a limit cut is wrong.
func (c *collector) grade(a *Answer, r Row) error {
	if len(r.Golds) > 0 && r.Response != nil && !r.Opaque {
		v := verify.Key{Gold: r.Golds, Options: r.Options, Question: r.Problem}.Grade(*r.Response)
		a.Graded, a.Verified, a.Unknown = v.Outcome != verify.OutcomeUnknown, v.Outcome == verify.OutcomeEqual, v.Outcome == verify.OutcomeUnknown
		a.NoAnswer = v.Reason == verify.ReasonNoAnswer
	}
	switch {
	case a.Published != nil && (c.o.Keep || !a.Graded):
		a.Correct = *a.Published
		if r.Partial {
			c.log.Partial++
		}
	case a.Graded || a.Unknown:
		a.Correct = a.Verified
	default:
		if !c.log.columns {
			return errors.New("nothing says whether the answer is right: there is no label, such as a score from 0 to 1, or further with --correct-from above 1, and no gold with a response; give the golds with --problems, or leave it out")
		}
		named := ""
		if c.o.Keys["correct"] == "" {
			named = "name a column of labels with --key correct=COLUMN, "
		}
		return fmt.Errorf("nothing says whether the answer is right: there is no label, and no gold with a response; %sgive the golds with --problems, or leave the line out", named)
	}
	if a.Finish == "length" {
		a.Correct = false
	}
	a.NoAnswer = a.NoAnswer && !a.Correct
	return nil
}

// sort puts models in order; questions stay in that of the files.
func (l *Log) sort() {
	before := slices.Clone(l.Models)
	slices.SortFunc(l.Models, recording.Compare)
	for q, of := range l.Answers {
		row := make([][]Answer, len(l.Models))
		for m, answers := range of {
			row[slices.Index(l.Models, before[m])] = answers
		}
		l.Answers[q] = row
	}
}

// Counts are what a log has.
type Counts struct {
	Benchmarks, Answers          int
	Verified, Published, Unknown int // answers by who graded them: the verifier, the log, nobody, which counts as wrong
}

// Count counts the answers of a log by who graded them.
func (l *Log) Count(keep bool) (n Counts) {
	benchmarks := map[string]bool{}
	for q, of := range l.Answers {
		benchmarks[l.Questions[q].Benchmark] = true
		for _, runs := range of {
			for _, a := range runs {
				n.Answers++
				switch {
				case a.Published != nil && (keep || !a.Graded):
					n.Published++
				case a.Graded:
					n.Verified++
				default:
					n.Unknown++
				}
			}
		}
	}
	n.Benchmarks = len(benchmarks)
	return n
}
