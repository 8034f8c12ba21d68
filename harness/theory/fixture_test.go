package theory

// pilot is the environment of the figure.
func pilot() *Environment {
	return &Environment{
		Cost: []float64{0.0375, 0.5625, 1},
		Buckets: []Bucket{
			{Share: 1, Self: 0.93, Expert: []float64{0.97, 0.98, 0.99}},
			{Share: 1, Self: 0.60, Expert: []float64{0.75, 0.85, 0.92}},
			{Share: 1, Self: 0.25, Expert: []float64{0.45, 0.62, 0.80}},
		},
		Horizon: 4, Distraction: 0.05,
	}
}

func training(seed uint64) Training {
	return Training{Steps: 250, Batch: 24, Group: 16, LR: 0.05, InitialCall: 0.9, Seed: seed, LogEvery: 5}
}

// own are the weights of a table or a perceptron.
func own(n network) *weights {
	if p, ok := n.(*policy); ok {
		n = p.network
	}
	return n.(interface{ params() *weights }).params()
}

func (w *weights) params() *weights { return w }
