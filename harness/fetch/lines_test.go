package fetch

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// published is a row or two in a publisher's columns, made up, and the lines that are made of them.
type published struct {
	set   string
	file  string // of formats of text
	rows  any    // of Parquet: a slice of structs
	part  int    // of the home
	lines string
}

var made = []published{
	{set: "math500", file: `{"problem": "  What is $1 < 2$?\n", "solution": "s", "answer": "\\frac12", "subject": "Algebra", "level": 2, "unique_id": "test/algebra/7.json"}` + "\n",
		lines: `{"id": "math500/algebra/7", "benchmark": "math500", "problem": "What is $1 < 2$?", "answer": "\\frac12", "level": "2", "subject": "Algebra"}` + "\n"},
	{set: "amc", file: `{"id": 3, "problem": "How many? ", "answer": -142.0, "url": "https://wiki.example/index.php/2022_AMC_12B_Problems/Problem_10"}` + "\n\n" +
		`{"id": 4, "question": "Which?", "answer": "3", "url": "https://wiki.example/2023_AMC_12A_Problems/Problem_1"}`,
		lines: `{"id": "amc-2022AMC12B-10", "benchmark": "amc", "problem": "How many?", "answer": "-142", "subject": "2022_AMC_12B"}` + "\n" +
			`{"id": "amc-2023AMC12A-1", "benchmark": "amc", "problem": "Which?", "answer": "3", "subject": "2023_AMC_12A"}` + "\n"},
	{set: "gsm8k", file: `{"question": "How many\u2019s left?", "answer": "It is 3*4=<<3*4=12>>12.\n#### 12"}` + "\n" + `{"question": "And in all?", "answer": "Many.\n#### -1,234,567"}` + "\n",
		lines: `{"id": "gsm8k-0", "benchmark": "gsm8k", "problem": "How many’s left?", "answer": "12"}` + "\n" +
			`{"id": "gsm8k-1", "benchmark": "gsm8k", "problem": "And in all?", "answer": "-1234567"}` + "\n"},
	{set: "olympiadbench", file: `[{"id": 12, "question": "Find \u00e9.", "final_answer": ["1", "2"], "subfield": "Algebra", "answer_type": "Numerical", "is_multiple_answer": true}]`,
		lines: `{"id": "olympiad-12", "benchmark": "olympiadbench", "problem": "Find é.", "answer": "1, 2", "subject": "Algebra", "answer_type": "Numerical", "is_multiple_answer": true}` + "\n"},
	{set: "math-train", file: `[{"problem": "a ", "answer": ""}, {"problem": "b ", "answer": "2 ", "difficulty": 5.0, "type": "Algebra"}]`,
		lines: `{"id": "math_train-1", "benchmark": "math_train", "problem": "b ", "answer": "2 ", "level": "5.0", "subject": "Algebra"}` + "\n"},
	{set: "gpqa", file: "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,High-level domain\n" +
		"rec1,\"Which, of \"\"these\"\"?\",\"red\n\",green,blue,white,Physics\nrec2,Which?,red,green,blue,white,Physics\n"},
	{set: "mmlu-pro", rows: choices{{70, "Which? ", []string{"a ", "b"}, "B", 1, "law"}, {71, "Why?", []string{"c", "d", "e"}, "A", 0, "law"}},
		lines: `{"id": "mmlu_pro-70", "benchmark": "mmlu_pro", "problem": "Which? ", "options": ["a ", "b"], "answer": "B", "subject": "law"}` + "\n" +
			`{"id": "mmlu_pro-71", "benchmark": "mmlu_pro", "problem": "Why?", "options": ["c", "d", "e"], "answer": "A", "subject": "law"}` + "\n"},
	{set: "aime24", part: 1, rows: contest{{Index: 1, Problem: "p", Answer: 25}},
		lines: `{"id": "aime24-II-1", "benchmark": "aime24", "problem": "p", "answer": "25"}` + "\n"},
	{set: "aime25", rows: contest{{Index: 1, Problem: "p", Answer: 0}},
		lines: `{"id": "aime25-I-1", "benchmark": "aime25", "problem": "p", "answer": "0"}` + "\n"},
	{set: "hmmt-feb25", rows: exact{{Index: 9, Problem: "p", Answer: `\sqrt{2}`}},
		lines: `{"id": "hmmt_feb25-9", "benchmark": "hmmt_feb25", "problem": "p", "answer": "\\sqrt{2}"}` + "\n"},
	{set: "hmmt-nov25", rows: exact{{Index: 9, Problem: "p", Answer: "7"}},
		lines: `{"id": "hmmt-nov25-9", "benchmark": "hmmt-nov25", "problem": "p", "answer": "7"}` + "\n"},
	{set: "smt25", rows: exact{{Index: 53, Problem: "p", Answer: "7"}},
		lines: `{"id": "smt25-53", "benchmark": "smt25", "problem": "p", "answer": "7"}` + "\n"},
	{set: "openmathreasoning", rows: []solution{
		{"has_answer_extracted", "p", "1", "aops", "s1"}, {"no_answer_extracted", "q", "2", "aops", "s"}, {"has_answer_extracted", " p", "1", "aops", "s2"}, {"has_answer_extracted", "r", "", "aops", ""}, {"has_answer_extracted", "t", "3", "aops", ""}},
		lines: `{"id": "openmathreasoning-1", "benchmark": "openmathreasoning", "problem": "p", "answer": "1", "subject": "aops"}` + "\n" +
			`{"id": "openmathreasoning-5", "benchmark": "openmathreasoning", "problem": "t", "answer": "3", "subject": "aops"}` + "\n"},
	{set: "deepmath", rows: hard{{"p", "1", 5.5, "Algebra"}},
		lines: `{"id": "deepmath-1", "benchmark": "deepmath", "problem": "p", "answer": "1", "level": "5.5", "subject": "Algebra"}` + "\n"},
}

