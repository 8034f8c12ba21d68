package store

import (
	"path/filepath"
	"testing"
)

// An answer repeats another one if both are to one problem of one scope and neither text nor thinking differ in a byte.
func TestRepeatedAnswersAreCounted(t *testing.T) {
	dir := t.TempDir()
	db, err := openRollouts(t.Context(), filepath.Join(dir, rolloutsFile))
	if err != nil {
		t.Fatal(err)
	}
	one, other := Scope{Model: "one", Split: "test"}, Scope{Model: "other", Split: "test"}
	row := func(text string, run int, response, reasoning string) Row {
		return Row{Text: text, Run: run, Seed: uint64(run), Response: response, Reasoning: reasoning, Finish: "stop", In: 1, Out: 1}
	}
	rows := []Row{
		row("a", 0, "x", ""), row("a", 1, "x", ""), row("a", 2, "x", "hm"), row("a", 3, "y", ""), row("a", 4, "x", ""), // two repeat the first
		row("b", 0, "x", ""), row("b", 1, "", ""), row("b", 2, "", ""), // one does
	}
	for scope, of := range map[Scope][]Row{one: rows, other: rows[3:6]} {
		put(t, db, scope, of...)
	}
	for scope, want := range map[Scope][2]int64{one: {8, 3}, other: {3, 0}, {Model: "nobody"}: {0, 0}} {
		n, repeated, err := db.Repeated(t.Context(), scope)
		if got := [2]int64{n, repeated}; got != want || err != nil {
			t.Errorf("%s: %v of answers and repeated ones, want %v; %v", scope.Model, got, want, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	st, err := ReadStatus(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if st.Scopes[0].Repeated != nil {
		t.Error("nobody asked for repeated answers, and they were counted")
	}
	if err := st.ReadRepeated(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, s := range st.Scopes {
		if want := map[string]int64{"one": 3, "other": 0}[s.Scope.Model]; s.Repeated == nil || *s.Repeated != want {
			t.Errorf("status of %s: %v repeated answers, want %d", s.Scope.Model, s.Repeated, want)
		}
	}
}
