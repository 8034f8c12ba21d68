// The formats that are read.

package imports

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Format reads one kind of log.
type Format struct {
	Name  string
	Reads string   // what it reads, in a few words
	Keys  []string // what Options.Keys may say where to find
	rows  func(files []File, o Options, add func(Row) error) (left []string, err error)
}

// Formats are the formats that there are.
func Formats() []Format {
	return []Format{
		{"inspect", "logs of inspect_ai, .eval or .json", nil, inspectRows},
		{"lm-eval", "samples of lm-evaluation-harness, with the results beside them", []string{"problem", "gold", "options"}, lmEvalRows},
		{"openai", "requests and responses of chat completions: pairs of files, lines of pairs, batch files", nil, openAIRows},
		{"reasoning-gym", "results of reasoning-gym-eval, one file per data set and model", nil, fileByFile(gymRows)},
		{"omnisbench", "results.json of OmnisBench", nil, omnisRows},
		{"csv", "one line per answer, below a line of column names", tableKeys, fileByFile(csvRows)},
		{"jsonl", "one JSON object per answer", tableKeys, jsonRows},
	}
}

// fileByFile reads files that each say all of their answers.
func fileByFile(read func(f File, data []byte, o Options, add func(Row) error) error) func([]File, Options, func(Row) error) ([]string, error) {
	return func(files []File, o Options, add func(Row) error) ([]string, error) {
		for _, f := range files {
			data, err := f.Data()
			if err == nil {
				err = read(f, data, o, add)
			}
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

// Find returns the format of a name.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("no format %q; there are %s", name, strings.Join(names, ", "))
}

// CheckKeys says which key of a mapping the format has not.
func (f Format) CheckKeys(keys map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		name, setting := strings.CutPrefix(key, settingKey)
		switch known := slices.Contains(f.Keys, key) || setting && name != "" && slices.Contains(f.Keys, anySetting); {
		case len(f.Keys) == 0:
			return fmt.Errorf("--key and --keys go with formats whose names differ from log to log; %s has names of its own", f.Name)
		case !known:
			return fmt.Errorf("an answer has no key %q; it has: %s", key, strings.Join(f.Keys, ", "))
		case strings.Contains(keys[key], anyModel) && f.Name != "csv":
			return fmt.Errorf("%s of %s stands for models that have columns of their own in csv; %s has a line per answer", anyModel, keys[key], f.Name)
		}
	}
	return nil
}
