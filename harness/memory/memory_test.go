package memory

import (
	"testing"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/stages"
)

func TestAMemoryLastsUntilItIsFull(t *testing.T) {
	l := &Lasting{now: Memory{features.NewTexts(1 << 20), stages.NewMemory(1 << 20), predict.NewFits(1)}}
	m := l.Now()
	if l.Now() != m {
		t.Error("a memory that has room was begun anew")
	}
	if _, err := predict.Once(m.Fits, [32]byte{}, func() (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
	if l.Now() == m {
		t.Error("a memory without room was not begun anew")
	}
	var none *Lasting
	if none.Now() == none.Now() {
		t.Error("where nothing lasts two runs have one memory")
	}
}
