// Tokenizers in Hugging Face folders: tokenizer.json, or vocab.json with merges.txt and tokenizer_config.json.

package tokenizer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Open reads the tokenizer of a Hugging Face folder.
func Open(dir string) (*Tokenizer, error) {
	d, err := Read(dir)
	if err != nil {
		return nil, err
	}
	t, err := New(d)
	if err != nil {
		return nil, fmt.Errorf("tokenizer of %s: %w", dir, err)
	}
	return t, nil
}

// Read reads what makes the tokenizer of a Hugging Face folder. tokenizer.json says everything; without it vocab.json and
// merges.txt are read, and tokenizer_config.json says which added tokens there are and by its class how texts are cut.
// A part that this package does not know is an error that names it. How a text is cut short and filled up is left to the caller.
func Read(dir string) (Definition, error) {
	config, err := readConfig(dir)
	if err != nil {
		return Definition{}, err
	}
	path := filepath.Join(dir, "tokenizer.json")
	file, err := os.ReadFile(path)
	var d Definition
	switch {
	case err == nil:
		if d, err = decode(file); err != nil {
			return Definition{}, fmt.Errorf("%s: %w", path, err)
		}
	case errors.Is(err, fs.ErrNotExist):
		if d, err = readVocabulary(dir, config); err != nil {
			return Definition{}, err
		}
	default:
		return Definition{}, err
	}
	if err := config.addTo(&d); err != nil {
		return Definition{}, fmt.Errorf("%s: %w", filepath.Join(dir, configFile), err)
	}
	return d, d.hasAdded(filepath.Join(dir, addedFile))
}

// hasAdded refuses the file of added tokens of an old folder, which may be absent, where it has one that is described nowhere else: it would be
// plain text in chats.
func (d Definition) hasAdded(path string) error {
	var numbers map[string]int32
	if err := readJSON(path, &numbers); err != nil {
		return err
	}
	for _, token := range slices.Sorted(maps.Keys(numbers)) {
		if !slices.ContainsFunc(d.Added, func(a Added) bool { return a.Content == token && a.ID == numbers[token] }) {
			return fmt.Errorf("%s: %q is no added token with the number %d in tokenizer.json or %s; save the tokenizer anew with transformers", path, token, numbers[token], configFile)
		}
	}
	return nil
}

// typed is a part of tokenizer.json, whose fields go by its type.
type typed struct {
	Type string `json:"type"`

	Normalizers   []json.RawMessage `json:"normalizers"` // of a Sequence, as the next
	Pretokenizers []json.RawMessage `json:"pretokenizers"`
	Processors    []json.RawMessage `json:"processors"`
	Decoders      []json.RawMessage `json:"decoders"`

	Pattern  struct{ Regex string } `json:"pattern"` // Split
	Behavior string                 `json:"behavior"`
	Invert   bool                   `json:"invert"`

	IndividualDigits bool  `json:"individual_digits"` // Digits
	AddPrefixSpace   bool  `json:"add_prefix_space"`  // ByteLevel
	UseRegex         *bool `json:"use_regex"`
}

// tokenizerFile is tokenizer.json, as far as it matters here: truncation and padding are left to the caller.
type tokenizerFile struct {
	AddedTokens   []addedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         model           `json:"model"`
}

type addedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

type model struct {
	Type                    string           `json:"type"`
	UnkToken                *string          `json:"unk_token"`
	Dropout                 *float64         `json:"dropout"`
	ContinuingSubwordPrefix *string          `json:"continuing_subword_prefix"`
	EndOfWordSuffix         *string          `json:"end_of_word_suffix"`
	ByteFallback            bool             `json:"byte_fallback"`
	IgnoreMerges            bool             `json:"ignore_merges"`
	Vocab                   map[string]int32 `json:"vocab"`
	Merges                  json.RawMessage  `json:"merges"` // "a b" or ["a", "b"] each
}

