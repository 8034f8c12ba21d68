package spec

import (
	"testing"

	"pgregory.net/rapid"
)

// What is made a name of is one, or nothing; a name stays what it is but for punctuation at its end.
func TestWhatIsMadeANameIsOne(t *testing.T) {
	for text, want := range map[string]string{"C++": "C", "通义千问 (大)": "通义千问-大", "!": "", "\u0301-a": "a", "-\u0301.b_": "b", "GPT-4.1": "GPT-4.1"} {
		if got := Plain(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	any := rapid.StringOf(rapid.SampledFrom([]rune("aZ9._- /é数\u0301ि!")))
	rapid.Check(t, func(t *rapid.T) {
		text := any.Draw(t, "text")
		name := Plain(text)
		if name != "" && !PlainName(name) {
			t.Errorf("%q becomes %q, which is no name", text, name)
		}
		if Plain(name) != name {
			t.Errorf("%q becomes %q and that %q", text, name, Plain(name))
		}
	})
}
