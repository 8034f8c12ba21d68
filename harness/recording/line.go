// The lines of a recording in the layouts that are known.

package recording

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

var (
	queryKeys   = []string{"query_id", "benchmark", "problem", "gold", "prompt_tokens", "options"}
	outcomeKeys = []string{"query_id", "model", "correct", "output_tokens", "no_answer", "finish", "run", "runs", "pass_rate", "settings", "prompt_tokens"}
)

// lineFormat reads one kind of line.
type lineFormat struct {
	spec.Format
	repeats  bool              // one file holds queries and outcomes, so a query may stand on several lines
	known    []string          // keys of the files that are read
	skip     []string          // keys of the files that are not
	rename   map[string]string // key of the files -> key of Table
	where    map[string]*regexp.Regexp
	together bool // the tokens of a prompt are the query's
}

// newLineFormat returns the format of lines with the given keys; together says that a file has both kinds.
func newLineFormat(f *spec.Format, keys []string, together bool) (lineFormat, error) {
	l := lineFormat{rename: map[string]string{}}
	if f != nil {
		l.Format = *f
	}
	l.together = together
	both := slices.Concat(queryKeys, outcomeKeys[1:len(outcomeKeys)-1]) // they share the id and the tokens of a prompt
	for _, key := range slices.Sorted(maps.Keys(l.Keys)) {
		if !slices.Contains(both, key) {
			return l, fmt.Errorf("format.keys: a recording has no key %q; it has: %s", key, list(both))
		}
	}
	l.where = map[string]*regexp.Regexp{}
	for key, pattern := range l.Where {
		at, err := regexp.Compile(pattern)
		if err != nil {
			return l, fmt.Errorf("format.where.%s: %q is not a pattern: %w", key, pattern, err)
		}
		l.where[key] = at
	}
	l.skip = l.Ignore
	l.repeats = together && l.Layout != "wide"
	for _, key := range both {
		name := key
		if other, ok := l.Keys[key]; ok {
			name = other
		}
		switch {
		case slices.Contains(keys, key):
			if twice, ok := l.rename[name]; ok && twice != key {
				return l, fmt.Errorf("format.keys: both %s and %s are read from the key %q", twice, key, name)
			}
			l.rename[name] = key
		case together:
			l.skip = append(l.skip, name)
		}
	}
	for _, key := range keys {
		l.known = append(l.known, cmp.Or(l.Keys[key], key))
	}
	if _, taken := l.rename["query_id"]; !taken { // one of the two files may call it so
		l.rename["query_id"] = "query_id"
	}
	return l, nil
}

// fields decodes a line by the keys of Table; raw has all of it, by the keys of the file. Keys
// that the format does not know are an error.
func (l lineFormat) fields(line []byte) (out, raw map[string]json.RawMessage, err error) {
	if raw, err = object(line); err != nil {
		return nil, nil, err
	}
	out = make(map[string]json.RawMessage, len(raw))
	names := slices.AppendSeq(make([]string, 0, len(raw)), maps.Keys(raw))
	slices.Sort(names)
	for _, name := range names {
		_, filters := l.where[name]
		key, ok := l.rename[name]
		switch {
		case ok && out[key] != nil:
			return nil, nil, fmt.Errorf("both %q and %q are %s", name, l.Keys[key], key)
		case ok:
			out[key] = raw[name]
		case !filters && !slices.Contains(l.skip, name) && !slices.Contains(l.Settings, name) && !strings.Contains(l.Benchmark, "{"+name+"}"):
			return nil, nil, fmt.Errorf("unknown key %q; known: %s", name, strings.Join(l.known, ", "))
		}
	}
	return out, raw, nil
}

