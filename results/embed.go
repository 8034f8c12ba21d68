// Package results carries the numbers that runs are compared with: the paper's own tables under paper/, one
// file a table, in the measurement format of package metrics. They are transcribed as printed, digit by digit,
// contradictions included.
package results

import "embed"

// FS holds paper/*.txt, claims.yaml and orderings.yaml.
//
//go:embed paper/*.txt paper/*.yaml
var FS embed.FS
