// What a policy that writes is taught to write: rationales of Stage I, from a teacher.

package stages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/generate"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/table"
	"github.com/entrorouter/entrorouter/harness/train"
)

// Teacher returns the model that is asked for rationales; ok is false where nobody is.
func (t *Training) Teacher() (x experts.Endpoint, ok bool) {
	if !t.Policy.Reasons() || t.With.Teacher == nil {
		return x, false
	}
	return t.With.Teacher.Endpoint, true
}

// writer is the server of the spec that writes for a row's policy, to which a training hands adapters over in its folder and a router in
// that of the run; nil: there is none, and the policy does. Where it cannot be asked, that is an error of the first text, so that a
// router may be loaded for its weights alone.
func (t *Training) writer(work routing.Work) policy.Write {
	s, err := t.writerServer(work)
	switch {
	case err != nil:
		return func(context.Context, *policy.Model, []string, []policy.Row, int, bool, seed.Seed) ([]policy.Row, error) {
			return nil, err
		}
	case s == nil:
		return nil
	}
	return s.Write
}

// LookAtWriter finds out whether the server of the spec that writes for a row's policy can do it, before anything is paid. It returns the
// server's address and version; none if no server writes.
func (t *Training) LookAtWriter(ctx context.Context, pool []routing.Expert) (url, version string, err error) {
	s, err := t.writerServer(routing.Work{})
	if s == nil || err != nil {
		return "", "", err
	}
	p, err := t.With.Models.New(t.With.Backend, t.Policy, Shown(pool))
	if err != nil {
		return "", "", err
	}
	version, err = s.Look(ctx, p)
	return s.URL, version, err
}

// writerServer is that server, to which adapters are handed over in the folder of the spec, or of the work, or of the run; nil: there is none.
func (t *Training) writerServer(work routing.Work) (*generate.Server, error) {
	w := t.With.Writer
	if w == nil || !t.Policy.Reasons() {
		return nil, nil
	}
	s := &generate.Server{URL: w.URL, Folder: cmp.Or(w.Folder, work.Unfinished, work.Dir, t.With.Handover), Flight: w.Flight}
	if w.KeyEnv != "" {
		if s.Key = os.Getenv(w.KeyEnv); s.Key == "" {
			return nil, fmt.Errorf("the environment variable %s, which is to hold the key of %s, is not set", w.KeyEnv, w.URL)
		}
	}
	if s.Folder == "" {
		return nil, errors.New("there is no folder for the adapters of its writer; set writer.folder")
	}
	return s, nil
}

// The teacher's prompt is ours: the paper names the two models that wrote its exemplar and its rationales (appendix C.1), and prints
// neither. The exemplar is in the task; its subject is no benchmark's.
const (
	rationaleTask = `Below are language models, cheapest first, and a problem with the model that should answer it. Write the analysis that a reader of the problem would make before that choice: what it is about, how much work it takes, and what makes it easy or hard. Do not solve it, do not name a model, and do not say that the choice was given. One paragraph of at most %d words.

An example, for the problem "How many squares are on a chessboard?": Counting with a small trap. It asks for squares of every size, so one sum over eight sizes is needed, each term a simple product. No theory beyond that, and little room for slips.`
	rationaleForm = `Write the analysis first. Then end with that choice as JSON, on a line of its own.`
)

// wordsPerToken is what the teacher is told of the bound: a word is seldom more than two tokens.
const wordsPerToken = 0.5

// rationale is one that was asked for.
type rationale struct {
	Problem  string // id
	Expert   string // whose choice it leads to: the likeliest of the target, m_best
	Copy     int    // from 0; a problem that only the strongest solves has two
	Attempts int    // how often the teacher was asked
	Fault    string // why the last text was not used; empty: it was
	Text     string // the last text, without the choice behind it
	tokens   []int32
}

// Faults of rationales.
const (
	otherChoice  = "another choice"
	namesExpert  = "names a model"
	sameText     = "the same text again"
	emptyText    = "no text"
	tooManyToken = "too long"
)

// writeRationales writes a table of rationales.
func writeRationales(w io.Writer, all []rationale) error {
	return table.Write(w, []table.Column[rationale]{
		table.Text("problem", func(r *rationale) *string { return &r.Problem }),
		table.Text("expert", func(r *rationale) *string { return &r.Expert }),
		table.Int("copy", func(r *rationale) *int { return &r.Copy }),
		table.Int("attempts", func(r *rationale) *int { return &r.Attempts }),
		table.Text("fault", func(r *rationale) *string { return &r.Fault }),
		table.Text("text", func(r *rationale) *string { return &r.Text }),
	}, all)
}

// rationalesFile is where a fit leaves what its policy was taught to write.
const rationalesFile = "rationales.csv"

// cutReward is that of a text that was cut before it came to a choice: what an expert earns that never solves the problem.
func cutReward(r spec.Reward) float64 {
	if r.Kind == "sparse" {
		return 0
	}
	return r.Fail
}

