package harness_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/entrorouter/entrorouter/"

// layers says which packages of this module a package may import. Anything absent here may import none of them.
// DESIGN.md, "The packages", has the picture.
var layers = map[string][]string{
	"cmd/entrorouter": {"*"},
	"cmd/loc":         {"internal/gofiles"},
	// Carrying out, explaining, following and checking an experiment: the walk from top to bottom.
	"harness": {"harness/preflight", "harness/protocol", "harness/asking", "harness/steps", "harness/book", "harness/compare", "harness/explain", "harness/trail", "harness/policy", "harness/routing", "harness/spec", "harness/store", "harness/metrics"},
	// What a run takes follows from its spec.
	"harness/preflight": {"harness/machine", "harness/methods", "harness/spec"},
	// Answers that are stored are graded again, whoever asked for them.
	"harness/regrade": {"harness/asking", "harness/book", "harness/routing", "harness/spec", "harness/store", "verify"},
	// What to do for an experiment, and who is asked on the way.
	"harness/protocol":     {"harness/memory", "harness/stages", "harness/predict", "harness/rounds", "harness/train", "harness/lm", "harness/asking", "harness/steps", "harness/collapse", "harness/score", "harness/book", "harness/methods", "harness/present", "harness/policy", "harness/features", "harness/experts", "harness/recording", "harness/problems", "harness/store", "harness/explain", "harness/routing", "harness/spec", "harness/units", "harness/metrics", "harness/cost", "harness/seed"},
	"harness/folder":       {"harness/spec"},
	"harness/asking":       {"harness/folder", "harness/steps", "harness/lines", "harness/experts", "harness/experts/sim", "harness/experts/vllm", "harness/problems", "harness/store", "harness/routing", "harness/spec", "harness/seed", "harness/cost", "verify"},
	"harness/steps":        {"harness/memory", "harness/machine", "harness/book", "harness/explain", "harness/experts/sim", "harness/policy", "harness/features", "harness/problems", "harness/store", "harness/routing", "harness/spec", "harness/metrics", "harness/cost", "verify"},
	"harness/memory":       {"harness/features", "harness/predict", "harness/stages"},
	"harness/internal/toy": {"experiments", "harness/methods", "harness/spec"},
	"harness/collapse":     {"harness/table", "harness/theory", "harness/score", "harness/routing", "harness/spec", "harness/units", "harness/metrics", "harness/seed"},
	// What is compared and what is shown are finished runs.
	"harness/compare": {"harness/book", "harness/methods", "harness/routing", "harness/spec", "harness/store", "harness/units", "harness/metrics"},
	// Why a step is to do follows from its recipe and from what is stored.
	"harness/explain":  {"harness/spec", "harness/store"},
	"harness/ensemble": {"harness/experts/sim", "harness/metrics", "harness/routing", "harness/seed", "harness/spec", "harness/table", "harness/units"},
	"harness/trail":    {"harness/book", "harness/score", "harness/methods", "harness/routing", "harness/spec", "harness/store", "harness/metrics", "verify"},
	// Numbers come from decisions and outcomes, wherever those are from.
	"harness/score": {"harness/book", "harness/routing", "harness/units", "harness/metrics", "harness/seed"},
	// Plain numbers; a file is read strictly where the vocabulary says what a unit can be.
	"harness/metrics": {"harness/units"},
	// What is shown is decided from a spec and its measurements, whoever made them.
	"harness/present": {"harness/ensemble", "harness/stages", "harness/methods", "harness/report", "harness/routing", "harness/spec", "harness/units", "harness/metrics"},
	// A page shows what others found out: no step, expert or protocol is known to it.
	"harness/page":    {"harness/compare", "harness/paper", "harness/present", "harness/report", "harness/trail", "harness/routing", "harness/spec", "harness/metrics"},
	"harness/methods": {"harness/internal/strict", "harness/stages", "harness/predict", "harness/rounds", "harness/lines", "harness/features", "harness/learn", "harness/parallel", "harness/multiround", "harness/train", "harness/lm", "harness/policy", "harness/experts", "harness/theory", "harness/routing", "harness/metrics", "harness/spec", "harness/seed", "harness/cost"},
	// The paper's training knows no row of a table, and is handed what it is carried out with.
	"harness/stages": {"harness/internal/remember", "harness/generate", "harness/features", "harness/learn", "harness/table", "harness/train", "harness/lm", "harness/policy", "harness/compact", "harness/safetensors", "harness/experts", "harness/routing", "harness/metrics", "harness/spec", "harness/seed", "harness/cost"},
	// Nor does the training of a router that asks several experts.
	"harness/rounds": {"harness/internal/remember", "harness/features", "harness/learn", "harness/lm", "harness/policy", "harness/predict", "harness/routing", "harness/seed", "harness/spec", "harness/stages", "harness/table", "harness/theory", "harness/train"},
	// What predicts from texts knows no row of a table either, and nobody who trains a policy.
	"harness/predict": {"harness/internal/remember", "harness/internal/strict", "harness/features", "harness/learn", "harness/lines", "harness/parallel", "harness/policy", "harness/routing", "harness/spec"},
	// What rows learn with knows neither texts nor experts, what they read of texts learns nothing but its own scale.
	"harness/learn":    {"harness/parallel", "harness/policy", "harness/seed"},
	"harness/features": {"harness/internal/remember", "harness/internal/strict", "harness/parallel", "harness/policy", "harness/seed", "harness/spec"},
	// Training changes the weights of any policy and knows none of them.
	"harness/train":   {"harness/table", "harness/policy", "harness/seed", "harness/spec"},
	"harness/compact": {"harness/internal/strict", "harness/features", "harness/policy", "harness/spec"},
	"harness/policy":  {"harness/internal/strict", "harness/safetensors", "harness/seed"},
	"harness/lm":      {"harness/folder", "harness/internal/remember", "harness/internal/strict", "harness/tokenizer", "harness/policy", "harness/safetensors", "harness/seed", "harness/spec", "harness/cost"},
	// A server writes with the weights that are trained here.
	"harness/generate": {"harness/lm", "harness/policy", "harness/safetensors", "harness/seed"},
	// A model in another format becomes a Hugging Face folder; nothing is computed with it.
	"harness/gguf":         {"harness/safetensors"},
	"harness/gguf/convert": {"harness/folder", "harness/gguf", "harness/safetensors", "harness/tokenizer"},
	"harness/programs":     {"harness/methods", "harness/policy", "harness/spec", "harness/stages"},
	"harness/workload":     {"harness/lm", "harness/policy", "harness/safetensors", "harness/seed", "harness/spec"},
	"harness/gpucheck":     {"harness/features", "harness/workload", "harness/lm", "harness/safetensors", "harness/compact", "harness/train", "harness/policy", "harness/seed", "harness/spec"},
	// Verdicts read measurements and the paper's tables, and nothing that made them.
	"harness/paper": {"harness/metrics", "harness/report"},
	// Who asks stores nothing: that is harness/asking.
	"harness/experts": {"harness/lines", "harness/internal/retryafter", "harness/experts/internal/wire", "harness/routing", "harness/cost", "harness/seed", "harness/spec"},
	// A client knows no simulation; the simulation answers a client's requests.
	"harness/experts/sim": {"harness/experts", "harness/experts/vllm", "harness/routing", "harness/cost", "harness/seed", "harness/spec"},
	// A server of models that are functions, and what goes wrong with one: no client, so that the client's tests can have both.
	"harness/experts/vllm":  {"harness/experts/internal/wire", "harness/lines"},
	"harness/experts/fault": {"harness/experts/vllm"},
	// What the client costs is measured from outside, as a run uses it.
	"tools/clientbench": {"harness/experts", "harness/routing", "harness/seed", "harness/spec"},
	// Whole runs are measured from outside, as commands: only the scripted server is ours.
	"tools/peers": {"harness/experts/vllm"},
	// Rewards are in theory, so that what is trained here and what is scored from text is one formula.
	"harness/multiround": {"harness/metrics", "harness/store", "harness/experts", "harness/theory", "harness/routing", "harness/spec", "harness/seed", "harness/cost", "verify"},
	// A finished run is read without the steps that made it, and without who answered.
	"harness/book":        {"harness/store", "harness/table", "harness/routing", "harness/spec", "harness/metrics", "harness/cost"},
	"harness/safetensors": {"harness/internal/strict"},
	"harness/store":       {"harness/internal/strict", "harness/routing"},
	// What tests of several packages share.
	"harness/experts/internal/fixture": {"harness/routing", "harness/spec"},
	"harness/routing/routingtest":      {"harness/routing", "harness/spec", "harness/seed", "harness/cost"},
	"harness/store/storetest":          {"harness/store"},
	"harness/asking/askingtest":        {"harness/experts/fault", "harness/experts/vllm", "harness/store", "harness/seed"},
	"harness/internal/xlatest":         {"harness/policy"},
	"harness/book/booktest":            {"harness/book", "harness/routing", "harness/metrics"},
	// Files of the data folder, and what was recorded elsewhere: nobody is asked.
	"harness/lines":     {"harness/spec"},
	"harness/recording": {"harness/lines", "harness/cost", "harness/seed", "harness/spec"},
	"harness/problems":  {"harness/lines", "harness/routing", "harness/seed", "harness/spec"},
	// The files that an experiment of one's own begins with: text, made of what is in the data.
	"harness/starting": {"harness/lines", "harness/problems", "harness/recording", "harness/store", "harness/spec", "harness/cost"},
	// Problem sets come to the data folder; nothing that runs knows from where.
	"harness/fetch":               {"harness/lines", "harness/internal/retryafter", "harness/recording/publisher", "harness/problems", "harness/spec", "harness/store"},
	"harness/fetch/fetchtest":     {"harness/spec", "harness/tokenizer"},
	"harness/recording/publisher": {"harness/tokenizer"},
	// Logs become files of a recording, which runs read as anybody's.
	"harness/imports": {"harness/folder", "harness/starting", "harness/lines", "harness/recording/publisher", "harness/recording", "harness/spec", "harness/seed", "harness/cost", "harness/metrics", "verify"},
	"harness/report":  {"harness/units", "harness/metrics", "harness/routing"},
	"harness/routing": {"harness/cost", "harness/seed", "harness/spec", "verify"},
	"harness/spec":    {"harness/cost"},
	// The verifier's own layers: what reads knows nothing of what compares.
	"verify":                   {"verify/internal/decide", "verify/internal/evaluate", "verify/internal/formula", "verify/internal/segment"},
	"verify/internal/decide":   {"verify/internal/modular", "verify/internal/evaluate", "verify/internal/draw", "verify/internal/failing", "verify/internal/formula"},
	"verify/internal/modular":  {"verify/internal/evaluate", "verify/internal/draw", "verify/internal/failing", "verify/internal/formula"},
	"verify/internal/evaluate": {"verify/internal/failing", "verify/internal/formula"},
	"verify/internal/formula":  {"verify/internal/failing"},
}

