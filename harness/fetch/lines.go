// Rows of a publisher become lines of ours. Everything here is a pure function of rows and the columns of a home.

package fetch

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/recording/publisher"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// row is a row of a published file: texts, numbers (json.Number), truth values, lists, nil, by column.
type row map[string]any

// converter makes lines of rows.
type converter struct {
	home    *spec.Home
	name    string
	keys    []string // of a line, in their order, without id and benchmark
	match   map[string]*regexp.Regexp
	where   map[string]*regexp.Regexp
	problem map[[sha256.Size]byte]bool // seen, of a home with distinct
}

// order is that of the keys of a line; others follow by name.
var order = []string{"problem", "options", "answer", "level", "subject", "answer_type", "is_multiple_answer", "unit", "error"}

func newConverter(name string, home *spec.Home) (*converter, error) {
	c := &converter{home: home, name: cmp.Or(home.Label, name), match: map[string]*regexp.Regexp{}, where: map[string]*regexp.Regexp{}, problem: map[[sha256.Size]byte]bool{}}
	var err error
	for key, column := range home.Columns {
		if c.match[key], err = regexp.Compile(column.Match); err != nil {
			return nil, fmt.Errorf("columns.%s.match: %w", key, err)
		}
		if key != "id" {
			c.keys = append(c.keys, key)
		}
	}
	if home.Columns["options"].All != nil {
		c.keys = append(c.keys, "answer")
	}
	for column, pattern := range home.Where {
		if c.where[column], err = regexp.Compile(pattern); err != nil {
			return nil, fmt.Errorf("where.%s: %w", column, err)
		}
	}
	rank := func(key string) int {
		if i := slices.Index(order, key); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(c.keys, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return c, nil
}

// columns lists the columns that are read, sorted.
func (c *converter) columns() []string {
	var all []string
	for _, column := range c.home.Columns {
		all = append(append(all, column.From...), column.All...)
	}
	for column := range c.where {
		all = append(all, column)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return strings.HasPrefix(name, "#") })
}

// line appends the line of row n (from 1) of a part, or nothing where the row is left out.
func (c *converter) line(to *bytes.Buffer, r row, n int, part string) (kept bool, err error) {
	for column, pattern := range c.where {
		text, _ := textOf(r[column])
		if !pattern.MatchString(text) {
			return false, nil
		}
	}
	values := map[string]any{}
	for key, column := range c.home.Columns {
		if column.All != nil {
			continue
		}
		v, err := c.value(key, column, r, n, part)
		if err != nil {
			return false, fmt.Errorf("row %d: %s: %w", n, key, err)
		}
		values[key] = v
	}
	if all := c.home.Columns["options"].All; all != nil {
		if values["options"], values["answer"], err = c.choice(all, r, fmt.Sprint(values["id"])); err != nil {
			return false, fmt.Errorf("row %d: options: %w", n, err)
		}
	}
	for _, key := range []string{"answer", "id", "problem"} {
		text, _ := textOf(values[key])
		switch {
		case strings.TrimSpace(text) != "":
		case key == "answer" && c.home.Answered:
			return false, nil
		default:
			return false, fmt.Errorf("row %d has no %s; its columns are %s", n, key, strings.Join(names(r), ", "))
		}
	}
	if c.home.Distinct {
		text, _ := textOf(values["problem"])
		sum := sha256.Sum256([]byte(text))
		if c.problem[sum] {
			return false, nil
		}
		c.problem[sum] = true
	}
	to.WriteString(`{"id": `)
	write(to, values["id"])
	to.WriteString(`, "benchmark": `)
	write(to, c.name)
	for _, key := range c.keys {
		if values[key] == nil {
			continue
		}
		to.WriteString(", ")
		write(to, key)
		to.WriteString(": ")
		write(to, values[key])
	}
	to.WriteString("}\n")
	return true, nil
}

// value is what a column makes of a row: a text, a truth value, a list of texts, or nil where the row has none of it.
func (c *converter) value(key string, column spec.Column, r row, n int, part string) (any, error) {
	var v any
	for _, from := range column.From {
		switch from {
		case "#0":
			v = strconv.Itoa(n - 1)
		case "#1":
			v = strconv.Itoa(n)
		default:
			v = r[from]
		}
		if v != nil {
			break
		}
	}
	if list, ok := v.([]any); ok && key == "options" {
		texts := make([]any, len(list))
		for i, e := range list {
			text, err := textOf(e)
			if err != nil {
				return nil, err
			}
			texts[i] = c.trim(text)
		}
		return texts, nil
	}
	if truth, ok := v.(bool); ok && column.Match == "" {
		return truth, nil
	}
	text, err := textOf(v)
	if v == nil || err != nil {
		return nil, err
	}
	text = c.trim(text)
	if column.Match != "" {
		at := c.match[key].FindStringSubmatchIndex(text)
		if at == nil {
			return nil, fmt.Errorf("%.80q does not match %s", text, column.Match)
		}
		as := cmp.Or(column.As, "$0")
		text = string(c.match[key].ExpandString(nil, strings.ReplaceAll(as, "{part}", part), text, at))
	}
	return text, nil
}

func (c *converter) trim(text string) string {
	if c.home.Verbatim {
		return text
	}
	return strings.TrimSpace(text)
}

// choice puts options in the order of hashes of the question's id and their texts, and returns the letter of the first.
func (c *converter) choice(columns []string, r row, id string) (options []any, answer string, err error) {
	type option struct {
		text  string
		sum   [sha256.Size]byte
		right bool
	}
	all := make([]option, len(columns))
	for i, column := range columns {
		text, err := textOf(r[column])
		if text = c.trim(text); err != nil || text == "" {
			return nil, "", fmt.Errorf("column %q has no text; the columns are %s", column, strings.Join(names(r), ", "))
		}
		all[i] = option{text, sha256.Sum256([]byte(id + "\x00" + text)), i == 0}
	}
	slices.SortStableFunc(all, func(a, b option) int { return bytes.Compare(a.sum[:], b.sum[:]) })
	for i, o := range all {
		options = append(options, o.text)
		if o.right {
			answer = string(rune('A' + i))
		}
	}
	return options, answer, nil
}

func names(r row) []string { return slices.Sorted(maps.Keys(r)) }

// textOf writes a value as text; several values of a list have commas between them.
func textOf(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case json.Number:
		return v.String(), nil
	case []any:
		texts := make([]string, len(v))
		for i, e := range v {
			var err error
			if texts[i], err = textOf(e); err != nil {
				return "", err
			}
		}
		return strings.Join(texts, ", "), nil
	}
	return "", fmt.Errorf("is no text, number or list of these")
}

// write appends a value as JSON, spaced and escaped as Python's json module does without ensure_ascii: that is how the
// files are written whose checksums benchmarks.yaml has.
func write(to *bytes.Buffer, v any) {
	switch v := v.(type) {
	case bool:
		to.WriteString(strconv.FormatBool(v))
	case []any:
		to.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				to.WriteString(", ")
			}
			write(to, e)
		}
		to.WriteByte(']')
	case string:
		publisher.WriteText(to, v, false)
	}
}
