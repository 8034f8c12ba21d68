package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// documents are the files whose commands are carried out, and "help" for the program's own.
var documents = []string{"README.md", "DESIGN.md", "LOG.md", "results/README.md", help,
	"CONTRIBUTING.md", "CHANGELOG.md", "docs/commands.md", "docs/glossary.md", "docs/findings.md", "docs/other-papers.md", "docs/distance.md", "docs/own-models.md", "docs/features.md", "docs/language-models.md", "docs/lm-studies.md", "docs/data.md", "docs/import.md", "docs/serve.md", "docs/live.md", "docs/ci.md", "docs/report.md", "docs/performance.md", "docs/xla.md", "docs/bounds.md", "docs/verify.md", "docs/faults.md"}

const help = "help"

// A documented command and how it is carried out here. The order is a reader's: what comes later may need what came
// before it. A leading "time" and comments are not part of a command.
type documented struct {
	command string
	as      string                    // shell text carried out instead; empty: the command as it stands, with example's names for placeholders
	edit    func(*testing.T, *reader) // what the reader does before
	why     string                    // it is not carried out as it stands, or on less than a reader's files
	exit    int                       // the exit code that is promised
	prints  string                    // regular expression that the output matches
	needs   string                    // a program or a module without which it is skipped
	slow    bool                      // not with -short
}

// example stands for the placeholders of documents. tiny.yaml is a spec of a second's work.
var example = strings.NewReplacer("[SPEC...]", "tiny.yaml", "SPEC...", "tiny.yaml", "SPEC", "tiny.yaml", "[FILE]", "problems.jsonl", "DIR", "data",
	"ROW", "entrorouter", "NAME", "sim-aime25")

const tex = "pdflatex"

// prebuilt keeps make from building the program again: the test itself is bin/entrorouter.
const prebuilt = " GO=true"

const benchstat = "golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da" // where it comes from