type contest []struct {
	Index   int64    `parquet:"problem_idx"`
	Answer  int64    `parquet:"answer"`
	Problem string   `parquet:"problem"`
	Type    []string `parquet:"problem_type,list"`
}

type exact []struct {
	Index   int64  `parquet:"problem_idx"`
	Problem string `parquet:"problem"`
	Answer  string `parquet:"answer,optional"`
}

type choices []struct {
	QuestionID int64    `parquet:"question_id"`
	Question   string   `parquet:"question"`
	Options    []string `parquet:"options,list"`
	Answer     string   `parquet:"answer"`
	Index      int64    `parquet:"answer_index"`
	Category   string   `parquet:"category"`
}

type hard []struct {
	Question   string  `parquet:"question"`
	Answer     string  `parquet:"final_answer"`
	Difficulty float64 `parquet:"difficulty"`
	Topic      string  `parquet:"topic"`
}

type solution struct {
	Type    string `parquet:"problem_type"`
	Problem string `parquet:"problem"`
	Answer  string `parquet:"expected_answer"`
	Source  string `parquet:"problem_source"`
	Text    string `parquet:"generated_solution"`
}

// bytes is the file as its publisher would have it.
func (p published) bytes(t testing.TB) []byte {
	t.Helper()
	if p.rows == nil {
		return []byte(p.file)
	}
	var b bytes.Buffer
	var err error
	switch rows := p.rows.(type) {
	case contest:
		err = parquet.Write(&b, rows)
	case exact:
		err = parquet.Write(&b, rows)
	case []solution:
		err = parquet.Write(&b, rows, parquet.MaxRowsPerRowGroup(2), parquet.Compression(&parquet.Zstd))
	case choices:
		err = parquet.Write(&b, rows)
	case hard:
		err = parquet.Write(&b, rows)
	default:
		t.Fatalf("rows of type %T", rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func builtIn(t testing.TB) spec.Benchmarks {
	t.Helper()
	all, err := spec.LoadBenchmarks(experiments.FS)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func converted(t testing.TB, p published, home *spec.Home) (string, error) {
	t.Helper()
	c, err := newConverter(p.set, home)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, p.bytes(t), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	at := 0
	_, err = convert(t.Context(), c, path, source{part: home.Parts[p.part]}, &at, 1<<30, &out)
	return out.String(), err
}

// Every published set is made of rows as its publisher has them.
func TestRowsBecomeLines(t *testing.T) {
	all := builtIn(t)
	tested := map[string]bool{}
	for _, p := range made {
		tested[p.set] = true
		if p.set == "gpqa" {
			continue // TestOptionsAreInAnOrderOfTheirOwn
		}
		got, err := converted(t, p, all[p.set].File.Home)
		if err != nil || got != p.lines {
			t.Errorf("%s: %v\ngot  %swant %s", p.set, err, got, p.lines)
		}
	}
	for name, b := range all {
		if b.File != nil && b.File.Home != nil && !tested[name] {
			t.Errorf("%s has a home and no row here", name)
		}
	}
}

func TestOptionsAreInAnOrderOfTheirOwn(t *testing.T) {
	for _, p := range made {
		if p.set != "gpqa" {
			continue
		}
		got, err := converted(t, p, builtIn(t)["gpqa"].File.Home)
		if err != nil {
			t.Fatal(err)
		}
		// By the SHA-256 of the id, a zero byte and the option, computed with sha256sum.
		want := `{"id": "rec1", "benchmark": "gpqa", "problem": "Which, of \"these\"?", "options": ["red", "green", "blue", "white"], "answer": "A", "subject": "Physics"}` + "\n" +
			`{"id": "rec2", "benchmark": "gpqa", "problem": "Which?", "options": ["blue", "white", "red", "green"], "answer": "C", "subject": "Physics"}` + "\n"
		if got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}

func TestRowsThatDoNotFitAreRefused(t *testing.T) {
	all := builtIn(t)
	for _, c := range []struct{ name, set, file, want string }{
		{"another column", "math500", `{"unique_id": "test/a.json", "text": "p", "answer": "1"}`, `row 1 has no problem; its columns are answer, text, unique_id`},
		{"no answer", "math500", `{"unique_id": "test/a.json", "problem": "p"}`, `row 1 has no answer; its columns are problem, unique_id`},
		{"an id of another form", "math500", `{"unique_id": "train/a.json", "problem": "p", "answer": "1"}`, `row 1: id: "train/a.json" does not match ^test/`},
		{"an answer of another form", "amc", `{"url": "2022_AMC_12A_Problems/Problem_1", "problem": "p", "answer": "1.5"}`, `row 1: answer: "1.5" does not match`},
		{"an object for a text", "math500", `{"unique_id": "test/a.json", "problem": {"a": 1}, "answer": "1"}`, `row 1: problem: is no text`},
		{"no JSON", "math500", "version https://git-lfs.example/spec/v1\n", `line 1 is no JSON object`},
		{"two objects on a line", "math500", `{} {}`, `line 1 goes on after its JSON object`},
		{"a cut line", "math500", `{"problem": "p`, `line 1 is no JSON object`},
		{"no array", "olympiadbench", `{"id": 1}`, `is no JSON array`},
		{"a cut array", "math-train", `[{"problem": "p", "answer": "1"}`, `EOF`},
		{"no table", "gpqa", ``, `has no header`},
		{"a table without the options", "gpqa", "Record ID,Question,Correct Answer\nr,q,a\n", `row 1: options: column "Incorrect Answer 1" has no text; the columns are Correct Answer, Question, Record ID`},
		{"no Parquet", "deepmath", "<html>", `is no Parquet file`},
		{"nothing", "deepmath", "", `is no Parquet file`},
		{"Parquet with a footer larger than itself", "deepmath", "PAR1\xff\xff\xff\xffPAR1", `is damaged: it has 12 bytes, and its footer says that it has 4294967295 itself`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := converted(t, published{set: c.set, file: c.file}, all[c.set].File.Home)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
	p := published{set: "deepmath", rows: exact{{Index: 1, Problem: "p"}}}
	if _, err := converted(t, p, all["deepmath"].File.Home); err == nil || !strings.Contains(err.Error(), `has none of the columns`) {
		t.Errorf("Parquet of other columns: %v", err)
	}
}

// JSON as Python writes it, so that bytes agree with files that were made with it.
func TestTextIsQuotedAsPythonDoes(t *testing.T) {
	var b bytes.Buffer
	write(&b, "\"\\/\b\t\n\v\f\r\x1f\x7f<&>é\u2028😀")
	if want := `"\"\\/\b\t\n\u000b\f\r\u001f` + "\x7f<&>é\u2028😀\""; b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
}

func FuzzQuotedTextIsReadBack(f *testing.F) {
	f.Add("a\"b\\\x00\u2029")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		var b bytes.Buffer
		write(&b, text)
		var got string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || got != text || bytes.ContainsRune(b.Bytes(), '\n') {
			t.Errorf("%q became %s, read back as %q (%v)", text, b.Bytes(), got, err)
		}
	})
}

// Damaged Parquet is an error and never a panic.
func FuzzParquet(f *testing.F) {
	for _, p := range made {
		if p.set == "mmlu-pro" || p.set == "openmathreasoning" {
			f.Add(p.bytes(f))
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip()
		}
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		n := 0
		for r, err := range rows(file, "parquet", []string{"question", "options", "problem"}) {
			if n++; err == nil && r == nil || n > 1000 {
				t.Fatalf("row %d: %v", n, r)
			}
		}
	})
}
