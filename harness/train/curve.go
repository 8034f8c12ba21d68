// Curves of trainings.

package train

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
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
}

// Curve is the record of a training.
type Curve struct {
	Experts []string // [M]
	Points  []Point
}

// Append adds the points of a later stage.
func (c *Curve) Append(later *Curve) { c.Points = append(c.Points, later.Points...) }

// WriteCSV writes one line a step, decimals fixed, what was not measured empty.
func (c *Curve) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"stage", "step", "epoch", "rate", "loss", "reward", "entropy", "anchor_kl", "zero_groups"}
	for _, e := range c.Experts {
		head = append(head, "share:"+e)
	}
	out.Write(head)
	for _, p := range c.Points {
		line := []string{p.Stage, strconv.Itoa(p.Step), strconv.Itoa(p.Epoch), strconv.FormatFloat(p.Rate, 'e', 6, 64)}
		for _, v := range append([]float64{p.Loss, p.Reward, p.Entropy, p.AnchorKL, p.ZeroGroups}, p.Share...) {
			cell := ""
			if !math.IsNaN(v) {
				cell = strconv.FormatFloat(v, 'f', 6, 64)
			}
			if cell == "-0.000000" { // the sign of a rounding error
				cell = "0.000000"
			}
			line = append(line, cell)
		}
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}