var commandsOfDocuments = []documented{
	{command: "make clean build", as: `mkdir -p again/bin && cp Makefile again && touch again/bin/old && make -C again clean && test ! -e again/bin && CGO_ENABLED=$(go env CGO_ENABLED) make -C "$ROOT" build BIN="$PWD/again/entrorouter" && again/entrorouter --version`, why: "into another folder", needs: "make", slow: true, prints: `entrorouter version`},
	{command: "make build", as: `make -C "$ROOT" -n build`, why: "make clean build has built it: what it calls", needs: "make", prints: `go build .*-o 'bin/entrorouter`},
	{command: "make build-simd", as: `make -C "$ROOT" -n build-simd`, why: "minutes: what it calls", needs: "make", prints: `GOEXPERIMENT=simd go build .*-o 'bin/entrorouter-simd`},
	{command: "go install github.com/entrorouter/entrorouter/cmd/entrorouter@latest", edit: ownModule, as: `GOBIN="$PWD/installed" GOSUMDB=off GOPROXY="file://$PWD/proxy" GOFLAGS="$(go env GOFLAGS) -modcacherw" go install -n github.com/entrorouter/entrorouter/cmd/entrorouter@latest 2>&1 | tail -n 60`, why: "this checkout as a version, not compiled again", prints: `(?s)entrorouter\\tv0\.0\.0-20010101000000-\w{12}\\th1:.*mv .*/installed/entrorouter`},
	{command: "make verify-paper", as: `make -C "$ROOT" verify-paper BIN="$PWD/bin/entrorouter"` + prebuilt, why: "this program", needs: "make", prints: `(?s)Claims: \d+ hold.*Verdicts on \d+ claims\n.*Llama 3\.1 .*Verdicts on \d+ orderings\n.*Simulated, 24 pools`},
	{command: "make release", as: `make -C "$ROOT" -n release`, why: "minutes: what it calls", needs: "make", prints: `go build -trimpath -buildvcs=false -ldflags '-s -w `},
	{command: "make release-check", as: `make -C "$ROOT" -n release-check`, why: "minutes: what it calls", needs: "make", prints: `(?s)git archive HEAD.*go build -trimpath .*diff`},
	{command: "entrorouter try --model small=http://localhost:8001/v1 --model large=http://localhost:8002/v1 --price small=0.1,0.4 --price large=1,4 --questions questions.jsonl --into mine", edit: ownQuestions,
		as: `entrorouter try --model Qwen3-4B-Thinking-2507=$(cat url) --model Qwen3-30B-A3B-Thinking-2507=$(cat url) --price Qwen3-4B-Thinking-2507=0.1,0.4 --price Qwen3-30B-A3B-Thinking-2507=1,4 --questions questions.jsonl --into tried --name mine --answer-tokens 32768`, why: "a stand-in for servers", prints: `(?s)Always Qwen3-4B.*40 scored questions are too few to tell differences of 2 points; about \d+ would do\.\n$`},
	{command: "entrorouter run mine/mine.yaml --data mine", as: "entrorouter run tried/mine.yaml --data tried", why: "another folder", prints: `(?s)mine/verdict\.txt.*Always Qwen3-4B`},
	{command: "entrorouter init logs --price small=0.1,0.4 --price medium=0.5,1 --price large=1,4", edit: ownLogs, why: "40 questions", prints: `then: entrorouter run logs/logs\.yaml --data logs`},
	{command: "entrorouter try", exit: 2, prints: `name the file of questions with --questions FILE`},
	{command: "entrorouter init FOLDER", as: "entrorouter init logs", why: "with prices", exit: 2, prints: `logs/prices/logs\.yaml is there already`},
	{command: "entrorouter run logs/logs.yaml --data logs --figures mine/figures", edit: fewerSteps("logs/logs.yaml"), why: "fewer folds and steps", prints: `(?s)Best mixture.*EntroRouter.*written to mine/figures`},
	{command: "entrorouter route logs/logs.yaml FILE --data logs", as: `printf '{"id":"a","problem":"What is 1 + 1?"}\n' >asked.jsonl && entrorouter route logs/logs.yaml asked.jsonl --data logs`, why: "one question", prints: `^{"id":"a","expert":"(small|medium|large)"`},
	{command: "entrorouter check logs/logs.yaml --data logs --against logs/reference --update", prints: `logs/reference/logs/measurements\.txt: \d+ lines of measurements`},
	{command: "entrorouter run logs/vectors.yaml --data logs", edit: ownVectors, why: "fewer folds and steps", prints: `(?s)Best mixture.*EntroRouter`},
	{command: "mkdir -p mine/pools"},
	{command: "cp experiments/live.yaml mine/"},
	{command: "cp experiments/pools/vllm.yaml mine/pools/"},
	{command: "entrorouter run mine/live.yaml --data DIR --figures mine/figures", edit: ownServers, why: "a stand-in for servers, a few questions and steps", prints: `(?s)Main results with served experts.*written to mine/figures`},
	{command: "entrorouter batch export mine/live.yaml --data DIR --dir batch", why: "a stand-in for servers", as: "entrorouter batch export mine/live.yaml --data data --out batched --dir batch", prints: `qwen3-4b: requests \d+ \(at most .*\), shards 1`},
	{command: "sbatch --array=1-40 --gpus=1 experiments/pools/vllm.sbatch batch qwen3-4b Qwen3-4B-Thinking-2507 Qwen/Qwen3-4B-Thinking-2507", as: `mkdir -p slurm && printf '#!/bin/sh\necho "$@" && for last; do :; done && while test "$1" != -o; do shift; done && echo "{}" >"$2"\n' >slurm/vllm && chmod +x slurm/vllm && PATH="$PWD/slurm:$PATH" SLURM_ARRAY_TASK_ID=1 SLURM_JOB_ID=7 sh "$ROOT/experiments/pools/vllm.sbatch" batch qwen3-4b Qwen3-4B-Thinking-2507 Qwen/Qwen3-4B-Thinking-2507 && rm batch/results/qwen3-4b-0001.jsonl`, why: "a stand-in for Slurm and vLLM", prints: `run-batch -i batch/qwen3-4b-0001\.jsonl -o batch/results/qwen3-4b-0001\.jsonl\.part7 --model Qwen/Qwen3-4B-Thinking-2507 --served-model-name Qwen3-4B-Thinking-2507\n$`},
	{command: "entrorouter batch import mine/live.yaml --data DIR batch/results/*.jsonl", as: "head -1 batch/qwen3-4b-0001.jsonl | sed 's/\"method.*/\"response\": null, \"error\": \"no room\"}/' >batch/results/one.jsonl && entrorouter batch import mine/live.yaml --data data --out batched batch/results/*.jsonl", why: "a result made by hand", prints: `live: answers 0, failures 1, known before 0`},

	{command: "make live-demo", as: `make -C "$ROOT" -n live-demo LIVE=build/nowhere`, why: "it installs packages: what it calls", needs: "make", prints: `(?s)pip install -r tools/live/requirements\.txt.*live/serve\.py.*status`},
	{command: "make test-vllm", as: `make -C "$ROOT" -n test-vllm VLLM=build/nowhere`, why: "it installs packages: what it calls", needs: "make", prints: `(?s)pip install --no-deps -r tools/vllm/requirements\.txt.*ENTROROUTER_VLLM=.* -run '\^TestLive'`},
	{command: "make test-live", as: `make -C "$ROOT" -n test-live LIVE=build/nowhere`, why: "it needs what make live-demo installs: what it calls", needs: "make", prints: `ENTROROUTER_LIVE=.* -run '\^TestLive'`},
	{command: "entrorouter plan live --data DIR", as: "entrorouter plan mine/live.yaml --data data --out later", why: "a few questions", prints: `To do: \d+ of \d+ steps, answers to ask for: at most \d+ \(at most .* tokens, \$`},
	{command: "entrorouter run mine/live.yaml --data DIR --figures mine/figures --max-cost 20 --max-tokens 50000000 --deadline 7h30m", as: "entrorouter run mine/live.yaml --data data --figures mine/figures --max-cost 20 --max-tokens 50000000 --deadline 7h30m", why: "the same servers", prints: `Main results with served experts`},

	{command: "make reproduce", as: "make reproduce SIMULATED=tiny.yaml" + prebuilt, why: "minutes: one small experiment", needs: "make", prints: `(?s)1 experiment in .*Tables, figures and measurements: results/figures.*\nVerdicts on simulated experts are over the pools of figures/ensemble/measurements\.txt and not of this run\.\nClaims: \d+ hold.*written to results/figures/report\.html: experiments 1, \d+ kB\nOpen results/figures/report\.html\n$`},
	{command: "make reproduce SEEDS=10", as: "make reproduce SIMULATED=tiny.yaml SEEDS=3" + prebuilt + " && grep 'Training seeds' results/figures/tiny/table.md", why: "an hour: one small experiment", needs: "make", prints: `(?s)No measurements in figures to compare with: tiny.*Training seeds: 3`},
	{command: "make reproduce SEEDS=10 UPDATE=1", as: "make reproduce SIMULATED=tiny.yaml SEEDS=3 UPDATE=1" + prebuilt, why: "an hour: one small experiment", needs: "make", prints: `(?s)Training seeds: 3.*written to figures`},
	{command: "entrorouter report --serve 127.0.0.1:8080", as: `rm -f serving; entrorouter report tiny.yaml --serve 127.0.0.1:0 >serving & until grep "the report is at" serving; do kill -0 $! && sleep .1 || exit 1; done; kill $! && wait $!`, why: "a free port, and to end it", prints: `the report is at http://127\.0\.0\.1:\d+/, how far a run is at http`},
	{command: "entrorouter report [SPEC...]", as: "entrorouter run tiny.yaml && entrorouter report tiny.yaml", why: "an experiment that has been run", prints: `(?m)^written to report\.html: experiments 1, `},
	{command: "entrorouter report --questions 40", as: "entrorouter report tiny.yaml --questions 40", why: "one experiment has been run", prints: `^written to report\.html: experiments 1, `},
	{command: "entrorouter report", as: "entrorouter report tiny.yaml --output all.html", why: "one experiment has been run", prints: `^written to all\.html: experiments 1, \d+ kB\nOpen all\.html\n$`},
	{command: "entrorouter report --figures figures --output committed.html", as: `mkdir few && cp -R figures/main figures/alpha few && entrorouter report --figures few --output committed.html`, why: "measurements of two experiments", prints: `^written to committed\.html: experiments 2, \d+ kB`},
	{command: "entrorouter report main --figures figures --against results/figures", as: "entrorouter report tiny.yaml --against results/figures", why: "one experiment has been run", prints: `^written to report\.html: experiments 1, `},
	{command: "make test-browser", as: `make -C "$ROOT" -n test-browser`, why: "it needs Chromium: what it calls", needs: "make", prints: `-tags browser -run '\^TestBrowser' \./cmd/entrorouter`},
	{command: "entrorouter report main ood --figures figures", as: `entrorouter report main ood --figures "$ROOT/figures"`, why: "from another folder", prints: `^written to report\.html: experiments 2, `},
	{command: "entrorouter plan main", prints: `answers to ask for: at most \d+ \(simulated\); about \d+ (minutes|s)\.`},
	{command: "entrorouter plan smoke", prints: `from an empty store: about \d+ MB of memory, [0-9.]+ MB of disk, \d+ trainings, `},
	{command: "ENTROROUTER_PREFLIGHT=off entrorouter run SPEC", prints: `Tiny`},
	{command: "make smoke", as: "make smoke" + prebuilt, why: "built already", needs: "make", prints: `Smoke test`},
	{command: "make recorded DATA=DIR", as: "make recorded RECORDED=logs/logs.yaml DATA=logs" + prebuilt, why: "half an hour, and recordings that are not ours: a small one", needs: "make", prints: `written to results/figures`},
	{command: "make recorded DATA=DIR PARTITIONS=1", as: `make -C "$ROOT" -n recorded DATA=DIR PARTITIONS=1`, why: "half an hour: what it calls", needs: "make", prints: `run recorded .* --data 'DIR' --partitions 1 --against figures`},
	{command: "make recorded DATA=DIR UPDATE=1", as: "make recorded RECORDED=logs/logs.yaml DATA=logs UPDATE=1" + prebuilt, why: "half an hour, and recordings that are not ours: a small one", needs: "make", prints: `(?s)Best mixture.*EntroRouter`},
	{command: "make paper-pdf", as: `mkdir -p paper/figures paper/bin && cp Makefile paper && cp -R "$ROOT"/results/reference/smoke paper/figures && ln -sf "$PWD/bin/entrorouter" paper/bin/ && make -C paper paper-pdf` + prebuilt, why: "the tables and figures of one experiment", needs: tex, slow: true, prints: `build/paper/all\.pdf`},
	{command: "make gpu-check PJRT=FILE", as: "make -o build/go.xla.mod gpu-check PJRT=cuda" + prebuilt, why: "no GPU is needed to run the tests", exit: 2, needs: "make", prints: `built without XLA`},
	{command: "make build-xla", as: `cd "$ROOT" && go list -deps -tags xla ./cmd/entrorouter`, why: "minutes of C: what it compiles is there", prints: `gomlx`},
	{command: "make xla-cpu", as: `make -C "$ROOT" -n xla-cpu XLA=build/nowhere`, why: "it installs packages and compiles C++: what it calls", needs: "make", prints: `tools/pjrt-cpu/build\.sh`},
	{command: "make test-xla", as: `make -C "$ROOT" -B -n test-xla`, why: "it needs what make xla-cpu makes: what it calls", needs: "make", prints: `ENTROROUTER_XLA=.* -run '\^TestXLA'`},
	{command: "make lm-accept", as: `make -C "$ROOT" -n lm-accept`, why: "half an hour: what it calls", needs: "make", prints: `run \./cmd/lm-accept`},
	{command: "make gpu-day", as: `make -C "$ROOT" -B -n gpu-day`, why: "minutes of C: what it calls", needs: "make", prints: `gzip .*part1/entrorouter\.gz`},
	{command: "make race", as: "make race GO=echo", why: "all tests again, half an hour: what it calls", needs: "make", prints: `test -race .*-short \./\.\.\.`},
	{command: "make kill", as: "make kill GO=echo", why: "some minutes: what it calls", needs: "make", prints: `-run \^TestKilledAtAnyTime\$ \./cmd/entrorouter`},

	{command: "make ensemble", as: `make -C "$ROOT" -n ensemble`, why: "a quarter of an hour: what it calls", needs: "make", prints: `entrorouter' ensemble ensemble`},
	{command: "make alpha-curve DATA=DIR", as: `make -C "$ROOT" -n alpha-curve DATA=DIR`, why: "half an hour: what it calls", needs: "make", prints: `run alpha-curve multiround-curve recorded-alpha --data 'DIR' --out build/alpha-curve`},
	{command: "make bench-reproduce", as: `make -C "$ROOT" -n bench-reproduce`, why: "half an hour: what it calls", needs: "make", prints: `tools/benchreproduce/run\.sh main `},
	{command: "make bench-reproduce EXPERIMENTS=smoke", as: `make -C "$ROOT" -n bench-reproduce EXPERIMENTS=smoke`, why: "it builds two programs: what it calls", needs: "make", prints: `tools/benchreproduce/run\.sh smoke\n`},
	{command: "RUNS=5 make bench-client", as: `make -C "$ROOT" -n bench-client`, why: "minutes, and aiohttp from PyPI: what it calls", needs: "make", prints: `tools/clientbench/run\.sh`},
	{command: "RUNS=1 make bench-peers", as: `make -C "$ROOT" -n bench-peers`, why: "minutes, and lm-eval and inspect_ai from PyPI: what it calls", needs: "make", prints: `tools/peers/run\.sh`},
	{command: "make loc", as: `make -C "$ROOT" loc`, why: "in the folder of the code", needs: "make", prints: `\d+ +\d+ +total`},
	{command: "make study", as: "make study GO=echo", why: "an hour: what it calls", needs: "make", prints: `test .*-run Study \./results`},
	{command: "go doc ./harness/metrics", as: `cd "$ROOT" && go doc ./harness/metrics`, why: "in the folder of the code", prints: `OracleGap`},
	{command: "go doc ./harness/recording.Table", as: `cd "$ROOT" && go doc ./harness/recording.Table`, why: "in the folder of the code", prints: `"query_id": "q1", "benchmark"`},
	{command: "go doc ./harness/experts.Answers", as: `cd "$ROOT" && go doc ./harness/experts.Answers`, why: "in the folder of the code", prints: `"tokens_out": 228`},
	{command: "go doc ./harness/spec.Expert", as: `cd "$ROOT" && go doc ./harness/spec.Expert`, why: "in the folder of the code", prints: `key_env`},
	{command: "go doc ./harness/spec.Sampling", as: `cd "$ROOT" && go doc ./harness/spec.Sampling`, why: "in the folder of the code", prints: `leave_out`},
	{command: "go doc ./harness/spec.Format", as: `cd "$ROOT" && go doc ./harness/spec.Format`, why: "in the folder of the code", prints: `chars_per_token`},
	{command: "go doc ./harness/paper", as: `cd "$ROOT" && go doc ./harness/paper`, why: "in the folder of the code", prints: `confirmed`},
	{command: "go install golang.org/x/perf/cmd/benchstat@latest", as: `GOBIN="$PWD/bin" go install ` + strings.Replace(benchstat, "@", "/cmd/benchstat@", 1), why: "a version that is known, into this folder", needs: benchstat, slow: true},
	{command: "benchstat figures/main/measurements.txt", needs: benchstat, slow: true, prints: `hull-gain-points`},
	{command: `benchstat -filter '.name:Route /arena:large /benchmark:avg /seed:"" .unit:(accuracy-% OR hull-gain-points)' -row /method figures/main/measurements.txt`, needs: benchstat, slow: true, prints: `(?s)accuracy-%.*\nentrorouter .*hull-gain-points.*\nentrorouter `},
	{command: `benchstat -filter '.name:Route /arena:large /benchmark:avg -/seed:"" .unit:hull-gain-points' -row /method -ignore /seed figures/main/measurements.txt`, needs: benchstat, slow: true, prints: `\nentrorouter +[0-9.m]+ ± +([0-9]+%|∞)`},
	{command: `benchstat -filter '.name:Route /arena:large /benchmark:avg -/seed:"" .unit:cost-share-%' -row /method -ignore /seed old/main/measurements.txt new/main/measurements.txt`, needs: benchstat, slow: true, prints: `\nentrorouter .*p=1\.000 n=\d+`},

	{command: "entrorouter schema pool", prints: `"\$schema": "https://json-schema\.org`},
	{command: "entrorouter schema", prints: `"\$schema": "https://json-schema\.org`},
	{command: "entrorouter completion powershell", prints: `^Register-ArgumentCompleter -Native -CommandName entrorouter `},
	{command: "entrorouter completion bash", prints: `complete -o default -F _entrorouter entrorouter\n$`},
	{command: "entrorouter schema prices", prints: `"\$schema": "https://json-schema\.org`},
	{command: "entrorouter plan SPEC --json", prints: `"from_empty_store"`},
	{command: "entrorouter list --json", prints: `"name": "main",`},
	{command: "entrorouter claims --json", prints: `"claims-measured": \[`},
	{command: "entrorouter run SPEC... --json", prints: `"may_be_had": `},
	{command: "entrorouter list", prints: `(?s)experiments:.*main  +Main results`},
	{command: "entrorouter batch export SPEC --dir DIR", as: "entrorouter batch export tiny.yaml --dir batch", exit: 2, why: "its experts are simulated: it says so", prints: `pool sim is of kind simulated`},
	{command: "entrorouter batch import SPEC FILE...", as: "entrorouter batch import tiny.yaml answers.jsonl", exit: 2, why: "the same", prints: `pool sim is of kind simulated`},
	{command: "entrorouter run SPEC...", prints: `Tiny`},
	{command: "entrorouter run main", as: "entrorouter run tiny.yaml", why: "minutes: a small experiment", prints: `Tiny`},
	{command: "entrorouter run large", as: "entrorouter run tiny.yaml", why: "an hour: a small experiment", prints: `Tiny`},
	{command: "entrorouter run recorded --data DIR", as: "entrorouter run logs/logs.yaml --data logs", why: "fourteen minutes, and recordings that are not ours: a small one", prints: `(?s)Best mixture.*EntroRouter`},
	{command: "entrorouter run recorded --data DIR --rows benchmark,logistic,difficulty,entrorouter,entroplus --set 'pools=[qwen25]'", as: "entrorouter run recorded --rows benchmark,logistic,difficulty,entrorouter,entroplus --set 'pools=[qwen25]'", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run recorded-mmlu --data DIR --rows 'random, cheapest, middle, strongest, benchmark, logistic, knn, knn-guard, cluster, difficulty, bag, mean, routellm, swranking, forc, forc-cost' --set 'folds.seeds=[0]' --figures ''", as: "entrorouter run recorded-mmlu --rows 'random, cheapest, middle, strongest, benchmark, logistic, knn, knn-guard, cluster, difficulty, bag, mean, routellm, swranking, forc, forc-cost' --set 'folds.seeds=[0]' --figures ''", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run recorded --data DIR --rows benchmark,logistic,difficulty,entrorouter,entrorouter-exact --set 'pools=[qwen25]' --set 'folds.seeds=[0]'", as: "entrorouter run recorded --rows benchmark,logistic,difficulty,entrorouter,entrorouter-exact --set 'pools=[qwen25]' --set 'folds.seeds=[0]'", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run recorded-mmlu --data DIR --rows benchmark,logistic,difficulty,entrorouter,entroplus", as: "entrorouter run recorded-mmlu --rows benchmark,logistic,difficulty,entrorouter,entroplus", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run recorded-rgym --data DIR --rows entroplus --set 'folds.seeds=[1]'", as: "entrorouter run recorded-rgym --rows entroplus --set 'folds.seeds=[1]'", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run lm-recorded lm-rgym --data DIR --rows cheapest,middle,logistic --set 'folds.versus=[logistic]' --set policy.backend=go", as: "entrorouter run lm-recorded lm-rgym --rows cheapest,middle,logistic --set 'folds.versus=[logistic]' --set policy.backend=go", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run recorded-steps --data DIR", as: "entrorouter run recorded-steps", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run recorded-steps --data DIR --rows entrorouter-paper,entrorouter-best --set grpo.std_norm=false", as: "entrorouter run recorded-steps --rows entrorouter-paper,entrorouter-best --set grpo.std_norm=false", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run recorded-lineage recorded-routellm recorded recorded-mmlu recorded-rgym-math recorded-rgym --data DIR", as: "entrorouter run recorded-lineage recorded-routellm recorded recorded-mmlu recorded-rgym-math recorded-rgym", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run recorded-steps", as: "entrorouter run recorded-steps", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter run recorded-ablation", as: "entrorouter run recorded-ablation", why: "recordings that are not ours: it says what is missing", exit: 2, prints: `say in which folder with --data DIR`},
	{command: "entrorouter plan SPEC", prints: `stored +profile`},
	{command: "entrorouter render", as: "entrorouter render --figures old", why: "the recording in results/figures is of another spec", prints: `Main results`},
	{command: "entrorouter render [SPEC...]", prints: `Tiny`},
	{command: "entrorouter explain", as: "entrorouter explain tiny.yaml", why: "of an experiment", prints: `nothing will run`},
	{command: "entrorouter explain SPEC [STEP]", as: "entrorouter explain tiny.yaml", why: "without the part in brackets", prints: `nothing will run`},
	{command: "entrorouter explain SPEC", prints: `tiny: what it needs is stored, nothing will run`},
	{command: "entrorouter explain SPEC STEP", as: "entrorouter explain tiny.yaml 'fit entrorouter seed=1'", why: "the name of a step", prints: `"stage": "fit"`},
	{command: "entrorouter show SPEC", prints: `entrorouter +sim-aime25`},
	{command: "entrorouter show SPEC --row ROW", prints: `entrorouter +sim-aime25`},
	{command: "entrorouter show SPEC --benchmark NAME", prints: `entrorouter +sim-aime25`},
	{command: "entrorouter show SPEC --row ROW --benchmark NAME", prints: `sim-aime25-00001`},
	{command: "entrorouter show SPEC --rollout N [--row ROW]", as: `entrorouter show tiny.yaml --rollout "$(entrorouter show tiny.yaml --problem sim-aime25-00001 | grep '^qwen3-4b ' | head -1 | grep -o '[0-9]*$')" --row entrorouter`, why: "a number of this store", prints: `sim-aime25-00001 of`},
	{command: "entrorouter show SPEC --problem ID [--row ROW]", as: "entrorouter show tiny.yaml --problem sim-aime25-00001 --row entrorouter", why: "with the part in brackets", prints: `gold:`},
	{command: "entrorouter claims", prints: `Claims: \d+ hold`},
	{command: "entrorouter claims --paper DIR", as: `entrorouter claims --paper "$ROOT/results/papers/routellm"`, why: "the paper that there is", prints: `Claims: 56 hold`},
	{command: "entrorouter claims --paper results/papers/routellm", as: `entrorouter claims --paper "$ROOT/results/papers/routellm" --measurements "$ROOT/figures/main/measurements.txt"`, why: "beside the folder of the code", prints: `(?s)Claims: 56 hold, 1 in another unit alone, 8 do not, 4 cannot be checked\n.*17%  +21\.00% +wrong unit`},
	{command: "entrorouter check", as: "entrorouter check smoke", why: "of an experiment", prints: `regressions: 0`},
	{command: "entrorouter check smoke", prints: `regressions: 0`},
	{command: "entrorouter check smoke --seeds 10 --against results/reference", as: "entrorouter check smoke", why: "three trainings instead of ten", prints: `regressions: 0`},
	{command: "entrorouter check SPEC", as: "entrorouter check tiny.yaml --against reference --update && entrorouter check tiny.yaml --against reference", why: "the built-in reference is that of smoke", prints: `regressions: 0`},
	{command: "entrorouter check SPEC --json", as: "entrorouter check tiny.yaml --against reference --update && entrorouter check tiny.yaml --against reference --json", why: "the built-in reference is that of smoke", prints: `"moved": `},
	{command: "entrorouter check lm-tiny --seeds 3", as: "entrorouter plan lm-tiny --seeds 3", why: "40 s: what it does", prints: `fit entrorouter seed=3`},
	{command: "entrorouter check lm-tiny --seeds 3 --against results/reference --update", as: "entrorouter plan lm-tiny --seeds 3", why: "40 s: what it does", prints: `fit entrorouter seed=3`},
	{command: "entrorouter check smoke --seeds 10 --against results/reference --update", as: "entrorouter check smoke --seeds 2 --against results/reference --update", why: "two trainings instead of ten", prints: `^results/reference/smoke/measurements\.txt: \d+ lines`},
	{command: "entrorouter check main --seeds 10 --against DIR --update", as: "entrorouter check tiny.yaml --seeds 3 --against data --update", why: "an hour: a small experiment", prints: `^data/tiny/measurements\.txt: \d+ lines`},
	{command: "entrorouter route SPEC [FILE]", prints: `"expert":"qwen3-`},
	{command: "entrorouter route live-multiround problems.jsonl --row router-r1 --runs 8 --dir out --data DIR", as: "entrorouter route mine/live-multiround.yaml problems.jsonl --row router-r1 --runs 8 --dir out --data data && cat out/trajectories.jsonl", edit: ownPolicies, why: "stand-ins for its servers and its data", prints: `"reward"`},
	{command: "entrorouter serve SPEC", as: "entrorouter serve tiny.yaml --listen 127.0.0.1:0 >serving & until grep listening serving; do kill -0 $! && sleep .1 || exit 1; done; kill $! && wait $!", why: "to end it", prints: `listening on http://127\.0\.0\.1:\d+/v1 for models`},
	{command: "entrorouter serve --pool sim", as: `rm -f serving; entrorouter serve --pool sim --listen 127.0.0.1:0 >serving & until grep listening serving; do kill -0 $! && sleep .1 || exit 1; done; kill $! && wait $!`, why: "to end it", prints: `listening on http://127\.0\.0\.1:\d+/v1 for models`},
	{command: "entrorouter serve --pool sim --faults plan.yaml", as: "rm -f serving; grep '^faults:' -A 99 \"$ROOT\"/docs/serve.md | sed '/^$/,$d; /^[^ f]/d' >plan.yaml; entrorouter serve --pool sim --faults plan.yaml --listen 127.0.0.1:0 >serving & until grep listening serving; do kill -0 $! && sleep .1 || exit 1; done; kill $! && wait $!; cat serving", why: "to end it", prints: `(?s)listening on http://127\.0\.0\.1:\d+/v1 for models.*fault 8: 0 requests`},
	{command: "entrorouter serve --pool sim --key-env KEY", as: `rm -f serving; export KEY=sesame; entrorouter serve --pool sim --key-env KEY --listen 127.0.0.1:0 >serving & until grep listening serving; do kill -0 $! && sleep .1 || exit 1; done; kill $! && wait $!`, why: "to end it", prints: `listening on http://127\.0\.0\.1:\d+/v1 for models`},
	{command: "entrorouter ensemble SPEC", as: "entrorouter ensemble smoke", why: "it takes 24 pools: what it says of a spec that draws none", exit: 2, prints: `has no block ensemble`},
	{command: "entrorouter calibrate SPEC", prints: `largest difference in accuracy: 0\.0`},
	{command: "entrorouter calibrate main", prints: `(?s)truncated %.*largest difference in accuracy: 0\.0`},
	{command: "entrorouter plan SPEC --compile DIR", as: "entrorouter plan tiny.yaml --compile programs", why: "it writes through XLA: what it says of a spec without language models", exit: 2, prints: `trains no language model`},
	{command: "entrorouter plan SPEC --tokens-per-second ID=N", as: "entrorouter plan tiny.yaml --tokens-per-second small=100", why: "it is about servers: what it says of a simulation", exit: 2, prints: `no model of that name is to be asked and has answered nothing yet; those that are: none`},
	{command: "entrorouter gpu-check --plugin P", exit: 1, why: "no GPU is needed to run the tests: what is missing", as: "entrorouter gpu-check --plugin cuda", prints: `built without XLA`},
	{command: "entrorouter run lm-learning", as: "entrorouter plan lm-learning", why: "a quarter of an hour: what it does", prints: `to do +fit lm-sft-100 seed=1`},
	{command: "entrorouter run multiround-curve", as: "entrorouter plan multiround-curve", why: "minutes: what it does", prints: `to do +fit r1-a100-0 seed=1`},
	{command: "entrorouter run lm-collapse", as: "entrorouter plan lm-collapse", why: "minutes: what it does", prints: `to do +fit lm-r1-a0 seed=1`},
	{command: "entrorouter run lm-tiny", as: "entrorouter plan lm-tiny", why: "half a minute: what it does", prints: `to do +fit entrorouter seed=1`},
	{command: "entrorouter plan live-lm", as: "ENTROROUTER_PREFLIGHT=off entrorouter plan live-lm", why: "a disk with less than 10 GB left is another refusal", prints: `(?s)81920 texts \(819M tokens\) written in Stage II and .* models/Qwen3-4B has no weights here`},
	{command: "entrorouter plan live-lm --data DIR", as: "ENTROROUTER_PREFLIGHT=off entrorouter plan live-lm --data data", why: "a disk with less than 10 GB left is another refusal", prints: `(?s)81920 texts \(819M tokens\) written in Stage II and .* models/Qwen3-4B has no weights here`},
	{command: "entrorouter-xla run live-lm --data DIR --plugin cuda", as: "entrorouter run live-lm --data data --plugin cuda", why: "it needs a card and servers: what this program says", exit: 2, prints: `built without XLA`},
	{command: "make lm-asked DATA=DIR", as: `make -C "$ROOT" -n lm-asked DATA=DIR LIVE=build/nowhere`, why: "it installs a server and asks it for half an hour: what it calls", needs: "make", prints: `run lm-asked --data "DIR"`},
	{command: "entrorouter run lm-cot", as: "entrorouter plan lm-cot", why: "minutes: what it does", prints: `to do +fit cot seed=1`},
	{command: "make smollm2 xla-cpu", as: `make -C "$ROOT" -n smollm2 xla-cpu SMOLLM2=build/nowhere XLA=build/nowhere`, why: "it installs packages: what it calls", needs: "make", prints: `(?s)model import build/nowhere/.*tools/pjrt-cpu/build\.sh`},
	{command: `build/xla/entrorouter-xla run lm-smollm2 --plugin "$PWD/build/xla/pjrt_c_api_cpu_plugin.so"`, as: `entrorouter run lm-smollm2 --plugin "$PWD/build/xla/pjrt_c_api_cpu_plugin.so"`, why: "it needs what make smollm2 xla-cpu makes: what this program says", exit: 2, prints: `built without XLA`},
	{command: "go doc ./harness/train.Conduct.SFT", as: `cd "$ROOT" && go doc ./harness/train.Conduct.SFT`, why: "in the folder of the code", prints: `Where it is not what the paper does`},
	{command: "go doc ./harness/train.Conduct.GRPO", as: `cd "$ROOT" && go doc ./harness/train.Conduct.GRPO`, why: "in the folder of the code", prints: `VeRL where they are silent`},
	{command: "make lm-studies DATA=DIR", as: `make -C "$ROOT" -n lm-studies DATA=DIR SMOLLM2=build/nowhere XLA=build/nowhere`, why: "it installs packages and takes two hours: what it calls", needs: "make", prints: `run lm-recorded lm-last lm-sizes lm-full lm-collapse --data 'DIR' --out build/lm-studies --plugin '.*pjrt_c_api_cpu_plugin\.so'`},
	{command: "make lm-studies LM_STUDIES=lm-rgym DATA=DIR", as: `make -C "$ROOT" -n lm-studies LM_STUDIES=lm-rgym DATA=DIR SMOLLM2=build/nowhere XLA=build/nowhere`, why: "an hour and a half: what it would do", needs: "make", prints: `entrorouter-xla run lm-rgym `},
	{command: "make lm-studies LM_STUDIES=lm-controls DATA=DIR", as: `make -C "$ROOT" -n lm-studies LM_STUDIES=lm-controls DATA=DIR SMOLLM2=build/nowhere XLA=build/nowhere`, why: "it installs packages and takes half an hour: what it calls", needs: "make", prints: `run lm-controls --data 'DIR' --out build/lm-studies --plugin '.*pjrt_c_api_cpu_plugin\.so'`},
	{command: "make lm-card DATA=DIR PJRT=FILE", as: `make -C "$ROOT" -n lm-card DATA=DIR PJRT=FILE SMOLLM2=build/nowhere`, why: "it needs a card: what it calls", needs: "make", prints: `run lm-card lm-card-controls --data 'DIR' --out build/lm-card --plugin 'FILE' *\n`},
	{command: "make lm-card DATA=DIR PJRT=FILE TUNE=full", as: `make -C "$ROOT" -n lm-card DATA=DIR PJRT=FILE TUNE=full SMOLLM2=build/nowhere`, why: "it needs a card: what it calls", needs: "make", prints: `--plugin 'FILE' --set 'policy\.tune=full'`},
	{command: "entrorouter-xla plan lm-card --data DIR --plugin FILE", as: "entrorouter plan lm-card --data data --plugin FILE", why: "recordings that are not ours: it says which set has them", exit: 1, prints: `'entrorouter fetch reasoning-gym' gets it`},
	{command: "make lm-studies LM_STUDIES=lm-last DATA=DIR", as: `make -C "$ROOT" -n lm-studies LM_STUDIES=lm-last DATA=DIR SMOLLM2=build/nowhere XLA=build/nowhere`, why: "it installs packages and takes half an hour: what it calls", needs: "make", prints: `run lm-last --data 'DIR' --out build/lm-studies --plugin '.*pjrt_c_api_cpu_plugin\.so'`},
	{command: "make lm-studies LM_STUDIES=lm-sizes DATA=DIR", as: `make -C "$ROOT" -n lm-studies LM_STUDIES=lm-sizes DATA=DIR SMOLLM2=build/nowhere XLA=build/nowhere`, why: "it installs packages and takes half an hour: what it calls", needs: "make", prints: `run lm-sizes --data 'DIR' --out build/lm-studies --plugin '.*pjrt_c_api_cpu_plugin\.so'`},
	{command: "make lm-studies LM_STUDIES=lm-full DATA=DIR", as: `make -C "$ROOT" -n lm-studies LM_STUDIES=lm-full DATA=DIR SMOLLM2=build/nowhere XLA=build/nowhere`, why: "it installs packages and takes a quarter of an hour: what it calls", needs: "make", prints: `run lm-full --data 'DIR' --out build/lm-studies --plugin '.*pjrt_c_api_cpu_plugin\.so'`},
	{command: "make smollm2", as: `make -C "$ROOT" -n smollm2 SMOLLM2=build/nowhere`, why: "97 MB from a network: what it calls", needs: "make", prints: `model import build/nowhere/.*--out build/nowhere/hf`},
	{command: "entrorouter status", prints: `no process is running; last asked by: `},
	{command: "entrorouter fsck", prints: `\d+ entries, \d+ rollouts, \d+ attempts; faults: 0`},
	{command: "make bench-reproduce EXPERIMENTS='smoke multiround'", as: `make -C "$ROOT" -n bench-reproduce EXPERIMENTS='smoke multiround'`, why: "it builds two programs: what it calls", needs: "make", prints: `tools/benchreproduce/run\.sh smoke multiround\n`},
	{command: "go build -trimpath -ldflags '-s -w' ./cmd/entrorouter", as: `cd "$ROOT" && go build -n -trimpath -ldflags '-s -w' -o /dev/null ./cmd/entrorouter 2>&1`, why: "a minute: what it calls", prints: `link -o .* -s -w`},
	{command: "entrorouter fetch --list", prints: `gpqa +GPQA +test +198 +unpinned`},
	{command: "entrorouter fetch SET... --data DIR", as: "entrorouter fetch published --specs shelf --data shelf", edit: ownShelf, why: "hosts that tests do not ask: a set that is there", prints: `published: 1 row, recorded, in shelf/published\.jsonl`},
	{command: "entrorouter fetch aime25 math500 --data DIR", as: "entrorouter fetch published --specs shelf --data shelf", why: "the same", prints: `published: 1 row, present`},
	{command: "entrorouter fetch lineage mmlu-pro-answers reasoning-gym routellm-gsm8k routellm-mmlu zeroeval --data DIR", as: "entrorouter fetch published --specs shelf --data shelf", why: "the same", prints: `published: 1 row, present`},
	{command: "entrorouter fetch live --data DIR", as: "entrorouter fetch smoke --data shelf", why: "the same: an experiment that reads none", prints: `smoke: reads no set that is published`},
	{command: "entrorouter fetch routellm-gsm8k", as: "entrorouter fetch published --specs shelf --data shelf", why: "the same", prints: `published: 1 row, present`},
	{command: "entrorouter fetch reasoning-gym --data DIR", as: "entrorouter fetch published --specs shelf --data shelf", why: "the same", prints: `published: 1 row, present`},
	{command: "entrorouter fetch SET --specs mine --data DIR", as: "entrorouter fetch published --specs shelf --data shelf", why: "the same", prints: `published: 1 row, present`},
	{command: "entrorouter import csv answers.csv --out logged --key problem=question --key output_tokens=tokens --price small=0.1,0.4 --price large=2,8", edit: ownExports, why: "a log made by hand", prints: `read: questions 40, benchmarks 2, models 2, answers 80; .*\naudit: nothing found`},
	{command: "entrorouter run logged/logged.yaml --data logged", edit: fewerSteps("logged/logged.yaml"), why: "fewer folds and steps", prints: `(?s)Best mixture.*EntroRouter.*written to`},
	{command: "entrorouter import FORMAT FILE... --out DIR", as: "entrorouter import csv answers.csv --out unpriced --key problem=question --key output_tokens=tokens", why: "a format and a file", prints: `audit: unknown prices: no price of large, small`},
	{command: "entrorouter import inspect logs/*.eval --out inspected", as: "entrorouter import inspect exported/*.json --out inspected", why: "a log made by hand", prints: `read: questions 7, .* answers 14;(.|\n)*written to inspected: `},
	{command: "entrorouter import lm-eval samples/*/* --out evaluated --chars-per-token 4", as: `entrorouter import lm-eval "$ROOT"/harness/imports/testdata/lm-eval/Qwen3*/* --out evaluated --chars-per-token 4`, why: "samples of a run that is too small", exit: 2, prints: `read: questions 3, .* answers 6;(.|\n)*too few questions have answers of all models that are compared, 3: `},
	{command: "entrorouter import openai batch.jsonl results.jsonl --problems golds.jsonl --out asked", as: "entrorouter import openai exported/batch.jsonl exported/results.jsonl --problems exported/golds.jsonl --out requested", why: "logs made by hand", prints: `read: questions 7, .* answers 14;(.|\n)*written to requested: `},
	{command: "entrorouter import reasoning-gym easy/*/*/*.json --out gym --chars-per-token 4", as: "entrorouter import reasoning-gym exported/*/*/*.json --out gym --chars-per-token 4", why: "logs made by hand", prints: `read: questions 7, .* answers 28;(.|\n)*written to gym: `},
	{command: "entrorouter import omnisbench results.json --problems golds.jsonl --out omnis", as: "entrorouter import omnisbench exported/omnis/results.json --problems exported/golds.jsonl --out omnis", why: "logs made by hand", prints: `read: questions 7, .* answers 14;(.|\n)*written to omnis: `},
	{command: "entrorouter import jsonl answers.jsonl --keys keys.yaml --out lines", as: "entrorouter import jsonl exported/answers.jsonl --keys exported/keys.yaml --out lines", why: "a log made by hand", prints: `read: questions 7, .* answers 14;(.|\n)*written to lines: `},
	{command: "entrorouter import csv wide.csv --out wide --key correct={model}_ok --key output_tokens={model}_tokens --chars-per-token 4", as: "entrorouter import csv exported/wide.csv --out wide --key correct={model}_ok --key output_tokens={model}_tokens --chars-per-token 4", why: "a log made by hand", prints: `read: questions 7, .* models 2, answers 14;(.|\n)*written to wide: `},
	{command: "go doc ./harness/problems.JSONL", as: `cd "$ROOT" && go doc ./harness/problems.JSONL`, why: "in the folder of the code", prints: `"problem": "Find`},
	{command: "go doc ./harness/spec.Home", as: `cd "$ROOT" && go doc ./harness/spec.Home`, why: "in the folder of the code", prints: `where a data file is published`},
	{command: "entrorouter model import FILE.gguf", as: "entrorouter model import model.gguf", why: "the name of a file", prints: `model: llama model of 27008 weights as float32, 262 tokens`},
	{command: "entrorouter model import model.gguf --out DIR --dtype bfloat16", as: "entrorouter model import model.gguf --out imported --dtype bfloat16", why: "a folder that is not there yet", prints: `imported: llama model of 27008 weights as bfloat16`},
	{command: "entrorouter export lm-tiny --hf DIR", as: "entrorouter run lm.yaml && entrorouter export lm.yaml --hf router", edit: ownModel, why: "half a minute: a smaller model", prints: `router: row entrorouter of lm, training seed 1, fit-\w+, as float32`},
	{command: "entrorouter plan live-lm --set policy.model=build/smollm2/hf --set policy.backend=go --data DIR", as: "ENTROROUTER_PREFLIGHT=off entrorouter plan live-lm --set policy.model=router --set policy.backend=go --data data", why: "another folder than that of 540 MB, and whatever room the disk has", prints: `at most \S+ tokens, \$\d+`},
	{command: "entrorouter export lm-tiny --row sft --seed 1 --dtype bfloat16 --hf DIR", as: "entrorouter export lm.yaml --row sft --seed 1 --dtype bfloat16 --hf half", why: "a smaller model", prints: `half: row sft of lm, training seed 1, fit-\w+, as bfloat16`},
	{command: "entrorouter export SPEC --answers FILE", as: "entrorouter export tiny.yaml --answers stored.parquet", why: "the name of a file", prints: `stored\.parquet: \d+ answers of tiny`},
	{command: "entrorouter export SPEC --hf DIR", exit: 2, prints: `row entrorouter is no language model`, as: "entrorouter export tiny.yaml --hf data", why: "a spec without one: it says so"},
	{command: "entrorouter route lm-tiny problems.jsonl", as: "entrorouter route lm.yaml problems.jsonl", why: "a smaller model", prints: `"tokens":\d+,"ms":`},
	{command: "entrorouter route lm-tiny problems.jsonl --server URL --model router", as: "entrorouter route lm.yaml problems.jsonl --server http://127.0.0.1:1/v1 --model router", exit: 1, why: "there is no such server: it says so", prints: `http://127\.0\.0\.1:1/v1: no connection`},
	{command: "entrorouter run main --offline", as: "entrorouter run tiny.yaml --offline", why: "minutes: one small experiment, which is stored", prints: `Tiny`},
	{command: "make verify-dev", as: `make -C "$ROOT" -n verify-dev`, why: "minutes, and Math-Verify from PyPI: what it calls", needs: "make", prints: `-run '\^TestDevelopmentRows\$' \./verify`},
	{command: "entrorouter verify", as: "entrorouter verify answers.jsonl", why: "of one of its two forms", prints: `"verdict":"different"`},
	{command: `entrorouter verify --gold '\frac12' --response 'so \boxed{0.5}' --explain`, prints: `equal`},
	{command: "entrorouter verify answers.jsonl --out verdicts.jsonl --summary", prints: `accuracy 50\.00 %`},
	{command: "entrorouter verify answers.jsonl --summary --jobs 1", prints: `accuracy 50\.00 %`},
	{command: "entrorouter verify --policies", prints: `strict-units`},
	{command: "entrorouter verify --regrade results/runs", prints: `verifier moves 0 of [1-9]\d* verdicts`},
}

