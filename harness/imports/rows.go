// Tables of answers, CSV or JSON lines, whose columns have any name.

package imports

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// tableKeys are what a table may say of an answer. settings.NAME is a setting that the model was asked under.
var tableKeys = []string{"query_id", "benchmark", "split", "problem", "gold", "options", "model", "response", "correct", "prompt_tokens", "output_tokens", "usd", "finish", anySetting}

// settingKey stands before the name of a setting.
const settingKey, anySetting = "settings.", "settings.NAME"

func csvRows(f File, data []byte, o Options, add func(Row) error) error {
	if err := checkLines(f.Name, data); err != nil {
		return err
	}
	if bytes.HasPrefix(data, []byte("{")) || bytes.HasPrefix(data, []byte("[")) {
		return fmt.Errorf("%s: it holds JSON; import it as jsonl", f.Name)
	}
	r := csv.NewReader(bytes.NewReader(data))
	names, err := r.Read()
	if err != nil {
		return unpaired(f.Name, err)
	}
	if len(names) == 1 {
		for sign, called := range map[string]string{";": "semicolons", "\t": "tabs"} {
			if strings.Contains(names[0], sign) {
				return fmt.Errorf("%s: its columns seem to be separated by %s; separate them by commas", f.Name, called)
			}
		}
	}
	column := map[string]int{}
	for i, name := range names {
		if _, twice := column[name]; twice {
			return fmt.Errorf("%s: the column %q is there twice; give each a name of its own", f.Name, name)
		}
		column[name] = i
	}
	models, err := modelsOf(names, o.Keys)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Keys)) {
		if _, ok := column[o.Keys[key]]; !ok && !strings.Contains(o.Keys[key], anyModel) {
			return fmt.Errorf("%s: %s is to be read from the column %q, and there is none; there are %s", f.Name, key, o.Keys[key], strings.Join(names, ", "))
		}
	}
	if _, ok := column[cmp.Or(o.Keys["problem"], "problem")]; !ok && o.Problems == nil {
		return fmt.Errorf("%s: no column is problem, the text of the question; name the one that is with --key problem=COLUMN, or give the questions with --problems; there are %s", f.Name, strings.Join(names, ", "))
	}
	if models == nil && !slices.ContainsFunc([]string{"correct", "response", "output_tokens"}, func(key string) bool { return slices.Contains(names, cmp.Or(o.Keys[key], key)) }) {
		return fmt.Errorf("%s: no column is correct, response or output_tokens; name those that are with --key KEY=COLUMN, and write %s for the name of a model where each has columns of its own: --key correct=%[2]s --key output_tokens=%[2]s_tokens", f.Name, anyModel)
	}
	for {
		line, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, csv.ErrFieldCount) {
			return unpaired(f.Name, err)
		}
		n, _ := r.FieldPos(0)
		at := fmt.Sprintf("%s:%d", f.Name, n)
		if err != nil {
			return fmt.Errorf("%s: the line has %s and that of the names has %d", at, counted(len(line), "column"), len(names))
		}
		cell := func(key string) (string, bool) {
			i, ok := column[key]
			if !ok {
				return "", false
			}
			return line[i], true
		}
		if models == nil {
			err = tableRow(f.Name, at, o, add, cell)
		}
		for _, model := range models {
			if err == nil && answered(model, o.Keys, cell) {
				err = tableRow(f.Name, at, o, add, func(key string) (string, bool) {
					if key == cmp.Or(o.Keys["model"], "model") {
						return model, true
					}
					return cell(strings.ReplaceAll(key, anyModel, model))
				})
			}
		}
		if err != nil {
			return err
		}
	}
}

// unpaired says what is wrong with a line of CSV, which is always its quotation marks.
func unpaired(file string, err error) error {
	var wrong *csv.ParseError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", file, err)
	}
	return fmt.Errorf("%s:%d: the quotation marks of this line do not pair: put a cell that holds any in quotation marks, and write each of its own twice", file, wrong.StartLine)
}

// anyModel stands for the name of a model in the names of columns that each model has.
const anyModel = "{model}"

