// The converters by the names that recordings.yaml has for them.

package publisher

import "iter"

// Converter makes the lines of a recorded set, by the names of its files without their extension.
type Converter func(files iter.Seq2[File, error]) (map[string][]byte, error)

// Of returns the converter of a format; nil: there is none.
func Of(format string) Converter {
	switch format {
	case "lineage":
		return Lineage
	case "mmlu-pro":
		return MMLUPro
	case "reasoning-gym":
		return ReasoningGym
	case "routellm-gsm8k":
		return RouteLLMGSM8K
	case "routellm-mmlu":
		return RouteLLMMMLU
	case "zeroeval":
		return ZeroEval
	}
	return nil
}