func TestEveryCommandOfTheDocumentsIsCarriedOut(t *testing.T) {
	found := documentedCommands(t)
	for command, where := range found {
		if _, arguments, is := strings.Cut(command, "go test "); is {
			goTestRunsSomething(t, where, command, arguments)
			delete(found, command)
		} else if !slices.ContainsFunc(commandsOfDocuments, func(d documented) bool { return d.command == command }) {
			t.Errorf("%s names the command %q, and commandsOfDocuments does not say how to carry it out: add a line", where, command)
		}
	}
	for _, d := range commandsOfDocuments {
		if found[d.command] == "" {
			t.Errorf("commandsOfDocuments has %q, which no document names: remove it", d.command)
		}
		if (d.as == "" && d.edit == nil) != (d.why == "") {
			t.Errorf("%q: why it is not carried out as it stands goes with what is", d.command)
		}
	}
	if t.Failed() {
		return
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	r := newReader(t)
	for _, d := range commandsOfDocuments {
		t.Run(d.command, func(t *testing.T) {
			if d.slow && testing.Short() {
				t.Skip("slow")
			}
			switch {
			case d.needs == tex && !texInstalled():
				t.Skip("TeX is not installed with the packages of our documents")
			case strings.Contains(d.needs, "@"):
				if out, err := exec.Command("go", "mod", "download", d.needs).CombinedOutput(); err != nil {
					t.Skipf("%s cannot be had: %s", d.needs, out)
				}
			case d.needs != "" && d.needs != tex:
				if _, err := exec.LookPath(d.needs); err != nil {
					t.Skipf("%s is not installed", d.needs)
				}
			}
			if d.edit != nil {
				d.edit(t, r)
			}
			carryOut(t, r.dir, d)
		})
	}
	storedFilesAreDocumented(t, filepath.Join(r.dir, "results", "runs", "stages"))
}

// goTestRunsSomething wants the tests and benchmarks that a 'go test' of the documents names to be there, whatever tags their files
// have. It runs none: all tests run beside this one, and all benchmarks in a job of the workflow.
func goTestRunsSomething(t *testing.T, where, command, arguments string) {
	t.Helper()
	name := regexp.MustCompile(`-(run|bench) +(?:'([^']*)'|([^ ]+))`)
	folder := regexp.MustCompile(`(?:^| )\./([\w/]+)(?: |$)`).FindStringSubmatch(arguments)
	named := name.FindAllStringSubmatch(arguments, -1)
	if folder == nil || named == nil {
		if !strings.HasSuffix(arguments, "./...") && arguments != "-bench" {
			t.Errorf("%s: %q names no package with tests or benchmarks", where, command)
		}
		return
	}
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder[1]), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			for _, n := range named {
				kind := map[string]string{"run": "Test", "bench": "Benchmark"}[n[1]]
				first, _, _ := strings.Cut(n[2]+n[3], "/") // what follows names a part
				if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, kind) && regexp.MustCompile(first).MatchString(f.Name.Name) {
					return
				}
			}
		}
	}
	t.Errorf("%s: %q runs nothing: no test or benchmark of ./%s has such a name", where, command, folder[1])
}