// added returns the token, or an error if it is matched in a way that is not known here.
func (a addedToken) added() (Added, error) {
	for _, field := range []struct {
		name string
		set  bool
	}{{"lstrip", a.LStrip}, {"rstrip", a.RStrip}, {"single_word", a.SingleWord}} {
		if field.set {
			return Added{}, fmt.Errorf("added token %q has %s: only tokens that are matched as they stand are known", a.Content, field.name)
		}
	}
	return Added{ID: a.ID, Content: a.Content, Special: a.Special, Normalised: a.Normalized}, nil
}

// decode reads tokenizer.json.
func decode(file []byte) (Definition, error) {
	var f tokenizerFile
	if err := json.Unmarshal(file, &f); err != nil {
		return Definition{}, err
	}
	if err := f.Model.check(); err != nil {
		return Definition{}, err
	}
	var d Definition
	var err error
	if d.Tokens, err = byNumber(f.Model.Vocab); err != nil {
		return Definition{}, fmt.Errorf("vocab: %w", err)
	}
	if d.Merges, err = decodeMerges(f.Model.Merges); err != nil {
		return Definition{}, fmt.Errorf("merges: %w", err)
	}
	for _, a := range f.AddedTokens {
		added, err := a.added()
		if err != nil {
			return Definition{}, err
		}
		d.Added = append(d.Added, added)
	}
	if d.Scheme, err = scheme(f); err != nil {
		return Definition{}, err
	}
	return d, nil
}

// check refuses what changes how pieces are merged.
func (m model) check() error {
	set := func(s *string) bool { return s != nil && *s != "" }
	for _, c := range []struct {
		what string
		is   bool
	}{
		{fmt.Sprintf("type %q", m.Type), m.Type != "BPE"},
		{"unk_token", set(m.UnkToken)},
		{"dropout", m.Dropout != nil && *m.Dropout != 0},
		{"continuing_subword_prefix", set(m.ContinuingSubwordPrefix)},
		{"end_of_word_suffix", set(m.EndOfWordSuffix)},
		{"byte_fallback", m.ByteFallback},
		{"ignore_merges", m.IgnoreMerges},
	} {
		if c.is {
			return fmt.Errorf("model: %s is not known; known is BPE whose merges are applied in their order and nothing else", c.what)
		}
	}
	return nil
}

// The parts of the two schemes, as tokenizer.json spells them.
const (
	qwen2Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

	splitPart  = "Split"
	digitsPart = "Digits"
	bytesPart  = "ByteLevel"
)

// scheme recognises the normalizer and the pre_tokenizer, and refuses post-processors and decoders that are not of byte-level encoding.
func scheme(f tokenizerFile) (Scheme, error) {
	for _, part := range []struct {
		name string
		raw  json.RawMessage
		must bool
	}{{"post_processor", f.PostProcessor, false}, {"decoder", f.Decoder, true}} {
		parts, err := flatten(part.raw)
		if err != nil {
			return "", fmt.Errorf("%s: %w", part.name, err)
		}
		for _, p := range parts {
			if p.Type != bytesPart {
				return "", fmt.Errorf("%s of type %q is not known; known is %s", part.name, p.Type, bytesPart)
			}
		}
		if part.must && len(parts) == 0 {
			return "", fmt.Errorf("there is no %s; known is %s", part.name, bytesPart)
		}
	}
	normalizers, err := flatten(f.Normalizer)
	if err != nil {
		return "", fmt.Errorf("normalizer: %w", err)
	}
	for _, n := range normalizers {
		if n.Type != "NFC" {
			return "", fmt.Errorf("normalizer of type %q is not known; known is NFC", n.Type)
		}
	}
	parts, err := flatten(f.PreTokenizer)
	if err != nil {
		return "", fmt.Errorf("pre_tokenizer: %w", err)
	}
	nfc := len(normalizers) > 0
	switch {
	case nfc && len(parts) == 2 && parts[0].isSplit(qwen2Pattern) && parts[1].isByteLevel(false):
		return Qwen2, nil
	case !nfc && len(parts) == 2 && parts[0].Type == digitsPart && parts[0].IndividualDigits && parts[1].isByteLevel(true):
		return SmolLM, nil
	}
	return "", fmt.Errorf("pre_tokenizer %s with normalizer %s is not known; known are those of Qwen2 and SmolLM2", oneLine(f.PreTokenizer), oneLine(f.Normalizer))
}

