// How much memory the program takes before it collects garbage.

package main

import (
	"os"
	"runtime/debug"
	"slices"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// How the garbage collector works: seldom, and harder from so many bytes on: main has up to 0.6 GB in use.
// GOGC and GOMEMLIMIT override them.
const (
	garbage     = 400 // percent of what is in use, before it is collected
	memoryLimit = 1200 << 20
)

func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// collectOften is for a command that holds a file of any length and computes little.
func collectOften() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100)
	}
}

// makeRoom lets an experiment with a language model keep what its frozen layers make of texts beside all else.
func makeRoom(r *spec.Resolved) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limitOf(r))
	}
}

// limitOf is the limit of an experiment, in bytes. A language model is that of the experiment or of a row.
func limitOf(r *spec.Resolved) int64 {
	x := &r.Experiment
	if x.Policy.Kind == "lm" || slices.ContainsFunc(x.Methods, func(m spec.Method) bool { return methods.RowTraits(m, x).LM != nil }) {
		return memoryLimit + protocol.RememberedStates
	}
	return memoryLimit
}
