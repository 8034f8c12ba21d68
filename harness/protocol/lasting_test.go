// What experiments of one process remember.

package protocol

import (
	"testing"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/stages"
)

func TestMemoryLastsUntilItIsFull(t *testing.T) {
	lasting.memory = memory{features.NewTexts(1 << 20), stages.NewMemory(1 << 20), predict.NewFits(1)}
	m := lastingMemory()
	if lastingMemory() != m {
		t.Error("a memory that has room was begun anew")
	}
	if _, err := predict.Once(m.regressions, [32]byte{}, func() (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
	if lastingMemory() == m {
		t.Error("a memory without room was not begun anew")
	}
}
