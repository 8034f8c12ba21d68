// Tables, sheets and figures as elements of an HTML page.

package report

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/plot/vg"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// HTML writes tables, sheets and figures as elements of one page. What they look like is the page's: they have classes and no
// styles, apart from those of drawings, which Styles returns when all of them are made. The zero value is ready to use.
//
// Classes: a row is ours (none), paper or difference; each with those below it, and each section, is a tbody. Leading columns of a single
// benchmark can be folded by a page where the table has an average too: their headings are of class g, and the table of class keptN, N being
// how many columns are behind them, mostKept at most, so that no cell, of which there are thousands, needs a class.
type HTML struct {
	Link func(Row) Link // where numbers of a row lead to; may be nil

	captions int               // so far: their numbers are shorter ids than their names, which a page has thousands of times
	said     map[string]bool   // notes of the section; nil: there is none
	long     map[string]string // ids of long notes of sections
	classes  map[string]string // of drawings, by style
	styles   []string          // in the order of their first use
}

// Section begins a part of the page: a note of one of its tables is not repeated by the next, which says so, and a long one of an earlier
// part is led to.
func (h *HTML) Section() { h.said = map[string]bool{} }

// longNote is how many bytes a note has at least that is written once on a page of sections.
const longNote = 100

// note is one that no table of the section has had.
func (h *HTML) note(text string) htmlNote {
	if h.said == nil || len(text) < longNote {
		return htmlNote{Text: text}
	}
	if id, ok := h.long[text]; ok {
		return htmlNote{Text: text[:strings.IndexAny(text+".", ".,:")], At: id}
	}
	if h.long == nil {
		h.long = map[string]string{}
	}
	h.long[text] = "n" + strconv.Itoa(1+len(h.long))
	return htmlNote{Text: text, ID: h.long[text]}
}

// captionID is the id of the next caption.
func (h *HTML) captionID() string {
	h.captions++
	return "k" + strconv.Itoa(h.captions)
}

// Link is where numbers of a row lead to. For a script that filters there, the line has the row's id, and the heads of columns have
// their benchmarks, as measurements call them.
type Link struct {
	Href, Row string // Href empty: nowhere
	Name      bool   // the row's name leads there alone: its numbers are of other questions
}

//go:embed html.gohtml
var htmlFiles embed.FS

var htmlTemplates = sync.OnceValue(func() *template.Template { return template.Must(template.New("").ParseFS(htmlFiles, "html.gohtml")) })

// fill carries out one of the templates.
func fill(name string, with any) (template.HTML, error) {
	var b bytes.Buffer
	err := htmlTemplates().ExecuteTemplate(&b, name, with)
	return template.HTML(b.String()), err // what html/template wrote is escaped
}

type htmlTable struct {
	*Table
	CaptionID string
	Groups    []htmlGroup
	Columns   []htmlColumn
	Bodies    []htmlBody
	Notes     []htmlNote
	Above     bool // notes of an earlier table hold here too
	Kept      int  // columns behind those that can be folded; 0: none can
	Width     int  // columns, with that of the labels
}

// htmlNote is a note, or, where an earlier part of the page has it, how it begins.
type htmlNote struct{ Text, ID, At string }

type htmlGroup struct {
	Title string
	Span  int
	Fold  bool
}

type htmlColumn struct {
	Title, Benchmark string
	Fold             bool
}

type htmlBody struct {
	Section string // heading; then there are no lines
	Lines   []htmlLine
}

type htmlLine struct {
	Class, Label string
	Link         Link
	Named        bool // the label leads there, since no number does
	Cells        []htmlCell
}

type htmlCell struct {
	Class, Number, Spread string
	Best                  bool
	Leads                 bool // where the line's link leads to
}

