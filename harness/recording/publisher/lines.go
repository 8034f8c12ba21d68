// Lines are written as Python's json module writes them: that is how the files were made whose checksums are pinned.

package publisher

import (
	"bytes"
	"fmt"
	"strings"
)

// pair is a key of a JSON object and its value: a text, a whole number, a number as its publisher wrote it, or a list of these, or nothing.
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
	case nil:
		w.WriteString("null")
	case string:
		w.text(v)
	case number:
		w.WriteString(string(v))
	case int:
		fmt.Fprint(w, v)
	case []pair:
		w.object(v)
	case []string:
		list(w, v)
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
