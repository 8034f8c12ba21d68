package gpucheck

import (
	"context"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
)

func TestABackendAgreesWithItself(t *testing.T) {
	b, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Finalize()
	found, err := Compare(context.Background(), b, b, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 3*3*2 {
		t.Errorf("%d comparisons", len(found))
	}
	for _, c := range found {
		if c.Diff() != 0 || c.What == "entropy" && c.A == 0 {
			t.Errorf("%+v", c)
		}
	}
}