// Table returns a table with its caption and notes.
func (h *HTML) Table(t *Table) (template.HTML, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	out := htmlTable{Table: t, CaptionID: h.captionID(), Width: 1}
	for _, note := range t.notes("Bold") {
		if h.said[note] {
			out.Above = true
			continue
		}
		out.Notes = append(out.Notes, h.note(note))
		if h.said != nil {
			h.said[note] = true
		}
	}
	folds := slices.ContainsFunc(t.Groups, func(g Group) bool { return g.Benchmark == metrics.Average })
	for i, slots := range t.slots() {
		g := t.Groups[i]
		folds = folds && g.Benchmark != "" && g.Benchmark != metrics.Average
		out.Groups = append(out.Groups, htmlGroup{g.Title, len(slots), folds})
		for _, s := range slots {
			out.Columns = append(out.Columns, htmlColumn{s.Title, g.Benchmark, folds})
			out.Width++
		}
	}
	for _, c := range slices.Backward(out.Columns) {
		if c.Fold {
			break
		}
		out.Kept++
	}
	if out.Kept > mostKept || out.Kept == len(out.Columns) {
		out.Kept = 0
		for i := range out.Groups {
			out.Groups[i].Fold = false
		}
		for i := range out.Columns {
			out.Columns[i].Fold = false
		}
	}
	for _, l := range t.lines() {
		if l.role == section {
			out.Bodies = append(out.Bodies, htmlBody{Section: l.label}, htmlBody{})
			continue
		}
		if l.role == ours && (len(out.Bodies) == 0 || len(out.Bodies[len(out.Bodies)-1].Lines) > 0) {
			out.Bodies = append(out.Bodies, htmlBody{})
		}
		body := &out.Bodies[len(out.Bodies)-1]
		line := htmlLine{Class: classOf[l.role], Label: l.label}
		if r := t.Rows[l.row]; h.Link != nil && r.Keys != nil && l.role == ours {
			line.Link = h.Link(r)
		}
		for k, c := range l.cells {
			cell := htmlCell{Number: c.number, Spread: c.spread, Best: c.best}
			if l.role == ours && c.role != ours {
				cell.Class = classOf[c.role]
			}
			cell.Leads = line.Link.Href != "" && !line.Link.Name && out.Columns[k].Benchmark != "" && c.role == ours && c.number != "" && c.number != missing
			line.Cells = append(line.Cells, cell)
		}
		line.Named = line.Link.Href != "" && !slices.ContainsFunc(line.Cells, func(c htmlCell) bool { return c.Leads })
		if behind := line.Cells[len(line.Cells)-cmp.Or(out.Kept, len(line.Cells)):]; l.role != ours && !slices.ContainsFunc(behind, func(c htmlCell) bool { return c.Number != "" }) {
			line.Class += " g" // nothing is left of it where benchmarks are folded
		}
		body.Lines = append(body.Lines, line)
	}
	if !slices.ContainsFunc(out.Bodies, func(b htmlBody) bool {
		return slices.ContainsFunc(b.Lines, func(l htmlLine) bool { return l.Link.Href != "" })
	}) {
		for k := range out.Columns {
			out.Columns[k].Benchmark = "" // nothing asks for it
		}
	}
	return fill("table", out)
}

// mostKept is the most columns behind some that can be folded: a page has a rule for each number of them.
const mostKept = 6

// classOf has the class of a role; ours has none.
var classOf = map[role]string{paper: "paper", difference: "difference"}

type htmlSheet struct {
	*Sheet
	CaptionID string
	Grids     []htmlGrid
}

type htmlGrid struct {
	Grid
	Rows []htmlWords
}

type htmlWords struct {
	Heading string // of the rows that follow; then there are no cells
	Cells   []Text
}

// Sheet returns a sheet: each grid is a table.
func (h *HTML) Sheet(s *Sheet) (template.HTML, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	out := htmlSheet{Sheet: s, CaptionID: h.captionID()}
	for _, g := range s.Grids {
		grid := htmlGrid{Grid: g}
		for _, r := range g.Rows {
			words := htmlWords{Cells: r}
			if !slices.ContainsFunc(r[1:], func(t Text) bool { return t.Lead != "" || len(t.Lines) > 0 }) && len(r[0].Lines) == 0 {
				words = htmlWords{Heading: r[0].Lead}
			}
			grid.Rows = append(grid.Rows, words)
		}
		out.Grids = append(out.Grids, grid)
	}
	return fill("sheet", out)
}

