package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// Texts, names and columns of others may hold orders to a terminal, which are not passed on to it.
func TestNoTextOfOthersCommandsTheTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	const order = "\x1b[2J\u009b31m\u202e"
	for name, text := range map[string]string{
		"rows.jsonl":  `{"id":"a` + escaped + `","gold":"6","response":"so \\boxed{5` + escaped + `}"}` + "\n" + `{"id":"b","gold":"` + escaped + `"}`,
		"other.jsonl": `{"id":"a` + escaped + `","verdict":true}`,
		"table.csv":   "problem,mo" + order + "del,correct,output_tokens\na,b,1,2\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"run", "no" + order + ".yaml"},
		{"no" + order},
		{"verify", "--gold", "5" + order, "--response", `\boxed{6` + order + "}", "--explain"},
		{"verify", "rows.jsonl", "--compare", "other.jsonl"},
		{"import", "csv", "table.csv", "--out", "made", "--key", "model=none"},
	} {
		var out bytes.Buffer
		run(append([]string{"entrorouter"}, args...), strings.NewReader(""), &out, &out)
		if strings.ContainsAny(out.String(), order[:1]+"\u009b\u202e") || out.Len() == 0 {
			t.Errorf("%q prints %q", args, out.String())
		}
	}
}

// escaped is an order to a terminal as JSON has it.
const escaped = `\u001b[2J`
