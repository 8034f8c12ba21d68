// The folder of a pool: the files of a recording, a pool and a price list beside a spec that runs them, and what the audit says.

package imports

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Pool is what a recording is to be called and where it is from.
type Pool struct {
	Name    string // of the pool, the price list, the spec and its table
	Source  string // one line
	Licence string
	Date    string // of the price list, YYYY-MM-DD
	Prices  map[string]Price
}

// Price is what a model costs and how that is known.
type Price struct {
	cost.Price
	Inferred bool // from what was billed; otherwise it was given
}

// infer finds the prices that explain what was billed for every answer to one part in a hundred, in USD per million tokens.
// ok is false where nothing was billed or no prices do.
func infer(in, out []int64, usd []float64) (p cost.Price, ok bool) {
	var ii, io, oo, iu, ou float64
	for k := range usd {
		i, o, u := float64(in[k]), float64(out[k]), usd[k]*1e6
		ii, io, oo, iu, ou = ii+i*i, io+i*o, oo+o*o, iu+i*u, ou+o*u
	}
	det := ii*oo - io*io
	if len(usd) < 3 || det <= 1e-9*ii*oo {
		return p, false
	}
	round := func(x float64) float64 { return math.Round(x*1e4) / 1e4 }
	p = cost.Price{In: round((iu*oo - ou*io) / det), Out: round((ou*ii - iu*io) / det)}
	if p.In < 0 || p.Out <= 0 {
		return p, false
	}
	for k := range usd {
		if want := p.USD(cost.Usage{In: in[k], Out: out[k]}, true); math.Abs(usd[k]-want) > 0.01*want+1e-9 {
			return p, false
		}
	}
	return p, true
}

// Priced returns the prices of the models of a log: those given, or those that explain what was billed. Others have none.
func (l *Log) Priced(given map[string]cost.Price) map[string]Price {
	out := map[string]Price{}
	for m, model := range l.Models {
		if p, ok := given[model.Model]; ok {
			out[model.Model] = Price{p, false}
			continue
		}
		var in, tokens []int64
		var usd []float64
		for _, of := range l.Answers {
			for _, a := range of[m] {
				if !math.IsNaN(a.USD) {
					in, tokens, usd = append(in, a.In), append(tokens, a.Out), append(usd, a.USD)
				}
			}
		}
		if p, ok := infer(in, tokens, usd); ok {
			out[model.Model] = Price{p, true}
		}
	}
	return out
}

// query and outcome are lines of a recording.
type query struct {
	ID        string   `json:"query_id"`
	Benchmark string   `json:"benchmark"`
	Problem   string   `json:"problem"`
	Gold      string   `json:"gold,omitempty"`
	Options   []string `json:"options,omitempty"`
}

type outcome struct {
	ID       string            `json:"query_id"`
	Model    string            `json:"model"`
	Settings map[string]string `json:"settings,omitempty"`
	Correct  []int             `json:"correct"`
	In       []int64           `json:"prompt_tokens"`
	Out      []int64           `json:"output_tokens"`
	NoAnswer []int             `json:"no_answer"`
	Finish   []string          `json:"finish"`
}

