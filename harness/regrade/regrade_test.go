package regrade

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestThereIsNothingToGradeAgainOutsideOfARun(t *testing.T) {
	if _, err := Folder(t.Context(), t.TempDir()); !errors.Is(err, spec.ErrUsage) {
		t.Errorf("error %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "stages"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(t.Context(), dir); !errors.Is(err, spec.ErrUsage) {
		t.Errorf("error %v", err)
	}
}
