// The converters by the names that recordings.yaml has for them.

package publisher

import "iter"

// Converter makes the lines of a recorded set, by the names of its files without their extension.
type Converter func(files iter.Seq2[File, error]) (map[string][]byte, error)

// Converters are those of the formats.
var Converters = map[string]Converter{
	"lineage": Lineage, "mmlu-pro": MMLUPro, "reasoning-gym": ReasoningGym, "routellm-gsm8k": RouteLLMGSM8K, "routellm-mmlu": RouteLLMMMLU,
	"zeroeval": ZeroEval,
}
