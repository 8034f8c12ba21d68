// The protocols of experiments: how each is planned, what heads its measurements, and what it has none of.

package harness

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// protocol is how an experiment is carried out. Every protocol ends in steps that measure (engine.measured), and all but
// collapse in arenas behind them.
type protocol struct {
	open func(context.Context, *spec.Resolved, Options) (*engine, error) // plans every step and runs none
	head func(*engine) []string                                          // what stands above the measurements

	noRouter string // why no row routes new problems; empty: rows do
	noTrail  string // why no number leads to problems; empty: numbers do
}

// protocolOf is the one place that tells protocols apart.
func protocolOf(x *spec.Experiment) protocol {
	switch x.Protocol {
	case "folds":
		return protocol{open: newFolds, head: (*engine).foldsHead, noRouter: "whose routers are one a fold"}
	case "collapse":
		return protocol{
			open: newCollapse, head: (*engine).collapseHead, noRouter: "whose policies read no problems",
			noTrail: "whose numbers are expectations over a small environment without problems; the formulas are in package theory",
		}
	}
	return protocol{open: newEngine, head: (*engine).splitHead}
}
