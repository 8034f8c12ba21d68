package tokenizer

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// tiny returns a vocabulary of the 256 bytes, in the order of the bytes, and the tokens that merges make.
func tiny(scheme Scheme, merges ...string) Definition {
	pairs, _ := ParseMerges(merges)
	return Merged(scheme, pairs)
}

func must(t testing.TB, d Definition) *Tokenizer {
	t.Helper()
	tok, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// spelled returns the tokens of a text with bars between them.
func spelled(t *testing.T, tok *Tokenizer, text string) string {
	t.Helper()
	var parts []string
	for _, id := range tok.Encode(text) {
		part, err := tok.Decode([]int32{id})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "|")
}

func TestTheEarliestMergeIsJoinedFirstAndTheLeftmostOfEquals(t *testing.T) {
	for _, c := range []struct {
		merges     []string
		text, want string
	}{
		{nil, "abc", "a|b|c"},
		{[]string{"b c", "a b"}, "abc", "a|bc"},
		{[]string{"a b", "b c"}, "abc", "ab|c"},
		{[]string{"a a"}, "aaa", "aa|a"},
		{[]string{"a a", "aa aa"}, "aaaaaaa", "aaaa|aa|a"},
		{[]string{"a b", "ab c", "abc d", "c d"}, "abcd", "abcd"},
		{[]string{"c d", "a b", "ab c"}, "abcd", "ab|cd"},
		{[]string{"Ġ a"}, "a a", "a| a"},
	} {
		if got := spelled(t, must(t, tiny(Qwen2, c.merges...)), c.text); got != c.want {
			t.Errorf("%q with merges %q is %s, want %s", c.text, c.merges, got, c.want)
		}
	}
}

func TestTextsAreCutAsTheSchemesSay(t *testing.T) {
	for _, c := range []struct{ text, qwen2, smollm string }{
		{"Hello world", "Hello| world", "Hello| world"},
		{"a  b", "a| | b", "a| | b"},
		{"a   ", "a|   ", "a|   "},
		{"x 12", "x| |1|2", "x| |1|2"},
		{"x  12", "x| | |1|2", "x|  |1|2"},
		{"it's IT'S we'll", "it|'s| IT|'S| we|'ll", "it|'s| IT|'|S| we|'ll"},
		{"a\n\n b", "a|\n\n| b", "a|\n\n| b"},
		{"a \n\t b", "a| \n|\t| b", "a| \n\t| b"},
		{"(x)!\n\ny", "(x|)!\n\n|y", "(|x|)!|\n|\n|y"},
		{"a ... b", "a| ...| b", "a| ...| b"},
		{"\u00a0a", "\u00a0a", "\u00a0|a"},
		{"4 ½", "4| |½", "4| |½"},
		{"na\u0308h", "na\u0308h", "na|\u0308|h"}, // the second is not normalised, and a mark is no letter
		{"'ſa", "'ſ|a", "'|ſa"},
	} {
		for _, s := range []struct {
			scheme Scheme
			want   string
		}{{Qwen2, c.qwen2}, {SmolLM, c.smollm}} {
			normalise, cut, err := s.scheme.rules()
			if err != nil {
				t.Fatal(err)
			}
			text := c.text
			if normalise {
				text, s.want = norm.NFC.String(text), norm.NFC.String(s.want)
			}
			if got := strings.Join(pieces(cut, text), "|"); got != s.want {
				t.Errorf("%s cuts %q into %q, want %q", s.scheme, c.text, got, s.want)
			}
		}
	}
}

func pieces(cut cutter, text string) (out []string) {
	for text != "" {
		n := cut(text)
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// The patterns as Go's regular expressions, whose \s is ASCII only and which have no lookahead: the blank that \s+(?!\S) gives
// back is taken off afterwards.
const space = `\s\x{0b}\x{85}\p{Z}`

var (
	qwen2Regexp = regexp.MustCompile(`^(?:(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^` + space + `\p{L}\p{N}]+[\r\n]*|[` + space + `]*[\r\n]+|[` + space + `]+)`)
	gpt2Regexp  = regexp.MustCompile(`^(?:'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^` + space + `\p{L}\p{N}]+|[` + space + `]+)`)
	digitRegexp = regexp.MustCompile(`\p{N}|\P{N}+`)
	blankRegexp = regexp.MustCompile(`^[` + space + `]{2,}$`)
)

// byRegexp cuts a text; with lines, white space that ends in a newline gives nothing back.
func byRegexp(re *regexp.Regexp, lines bool, text string) (out []string) {
	for text != "" {
		m := re.FindString(text)
		if blankRegexp.MatchString(m) && len(m) < len(text) && !(lines && strings.ContainsAny(m[len(m)-1:], "\r\n")) {
			_, last := utf8.DecodeLastRuneInString(m)
			m = m[:len(m)-last]
		}
		out = append(out, m)
		text = text[len(m):]
	}
	return out
}

// texts draws from what the patterns tell apart.
var texts = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOf(rapid.SampledFrom([]string{
		"a", "B", "é", "e\u0301", "我", "ſ", "ǅ", "ª", "1", "½", "Ⅷ", "٣", " ", "  ", "\t", "\n", "\r", "\r\n", "\v", "\u0085", "\u00a0", "\u2028", "\u3000",
		".", "-", "_", "'", "'s", "'S", "'re", "'LL", "'v", "🚀", "\u200d", "\u0308", "\x00", "<", "<|im_end|>", "\ufffd", "the", " the", "\u180e", "\u200b", "\u1680", "K", "\ufb05",
	})).Draw(t, "parts")
	return strings.Join(parts, "") + rapid.String().Draw(t, "more")
})

func TestScannersCutAsTheRegularExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		if got, want := pieces(cutQwen2, text), byRegexp(qwen2Regexp, true, text); !slices.Equal(got, want) {
			t.Errorf("qwen2 cuts %q into %q, the pattern into %q", text, got, want)
		}
		var want []string
		for _, part := range digitRegexp.FindAllString(text, -1) {
			want = append(want, byRegexp(gpt2Regexp, false, part)...)
		}
		if got := pieces(cutSmolLM, text); !slices.Equal(got, want) {
			t.Errorf("smollm cuts %q into %q, the pattern into %q", text, got, want)
		}
	})
}

