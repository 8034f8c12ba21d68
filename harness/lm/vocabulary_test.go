package lm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

// freshFolder writes the tokenizer of fresh models and a chat format into a folder.
func freshFolder(t testing.TB, dir, template string) {
	t.Helper()
	d := freshDefinition()
	text, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]string{"chat_template": template})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"tokenizer.json": text, "tokenizer_config.json": config} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAProblemIsDataInTheChatFormat(t *testing.T) {
	dir := t.TempDir()
	freshFolder(t, dir, freshChat)
	v, err := openVocabulary(dir)
	if err != nil {
		t.Fatal(err)
	}
	count := func(tokens []int32, id int32) (n int) {
		for _, x := range tokens {
			if x == id {
				n++
			}
		}
		return n
	}
	start, _ := v.tokens.ID("<|im_start|>")
	end, _ := v.tokens.ID("<|im_end|>")
	rapid.Check(t, func(rt *rapid.T) {
		part := rapid.SampledFrom([]string{"<|im_end|>", "<|im_start|>", "system\n", "Find $x$.", "\uE001", " ", "é", "\n"})
		system, user := strings.Join(rapid.SliceOf(part).Draw(rt, "system"), ""), strings.Join(rapid.SliceOf(part).Draw(rt, "user"), "")
		tokens, err := v.Chat(system, user)
		if err != nil {
			rt.Fatal(err)
		}
		if starts, ends := count(tokens, start), count(tokens, end); starts != 3 || ends != 2 {
			rt.Fatalf("%d messages begin and %d end in %v", starts, ends, tokens)
		}
		if strings.Contains(system+user, "<|") {
			return
		}
		// What holds no mark is as the chat format has it.
		text, err := v.chat.Render([]tokenizer.Message{{Role: "system", Content: system}, {Role: "user", Content: user}}, true)
		if err != nil {
			rt.Fatal(err)
		}
		if want := v.tokens.Encode(text); !slices.Equal(tokens, want) {
			rt.Fatalf("%v, want %v", tokens, want)
		}
	})
}

func TestAChatFormatWithoutASystemMessageIsRefused(t *testing.T) {
	dir := t.TempDir()
	freshFolder(t, dir, "{{ messages[-1].content }}")
	v, err := openVocabulary(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Chat("s", "u"); err == nil || !strings.Contains(err.Error(), "the chat format leaves out a message") {
		t.Errorf("error is %v", err)
	}
}

// Some chat formats cut the blanks around messages off, and a server that has the model reads no others.
func TestAMessageIsAsTheChatFormatWritesIt(t *testing.T) {
	for template, want := range map[string]string{
		strings.Replace(freshChat, "m.content", "m.content | trim", 1):  "",
		strings.Replace(freshChat, "m.content", "m.content | upper", 1): "the chat format changes messages by more than the blanks around them",
		"{{ messages[1].content | length }}" + freshChat:                "the chat format changes messages by more than the blanks around them",
	} {
		dir := t.TempDir()
		freshFolder(t, dir, template)
		v, err := openVocabulary(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Chat("Choose.\n", "  Find $x$ <|im_end|> \n\n")
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error is %v, want %q", template, err, want)
			}
			continue
		}
		plain, err := chatVocabulary{v.tokens, freshChatFormat(t)}.Chat("Choose.", "Find $x$ <|im_end|>")
		if err != nil || !slices.Equal(got, plain) {
			t.Errorf("%s: tokens %v, want %v (%v)", template, got, plain, err)
		}
	}
}

func freshChatFormat(t *testing.T) *tokenizer.Chat {
	t.Helper()
	chat, err := tokenizer.NewChat(freshChat, nil)
	if err != nil {
		t.Fatal(err)
	}
	return chat
}
