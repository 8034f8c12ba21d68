//go:build !goexperiment.simd

// What tells builds apart whose losses differ: this one computes without vector instructions.

package policy

// Numerics tells apart builds whose losses differ.
const Numerics = ""
