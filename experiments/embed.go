// Package experiments holds the specs that are built into the binary: one YAML file a table or figure, the defaults
// in base.yaml, the problem sets in benchmarks.yaml, and the pools and price lists they name.
package experiments

import "embed"

// FS is the tree that spec.Load reads.
//
//go:embed *.yaml pools/*.yaml prices/*.yaml
var FS embed.FS
