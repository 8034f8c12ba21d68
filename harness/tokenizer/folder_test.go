package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// folder writes files into a folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestADefinitionSurvivesItsFile(t *testing.T) {
	for _, scheme := range []Scheme{Qwen2, SmolLM} {
		d := withAdded(tiny(scheme, "t h", "th e", "Ġ the", "< |"))
		d.Tokens = append(d.Tokens, "") // the place of an added token
		d.Tokens = append(d.Tokens, "Ġx")
		d.Merges = append(d.Merges, [2]string{"Ġ", "x"})
		d.Added = d.Added[:1]
		file, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(folder(t, map[string]string{"tokenizer.json": string(file)}))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, d) {
			t.Errorf("%+v comes back as %+v", d, got)
		}
	}
	if _, err := (Definition{Scheme: "gpt-4o"}).JSON(); err == nil || !strings.Contains(err.Error(), `"gpt-4o" is not known`) {
		t.Errorf("an unknown scheme: %v", err)
	}
}

func TestVocabularyAndMergesAreReadWithTheirConfig(t *testing.T) {
	d := tiny(Qwen2, "t h", "th e")
	vocab, err := json.Marshal(numbered(d.Tokens))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"vocab.json": string(vocab), "merges.txt": "#version: 0.2\nt h\r\nth e\n",
		configFile: `{"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {"259": {"content": "</x>"}, "258": {"content": "<x>", "special": true}}}`,
	}
	d.Added = []Added{{ID: 258, Content: "<x>", Special: true}, {ID: 259, Content: "</x>"}}
	got, err := Read(folder(t, files))
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("got %+v (%v), want %+v", got, err, d)
	}

	// What tokenizer.json says stays, and what only the config says is added.
	d.Added = d.Added[:1]
	file, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	both, err := Read(folder(t, map[string]string{"tokenizer.json": string(file), configFile: files[configFile], "vocab.json": "{}"}))
	if err != nil || !reflect.DeepEqual(both, got) {
		t.Errorf("got %+v (%v), want %+v", both, err, got)
	}
}

func TestAFolderThatIsNotKnownIsRefused(t *testing.T) {
	d := withAdded(tiny(Qwen2, "t h"))
	file, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	vocab, err := json.Marshal(numbered(d.Tokens))
	if err != nil {
		t.Fatal(err)
	}
	whole := string(file)
	edit := func(old, new string) map[string]string {
		if !strings.Contains(whole, old) {
			t.Fatalf("tokenizer.json has no %s", old)
		}
		return map[string]string{"tokenizer.json": strings.Replace(whole, old, new, 1)}
	}
	config := func(text string) map[string]string {
		return map[string]string{"tokenizer.json": whole, configFile: text}
	}
	without := func(class, merges string) map[string]string {
		return map[string]string{"vocab.json": string(vocab), "merges.txt": merges, configFile: `{"tokenizer_class": "` + class + `"}`}
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", nil, `tokenizer_class "", which is not known`},
		{"another class", without("GPT2Tokenizer", "t h"), `"GPT2Tokenizer", which is not known`},
		{"merges", without("Qwen2Tokenizer", "t h\n\nt h e"), `merges.txt: merge 2 is ""`},
		{"no vocabulary", map[string]string{configFile: `{"tokenizer_class": "Qwen2Tokenizer"}`}, "vocab.json"},
		{"no JSON", map[string]string{"tokenizer.json": "{"}, "tokenizer.json: unexpected end"},
		{"an added token of an old folder", map[string]string{"tokenizer.json": whole, addedFile: `{"<|im_end|>": 257, "<|tool|>": 900}`},
			`added_tokens.json: "<|tool|>" is no added token with the number 900 in tokenizer.json or tokenizer_config.json; save the tokenizer anew with transformers`},
		{"model", edit(`"BPE"`, `"Unigram"`), `type "Unigram"`},
		{"unknown", edit(`"unk_token": null`, `"unk_token": "<|im_end|>"`), "unk_token is not known"},
		{"ignore_merges", edit(`"ignore_merges": false`, `"ignore_merges": true`), "ignore_merges is not known"},
		{"byte_fallback", edit(`"byte_fallback": false`, `"byte_fallback": true`), "byte_fallback is not known"},
		{"normalizer", edit(`"NFC"`, `"NFKC"`), `normalizer of type "NFKC"`},
		{"no normalizer", edit("{\n    \"type\": \"NFC\"\n  }", "null"), "with normalizer null is not known"},
		{"pattern", edit(`|\\p{N}|`, `|\\p{N}{1,3}|`), `\\p{N}{1,3}`},
		{"behaviour", edit(`"Isolated"`, `"Removed"`), "is not known"},
		{"decoder", edit(`"decoder": {`, `"decoder": null, "x": {`), "there is no decoder"},
		{"post-processor", edit(`"post_processor": null`, `"post_processor": {"type": "TemplateProcessing"}`), `post_processor of type "TemplateProcessing"`},
		{"post-processors", edit(`"post_processor": null`, `"post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing"}]}`),
			`post_processor of type "TemplateProcessing"`},
		{"decoders", edit(`"decoder": {`, `"decoder": {"type": "Sequence", "decoders": [{"type": "ByteLevel"}, {"type": "Strip"}]}, "x": {`), `decoder of type "Strip" is not known`},
		{"lstrip", edit(`"lstrip": false`, `"lstrip": true`), `"<|im_end|>" has lstrip`},
		{"merge parts", edit(`"t h"`, `"t  h"`), `merge 1 is "t  h"`},
		{"merge type", edit(`"t h"`, `7`), `want ["a b", ...]`},
		{"negative", edit(`"!": 33`, `"!": -1`), `token "!" has the number -1`},
		{"twice", edit(`"!": 33`, `"!": 34`), `both have the number 34`},
		{"far", edit(`"!": 33`, `"!": 2000000000`), "want a text and 0 to"},
		{"first token", config(`{"add_bos_token": true}`), "add_bos_token"},
		{"first blank", config(`{"add_prefix_space": true}`), "add_prefix_space"},
		{"special tokens cut", config(`{"split_special_tokens": true}`), "split_special_tokens"},
		{"no added token", config(`{"eos_token": "!"}`), `"!" is a special token there and no added token`},
		{"no added token, as an object", config(`{"pad_token": {"content": "<pad>"}}`), `"<pad>" is a special token there and no added token`},
		{"more special tokens", config(`{"additional_special_tokens": ["<|im_end|>", {"content": "<tool>"}]}`), `"<tool>" is a special token there and no added token`},
		{"named special tokens", config(`{"extra_special_tokens": {"image_token": "<image>"}}`), `"<image>" is a special token there and no added token`},
		{"another added", config(`{"added_tokens_decoder": {"257": {"content": "<y>"}}}`), `both have the number 257`},
		{"not alike", config(`{"added_tokens_decoder": {"257": {"content": "<|im_end|>", "special": false}}}`), `"<|im_end|>" is described twice, and not alike`},
		{"no number", config(`{"added_tokens_decoder": {"x": {"content": "<y>"}}}`), `"x" is no number`},
	} {
		if _, err := Open(folder(t, c.files)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