func TestMergingIsWhatTheSlowWayGives(t *testing.T) {
	merges := []string{"a b", "b a", "ab a", "a a", "aa aa", "ab ab", "ba b", "c a", "ca b", "b c", "bc ab", "abab c"}
	tok := must(t, tiny(Qwen2, merges...))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abc")), 1, 200, -1).Draw(t, "text")
		want := strings.Split(text, "")
		for {
			best, at := len(merges), -1
			for i := range len(want) - 1 {
				if k := slices.Index(merges, want[i]+" "+want[i+1]); k >= 0 && k < best {
					best, at = k, i
				}
			}
			if at < 0 {
				break
			}
			want = slices.Replace(want, at, at+2, want[at]+want[at+1])
		}
		var got []string
		for _, id := range tok.Encode(text) {
			got = append(got, tok.texts[id])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	})
}

func withAdded(d Definition) Definition {
	n := int32(len(d.Tokens))
	d.Added = []Added{{ID: n, Content: "<|im_end|>", Special: true}, {ID: n + 1, Content: "<|im", Special: false}, {ID: n + 2, Content: "é!", Normalised: true}}
	return d
}

func TestTextSurvivesItsTokens(t *testing.T) {
	for _, scheme := range []Scheme{Qwen2, SmolLM} {
		tok := must(t, withAdded(tiny(scheme, "t h", "Ġ t", "th e", "Ġt h", "Ġth e", "Ġ Ġ", "' s")))
		rapid.Check(t, func(t *rapid.T) { survives(t, tok, scheme, texts.Draw(t, "text")) })
	}
}

