// The file tokenizer.json of a definition, as the library tokenizers reads it.

package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// JSON returns the definition as tokenizer.json. Read gives the same definition back.
func (d Definition) JSON() ([]byte, error) {
	yes, no := true, false
	bytesLevel := func(regex *bool) map[string]any {
		return map[string]any{"type": bytesPart, "add_prefix_space": false, "trim_offsets": false, "use_regex": regex}
	}
	sequence := func(parts ...any) map[string]any {
		return map[string]any{"type": "Sequence", "pretokenizers": parts}
	}
	var normalizer, pre any
	switch d.Scheme {
	case Qwen2:
		normalizer = map[string]any{"type": "NFC"}
		pre = sequence(map[string]any{"type": splitPart, "pattern": map[string]any{"Regex": qwen2Pattern}, "behavior": "Isolated", "invert": false}, bytesLevel(&no))
	case SmolLM:
		pre = sequence(map[string]any{"type": digitsPart, "individual_digits": true}, bytesLevel(&yes))
	default:
		_, _, err := d.Scheme.rules()
		return nil, err
	}
	added := make([]addedToken, len(d.Added))
	for i, a := range d.Added {
		added[i] = addedToken{ID: a.ID, Content: a.Content, Normalized: a.Normalised, Special: a.Special}
	}
	merges := make([]string, len(d.Merges))
	for i, m := range d.Merges {
		merges[i] = m[0] + " " + m[1]
	}
	return indented(struct {
		Version       string       `json:"version"`
		Truncation    any          `json:"truncation"`
		Padding       any          `json:"padding"`
		AddedTokens   []addedToken `json:"added_tokens"`
		Normalizer    any          `json:"normalizer"`
		PreTokenizer  any          `json:"pre_tokenizer"`
		PostProcessor any          `json:"post_processor"`
		Decoder       any          `json:"decoder"`
		Model         any          `json:"model"`
	}{
		Version: "1.0", AddedTokens: added, Normalizer: normalizer, PreTokenizer: pre, Decoder: bytesLevel(&yes),
		Model: struct {
			Type                    string   `json:"type"`
			Dropout                 any      `json:"dropout"`
			UnkToken                any      `json:"unk_token"`
			ContinuingSubwordPrefix any      `json:"continuing_subword_prefix"`
			EndOfWordSuffix         any      `json:"end_of_word_suffix"`
			FuseUnk                 bool     `json:"fuse_unk"`
			ByteFallback            bool     `json:"byte_fallback"`
			IgnoreMerges            bool     `json:"ignore_merges"`
			Vocab                   numbered `json:"vocab"`
			Merges                  []string `json:"merges"`
		}{Type: "BPE", Vocab: numbered(d.Tokens), Merges: merges},
	})
}

func indented(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(value)
	return out.Bytes(), err
}

// WriteJSON writes a value to a file as Hugging Face does, indented by two.
func WriteJSON(path string, value any) error {
	data, err := indented(value)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}

// numbered is written as an object of tokens and their numbers, in the order of the numbers.
type numbered []string

func (tokens numbered) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for id, token := range tokens {
		if token == "" {
			continue
		}
		key, err := json.Marshal(token)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = fmt.Appendf(append(out, key...), ":%d", id)
	}
	return append(out, '}'), nil
}
