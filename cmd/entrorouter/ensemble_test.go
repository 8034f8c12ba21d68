package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/ensemble"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// The committed files of an ensemble are what the command makes of its pools and measurements. Pools are those of the committed table:
// calibration takes half a minute to draw them.
func TestTheCommandEnsembleMakesTheCommittedFiles(t *testing.T) {
	dir := filepath.Join("..", "..", "figures")
	r, err := spec.Load(experiments.FS, "ensemble", spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := readSet(measurementsFile(dir, "ensemble"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "ensemble", "pools.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var members []ensemble.Member
	for _, record := range records[1:] {
		m := ensemble.Member{Pool: spec.Pool{Name: record[0]}}
		for k, of := range r.Experiment.Ensemble.Ranges() {
			x, err := strconv.ParseFloat(record[1+k], 64)
			if err != nil || records[0][1+k] != of.Knob {
				t.Fatalf("column %q, want %q: %v", records[0][1+k], of.Knob, err)
			}
			*of.Of(&m.Knobs) = x
		}
		members = append(members, m)
	}
	if len(members) != r.Experiment.Ensemble.Pools {
		t.Errorf("%d pools, and the spec wants %d", len(members), r.Experiment.Ensemble.Pools)
	}
	var out bytes.Buffer
	files, err := present.DrawEnsemble(&present.Run{Spec: r, Measurements: set}, members, report.Terminal{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 7 { // two tables in three formats, and measurements
		t.Errorf("%d files", len(files))
	}
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Name)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Data, want) {
			t.Errorf("figures/%s is not what its pools and measurements give", f.Name)
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, want := range []string{"(hull gain), in points\n", "\nEntroRouter+ ", "on how many of 24 each contrast"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("what is printed lacks %q", want)
		}
	}
}