// storedFilesAreDocumented wants results/README.md to name every stage and every file of a step.
func storedFilesAreDocumented(t *testing.T, stages string) {
	t.Helper()
	formats := documentText(t, "results/README.md")
	arena := regexp.MustCompile(`/(paper|large)\.`)
	part := regexp.MustCompile(`^of-\d+/`)
	n := 0
	err := fs.WalkDir(os.DirFS(stages), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		parts := strings.SplitN(path, "/", 3) // stage, key, file
		file := part.ReplaceAllString(arena.ReplaceAllString(parts[2], "/ARENA."), "of-N/")
		if strings.HasPrefix(file, "checkpoint/") {
			file = "checkpoint/"
		}
		for _, name := range []string{parts[0], file} {
			if !strings.Contains(formats, "`"+name+"`") && !strings.Contains(formats, "\n        "+name+" ") {
				t.Errorf("results/README.md does not name %s (%s)", name, path)
			}
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("%d stored files: %v", n, err)
	}
}

func carryOut(t *testing.T, dir string, d documented) {
	line := d.as
	if line == "" {
		line = example.Replace(d.command)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // of a build with the race detector
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", line)
	c.Dir, c.WaitDelay = dir, time.Second
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	inherited := regexp.MustCompile("^(ENTROROUTER_|MAKE|MFLAGS)") // and what a make above us was called with
	c.Env = append(slices.DeleteFunc(os.Environ(), inherited.MatchString), "ROOT="+root, "PWD="+dir, "PATH="+filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"), "CI=")
	start := time.Now()
	out, err := c.CombinedOutput()
	t.Logf("%s (%v)", line, time.Since(start).Round(10*time.Millisecond))
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if code := c.ProcessState.ExitCode(); code != d.exit {
		t.Fatalf("exit code %d, want %d:\n%s", code, d.exit, out[max(0, len(out)-4000):])
	}
	if !regexp.MustCompile(d.prints).Match(out) {
		t.Errorf("no %q in\n%s", d.prints, out[max(0, len(out)-4000):])
	}
}

var (
	fence  = regexp.MustCompile("(?s)```(\\w*)\n(.*?)```")
	span   = regexp.MustCompile("`([^`]+)`")
	spaces = regexp.MustCompile(`\s+`)
	aside  = regexp.MustCompile(`(^|\s+)# .*`)
	// What in a text is a command: ours, or one of a tool that we tell the reader to call.
	starts = regexp.MustCompile(`^([A-Z_]+=\S+ )*((bin/)?entrorouter [a-z]|(make|benchstat|go (test|run|doc|build|vet|list|tool|install)) )`)
	quoted = regexp.MustCompile(`'((?:entrorouter|make|benchstat|go) [^']*)'|\b(go doc [./\w]*\w)`)
)

// documentedCommands returns every command of the documents and where it is named first.
func documentedCommands(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	add := func(where, command string) {
		command = strings.TrimSpace(spaces.ReplaceAllString(aside.ReplaceAllString(command, ""), " "))
		command = strings.TrimPrefix(strings.TrimPrefix(command, "time "), "bin/")
		if first, _, _ := strings.Cut(command, " "); isOurs(first) {
			command = "entrorouter " + command
		}
		if command != "" && found[command] == "" {
			found[command] = where
		}
	}
	for _, c := range commands() {
		text := strings.Join([]string{c.Usage, c.Description}, "\n")
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			add(help+" "+c.Name, m[1]+m[2])
		}
		for line := range strings.Lines(text) {
			if call, _, _ := strings.Cut(strings.TrimSpace(line), "   "); strings.HasPrefix(call, c.Name+" ") && strings.HasPrefix(line, "   ") {
				add(help+" "+c.Name, call)
			}
		}
	}
	for _, name := range documents {
		if name == help {
			continue
		}
		text := documentText(t, name)
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(strings.ReplaceAll(m[2], "\\\n", " ")) {
				if m[1] == "sh" {
					add(name, line)
				}
			}
		}
		for _, m := range span.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			command := strings.TrimPrefix(spaces.ReplaceAllString(m[1], " "), "time ")
			first, _, more := strings.Cut(command, " ")
			if starts.MatchString(command) || more && isOurs(first) {
				add(name, command)
			}
		}
	}
	return found
}

