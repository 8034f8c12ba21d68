// Package present decides what tables, figures and captions of an experiment show. It reads the spec, its measurements and
// the paper's tables; it measures nothing, carries nothing out and writes no files.
package present

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Outputs are the outputs of a finished experiment, in the order of its spec. They are made of the measurements and of the
// files paper/<table>.txt of papers: nothing is measured.
func Outputs(r *Run, papers fs.FS) ([]Output, error) {
	for _, m := range r.Spec.Experiment.Methods {
		if len(r.Measurements.Where(metrics.Keys("method", m.RowID())...)) == 0 {
			return nil, fmt.Errorf("nothing was measured of row %s", m.RowID())
		}
	}
	paper, err := r.readPublished(papers)
	if err != nil {
		return nil, err
	}
	var all []Output
	for _, o := range r.Spec.Experiment.Outputs {
		made, err := r.output(o, paper)
		if err != nil {
			return nil, err
		}
		for _, t := range made.Tables {
			t.Style = r.Style
		}
		all = append(all, made)
	}
	return all, nil
}

// Draw prints the tables of a finished experiment, each with one Write, and returns the files of its outputs: tables as Markdown, LaTeX and CSV, words as text,
// figures in the given formats (none: SVG) with their numbers and caption, and the measurements themselves. It measures
// nothing: our numbers are read from the measurements, the paper's from the files paper/<table>.txt of papers. What it
// works out follows from these: whole rows of the paper, shares of the coverage, differences, and what is best.
func Draw(r *Run, papers fs.FS, to report.Terminal, w io.Writer, formats ...report.Format) ([]report.File, error) {
	made, err := Outputs(r, papers)
	if err != nil {
		return nil, err
	}
	var files []report.File
	for _, d := range made {
		if d.Text != "" {
			files = append(files, report.File{Name: d.File + ".txt", Data: []byte(d.Text)})
		}
		for _, t := range d.Tables {
			if d.printed {
				var text bytes.Buffer
				if err := to.Write(&text, t); err != nil {
					return nil, err
				}
				text.WriteByte('\n')
				if _, err := w.Write(text.Bytes()); err != nil {
					return nil, err
				}
			}
			f, err := t.Files()
			if err != nil {
				return nil, err
			}
			files = append(files, f...)
		}
		for _, fig := range d.Figures {
			f, err := fig.Files(formats...)
			if err != nil {
				return nil, err
			}
			files = append(files, f...)
		}
	}
	measured, err := r.measured()
	if err != nil {
		return nil, err
	}
	files = append(files, measured)
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.Name] {
			return nil, fmt.Errorf("%w: spec %s: two outputs write %s; give one of them another file", spec.ErrUsage, r.Spec.Experiment.Name, f.Name)
		}
		seen[f.Name] = true
	}
	return files, nil
}

// Conclude prints the outputs of a finished experiment that are words. They are the last that is said of it: what a reader came for is
// the last line.
func Conclude(r *Run, w io.Writer) error {
	for _, o := range r.Spec.Experiment.Outputs {
		of, _ := kindOf(o)
		if of.text == nil {
			continue
		}
		text, err := of.text(r, o)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}
