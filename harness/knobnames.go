package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Where a field that no file sets comes from.
const (
	inCode     = "the code"
	inVerifier = "the answer verifier"
	inBuild    = "the build"
)

// knobOf returns where a field of a step's recipe is set: the path as the spec writes it, after the name of the file if
// that is not the spec itself, or else one of the names above.
func (e *engine) knobOf(s *step, path []string) string {
	if path[0] == "version" {
		return inCode
	}
	p := path[1:]
	if len(p) == 0 {
		return inCode
	}
	x := &e.spec.Experiment
	pool := "pools/" + s.pool + ".yaml"
	benchmark := "benchmarks.yaml: " + s.benchmark
	below := func(at string, rest []string) string { return strings.Join(append([]string{at}, snake(rest)...), ".") }
	row := "methods"
	if s.row != nil {
		row = s.row.Path
	}
	switch p[0] { // the same in every stage
	case "Seed":
		if s.stage() == "fit" || s.stage() == "crossfit" {
			return "evaluate.seeds"
		}
		return "seed"
	case "Pool":
		return "pools"
	case "CountInput":
		return "count_input"
	case "Bootstrap", "Confidence":
		return below("evaluate", p)
	case "Tau":
		return "targets.tau"
	case "Verifier":
		return inVerifier
	case "Sampling":
		return below(pool+": sampling", p[1:])
	case "Experts":
		return e.expertKnob(s, pool, "experts", p[1:])
	case "Probe":
		if s.stage() == "crossfit" {
			return "folds.probe"
		}
		return e.expertKnob(s, pool, "probe", p[1:])
	case "Features", "Points", "Counts", "Prior", "Numerics", "Sweep":
		return inCode
	}
	switch s.stage() + " " + p[0] {
	case "problems N":
		return e.sizeKnob(s)
	case "problems File":
		return below(benchmark+".file", p[1:])
	case "problems Population":
		cell := ""
		if g := e.spec.Benchmarks[s.benchmark].Generated; g != nil {
			cell = g.Cell
		}
		switch {
		case len(p) > 1 && p[1] == "Mix":
			return below(pool+": simulation.cells."+cell, p[2:])
		case len(p) > 1 && p[1] == "TopicDifficulty":
			return below(pool+": simulation.topic_difficulty", p[2:])
		}
		return below(benchmark+".generated", p[1:])
	case "profile Runs":
		return "profile.rollouts"
	case "outcomes Runs":
		return e.runsKnob(s.benchmark)
	case "profile Source", "outcomes Source", "expected Source", "calibration Source":
		return pool + ": simulation"
	case "fit Runs":
		if len(p) > 1 && p[1] == metrics.LargeArena {
			return "large"
		}
		return "evaluate.max_runs"
	case "fit Asks":
		return row + ".params"
	case "fit Train", "crossfit Train":
		return row + ".train"
	case "fit Method", "crossfit Method":
		return e.methodKnob(s, row, p[1:])
	case "measure Rows", "measure-folds Rows":
		if len(p) == 3 && p[2] == "Fits" {
			return "evaluate.seeds"
		}
		if len(p) == 3 {
			for _, m := range x.Methods {
				if m.RowID() == p[1] {
					return below(m.Path, p[2:])
				}
			}
		}
		return below("methods", p[1:])
	case "measure Test", "measure Weights":
		return "test"
	case "measure-folds Contrasts":
		return "folds.versus"
	case "measure-folds Whole", "crossfit K":
		return below("folds", p)
	case "crossfit Partition":
		return "folds.seeds"
	case "crossfit Kappa":
		if s.row != nil && s.row.Kappa != "" {
			return row + ".kappa"
		}
		return "folds.kappa"
	case "crossfit Source", "measure-folds Source":
		return e.recordedKnob(s, pool, p[1:])
	case "curves Rows":
		return "outputs"
	case "collapse Collapse":
		return strings.Join(append([]string{"collapse"}, p[1:]...), ".")
	case "collapse Costs":
		return "prices/" + x.Prices + ".yaml"
	case "collapse Seeds":
		return "evaluate.seeds"
	}
	return inCode
}

func (s *step) stage() string { return s.recipe.Key().Stage }

// methodKnob is knobOf for what a method is made of.
func (e *engine) methodKnob(s *step, row string, p []string) string {
	if len(p) == 0 {
		return row
	}
	switch p[0] {
	case "Method":
		return row + ".name"
	case "CUnit":
		return "c_unit"
	case "Decoding":
		return "evaluate.decoding"
	case "Features":
		return inCode
	case "Numerics":
		return inBuild
	case "Policy":
		return strings.Join(append([]string{"policy"}, snake(p[1:])...), ".")
	}
	path := strings.Join(p[1:], ".") // methods write their parameters as the spec does
	if knownKnobs()[path] && (s.row == nil || !sets(&s.row.Params, p[1:])) {
		return path
	}
	return strings.TrimSuffix(row+".params."+path, ".")
}

