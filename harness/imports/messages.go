// Texts and messages in JSON, as several programs write them.

package imports

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/lines"
)

// unmarshal decodes JSON; its errors are for whoever wrote it.
func unmarshal(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return lines.Worded(err)
	}
	return nil
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// messagesOf reads a text that is a list of messages; nil: it is something else.
func messagesOf(text string) (all []message) {
	if !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &all) != nil || slices.ContainsFunc(all, func(m message) bool { return m.Role == "" }) {
		return nil
	}
	return all
}

// said is what the user says last.
func said(messages []message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == "user" {
			return content(messages[i].Content)
		}
	}
	return ""
}

// after says whether the user said more than what is said last.
func after(messages []message) bool {
	first := slices.IndexFunc(messages, func(m message) bool { return m.Role == "user" })
	return first >= 0 && slices.ContainsFunc(messages[first+1:], func(m message) bool { return m.Role == "user" })
}

// instructions is what is said for the user, before or between.
func instructions(messages []message) string {
	var all []string
	for _, m := range messages {
		if m.Role == "system" || m.Role == "developer" {
			all = append(all, content(m.Content))
		}
	}
	return strings.Join(all, "\x00")
}

// content is the text of a message: a text, or the texts of its parts.
func content(raw json.RawMessage) string {
	if text, ok := textOf(raw); ok {
		return text
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var all []string
	for _, p := range parts {
		if p.Type == "text" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// textOf is a JSON text or number as a text.
func textOf(raw json.RawMessage) (string, bool) {
	var text string
	if len(raw) > 0 && string(raw) != "null" && json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var n json.Number
	if len(raw) > 0 && raw[0] != '"' && string(raw) != "null" && json.Unmarshal(raw, &n) == nil {
		return n.String(), true
	}
	return "", false
}
