package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/workload"
)

const gib = 1 << 30

// written has the program of a workload written.
func written(t *testing.T, name string, step workload.Step) string {
	t.Helper()
	paths, err := Write(filepath.Join(xlatest.Folder(t), "xla_cuda_programs.so"), t.TempDir(), []string{name}, func(b policy.Backend, _ string) error {
		trainer, err := workload.NewLarge(b, step)
		if err != nil {
			return err
		}
		defer trainer.Close()
		return trainer.Compile()
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths[0]
}

func qwen3(t *testing.T, size string) (step workload.Step) {
	t.Helper()
	c, err := workload.Qwen3(size)
	if err != nil {
		t.Fatal(err)
	}
	return workload.Adapted(c, 4, 1024)
}

// What go-xla writes for a card has the precision that a card takes, and no algorithm that it refuses.
func TestXLAProgramsAreThoseOfACard(t *testing.T) {
	text, err := os.ReadFile(written(t, "tiny", qwen3(t, "tiny")))
	if err != nil {
		t.Fatal(err)
	}
	program := string(text)
	if !strings.Contains(program, "precision_config") && !strings.Contains(program, "precision =") || strings.Contains(program, "algorithm") {
		t.Errorf("no program for a card:\n%.2000s", program)
	}
}

// Weights, moments and step counts are written where they lay: only loss, norm and log-probabilities are new.
func TestXLAProgramsWriteInPlace(t *testing.T) {
	found, err := CompileH200(t.Context(), xlatest.Python(t), []string{written(t, "tiny", qwen3(t, "tiny"))})
	if err != nil {
		t.Fatal(err)
	}
	if m := found[0]; m.Aliased == 0 || m.Outputs-m.Aliased > 4<<10 {
		t.Errorf("%+v: outputs lie beside what they replace; go-xla's change in tools/go-xla-donate.patch is for that (-modfile build/go.xla.mod)", m)
	}
}

// The LoRA step of Qwen3-4B, 4 x 1024 tokens on a bfloat16 base, each layer computed again backwards, leaves an H200 room
// for a server beside it. Minutes of compilation; no weight is made.
func TestXLAQwen34BAdaptersFitBelow16GiB(t *testing.T) {
	path := written(t, "4b", qwen3(t, "4b"))
	found, err := CompileH200(t.Context(), xlatest.Python(t), []string{path})
	if err != nil {
		t.Fatal(err)
	}
	m := found[0]
	t.Logf("arguments %.2f, outputs %.2f, aliased %.2f, temporary %.2f, total %.2f GiB; %.0f s", float64(m.Arguments)/gib, float64(m.Outputs)/gib,
		float64(m.Aliased)/gib, float64(m.Temporary)/gib, float64(m.Total())/gib, m.Seconds)
	if m.Arguments < 7.5*gib || m.Total() >= 16*gib {
		t.Errorf("%+v: the weights alone are 7.5 GiB, and all of it must stay below 16", m)
	}
}
