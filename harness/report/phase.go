// The phase diagram of collapse.

package report

import (
	"errors"
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// PhaseLayout says which measurements the phase diagram shows: Sweep lines with the keys lambda, assimilation and bucket,
// Threshold lines with lambda and bucket.
type PhaseLayout struct {
	Name         string
	Caption      string
	Assimilation []string // of the sweep, rising
	Lambda       []string // of the sweep, rising
	Buckets      []Term
	Experts      int
}

// phasePanel is one kind of problem.
type phasePanel struct {
	label     string
	cells     []cell
	empty     []cell // those whose trust region is empty for every expert
	once, any series // thresholds of one call and of as many as allowed
}

// Phase draws, for each kind of problem, the calls after training over assimilation and price of cost, the closed-form
// boundaries below which calls do not pay, and the cells in which the trust region of the theorem is empty.
func Phase(l PhaseLayout, set *metrics.Set) (*Figure, error) {
	if len(l.Assimilation) < 2 || len(l.Lambda) < 2 || len(l.Buckets) == 0 {
		return nil, fmt.Errorf("figure %q: no bucket or no grid to show", l.Name)
	}
	r := collapseReader{set: set}
	var panels []phasePanel
	records := [][]string{{"bucket", "series", "assimilation", "lambda", "call-rate-%"}}
	for _, b := range l.Buckets {
		d := phasePanel{label: b.Label}
		for _, lambda := range l.Lambda {
			for _, a := range l.Assimilation {
				at := []string{"lambda", lambda, "assimilation", a, "bucket", b.Value}
				x := cell{r.number(a), r.number(lambda), r.value(units.CallRate, "Sweep", at...).Number}
				d.cells = append(d.cells, x)
				state := "trained"
				if r.value(units.NoRegion, "Sweep", at...).Number == float64(l.Experts) {
					d.empty = append(d.empty, x)
					state = "trained, trust region empty"
				}
				records = append(records, []string{b.Label, state, a, lambda, number(x.rate)})
			}
			for _, t := range []struct {
				unit, name string
				to         *series
			}{{units.ThresholdOnce, "threshold, one call", &d.once}, {units.ThresholdAny, "threshold, any number of calls", &d.any}} {
				if v, ok := r.find(t.unit, "Threshold", "lambda", lambda, "bucket", b.Value); ok {
					t.to.points = append(t.to.points, sample{x: r.number(lambda), y: v.Number})
					records = append(records, []string{b.Label, t.name, number(v.Number), lambda, ""})
				}
			}
		}
		panels = append(panels, d)
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("figure %q: %w", l.Name, err)
	}
	legend := phaseLegend()
	t := tiles(len(panels))
	return &Figure{
		Name: l.Name, Caption: l.Caption, records: records,
		width: t.width(), height: t.height(legend),
		paint: func(c draw.Canvas) {
			c = legendOver(c, legend)
			for i, d := range panels {
				p := paintCells(t.panel(c, i, "("+string(rune('a'+i))+") "+d.label), d.cells)
				for _, x := range d.empty {
					p.data.DrawGlyph(emptyGlyph(), p.at(x.a, x.lambda))
				}
				for _, s := range []series{phaseOnce(d.once), phaseAny(d.any)} {
					paintEdge(p, s)
				}
			}
		},
	}, nil
}

func phaseOnce(s series) series {
	s.color, s.dashes = color.RGBA{0xE6, 0x9F, 0x00, 0xFF}, dash(1) // light enough over the darkest shade
	return s
}

func phaseAny(s series) series {
	s.color = accent()
	return s
}

func emptyGlyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: color.Gray{0x77}, Radius: 0.9, Shape: draw.CircleGlyph{}}
}

func phaseLegend() []entry {
	legend := shadeLegend("Calls after training: ")
	for _, s := range []series{phaseOnce(series{label: "One call pays to the right"}), phaseAny(series{label: "Some number of calls pays to the right"})} {
		legend = append(legend, lineLegend([]series{s})...)
	}
	return append(legend, markEntry("Trust region empty for every expert", emptyGlyph()))
}