// object decodes one JSON object and nothing after it, whose keys are there once each: package json would take the last.
func object(data []byte) (map[string]json.RawMessage, error) {
	parsed := gjson.ParseBytes(data)
	if !json.Valid(data) || !parsed.IsObject() {
		return nil, whatIsWrong(data)
	}
	all, once := map[string]json.RawMessage{}, true
	parsed.ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		if strings.Contains(key.Raw, `\`) || !utf8.ValidString(name) {
			json.Unmarshal([]byte(key.Raw), &name) // which is valid, and means what package json makes of it
		}
		_, twice := all[name]
		all[name], once = json.RawMessage(value.Raw), !twice
		return once
	})
	if !once {
		return nil, whatIsWrong(data)
	}
	return all, nil
}

// whatIsWrong says why data are no JSON object of keys that are there once. It reads them token by token, which takes several
// times as long as to decode what is well formed.
func whatIsWrong(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	wrong := func(err error) error {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return errors.New("the line ends within its JSON object")
		}
		return lines.Worded(err)
	}
	switch open, err := d.Token(); {
	case err != nil:
		return wrong(err)
	case open != json.Delim('{'):
		return errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return wrong(err)
		}
		key := token.(string) // what a decoder gives within an object
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return wrong(err)
		}
		if seen[key] {
			return fmt.Errorf("key %q is there twice", key)
		}
		seen[key] = true
	}
	if _, err := d.Token(); err != nil {
		return wrong(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON object on the line")
	}
	return nil
}

// byModel is a JSON object of models.
type byModel map[string]json.RawMessage

func (m *byModel) UnmarshalJSON(data []byte) (err error) {
	*m, err = object(data)
	return err
}

// checkTokens says what is wrong with a count of tokens.
func checkTokens(key string, n int64) error {
	if n < 0 || n > cost.MaxTokens {
		return fmt.Errorf("%s is %d; want 0 to %d", key, n, cost.MaxTokens)
	}
	return nil
}

// readKey reads a key into a value and says whether it was there.
func readKey[T any](fields map[string]json.RawMessage, key string, into *T) (bool, error) {
	raw, ok := fields[key]
	if !ok || string(raw) == "null" {
		return false, nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, fmt.Errorf("%s: %w", key, lines.Worded(err))
	}
	return true, nil
}

// Whole is the benchmark of questions that name none.
const Whole = "all"

// query reads a line as a query and says whether the format wants it.
func (l lineFormat) query(line []byte) (q Query, chosen bool, err error) {
	fields, raw, err := l.fields(line)
	if err != nil {
		return q, false, err
	}
	if q.Benchmark, err = l.benchmark(raw); err != nil {
		return q, false, err
	}
	for _, f := range []struct {
		key      string
		into     *string
		optional bool
	}{{"query_id", &q.ID, false}, {"benchmark", &q.Benchmark, true}, {"problem", &q.Problem, false}, {"gold", &q.Gold, true}} {
		if _, err := readKey(fields, f.key, f.into); err != nil {
			return q, false, err
		}
		if *f.into == "" && !f.optional {
			return q, false, fmt.Errorf("%s is missing or empty", f.key)
		}
	}
	q.Benchmark = cmp.Or(q.Benchmark, Whole)
	switch {
	case !spec.Printable(q.ID):
		return q, false, fmt.Errorf("query_id %q holds a character that does not print; take it out", q.ID)
	case !spec.Printable(q.Benchmark):
		return q, false, fmt.Errorf("benchmark %q holds a character that does not print; take it out", q.Benchmark)
	}
	if _, err := readKey(fields, "options", &q.Options); err != nil {
		return q, false, err
	}
	given, err := readKey(fields, "prompt_tokens", &q.PromptTokens)
	switch {
	case err != nil:
		return q, false, err
	case !given && l.CharsPerToken > 0:
		characters := utf8.RuneCountInString(q.Problem)
		for _, o := range q.Options {
			characters += utf8.RuneCountInString(o)
		}
		q.PromptTokens = l.tokens(float64(characters))
	case !given && l.together:
		return q, false, errors.New("prompt_tokens is missing")
	case !given:
		q.PromptTokens = -1 // its outcomes may say
		return q, l.wants(raw), nil
	}
	return q, l.wants(raw), checkTokens("prompt_tokens", q.PromptTokens)
}

// wants says whether a line of these keys is one that the format leaves in.
func (l lineFormat) wants(raw map[string]json.RawMessage) bool {
	for key, pattern := range l.where {
		if text, ok := scalar(raw[key]); !ok || !pattern.MatchString(text) {
			return false
		}
	}
	return true
}

// inBraces is a key of the file within format.benchmark.
var inBraces = regexp.MustCompile(`\{[^{}]*\}`)

// benchmark is what the format calls the benchmark of a line.
func (l lineFormat) benchmark(raw map[string]json.RawMessage) (name string, err error) {
	return inBraces.ReplaceAllStringFunc(l.Benchmark, func(key string) string {
		text, ok := scalar(raw[strings.Trim(key, "{}")])
		if !ok {
			err = fmt.Errorf("%s of format.benchmark is neither a text nor a number here", key)
		}
		return text
	}), err
}

// scalar is a text or a number as a text; the number is written one way only.
func scalar(raw json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return text, true
	}
	var n float64
	if raw == nil || string(raw) == "null" || json.Unmarshal(raw, &n) != nil {
		return "", false
	}
	return strconv.FormatFloat(n, 'g', -1, 64), true
}

// tokens turns characters into tokens, and more than there can be into cost.MaxTokens + 1.
func (l lineFormat) tokens(characters float64) int64 {
	return int64(math.Round(min(characters/l.CharsPerToken, cost.MaxTokens+1)))
}

// graded is what a line says of one candidate.
type graded struct {
	candidate Candidate
	runs      []Answer
	run       int
	numbered  bool // the line is of one completion, which is that run
}

// outcomes reads a line as outcomes of one query: of one candidate, or in the wide layout of one a model, by name.
func (l lineFormat) outcomes(line []byte) (query string, out []graded, err error) {
	fields, raw, err := l.fields(line)
	if err != nil {
		return "", nil, err
	}
	if given, err := readKey(fields, "query_id", &query); err != nil || !given {
		return "", nil, missing(err, "query_id")
	}
	if l.Layout != "wide" {
		o := graded{}
		if given, err := readKey(fields, "model", &o.candidate.Model); err != nil || !given {
			return "", nil, missing(err, "model")
		}
		if o.candidate, err = l.settings(o.candidate.Model, fields, raw); err != nil {
			return "", nil, err
		}
		err := l.grade(&o, query, fields)
		return query, []graded{o}, err
	}
	models := map[string]map[string]json.RawMessage{} // model -> its fields
	for _, key := range outcomeKeys[2:] {
		if l.together && key == "prompt_tokens" {
			continue
		}
		var of byModel
		if _, err := readKey(fields, key, &of); err != nil {
			return "", nil, err
		}
		for _, m := range slices.Sorted(maps.Keys(of)) {
			if models[m] == nil {
				if key != "correct" && key != "pass_rate" {
					return "", nil, fmt.Errorf("%s of model %q, which correct does not have", key, m)
				}
				models[m] = map[string]json.RawMessage{}
			}
			models[m][key] = of[m]
		}
	}
	for _, m := range slices.Sorted(maps.Keys(models)) {
		o := graded{}
		if o.candidate, err = l.settings(m, models[m], nil); err != nil {
			return "", nil, fmt.Errorf("model %q: %w", m, err)
		}
		if err := l.grade(&o, query, models[m]); err != nil {
			return "", nil, fmt.Errorf("model %q: %w", m, err)
		}
		out = append(out, o)
	}
	return query, out, nil
}

// missing is the error of a key that was not read: err, or that there is none.
func missing(err error, what string) error {
	if err != nil {
		return err
	}
	return errors.New(what + " is missing")
}

// settings returns the candidate that a model is under what a line says of its settings: the key of that name, and those keys
// of the file that the format declares to be settings.
func (l lineFormat) settings(model string, fields, raw map[string]json.RawMessage) (Candidate, error) {
	var of byModel // an object whose keys are there once
	if _, err := readKey(fields, "settings", &of); err != nil {
		return Candidate{}, err
	}
	all := map[string]string{}
	add := func(name string, value json.RawMessage) error {
		text, ok := scalar(value)
		switch truth := string(value); {
		case ok && !spec.Printable(name+text):
			return fmt.Errorf("settings: %.60q is %.60q, which holds a character that does not print; take it out", name, text)
		case ok:
			all[name] = text
		case truth == "true" || truth == "false":
			all[name] = truth
		case value != nil && truth != "null":
			return fmt.Errorf("settings: %s is no text, number or truth value", name)
		}
		return nil
	}
	for name, value := range of {
		if err := add(name, value); err != nil {
			return Candidate{}, err
		}
	}
	for _, name := range l.Settings {
		if err := add(name, raw[name]); err != nil {
			return Candidate{}, err
		}
	}
	return CandidateOf(model, all), nil
}

// mostRuns is more completions of one question by one model than anybody records.
const mostRuns = 10_000

// grade reads what one candidate did on a query.
func (l lineFormat) grade(o *graded, query string, fields map[string]json.RawMessage) error {
	var err error
	if o.numbered, err = readKey(fields, "run", &o.run); err != nil {
		return err
	}
	if fields["pass_rate"] != nil {
		if err := l.rate(o, query, fields); err != nil {
			return err
		}
	} else if err := l.graded(o, fields); err != nil {
		return err
	}
	if o.numbered && len(o.runs) > 1 {
		return fmt.Errorf("run is that of one completion, and these are %d", len(o.runs))
	}
	if err := each(fields, "no_answer", o.runs, func(a *Answer, raw json.RawMessage) error {
		var b bit
		err := json.Unmarshal(raw, &b)
		a.NoAnswer = bool(b)
		return err
	}); err != nil {
		return err
	}
	for _, a := range o.runs {
		if a.Correct && a.NoAnswer {
			return errors.New("correct and no_answer are both 1")
		}
	}
	if err := each(fields, "finish", o.runs, func(a *Answer, raw json.RawMessage) error { return json.Unmarshal(raw, &a.Finish) }); err != nil {
		return err
	}
	for i := range o.runs {
		o.runs[i].In = -1
	}
	if !l.together {
		if err := each(fields, "prompt_tokens", o.runs, func(a *Answer, raw json.RawMessage) error {
			err := json.Unmarshal(raw, &a.In)
			if err == nil {
				err = checkTokens("prompt_tokens", a.In)
			}
			return err
		}); err != nil {
			return err
		}
	}
	switch raw := fields["output_tokens"]; {
	case raw != nil && string(raw) != "null": // nobody knows how many is not none
		return each(fields, "output_tokens", o.runs, l.length)
	case l.OutputTokens == 0:
		return errors.New("output_tokens is missing")
	}
	for i := range o.runs {
		o.runs[i].Out = int64(l.OutputTokens)
	}
	return nil
}

// graded reads which completions are right: one, or a list of them.
func (l lineFormat) graded(o *graded, fields map[string]json.RawMessage) error {
	raw, ok := fields["correct"]
	if !ok || string(raw) == "null" {
		return errors.New("correct is missing")
	}
	if fields["runs"] != nil {
		return errors.New("runs is the number of completions behind a pass_rate; those of correct are counted")
	}
	marks, err := listed(raw)
	if err != nil {
		return err
	}
	if len(marks) == 0 || len(marks) > mostRuns {
		return fmt.Errorf("correct has %d completions; want 1 to %d", len(marks), mostRuns)
	}
	o.runs = make([]Answer, len(marks))
	return each(fields, "correct", o.runs, func(a *Answer, raw json.RawMessage) error {
		if l.CorrectFrom > 0 {
			var score float64
			err := json.Unmarshal(raw, &score)
			a.Correct = score >= l.CorrectFrom
			return err
		}
		var b bit
		err := json.Unmarshal(raw, &b)
		a.Correct = bool(b)
		return err
	})
}

// rate makes completions of a pass rate. Which of them are right nobody knows any more: their order is drawn from a hash of
// query and candidate, so that a part of them has the pass rate of all in expectation.
func (l lineFormat) rate(o *graded, query string, fields map[string]json.RawMessage) error {
	var rate float64
	n := 0
	if fields["correct"] != nil {
		return errors.New("correct and pass_rate are both there")
	}
	if _, err := readKey(fields, "pass_rate", &rate); err != nil {
		return err
	}
	if given, err := readKey(fields, "runs", &n); err != nil || !given {
		return missing(err, "runs, the number of completions behind pass_rate,")
	}
	if n < 1 || n > mostRuns {
		return fmt.Errorf("runs is %d; want 1 to %d", n, mostRuns)
	}
	right := math.Round(rate * float64(n))
	if rate < 0 || rate > 1 || math.Abs(rate*float64(n)-right) > 0.0051*float64(n) {
		return fmt.Errorf("pass_rate %g is that of no whole number of %d completions", rate, n)
	}
	o.runs = make([]Answer, n)
	order := make([]int, n)
	key := func(i int) uint64 { return seed.Hash(fmt.Sprintf("%s|%s|%d", query, o.candidate, i)) }
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a, b)) })
	for _, i := range order[:int(right)] {
		o.runs[i].Correct = true
	}
	return nil
}

// listed are the values of a list, or the one that is none.
func listed(raw json.RawMessage) (all []json.RawMessage, err error) {
	if raw[0] != '[' {
		return []json.RawMessage{raw}, nil
	}
	err = json.Unmarshal(raw, &all)
	return all, err
}

// each reads a key into completions: a list with a value for each, or one for all. A key that is not there leaves them.
func each(fields map[string]json.RawMessage, key string, runs []Answer, read func(*Answer, json.RawMessage) error) error {
	raw, ok := fields[key]
	if !ok || string(raw) == "null" {
		return nil
	}
	values, err := listed(raw)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", key, err)
	case raw[0] == '[' && len(values) != len(runs):
		return fmt.Errorf("%s has %d values for %d completions", key, len(values), len(runs))
	}
	for i := range runs {
		if err := read(&runs[i], values[min(i, len(values)-1)]); err != nil {
			if err = lines.Worded(err); strings.HasPrefix(err.Error(), key+" ") {
				return err
			}
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// length reads how much a completion wrote: tokens, characters or the text itself.
func (l lineFormat) length(a *Answer, raw json.RawMessage) error {
	if l.CharsPerToken == 0 {
		if err := json.Unmarshal(raw, &a.Out); err != nil {
			return err
		}
		return checkTokens("output_tokens", a.Out)
	}
	var characters float64
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		characters = float64(utf8.RuneCountInString(text))
	} else if err := json.Unmarshal(raw, &characters); err != nil {
		return err
	}
	if characters < 0 {
		return fmt.Errorf("output_tokens is %g characters; want at least 0", characters)
	}
	a.Out = l.tokens(characters)
	return checkTokens("output_tokens", a.Out)
}

// bit is 0 or 1, or false or true.
type bit bool

func (b *bit) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "0", "false":
		*b = false
	case "1", "true":
		*b = true
	default:
		return fmt.Errorf("%.60s is neither 0 nor 1", data)
	}
	return nil
}

// list joins names for a message.
func list[T any](names []T) string {
	var all []string
	for _, n := range names {
		all = append(all, fmt.Sprint(n))
	}
	return cmp.Or(strings.Join(all, ", "), "nothing")
}
