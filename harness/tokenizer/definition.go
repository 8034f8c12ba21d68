// What makes a tokenizer, read from a folder or made of merges.

package tokenizer

import "fmt"

// Definition is all that makes a tokenizer.
type Definition struct {
	// Tokens by number, spelled in the letters of byte-level encoding: "Ġthe" is " the". The empty string is a number without a token.
	Tokens []string
	// Merges, the first one first. Both parts and what they make are tokens.
	Merges [][2]string
	// Added tokens are found in a text before anything else and stand for themselves. Their numbers may lie among Tokens
	// (spelled as they are) or after them.
	Added []Added
	// Scheme says how a text is normalised and cut into pieces.
	Scheme Scheme
}

// Added is a token that is found in a text as it stands.
type Added struct {
	ID      int32
	Content string
	// Special tokens are marks such as the end of a message and no part of what is said.
	Special bool
	// Normalised tokens are searched for after the text has been normalised, the others before.
	Normalised bool
}

// Scheme names a way to normalise a text and to cut it into pieces, as `tokenizer.ggml.pre` of a GGUF file does.
type Scheme string

// The schemes that are known.
const (
	Qwen2  Scheme = "qwen2"  // NFC, then the pattern of Qwen2 and Qwen3, which has digits one by one
	SmolLM Scheme = "smollm" // digits one by one, then the pattern of GPT-2
)

// rules says what a scheme does.
func (s Scheme) rules() (normalise bool, cut cutter, err error) {
	switch s {
	case Qwen2:
		return true, cutQwen2, nil
	case SmolLM:
		return false, cutSmolLM, nil
	}
	return false, nil, fmt.Errorf("pre-tokenizer %q is not known; known are %q and %q", string(s), string(Qwen2), string(SmolLM))
}

// Size is one more than the highest number of a token.
func (d Definition) Size() int {
	n := len(d.Tokens)
	for _, a := range d.Added {
		n = max(n, int(a.ID)+1)
	}
	return n
}

// Merged is the definition of a token a byte, one for each merge, and added tokens after them.
func Merged(scheme Scheme, merges [][2]string, added ...string) Definition {
	d := Definition{Scheme: scheme, Merges: merges}
	for _, r := range letters {
		d.Tokens = append(d.Tokens, string(r))
	}
	known := map[string]bool{}
	for _, m := range merges {
		if made := m[0] + m[1]; !known[made] {
			known[made] = true
			d.Tokens = append(d.Tokens, made)
		}
	}
	for i, content := range added {
		d.Added = append(d.Added, Added{ID: int32(len(d.Tokens) + i), Content: content, Special: true})
	}
	return d
}