// Figure returns a figure with its drawing and caption. The drawing can be read without styles of its own, so that a page need not
// allow any.
func (h *HTML) Figure(f *Figure) (template.HTML, error) {
	var svg bytes.Buffer
	wide, enlarged := f.width > figureWidth, wideMagnified
	shown := *f
	if !wide {
		shown.width, enlarged = screenWidth, magnified
	}
	if err := shown.Write(&svg, SVG); err != nil {
		return "", err
	}
	var spots []spot
	if f.spots != nil {
		spots = f.spots()
	}
	drawing, err := h.drawing(&svg, spots, enlarged)
	if err != nil {
		return "", fmt.Errorf("figure %q: %w", f.Name, err)
	}
	return fill("figure", struct {
		*Figure
		CaptionID string
		Wide      bool // wider than a column of a printed page
		Money     string
		Drawing   template.HTML
	}{f, h.captionID(), wide, f.money, drawing})
}

// Styles are the rules of the drawings so far.
func (h *HTML) Styles() string {
	var b strings.Builder
	b.WriteString(".drawing text{transform:" + strings.ReplaceAll(upright, " ", "") + "}\n")
	b.WriteString(":where(.drawing) path{transform:scale(.1);stroke-width:10}\n") // paths are in tenths of a point; 1 point is not said by their styles
	for _, style := range h.styles {
		fmt.Fprintf(&b, ".%s{%s}\n", h.classes[style], style)
	}
	return b.String()
}

// class returns the class of a style of drawings.
func (h *HTML) class(style string) string {
	if h.classes == nil {
		h.classes = map[string]string{}
	}
	if h.classes[style] == "" {
		h.classes[style] = fmt.Sprintf("v%x", len(h.styles))
		h.styles = append(h.styles, style)
	}
	return h.classes[style]
}

// drawn are the elements of a drawing, with the attributes that are taken over. Nothing else is.
var drawn = map[string][]string{
	"svg":  nil, // its viewBox says how wide it is
	"g":    {"transform"},
	"path": nil,
	"text": {"textLength", "x", "y", "transform"}, // glyphs keep their form: only what is between them is fitted
}

// upright is what drawings do to every text, as they have their lower left corner at the origin.
const upright = "scale(1, -1)"

// turned is what they do to a text that runs upwards.
const turned = "rotate(90)"

// What fits a column of print is drawn wider on a page, without larger type, and enlarged more than what is wide anyway: at most so
// many pixels per point.
const (
	screenWidth   = vg.Length(280)
	magnified     = 2.5
	wideMagnified = 2.0
)

// breadth is that of a drawing in points, from its viewBox.
func breadth(viewBox string) (w float64) {
	if f := strings.Fields(viewBox); len(f) == 4 {
		w, _ = strconv.ParseFloat(f[2], 64) // 0, which is no width, where it is no number
	}
	return w
}

// measure is a number with more than one decimal: a tenth of a point is all that a screen shows.
var measure = regexp.MustCompile(`\d+\.\d{2,}`)

// narrow says whether a text is so short that no font of a reader's makes it much wider: as the numbers of axes are.
func narrow(width string) bool {
	points, err := strconv.ParseFloat(width, 64)
	return err == nil && points < 18
}