// knownKnobs are the paths that a spec can set.
var knownKnobs = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	fields, err := spec.Fields(spec.Experiment{})
	if err != nil {
		panic("harness: internal error: " + err.Error()) // the package's own source is embedded
	}
	for _, f := range fields {
		if path := strings.TrimSuffix(f.Path, "[]"); strings.Contains(path, ".") {
			known[path] = true
		}
	}
	return known
})

// sets says whether the params of a row set a path.
func sets(n *yaml.Node, path []string) bool {
	if len(path) == 0 {
		return true
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == path[0] {
			return sets(n.Content[i+1], path[1:])
		}
	}
	return false
}

// expertKnob is knobOf for an expert or the probe; p begins with its id where there are several.
func (e *engine) expertKnob(s *step, pool, what string, p []string) string {
	model := "MODEL"
	at := pool + ": " + what
	if what == "experts" && len(p) > 0 {
		for _, r := range e.spec.Pools {
			for _, x := range r.Experts {
				if r.Name == s.pool && x.ID == p[0] {
					model = x.Model
				}
			}
		}
		at, p = at+"."+p[0], p[1:]
	} else if what == "probe" && e.probe != nil {
		model = e.probe.Model
	}
	if len(p) > 0 && p[0] == "Price" {
		return strings.Join(append([]string{"prices/" + e.spec.Experiment.Prices + ".yaml: models", model}, snake(p[1:])...), ".")
	}
	return strings.Join(append([]string{at}, snake(p)...), ".")
}

// recordedKnob is knobOf for a recording.
func (e *engine) recordedKnob(s *step, pool string, p []string) string {
	if len(p) == 0 {
		return pool + ": recorded"
	}
	switch p[0] {
	case "CountInput":
		return "count_input"
	case "Experts":
		return e.expertKnob(s, pool, "experts", p[1:])
	case "Queries", "Outcomes":
		return pool + ": recorded." + strings.ToLower(p[0]) + ".sha256"
	}
	return strings.Join(append([]string{pool + ": recorded"}, snake(p)...), ".")
}

// sizeKnob says what decides how many problems a set has.
func (e *engine) sizeKnob(s *step) string {
	x := &e.spec.Experiment
	is := func(d spec.Draw) bool {
		i := slices.IndexFunc(e.sets, func(p *problemSet) bool { return p.step == s })
		return d.Benchmark == s.benchmark && i >= 0 && e.sets[i].n == d.Size
	}
	switch {
	case strings.HasSuffix(s.name, " "+problems.Large):
		return "large"
	case is(x.Train.SFT):
		return "train.sft.size"
	case is(x.Train.RL):
		return "train.rl.size"
	case x.Evaluate.MaxProblems > 0 && e.spec.Benchmarks[s.benchmark].Size == x.Evaluate.MaxProblems:
		return "evaluate.max_problems"
	}
	return fmt.Sprintf("benchmarks.yaml: %s.size", s.benchmark)
}

// setKnob says what names the benchmark of a problem set.
func (e *engine) setKnob(s *step) string {
	if draw, ok := strings.CutSuffix(e.sizeKnob(s), ".size"); ok && strings.HasPrefix(draw, "train.") {
		return draw + ".benchmark"
	}
	return "test"
}

// runsKnob says what decides how often the problems of a test benchmark are asked.
func (e *engine) runsKnob(benchmark string) string {
	if most := e.spec.Experiment.Evaluate.MaxRuns; most > 0 && e.spec.Benchmarks[benchmark].Runs == most {
		return "evaluate.max_runs"
	}
	return fmt.Sprintf("benchmarks.yaml: %s.runs", benchmark)
}

// eitherKnob is the name of a knob of a benchmark where a cap that is gone or no longer holds may have been the reason for
// a lower number.
func eitherKnob(c Change) string {
	var had, wants int
	if json.Unmarshal([]byte(c.Stored), &had) != nil || json.Unmarshal([]byte(c.Wanted), &wants) != nil || had > wants {
		return c.Knob
	}
	for field, most := range map[string]string{"runs": "evaluate.max_runs", "size": "evaluate.max_problems"} {
		if strings.HasPrefix(c.Knob, "benchmarks.yaml: ") && strings.HasSuffix(c.Knob, "."+field) {
			return most + " or " + field + " in benchmarks.yaml"
		}
	}
	return c.Knob
}

// snake writes the names of Go fields as YAML does: MaxTokens is max_tokens.
func snake(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		var b strings.Builder
		var last rune
		for _, r := range name {
			if unicode.IsUpper(r) && unicode.IsLower(last) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
			last = r
		}
		out[i] = b.String()
	}
	return out
}