func isOurs(command string) bool {
	return slices.ContainsFunc(commands(), func(c *cli.Command) bool { return c.Name == command })
}

func documentText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// reader is somebody who goes through the documents.
type reader struct {
	dir    string   // what a clone has after 'make build', and the files that examples name
	server *standIn // their servers
	url    string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{dir: t.TempDir()}
	program, err := exec.LookPath("entrorouter") // the test itself, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(r.dir, "experiments"), experiments.FS); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.dir, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(r.dir, "bin", "entrorouter")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "bin", "entrorouter-xla"), []byte("#!/bin/sh\nexec entrorouter \"$@\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	r.write(t, "Makefile", documentText(t, "Makefile"))
	r.write(t, "tiny.yaml", documentText(t, "cmd/entrorouter/testdata/tiny.yaml"))
	measured, err := filepath.Glob(measurementsFile(filepath.Join("..", "..", "figures"), "*"))
	if err != nil || len(measured) == 0 {
		t.Fatal("no measurements in figures/", err)
	}
	for _, path := range measured {
		name := "figures/" + present.Measurements(filepath.Base(filepath.Dir(path)))
		r.write(t, name, documentText(t, name))
	}
	for _, run := range []string{"old", "new"} {
		r.write(t, run+"/main/measurements.txt", documentText(t, "figures/main/measurements.txt"))
	}
	if err := writeGGUF(filepath.Join(r.dir, "model.gguf")); err != nil {
		t.Fatal(err)
	}
	r.write(t, "answers.jsonl", `{"id": "a", "gold": "1/2", "response": "so \\boxed{0.5}"}`+"\n"+`{"id": "b", "gold": "2", "response": "3"}`+"\n")
	r.write(t, "problems.jsonl", `{"id": "a", "problem": "Let $x + 1 = 3$. Find $x$.", "gold": "2"}`+"\n")
	smokeRun.store(t, filepath.Join(r.dir, "results", "runs"))
	r.server, _ = newStandIn(t)
	r.server.topK = append(r.server.topK, -1) // of try, which sets none
	server := httptest.NewServer(&conversing{standIn: r.server})
	t.Cleanup(server.Close)
	r.url = server.URL + "/v1"
	return r
}