func tenth(number string) string {
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

var (
	pathStep   = regexp.MustCompile(`([A-Za-z])([^A-Za-z]*)`)
	pathNumber = regexp.MustCompile(`[-.\d]+`)
	bareNumber = regexp.MustCompile(`^-?[.\d]+$`)
	// strokeMeasure is what of the style of a path is in points.
	strokeMeasure = regexp.MustCompile(`stroke-(?:width|dasharray):[\d.,]+`)
	styleNumber   = regexp.MustCompile(`[\d.]+`)
)

// tenths is a number of points as a number of tenths.
func tenths(number string) (int, error) {
	x, err := strconv.ParseFloat(number, 64)
	return int(math.Round(10 * x)), err
}

// inTenths is a style of paths whose unit is a tenth of a point.
func inTenths(style string) string {
	return strokeMeasure.ReplaceAllStringFunc(style, func(rule string) string {
		return styleNumber.ReplaceAllStringFunc(rule, func(number string) string {
			x, err := strconv.ParseFloat(number, 64)
			if err != nil {
				return number
			}
			return strconv.FormatFloat(math.Round(1000*x)/100, 'f', -1, 64)
		})
	})
}

// stride is one command of a path: where it leads to, in tenths of a point, and of an arc its numbers before that.
type stride struct {
	command string
	to      [2]int
	radii   [2]int
	flags   string
}

// strides reads a path. It knows the commands that the canvas writes.
func strides(path string) (all []stride, err error) {
	for _, step := range pathStep.FindAllStringSubmatch(path, -1) {
		command, numbers := step[1], pathNumber.FindAllString(step[2], -1)
		n := map[string]int{"M": 2, "L": 2, "A": 7, "Z": 0}[command]
		if len(numbers) != n || n == 0 && command != "Z" {
			return nil, fmt.Errorf("a drawing has a path with %s, which pages do not know", step[0])
		}
		s := stride{command: command}
		var of []int
		for _, number := range numbers {
			x, err := tenths(number)
			if err != nil {
				return nil, fmt.Errorf("a drawing has a path with %s, which has no number %q", step[0], number)
			}
			of = append(of, x)
		}
		if n > 0 {
			s.to = [2]int(of[n-2:])
		}
		if command == "A" {
			s.radii, s.flags = [2]int(of), numbers[2]+" "+numbers[3]+numbers[4] // flags are of one sign
		}
		all = append(all, s)
	}
	return all, nil
}

const (
	fewCorners = 16 // a shape of so many is drawn as it is
	// How far, in tenths of a point, what is long may pass its corners: a line a pixel of a page, the edge of a band, which is pale, somewhat more.
	unseen      = 5.
	unseenEdged = 12.
)

// straightened leaves out corners of long lines that nobody sees: the line without them passes all of them at most unseen away, that of
// a closed shape at most unseenEdged.
func straightened(all []stride) (out []stride) {
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n].command == "L" {
			n++
		}
		if line := all[i : i+n]; n <= fewCorners {
			out = append(out, line...)
		} else {
			most := unseen
			if i+n < len(all) && all[i+n].command == "Z" {
				most = unseenEdged
			}
			out = append(append(out, line[0]), thinned(line, most)...)
		}
		i += n
	}
	return out
}

// thinned are the strides of a line after its first that are kept (Ramer 1972, Douglas and Peucker 1973).
func thinned(line []stride, unseen float64) []stride {
	last := len(line) - 1
	if last < 2 {
		return line[1:]
	}
	from, to := line[0].to, line[last].to
	dx, dy := float64(to[0]-from[0]), float64(to[1]-from[1])
	far, most := 0, unseen
	for i, s := range line[1:last] {
		x, y := float64(s.to[0]-from[0]), float64(s.to[1]-from[1])
		t := 0.0 // where on the line between the ends the corner is nearest
		if length := dx*dx + dy*dy; length > 0 {
			t = min(max((x*dx+y*dy)/length, 0), 1)
		}
		if d := math.Hypot(x-t*dx, y-t*dy); d > most {
			far, most = i+1, d
		}
	}
	if far == 0 {
		return line[last:]
	}
	return append(slices.Clone(thinned(line[:far+1], unseen)), thinned(line[far:], unseen)...)
}

