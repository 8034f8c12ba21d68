// The folder of a log: the files of a recording, what starting makes of them, and what the audit says; prices that bills tell.

package imports

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"strings"
	"time"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/folder"
	"github.com/entrorouter/entrorouter/harness/starting"
)

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

// Priced returns the prices that are given, and of other models of the log those that explain what was billed.
func (l *Log) Priced(given map[string]starting.Price) map[string]starting.Price {
	out := map[string]starting.Price{}
	maps.Copy(out, given)
	for m, model := range l.Models {
		if _, ok := given[model.Model]; ok {
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
			out[model.Model] = starting.Price{Price: p, Inferred: true}
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
			x := outcome{ID: of.ID, Model: model.Model, Settings: model.Named()}
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

// Write makes a folder of the recording, of an experiment on it and of what the audit says, and returns what starting wrote with
// all files of the folder. The folder is made by folder.Make.
func (l *Log) Write(ctx context.Context, dir, name string, o starting.Origin, findings []Finding, now time.Time) (b starting.Beginning, err error) {
	queries, outcomes, err := l.Lines()
	if err != nil {
		return b, err
	}
	if which := l.estimated(); which != "" {
		o.Note = which + " are counted in characters"
	}
	o.Folder = dir
	recorded := []starting.File{{Name: starting.Queries, Data: queries}, {Name: starting.Outcomes, Data: outcomes}}
	err = folder.Make(dir, func(temporary string) error {
		if err := starting.Write(temporary, recorded); err != nil {
			return err
		}
		if b, err = starting.Recorded(ctx, temporary, name, o, now); err != nil {
			return err
		}
		b.Files = append(b.Files, starting.File{Name: "audit.txt", Data: []byte(Report(findings, l.Left))})
		if err := starting.Write(temporary, b.Files); err != nil {
			return err
		}
		b.Files = append(recorded, b.Files...)
		return nil
	})
	return b, err
}
