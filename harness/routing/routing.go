// Package routing holds the nouns of the harness (problem, expert, rollout, profile, target, decision) and
// the paper's arithmetic on them: equations 1 to 8 and appendices C and D.
//
// Letters in doc comments: P problems, M experts (cheapest first), R runs, N rollouts a problem and expert.
package routing

import (
	"cmp"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/verify"
)

// Split says what a problem may be used for and what a rollout was asked for. Rollouts of different splits are never
// mixed.
type Split string

const (
	Train Split = "train"
	Test  Split = "test"

	// Strata marks rollouts on test problems that only decide how hard a problem is for the routing distribution.
	Strata Split = "strata"

	// Routing marks what language models that route answered.
	Routing Split = "routing"
)

// Problem is a text with a gold answer.
type Problem struct {
	ID        string             // unique within an experiment; starts with the benchmark's name
	Benchmark string             // name in benchmarks.yaml
	Split     Split              // train or test
	Text      string             // what an expert and a router read
	Gold      []string           // acceptable answers, at least one
	Options   []string           // multiple choice: the options in order (A, B, ...); nil otherwise
	Tolerance []verify.Tolerance // nil: exact
	Level     string             // difficulty label of the data set, if it has one
}

// Key returns the answer key that grades responses to p.
func (p Problem) Key() verify.Key {
	return verify.Key{Gold: p.Gold, Options: p.Options, Tolerance: p.Tolerance, Question: p.Text}
}

// Latent is what a simulated expert knows of a generated problem. Routers never see it.
type Latent struct {
	Cell       string  // row of the simulated pool's offsets and token means (AIME25, ..., train)
	Topic      string  // one of the pool's topics
	Difficulty float64 // d of the item-response model, in logits
}

// TextHash identifies a problem by its text: simulated experts look a Latent up by it, since a server is
// sent the text and nothing else.
func TextHash(text string) uint64 { return seed.Hash(text) }

// Expert is an LLM with a price, a limit and an address.
type Expert struct {
	ID        string            // name used in specs and results, without spaces or slashes
	Model     string            // name the server knows it by
	Revision  string            // revision of the weights, if known
	Params    float64           // billions of parameters; 0 if unknown
	Price     cost.Price        // USD per million tokens
	MaxTokens int               // generation limit; a response that reaches it is truncated
	Sampling  spec.Sampling     // how it is asked
	Settings  map[string]string // how it was asked when it was recorded, as far as that names it
}

// SortByPrice orders experts by output price, then by id: the order of every M-indexed slice in the harness.
func SortByPrice(experts []Expert) {
	slices.SortFunc(experts, func(a, b Expert) int {
		return cmp.Or(cmp.Compare(a.Price.Out, b.Price.Out), cmp.Compare(a.ID, b.ID))
	})
}

// IDs are those of experts, in their order.
func IDs(experts []Expert) []string {
	ids := make([]string, len(experts))
	for m, x := range experts {
		ids[m] = x.ID
	}
	return ids
}

// Finish says why a completion ended.
type Finish string

const (
	Stop   Finish = "stop"   // the model ended its answer
	Length Finish = "length" // the token limit cut it: graded wrong and billed
)

// Bucket is where a graded rollout, one sampled response, is counted. A score is never printed without these counts.
type Bucket string

const (
	Correct   Bucket = "correct"
	Wrong     Bucket = "wrong"
	NoAnswer  Bucket = "no-answer" // nothing that could be an answer was found
	Truncated Bucket = "truncated" // the token limit cut the response
	Ungraded  Bucket = "ungraded"  // the verifier could not decide: counts 0 in accuracy, which is then a lower bound, and is shown apart
)

// Unanswered is where a rollout stands that was asked for and is not to be had. It is in no count: the question is scored
// for nobody, or the pass rate has one sample less.
const Unanswered Bucket = "unanswered"

// Buckets lists every bucket in printing order.
var Buckets = [...]Bucket{Correct, Wrong, NoAnswer, Truncated, Ungraded}

// BucketOf returns where a verdict on a complete response is counted.
func BucketOf(v verify.Verdict) Bucket {
	switch {
	case v.Outcome == verify.OutcomeEqual:
		return Correct
	case v.Outcome == verify.OutcomeUnknown:
		return Ungraded
	case v.Reason == verify.ReasonNoAnswer:
		return NoAnswer
	}
	return Wrong
}

// Outcome is a graded rollout, reduced to what scoring needs.
type Outcome struct {
	Correct float64 // 1 or 0; on sets scored by the true success probability, that probability
	Bucket  Bucket  // empty on sets scored by the true success probability
	Out     float64 // output tokens (their mean on such sets)
	USD     float64
}
