// Trials of what vLLM alone can: answering a batch of requests from a file, and writing for a training that sends it adapters. make
// test-vllm runs them; elsewhere they skip.

package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// onlyVLLM is that engine. The test is skipped where another one serves.
func onlyVLLM(t *testing.T) engine {
	t.Helper()
	e := liveEngine(t)
	if !e.vllm {
		t.Skip("llama.cpp cannot do this; make test-vllm runs it")
	}
	return e
}

// The requests of a run are answered by vllm run-batch, as experiments/pools/vllm.sbatch calls it, and the run then asks nobody.
func TestLiveBatch(t *testing.T) {
	e := onlyVLLM(t)
	r := &trial{dir: t.TempDir(), engine: e}
	if err := os.CopyFS(r.dir, os.DirFS(filepath.Join("..", "..", "tools", "live"))); err != nil {
		t.Fatal(err)
	}
	r.change(t, "live-demo.yaml", "rollouts: 2", "rollouts: 4")
	spec, out, batch, bin := filepath.Join(r.dir, "live-demo.yaml"), filepath.Join(r.dir, "out"), filepath.Join(r.dir, "batch"), filepath.Join(r.dir, "bin")
	command(t, "batch", "export", spec, "--data", r.dir, "--out", out, "--dir", batch)
	write(t, filepath.Join(bin, "vllm"), "#!/bin/sh\nshift\nexec '"+e.python()+"' -m vllm.entrypoints.openai.run_batch \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "vllm"), 0o755); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "experiments", "pools", "vllm.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range smols {
		c := exec.CommandContext(t.Context(), "sh", script, batch, strings.TrimPrefix(name, "smol-"), name, e.smollm2(),
			"--max-model-len", "512", "--enforce-eager", "--no-enable-chunked-prefill", "--max-num-seqs", "16", "--max-num-batched-tokens", "8192")
		c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "SLURM_ARRAY_TASK_ID=1", "SLURM_JOB_ID=7", "VLLM_CPU_KVCACHE_SPACE=1", "VLLM_CPU_OMP_THREADS_BIND=nobind", "HF_HUB_OFFLINE=1", "VLLM_NO_USAGE_STATS=1")
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	results, err := filepath.Glob(filepath.Join(batch, "results", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []int{0, liveAnswers} { // twice: what is stored stays
		said := command(t, append([]string{"batch", "import", spec, "--data", r.dir, "--out", out}, results...)...)
		if want := fmt.Sprintf("answers %d, failures 0, known before %d", liveAnswers-known, known); !strings.Contains(said, want) {
			t.Errorf("it said %s, want %s", said, want)
		}
	}
	r.run(t, "out", exitOK)
	r.sound(t, "out")
}

// A policy is trained on what vLLM writes with the adapters that each step sends it; what it says of its tokens is what this program computes, and the
// trained router decides the same by that server, and by one that has it exported.
func TestLiveWriter(t *testing.T) {
	e := onlyVLLM(t)
	dir := t.TempDir()
	small, written, out, asked := filepath.Join(dir, "small.yaml"), filepath.Join(dir, "written.yaml"), filepath.Join(dir, "runs"), filepath.Join(dir, "asked.jsonl")
	base, hf := filepath.Join(dir, "base"), filepath.Join(dir, "hf")
	write(t, small, smallRouter)
	write(t, asked, askedOfRouters)
	command(t, "run", small, "--out", out, "--figures", "", "--quiet")
	command(t, "export", small, "--row", "sft", "--out", out, "--hf", base)
	writer := e.serve(t, base, []string{"base"}, 0, "--context", "1025", "--parallel", "8", "--float32", "--lora", "8")
	write(t, written, fmt.Sprintf(`name: written
base: lm-cot.yaml
title: A router that vLLM writes for
train: {sft: {size: 64}, rl: {size: 64}}
test: [sim-aime25]
evaluate: {max_problems: 2}
policy: {model: %s, tune: {lora: {r: 8, alpha: 16, targets: [q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj]}}, max_tokens: 960, rationale: cot, writes: {tokens: 32}}
writer: {url: %q, concurrency: 8}
sft: {batch: 16, epochs: 2}
grpo: {steps: 3, batch: 8, group: 4}
methods: [{name: entrorouter}]
outputs: [{kind: table}]
`, base, writer.url()))
	command(t, "run", written, "--out", out, "--figures", "", "--quiet")

	curves, err := filepath.Glob(filepath.Join(out, "stages", "fit", "*", "curve.csv"))
	if err != nil {
		t.Fatal(err)
	}
	gaps := 0
	for _, path := range curves {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(rows[0], "server_gap")
		for _, row := range rows[1:] {
			if at < 0 || row[0] != "grpo" {
				continue
			}
			gap, err := strconv.ParseFloat(row[at], 64)
			t.Logf("step %s: the mean distance of log-probabilities is %g nats", row[1], gap)
			if gaps++; err != nil || !(gap < 1e-4) {
				t.Errorf("step %s: the server computes something else (%v)", row[1], err)
			}
		}
	}
	if gaps != 3 {
		t.Errorf("%d steps were written by the server, want 3", gaps)
	}

	command(t, "export", written, "--out", out, "--hf", hf)
	route := []string{"--row", "entrorouter", "--out", out, written, asked}
	byWriter := routed(t, route...)
	writer.stop()
	exported := e.serve(t, hf, []string{"router"}, 0, "--context", "1025", "--float32")
	sameChoices(t, byWriter, routed(t, append([]string{"--server", exported.url()}, route...)...))
}
