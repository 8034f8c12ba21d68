// The chat format of a checkpoint: its chat_template, which is Jinja, filled in with messages.

package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/builtins/methods/pystring"
	jinja "github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
)

// Message is one message of a conversation.
type Message struct {
	Role    string // system, user, assistant
	Content string
}

// Chat is a chat format. It may be used by several goroutines at once.
type Chat struct {
	template *exec.Template
	special  map[string]string
}

// OpenChat reads the chat format of a Hugging Face folder: chat_template.jinja, or else the chat_template of
// tokenizer_config.json, of several the one named default. A folder without one is an error.
func OpenChat(dir string) (*Chat, error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "chat_template.jinja")
	template := ""
	switch file, err := os.ReadFile(path); {
	case err == nil:
		template = string(file)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	default:
		path = filepath.Join(dir, configFile)
		if template, err = c.template(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	chat, err := NewChat(template, c.special())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return chat, nil
}

// template returns the chat template, of several the one named default.
func (c config) template() (string, error) {
	var one *string
	if len(c.ChatTemplate) > 0 && json.Unmarshal(c.ChatTemplate, &one) == nil && one != nil {
		return *one, nil
	}
	var several []struct{ Name, Template string }
	if len(c.ChatTemplate) > 0 && json.Unmarshal(c.ChatTemplate, &several) == nil {
		for _, t := range several {
			if t.Name == "default" {
				return t.Template, nil
			}
		}
	}
	return "", errors.New("there is no chat_template: messages can be written in the format of a chat model only")
}

// special returns the special tokens by the names under which templates know them.
func (c config) special() map[string]string {
	special := map[string]string{}
	for name, token := range map[string]named{"bos_token": c.BOS, "eos_token": c.EOS, "pad_token": c.Pad, "unk_token": c.Unk} {
		if token != "" {
			special[name] = string(token)
		}
	}
	return special
}

// NewChat makes a chat format of a Jinja template. special are the tokens that it may name, such as eos_token.
func NewChat(template string, special map[string]string) (*Chat, error) {
	const name = "/chat_template" // the loader wants a path
	loader, err := loaders.NewMemoryLoader(map[string]string{name: template})
	if err != nil {
		return nil, err
	}
	settings := jinja.New()
	settings.TrimBlocks, settings.LeftStripBlocks = true, true // as transformers has them
	parsed, err := exec.NewTemplate(name, settings, loader, &exec.Environment{
		Context: exec.EmptyContext().Update(builtins.GlobalFunctions).Update(builtins.GlobalVariables),
		Filters: builtins.Filters, Tests: builtins.Tests, ControlStructures: builtins.ControlStructures, Methods: methodsOf(template),
	})
	if err != nil {
		return nil, fmt.Errorf("chat_template: %w", err)
	}
	return &Chat{template: parsed, special: special}, nil
}

// Render writes messages in the chat format. With addGenerationPrompt it ends where the answer of the model begins.
func (c *Chat) Render(messages []Message, addGenerationPrompt bool) (text string, err error) {
	defer func() {
		if what := recover(); what != nil { // the library answers some faults of a template so
			err = fmt.Errorf("chat_template: it cannot be carried out: %v", what)
		}
	}()
	all := make(list[map[string]any], len(messages))
	for i, m := range messages {
		all[i] = map[string]any{"role": m.Role, "content": m.Content}
	}
	values := map[string]any{
		"messages": all, "add_generation_prompt": addGenerationPrompt, "tools": nil, "documents": nil,
		"raise_exception": func(message string) (string, error) { return "", errors.New(message) },
	}
	for name, token := range c.special {
		values[name] = token
	}
	out, err := c.template.ExecuteToString(exec.NewContext(values))
	if err != nil {
		return "", fmt.Errorf("chat_template: %w", err)
	}
	return out, nil
}

// list is a list for templates. The library's own lists, as of version 2.9.1, have no x[-1] where there is one element,
// which the template of Qwen3 asks of what split returns.
type list[T any] []T

// GetItem returns an element by its number, from the end if it is negative.
func (l list[T]) GetItem(key any) (*exec.Value, bool) {
	i, ok := key.(int)
	if i < 0 {
		i += len(l)
	}
	if !ok || i < 0 || i >= len(l) {
		return exec.AsValue(nil), false
	}
	return exec.AsValue(l[i]), true
}

var word = regexp.MustCompile(`\w+`)

// methodsOf returns the methods of values, of strings those that a template names, which return a list where they return several strings.
func methodsOf(template string) exec.Methods {
	ofStrings := map[string]exec.Method[string]{}
	for _, name := range word.FindAllString(template, -1) {
		if method, ok := builtins.Methods.Str.Get(name); ok {
			ofStrings[name] = func(self string, value *exec.Value, arguments *exec.VarArgs) (any, error) {
				out, err := method(self, value, arguments)
				if several, ok := out.([]pystring.PyString); ok {
					out = list[pystring.PyString](several)
				}
				return out, err
			}
		}
	}
	methods := builtins.Methods
	methods.Str = exec.NewMethodSet(ofStrings)
	return methods
}
