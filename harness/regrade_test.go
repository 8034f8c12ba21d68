package harness

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/regrade"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// older makes the verdicts that a run stored below dir those of an older verifier, which took every third right answer for a
// wrong one, and says how many these are.
func older(t *testing.T, dir string) (wrong int) {
	t.Helper()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := s.Rollouts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var all []store.Verdict
	for g, err := range db.Graded(t.Context(), verify.Version) {
		if err != nil {
			t.Fatal(err)
		}
		v := g.Verdict
		if v.Bucket == "" {
			continue
		}
		if v.Bucket == routing.Correct && v.Rollout%3 == 0 {
			wrong++
			v.Bucket, v.Reason = routing.Wrong, "different"
		}
		all = append(all, v)
	}
	if err := db.PutVerdicts(t.Context(), "older", all); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rollouts.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec("DELETE FROM verdict WHERE verifier = (SELECT id FROM verifier WHERE version = ?)", verify.Version); err != nil {
		t.Fatal(err)
	}
	return wrong
}

// TestANewVerifierGradesWhatIsStoredAndAsksNobody makes a run the work of an older verifier, which took some right answers
// for wrong ones. What moves is told beforehand; the next run corrects it offline.
func TestANewVerifierGradesWhatIsStoredAndAsksNobody(t *testing.T) {
	dir := t.TempDir()
	want := render(t, tinyIn(t, dir))
	same, err := regrade.Folder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	// The row llmrouter asks for choices, which nobody grades.
	if same.Answers == 0 || same.Ungraded != 36 || same.Unplaced != 0 || len(same.Moved) != 0 || same.Before[verify.Version] != same.Answers {
		t.Fatalf("the verifier that graded the run finds %d of %d verdicts moved, %d and %d left out, before %v", len(same.Moved), same.Answers, same.Ungraded, same.Unplaced, same.Before)
	}

	wrong := older(t, dir)
	for _, stage := range []string{"profile", "outcomes", "fit", "measure", "calibration", "match", "curves"} { // their keys name the verifier, or what was made from it
		if err := os.RemoveAll(filepath.Join(dir, "stages", stage)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := regrade.Folder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if wrong == 0 || len(got.Moved) != wrong || got.Answers != same.Answers || got.Before["older"] != got.Answers {
		t.Errorf("%d of %d verdicts moved, before %v; want %d of %d", len(got.Moved), got.Answers, got.Before, wrong, same.Answers)
	}
	for _, m := range got.Moved {
		if m.Before.Bucket != routing.Wrong || m.Now.Bucket != routing.Correct || m.Verifier != "older" || m.Problem == "" || len(m.Gold) == 0 {
			t.Fatalf("moved: %+v", m)
		}
	}
	var moved, answers, correct int
	for _, g := range got.Groups {
		moved, answers, correct = moved+g.Moved, answers+g.Answers, correct+g.Correct[1]-g.Correct[0]
	}
	if moved != wrong || answers != got.Answers || correct != wrong {
		t.Errorf("groups: %d moved of %d, %d more correct", moved, answers, correct)
	}

	again, err := Run(t.Context(), toy.Tiny(t), Options{Out: dir, Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	if tables := render(t, again); tables != want {
		t.Errorf("the tables after grading again are not those of the run:\n%s\n%s", want, tables)
	}
	if got, err := regrade.Folder(t.Context(), dir); err != nil || len(got.Moved) != wrong || got.Before["older"] != got.Answers {
		t.Errorf("after the run: %v, %d moved; want what moved since the older verifier, %d", err, len(got.Moved), wrong)
	}
}