func (r *reader) write(t *testing.T, name, text string) {
	t.Helper()
	write(t, filepath.Join(r.dir, filepath.FromSlash(name)), text)
}

// change puts one text for another in a file of the reader's.
func (r *reader) change(t *testing.T, name string, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, name, replaced(t, string(text), pairs...))
}

// ownShelf has a set of the reader's own that is published, and its file.
func ownShelf(t *testing.T, r *reader) {
	t.Helper()
	write(t, filepath.Join(r.dir, "shelf", "published.jsonl"), `{"id": "1", "problem": "What is 1 + 1?", "answer": "2"}`+"\n")
	write(t, filepath.Join(r.dir, "shelf", "benchmarks.yaml"), `published:
  {title: Published, split: test, runs: 1, size: 1, file: {path: published.jsonl, sha256: unpinned, source: us, licence: MIT,
   home: {parts: [{host: huggingface, repo: us/published, revision: unpinned, path: "*.jsonl", sha256: unpinned}], format: jsonl, most: 1,
   columns: {id: {from: [id]}, problem: {from: [problem]}, answer: {from: [answer]}}}}}
`)
}

// ownLogs has 40 questions and the answers of three models to them.
func ownLogs(t *testing.T, r *reader) {
	t.Helper()
	var queries, outcomes strings.Builder
	for i := range 40 {
		fmt.Fprintf(&queries, `{"query_id": "q%d", "benchmark": "%s", "problem": "What is %d + %d?", "gold": "%d", "prompt_tokens": 12}`+"\n", i, []string{"sums", "more-sums"}[i%2], i, i*i, i+i*i)
		for m, name := range []string{"small", "medium", "large"} {
			right := 0
			if i%(2+3*m) > 0 {
				right = 1
			}
			fmt.Fprintf(&outcomes, `{"query_id": "q%d", "model": "%s", "correct": %d, "output_tokens": %d}`+"\n", i, name, right, 100+7*i+m)
		}
	}
	r.write(t, "logs/queries.jsonl", queries.String())
	r.write(t, "logs/outcomes.jsonl", outcomes.String())
}

