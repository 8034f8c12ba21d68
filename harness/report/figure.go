// A figure with its numbers and caption, and the formats it is written in.

package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// Figure is a drawing with the numbers behind it and a caption. No text lies on another, on a line or on a marker: a label
// that is too long for its place is cut with an ellipsis, a number or a name that finds no room is left out, and the CSV
// has all of them in full.
type Figure struct {
	Name    string
	Caption string

	width, height vg.Length
	paint         func(draw.Canvas)
	records       [][]string    // CSV, heads first
	spots         func() []spot // of the last drawing; nil: it has none
	money         string        // unit of costs of rivals among them; empty: there are none
}

// spot is where something stands in a drawing, from its lower left corner, and what a page says of it there.
type spot struct {
	at   vg.Point
	says string
	row  *rival // of a plane of cost and accuracy: a row that one may choose; nil: it is none
}

// rival is a row with what it costs, as the axis says it, and its accuracy in percent.
type rival struct {
	label          string
	cost, accuracy float64
	belongs        vg.Point // where its mark would be if no other was there
}

// Format is how a figure is written.
type Format string

const (
	SVG Format = "svg" // byte-stable: the form that is committed
	PNG Format = "png"
	PDF Format = "pdf" // embeds its fonts; two renderings differ in bytes
)

// Write draws f in the given format.
func (f *Figure) Write(w io.Writer, format Format) error {
	var canvas vg.CanvasWriterTo
	switch format {
	case SVG:
		canvas = newSVGCanvas(f.width, f.height)
	case PNG:
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(300))}
	case PDF:
		canvas = pdfCanvas{vgpdf.New(f.width, f.height)}
	default:
		return fmt.Errorf("figure %q: unknown format %q; known: svg, png, pdf", f.Name, format)
	}
	c := draw.New(canvas)
	fillRectangle(c, c.Rectangle, color.White)
	f.paint(draw.Crop(c, margin, -margin, margin, -margin))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return fmt.Errorf("figure %q: %w", f.Name, err)
	}
	out := b.Bytes()
	if canvas, ok := canvas.(svgCanvas); ok {
		var err error
		if out, err = canvas.measured(out); err != nil {
			return fmt.Errorf("figure %q: %w", f.Name, err)
		}
		// The drawing names one font, which few readers have; these are cut to the same widths.
		out = bytes.ReplaceAll(out, []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
		out = bytes.Map(inXML, f.described(out))
	}
	_, err := w.Write(out)
	return err
}

// inXML replaces what XML 1.0 forbids, and the canvas writes as it is, by the replacement character.
func inXML(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xd7ff, r >= 0xe000 && r <= 0xfffd, r >= 0x10000:
		return r
	}
	return utf8.RuneError
}

// described gives a drawing the name and the caption that screen readers say.
func (f *Figure) described(svg []byte) []byte {
	var words bytes.Buffer
	for _, w := range []struct{ element, text string }{{"title", f.Name}, {"desc", f.Caption}} {
		fmt.Fprintf(&words, "<%s>", w.element)
		xml.EscapeText(&words, []byte(w.text)) // a buffer takes everything
		fmt.Fprintf(&words, "</%s>\n", w.element)
	}
	head := bytes.Index(svg, []byte("<g "))
	return slices.Concat(bytes.Replace(svg[:head], []byte("<svg "), []byte(`<svg role="img" `), 1), words.Bytes(), svg[head:])
}

// File is a rendered file.
type File struct {
	Name string // base name with extension
	Data []byte
}

// Files renders f with its numbers (.csv) and its caption (.txt); without formats, as SVG.
func (f *Figure) Files(formats ...Format) ([]File, error) {
	if len(formats) == 0 {
		formats = []Format{SVG}
	}
	var files []File
	for _, format := range formats {
		var b bytes.Buffer
		if err := f.Write(&b, format); err != nil {
			return nil, err
		}
		files = append(files, File{f.Name + "." + string(format), b.Bytes()})
	}
	var b bytes.Buffer
	if err := writeRecords(&b, f.records); err != nil {
		return nil, fmt.Errorf("figure %q: %w", f.Name, err)
	}
	return append(files, File{f.Name + ".csv", b.Bytes()}, File{f.Name + ".txt", []byte(f.Caption + "\n")}), nil
}

// Files renders t as Markdown, LaTeX and CSV.
func (t *Table) Files() ([]File, error) {
	var files []File
	for _, r := range []struct {
		extension string
		writer    interface{ Write(io.Writer, *Table) error }
	}{{".md", Markdown{}}, {".tex", LaTeX{}}, {".csv", CSV{}}} {
		var b bytes.Buffer
		if err := r.writer.Write(&b, t); err != nil {
			return nil, err
		}
		files = append(files, File{t.Name + r.extension, b.Bytes()})
	}
	return files, nil
}
