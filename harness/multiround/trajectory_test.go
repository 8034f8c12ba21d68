package multiround

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/internal/jsontest"
)

// A line each, read as it was written.
func TestTrajectoriesAreLinesThatAreReadAgain(t *testing.T) {
	want := []Trajectory{
		play(t, SourceTags(), &chat{policy: says(asks, ends)}),
		play(t, SourceTools(), &chat{policy: []experts.Completion{calls("call_small", askSmall), calls(selectTool, takeSmall)}}),
	}
	var file bytes.Buffer
	if err := writeTrajectories(&file, want); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(file.Bytes(), []byte("\n")); n != len(want) {
		t.Errorf("%d lines", n)
	}
	if diff := cmp.Diff(want, jsontest.Lines[Trajectory](t, &file)); diff != "" {
		t.Error(diff)
	}
}