func (p typed) isSplit(pattern string) bool {
	return p.Type == splitPart && p.Pattern.Regex == pattern && p.Behavior == "Isolated" && !p.Invert
}

func (p typed) isByteLevel(regex bool) bool {
	return p.Type == bytesPart && !p.AddPrefixSpace && (p.UseRegex == nil || *p.UseRegex) == regex
}

// flatten returns the parts of a part, or of a sequence of parts; none of null.
func flatten(raw json.RawMessage) ([]typed, error) {
	var p *typed
	if len(raw) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &p); err != nil || p == nil {
		return nil, err
	}
	if p.Type != "Sequence" {
		return []typed{*p}, nil
	}
	var parts []typed
	for _, r := range slices.Concat(p.Normalizers, p.Pretokenizers, p.Processors, p.Decoders) {
		inner, err := flatten(r)
		if err != nil {
			return nil, err
		}
		parts = append(parts, inner...)
	}
	return parts, nil
}

// oneLine shows a part in an error.
func oneLine(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return "null"
	}
	if b.Len() > 300 {
		b.Truncate(300)
		b.WriteString("...")
	}
	return b.String()
}

// byNumber turns a vocabulary around.
func byNumber(vocab map[string]int32) ([]string, error) {
	last := int32(-1)
	for token, id := range vocab {
		if token == "" || id < 0 || id >= maxTokens {
			return nil, fmt.Errorf("token %q has the number %d: want a text and 0 to %d", token, id, maxTokens-1)
		}
		last = max(last, id)
	}
	tokens := make([]string, last+1)
	for token, id := range vocab {
		if tokens[id] != "" {
			return nil, fmt.Errorf("tokens %q and %q both have the number %d", min(token, tokens[id]), max(token, tokens[id]), id)
		}
		tokens[id] = token
	}
	return tokens, nil
}

// decodeMerges reads merges as pairs, or as texts with a blank between the parts.
func decodeMerges(raw json.RawMessage) ([][2]string, error) {
	var pairs [][2]string
	if json.Unmarshal(raw, &pairs) == nil {
		return pairs, nil
	}
	var lines []string
	if err := json.Unmarshal(raw, &lines); err != nil {
		return nil, errors.New(`want ["a b", ...] or [["a", "b"], ...]`)
	}
	return ParseMerges(lines)
}

// ParseMerges reads merges that are written with a blank between the parts, as in merges.txt and in GGUF files.
func ParseMerges(lines []string) ([][2]string, error) {
	merges := make([][2]string, len(lines))
	for i, line := range lines {
		left, right, ok := strings.Cut(line, " ")
		if !ok || left == "" || right == "" || strings.Contains(right, " ") {
			return nil, fmt.Errorf("merge %d is %q: want two tokens with a blank between them", i+1, line)
		}
		merges[i] = [2]string{left, right}
	}
	return merges, nil
}

// ReadMerges reads merges.txt, a merge a line, with or without the line of its version.
func ReadMerges(file []byte) ([][2]string, error) {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(string(file), "\r\n", "\n"), "\n"), "\n")
	if strings.HasPrefix(lines[0], "#version:") {
		lines = lines[1:]
	}
	return ParseMerges(lines)
}

