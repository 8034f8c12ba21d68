// How texts become tokens.

package lm

// Vocabulary turns texts into the tokens of a model. Implementations are safe for concurrent use.
type Vocabulary interface {
	// Encode returns the tokens of a text. What looks like a special token in it is plain text.
	Encode(text string) ([]int32, error)
	// Chat returns the tokens of a conversation of a system message and a user's, up to where the assistant's first
	// token is expected. What looks like a special token in the messages is plain text.
	Chat(system, user string) ([]int32, error)
}

// byteVocabulary is the vocabulary of fresh models: a token a byte, and three that mark messages.
type byteVocabulary struct{}

const (
	startToken = 256 // of a message; its role follows
	endToken   = 257
	byteTokens = 258
)

// Encode implements Vocabulary.
func (byteVocabulary) Encode(text string) ([]int32, error) {
	tokens := make([]int32, len(text))
	for i := range len(text) {
		tokens[i] = int32(text[i])
	}
	return tokens, nil
}

// Chat implements Vocabulary.
func (b byteVocabulary) Chat(system, user string) ([]int32, error) {
	var tokens []int32
	for _, message := range []string{"system\n" + system, "user\n" + user} {
		text, err := b.Encode(message)
		if err != nil {
			return nil, err
		}
		tokens = append(append(append(tokens, startToken), text...), endToken)
	}
	role, err := b.Encode("assistant\n")
	return append(append(tokens, startToken), role...), err
}