// modelsOf are the models that have all columns that the keys name with anyModel, in the order of the first of these; nil: the keys name none.
func modelsOf(names []string, keys map[string]string) (models []string, err error) {
	var patterns, wanted []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if strings.Contains(keys[key], anyModel) {
			patterns = append(patterns, keys[key])
			wanted = append(wanted, fmt.Sprintf("a column %q", keys[key]))
		}
	}
	if patterns == nil {
		return nil, nil
	}
	others := slices.AppendSeq(slices.Clone(tableKeys), maps.Values(keys)) // that are no model's
	before, after, _ := strings.Cut(patterns[0], anyModel)
	for _, name := range names {
		if slices.Contains(others, name) || len(name) <= len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
			continue
		}
		model := name[len(before) : len(name)-len(after)]
		if !slices.ContainsFunc(patterns, func(p string) bool { return !slices.Contains(names, strings.ReplaceAll(p, anyModel, model)) }) {
			models = append(models, model)
		}
	}
	if models == nil {
		return nil, fmt.Errorf("no model has %s; there are %s", strings.Join(wanted, " and "), strings.Join(names, ", "))
	}
	return models, nil
}

// answered says whether a line has anything in the columns of a model.
func answered(model string, keys map[string]string, cell func(key string) (string, bool)) bool {
	for _, name := range keys {
		if strings.Contains(name, anyModel) {
			if v, _ := cell(strings.ReplaceAll(name, anyModel, model)); !missing(v) {
				return true
			}
		}
	}
	return false
}

// valueNaN is what Python writes for a number that is none.
var valueNaN = regexp.MustCompile(`[:,\[]\s*NaN\s*[,}\]]`)

func jsonRows(files []File, o Options, add func(Row) error) ([]string, error) {
	found := map[string]bool{} // the keys whose path some line has
	for _, f := range files {
		data, err := f.Data()
		if err == nil {
			err = jsonLines(f, data, o, found, add)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Keys)) {
		if !found[key] {
			return nil, fmt.Errorf("%s: %s is to be read from %q, and no line has that", those(files), key, o.Keys[key])
		}
	}
	return nil, nil
}

func jsonLines(f File, data []byte, o Options, found map[string]bool, add func(Row) error) error {
	first, named := "", false // where the first line is, and whether it says which model answered
	return eachLine(f.Name, data, func(at string, line []byte) error {
		if !json.Valid(line) || line[0] != '{' {
			if valueNaN.Match(line) {
				return errors.New("not a JSON object, which has no NaN: write null")
			}
			if line[0] == '[' {
				return errors.New("not a JSON object but a list of them: write each on a line, as jq -c '.[]' does")
			}
			if err := json.NewDecoder(bytes.NewReader(line)).Decode(&json.RawMessage{}); errors.Is(err, io.ErrUnexpectedEOF) {
				return errors.New("the line ends within its JSON object: write each object on one line, as jq -c . does, and take out one that was cut short")
			}
			return errors.New("not a JSON object")
		}
		for key, path := range o.Keys {
			found[key] = found[key] || valueAt(line, path).Exists()
		}
		for _, key := range []string{"problem", "response", "model"} {
			if err := textual(line, key, cmp.Or(o.Keys[key], key)); err != nil {
				return err
			}
		}
		switch now := valueAt(line, cmp.Or(o.Keys["model"], "model")).Exists(); {
		case first == "":
			first, named = at, now
		case now == named || o.Model != "":
		case now:
			return fmt.Errorf("which model answered is said here and is not at %s; say it on every line, or on none with --model", first)
		default:
			return fmt.Errorf("which model answered is not said here and is at %s; say it on every line, or on none with --model", first)
		}
		return tableRow(f.Name, at, o, add, func(key string) (string, bool) {
			v := valueAt(line, key)
			if v.IsArray() || v.IsObject() {
				return v.Raw, true
			}
			return v.String(), v.Exists() // of null: empty
		})
	})
}

// valueAt is what a line has under a path, or under a name that reads like one.
func valueAt(line []byte, path string) gjson.Result {
	if v := gjson.GetBytes(line, gjson.Escape(path)); v.Exists() {
		return v
	}
	return gjson.GetBytes(line, path)
}

