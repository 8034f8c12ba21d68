// The same training step in PyTorch, where it is installed.

package gpucheck

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/entrorouter/entrorouter/harness/workload"
)

//go:embed pytorch.py
var torchScript string // not torch.py: a Python started in this folder would import that

// Torch is what a training step takes in PyTorch.
type Torch struct {
	Version string
	Device  string
	Step    time.Duration // median
	Memory  int64         // bytes at the peak; 0 on a CPU, where PyTorch does not tell
}

// ErrNoTorch says that there is no PyTorch to measure.
var ErrNoTorch = errors.New("PyTorch is not installed")

// MeasureTorch carries a step out in the PyTorch of a Python, as Measure does on a backend.
func MeasureTorch(ctx context.Context, python string, step workload.Step, n int) (Torch, error) {
	if err := exec.CommandContext(ctx, python, "-c", "import torch").Run(); err != nil {
		return Torch{}, fmt.Errorf("%w for %s", ErrNoTorch, python)
	}
	c := step.Decoder.Config
	rank := 0
	if step.Decoder.LoRA != nil {
		rank = step.Decoder.LoRA.Rank
	}
	sizes, err := json.Marshal(map[string]any{
		"vocab": c.Vocab, "hidden": c.Hidden, "inner": c.Inner, "layers": c.Layers, "heads": c.Heads, "kv_heads": c.KVHeads, "head_dim": c.HeadDim,
		"theta": c.Theta, "compute": strings.ToLower(step.Decoder.Compute.String()), "checkpoint": step.Decoder.Checkpoint, "rank": rank,
		"B": step.B, "T": step.T, "n": n,
	})
	if err != nil {
		return Torch{}, err
	}
	command := exec.CommandContext(ctx, python, "-", string(sizes))
	command.Stdin = strings.NewReader(torchScript)
	out, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
			err = fmt.Errorf("%w: %s", err, lines[len(lines)-1])
		}
		return Torch{}, fmt.Errorf("PyTorch: %w", err)
	}
	var said struct {
		Version, Device string
		Seconds         float64
		Memory          int64
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return Torch{}, fmt.Errorf("PyTorch: %q: %w", out, err)
	}
	return Torch{Version: said.Version, Device: said.Device, Step: time.Duration(said.Seconds * float64(time.Second)), Memory: said.Memory}, nil
}
