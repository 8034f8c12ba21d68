// How texts become tokens.

package lm

import (
	_ "embed"
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

// freshMerges are those of fresh models: 1,536, learned from 2,000 generated problems and the instructions before them by
// go test ./harness/tokenizer -run FreshMerges -update-merges.
//
//go:embed fresh-merges.txt
var freshMerges string

// freshChat is the chat format of fresh models: that of Qwen and SmolLM2 without what tools need.
const freshChat = `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`

// freshStart and freshEnd are the marks of messages in it.
const freshStart, freshEnd = "<|im_start|>", "<|im_end|>"

// freshDefinition is the tokenizer of fresh models: a token a byte, one a merge, and the marks of messages.
func freshDefinition() tokenizer.Definition {
	merges, err := tokenizer.ParseMerges(strings.Split(strings.TrimSpace(freshMerges), "\n"))
	if err != nil {
		panic(err) // a file of this package
	}
	return tokenizer.Merged(tokenizer.Qwen2, merges, freshStart, freshEnd)
}

// freshVocabulary is the vocabulary of fresh models.
func freshVocabulary() (v chatVocabulary, err error) {
	if v.tokens, err = tokenizer.New(freshDefinition()); err == nil {
		v.chat, err = tokenizer.NewChat(freshChat, nil)
	}
	return v, err
}

// chatVocabulary is a tokenizer and a chat format.
type chatVocabulary struct {
	tokens *tokenizer.Tokenizer
	chat   *tokenizer.Chat
}

// openVocabulary reads those of a Hugging Face folder.
func openVocabulary(dir string) (v chatVocabulary, err error) {
	if v.tokens, err = tokenizer.Open(dir); err == nil {
		v.chat, err = tokenizer.OpenChat(dir)
	}
	return v, err
}

// Encode implements Vocabulary.
func (v chatVocabulary) Encode(text string) ([]int32, error) { return v.tokens.EncodeData(text), nil }

// Places of the messages in the chat format. Private-use letters are in no template.
const systemPlace, userPlace = "\uE000", "\uE001"

// Chat implements Vocabulary. The chat format is rendered with marks in the places of the messages, and what lies between
// the marks alone may hold special tokens. Blanks around a message are cut off where the chat format does so.
func (v chatVocabulary) Chat(system, user string) ([]int32, error) {
	frame, err := v.render(systemPlace, userPlace)
	if err != nil {
		return nil, err
	}
	before, rest, ok := strings.Cut(frame, systemPlace)
	between, after, found := strings.Cut(rest, userPlace)
	if !ok || !found {
		return nil, errors.New("the chat format leaves out a message; a router needs a system message and a user's")
	}
	written, err := v.render(system, user)
	if err != nil {
		return nil, err
	}
	for _, messages := range [][2]string{{system, user}, {strings.TrimSpace(system), strings.TrimSpace(user)}, {system, strings.TrimSpace(user)}, {strings.TrimSpace(system), user}} {
		system, user := messages[0], messages[1]
		if written == before+system+between+user+after {
			return slices.Concat(v.tokens.Encode(before), v.tokens.EncodeData(system), v.tokens.Encode(between), v.tokens.EncodeData(user), v.tokens.Encode(after)), nil
		}
	}
	return nil, errors.New("the chat format changes messages by more than the blanks around them; a router reads a problem as it is")
}

// render writes two messages in the chat format, up to where the answer begins.
func (v chatVocabulary) render(system, user string) (string, error) {
	return v.chat.Render([]tokenizer.Message{{Role: "system", Content: system}, {Role: "user", Content: user}}, true)
}
