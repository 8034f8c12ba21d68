// Errors of transcription that are planted in copies of the paper's tables: 'claims' has to name file, row and cell, and what
// the cell contradicts.
package results_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/results"
)

// plantedCells are errors of one cell. by is the first words of what has to be said without the control totals: what the
// paper's own tables contradict; empty: nothing in the paper does, so only its control totals can.
var plantedCells = []struct {
	file, line, old, new string
	cell                 string // row, benchmark and unit
	by                   string
}{
	{"noise.txt", "noise=0/benchmark=hmmt25", "80.0", "80.4", "entrorouter/noise=0 hmmt25 accuracy-%", "noise.txt: entrorouter/noise=0 hmmt25 accuracy-% is 80.4, main.txt has 80.0"},
	{"alpha.txt", "alpha=0.6/benchmark=smt25", "0.516", "0.561", "entrorouter/alpha=0.6 smt25 usd", "alpha.txt: entrorouter/alpha=0.6 smt25 usd is 0.561, main.txt has 0.5155"},
	{"llm-as-router-ood.txt", "entrorouter/benchmark=gpqa", "0.9018", "0.9081", "entrorouter gpqa usd", "llm-as-router-ood.txt: entrorouter gpqa usd is 0.9081, ood.txt has 0.902"},
	{"ablation.txt", "no-anchor/benchmark=smt25", "0.551", "0.515", "no-anchor smt25 usd", ""},
	{"noise.txt", "noise=0.1/benchmark=smt25", "0.591", "0.519", "entrorouter/noise=0.1 smt25 usd", ""},
	{"hetero.txt", "entrorouter/benchmark=hmmt25", "0.213", "0.313", "entrorouter hmmt25 usd", ""},
	{"ood.txt", "qwen3-4b/benchmark=gpqa", "0.052", "0.520", "qwen3-4b gpqa usd", "ood.txt: qwen3-4b gpqa usd is 0.520: 87542 tokens per question"},
	{"main.txt", "random/benchmark=hmmt25", "0.2783", "0.2873", "random hmmt25 usd", ""},
	{"main.txt", "xrouter/benchmark=aime24", "41.7", "47.1", "xrouter aime24 accuracy-%", ""},
	{"main.txt", "entrorouter/benchmark=smt25", "0.5155", "0.5515", "entrorouter smt25 usd", "main.txt: entrorouter smt25 usd is 0.5515, "},
	{"main.txt", "entrorouter/benchmark=avg", "88.6", "86.8", "entrorouter avg accuracy-%", "llm-as-router.txt: entrorouter avg accuracy-% is 88.6, main.txt has 86.8"},
	{"main.txt", "forc/benchmark=math500", "98.2", "98.3", "forc math500 accuracy-%", "main.txt: mismatch that is not recorded: forc on math500: 98.3% of 500"},
	{"main.txt", "qwen3-235b/benchmark=hmmt25", "0.5690", "5.6901", "qwen3-235b hmmt25 usd", "main.txt: qwen3-235b hmmt25 usd is 5.6901: 237088 tokens per question"},
	{"main.txt", "qwen3-4b/benchmark=smt25", "0.0322", "0.0232", "qwen3-4b smt25 usd", "main.txt: qwen3-4b smt25 usd is 0.0232: 14591 tokens per question"},
	{"main.txt", "random/benchmark=olympiadbench", "3.9836", "3.3986", "random olympiadbench usd", "main.txt: random olympiadbench usd is 3.3986: a uniform choice"},
	{"main.txt", "routellm/benchmark=math500", "0.1042", "0.0142", "routellm math500 usd", "main.txt: routellm math500 usd is 0.0142: who asks one expert"},
	{"main.txt", "forc/benchmark=avg", "0.0059", "0.0095", "forc avg usd/query", "main.txt: mismatch that is not recorded: forc cost: printed 0.0095"},
	{"ood.txt", "entrorouter/benchmark=mmlu-pro", "2.300", "3.200", "entrorouter mmlu-pro usd", "llm-as-router-ood.txt: entrorouter mmlu-pro usd is 2.3002, ood.txt has 3.200"},
	{"ood.txt", "random/benchmark=gpqa", "0.696", "0.969", "random gpqa usd", "ood.txt: random gpqa usd is 0.969: a uniform choice"},
	{"ood.txt", "forc/benchmark=mmlu-pro", "78.5", "75.8", "forc mmlu-pro accuracy-%", "ood.txt: mismatch that is not recorded: forc accuracy: printed 77.5"},
	{"ablation.txt", "no-gate/benchmark=aime25", "77.7", "77.9", "no-gate aime25 accuracy-%", ""},
	{"ablation.txt", "no-soft-supervision/benchmark=avg", "72.7", "77.2", "no-soft-supervision avg accuracy-%", "ablation.txt: mismatch that is not recorded: no-soft-supervision accuracy: printed 77.2"},
	{"hetero.txt", "gpt-oss-20b/benchmark=smt25", "0.055", "0.55", "gpt-oss-20b smt25 usd", "hetero.txt: gpt-oss-20b smt25 usd is 0.55: 69182 tokens per question"},
	{"hetero.txt", "r1-distill-llama-8b/benchmark=aime25", "0.021", "0.000", "r1-distill-llama-8b aime25 usd", "hetero.txt: r1-distill-llama-8b aime25 usd is 0.000: an expert's answers cost something"},
	{"llm-as-router.txt", "gpt-oss-120b/benchmark=amc", "0.2285", "0.0228", "gpt-oss-120b amc usd", "llm-as-router.txt: gpt-oss-120b amc usd is 0.0228: who asks one expert"},
	{"alpha.txt", "alpha=0.2/benchmark=aime25", "78.5", "75.8", "entrorouter/alpha=0.2 aime25 accuracy-%", "alpha.txt: mismatch that is not recorded: entrorouter/alpha=0.2 accuracy: printed 80.4"},
}