// gomlx lists the packages that may name GoMLX; the command links a backend.
var gomlx = []string{"harness/policy", "harness/compact", "harness/train", "harness/lm", "harness/gpucheck", "harness/workload"}

// reporting is the package that whoever starts a goroutine imports, as its test demands.
const reporting = "harness/crash"

func TestImportsFollowTheLayerTable(t *testing.T) {
	ours, _ := listed(t)
	for _, pkg := range ours {
		name := strings.TrimPrefix(pkg.ImportPath, module)
		allowed := layers[name]
		for _, imp := range pkg.Imports {
			if strings.HasPrefix(imp, "github.com/gomlx/") && !slices.Contains(gomlx, name) {
				t.Errorf("%s must not import GoMLX (%s)", name, imp)
			}
			if imp == "gonum.org/v1/plot" || imp == "gonum.org/v1/plot/font/liberation" {
				t.Errorf("%s must not import %s: it brings four megabytes of font faces that no figure uses; axes are report's own", name, imp)
			}
			ours, ok := strings.CutPrefix(imp, module)
			if ok && ours != reporting && !slices.Contains(allowed, "*") && !slices.Contains(allowed, ours) {
				t.Errorf("%s must not import %s", name, ours)
			}
		}
		for _, room := range allowed {
			if room != "*" && !slices.Contains(pkg.Imports, module+room) {
				t.Errorf("%s may import %s and does not: take it out of the table", name, room)
			}
		}
	}
	if len(ours) < len(layers) {
		t.Errorf("go list found %d packages, the table has %d", len(ours), len(layers))
	}
}

// What an experiment is made of follows from its protocol in two packages; the others ask what they have before them.
func TestProtocolsAreToldApartInTwoPackages(t *testing.T) {
	asks := regexp.MustCompile(`(x|e|Experiment)\.Protocol (==|!=)|switch \S*\.Protocol\b`)
	found := map[string]bool{}
	ours, _ := listed(t)
	for _, pkg := range ours {
		for _, file := range pkg.GoFiles {
			code, err := os.ReadFile(filepath.Join(pkg.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(code, []byte(".Protocol")) && asks.Match(code) { // a file without it is not searched twice
				found[strings.TrimPrefix(pkg.ImportPath, module)] = true
			}
		}
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{"harness/protocol", "harness/spec"}) {
		t.Errorf("packages that tell protocols apart: %v", got)
	}
}
