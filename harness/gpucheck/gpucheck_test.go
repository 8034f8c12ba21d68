package gpucheck

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"

	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/workload"
)

func TestABackendAgreesWithItself(t *testing.T) {
	b, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Finalize()
	for _, c := range []struct {
		compared func(context.Context, policy.Backend, policy.Backend, int) ([]Agreement, error)
		count    int
	}{{Compact, 8}, {Decoder, 12}} {
		found, err := c.compared(t.Context(), b, b, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != c.count {
			t.Errorf("%d quantities", len(found))
		}
		for _, a := range found {
			if a.Worst != 0 || !a.Holds() || a.Numbers < 2 {
				t.Errorf("%+v", a)
			}
		}
	}
}

func TestADifferenceIsRelativeAndZeroComparesNothing(t *testing.T) {
	a, err := compare("training", "loss", []float64{2, 101}, []float64{2, 100}, 1e-3)
	if err != nil || a.Worst < .00999 || a.Worst > .01001 || a.Holds() {
		t.Errorf("%+v, %v", a, err)
	}
	for _, zero := range [][]float64{{0}, {1}} {
		if _, err := compare("training", "loss", zero, []float64{0}, 1); err == nil || !strings.Contains(err.Error(), "there is nothing to compare") {
			t.Errorf("%v against 0: %v", zero, err)
		}
	}
	if _, err := compare("training", "loss", []float64{1}, nil, 1); err == nil {
		t.Error("one number against none")
	}
}

func TestRenamedGivesTheOtherCode(t *testing.T) {
	for _, plugin := range []string{"/a/pjrt_c_api_cpu_plugin.so", "/a/xla_cuda_plugin.so,tf32=true"} {
		path, remove, err := Renamed(plugin)
		if err != nil {
			t.Fatal(err)
		}
		if CUDA(path) == CUDA(plugin) || strings.Contains(path, ",") != strings.Contains(plugin, ",") {
			t.Errorf("%s is renamed to %s", plugin, path)
		}
		remove()
	}
	if _, _, err := Renamed("cpu"); err == nil {
		t.Error("a name without a path was renamed")
	}
}

// tinyStep is a step of a few milliseconds.
func tinyStep(t *testing.T) workload.Step {
	t.Helper()
	config, err := workload.Qwen3("tiny")
	if err != nil {
		t.Fatal(err)
	}
	return workload.Step{Decoder: lm.Decoder{Config: config, Compute: dtypes.Float32, LoRA: workload.Adapters(), Checkpoint: true}, B: 2, T: 8}
}

func TestWithoutPyTorchThereIsNothingToMeasure(t *testing.T) {
	if _, err := MeasureTorch(t.Context(), filepath.Join(t.TempDir(), "python"), tinyStep(t), 1); !errors.Is(err, ErrNoTorch) {
		t.Error(err)
	}
}

func TestXLAPyTorchTrainsTheSameStep(t *testing.T) {
	found, err := MeasureTorch(t.Context(), xlatest.Python(t), tinyStep(t), 1)
	if err != nil || found.Step <= 0 || found.Version == "" {
		t.Errorf("%+v, %v", found, err)
	}
}
