// Package starting writes the files that an experiment on somebody's own models begins with: a pool, prices, a spec and, for
// servers, the questions. Every knob that is written is explained beside it, and nothing is left to compute by hand.
//
// Where things are: this file has what both kinds share, recorded.go files for outcomes that are there and check.go whether
// these will do, live.go files for servers that are to be asked; the files themselves are templates, in the folder
// files.
package starting

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// File is a file to write, below a folder.
type File struct {
	Name string // with slashes
	Data []byte
}

// Expert is a model of a pool.
type Expert struct {
	ID       string
	Model    string
	Settings map[string]string // of a recording that has several of the model
	URL      string            // of a server
	Says     string            // what a comment says of it; empty: nothing
	Price    *Price            // nil: not known yet
}

// Price is what a model costs, in dollars per million tokens, and how that is known.
type Price struct {
	cost.Price
	Inferred bool // from what was billed; otherwise somebody gave it
}

// experiment is what the templates fill in.
type experiment struct {
	Name, Folder string // of the files, and where they are written
	Date         string // of the prices
	Experts      []Expert

	Recorded *recorded
	Live     *Live
	Train    part
	Test     part
}

// part is a file of the experiment's data.
type part struct {
	Path, SHA256 string
	N            int // questions
}

// Live is how servers are asked.
type Live struct {
	MaxTokens int // of the longest answer
	Runs      int // answers of every model to every question
}

// Origin is where recorded outcomes are from, for whoever reads the files and the tables.
type Origin struct {
	Folder  string // that the files will be in at last; empty: the one that the outcomes are in
	Source  string // one line
	Licence string
	Note    string           // what tables say of the pool, without the last stop; empty: nothing
	Prices  map[string]Price // by model
}

// recorded is what templates of recorded outcomes fill in.
type recorded struct {
	Origin
	Queries, Outcomes part
	Benchmarks        []string
	Repeated          bool     // some question was put to a model more than once
	Gaps              int      // questions that are left out, since not every expert answered them
	LeftOut           []string // models, and why
	Uncounted         []string // candidates none of whose answers has output tokens
}

//go:embed files/*.tmpl
var templates embed.FS

// plainText is a text that YAML reads as itself.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*$`)

