package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A format is an entry of testdata/chat.json, which testdata/chat.py fills in with what transformers makes of it.
type format struct {
	Name     string            `json:"name"`
	Template *string           `json:"template,omitempty"`
	Config   string            `json:"config,omitempty"` // a tokenizer_config.json whose template is meant
	Special  map[string]string `json:"special,omitempty"`
	Cases    []chatCase        `json:"cases"`
}

type chatCase struct {
	Messages []message `json:"messages"`
	Prompt   bool      `json:"add_generation_prompt"`
	Want     *string   `json:"want"` // null: an error
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func readFormats(t *testing.T, path string) []format {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var formats []format
	if err := json.Unmarshal(file, &formats); err != nil {
		t.Fatal(err)
	}
	return formats
}

func (f format) check(t *testing.T, chat *Chat) {
	for i, c := range f.Cases {
		var messages []Message
		for _, m := range c.Messages {
			messages = append(messages, Message(m))
		}
		got, err := chat.Render(messages, c.Prompt)
		switch {
		case c.Want == nil && err == nil:
			t.Errorf("case %d: no error but %q", i, got)
		case c.Want != nil && (err != nil || got != *c.Want):
			t.Errorf("case %d: %q (%v), want %q", i, got, err, *c.Want)
		}
	}
}

func TestChatTemplatesAreRenderedAsTransformersDoes(t *testing.T) {
	for _, f := range readFormats(t, "testdata/chat.json") {
		t.Run(f.Name, func(t *testing.T) {
			var template string
			if f.Template != nil {
				template = *f.Template
			} else {
				var c config
				if err := json.Unmarshal(data(t, f.Config), &c); err != nil {
					t.Fatal(err)
				}
				var err error
				if template, err = c.template(); err != nil {
					t.Fatal(err)
				}
			}
			chat, err := NewChat(template, f.Special)
			if err != nil {
				t.Fatal(err)
			}
			f.check(t, chat)
		})
	}
}

func TestChatsAreTheSameFromManyGoroutines(t *testing.T) {
	for _, f := range readFormats(t, "testdata/chat.json") {
		if f.Template == nil {
			continue
		}
		chat, err := NewChat(*f.Template, f.Special)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { f.check(t, chat) })
		}
		wg.Wait()
	}
}

func TestAFolderSaysItsChatFormat(t *testing.T) {
	for _, c := range []struct {
		files      map[string]string
		want, fail string
	}{
		{files: map[string]string{configFile: `{"chat_template": "{{ eos_token }}{{ messages[0].content }}", "eos_token": "</s>"}`}, want: "</s>hi"},
		{files: map[string]string{configFile: `{"chat_template": [{"name": "tools", "template": "t"}, {"name": "default", "template": "d"}], "eos_token": {"content": "</s>"}}`}, want: "d"},
		{files: map[string]string{configFile: `{"eos_token": {"content": "</s>"}}`, "chat_template.jinja": "{{ eos_token }}j\n"}, want: "</s>j"},
		{files: map[string]string{configFile: `{}`}, fail: "there is no chat_template"},
		{files: nil, fail: "there is no chat_template"},
		{files: map[string]string{configFile: `{"chat_template": "{% if %}"}`}, fail: "chat_template: "},
		{files: map[string]string{configFile: `{"chat_template": "{{ raise_exception('no system role') }}"}`}, fail: "no system role"},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		chat, err := OpenChat(dir)
		got := ""
		if err == nil {
			got, err = chat.Render([]Message{{"user", "hi"}}, true)
		}
		if c.fail == "" && (err != nil || got != c.want) || c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) {
			t.Errorf("%v: %q, %v; want %q, %q", c.files, got, err, c.want, c.fail)
		}
	}
}

// The library that carries templates out divides by zero as Go does.
func TestATemplateThatTheLibraryBreaksOnIsAnError(t *testing.T) {
	c, err := NewChat("{{ 1 % 0 }}", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Render([]Message{{"user", "2+2"}}, true); err == nil || !strings.Contains(err.Error(), "chat_template: it cannot be carried out: runtime error: integer divide by zero") {
		t.Errorf("error is %v", err)
	}
}
