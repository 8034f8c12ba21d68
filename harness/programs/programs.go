// Package programs takes the StableHLO of training steps out of GoMLX and has it compiled for a card that is not there, which says
// what memory a step takes.
package programs

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// folderVariable tells the plugin of tools/pjrt-dump where to write.
const folderVariable = "ENTROROUTER_PROGRAMS"

// write has programs written into a folder by the plugin of tools/pjrt-dump, in whose name "cuda" makes go-xla write what it
// would give to a CUDA card. compile gives one program to the backend it gets; its failing is how the plugin ends it. The
// programs get the names given, with .mlir. One call at a time: the plugin reads the folder from the environment.
func write(plugin, folder string, names []string, compile func(backend policy.Backend, name string) error) (paths []string, err error) {
	scratch, err := os.MkdirTemp(folder, "written")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := os.Setenv(folderVariable, scratch); err != nil {
		return nil, err
	}
	defer os.Unsetenv(folderVariable)
	backend, err := policy.OpenBackend("xla:" + plugin + ",shared_buffers=false")
	if err != nil {
		return nil, err
	}
	defer backend.Finalize()
	for _, name := range names {
		failed := compile(backend, name)
		written, err := filepath.Glob(filepath.Join(scratch, "*.mlir"))
		if err != nil {
			return nil, err
		}
		if len(written) != 1 {
			return nil, fmt.Errorf("program %s: %d programs written to %s, want one: %w", name, len(written), scratch, failed)
		}
		path := filepath.Join(folder, name+".mlir")
		if err := os.Rename(written[0], path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

//go:embed compile.py
var script string

//go:embed h200.txtpb
var h200 string

// Memory is what a compiled program takes on the card, in bytes, as the compiler says it. Kernels that are chosen on the card may
// want workspaces beside it.
type Memory struct {
	Arguments int64   // weights, state of the optimizer, data
	Outputs   int64   // the same after the step
	Aliased   int64   // outputs that lie in their arguments' place
	Temporary int64   // everything between
	Seconds   float64 // of compilation
}

// Total is what is needed at once.
func (m Memory) Total() int64 { return m.Arguments + m.Outputs - m.Aliased + m.Temporary }

// ErrNoCompiler says that there is no compiler for cards.
var ErrNoCompiler = errors.New("jax-cuda13-pjrt, which compiles for a card that is not there, is not installed")

// CompileH200 compiles programs for one NVIDIA H200, with the jax-cuda13-pjrt of a Python.
func CompileH200(ctx context.Context, python string, paths []string) ([]Memory, error) {
	if err := exec.CommandContext(ctx, python, "-c", "import jax, jax_plugins.xla_cuda13").Run(); err != nil {
		return nil, fmt.Errorf("%w for %s", ErrNoCompiler, python)
	}
	target, err := os.CreateTemp("", "*.txtpb")
	if err != nil {
		return nil, err
	}
	defer os.Remove(target.Name())
	_, err = target.WriteString(h200)
	if err := errors.Join(err, target.Close()); err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, python, append([]string{"-", target.Name()}, paths...)...)
	command.Stdin = strings.NewReader(script)
	command.WaitDelay = time.Second
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		return nil, fmt.Errorf("compile %s: %w: %s", strings.Join(paths, " "), err, lines[len(lines)-1])
	} else if err != nil {
		return nil, err
	}
	lines := slices.Collect(strings.Lines(string(out)))
	if len(lines) != len(paths) {
		return nil, fmt.Errorf("compile: %d programs, %d answers: %q", len(paths), len(lines), out)
	}
	found := make([]Memory, len(paths))
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &found[i]); err != nil {
			return nil, fmt.Errorf("compile %s: %q: %w", paths[i], line, err)
		}
	}
	return found, nil
}
