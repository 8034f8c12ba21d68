// How much memory the program takes before it collects garbage.

package main

import (
	"os"
	"runtime/debug"

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

// makeRoom lets an experiment with a language model keep what its frozen layers make of texts beside all else.
func makeRoom(r *spec.Resolved) {
	if os.Getenv("GOMEMLIMIT") == "" && r.Experiment.Policy.Kind == "lm" {
		debug.SetMemoryLimit(memoryLimit + protocol.RememberedStates)
	}
}