// words that YAML, in one of its versions, reads as something else.
var words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// quoted writes a text as YAML that is read as that text, whatever is in it.
func quoted(v any) (string, error) {
	if text, ok := v.(string); ok && plainText.MatchString(text) && !slices.Contains(words, strings.ToLower(text)) {
		return text, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSpace(b.String()), err
}

// filled returns files made of the templates of the same names.
func (x experiment) filled(names map[string]string) ([]File, error) {
	t, err := template.New("").Funcs(template.FuncMap{"quoted": quoted}).ParseFS(templates, "files/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	var files []File
	for _, of := range []string{"pool", "prices", "benchmarks", "spec"} { // the spec last: it names the others
		name, ok := names[of]
		if !ok {
			continue
		}
		var b bytes.Buffer
		kind := "live-"
		if x.Recorded != nil {
			kind = "recorded-"
		}
		if of == "prices" {
			kind = ""
		}
		if err := t.ExecuteTemplate(&b, kind+of+".tmpl", x); err != nil {
			return nil, fmt.Errorf("templates: %w", err)
		}
		files = append(files, File{name, b.Bytes()})
	}
	return files, nil
}

// Name checks the name of an experiment; empty asks for that of the folder that it is written to.
func Name(name, folder string) (string, error) {
	if name == "" {
		path, err := filepath.Abs(folder)
		if err != nil {
			return "", err
		}
		name = filepath.Base(path)
	}
	if !spec.PlainName(name) || name == "base" || name == "benchmarks" || name == fetched {
		return "", fmt.Errorf("%w: %q cannot be the name of an experiment; give it one of letters, digits, dots, dashes and underscores with --name", spec.ErrUsage, name)
	}
	return name, nil
}

// fetched is the name of what a data folder records.
const fetched = "fetched"

// identify gives experts ids: what follows the last slash of the model, or all of it where another model ends alike, and what tells
// candidates of one model apart.
func identify(experts []Expert) {
	end := func(x Expert) string { return x.Model[strings.LastIndex(x.Model, "/")+1:] }
	ambiguous := func(x Expert) bool {
		return slices.ContainsFunc(experts, func(o Expert) bool { return o.Model != x.Model && end(o) == end(x) })
	}
	taken := map[string]bool{}
	for i := range experts {
		x := &experts[i]
		plain := func(id string) string {
			for _, name := range slices.Sorted(maps.Keys(x.Settings)) {
				id += "-" + x.Settings[name]
			}
			return cmp.Or(spec.Plain(id), "model")
		}
		x.ID = plain(end(*x))
		if taken[x.ID] || ambiguous(*x) {
			x.ID = plain(x.Model)
		}
		for n, id := 2, x.ID; taken[x.ID]; n++ {
			x.ID = fmt.Sprintf("%s-%d", id, n)
		}
		taken[x.ID] = true
	}
}

// priced gives experts their prices. Models without one keep none; a price of a model that is not known is an error.
func priced(experts []Expert, prices map[string]Price, known map[string]bool) error {
	for i := range experts {
		if p, ok := prices[experts[i].Model]; ok {
			experts[i].Price = &p
		}
	}
	for _, model := range slices.Sorted(maps.Keys(prices)) {
		if !known[model] {
			return fmt.Errorf("%w: --price %s: there is no such model; there are %s", spec.ErrUsage, model, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// Inferred says whether some price is inferred.
func (x experiment) Inferred() bool {
	return slices.ContainsFunc(x.Experts, func(e Expert) bool { return e.Price != nil && e.Price.Inferred })
}

// Prices are the models with a price, each once.
func (x experiment) Prices() []Expert { return x.distinct(true) }

// Priceless are the models without, each once.
func (x experiment) Priceless() []Expert { return x.distinct(false) }

func (x experiment) distinct(priced bool) (some []Expert) {
	seen := map[string]bool{}
	for _, e := range x.Experts {
		if (e.Price != nil) == priced && !seen[e.Model] {
			seen[e.Model], some = true, append(some, e)
		}
	}
	return some
}

// Steps is how many batches make ten passes over the training questions, of which each fit has so many.
func (x experiment) Steps() int { return max(1, (10*x.Train.N+x.Batch()-1)/x.Batch()) }

// Batch is how many questions a step learns from.
func (x experiment) Batch() int { return max(1, min(128, x.Train.N)) }

func today(now time.Time) string { return now.Format(time.DateOnly) }

func sumOf(data []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// Write writes files below a folder. A file that is there already is left as it is. If it says something else, comments and layout
// of YAML apart, that is an error that names all such files and where the first of them differs, and nothing is written.
func Write(folder string, files []File) error {
	var others []string // files that say something else
	first := ""         // where the first of them differs
	left := map[string]bool{}
	for _, f := range files {
		path := filepath.Join(folder, filepath.FromSlash(f.Name))
		there, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		left[f.Name] = true
		if at := differ(f.Name, there, f.Data); at != "" {
			if others = append(others, path); len(others) == 1 {
				first = at
			}
		}
	}
	if others != nil {
		return fmt.Errorf("%w: %s is there already and is not overwritten: %s; keep what is there and go on with 'entrorouter run', or delete %s and call again", spec.ErrUsage, others[0], first, strings.Join(others, " "))
	}
	for _, f := range files {
		if left[f.Name] {
			continue
		}
		if err := store.WriteFile(filepath.Join(folder, filepath.FromSlash(f.Name)), f.Data); err != nil {
			return err
		}
	}
	return nil
}

// differ says where a file differs from what it would be, by the first knob or, if it is not YAML with keys, the first line; empty:
// they say the same.
func differ(name string, is, would []byte) string {
	if bytes.Equal(is, would) {
		return ""
	}
	if filepath.Ext(name) == ".yaml" {
		a, errA := said(is)
		b, errB := said(would)
		if errA == nil && errB == nil {
			fields := store.Differences(a, b)
			if len(fields) == 0 {
				return ""
			}
			return fmt.Sprintf("it has %.100s for %s and would have %.100s", cmp.Or(fields[0].Stored, "nothing"), fields[0].Name(), cmp.Or(fields[0].Wanted, "nothing"))
		}
	}
	x, y := strings.Split(string(is), "\n"), strings.Split(string(would), "\n")
	at := 0
	for at < len(x) && at < len(y) && x[at] == y[at] {
		at++
	}
	return fmt.Sprintf("its line %d is %.100q and would be %.100q", at+1, append(x, "")[at], append(y, "")[at])
}

// said is what a YAML file with keys says, as encoding/json decodes it.
func said(text []byte) (tree any, err error) {
	var keys map[string]any
	if err := yaml.Unmarshal(text, &keys); err != nil {
		return nil, err
	}
	data, err := json.Marshal(keys) // a key that is no text is an error
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(data, &tree)
	return tree, err
}