// ownVectors has vectors of the questions of ownLogs, and a spec that reads them.
func ownVectors(t *testing.T, r *reader) {
	t.Helper()
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, `{"id": "q%d", "vector": [%d, %d]}`+"\n", i, i%2, i%5)
	}
	r.write(t, "logs/vectors.jsonl", lines.String())
	r.write(t, "logs/vectors.yaml", "name: vectors\nbase: logs.yaml\nfeatures: {read: [words, vectors], vectors: {file: vectors.jsonl}}\n")
}

// fewerSteps has less of everything in a spec that init or import wrote.
func fewerSteps(file string) func(*testing.T, *reader) {
	return func(t *testing.T, r *reader) {
		t.Helper()
		r.change(t, file, "k: 5", "k: 2", "seeds: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", "seeds: [0]", "steps: 10", "steps: 2", "epochs: 10", "epochs: 1", "weight_decay: [30, 10, 3]", "weight_decay: [30]")
	}
}

// ownQuestions has questions that the servers know, and the servers' address.
func ownQuestions(t *testing.T, r *reader) {
	t.Helper()
	liveData(t, r.server, filepath.Join(r.dir, "asked"), map[string]int{"own": 80})
	if err := os.Rename(filepath.Join(r.dir, "asked", "data", "own.jsonl"), filepath.Join(r.dir, "questions.jsonl")); err != nil {
		t.Fatal(err)
	}
	r.write(t, "url", r.url)
}