// textual says that what a line has under a path is none of the texts that the key is for.
func textual(line []byte, key, path string) error {
	what, within := "object", ".KEY"
	switch v := valueAt(line, path); {
	case key == "problem" && messagesOf(v.Raw) != nil:
		return nil
	case v.IsArray():
		what, within = "list", ".0.KEY"
	case !v.IsObject():
		return nil
	}
	return fmt.Errorf("%s is to be a text, and is a JSON %s: name the text within it with --key %s=%s%s", key, what, key, path, within)
}

// tableRow makes a row of what a line says; get reads it by the names of the file, and says whether there is such a column or key.
func tableRow(file, at string, o Options, add func(Row) error, get func(key string) (string, bool)) error {
	value := func(key string) (string, bool) {
		v, _ := get(cmp.Or(o.Keys[key], key))
		if missing(v) && key != "problem" && key != "gold" { // of which NaN may be one
			v = ""
		}
		return v, v != ""
	}
	text := func(key string) string { v, _ := value(key); return v }
	model := stem(filepath.Base(file))
	if _, there := get(cmp.Or(o.Keys["model"], "model")); there {
		model = "" // one that is not said is none
	}
	r := Row{At: at, Question: text("query_id"), Benchmark: text("benchmark"), Split: text("split"), Problem: text("problem"),
		Model: cmp.Or(text("model"), o.Model, model), In: unsaid, Out: unsaid, USD: math.NaN(), Finish: text("finish"), Settings: map[string]string{}}
	if messages := messagesOf(r.Problem); messages != nil {
		r.Problem, r.System, r.After = said(messages), instructions(messages), after(messages)
	}
	response, there := get(cmp.Or(o.Keys["response"], "response"))
	if _, named := o.Keys["response"]; there || named { // an empty one is an empty answer
		r.Response = &response
	}
	if gold := text("gold"); gold != "" {
		r.Golds = list(gold)
	}
	if options := text("options"); options != "" {
		if r.Options = list(options); len(r.Options) < 2 {
			return fmt.Errorf("%s: options is no list of texts in JSON, such as [\"red\", \"blue\"]: %.60q", at, options)
		}
	}
	for key, into := range map[string]*int64{"prompt_tokens": &r.In, "output_tokens": &r.Out} {
		if v, ok := value(key); ok {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || n < 0 || n != math.Trunc(n) || n > 1e15 {
				return fmt.Errorf("%s: %s is %.60q; want a whole number of tokens, in digits alone", at, key, v)
			}
			*into = int64(n)
		}
	}
	if v, ok := value("usd"); ok {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
			return fmt.Errorf("%s: usd is %.60q; want a number of dollars, such as 0.0015", at, v)
		}
		r.USD = n
	}
	if v, ok := value("correct"); ok {
		score, err := strconv.ParseFloat(v, 64) // before words: 1 is a score, and may be a low one
		right := score >= o.CorrectFrom
		most, want := 1.0, "from 0 to 1; of scores that go further --correct-from, above 1, says which are right"
		if o.CorrectFrom > 1 {
			most, want = math.MaxFloat64, "from 0 on"
		}
		switch {
		case err == nil && score >= 0 && score <= most:
			r.Partial = o.CorrectFrom == 1 && score > 0 && !right
		case err == nil:
			err = strconv.ErrRange
		default:
			right, err = strconv.ParseBool(strings.ToLower(v))
		}
		if err != nil {
			return fmt.Errorf("%s: correct is %.60q; want true or false, or a score %s", at, v, want)
		}
		r.Correct = &right
	}
	for key := range o.Keys {
		if name, ok := strings.CutPrefix(key, settingKey); ok {
			if v := text(key); v != "" {
				r.Settings[name] = v
			}
		}
	}
	return add(r)
}

// missing says that a cell has no value: pandas calls that NaN.
func missing(v string) bool { return v == "" || strings.EqualFold(v, "nan") }

// list reads a JSON list of texts, or the one text that is none.
func list(text string) []string {
	var all []string
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &all) == nil && len(all) > 0 {
		return all
	}
	return []string{text}
}
