// Package publisher makes the lines that package recording reads of the files in which recordings are published. It knows no
// network and no disk: a converter is a function of files, wherever they come from, and their order does not matter.
package publisher

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// File is one file of a publisher.
type File struct {
	Path string // in the repository
	Read func() ([]byte, error)
}

// Golds is the path of a file that is no publisher's: the lines of a problem set, with the answers that a publisher leaves out.
const Golds = "golds.jsonl"

// Converter makes the lines of a recorded set, by the names of its files without their extension.
type Converter func(files iter.Seq2[File, error]) (map[string][]byte, error)

// ErrNoFiles says that among the files were none of a set.
var ErrNoFiles = errors.New("holds none of the files that this set is made of")

// Of returns the converter of a format; nil: there is none.
func Of(format string) Converter {
	switch format {
	case "reasoning-gym":
		return ReasoningGym
	case "routellm-gsm8k":
		return RouteLLMGSM8K
	case "routellm-mmlu":
		return RouteLLMMMLU
	}
	return nil
}

// pair is a key of a JSON object and its value: a text, a whole number, a number as its publisher wrote it, or a list of these.
type pair struct {
	key   string
	value any
}

// number is a number as its publisher wrote it.
type number string

// writer writes objects as lines, as Python's json module does: that is how the files were made whose checksums are pinned.
type writer struct {
	bytes.Buffer
	comma, colon string
	ascii        bool // other characters are escaped
}

func (w *writer) line(pairs ...pair) {
	w.object(pairs)
	w.WriteByte('\n')
}

func (w *writer) object(pairs []pair) {
	w.WriteByte('{')
	for i, p := range pairs {
		if i > 0 {
			w.WriteString(w.comma)
		}
		w.text(p.key)
		w.WriteString(w.colon)
		w.value(p.value)
	}
	w.WriteByte('}')
}

func (w *writer) value(v any) {
	switch v := v.(type) {
	case string:
		w.text(v)
	case number:
		w.WriteString(string(v))
	case int:
		fmt.Fprint(w, v)
	case []pair:
		w.object(v)
	case []number:
		list(w, v)
	case []int:
		list(w, v)
	}
}

func list[T any](w *writer, of []T) {
	w.WriteByte('[')
	for i, e := range of {
		if i > 0 {
			w.WriteString(w.comma)
		}
		w.value(e)
	}
	w.WriteByte(']')
}

func (w *writer) text(s string) { WriteText(&w.Buffer, s, w.ascii) }

// WriteText writes a text as JSON as Python's json module does: with other characters than those of ASCII escaped, or as they are.
func WriteText(w *bytes.Buffer, s string, ascii bool) {
	w.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.WriteByte('\\')
			w.WriteRune(r)
		case strings.ContainsRune("\b\t\n\f\r", r):
			w.WriteByte('\\')
			w.WriteByte("btn?fr"[r-'\b'])
		case r < ' ' || ascii && r > '~' && r <= 0xffff:
			fmt.Fprintf(w, `\u%04x`, r)
		case ascii && r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(w, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			w.WriteRune(r)
		}
	}
	w.WriteByte('"')
}