// survives wants the tokens of a text to decode to it, normalised if the scheme says so, and pieces to be encoded one by one.
func survives(t interface {
	Fatalf(string, ...any)
	Errorf(string, ...any)
}, tok *Tokenizer, scheme Scheme, text string) {
	ids := tok.Encode(text)
	got, err := tok.Decode(ids)
	if err != nil {
		t.Fatalf("%v", err)
	}
	want := validUTF8(text)
	if scheme == Qwen2 {
		var b strings.Builder
		tok.raw.divide(want, func(s string) { b.WriteString(nfc(s)) }, func(id int32) { b.WriteString(tok.texts[id]) })
		want = b.String()
	}
	if got != want {
		t.Errorf("%q comes back as %q", want, got)
	}
	if again := tok.Encode(text); !slices.Equal(again, ids) {
		t.Errorf("%q is %v, then %v", text, ids, again)
	}
	if left, right := tok.Encode(text+"<|im_end|>"), tok.Encode("<|im_end|>"+text); !slices.Equal(left[:len(left)-1], ids) || !slices.Equal(right[1:], ids) {
		t.Errorf("beside an added token %q is %v and %v, alone %v", text, left, right, ids)
	}
}

func FuzzTextSurvivesItsTokens(f *testing.F) {
	for _, text := range []string{"", "Hello, y'all!\n\n  12", "<|im_end|><|im_", "\xff\xe2\x82", "é!e\u0301!", strings.Repeat("\u0308", 40)} {
		f.Add(text)
	}
	merges := []string{"t h", "Ġ t", "th e", "Ġt h", "Ġth e", "Ġ Ġ", "' s"}
	qwen, smol := must(f, withAdded(tiny(Qwen2, merges...))), must(f, withAdded(tiny(SmolLM, merges...)))
	f.Fuzz(func(t *testing.T, text string) {
		survives(t, qwen, Qwen2, text)
		survives(t, smol, SmolLM, text)
	})
}

func TestAddedTokensAreFoundFirstAndTheLongestOfThem(t *testing.T) {
	d := tiny(Qwen2)
	d.Added = []Added{{ID: 256, Content: "<a>"}, {ID: 257, Content: "<a>>", Special: true}, {ID: 258, Content: "é?", Normalised: true}, {ID: 300, Content: "e\u0301!"}}
	tok := must(t, d)
	for _, c := range []struct {
		text string
		want []int32
	}{
		{"<a>", []int32{256}},
		{"x<a>>y", []int32{'x', 257, 'y'}},
		{"<<a>>>", []int32{'<', 257, '>'}},
		{"<a", []int32{'<', 'a'}},
		{"e\u0301?", []int32{258}}, // found after the text is normalised
		{"e\u0301!", []int32{300}}, // found before
		{"é?!", []int32{258, '!'}},
	} {
		if got := tok.Encode(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q is %v, want %v", c.text, got, c.want)
		}
	}
	if id, ok := tok.ID("<a>>"); id != 257 || !ok || tok.Size() != 301 {
		t.Errorf("<a>> is %d, %v, size %d", id, ok, tok.Size())
	}
	if _, ok := tok.ID("nope"); ok {
		t.Error("nope is a token")
	}
	if _, err := tok.Decode([]int32{299}); err == nil || !strings.Contains(err.Error(), "number 299") {
		t.Errorf("a number without a token: %v", err)
	}
	for _, id := range []int32{-1, 301} {
		if _, err := tok.Decode([]int32{65, id}); err == nil {
			t.Errorf("%d is decoded", id)
		}
	}
}

