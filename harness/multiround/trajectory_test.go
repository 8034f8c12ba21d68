package multiround

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/experts"
)

// A line each, read as it was written.
func TestTrajectoriesAreLinesThatAreReadAgain(t *testing.T) {
	want := []Trajectory{
		play(t, SourceTags(), &chat{policy: says(asks, ends)}),
		play(t, SourceTools(), &chat{policy: []experts.Completion{calls("call_small", askSmall), calls(selectTool, takeSmall)}}),
	}
	var file bytes.Buffer
	if err := WriteTrajectories(&file, want); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(file.Bytes(), []byte("\n")); n != len(want) {
		t.Errorf("%d lines", n)
	}
	read, err := ReadTrajectories(&file)
	if diff := cmp.Diff(want, read); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestTrajectoriesOfAnotherSchemaAreRefused(t *testing.T) {
	for want, text := range map[string]string{"schema 7; want 1": `{"schema":7}`, "trajectory 1: ": `{"schema":`, "trajectory 2: ": `{"schema":1} 7`} {
		if _, err := ReadTrajectories(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