// ownExports has logs of the formats that 'entrorouter import' reads.
func ownExports(t *testing.T, r *reader) {
	t.Helper()
	var answers strings.Builder
	answers.WriteString("query_id,benchmark,question,gold,model,response,prompt_tokens,tokens\n")
	for i := range 40 {
		for m, model := range []string{"small", "large"} {
			said := i + i*i
			if i%(2+3*m) == 0 {
				said++
			}
			fmt.Fprintf(&answers, "q%d,%s,What is %d + %d?,%d,%s,The answer is %d.,12,%d\n", i, []string{"sums", "more-sums"}[i%2], i, i*i, i+i*i, model, said, 100+7*i+m*(i%5))
		}
	}
	r.write(t, "answers.csv", answers.String())
	var golds, batch, results, items, lines strings.Builder
	wide := ",problem,small_ok,large_ok,small_tokens,large_tokens\n"
	for n := range 7 { // the fewest that run
		wide += fmt.Sprintf("%[1]d,%[1]d + 1?,False,True,1.0,2.0\n", n)
		fmt.Fprintf(&golds, `{"id": "q%d", "problem": "%d + 1?", "answer": "%d"}`+"\n", n, n, n+1)
	}
	r.write(t, "exported/wide.csv", wide)
	for _, model := range []string{"small", "large"} {
		var samples, sums []string
		for n := range 7 {
			samples = append(samples, fmt.Sprintf(`{"id": %d, "input": "%d + 1?", "target": "%d", "output": {"choices": [{"message": {"content": "2"}, "stop_reason": "stop"}], "usage": {"input_tokens": 3, "output_tokens": 1}}}`, n, n, n+1))
			fmt.Fprintf(&batch, `{"custom_id": "%[1]s-%[2]d", "body": {"model": "%[1]s", "messages": [{"role": "user", "content": "%[2]d + 1?"}]}}`+"\n", model, n)
			fmt.Fprintf(&results, `{"custom_id": "%s-%d", "response": {"body": {"choices": [{"message": {"content": "2"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}}}`+"\n", model, n)
			sums = append(sums, fmt.Sprintf(`{"question": "%d + 1?", "expected_answer": "%d", "completions": [{"full_model_response": "<answer>2</answer>", "score": 1}, {"full_model_response": "3", "score": 0}]}`, n, n+1))
			fmt.Fprintf(&items, `, {"policy": "always_%[1]s", "dataset": "sums", "item_id": "q%[2]d", "grader": "numeric_match", "reference": "%[3]d", "response_text": "2", "chosen_model": "%[1]s", "passed": true, "input_tokens": 3, "output_tokens": 1}`, model, n, n+1)
			fmt.Fprintf(&lines, `{"model": "%s", "ask": {"text": "%d + 1?"}, "correct": 1, "prompt_tokens": 3, "output_tokens": 1}`+"\n", model, n)
		}
		r.write(t, "exported/"+model+".json", `{"eval": {"task": "sums", "model": "`+model+`"}, "samples": [`+strings.Join(samples, ", ")+`]}`)
		r.write(t, "exported/"+model+"_20250227_230002/arithmetic/sums.json", `{"name": "sums", "results": [`+strings.Join(sums, ", ")+`]}`)
	}
	r.write(t, "exported/batch.jsonl", batch.String())
	r.write(t, "exported/results.jsonl", results.String())
	r.write(t, "exported/golds.jsonl", golds.String())
	r.write(t, "exported/omnis/results.json", `{"items": [`+items.String()[2:]+`]}`)
	r.write(t, "exported/answers.jsonl", lines.String())
	r.write(t, "exported/keys.yaml", "problem: ask.text\n")
}

// ownServers edits what the recipe for servers has copied: their addresses, and a few questions of the reader's own.
func ownServers(t *testing.T, r *reader) {
	t.Helper()
	liveData(t, r.server, filepath.Join(r.dir, "mine"), map[string]int{"math-train": 12, "hmmt-feb25": 2, "aime25": 2, "olympiadbench": 2, "aime24": 2, "amc": 2, "math500": 2})
	if err := os.CopyFS(filepath.Join(r.dir, "data"), os.DirFS(filepath.Join(r.dir, "mine", "data"))); err != nil {
		t.Fatal(err)
	}
	for port := 8001; port <= 8004; port++ {
		r.change(t, "mine/pools/vllm.yaml", fmt.Sprintf("http://localhost:%d/v1", port), r.url)
	}
	r.change(t, "mine/live.yaml", "size: 7472", "size: 12", "\nmethods:\n", "\nsft: {epochs: 1, batch: 16}\ngrpo: {steps: 2, batch: 16, group: 4}\nevaluate: {seeds: [1], bootstrap: 50}\n\nmethods:\n")
}

// ownPolicies puts stand-ins of policies into the spec of multi-round routers, beside the pool and the questions of
// ownServers.
func ownPolicies(t *testing.T, r *reader) {
	t.Helper()
	r.write(t, "mine/live-multiround.yaml", replaced(t, builtin(t, "live-multiround.yaml", r.url), "size: 500", "size: 12"))
}

// ownModel writes lm.yaml, of a language model that a second trains.
func ownModel(t *testing.T, r *reader) {
	t.Helper()
	r.write(t, "lm.yaml", replaced(t, documentText(t, "experiments/lm-tiny.yaml"), "name: lm-tiny", "name: lm",
		"hidden: 32, inner: 64", "hidden: 8, inner: 16", "head_dim: 8", "head_dim: 4", "size: 400", "size: 80", "size: 300", "size: 60",
		"large: 60", "large: 0", "epochs: 3", "epochs: 1", "steps: 12", "steps: 2", "max_problems: 20", "max_problems: 4"))
}

// replaced puts one text for another, which has to be there, and so on.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q in %.200q...: adapt this test", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// unitsAreDocumented wants results/README.md to name what a run that is not committed measures.
func unitsAreDocumented(t *testing.T, set *metrics.Set) {
	t.Helper()
	formats := documentText(t, "results/README.md")
	number := regexp.MustCompile(`^(cpt|gain-at-|accuracy-at-)\d+`)
	for _, m := range set.Measurements {
		for _, v := range m.Values {
			unit := number.ReplaceAllString(v.Unit, "${1}N")
			if strings.HasPrefix(unit, "asked-") && unit != methods.AskedAgain {
				unit = "asked-EXPERT-%"
			}
			if !strings.Contains(formats, "`"+unit+"`") {
				t.Errorf("results/README.md does not name the unit %q of %s", v.Unit, m.Label())
			}
		}
	}
}

// What is carried out in the place of 'make reproduce' and 'make recorded' is one small experiment. Theirs are built in,
// and all that are built in are theirs or of 'make alpha-curve', but those for a quick look, for a long run, for servers and of language models.
func TestMakeRunsEveryExperiment(t *testing.T) {
	var made []string
	for _, list := range []string{"SIMULATED", "RECORDED", "ALPHAS"} {
		m := regexp.MustCompile(`(?m)^` + list + ` *= *(.*)$`).FindStringSubmatch(documentText(t, "Makefile"))
		if m == nil {
			t.Fatal("the Makefile has no list ", list)
		}
		made = append(made, strings.Fields(m[1])...)
	}
	for _, name := range spec.Names(experiments.FS) {
		if name == "smoke" || name == "large" || name == "ensemble" || strings.HasPrefix(name, "live") || strings.HasPrefix(name, "lm-") {
			made = append(made, name)
		}
	}
	slices.Sort(made)
	want := slices.Sorted(slices.Values(spec.Names(experiments.FS)))
	if !slices.Equal(made, want) {
		t.Errorf("the Makefile's experiments, with smoke, large, ensemble and those of servers and language models, are\n%v\nand the built-in ones\n%v", made, want)
	}
}

func TestThePageOfCommandsNamesEveryCommand(t *testing.T) {
	page, readme := documentText(t, "docs/commands.md"), documentText(t, "README.md")
	for _, c := range commands() {
		if !strings.Contains(page, "| `entrorouter "+c.Name) {
			t.Errorf("docs/commands.md lacks %s", c.Name)
		}
		if !strings.Contains(readme, "`"+c.Name+"`") {
			t.Errorf("the README's list of commands lacks %s", c.Name)
		}
	}
}

// Flags that the documents name are flags of the command they are named with, or of one of ours where they stand alone.
func TestEveryFlagInTheDocumentsExists(t *testing.T) {
	known := map[string][]string{}
	for _, c := range commands() {
		for _, f := range c.Flags {
			known[c.Name] = append(known[c.Name], f.Names()...)
			known[""] = append(known[""], f.Names()...)
		}
	}
	flag := regexp.MustCompile(`(?:^|[\s\[(|])--?([a-z][a-z-]*)`)
	check := func(where, text, of string) {
		for _, m := range flag.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known[of], m[1]) {
				t.Errorf("%s: no flag --%s in %q", where, m[1], text)
			}
		}
	}
	for command, where := range documentedCommands(t) {
		rest, program := strings.CutPrefix(command, "entrorouter ")
		first, _, _ := strings.Cut(rest, " ")
		if isOurs(first) {
			check(where, rest, first)
		} else if program {
			t.Errorf("%s: no command %q in %q", where, first, command)
		}
	}
	for _, name := range documents {
		if name == help {
			continue
		}
		for _, m := range span.FindAllStringSubmatch(fence.ReplaceAllString(documentText(t, name), ""), -1) {
			if strings.HasPrefix(m[1], "--") {
				check(name, m[1], "")
			}
		}
	}
}
