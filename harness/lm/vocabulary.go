// How texts become tokens.

package lm

import (
	"errors"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

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

// folderVocabulary is the tokenizer and the chat format of a Hugging Face folder.
type folderVocabulary struct {
	tokens *tokenizer.Tokenizer
	chat   *tokenizer.Chat
}

func openVocabulary(dir string) (v folderVocabulary, err error) {
	if v.tokens, err = tokenizer.Open(dir); err == nil {
		v.chat, err = tokenizer.OpenChat(dir)
	}
	return v, err
}

// Encode implements Vocabulary.
func (v folderVocabulary) Encode(text string) ([]int32, error) { return v.tokens.EncodeData(text), nil }

// Places of the messages in the chat format. Private-use letters are in no template.
const systemPlace, userPlace = "\uE000", "\uE001"

// Chat implements Vocabulary. The chat format is rendered with marks in the places of the messages, and what lies between
// the marks alone may hold special tokens.
func (v folderVocabulary) Chat(system, user string) ([]int32, error) {
	frame, err := v.chat.Render([]tokenizer.Message{{Role: "system", Content: systemPlace}, {Role: "user", Content: userPlace}}, true)
	if err != nil {
		return nil, err
	}
	before, rest, ok := strings.Cut(frame, systemPlace)
	between, after, found := strings.Cut(rest, userPlace)
	if !ok || !found {
		return nil, errors.New("the chat format leaves out a message; a router needs a system message and a user's")
	}
	return slices.Concat(v.tokens.Encode(before), v.tokens.EncodeData(system), v.tokens.Encode(between), v.tokens.EncodeData(user), v.tokens.Encode(after)), nil
}
