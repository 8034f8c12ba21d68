package tokenizer

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
)

// python carries out a script of testdata with a value on its standard input, as JSON, and reads what it prints.
func python(t *testing.T, in, out any, script string, args ...string) {
	t.Helper()
	asked, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), xlatest.Python(t), append([]string{filepath.Join("testdata", script)}, args...)...)
	cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1")
	cmd.Stdin = bytes.NewReader(asked)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(printed, out); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
}

// generated returns n texts: words, formulas, white space of every kind, characters of every script, added tokens.
func generated(n int, words []string) []string {
	r := rand.New(rand.NewPCG(12, 1))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	anyRune := func() string {
		for {
			c := rune(r.IntN(0x20000))
			// The tables of marks in tokenizers 0.23 are older than ours, so later ones are ordered otherwise there.
			if unicode.In(c, unicode.L, unicode.N, unicode.P, unicode.S, unicode.Z) || c < 0x10000 && unicode.Is(unicode.M, c) {
				return string(c)
			}
		}
	}
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range r.IntN(40) {
			switch r.IntN(8) {
			case 0, 1, 2:
				b.WriteString(pick("", " ", " ", "  ") + words[r.IntN(len(words))])
			case 3:
				b.WriteString(pick(" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", " \n ", "\u00a0", "\u3000", "\u2028", "\v", "\f", "\u0085", "\u200b"))
			case 4:
				b.WriteString(pick("'s", "'S", "'re", "'LL", "'ve", "'d", "'m", "'t", "'ſ", "'", "''", "’s", "it's", "K", "ﬆ"))
			case 5:
				b.WriteString(pick("12", "3.14", "½", "Ⅷ", "٣٤", "x^2", "\\frac{1}{2}", "$", "...", "!!!", "->", "(", ")", "<", "|", "==", "_", "\x00", "\x7f"))
			case 6:
				b.WriteString(anyRune())
			case 7:
				b.WriteString(pick("é", "e\u0301", "ö\u0301", "\u0301", "한", "\u1112\u1161\u11ab", "Å", "ﬁ", "🚀", "😶‍🌫️", "我", "<|im_end|>", "<|im_start|>", "<|im_", "<think>", "</think>", "<|endoftext|>"))
			}
		}
		texts[i] = b.String()
	}
	return texts
}

// agrees wants our tokenizer of a folder and that of transformers to give the same tokens and texts.
func agrees(t *testing.T, folder string, texts []string) {
	t.Helper()
	tok, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(12, 2))
	numbers := make([][]int32, len(texts)/10) // of any tokens, so that characters are cut
	for i := range numbers {
		numbers[i] = []int32{}
		for range r.IntN(12) {
			id := int32(r.IntN(tok.Size()))
			if tok.texts[id] == "é!" {
				continue // tokenizers takes the characters of an added token for letters of bytes, if it can
			}
			numbers[i] = append(numbers[i], id)
		}
	}
	var theirs struct {
		IDs   [][]int32
		Texts []string
		Class string
	}
	python(t, map[string]any{"texts": texts, "ids": numbers}, &theirs, "encode.py", folder)
	faults := 0
	for i, text := range texts {
		if got := tok.Encode(text); !slices.Equal(got, theirs.IDs[i]) {
			if faults++; faults < 5 {
				t.Errorf("%q is %v, %s says %v", text, got, theirs.Class, theirs.IDs[i])
			}
		}
	}
	for i, ids := range numbers {
		if got, err := tok.Decode(ids); err != nil || got != theirs.Texts[i] {
			if faults++; faults < 5 {
				t.Errorf("%v is %q (%v), %s says %q", ids, got, err, theirs.Class, theirs.Texts[i])
			}
		}
	}
	t.Logf("%s: %d texts of %d tokens on average, %d sequences: %d differ", theirs.Class, len(texts), len(slices.Concat(theirs.IDs...))/len(texts), len(numbers), faults)
}

func TestXLATokensOfQwenAreThoseOfTransformers(t *testing.T) {
	xlatest.Python(t)
	folder := qwenFolder(t)
	texts := generated(10_000, strings.Fields(prose(t)))
	agrees(t, folder, texts)

	d, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	file, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "tokenizer.json"), file, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vocab.json", "merges.txt"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	agrees(t, folder, texts)
}

func TestXLATokensOfSmallVocabulariesAreThoseOfTransformers(t *testing.T) {
	xlatest.Python(t)
	words := strings.Fields("the then there a banana ananas it's 12 3x (x+y)^2 theta")
	for _, scheme := range []Scheme{Qwen2, SmolLM} {
		d := withAdded(tiny(scheme, "t h", "Ġ t", "th e", "Ġt h", "Ġth e", "Ġ Ġ", "' s", "a n", "an an", "Ġ a", "ĠĠ ĠĠ"))
		file, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "tokenizer.json"), file, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, configFile), []byte(`{"tokenizer_class": "PreTrainedTokenizerFast"}`), 0o666); err != nil {
			t.Fatal(err)
		}
		agrees(t, folder, generated(10_000, words))
	}
}

// smolLM2 is the folder that make smollm2 leaves.
const smolLM2 = "../../build/smollm2/hf"

func needsSmolLM2(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(smolLM2); err != nil {
		t.Skip("needs what make smollm2 leaves in build/smollm2")
	}
}

func TestXLATokensOfSmolLM2AreThoseOfTransformers(t *testing.T) {
	xlatest.Python(t)
	needsSmolLM2(t)
	agrees(t, smolLM2, generated(10_000, strings.Fields(prose(t))))
}

func TestXLAChatOfQwenIsThatOfTransformers(t *testing.T) {
	xlatest.Python(t)
	chatAgrees(t, qwenFolder(t))
}

func TestXLAChatOfSmolLM2IsThatOfTransformers(t *testing.T) {
	xlatest.Python(t)
	needsSmolLM2(t)
	chatAgrees(t, smolLM2)
}

// chatAgrees wants the chat template of a folder to be rendered as transformers does.
func chatAgrees(t *testing.T, folder string) {
	t.Helper()
	r := rand.New(rand.NewPCG(12, 3))
	words := strings.Fields("a <think> </think> <tool_response> </tool_response> {{x}} {%y%} é 'q' \"r\" <&>")
	f := format{Name: "generated", Config: configFile}
	for range 500 {
		var messages []message
		for i := range 1 + r.IntN(5) {
			var content strings.Builder
			for range r.IntN(6) {
				content.WriteString(words[r.IntN(len(words))] + []string{"", " ", "\n", "\n\n"}[r.IntN(4)])
			}
			role := []string{"user", "assistant", "system"}[r.IntN(3)]
			if i == 0 && r.IntN(2) == 0 {
				role = "system"
			}
			messages = append(messages, message{role, content.String()})
		}
		f.Cases = append(f.Cases, chatCase{Messages: messages, Prompt: r.IntN(2) == 0})
	}
	path := filepath.Join(t.TempDir(), "chat.json")
	file, err := json.Marshal([]format{f})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	chat, err := OpenChat(folder)
	if err != nil {
		t.Fatal(err)
	}
	python(t, nil, nil, "chat.py", path, folder)
	readFormats(t, path)[0].check(t, chat)
}
