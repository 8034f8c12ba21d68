// Package tokenizer turns text into the token numbers of a language model and back: byte-level byte pair encoding as Qwen and
// SmolLM use it, read from a Hugging Face folder or built from lists of tokens and merges, and the chat format of a checkpoint.
//
// A text goes four ways down: added tokens such as <|im_end|> are found first, what lies between them is normalised, cut into
// pieces (a word with its blank, a digit, ...), and each piece's bytes are merged pair by pair, the earliest merge first.
package tokenizer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// maxTokens bounds token numbers, so that a damaged file cannot ask for much memory.
const maxTokens = 1 << 22

// Tokenizer encodes and decodes. It may be used by several goroutines at once.
type Tokenizer struct {
	ids       map[string]int32 // by spelling
	texts     []string         // bytes by number; empty: no such token
	raw       *matcher         // added tokens that are searched for before the text is normalised
	cooked    *matcher         // and after
	normalise bool
	cut       cutter
	bpe       *bpe
}

// New makes a tokenizer. What does not fit together is an error that names it.
func New(d Definition) (*Tokenizer, error) {
	normalise, cut, err := d.Scheme.rules()
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{ids: make(map[string]int32, len(d.Tokens)+len(d.Added)), normalise: normalise, cut: cut}
	if len(d.Tokens) > maxTokens {
		return nil, fmt.Errorf("%d tokens: at most %d are read", len(d.Tokens), maxTokens)
	}
	t.texts = make([]string, len(d.Tokens))
	added := make(map[int32]string, len(d.Added))
	for _, a := range d.Added {
		if err := t.add(a, d.Tokens, added); err != nil {
			return nil, err
		}
	}
	for id, spelling := range d.Tokens {
		if _, ok := added[int32(id)]; ok || spelling == "" {
			continue
		}
		if other, ok := t.ids[spelling]; ok {
			return nil, fmt.Errorf("token %q has the numbers %d and %d", spelling, other, id)
		}
		text, err := bytesOf(spelling)
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", id, err)
		}
		t.ids[spelling], t.texts[id] = int32(id), text
	}
	if t.bpe, err = newBPE(t.ids, d.Merges); err != nil {
		return nil, err
	}
	searched := slices.Clone(d.Added)
	for i, a := range searched {
		if normalise && a.Normalised {
			searched[i].Content = nfc(a.Content)
		}
	}
	t.raw, t.cooked = newMatcher(searched, false), newMatcher(searched, true)
	return t, nil
}

// add enters an added token, whose number may be one of tokens if that is spelled the same.
func (t *Tokenizer) add(a Added, tokens []string, added map[int32]string) error {
	switch {
	case a.Content == "" || !utf8.ValidString(a.Content):
		return fmt.Errorf("added token %d is %q: want a text", a.ID, a.Content)
	case a.ID < 0 || a.ID >= maxTokens:
		return fmt.Errorf("added token %q has the number %d: want 0 to %d", a.Content, a.ID, maxTokens-1)
	case added[a.ID] == a.Content:
		return fmt.Errorf("added token %q is described twice, and not alike", a.Content)
	case added[a.ID] != "":
		return fmt.Errorf("added tokens %q and %q both have the number %d", added[a.ID], a.Content, a.ID)
	}
	if other, ok := t.ids[a.Content]; ok {
		return fmt.Errorf("added token %q has the numbers %d and %d", a.Content, other, a.ID)
	}
	if int(a.ID) < len(tokens) && tokens[a.ID] != "" && tokens[a.ID] != a.Content {
		return fmt.Errorf("added token %q has the number %d, which is the token %q", a.Content, a.ID, tokens[a.ID])
	}
	for int(a.ID) >= len(t.texts) {
		t.texts = append(t.texts, "")
	}
	t.ids[a.Content], t.texts[a.ID], added[a.ID] = a.ID, a.Content, a.Content
	return nil
}

// Size returns one more than the largest token number.
func (t *Tokenizer) Size() int { return len(t.texts) }

// ID returns the number of a token by its spelling: an added token as it stands, any other in the letters of byte-level encoding.
func (t *Tokenizer) ID(token string) (int32, bool) {
	id, ok := t.ids[token]
	return id, ok
}

// Encode returns the tokens of a text. Nothing is put before or after them. A byte that is not UTF-8 counts as U+FFFD, and one for
// which the vocabulary has no token, as SmolLM2's has none for some control characters, is left out: the library tokenizers does so.
func (t *Tokenizer) Encode(text string) []int32 {
	text = validUTF8(text)
	out := make([]int32, 0, len(text)/3+1)
	w := t.bpe.worker()
	t.raw.divide(text, func(part string) {
		if t.normalise {
			part = nfc(part)
		}
		t.cooked.divide(part, func(part string) { out = t.merge(w, out, part) }, func(id int32) { out = append(out, id) })
	}, func(id int32) { out = append(out, id) })
	return out
}

// EncodeData is Encode for text that is data: an added token in it is letters like any other.
func (t *Tokenizer) EncodeData(text string) []int32 {
	text = validUTF8(text)
	if t.normalise {
		text = nfc(text)
	}
	return t.merge(t.bpe.worker(), make([]int32, 0, len(text)/3+1), text)
}

// merge appends the tokens of text without added ones.
func (t *Tokenizer) merge(w *worker, out []int32, text string) []int32 {
	for text != "" {
		n := t.cut(text)
		out = w.append(out, text[:n])
		text = text[n:]
	}
	return out
}

// Decode returns the text of tokens, added ones included. Bytes that make no character, as at the end of a sequence that was cut,
// become U+FFFD as Unicode recommends: one for each longest beginning of a character. A number without a token is an error.
func (t *Tokenizer) Decode(ids []int32) (string, error) {
	var b strings.Builder
	for i, id := range ids {
		if id < 0 || int(id) >= len(t.texts) || t.texts[id] == "" {
			return "", fmt.Errorf("token %d of %d is the number %d, which the vocabulary of %d does not have", i+1, len(ids), id, len(t.texts))
		}
		b.WriteString(t.texts[id])
	}
	return validUTF8(b.String()), nil
}

// validUTF8 replaces each longest beginning of a character, and each byte that begins none, by U+FFFD.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	valid, _ := unicode.UTF8.NewDecoder().String(s) // no text is an error
	return valid
}
