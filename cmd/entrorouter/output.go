// What commands print: JSON, or text that fits the terminal.

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/entrorouter/entrorouter/harness/page"
	"github.com/entrorouter/entrorouter/harness/report"
)

// writeJSON prints a value as indented JSON.
func writeJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// show prints a value as JSON or as aligned text.
func show(c *cli.Context, value any, text func(io.Writer)) error {
	if c.Bool("json") {
		return writeJSON(c.App.Writer, value)
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	text(w)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(c.App.Writer, folded(harmless(b.String()), terminal(c.App.Writer).Width))
	return err
}

// harmless is a text that commands no terminal.
func harmless(text string) string { return strings.Map(page.Harmless, text) }

// folded is a text whose lines have at most so many columns: what does not fit goes on below, further in. 0 columns: as many as there are.
func folded(text string, columns int) string {
	const in = "    "
	if columns <= 2*len(in) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		for rest, most := []rune(line), columns; ; {
			end := len(rest)
			if most < end-1 { // the end of the line takes no column
				end = most
				for k := most; k > most/2; k-- {
					if rest[k] == ' ' {
						end = k
						break
					}
				}
			}
			b.WriteString(strings.TrimRight(string(rest[:end]), " "))
			if rest = rest[end:]; len(rest) == 0 {
				break
			}
			rest, most = []rune(strings.TrimLeft(string(rest), " ")), columns-len(in)
			b.WriteString("\n" + in)
		}
	}
	return b.String()
}

// output is standard output. It remembers the first write that failed: whoever prints a page of help, for one, does not look.
type output struct {
	io.Writer
	failed error // nil: none
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.failed = cmp.Or(o.failed, err)
	return n, err
}

// terminal says what standard output can show.
func terminal(w io.Writer) report.Terminal {
	f, ok := asTerminal(w)
	if !ok {
		return report.Terminal{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return report.Terminal{Width: width, Bold: styled()}
}

// styled says whether a terminal that is written to takes bold letters, and whoever sits there wants them.
func styled() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// asTerminal returns the terminal that is written to; ok is false where it is none.
func asTerminal(w io.Writer) (f *os.File, ok bool) {
	if o, is := w.(*output); is {
		w = o.Writer
	}
	f, ok = w.(*os.File)
	return f, ok && isatty.IsTerminal(f.Fd())
}

func isTerminal(w io.Writer) bool {
	_, ok := asTerminal(w)
	return ok
}