// relative writes a path from each of its points to the next in tenths of a point, which is a third as long.
func relative(path string) (string, error) {
	all, err := strides(path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var at, start [2]int
	before := ""
	for _, s := range straightened(all) {
		command, to := s.command, s.to
		if command == "Z" {
			b.WriteString("Z")
			at, before = start, ""
			continue
		}
		letter, by := strings.ToLower(command), []int{to[0] - at[0], to[1] - at[1]}
		switch {
		case letter == "l" && by[1] == 0:
			letter, by = "h", by[:1]
		case letter == "l" && by[0] == 0:
			letter, by = "v", by[1:]
		}
		if letter != before {
			b.WriteString(letter)
		} else if command == "A" || by[0] >= 0 {
			b.WriteString(" ")
		}
		if command == "A" {
			fmt.Fprintf(&b, "%d %d %s", s.radii[0], s.radii[1], s.flags)
		}
		for k, x := range by {
			if k > 0 && x >= 0 {
				b.WriteString(" ")
			}
			b.WriteString(strconv.Itoa(x))
		}
		at, before = to, letter
		if command == "M" {
			start, before = to, "l" // what follows a move are lines
		}
	}
	return circle.ReplaceAllStringFunc(b.String(), oneArc), nil
}

// circle is a circle as the canvas writes it, of two arcs, in relative steps.
var circle = regexp.MustCompile(`a\d+ \d+ 0 11-\d+ 0 \d+ \d+ 0 11\d+ 0Z`)

// oneArc writes a circle as one arc to a tenth of a point before where it began, which takes half as many characters.
func oneArc(arcs string) string {
	var r, same, width int
	if _, err := fmt.Sscanf(arcs, "a%d %d 0 11-%d", &r, &same, &width); err != nil || arcs != fmt.Sprintf("a%d %d 0 11-%d 0 %d %d 0 11%d 0Z", r, r, 2*r, r, r, 2*r) {
		return arcs
	}
	return fmt.Sprintf("a%d %d 0 110-1Z", r, r)
}

// drawing writes an SVG file as an element of a page, its styles as classes, with what a pointer is told on its spots, which are its
// circles, at most so many pixels per point. Its name and caption are left to the page.
func (h *HTML) drawing(svg io.Reader, spots []spot, enlarged float64) (template.HTML, error) {
	var b strings.Builder
	d := xml.NewDecoder(svg)
	var open []string       // elements
	var shape, class string // of paths that follow each other in one style: they are written as one
	var unknown error       // the first path that cannot be written
	draw := func() {
		if shape == "" {
			return
		}
		steps, err := relative(shape)
		if unknown == nil {
			unknown = err
		}
		fmt.Fprintf(&b, `<path class=%s d="%s"/>`, class, steps)
		shape = ""
	}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return template.HTML(b.String()), unknown // elements that we know, and escaped text
		}
		if err != nil {
			return "", err
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			if name == "title" || name == "desc" {
				if err := d.Skip(); err != nil {
					return "", err
				}
				continue
			}
			known, ok := drawn[name]
			if !ok {
				return "", fmt.Errorf("a drawing has the element %s, which pages do not know", name)
			}
			open = append(open, name)
			if name == "path" {
				of, style := "", ""
				for _, a := range x.Attr {
					switch a.Name.Local {
					case "d":
						of = a.Value
					case "style":
						style = h.class(inTenths(a.Value))
					}
				}
				if style != class {
					draw()
				}
				shape, class = shape+of, style
				continue
			}
			draw()
			b.WriteString("<" + name)
			if name == "svg" {
				b.WriteString(` aria-hidden=true`)
			}
			for _, a := range x.Attr {
				switch {
				case name == "text" && a.Name.Local == "transform" && a.Value == upright: // Styles has it
				case name == "g" && a.Name.Local == "transform" && a.Value == turned: // of the name of every vertical axis
					fmt.Fprintf(&b, ` class=%s`, h.class("transform:rotate(90deg)"))
				case a.Name.Local == "textLength" && narrow(a.Value):
				case a.Name.Local == "viewBox" && name == "svg":
					fmt.Fprintf(&b, ` width=%.0f viewBox="%s"`, enlarged*breadth(a.Value), template.HTMLEscapeString(a.Value))
				case slices.Contains(known, a.Name.Local):
					value := strings.ReplaceAll(measure.ReplaceAllStringFunc(a.Value, tenth), ", ", ",")
					if !bareNumber.MatchString(value) {
						value = `"` + template.HTMLEscapeString(value) + `"`
					}
					fmt.Fprintf(&b, ` %s=%s`, a.Name.Local, value)
				case a.Name.Local == "style":
					fmt.Fprintf(&b, ` class=%s`, h.class(a.Value))
				}
			}
			b.WriteString(">")
		case xml.EndElement:
			switch open = open[:len(open)-1]; x.Name.Local {
			case "path":
				continue
			case "g":
				draw()
				if len(open) == 1 { // the whole drawing
					for _, s := range spots {
						row := ""
						if r := s.row; r != nil {
							row = fmt.Sprintf(` data-row="%s" data-cost=%.6g data-accuracy=%.6g`, template.HTMLEscapeString(r.label), r.cost, r.accuracy)
							if r.belongs != s.at {
								row += fmt.Sprintf(` data-x=%.1f data-y=%.1f`, r.belongs.X.Points(), r.belongs.Y.Points())
							}
						}
						fmt.Fprintf(&b, `<circle cx=%.1f cy=%.1f%s><title>%s</title></circle>`, s.at.X.Points(), s.at.Y.Points(), row, template.HTMLEscapeString(s.says))
					}
				}
			}
			b.WriteString("</" + x.Name.Local + ">")
		case xml.CharData:
			if len(open) > 0 && open[len(open)-1] == "text" {
				template.HTMLEscape(&b, x)
			}
		}
	}
}
