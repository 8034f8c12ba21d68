// What the trail says: cells, questions, problems with answers and decisions, as JSON has them.

package trail

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// Answers are the responses that experts gave on the arena of the paper's sizes.
type Answers interface {
	// Rollouts returns what every expert answered to a problem in so many runs and why it got its verdict; of the model
	// that plays the router too, if self.
	Rollouts(ctx context.Context, p routing.Problem, runs int, self bool) ([]RolloutResult, error)
	// Read returns what the answers to a problem were read as, by expert in the order of Rollouts.
	Read(ctx context.Context, p routing.Problem, runs int, self bool) ([]Readings, error)
	// Answered returns to which of some problems a rollout is the answer; ok is false if to none.
	Answered(ctx context.Context, rollout store.RolloutID, problems []routing.Problem) (p routing.Problem, ok bool, err error)
}

// Cell is one number of a table with its dollars: a row on a benchmark, on all ("avg", of recordings "all") or on a
// stratum of difficulty ("easy", "medium", "hard").
type Cell struct {
	Set       string   `json:"set"` // arena or pool
	Row       string   `json:"row"`
	Benchmark string   `json:"benchmark"`
	Questions int      `json:"questions"`
	Runs      int      `json:"runs,omitempty"`       // of each question; none where benchmarks have their own
	Accuracy  float64  `json:"accuracy"`             // percent, mean over questions, runs and training seeds or partitions
	USD       float64  `json:"usd"`                  // of one pass over the questions
	PerQuery  float64  `json:"usd_per_query"`        // dollars per question
	CostShare *float64 `json:"cost_share,omitempty"` // percent of what always asking the dearest expert costs; none where that is nothing

	Gain      *Gain                      `json:"gain,omitempty"`      // of averages; of recordings none
	FoldGain  *FoldGain                  `json:"fold_gain,omitempty"` // of every cell of a recording
	Verdicts  map[routing.Bucket]float64 `json:"verdicts,omitempty"`  // number of answers, averaged over training seeds or partitions
	Trainings []TrainingResult           `json:"trainings"`           // what is averaged
}

// Gain is a hull gain and the coin flips between fixed experts that it is measured from, one for each training of the row, which costs
// what the training costs; all are averaged over the trainings.
type Gain struct {
	Points   float64            `json:"points"`   // accuracy of the cell minus that of the flip
	Accuracy float64            `json:"accuracy"` // percent, of the flip
	Coin     map[string]float64 `json:"coin"`     // how often it asks whom; in sum below 1 where a row costs less than the cheapest
}

// FoldGain is a hull gain inside each test fold, where every fold has a coin flip of its own, averaged over folds by their questions and
// over partitions.
type FoldGain struct {
	Points   float64 `json:"points"`   // accuracy of the cell minus that of the flips
	Accuracy float64 `json:"accuracy"` // percent, of the flips
}

// TrainingResult is a cell by one training: of a seed, or of recordings of a partition.
type TrainingResult struct {
	Seed     uint64  `json:"seed"`
	Accuracy float64 `json:"accuracy"`
	PerQuery float64 `json:"usd_per_query"`
}

// QuestionResult is what a row got and paid on one question, averaged over runs and over training seeds or partitions.
type QuestionResult struct {
	Problem  string                     `json:"problem"`
	Weight   float64                    `json:"weight"`   // in the cell; the weights of a cell sum to 1
	Accuracy float64                    `json:"accuracy"` // percent; on the large set a probability
	USD      float64                    `json:"usd"`
	Tokens   float64                    `json:"tokens"`             // output tokens of the experts that were asked
	Chosen   map[string]float64         `json:"chosen"`             // expert -> share of the decisions in which its answer stood
	Verdicts map[routing.Bucket]float64 `json:"verdicts,omitempty"` // of those answers
	Folds    []int                      `json:"folds,omitempty"`    // of recordings: the fold it is tested in, for each partition
}

// Overview is a question at a glance: what every expert's answers came to, and whose answer stood.
type Overview struct {
	Problem, Benchmark string
	Gold               []string                      // any of them will do
	Experts            []Tally                       // as SetResult has them
	Chosen             map[string]map[string]float64 // row -> QuestionResult.Chosen
}

// Tally is what the answers of an expert to one question came to.
type Tally struct {
	Buckets map[routing.Bucket]int
	USD     float64 // an answer, on average
	Readings
}

// Readings are what the answers of an expert to one question were read as, each once, where something was found in them; of
// recordings nothing is known.
type Readings struct {
	Right, Others []string
}

// Question is a problem as the trail shows it.
type Question struct {
	ID        string             `json:"id"`
	Benchmark string             `json:"benchmark"`
	Text      string             `json:"text"`
	Gold      []string           `json:"gold"` // any of them will do
	Options   []string           `json:"options,omitempty"`
	Tolerance []verify.Tolerance `json:"tolerance,omitempty"`
	Level     string             `json:"level,omitempty"`
}

