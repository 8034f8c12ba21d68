// Package results carries the numbers that runs are compared with, in the measurement format of package metrics: the
// paper's own tables under paper/, one file a table, transcribed as printed, digit by digit, contradictions included; and
// under reference/ our own measurements, which 'entrorouter check' holds a run against.
package results

import "embed"

// FS holds the paper's tables and shares, claims.yaml and orderings.yaml under paper/, and reference/*/measurements.txt.
//
//go:embed paper/*.txt paper/*.yaml reference/*/*.txt
var FS embed.FS
