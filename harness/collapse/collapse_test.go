package collapse

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/theory"
)

var near = cmpopts.EquateApprox(0, 1e-9)

// The problems of a replay have the rates of the buckets they stand for, and who is better on the whole is right wherever
// the other is.
func TestReplayedProblemsHaveTheRatesOfTheirBuckets(t *testing.T) {
	r, err := spec.Load(experiments.FS, "collapse", spec.Known{}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(&r.Experiment, []routing.Expert{{ID: "qwen3-4b"}, {ID: "qwen3-30b"}, {ID: "qwen3-235b"}})
	if err != nil {
		t.Fatal(err)
	}
	s := c.c.Setting
	s.Outcomes = "replay"
	e, kind := c.environment(s)
	if len(e.Buckets) != 100*len(c.c.Buckets) || len(kind) != len(e.Buckets) {
		t.Fatalf("%d problems of %d buckets", len(e.Buckets), len(kind))
	}
	for k, want := range c.c.Buckets {
		rates, share := make([]float64, 4), 0.0
		for i, b := range e.Buckets {
			if kind[i] != k {
				continue
			}
			share += b.Share
			for who, right := range append([]float64{b.Self}, b.Expert...) {
				rates[who] += right / 100
				if right != 0 && right != 1 || who > 0 && right < b.Self {
					t.Errorf("problem %d: %+v", i, b)
				}
			}
			if b.Features[k] != 1 {
				t.Errorf("problem %d of bucket %d is seen as %v", i, k, b.Features)
			}
		}
		got := []float64{share, rates[0], rates[1], rates[2], rates[3]}
		if diff := cmp.Diff([]float64{want.Share, want.Self, want.Success["qwen3-4b"], want.Success["qwen3-30b"], want.Success["qwen3-235b"]}, got, near); diff != "" {
			t.Errorf("%s: %s", want.ID, diff)
		}
	}
	if diff := cmp.Diff([]float64{(0.93 + 0.60 + 0.25) / 3, (0.97 + 0.75 + 0.45) / 3, (0.98 + 0.85 + 0.62) / 3, (0.99 + 0.92 + 0.80) / 3}, e.Trust, near); diff != "" {
		t.Errorf("trust: %s", diff)
	}
	run := &policyRun{env: e, kind: kind}
	log := []theory.Snapshot{{Bucket: make([]float64, len(kind))}}
	for i, k := range kind {
		log[0].Bucket[i] = float64(k) + float64(i%2)/2
	}
	run.merge(log, len(c.c.Buckets))
	if diff := cmp.Diff([]float64{0.25, 1.25, 2.25}, log[0].Bucket, near); diff != "" {
		t.Errorf("merged: %s", diff)
	}
}