// UsageResult is what an answer read and wrote, in tokens.
type UsageResult struct {
	In  int64 `json:"in"`
	Out int64 `json:"out"`
}

// RolloutResult is one response of an expert and why it got its verdict, or why there is none.
type RolloutResult struct {
	Expert    string          `json:"expert"`
	Run       int             `json:"run"`
	Bucket    routing.Bucket  `json:"bucket"`
	Reason    string          `json:"reason"`
	Rule      string          `json:"rule,omitempty"` // of the verifier; none for what was cut off
	Extracted string          `json:"extracted"`
	Gold      string          `json:"gold_form,omitempty"`
	Answer    string          `json:"response_form,omitempty"`
	Usage     UsageResult     `json:"usage"`
	USD       float64         `json:"usd"`
	ID        store.RolloutID `json:"rollout"` // in rollouts.db; 0: there is no answer
	Prompt    string          `json:"prompt"`  // the message that was sent
	Response  string          `json:"response"`
	Reasoning string          `json:"reasoning,omitempty"` // thinking that the server sent apart
	Failure   *FailureResult  `json:"failure,omitempty"`   // why there is no answer; nil: there is one
}

// FailureResult is what became of a request without an answer.
type FailureResult struct {
	Class string `json:"class"`
	Error string `json:"error"`
	Again bool   `json:"again"` // a run asks again
}

// OutcomeResult is what an expert does on a question where no response is at hand: on the large set the simulation's
// own probability and expectations, of a recording what was recorded.
type OutcomeResult struct {
	Expert  string         `json:"expert"`
	Correct float64        `json:"correct"`          // 1 or 0; on the large set the true success probability
	Bucket  routing.Bucket `json:"bucket,omitempty"` // of a recording
	Tokens  float64        `json:"tokens"`           // output tokens
	USD     float64        `json:"usd"`
}

// LatentResult is what simulated experts know of a problem: their chances follow from it.
type LatentResult struct {
	Cell       string  `json:"cell"` // of the simulated pool
	Topic      string  `json:"topic"`
	Difficulty float64 `json:"difficulty"` // logits
}

// DecisionResult says what a row decided on one run of a problem, and what came of it.
type DecisionResult struct {
	Row       string             `json:"row"`
	Seed      uint64             `json:"seed"`           // of the training; of recordings the partition
	Fold      int                `json:"fold,omitempty"` // of recordings: the one that the question is tested in
	Run       int                `json:"run"`
	Expert    string             `json:"expert"`            // whose answer stands: an expert, "self", or "expected" for rows in closed form
	Calls     []string           `json:"calls,omitempty"`   // of a row with several rounds: the experts asked, in order
	Spoiled   float64            `json:"spoiled,omitempty"` // of "self": probability that the calls talked it out of a right answer
	Prob      map[string]float64 `json:"prob"`
	Answer    string             `json:"answer,omitempty"` // of a router that has talked to the experts, and its bucket
	Bucket    routing.Bucket     `json:"bucket,omitempty"`
	Accuracy  float64            `json:"accuracy"` // percent
	USD       float64            `json:"usd"`
	OwnTokens int64              `json:"router_tokens,omitempty"` // that the router itself read and wrote
}

// Entry is a cell that a problem enters.
type Entry struct {
	Set       string  `json:"set"`
	Row       string  `json:"row"`
	Benchmark string  `json:"benchmark"`
	Weight    float64 `json:"weight"`   // of the problem in the cell
	Accuracy  float64 `json:"accuracy"` // of the row on the problem, percent; times the weight it is what the problem adds to the cell
	USD       float64 `json:"usd"`      // of the row on the problem
}

// ProblemResult is everything known of one problem.
type ProblemResult struct {
	Set       string           `json:"set"`
	Problem   Question         `json:"problem"`
	Latent    *LatentResult    `json:"latent,omitempty"`   // of a generated problem
	Rollouts  []RolloutResult  `json:"rollouts,omitempty"` // of the arena of the paper's sizes
	Outcomes  []OutcomeResult  `json:"outcomes,omitempty"` // of the other sets
	Unscored  []string         `json:"unscored,omitempty"` // models that did not answer in every run, so that nobody is scored on it
	Decisions []DecisionResult `json:"decisions"`
	Enters    []Entry          `json:"enters"` // the cells of every row asked for
}

// SetResult is a set of questions that rows are scored on.
type SetResult struct {
	Set      string
	Experts  []string // ids; the model that plays the router is the last of them, where its answers are known
	Problems []Listed // those that are scored for nobody last
}

// Listed is a question of a set.
type Listed struct{ ID, Benchmark string }
