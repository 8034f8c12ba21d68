// Numbers about the steps of a training: the lines Curve of trained policies.

package score

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Step is one step of a training. What was not measured is NaN.
type Step struct {
	Stage   string // "sft", "grpo" or "rounds"
	Step    int
	Loss    float64
	Reward  float64
	Entropy float64   // of the policy, nats
	Anchor  float64   // KL divergence from the anchor, nats
	Zero    float64   // share of prompts whose rollouts all got one reward
	Share   []float64 // [M] of the prompts

	Calls    float64 // share of episodes with a call
	Accuracy float64 // share of episodes with a right answer
}

// Training averages the curves of a row's trainings, and each over windows of steps; a stage is as long as the shortest of
// them.
// Low and high of a value are the least and the most over trainings, and one has none; the key step is the first step of a
// window. The first and the last window of a stage have lines of single trainings as well, so that what a stage changed can be
// told one by one. ids [trainings] are the keys that tell these apart.
func Training(at []metrics.Key, experts []string, ids []metrics.Key, trainings [][]Step) []metrics.Measurement {
	var out []metrics.Measurement
	for _, stage := range stagesOf(trainings[0]) {
		curves := make([][]Step, len(trainings))
		n := len(trainings[0])
		for i, t := range trainings {
			curves[i] = slices.DeleteFunc(slices.Clone(t), func(s Step) bool { return s.Stage != stage })
			n = min(n, len(curves[i]))
		}
		window := (n + units.CurvePoints - 1) / units.CurvePoints
		for from := 0; from < n; from += window {
			to := min(from+window, n)
			over := func(some [][]Step, unit string, decimals int, scale float64, of func(Step) float64) []metrics.Value {
				return Ranged(some, unit, decimals, func(s []Step) float64 {
					var x float64
					for _, p := range s[from:to] {
						x += scale * of(p) / float64(to-from)
					}
					return x
				})
			}
			here := append(slices.Clone(at), metrics.Keys("stage", stage, "step", fmt.Sprintf("%0*d", len(strconv.Itoa(n)), curves[0][from].Step))...)
			all := func(some [][]Step) (values []metrics.Value) {
				if stage == "sft" {
					values = over(some, units.Loss, 4, 1, func(p Step) float64 { return p.Loss })
				}
				return slices.Concat(values,
					over(some, units.RewardUnit, 4, 1, func(p Step) float64 { return p.Reward }),
					over(some, units.PolicyEntropy, 4, 1, func(p Step) float64 { return p.Entropy }),
					over(some, units.AnchorKL, 4, 1, func(p Step) float64 { return p.Anchor }),
					over(some, units.ZeroGroups, 2, 100, func(p Step) float64 { return p.Zero }),
					over(some, units.CallRate, 2, 100, func(p Step) float64 { return p.Calls }),
					over(some, metrics.Accuracy, 2, 100, func(p Step) float64 { return p.Accuracy }))
			}
			out = append(out, metrics.Measurement{Name: "Curve", Keys: here, N: len(curves), Values: all(curves)})
			if len(curves) > 1 && (from == 0 || to == n) {
				for k, id := range ids {
					out = append(out, metrics.Measurement{Name: "Curve", Keys: append(slices.Clone(here), id), N: 1, Values: all(curves[k : k+1])})
				}
			}
			for e, id := range experts[:len(curves[0][from].Share)] {
				out = append(out, metrics.Measurement{Name: "Curve", Keys: append(slices.Clone(here), metrics.Key{Name: "expert", Value: id}), N: len(curves),
					Values: over(curves, units.Share, 2, 100, func(p Step) float64 { return p.Share[e] })})
			}
		}
	}
	return out
}

// stagesOf are the stages of a training in their order.
func stagesOf(t []Step) (stages []string) {
	for _, s := range t {
		if !slices.Contains(stages, s.Stage) {
			stages = append(stages, s.Stage)
		}
	}
	return stages
}

// Ranged is the mean over trainings of a number with the least and the most of them; nothing if it was not measured. One
// training has no range.
func Ranged[T any](trainings []T, unit string, decimals int, of func(T) float64) []metrics.Value {
	var mean float64
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range trainings {
		x := of(s)
		mean += x / float64(len(trainings))
		low, high = min(low, x), max(high, x)
	}
	if math.IsNaN(mean) {
		return nil
	}
	v := metrics.Rounded(mean, unit, decimals)
	if len(trainings) > 1 {
		v = v.Within(low, high)
	}
	return []metrics.Value{v}
}