// taught returns the examples with the rationale of each, as rows that a policy that writes could have written. A problem that
// weighs more than 1, which is one that only the strongest solves, is two examples of half the weight with different rationales.
// What the teacher cannot be brought to write is left out. Other policies' examples are as they were.
//
// The paper has a rationale of the pairs (x, m_best) alone, and soft labels over two experts: here the label behind a rationale is the
// whole soft target.
func (t *Training) taught(ctx context.Context, reader policy.Policy, set routing.TrainSet, examples []train.Example, work routing.Work) ([]train.Example, error) {
	writer, ok := policy.WriterOf(reader)
	if !ok {
		return examples, nil
	}
	if t.With.Teacher == nil || t.With.Teacher.Servers == nil {
		return nil, errors.New("the teacher of its rationales cannot be asked here")
	}
	var all []rationale
	var of []int // the index of each one's example
	for i, x := range examples {
		if x.Weight <= 0 {
			continue
		}
		best := slices.Index(x.Prob, slices.Max(x.Prob))
		for k := range copies(x) {
			all, of = append(all, rationale{Problem: x.ID, Expert: set.Experts[best].ID, Copy: k, Fault: emptyText}), append(of, i)
		}
	}
	for attempt := range t.With.Teacher.Attempts {
		if err := t.askTeacher(ctx, writer, set, all, of, attempt); err != nil {
			return nil, err
		}
	}
	if work.Dir != "" {
		if err := write(filepath.Join(work.Dir, rationalesFile), func(w io.Writer) error { return writeRationales(w, all) }); err != nil {
			return nil, err
		}
	}
	var kept []train.Example
	for k, r := range all {
		if r.Fault != "" {
			continue
		}
		x := examples[of[k]]
		if other := twin(all, k); other != nil && other.Fault == "" {
			x.ID, x.Weight = fmt.Sprintf("%s rationale %d", x.ID, r.Copy+1), x.Weight/2
		}
		x.Row.Written = r.tokens
		kept = append(kept, x)
	}
	work.Log.Info("rationales", "method", t.With.Name, "wanted", len(all), "used", len(kept))
	if kept == nil {
		return nil, &routing.Unfit{Why: fmt.Sprintf("none of the %d rationales of Stage I that %s wrote can be used; the last one's fault: %s", len(all), t.With.Teacher.Model, all[len(all)-1].Fault)}
	}
	return kept, nil
}

// copies is how many rationales an example has.
func copies(x train.Example) int {
	if x.Weight > 1 {
		return 2
	}
	return 1
}

// twin is the other rationale of a problem that has two, which stand one behind the other; nil: it has one.
func twin(all []rationale, k int) *rationale {
	other := k + 1 - 2*all[k].Copy
	if other < len(all) && all[other].Problem == all[k].Problem {
		return &all[other]
	}
	return nil
}

// askTeacher asks for every rationale that is still wanted, one attempt of each.
func (t *Training) askTeacher(ctx context.Context, writer policy.Writer, set routing.TrainSet, all []rationale, of []int, attempt int) error {
	teacher := t.With.Teacher
	ids := routing.IDs(set.Experts)
	candidates := make([]experts.Candidate, len(ids))
	for m, x := range set.Experts {
		candidates[m] = experts.Candidate{ID: x.ID, Billions: x.Params, In: x.Price.In, Out: x.Price.Out}
	}
	task := fmt.Sprintf(rationaleTask, max(1, int(wordsPerToken*float64(t.Policy.Writes.Tokens))))
	for _, expert := range ids {
		var wanted []int
		var asks []experts.Ask
		for k, r := range all {
			if r.Expert == expert && r.Fault != "" {
				text := set.SFT[of[k]].Problem.Text
				wanted = append(wanted, k)
				asks = append(asks, experts.Ask{Text: text, Run: r.Copy, Seed: teacher.Seed.Derive("rationale", teacher.Model, text, expert, r.Copy, attempt)})
			}
		}
		if asks == nil {
			continue
		}
		template, err := experts.RationalePrompt(task, candidates, expert, rationaleForm)
		if err != nil {
			return err
		}
		answers, err := teacher.Servers.Ask(ctx, teacher.Endpoint, spec.Sampling{Temperature: teacher.Temperature, TopP: teacher.TopP, Prompt: template}, asks)
		if err != nil {
			return fmt.Errorf("teacher: %w", err)
		}
		for i, k := range wanted {
			r := &all[k]
			r.Attempts++
			r.Text, r.Fault = readRationale(answers[i].Text, expert, ids)
			if r.Fault != "" {
				continue
			}
			if other := twin(all, k); other != nil && other.Fault == "" && other.Text == r.Text {
				r.Fault = sameText
				continue
			}
			if r.tokens, err = writer.Compose(r.Text); err != nil {
				return err
			}
			if r.tokens == nil {
				r.Fault = tooManyToken
			}
		}
	}
	return nil
}

// readRationale returns the analysis in a teacher's answer, on one line, and why it is of no use; empty: it is. The last line of an
// answer names the choice in JSON; thinking before </think> is no part of it.
func readRationale(answer, expert string, ids []string) (text, fault string) {
	answer = strings.TrimSpace(experts.BehindThinking(answer))
	cut := strings.LastIndex(answer, "\n") + 1
	var choice experts.Choice
	err := json.Unmarshal([]byte(answer[cut:]), &choice)
	if err == nil {
		text = strings.Join(strings.Fields(answer[:cut]), " ")
	}
	switch {
	case err != nil || choice.Model != expert:
		return text, otherChoice
	case text == "":
		return text, emptyText
	case len(experts.Mentioned(text, ids)) > 0:
		return text, namesExpert
	}
	return text, ""
}
