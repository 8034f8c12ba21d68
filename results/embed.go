// Package results carries the numbers that runs are compared with: the paper's own tables under paper/, one
// file a table, in the measurement format of package metrics. They are transcribed as printed, digit by digit,
// contradictions included.
package results

import "embed"

// FS holds paper/*.txt.
//
//go:embed paper/*.txt
var FS embed.FS
