// Samples of lm-evaluation-harness: a file a task and model, written with --log_samples, beside the results that name the model.

package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// lmFile is how the harness names its files: samples_TASK_TIME.jsonl, and results_TIME.json or what --output_path says for results.
var lmFile = regexp.MustCompile(`^(?:samples_)?(.+)_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.(jsonl?)(?:\.gz)?$`)

// lmRun is what results say of all samples of a run.
type lmRun struct {
	Model  string `json:"model_name"`
	Config struct {
		Settings lmSettings `json:"gen_kwargs"` // of the command; what a task has beside them is the same for every model
	} `json:"config"`
}

// lmSettings are settings, or an empty text where there are none.
type lmSettings struct{ settings }

func (s *lmSettings) UnmarshalJSON(data []byte) error {
	if string(data) == `""` {
		return nil
	}
	return json.Unmarshal(data, &s.settings)
}

type lmSample struct {
	ID        *int64          `json:"doc_id"`
	Target    json.RawMessage `json:"target"`
	Arguments struct {
		First struct {
			Prompt  json.RawMessage `json:"arg_0"`
			Request json.RawMessage `json:"arg_1"` // of a generation an object, of a likelihood the continuation
		} `json:"gen_args_0"`
	} `json:"arguments"`
	Responses [][]json.RawMessage `json:"resps"` // a list a request, with an answer a repeat
	Filter    string              `json:"filter"`
	Metrics   []string            `json:"metrics"`
}

// lmAnswers are what a model answered to a question, from a line a filter.
type lmAnswers struct {
	row          Row
	texts        []string
	filters      map[string]bool
	right, wrong bool // some metric under some filter says so
	nothing      bool // some metric says that nothing is right
}

func lmEvalRows(files []File, o Options, add func(Row) error) ([]string, error) {
	run := func(f File, time string) string { return filepath.Join(filepath.Dir(f.Name), time) }
	runs := map[string]lmRun{}
	var samples []File
	for _, f := range files {
		m := lmFile.FindStringSubmatch(filepath.Base(f.Name))
		if m == nil || m[3] == "jsonl" {
			samples = append(samples, f)
			continue
		}
		data, err := f.Data()
		if err != nil {
			return nil, err
		}
		var r lmRun
		if err := unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s: no results of lm-evaluation-harness: %w", f.Name, err)
		}
		if r.Model == "" {
			return nil, fmt.Errorf("%s: no results of lm-evaluation-harness: model_name is missing", f.Name)
		}
		runs[run(f, m[2])] = r
	}
	if len(samples) == 0 {
		return nil, errors.New("no file of samples; lm_eval writes them with --log_samples")
	}
	likelihoods := 0
	for _, f := range samples {
		of, task := lmRun{}, ""
		if m := lmFile.FindStringSubmatch(filepath.Base(f.Name)); m != nil {
			if of, task = runs[run(f, m[2])], m[1]; of.Model == "" && o.Model == "" {
				return nil, fmt.Errorf("%s: the model is said by the results of %s alone; name their file too, or the model with --model", f.Name, m[2])
			}
		}
		all, without, err := lmRead(f, of, task, o)
		if err != nil {
			return nil, err
		}
		likelihoods += without
		for _, a := range all {
			if a.right != a.wrong && len(a.texts) == 1 { // of several answers nobody knows which one was judged
				a.row.Correct, a.row.Partial = &a.right, a.wrong && !a.nothing
			}
			at := a.row.At
			for i, text := range a.texts {
				if a.row.Response = &text; i > 0 {
					a.row.At = fmt.Sprintf("%s, answer %d", at, i+1)
				}
				if err := add(a.row); err != nil {
					return nil, err
				}
			}
		}
	}
	if likelihoods > 0 {
		return []string{counted(likelihoods, "sample") + ": likelihoods of given texts, and no answer of a model"}, nil
	}
	return nil, nil
}

// lmRead reads the answers of a file, in order, and counts questions to which a model wrote none.
func lmRead(f File, run lmRun, task string, o Options) (all []*lmAnswers, without int, err error) {
	data, err := f.Data()
	if err != nil {
		return nil, 0, err
	}
	known := map[int64]*lmAnswers{} // by doc_id
	err = eachLine(f.Name, data, func(at string, line []byte) error {
		var s lmSample
		var values map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(line, &s), json.Unmarshal(line, &values)); err != nil || s.ID == nil {
			return errors.New("no sample of lm-evaluation-harness: want an object with doc_id, arguments, resps and target")
		}
		a := known[*s.ID]
		if a == nil {
			a = &lmAnswers{filters: map[string]bool{}}
			known[*s.ID] = a
			if a.texts = s.texts(); a.texts == nil {
				without++
			} else {
				r, err := s.row(line, o)
				if err != nil {
					return err
				}
				r.At, r.Benchmark, r.Model, r.Settings = at, task, run.Model, run.Config.Settings.all()
				a.row, all = r, append(all, a)
			}
		}
		if a.filters[s.Filter] {
			return fmt.Errorf("doc_id %d with the filter %q is there already", *s.ID, s.Filter)
		}
		a.filters[s.Filter] = true
		for _, metric := range s.Metrics {
			if v, partial := judged(values[metric], o.CorrectFrom); v != nil {
				a.right, a.wrong, a.nothing = a.right || *v, a.wrong || !*v, a.nothing || !*v && !partial
			}
		}
		return nil
	})
	return all, without, err
}

// texts are the answers of a sample; nil: it has likelihoods in their place.
func (s lmSample) texts() (all []string) {
	if len(s.Responses) != 1 || !strings.HasPrefix(string(s.Arguments.First.Request), "{") {
		return nil
	}
	for _, raw := range s.Responses[0] {
		text, ok := textOf(raw)
		if !ok {
			return nil
		}
		all = append(all, text)
	}
	return all
}

// row is what a sample says of its question.
func (s lmSample) row(line []byte, o Options) (Row, error) {
	r := Row{In: unsaid, Out: unsaid, USD: math.NaN()}
	if o.Problems == nil { // doc_id is a number, and so may be the id of another problem
		r.Question = strconv.FormatInt(*s.ID, 10)
	}
	prompt, ok := textOf(s.Arguments.First.Prompt)
	var chat []string // one text with JSON in it
	if !ok && json.Unmarshal(s.Arguments.First.Prompt, &chat) == nil && len(chat) == 1 {
		var messages []message
		if err := json.Unmarshal([]byte(chat[0]), &messages); err != nil {
			return r, errors.New("the prompt is neither a text nor a list of messages")
		}
		prompt = said(messages)
	}
	r.Problem = prompt
	target, _ := textOf(s.Target)
	if target = strings.TrimSpace(target); strings.HasPrefix(target, "['") || strings.HasPrefix(target, `["`) {
		r.Opaque = true // a list as Python prints it
	} else if target != "" {
		r.Golds = []string{target}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Keys)) {
		path := o.Keys[key]
		v := valueAt(line, path)
		if v.String() == "" {
			return r, fmt.Errorf("%s is to be read from %q, and there is none or it is empty", key, path)
		}
		switch key {
		case "problem":
			r.Problem = v.String()
		case "gold":
			r.Golds, r.Opaque = list(v.String()), false
		case "options":
			if r.Options = list(v.String()); len(r.Options) < 2 {
				return r, fmt.Errorf("options is no list of texts in JSON, such as [\"red\", \"blue\"]: %.60q", v.String())
			}
		}
	}
	return r, nil
}
