// The kinds of trainable policies.

package methods

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// newPolicy builds the policy that a spec names, for the given experts (ids, cheapest first). Constants of the
// features are fitted on texts, which should be the training texts. It fails on an unknown kind or a size below 1.
func newPolicy(cfg spec.Policy, experts []string, texts []string, memory *compact.Texts) (policy.Policy, error) {
	switch cfg.Kind {
	case "compact":
		return compact.New(cfg, experts, texts, memory)
	default:
		return nil, fmt.Errorf("policy: unknown kind %q; known: compact", cfg.Kind)
	}
}

// readPolicy is the policy.Read of every kind.
func readPolicy(kind string, config []byte) (policy.Policy, error) {
	switch kind {
	case "compact":
		return compact.Read(config)
	default:
		return nil, fmt.Errorf("unknown policy %q; known: compact", kind)
	}
}
