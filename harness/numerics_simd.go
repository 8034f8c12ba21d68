//go:build goexperiment.simd

package harness

// numerics tells apart builds whose losses differ.
const numerics = "+simd"