// Lines returns the lines of the two files of the recording.
func (l *Log) Lines() (queries, outcomes []byte, err error) {
	var q, o bytes.Buffer
	lines, more := json.NewEncoder(&q), json.NewEncoder(&o)
	lines.SetEscapeHTML(false)
	more.SetEscapeHTML(false)
	for i, of := range l.Questions {
		if err := lines.Encode(query{of.ID, of.Benchmark, of.Problem, strings.Join(of.Golds, " | "), of.Options}); err != nil {
			return nil, nil, err
		}
		for m, model := range l.Models {
			if len(l.Answers[i][m]) == 0 {
				continue
			}
			x := outcome{ID: of.ID, Model: model.Model, Settings: settingsOf(model)}
			for _, a := range l.Answers[i][m] {
				x.Correct, x.NoAnswer = append(x.Correct, bit(a.Correct)), append(x.NoAnswer, bit(a.NoAnswer))
				x.In, x.Out, x.Finish = append(x.In, a.In), append(x.Out, a.Out), append(x.Finish, a.Finish)
			}
			if err := more.Encode(x); err != nil {
				return nil, nil, err
			}
		}
	}
	return q.Bytes(), o.Bytes(), nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// settingsOf reads the settings of a candidate back.
func settingsOf(c recording.Candidate) map[string]string {
	all := map[string]string{}
	for _, s := range strings.Fields(c.Settings) {
		name, value, _ := strings.Cut(s, "=")
		all[name] = value
	}
	return all
}

// Write makes a folder of the recording, of a pool and what it needs, and of what the audit found. The folder must be empty or
// not there yet, and is whole or not made.
func (l *Log) Write(dir string, p Pool, findings []Finding) (err error) {
	if held, err := os.ReadDir(dir); err == nil && len(held) > 0 {
		return fmt.Errorf("%w: %s holds %s already; name a folder that is empty or not there yet", spec.ErrUsage, dir, held[0].Name())
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	queries, outcomes, err := l.Lines()
	if err != nil {
		return err
	}
	temporary := filepath.Clean(dir) + ".part"
	if err := os.RemoveAll(temporary); err != nil { // of a process that was killed
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	pool, err := l.pool(p, queries, outcomes)
	if err != nil {
		return err
	}
	prices, err := l.prices(p)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"queries.jsonl": queries, "outcomes.jsonl": outcomes, "pools/" + p.Name + ".yaml": pool, "prices/" + p.Name + ".yaml": prices,
		p.Name + ".yaml": l.spec(p), "audit.txt": []byte(Report(findings, l.Left)),
	} {
		path := filepath.Join(temporary, filepath.FromSlash(name))
		if err := store.WriteTo(path, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // empty: a folder is renamed over one on some systems only
		return err
	}
	return os.Rename(temporary, dir)
}

var inIDs = regexp.MustCompile(`[^a-z0-9.-]+`)

// ids are names for the models in specs: the last part of each where that tells them apart.
func (l *Log) ids() []string {
	short := make([]string, len(l.Models))
	for m, c := range l.Models {
		name := c.Model[strings.LastIndex(c.Model, "/")+1:]
		if l.several(c.Model) {
			name = c.Model[strings.LastIndex(c.Model, "/")+1:] + "-" + c.Settings
		}
		short[m] = strings.Trim(inIDs.ReplaceAllString(strings.ToLower(name), "-"), "-.")
	}
	for m, id := range short {
		if id == "" || slices.Index(short, id) != m {
			short[m] = fmt.Sprintf("model-%d", m+1)
		}
	}
	return short
}

// several says whether a model was asked under several settings.
func (l *Log) several(model string) bool {
	n := 0
	for _, c := range l.Models {
		if c.Model == model {
			n++
		}
	}
	return n > 1
}

func (l *Log) pool(p Pool, queries, outcomes []byte) ([]byte, error) {
	file := func(path string, data []byte) spec.File {
		return spec.File{Path: path, SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Source: p.Source, Licence: p.Licence}
	}
	pool := spec.Pool{Name: p.Name, Kind: "recorded", Recorded: &spec.Recorded{Queries: file("queries.jsonl", queries), Outcomes: file("outcomes.jsonl", outcomes), Gaps: "drop"}}
	if l.Estimated {
		pool.Recorded.Note = "tokens are counted in characters"
	}
	ids := l.ids()
	for m, c := range l.Models {
		x := spec.Expert{ID: ids[m], Model: c.Model}
		if l.several(c.Model) {
			x.Settings = settingsOf(c)
		}
		pool.Experts = append(pool.Experts, x)
	}
	return commented("Written by 'entrorouter import'. Questions that not every expert here answered are left out.", pool)
}

func (l *Log) prices(p Pool) ([]byte, error) {
	list := spec.Prices{Date: p.Date, Basis: "assumed", Source: "given with 'entrorouter import'", Models: map[string]cost.Price{}}
	inferred := 0
	var unknown []string
	for _, c := range l.Models {
		switch price, ok := p.Prices[c.Model]; {
		case !ok && !slices.Contains(unknown, c.Model):
			unknown = append(unknown, c.Model)
		case ok:
			list.Models[c.Model] = price.Price
			inferred += bit(price.Inferred)
		}
	}
	if inferred > 0 {
		list.Source += "; of " + counted(inferred, "model") + " inferred from what was billed for each answer"
		if inferred == len(l.Models) {
			list.Basis, list.Source = "inferred", "what was billed for each answer of "+p.Source
		}
	}
	text := "USD per million tokens. Written by 'entrorouter import'."
	for _, model := range unknown {
		text += fmt.Sprintf("\nUnknown, to be filled in below models: %q: {in: , out: }", model)
	}
	return commented(text, list)
}

// spec is an experiment on the pool: the rows of recorded.yaml, with what a pool of unknown models needs.
func (l *Log) spec(p Pool) []byte {
	kappa := "k5"
	if l.repeats() {
		kappa = "runs"
	}
	return fmt.Appendf(nil, `# Written by 'entrorouter import'. Run it with 'entrorouter run DIR/%[1]s.yaml --data DIR'.
name: %[1]s
base: recorded.yaml
title: Imported answers
pools: [%[1]s]
prices: %[1]s
targets: {strongest: accuracy, gate: false}   # measured on the training questions; no model is known to be weak
reward: {strongest_kappa: measured}
folds: {kappa: %[2]s, probe: none, whole: true}
outputs:
  - {kind: table, file: %[1]s}
`, p.Name, kappa)
}

// repeats says whether a model was asked a question several times.
func (l *Log) repeats() bool {
	for _, of := range l.Answers {
		for _, runs := range of {
			if len(runs) > 1 {
				return true
			}
		}
	}
	return false
}

// commented writes YAML under a comment.
func commented(comment string, v any) ([]byte, error) {
	var b bytes.Buffer
	for line := range strings.Lines(comment) {
		b.WriteString("# " + line)
	}
	b.WriteString("\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}
