// Curves of trainings.

package train

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/table"
)

// Point is one optimizer step of a curve. What a stage does not measure is NaN.
type Point struct {
	Stage string // sft or grpo
	Step  int    // 0-based, within the stage
	Epoch int    // 0-based pass over the data
	Rate  float64
	Loss  float64 // mean over the inner epochs of the step

	Reward     float64   // mean shaped reward of the sampled choices, or its expectation under the policy (exact)
	Entropy    float64   // of the policy before the step, mean over the batch, in nats
	AnchorKL   float64   // KL(pi || pi_ref) before the step, mean over the batch, in nats
	ZeroGroups float64   // share of prompts whose rollouts all got one reward: they teach nothing
	Share      []float64 // [M] mean probability of every expert before the step

	Written float64 // mean tokens that were written before a choice; 0: the policy only chooses
	Cut     float64 // share of texts that were cut before one
	Gap     float64 // mean distance of the log-probabilities that a server gave written tokens from those computed here, in nats; NaN: none did
}

// Curve is the record of a training.
type Curve struct {
	Experts []string // [M]
	Points  []Point
}

// Append adds the points of a later stage.
func (c *Curve) Append(later *Curve) { c.Points = append(c.Points, later.Points...) }

// WriteCSV writes one line a step, decimals fixed, what was not measured empty. What was written has columns if anything was.
func (c *Curve) WriteCSV(w io.Writer) error {
	wrote := slices.ContainsFunc(c.Points, func(p Point) bool { return p.Written > 0 })
	return table.Write(w, columns(c.Experts, wrote), c.Points)
}

// ReadCSV reads what WriteCSV wrote of a training with these experts.
func ReadCSV(file string, r io.Reader, experts []string) (*Curve, error) {
	c := &Curve{Experts: experts}
	in := bufio.NewReader(r)
	head, err := in.ReadString('\n')
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	wrote := strings.Contains(head, ","+writtenColumn+",")
	return c, table.Read(file, io.MultiReader(strings.NewReader(head), in), columns(experts, wrote), func(p Point) error {
		c.Points = append(c.Points, p)
		return nil
	})
}

// writtenColumn is the first of those that a policy has that writes.
const writtenColumn = "written"

func columns(experts []string, wrote bool) []table.Column[Point] {
	list := []table.Column[Point]{
		table.Text("stage", func(p *Point) *string { return &p.Stage }),
		table.Int("step", func(p *Point) *int { return &p.Step }),
		table.Int("epoch", func(p *Point) *int { return &p.Epoch }),
		{Name: "rate", Text: func(p *Point) string { return strconv.FormatFloat(p.Rate, 'e', 6, 64) }, Set: func(p *Point, text string) (err error) {
			p.Rate, err = strconv.ParseFloat(text, 64)
			return err
		}},
		table.Measured("loss", 6, func(p *Point) *float64 { return &p.Loss }),
		table.Measured("reward", 6, func(p *Point) *float64 { return &p.Reward }),
		table.Measured("entropy", 6, func(p *Point) *float64 { return &p.Entropy }),
		table.Measured("anchor_kl", 6, func(p *Point) *float64 { return &p.AnchorKL }),
		table.Measured("zero_groups", 6, func(p *Point) *float64 { return &p.ZeroGroups }),
	}
	if wrote {
		list = append(list, table.Measured(writtenColumn, 6, func(p *Point) *float64 { return &p.Written }), table.Measured("cut", 6, func(p *Point) *float64 { return &p.Cut }), table.Measured("server_gap", 6, func(p *Point) *float64 { return &p.Gap }))
	}
	for i, e := range experts {
		list = append(list, table.Measured("share:"+e, 6, func(p *Point) *float64 {
			if p.Share == nil {
				p.Share = make([]float64, len(experts))
			}
			return &p.Share[i]
		}))
	}
	return list
}
