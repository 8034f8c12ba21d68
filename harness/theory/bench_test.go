package theory

import "testing"

// Router-R1 and xRouter as they are trained in experiments, at a tenth of the steps.
func BenchmarkLearn(b *testing.B) {
	e := problems(2000)
	e.Horizon, e.Assimilation, e.Select = 4, 0.15, true
	for i := range e.Buckets { // what rows of an experiment see: a number for the router and for each expert
		f := &e.Buckets[i].Features
		for len(*f) < 6 {
			*f = append(*f, (*f)[1]*float64(len(*f)))
		}
	}
	for name, t := range map[string]Training{
		PPO:  {Algorithm: PPO, Steps: 23, Batch: 64, Group: 1, MiniBatch: 32, LR: 0.003, CriticLR: 0.03, ClipLow: 0.2, ClipHigh: 0.2, ValueClip: 0.5, ClipNorm: 1, EntropyBonus: 0.001, KL: 0.001, Hidden: 32},
		GRPO: {Steps: 10, Batch: 128, Group: 16, MiniBatch: 32, LR: 0.003, ClipLow: 0.2, ClipHigh: 0.28, Hidden: 32, Filter: ByReward, Batches: 3},
	} {
		t.InitialCall, t.LogEvery, t.Seed = 0.9, 1, 1
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Learn(b.Context(), e, Reward{Kind: XRouter, Lambda: 0.3, CostMax: 0.8}, t); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
