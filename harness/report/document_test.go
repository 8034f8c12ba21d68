package report

import (
	"bytes"
	"strings"
	"testing"
)

func TestWideFiguresGoOverBothColumns(t *testing.T) {
	seeds, err := Seeds(SeedsLayout{Name: "seeds", Panels: sweepLayout(false, "ours").Panels, Rows: []Mark{{Label: "Ours", Keys: sweepLayout(false, "ours").Lines[0].Points[0].Keys}}}, setOf(t, sweepText()))
	if err != nil {
		t.Fatal(err)
	}
	sweep, err := Sweep(sweepLayout(false, "ours"), setOf(t, sweepText()), nil)
	if err != nil {
		t.Fatal(err)
	}
	var figures []Illustration
	for _, f := range []*Figure{seeds, sweep} {
		var pdf bytes.Buffer
		if err := f.Write(&pdf, PDF); err != nil {
			t.Fatal(err)
		}
		figures = append(figures, Illustration{Name: f.Name, Caption: "β of λ", Wide: Wide(pdf.Bytes())})
	}
	if !figures[0].Wide || figures[1].Wide {
		t.Errorf("wide: %v and %v, want the first alone", figures[0].Wide, figures[1].Wide)
	}
	var text strings.Builder
	if err := Document(&text, "All", Chapter{}, []Chapter{{Title: "One", Figures: figures}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\\begin{figure*}[!tp]", "\\end{figure*}", "\\begin{figure}[!tp]", `\caption{$\beta$ of $\lambda$}`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %s in\n%s", want, text.String())
		}
	}
}
