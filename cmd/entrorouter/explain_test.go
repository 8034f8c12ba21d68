// Tests of how costs are said.
package main

import (
	"testing"

	"github.com/entrorouter/entrorouter/harness/preflight"
)

func TestHoursAreSaidInTwoDigits(t *testing.T) {
	for h, want := range map[float64]string{
		0.001: "1 minute", 0.5: "30 minutes", 1.99: "119 minutes", 2: "2.0 hours", 9.94: "9.9 hours", 9.96: "10 hours", 364: "360 hours", 6944: "6,900 hours", 123456: "120,000 hours",
	} {
		if got := hoursText(h); got != want {
			t.Errorf("%v hours are %q, want %q", h, got, want)
		}
	}
}

// 3,600,000 tokens written at 500 per second are two hours; nobody said how fast training is.
func TestWhatPoliciesWriteIsPriced(t *testing.T) {
	n := preflight.Needs{Rollouts: preflight.Tokens{Texts: 20, Tokens: 600_000}, Routed: preflight.Tokens{Texts: 30, Tokens: 3_000_000}, Learned: preflight.Tokens{Texts: 70, Tokens: 1_000_000_000}}
	const want = "of the routers' own texts, from an empty store at most: 20 texts (600k tokens) written in Stage II and 30 texts (3M tokens) to route, 2.0 hours; 70 texts (1G tokens) read in training, --tokens-per-second training=N says how long\n"
	if got := writingText(n, map[string]float64{writerRate: 500}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := writingText(preflight.Needs{Routed: preflight.Tokens{Texts: 3}}, nil); got != "" {
		t.Errorf("a policy that writes nothing: %q", got)
	}
}