// The texts are those of tokenizers 0.23.3, normalizers.NFC().normalize_str(text).
func TestMarksAreComposedAsTokenizersDoes(t *testing.T) {
	marks := strings.Repeat
	for _, c := range []struct{ text, want string }{
		{"a" + marks("\u0323", 40), "\u1ea1" + marks("\u0323", 39)},
		{"e" + marks("\u0301", 35) + "\u0323\u0323!", "\u1eb9\u0323" + marks("\u0301", 35) + "!"},
		{"\u1100\u1161\u11a8" + marks("\u0301", 33), "\uac01" + marks("\u0301", 33)},
		{"\u034fx" + marks("\u0323", 31) + "\u0308\u0301", "\u034f\u1e8d" + marks("\u0323", 31) + "\u0301"},
		{"a\u0cc2\u0301\u0f71", "a\u0cc2\u0f71\u0301"},
		{"\U00010041\u0301", "\U00010041\u0301"},
		{"\U00011131\U00011127", "\U0001112e"},
	} {
		if got := nfc(c.text); got != c.want {
			t.Errorf("%+q is composed into %+q, want %+q", c.text, got, c.want)
		}
	}
	letters := rapid.SampledFrom([]rune("ae\u00e9 \uac00\u0301\u0323\u0307\u0338\u0344\u0345\u034f\u0958\u212b\u0f71\u0f72"))
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(letters, 0, 12).Draw(t, "text"))
		if got, want := nfc(text), norm.NFC.String(text); got != want {
			t.Errorf("%+q is composed into %+q, want %+q", text, got, want)
		}
	})
}

func TestANormalisedTokenIsFoundHoweverItIsWritten(t *testing.T) {
	for _, content := range []string{"e\u0301!", "\u00e9!"} {
		for _, scheme := range []Scheme{Qwen2, SmolLM} {
			d := tiny(scheme)
			d.Added = []Added{{ID: 256, Content: content, Normalised: true}}
			tok := must(t, d)
			for _, text := range []string{"e\u0301!", "\u00e9!"} {
				// tokenizers 0.23.3 normalises the content, and gives it back as it was described.
				if found := slices.Equal(tok.Encode(text), []int32{256}); found != (scheme == Qwen2 || text == content) {
					t.Errorf("%s: %+q found in %+q: %v", scheme, content, text, found)
				}
			}
			if got, err := tok.Decode([]int32{256}); got != content || err != nil {
				t.Errorf("%s: %+q comes back as %+q (%v)", scheme, content, got, err)
			}
		}
	}
}

