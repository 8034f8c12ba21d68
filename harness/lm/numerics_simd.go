//go:build goexperiment.simd

package lm

// Numerics tells apart builds whose losses differ.
const Numerics = "+simd"