func TestPlantedErrorsOfTranscriptionAreNamed(t *testing.T) {
	data, err := fs.ReadFile(results.FS, "paper/claims.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// said is what differs from the record: as to the control totals, and as to all else.
	said := func(t *testing.T, fsys fs.FS) (totals, others string) {
		t.Helper()
		list, err := paper.ReadList("claims.yaml", data)
		if err != nil {
			t.Fatal(err)
		}
		tables, err := paper.ReadTables(fsys, "paper")
		if err != nil {
			t.Fatal(err)
		}
		findings, err := list.Check("claims.yaml", tables, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			switch {
			case f.Differs == "":
			case strings.HasPrefix(f.ID, "transcription of "):
				totals += f.Differs + "\n"
			default:
				others += f.ID + ": " + f.Differs + "\n"
			}
		}
		return totals, others
	}
	if totals, others := said(t, results.FS); totals+others != "" {
		t.Fatalf("before anything is planted: %s", totals+others)
	}
	found, inThePaper := 0, 0
	for _, p := range plantedCells {
		t.Run(strings.TrimSuffix(p.file, ".txt")+" "+p.cell, func(t *testing.T) {
			fsys := fstest.MapFS{}
			files, err := fs.Glob(results.FS, "paper/*.txt")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range files {
				text, err := fs.ReadFile(results.FS, name)
				if err != nil {
					t.Fatal(err)
				}
				if name == "paper/"+p.file {
					lines, changed := strings.Split(string(text), "\n"), 0
					for i, line := range lines {
						if strings.Contains(line, p.line+" ") {
							lines[i] = strings.Replace(line, " "+p.old+" ", " "+p.new+" ", 1)
							if lines[i] != line {
								changed++
							}
						}
					}
					if changed != 1 {
						t.Fatalf("%d lines changed, want 1", changed)
					}
					text = []byte(strings.Join(lines, "\n"))
				}
				fsys[name] = &fstest.MapFile{Data: text}
			}
			want := p.file + ": " + p.cell + " is " + p.new + ", the control totals of its row and column want " + p.old
			totals, others := said(t, fsys)
			if !strings.Contains(totals, want) {
				t.Errorf("the control totals do not say %q:\n%s", want, totals)
			} else {
				found++
			}
			switch {
			case p.by == "" && others != "":
				t.Errorf("the tables contradict it, which the list of errors does not expect:\n%s", others)
			case !strings.Contains(others, p.by):
				t.Errorf("without control totals nothing says %q:\n%s", p.by, others)
			case p.by != "":
				inThePaper++
			}
		})
	}
	if found < 22 || found != len(plantedCells) || inThePaper < 19 {
		t.Errorf("of %d errors %d were named, %d by the paper's own tables", len(plantedCells), found, inThePaper)
	}
}