func TestAByteWithoutATokenIsLeftOut(t *testing.T) {
	d := tiny(SmolLM, "a b")
	d.Tokens[4], d.Tokens[0xf1] = "", ""
	tok := must(t, d)
	for text, want := range map[string][]int32{"\x04": {}, "a\x04b": {'a', 'b'}, "\x05\x04\x05": {5, 5}, "\U00040000": {0x80, 0x80, 0x80}} {
		if got := tok.Encode(text); !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

func TestBytesThatAreNoTextAreReplaced(t *testing.T) {
	for in, want := range map[string]string{"\xff": "\ufffd", "a\xe2\x82": "a\ufffd", "\xe2\x82\xe2\x82\xac": "\ufffd€", "\xf0\x9f\x9aA": "\ufffdA", "\xc0\xaf": "\ufffd\ufffd", "\xed\xa0\x80": "\ufffd\ufffd\ufffd"} {
		if got := validUTF8(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestEncodingIsTheSameFromManyGoroutines(t *testing.T) {
	tok := must(t, tiny(Qwen2, "a b", "ab a", "Ġ a", "Ġa b"))
	var texts []string
	var want [][]int32
	for i := range 300 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("ab%d aba", i), i%7+1))
		want = append(want, tok.Encode(texts[i]))
	}
	fresh := must(t, tiny(Qwen2, "a b", "ab a", "Ġ a", "Ġa b"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, text := range texts {
				if got := fresh.Encode(text); !slices.Equal(got, want[i]) {
					t.Errorf("%q is %v, want %v", text, got, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestWhatDoesNotFitTogetherIsNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Definition)
		want string
	}{
		{"scheme", func(d *Definition) { d.Scheme = "llama-bpe" }, `pre-tokenizer "llama-bpe" is not known`},
		{"byte", func(d *Definition) { d.Tokens[0x41] = "AA" }, "no token for the byte 0x41"},
		{"letter", func(d *Definition) { d.Tokens = append(d.Tokens, "a b") }, `token 257: "a b" has the character ' '`},
		{"merge", func(d *Definition) { d.Merges = append(d.Merges, [2]string{"a", "c"}) }, `merge 2 joins "a" and "c"`},
		{"merge twice", func(d *Definition) { d.Merges = append(d.Merges, d.Merges[0]) }, "as an earlier one does"},
		{"token twice", func(d *Definition) { d.Tokens = append(d.Tokens, "a") }, `token "a" has the numbers 97 and 257`},
		{"added number", func(d *Definition) { d.Added = []Added{{ID: 97, Content: "<b>"}} }, `number 97, which is the token "a"`},
		{"added twice", func(d *Definition) { d.Added = []Added{{ID: 300, Content: "<b>"}, {ID: 301, Content: "<b>"}} }, `"<b>" has the numbers 300 and 301`},
		{"two added", func(d *Definition) { d.Added = []Added{{ID: 300, Content: "<b>"}, {ID: 300, Content: "<c>"}} }, `both have the number 300`},
		{"far away", func(d *Definition) { d.Added = []Added{{ID: 1 << 30, Content: "<b>"}} }, "want 0 to"},
		{"empty", func(d *Definition) { d.Added = []Added{{ID: 300}} }, "want a text"},
	} {
		d := tiny(Qwen2, "a b")
		c.edit(&d)
		if _, err := New(d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// data returns a file of the published vocabulary of Qwen2 and the vectors for it, or skips.
func data(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("../../../shared/data/tokenizer", name))
	if os.IsNotExist(err) {
		t.Skip("needs the vocabulary of Qwen2 in ../shared/data/tokenizer beside the checkout")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// qwenFolder makes a folder with the tokenizer of Qwen3.
func qwenFolder(t testing.TB) string {
	dir := t.TempDir()
	for name, from := range map[string]string{"vocab.json": "vocab.json.gz", "merges.txt": "merges.txt.gz", "tokenizer_config.json": "qwen3_4b_thinking_tokenizer_config.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), data(t, from), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPublishedVectorsOfQwen(t *testing.T) {
	tok, err := Open(qwenFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data(t, "qwen2_vectors.jsonl"))) {
		var v struct {
			Text string
			IDs  []int32
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		n++
		if got := tok.Encode(v.Text); !slices.Equal(got, v.IDs) {
			t.Errorf("%q is %v, want %v", v.Text, got, v.IDs)
		}
		if got, err := tok.Decode(v.IDs); err != nil || got != v.Text {
			t.Errorf("%v is %q, want %q (%v)", v.IDs, got, v.Text, err)
		}
	}
	if n != 47 {
		t.Errorf("%d vectors, want 47", n)
	}
	if got := tok.Encode("<|im_start|>user\nA<|im_end|>"); !slices.Equal(got, []int32{151644, 872, 198, 32, 151645}) {
		t.Errorf("a message is %v", got)
	}
	if tok.Size() != 151669 {
		t.Errorf("size %d", tok.Size())
	}
}

// prose is text of problems: words, formulas, numbers.
func prose(t testing.TB) string {
	t.Helper()
	file, err := os.ReadFile("../../../shared/data/benchmarks/math500.jsonl")
	if err != nil {
		t.Skip("needs ../shared/data beside the checkout")
	}
	var b strings.Builder
	for line := range strings.Lines(string(file)) {
		var row struct{ Problem string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		b.WriteString(row.Problem + "\n")
	}
	return b.String()
}

func BenchmarkEncode(b *testing.B) {
	tok, err := Open(qwenFolder(b))
	if err != nil {
		b.Fatal(err)
	}
	text := prose(b)
	for _, c := range []struct {
		name string
		fn   func() int
	}{
		{"whole", func() int { return len(tok.Encode(text)) }},
		{"lines", func() (n int) {
			for line := range strings.Lines(text) {
				n += len(tok.Encode(line))
			}
			return n
		}},
		{"unseen", func() int { // no piece is known
			clear(tok.bpe.cache)
			return len(tok.Encode(text))
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = c.fn()
			}
			b.ReportMetric(float64(n), "tokens")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := qwenFolder(b)
	b.ReportAllocs()
	for b.Loop() {
		before := heap()
		tok, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before)/1e6, "MB-kept")
		runtime.KeepAlive(tok)
	}
}

// heap returns how much is in use after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
