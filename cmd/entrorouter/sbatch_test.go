//go:build !windows

// Tests of experiments/pools/vllm.sbatch without Slurm and vLLM: a stand-in answers.

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A batchJob is a task of the array in a folder of its own.
type batchJob struct {
	dir, script string
}

// newBatchJob writes a shard and a vllm in whose place a shell's lines stand: they have the file to read in $3, and to write in $5.
func newBatchJob(t *testing.T, vllm string) batchJob {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", "experiments", "pools", "vllm.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	j := batchJob{t.TempDir(), script}
	write(t, filepath.Join(j.dir, "batch", "small-0001.jsonl"), `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"Small","messages":[]}}`+"\n")
	write(t, filepath.Join(j.dir, "bin", "vllm"), "#!/bin/sh\necho asked >>asked\n"+vllm+"\n")
	if err := os.Chmod(filepath.Join(j.dir, "bin", "vllm"), 0o755); err != nil {
		t.Fatal(err)
	}
	return j
}

// command is the task with an index and arguments.
func (j batchJob) command(t *testing.T, index string, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), "sh", append([]string{j.script}, args...)...)
	c.Dir = j.dir
	c.Env = append(os.Environ(), "PATH="+filepath.Join(j.dir, "bin")+":"+os.Getenv("PATH"), "SLURM_ARRAY_TASK_ID="+index, "SLURM_JOB_ID=7")
	return c
}

// there says whether a file is in the job's folder.
func (j batchJob) there(path string) bool {
	_, err := os.Stat(filepath.Join(j.dir, path))
	return err == nil
}

func TestABatchJobSaysWhatIsMissingBeforeItLoadsAModel(t *testing.T) {
	for name, c := range map[string]struct {
		index string
		args  []string
		says  string
	}{
		"no array":              {"", []string{"batch", "small", "Small", "weights"}, "sbatch --array=1-N"},
		"arguments":             {"1", []string{"batch", "small"}, "sbatch --array=1-N"},
		"more tasks than files": {"2", []string{"batch", "small", "Small", "weights"}, "no batch/small-0002.jsonl in "},
		"another folder":        {"1", []string{"nowhere", "small", "Small", "weights"}, "no nowhere/small-0001.jsonl in "},
		"another model":         {"1", []string{"batch", "small", "Smal", "weights"}, "batch/small-0001.jsonl does not ask Smal"},
	} {
		t.Run(name, func(t *testing.T) {
			j := newBatchJob(t, `cp "$3" "$5"`)
			said, err := j.command(t, c.index, c.args...).CombinedOutput()
			if !strings.Contains(string(said), c.says) || strings.Count(string(said), "\n") != 1 {
				t.Errorf("it said %q, want a line with %q", said, c.says)
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitUsage {
				t.Errorf("it ended with %v", err)
			}
			if j.there("asked") || j.there("nowhere") {
				t.Error("it asked the model or made a folder")
			}
		})
	}
}

// A task that failed leaves no results, and one whose results are there asks nobody.
func TestABatchJobGoesOnWhereItFailed(t *testing.T) {
	j := newBatchJob(t, `test -e again && cp "$3" "$5"`)
	args := []string{"batch", "small", "Small", "weights"}
	if err := j.command(t, "1", args...).Run(); err == nil || j.there("batch/results/small-0001.jsonl") {
		t.Errorf("vllm failed, and the job ended with %v", err)
	}
	write(t, filepath.Join(j.dir, "again"), "")
	for range 2 {
		if said, err := j.command(t, "1", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	asked, err := os.ReadFile(filepath.Join(j.dir, "asked"))
	if err != nil || strings.Count(string(asked), "asked") != 2 || !j.there("batch/results/small-0001.jsonl") {
		t.Errorf("vllm was called so often: %q (%v)", asked, err)
	}
}

// Two jobs that answer one shard write to two files until each is whole.
func TestTwoBatchJobsWriteApart(t *testing.T) {
	j := newBatchJob(t, `echo "$5" >>written; cp "$3" "$5"`)
	c := j.command(t, "1", "batch", "small", "Small", "weights")
	c.Env = append(c.Env, "SLURM_JOB_ID=8")
	for _, c := range []*exec.Cmd{c, j.command(t, "1", "batch", "small", "Small", "weights")} {
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		if err := os.Remove(filepath.Join(j.dir, "batch", "results", "small-0001.jsonl")); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(filepath.Join(j.dir, "written"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(written), "batch/results/small-0001.jsonl.part8\nbatch/results/small-0001.jsonl.part7\n"; got != want {
		t.Errorf("they wrote to %q, want %q", got, want)
	}
}

// Slurm tells the script alone that it is to end. vLLM ends at once, and its engine would stay: it is told, too, and then killed.
func TestABatchJobThatIsToldToEndEndsVLLM(t *testing.T) {
	j := newBatchJob(t, `(trap 'echo >ended' TERM; echo >began; while :; do echo >>alive; sleep 0.1; done) & wait`)
	c := j.command(t, "1", "batch", "small", "Small", "weights")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as under Slurm
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	for !j.there("began") {
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || j.there("batch/results/small-0001.jsonl") {
		t.Errorf("the job ended with %v", err)
	}
	if !j.there("ended") {
		t.Error("the engine was not told to end")
	}
	alive := func() int64 {
		info, err := os.Stat(filepath.Join(j.dir, "alive"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := alive()
	if time.Sleep(time.Second); alive() != before {
		t.Error("the engine is still there")
	}
}