// readVocabulary reads vocab.json and merges.txt.
func readVocabulary(dir string, c config) (d Definition, err error) {
	switch strings.TrimSuffix(c.Class, "Fast") {
	case "Qwen2Tokenizer":
		d.Scheme = Qwen2
	default:
		return d, fmt.Errorf("%s has no tokenizer.json, and %s says tokenizer_class %q, which is not known; known without tokenizer.json is Qwen2Tokenizer", dir, configFile, c.Class)
	}
	path := filepath.Join(dir, "vocab.json")
	file, err := os.ReadFile(path)
	if err != nil {
		return d, err
	}
	var vocab map[string]int32
	if err := json.Unmarshal(file, &vocab); err != nil {
		return d, fmt.Errorf("%s: %w", path, err)
	}
	if d.Tokens, err = byNumber(vocab); err != nil {
		return d, fmt.Errorf("%s: %w", path, err)
	}
	path = filepath.Join(dir, "merges.txt")
	if file, err = os.ReadFile(path); err != nil {
		return d, err
	}
	if d.Merges, err = ReadMerges(file); err != nil {
		return d, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// configFile has the added tokens, the names of special tokens and the chat template.
const configFile = "tokenizer_config.json"

// addedFile has the added tokens of old folders.
const addedFile = "added_tokens.json"

// config is tokenizer_config.json.
type config struct {
	Class        string                `json:"tokenizer_class"`
	AddBOS       bool                  `json:"add_bos_token"`
	AddEOS       bool                  `json:"add_eos_token"`
	PrefixSpace  bool                  `json:"add_prefix_space"`
	SplitSpecial bool                  `json:"split_special_tokens"`
	AddedTokens  map[string]addedToken `json:"added_tokens_decoder"`
	ChatTemplate json.RawMessage       `json:"chat_template"`
	BOS          named                 `json:"bos_token"`
	EOS          named                 `json:"eos_token"`
	Pad          named                 `json:"pad_token"`
	Unk          named                 `json:"unk_token"`
	Additional   severalNamed          `json:"additional_special_tokens"` // of transformers 4
	Extra        severalNamed          `json:"extra_special_tokens"`      // and 5
}

// named is a token by its content, which some folders write as an object.
type named string

func (n *named) UnmarshalJSON(raw []byte) error {
	var object struct{ Content string }
	if json.Unmarshal(raw, &object) == nil {
		*n = named(object.Content)
		return nil
	}
	return json.Unmarshal(raw, (*string)(n))
}

// severalNamed are tokens in a list, or by names of their own.
type severalNamed []named

func (n *severalNamed) UnmarshalJSON(raw []byte) error {
	var byName map[string]named
	if json.Unmarshal(raw, &byName) == nil {
		*n = slices.Sorted(maps.Values(byName))
		return nil
	}
	return json.Unmarshal(raw, (*[]named)(n))
}

// readConfig reads tokenizer_config.json, which may be absent.
func readConfig(dir string) (c config, err error) {
	err = readJSON(filepath.Join(dir, configFile), &c)
	return c, err
}

// readJSON reads a file, which may be absent, into a value, which stays as it is then.
func readJSON(path string, into any) error {
	file, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(file, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// addTo enters the added tokens that a definition does not have yet.
func (c config) addTo(d *Definition) error {
	if c.AddBOS || c.AddEOS {
		return errors.New("add_bos_token and add_eos_token are not known: nothing is put before or after a text")
	}
	if c.PrefixSpace || c.SplitSpecial {
		return errors.New("add_prefix_space and split_special_tokens are not known: a text is read as it stands, and special tokens in it are whole")
	}
	var more []Added
	for number, a := range c.AddedTokens {
		id, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return fmt.Errorf("added_tokens_decoder: %q is no number", number)
		}
		a.ID = int32(id)
		added, err := a.added()
		if err != nil {
			return err
		}
		if !slices.Contains(d.Added, added) {
			more = append(more, added)
		}
	}
	slices.SortFunc(more, func(a, b Added) int { return cmp.Compare(a.ID, b.ID) })
	d.Added = append(d.Added, more...)
	// transformers finds every special token in texts, and makes new ones of those that the vocabulary does not have.
	for _, token := range slices.Concat([]named{c.BOS, c.EOS, c.Pad, c.Unk}, c.Additional, c.Extra) {
		if token != "" && !slices.ContainsFunc(d.Added, func(a Added) bool { return a.Content == string(token) }) {
			return fmt.Errorf("%q is a special token there and no added token with a number; list it in added_tokens_decoder", token)
		}
	}
	return nil
}
