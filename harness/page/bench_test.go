// What a page takes whose questions have many answers.

package page

import (
	"fmt"
	"io"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/trail"
)

// 1,000 questions with ten answers of each of ten experts: 100,000 outcomes.
func BenchmarkReportOf100000Outcomes(b *testing.B) {
	const questions, experts, runs = 1000, 10, 10
	var ids []string
	for m := range experts {
		ids = append(ids, fmt.Sprintf("expert-%d", m))
	}
	rows := []Routed{{ID: "random", Label: "Random"}, {ID: "entrorouter", Label: "EntroRouter", Outlined: true}}
	var problems []*trail.ProblemResult
	for q := range questions {
		p := &trail.ProblemResult{Problem: trail.Question{ID: fmt.Sprintf("q-%d", q), Benchmark: fmt.Sprintf("b-%d", q%7), Text: "What is $\\frac{1}{2}$ of $x^2$?", Gold: []string{"x^2/2"}}}
		for m, x := range ids {
			for run := range runs {
				bucket, reason := routing.Wrong, "different"
				if (q+m*run)%3 > 0 {
					bucket, reason = routing.Correct, "equal"
				}
				p.Rollouts = append(p.Rollouts, trail.RolloutResult{Expert: x, Run: run, Bucket: bucket, Reason: reason, Extracted: "x^2/2", Usage: trail.UsageResult{Out: 100}, USD: 0.001})
			}
		}
		for i, r := range rows {
			p.Decisions = append(p.Decisions, trail.DecisionResult{Row: r.ID, Expert: ids[(q+i)%experts]})
		}
		problems = append(problems, p)
	}
	for b.Loop() {
		set := QuestionSet{Name: "paper", All: questions, Experts: ids, Rows: rows}
		for _, p := range problems {
			set.Shown = append(set.Shown, set.question(p))
		}
		page := &Page{Experiments: []Experiment{{Run: &present.Run{Spec: &spec.Resolved{Experiment: spec.Experiment{Name: "many"}}, Measurements: &metrics.Set{}}, Questions: []QuestionSet{set}}}}
		if err := page.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
