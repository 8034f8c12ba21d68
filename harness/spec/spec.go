// Package spec holds every knob of an experiment: its type, unit, default and source in the paper, and the
// strict YAML reader that reports all faults of a file at once.
//
// Defaults live in one place: experiments/base.yaml, which every spec is based on. A knob that a finished spec
// leaves unset is a fault, not a zero.
//
// Struct tags say what a knob accepts: `in` is an interval of a number, or of each number of a list, with two finite
// ends; `oneof` is a list of names; `line` is a text of one line; and a yaml key with omitempty may be left out. The reader
// and the reference printed by Fields follow the tags.
package spec

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/cost"
)

// Experiment is one file under experiments/: a table or figure.
type Experiment struct {
	Name  string `yaml:"name"`              // also the name of its folder under results/runs
	Base  string `yaml:"base,omitempty"`    // file the rest is laid over, which may have a base itself
	Title string `yaml:"title" line:"true"` // caption
	Paper string `yaml:"paper,omitempty"`   // table of results/paper printed beside ours ("main")

	Protocol string   `yaml:"protocol" oneof:"split folds collapse"` // split: train set and test sets; folds: cross-validation on recorded outcomes; collapse: a small environment
	Pools    []string `yaml:"pools"`                                 // files pools/<name>.yaml; several only with protocol folds
	Prices   string   `yaml:"prices"`                                // file prices/<name>.yaml

	Seed       uint64 `yaml:"seed"`                                   // root of every random stream except the training seeds
	CUnit      string `yaml:"c_unit" oneof:"usd_per_mtok normalised"` // C(m): usd_per_mtok (output price) or normalised (price / dearest of the pool)
	CountInput bool   `yaml:"count_input"`                            // dollars include input tokens; the paper's formula counts output only

	Train Train    `yaml:"train"`
	Test  []string `yaml:"test,omitempty"`         // benchmarks, in printing order; protocol split
	Large int      `yaml:"large" in:"[0,1000000]"` // problems per benchmark of the set scored by the true success probability; 0: none

	Profile  Profile       `yaml:"profile"`
	Targets  Targets       `yaml:"targets"`
	Anchor   Anchor        `yaml:"anchor"`
	Reward   Reward        `yaml:"reward"`
	Features Features      `yaml:"features,omitempty"` // what all rows read that learn from texts, unless a row sets its own; default: each row's
	Policy   Policy        `yaml:"policy"`
	Models   []ModelOrigin `yaml:"language_models,omitempty"` // where language models come from that rows start from or ask; said beside the tables, and in no recipe
	Teacher  *Teacher      `yaml:"teacher,omitempty"`         // policy.rationale cot: who writes the rationales of Stage I
	Writer   *Writer       `yaml:"writer,omitempty"`          // policy.rationale cot: the server that writes, in Stage II and when a row routes; default: this program
	SFT      SFT           `yaml:"sft"`
	GRPO     GRPO          `yaml:"grpo"`
	Validate Validate      `yaml:"validate,omitempty"`
	Folds    Folds         `yaml:"folds"`
	Evaluate Evaluate      `yaml:"evaluate"`

	Collapse *Collapse `yaml:"collapse,omitempty"` // protocol collapse
	Ensemble *Ensemble `yaml:"ensemble,omitempty"` // of simulated pools, for 'entrorouter ensemble'

	Methods []Method `yaml:"methods,omitempty"`      // rows; protocols split and folds
	More    []Method `yaml:"more_methods,omitempty"` // rows after those of the base; Load moves them there

	PaperRows []PaperRow `yaml:"paper_rows,omitempty"` // rows of the paper's table that stand beside none of ours
	Outputs   []Output   `yaml:"outputs"`
}

// Train names the training problems of both stages (appendix C).
type Train struct {
	SFT  Draw    `yaml:"sft"`
	RL   Draw    `yaml:"rl"`
	Seen float64 `yaml:"seen,omitempty" in:"[0,1]"` // share of the problems of Stage II that are Stage I's, where the stages draw from two benchmarks; of one, both read the first; paper: 0.6; default: 0
}

// Again returns how many of the first n problems of Stage II are Stage I's by Seen, those it begins with. The others are
// the first of Stage II's own benchmark.
func (t Train) Again(n int) int {
	if t.SFT.Benchmark == t.RL.Benchmark {
		return 0
	}
	return int(math.Round(t.Seen * float64(n)))
}

// Draw takes the first Size problems of a benchmark.
type Draw struct {
	Benchmark string `yaml:"benchmark"`              // a training set of benchmarks.yaml
	Size      int    `yaml:"size" in:"[1,10000000]"` // its first problems, this many
}

// Profile is how pass rates are measured (section 3.2, appendix C).
type Profile struct {
	Rollouts    int  `yaml:"rollouts" in:"[1,1000]"`     // N, rollouts an expert and problem; paper: 5
	Concurrency int  `yaml:"concurrency" in:"[1,10000]"` // requests in flight
	Test        bool `yaml:"test,omitempty"`             // test problems are profiled too, whatever the outputs show: Rollouts more each, for the lines Difficulty and Share
}

// Targets is Stage I (equations 1 to 3, appendix C).
type Targets struct {
	Tau        float64 `yaml:"tau" in:"(0,1]"`                             // reliability threshold; paper: 0.8
	K          int     `yaml:"k" in:"[1,1000]"`                            // size of M_topk; paper: 2
	Gate       bool    `yaml:"gate"`                                       // the probe's gate g(x)
	Soft       bool    `yaml:"soft"`                                       // false: one-hot on m_best
	HardWeight float64 `yaml:"hard_weight" in:"(0,1000000]"`               // weight of problems that only the strongest solves; paper: two rationales, so 2
	Strongest  string  `yaml:"strongest,omitempty" oneof:"price accuracy"` // who that is, in both stages: price, the dearest, as in the paper (default); accuracy, the most accurate on the training problems
}

// Anchor is pi_ref (equations 5 and 6). Only beta/T acts under GRPO, so the knob is the ratio.
type Anchor struct {
	Strength float64 `yaml:"strength" in:"[0,1000000]"` // beta/T; 0 removes the anchor; not in the paper
	T        float64 `yaml:"t" in:"[0.000001,1000000]"` // temperature; beta = strength*T; not in the paper
	Alpha    float64 `yaml:"alpha" in:"[0,1000000]"`    // cost sensitivity; paper: 0.6
}

// Reward is r(m,x) of Stage II (equation 8, appendices D.1 and D.2).
type Reward struct {
	Kind           string  `yaml:"kind" oneof:"performance sparse"`      // performance, or sparse for the ablation
	Fail           float64 `yaml:"fail" in:"[-1000000,0]"`               // R_fail; paper: -3
	Gamma          float64 `yaml:"gamma" in:"[0,1]"`                     // floor of the decay; paper: 0.2
	Clamp          float64 `yaml:"clamp" in:"[0,1]"`                     // R_succ in the risk zone; paper: 0.6
	StrongestKappa string  `yaml:"strongest_kappa" oneof:"one measured"` // one: kappa(strongest)=1, as the paper; measured
	Balance        bool    `yaml:"balance"`                              // cut the cheapest class to the size of the second largest (appendix C)
}

// Policy is the trainable network.
type Policy struct {
	Kind    string `yaml:"kind" oneof:"compact lm"`  // compact, or lm: a language model
	Buckets int    `yaml:"buckets" in:"[1,4194304]"` // kind compact, where features do not say what is read: hashed n-gram buckets
	NGrams  int    `yaml:"ngrams" in:"[1,16]"`       // and longest word n-gram hashed
	Hidden  int    `yaml:"hidden" in:"[1,65536]"`    // kind compact: units of the shared layer
	Backend string `yaml:"backend" oneof:"go xla"`   // what computes it, one a run: losses differ in the last digits

	Model      *LanguageModel `yaml:"model,omitempty"`                            // kind lm: what it starts from
	Tune       *Tune          `yaml:"tune,omitempty"`                             // kind lm: which of its weights are trained
	Rationale  string         `yaml:"rationale,omitempty" oneof:"none cot"`       // kind lm: what it writes before it chooses; none: nothing, the choice is its first token; cot: an analysis of the problem, as a teacher writes them
	Writes     *Writes        `yaml:"writes,omitempty"`                           // rationale cot: how much
	MaxTokens  int            `yaml:"max_tokens,omitempty" in:"[1,8192]"`         // kind lm: tokens of the longest prompt; a longer one is an error
	Compute    string         `yaml:"compute,omitempty" oneof:"float32 bfloat16"` // kind lm: type of products; trained weights are float32 under both
	MicroBatch int            `yaml:"micro_batch,omitempty" in:"[1,1000000]"`     // kind lm: rows of a forward and backward pass at most, whose gradients are summed over the batch; default: the batch at once
	Checkpoint bool           `yaml:"checkpoint,omitempty"`                       // kind lm: the backward pass computes layers again instead of keeping what is in them
}

// Reasons says whether the policy writes an analysis of the problem before it chooses.
func (p Policy) Reasons() bool { return p.Rationale == "cot" }

// Writes bounds what a policy writes before it chooses. Text that reaches a bound is cut, and leads to no choice.
type Writes struct {
	Tokens     int `yaml:"tokens" in:"[2,32768]"`                // of a rationale in training, its end counted; the paper: 10,000, a problem counted
	TestTokens int `yaml:"test_tokens,omitempty" in:"[2,32768]"` // when it routes; the paper: 12,000; default: tokens
}

// AtTest is the bound when it routes.
func (w Writes) AtTest() int { return max(w.Tokens, w.TestTokens) }

// Teacher is the language model that writes the rationales that a policy learns from (appendix C.1; the paper: GPT-OSS-120B).
type Teacher struct {
	Model       string  `yaml:"model"`                        // as its server knows it, or a simulated router of the pool
	URL         string  `yaml:"url,omitempty"`                // base URL of the server, ending in /v1; none: a simulated router of the pool
	KeyEnv      string  `yaml:"key_env,omitempty"`            // environment variable that holds the key of that server
	Revision    string  `yaml:"revision,omitempty"`           // of the weights
	Temperature float64 `yaml:"temperature" in:"[0,100]"`     // not in the paper
	TopP        float64 `yaml:"top_p" in:"(0,1]"`             // not in the paper
	MaxTokens   int     `yaml:"max_tokens" in:"[1,10000000]"` // of an answer, thinking included
	Attempts    int     `yaml:"attempts" in:"[1,100]"`        // how often it is asked for a rationale until one can be used; a problem without one is left out of Stage I
}

// Writer is a vLLM that has the model which a policy starts from, and takes its adapters as they are trained.
type Writer struct {
	URL    string `yaml:"url"`                         // base URL, ending in /v1
	KeyEnv string `yaml:"key_env,omitempty"`           // environment variable that holds the key of that server
	Folder string `yaml:"folder,omitempty"`            // where adapters are put, which the server reads under the same path; default: in the folder of the run
	Flight int    `yaml:"concurrency" in:"[1,100000]"` // requests under way
}

// LanguageModel is what a policy of kind lm starts from: a folder, which may be written as its name alone, or the sizes of
// a fresh model, whose weights are random and whose tokens were learned from generated problems.
type LanguageModel struct {
	Folder  string `yaml:"folder,omitempty" word:"true"`       // Hugging Face folder of a Qwen3 or Llama model; model: FOLDER says the same
	Arch    string `yaml:"arch,omitempty" oneof:"qwen3 llama"` // fresh: qwen3, which normalises queries and keys, or llama
	Hidden  int    `yaml:"hidden,omitempty" in:"[1,65536]"`    // fresh: width of the hidden states
	Inner   int    `yaml:"inner,omitempty" in:"[1,1048576]"`   // fresh: width of the feed-forward part
	Layers  int    `yaml:"layers,omitempty" in:"[1,1024]"`     // fresh: number of layers
	Heads   int    `yaml:"heads,omitempty" in:"[1,1024]"`      // fresh: heads of the queries
	KVHeads int    `yaml:"kv_heads,omitempty" in:"[1,1024]"`   // fresh: heads of keys and values
	HeadDim int    `yaml:"head_dim,omitempty" in:"[2,4096]"`   // fresh: width of a head
	Seed    uint64 `yaml:"seed,omitempty"`                     // fresh: of its weights; default: 0
}

// ModelOrigin says where a language model comes from.
type ModelOrigin struct {
	Name    string `yaml:"name" line:"true"`    // as policy.model or a row names it: its folder, or what its server calls it
	Source  string `yaml:"source" line:"true"`  // what was fetched from where, with a checksum or a revision
	Licence string `yaml:"licence" line:"true"` // of its weights, as SPDX names it
}

// Tune says which weights of a language model are trained; one of its keys is set. A part may be written alone.
type Tune struct {
	Part string `yaml:"part,omitempty" oneof:"head full" word:"true"` // head: a linear head on the frozen model; full: every weight; tune: head says the same
	Last int    `yaml:"last,omitempty" in:"[1,1024]"`                 // the last layers, this many, and the norm after them
	LoRA *LoRA  `yaml:"lora,omitempty"`                               // low-rank adapters beside frozen weights
}

// LoRA are low-rank adapters (Hu et al. 2022): alpha/r * B A x is added to what a projection makes of x.
type LoRA struct {
	R       int      `yaml:"r" in:"[1,4096]"`        // rank
	Alpha   float64  `yaml:"alpha" in:"(0,1000000]"` // scale times rank
	Targets []string `yaml:"targets"`                // projections with an adapter: q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj
}

// SFT is Stage I training (appendix D).
type SFT struct {
	Epochs      int     `yaml:"epochs" in:"[1,10000]"`      // paper: 5
	Batch       int     `yaml:"batch" in:"[1,1000000]"`     // not in the paper
	LR          float64 `yaml:"lr" in:"(0,100]"`            // Adam; the paper's 2e-5 is for a 4B language model
	WarmUp      float64 `yaml:"warm_up" in:"[0,1]"`         // share of the steps; paper: 0.1
	WeightDecay float64 `yaml:"weight_decay" in:"[0,1000]"` // decoupled; not in the paper
	Dropout     float64 `yaml:"dropout" in:"[0,1)"`         // on the shared layer; not in the paper
}

// GRPO is Stage II training (appendix D; VeRL where the paper is silent).
type GRPO struct {
	Estimator   string  `yaml:"estimator" oneof:"sampled exact"` // sampled, as the paper; exact: the expectation over the policy
	Steps       int     `yaml:"steps" in:"[1,1000000]"`          // paper: 40
	Batch       int     `yaml:"batch" in:"[1,1000000]"`          // prompts a step; paper: 128
	Group       int     `yaml:"group" in:"[2,4096]"`             // rollouts a prompt; paper: 16
	LR          float64 `yaml:"lr" in:"(0,100]"`                 // Adam; not in the paper
	ClipLow     float64 `yaml:"clip_low" in:"[0,1]"`             // the ratio of new to old probability is clipped below at 1 - clip_low
	ClipHigh    float64 `yaml:"clip_high" in:"[0,1000000]"`      // and above at 1 + clip_high
	DualClip    float64 `yaml:"dual_clip" in:"(1,1000000]"`      // a negative advantage counts at most this many times
	StdNorm     bool    `yaml:"std_norm"`                        // divide advantages by the group's sample standard deviation + 1e-6
	Epochs      int     `yaml:"epochs" in:"[1,10000]"`           // passes over each batch; 1 is exactly on-policy
	WeightDecay float64 `yaml:"weight_decay" in:"[0,1000]"`      // decoupled; not in the paper
}

// Validate names the training knobs that every fit chooses for itself, on a fifth of its training problems. Not in the
// paper.
type Validate struct {
	WeightDecay []float64 `yaml:"weight_decay,omitempty" in:"[0,1000]"` // of both stages, to choose from in place of sft.weight_decay and grpo.weight_decay; none: not chosen
}

// NearestModels is how many models outside the pool lend their answers to the pass rate "k5".
const NearestModels = 4

// Folds is the cross-validation of protocol folds.
type Folds struct {
	K     int      `yaml:"k" in:"[2,1000]"`          // parts; each is tested once
	Seeds []uint64 `yaml:"seeds"`                    // one partition each
	Kappa string   `yaml:"kappa" oneof:"k5 01 runs"` // runs: all runs of the model that are not scored, or the scored ones where there are no others; 01: the first of these; k5: these and one each of the 4 nearest models outside the pool
	Probe string   `yaml:"probe"`                    // model of the recording that plays the probe; none: the gate stays shut

	Whole  bool     `yaml:"whole,omitempty"`  // measure all questions only, no benchmark apart
	Versus []string `yaml:"versus,omitempty"` // ids of rows: the difference of every other row to each of them is measured

	Predictions string `yaml:"predictions,omitempty"` // id of a row: how well rows predict who is right is measured, and compared with its predictions; unset: it is not
}

// Evaluate is how fitted routers are scored.
type Evaluate struct {
	Seeds      []uint64 `yaml:"seeds"`                          // training seeds, one fit each
	Decoding   string   `yaml:"decoding" oneof:"argmax sample"` // argmax (temperature 0) or sample
	Bootstrap  int      `yaml:"bootstrap" in:"[0,1000000]"`     // resamples of the questions, at least 10; 0: no intervals
	Confidence float64  `yaml:"confidence" in:"(0,1)"`          // of every interval

	MaxProblems int `yaml:"max_problems" in:"[0,10000000]"` // first problems of each test benchmark; 0: all
	MaxRuns     int `yaml:"max_runs" in:"[0,10000]"`        // cap on the runs of a test benchmark; 0: as benchmarks.yaml says
}

// Method is one row.
type Method struct {
	Name   string    `yaml:"name"`                               // kind, one of the list in package methods
	ID     string    `yaml:"id,omitempty"`                       // of the row in measurements and in match, unique; default: the name
	Label  string    `yaml:"label,omitempty" line:"true"`        // row label; default: the id
	Paper  string    `yaml:"paper,omitempty"`                    // row of results/paper printed beside this one: a method and any further keys, as in entrorouter/alpha=0.2
	Match  string    `yaml:"match,omitempty"`                    // id of the row whose mean dollars on the training problems this row's knob is set to
	Kappa  string    `yaml:"kappa,omitempty" oneof:"k5 01 runs"` // labels the row is trained on, protocol folds; default: folds.kappa. Of an oracle runs: it knows these, and not what is scored
	Versus []string  `yaml:"versus,omitempty"`                   // ids of rows that this one's difference to is measured beside folds.versus, protocol folds
	Train  int       `yaml:"train,omitempty" in:"[1,10000000]"`  // the row learns from the first problems of each stage, this many; protocol folds: from this many of a fold's training questions, those of fewer among those of more; default: all
	Params yaml.Node `yaml:"params,omitempty"`                   // read by DecodeParams

	File string `yaml:"-"` // where the row is written, for messages; set by Load
	Line int    `yaml:"-"`
	Path string `yaml:"-"` // e.g. methods[3]
}

// PaperRow is a row of the paper's table that is printed as it is: nothing here stands for it.
type PaperRow struct {
	Paper string `yaml:"paper"`             // as the key paper of a method
	Label string `yaml:"label" line:"true"` // row label
}

// Row returns the row of an id; ok is false if there is none.
func (x *Experiment) Row(id string) (m Method, ok bool) {
	i := slices.IndexFunc(x.Methods, func(m Method) bool { return m.RowID() == id })
	if i < 0 {
		return m, false
	}
	return x.Methods[i], true
}

// RowID returns the id of the row in measurements.
func (m Method) RowID() string { return cmp.Or(m.ID, m.Name) }

// PaperKeys returns the keys of the row of results/paper that Paper names, as name, value, name, value...: for
// entrorouter/alpha=0.2 they are method, entrorouter, alpha, 0.2.
func (m Method) PaperKeys() []string { return PaperRow{Paper: m.Paper}.Keys() }

// Keys returns the keys of the row, as Method.PaperKeys.
func (p PaperRow) Keys() []string {
	parts := strings.Split(p.Paper, "/")
	pairs := []string{"method", parts[0]}
	for _, key := range parts[1:] {
		name, value, _ := strings.Cut(key, "=")
		pairs = append(pairs, name, value)
	}
	return pairs
}

// RowLabel returns what tables print for the row.
func (m Method) RowLabel() string { return cmp.Or(m.Label, m.RowID()) }

// Output is one rendered table or figure. What a kind shows and needs is said where it is decided (package present).
type Output struct {
	Kind string `yaml:"kind"`           // what is drawn: Known.Outputs
	File string `yaml:"file,omitempty"` // its name, without extension, among the tables and figures of the experiment; default: the kind

	Number string `yaml:"number,omitempty"` // what the paper calls it, as in Table 1; none: it is not in the paper

	Rows   []string `yaml:"rows,omitempty"`             // kinds pareto, seeds and training: ids of the rows shown; default: all that can be, entrorouter in training; kind verdict: of the routers that it is about
	Param  string   `yaml:"param,omitempty"`            // kind sweep: the number on the axis, train or one of the rows' params, as in anchor.strength
	Axis   string   `yaml:"axis,omitempty" line:"true"` // kind sweep: what the number is, with its unit
	Log    bool     `yaml:"log,omitempty"`              // kind sweep: logarithmic axis
	Paper  bool     `yaml:"paper,omitempty"`            // kinds sweep, pareto and routing-distribution: the paper's numbers beside ours
	Wide   bool     `yaml:"wide,omitempty"`             // kind pareto: the panels side by side
	Series []Series `yaml:"series,omitempty"`           // kind sweep: the lines; default: one of all rows. Kind rounds: columns of panels
}

// Series is one line of a sweep, or a column of panels.
type Series struct {
	Label string   `yaml:"label" line:"true"` // in the legend, or over the panels
	Rows  []string `yaml:"rows"`              // ids
}

// Pool is a file under experiments/pools.
type Pool struct {
	Name     string   `yaml:"name"`
	Kind     string   `yaml:"kind" oneof:"simulated http recorded"` // simulated, http, recorded
	Sampling Sampling `yaml:"sampling,omitempty"`                   // kinds simulated and http
	Asking   Asking   `yaml:"asking,omitempty"`                     // kind http
	Experts  []Expert `yaml:"experts"`
	Probe    *Expert  `yaml:"probe,omitempty"` // weak model outside the pool: the gate

	Simulation *Simulation `yaml:"simulation,omitempty"` // kind simulated
	Recorded   *Recorded   `yaml:"recorded,omitempty"`   // kind recorded
}

// Sampling is how experts are asked.
type Sampling struct {
	Temperature float64 `yaml:"temperature" in:"[0,100]"`
	TopP        float64 `yaml:"top_p" in:"(0,1]"`
	TopK        int     `yaml:"top_k" in:"[0,10000000]"`
	Prompt      string  `yaml:"prompt"` // template of the user message with {problem}

	MinP            float64 `yaml:"min_p,omitempty" in:"[0,1]"`     // tokens less likely than this share of the likeliest are left out; default: 0, none
	System          string  `yaml:"system,omitempty"`               // system message before the user's
	Stop            JSON    `yaml:"stop,omitempty"`                 // text, or list of texts, that ends the answer
	ReasoningEffort string  `yaml:"reasoning_effort,omitempty"`     // as the server knows it: low, medium, high
	TemplateKwargs  JSON    `yaml:"chat_template_kwargs,omitempty"` // of the server's chat template, as in {enable_thinking: false}
	LeaveOut        JSON    `yaml:"leave_out,omitempty"`            // list of what is not sent, for servers that refuse it: temperature, top_p, top_k, min_p, seed
}

// Expert is one LLM. Its price is looked up by Model in the experiment's price file.
type Expert struct {
	ID        string  `yaml:"id"`
	Model     string  `yaml:"model"`
	Revision  string  `yaml:"revision,omitempty"`
	Params    float64 `yaml:"params,omitempty" in:"(0,1000000]"` // billions
	MaxTokens int     `yaml:"max_tokens,omitempty" in:"[1,10000000]"`

	URL        string    `yaml:"url,omitempty"`                                                  // base URL ending in /v1; kind http
	URLs       []string  `yaml:"urls,omitempty"`                                                 // base URLs of servers of the same model, in place of url: a request goes to the one with the fewest
	KeyEnv     string    `yaml:"key_env,omitempty"`                                              // environment variable that holds the key of these servers; no other host is sent it
	Whole      bool      `yaml:"whole,omitempty"`                                                // answers come whole, not as a stream: for servers that cannot stream
	Unlisted   bool      `yaml:"unlisted,omitempty"`                                             // the servers answer to the model's name though their list lacks it: it is not looked for there
	LimitField string    `yaml:"limit_field,omitempty" oneof:"max_tokens max_completion_tokens"` // what the server calls max_tokens; default: max_tokens
	Limits     *Limits   `yaml:"limits,omitempty"`                                               // what the expert is asked at most
	Sampling   yaml.Node `yaml:"sampling,omitempty"`                                             // knobs of the pool's sampling that are others for this expert

	Settings map[string]string `yaml:"settings,omitempty"` // kind recorded: the settings under which it was asked, where the recording has several of the model

	Answers *File `yaml:"answers,omitempty"` // what the model answered elsewhere, in place of a server; kinds simulated and http
}

// Limits is what an expert is asked at most, over all its servers.
type Limits struct {
	Concurrency int     `yaml:"concurrency,omitempty" in:"[1,100000]"`          // requests in flight; default: profile.concurrency
	Requests    float64 `yaml:"requests_per_minute,omitempty" in:"[0.001,1e9]"` // default: no limit
	Tokens      float64 `yaml:"tokens_per_minute,omitempty" in:"[1,1e12]"`      // in and out; default: no limit
}

// Asking is how long servers are waited for and how often they are asked.
type Asking struct {
	ServerWait  float64 `yaml:"server_wait,omitempty" in:"[1,604800]"`   // seconds that a server may be loading, limited or down before its requests fail, also when a run begins; default: 1800, and none when a run begins
	IdleTimeout float64 `yaml:"idle_timeout,omitempty" in:"[1,86400]"`   // seconds without a byte within a stream; default: 600
	FirstByte   float64 `yaml:"first_byte,omitempty" in:"[1,604800]"`    // seconds until a stream begins or a whole answer is there; default: 7200
	RequestTime float64 `yaml:"request_time,omitempty" in:"[1,2592000]"` // seconds of one try in all; default: no limit
	Tries       int     `yaml:"tries,omitempty" in:"[1,100]"`            // of a request that met a broken connection or a failing server, the first included; waiting takes none; default: 6
}

// Recorded names the files of a recorded pool, below the data folder.
type Recorded struct {
	Queries      File    `yaml:"queries"`
	Outcomes     File    `yaml:"outcomes"`                          // may be the file of the queries
	Format       *Format `yaml:"format,omitempty"`                  // how the files differ from what recording.Table describes
	Gaps         string  `yaml:"gaps,omitempty" oneof:"error drop"` // questions without an outcome of an expert or the probe: an error (default) or left out
	Scored       int     `yaml:"scored,omitempty" in:"[1,1000]"`    // runs of every question and model that are scored, its first; routers learn from its others, and where there are none from these, other folds then; default: 1
	PromptTokens int     `yaml:"prompt_tokens" in:"[0,10000000]"`   // instruction tokens added to every question's input

	Benchmarks []string          `yaml:"benchmarks,omitempty"`         // questions of these only; default: all
	Titles     map[string]string `yaml:"titles,omitempty" line:"true"` // benchmark -> what captions call it; default: its name
	Note       string            `yaml:"note,omitempty" line:"true"`   // what tables say of the pool, without the last stop
}

// Format says how the files of a recorded pool differ from those that recording.Table describes.
type Format struct {
	Layout        string            `yaml:"layout" oneof:"long wide"`                   // of the outcomes: a line a query and model, or a line a query with objects of models under correct and output_tokens
	Keys          map[string]string `yaml:"keys,omitempty"`                             // key of recording.Table -> what the files call it; the id of a question may keep its name in one of the two
	Ignore        []string          `yaml:"ignore,omitempty"`                           // keys of the files that are not read
	CharsPerToken float64           `yaml:"chars_per_token,omitempty" in:"[0.01,1000]"` // output_tokens counts characters, or is the text of the answer; prompt_tokens, where it is missing, are the characters of the question; both over this
	Benchmark     string            `yaml:"benchmark,omitempty"`                        // of every query, where the files do not say; {key} in it stands for what a key of the file says
	OutputTokens  int               `yaml:"output_tokens,omitempty" in:"[1,10000000]"`  // of every answer, where the files do not say
	CorrectFrom   float64           `yaml:"correct_from,omitempty" in:"(0,1000000]"`    // correct is a score, and this one and better ones are right
	Settings      []string          `yaml:"settings,omitempty"`                         // keys of the outcomes that are settings the model was asked under
	Where         map[string]string `yaml:"where,omitempty"`                            // key of the queries -> pattern; queries that do not match are left out
}

// File is a data file with its checksum, source and licence.
type File struct {
	Path    string   `yaml:"path"`
	SHA256  string   `yaml:"sha256"`           // of a benchmark also unpinned: what fetched.yaml in the data folder says
	Models  []string `yaml:"models,omitempty"` // of a pool's outcomes: lines of these, by their key model, are read and count in the checksum; default: all
	Source  string   `yaml:"source"`
	Licence string   `yaml:"licence"`
	Home    *Home    `yaml:"home,omitempty"` // where 'entrorouter fetch' gets it
	Set     string   `yaml:"-"`              // what 'entrorouter fetch' calls the set that it is of; empty: it cannot get it. Of pools set by Load
}

// Simulation is the multi-topic item-response model of the simulated pool. Which parameters are data and which
// are choices is written in experiments/pools/sim.yaml.
type Simulation struct {
	ResidualSD float64             `yaml:"residual_sd" in:"[0,100]"` // of e, per expert and question, logits
	Tokens     SimTokens           `yaml:"tokens"`
	Text       SimText             `yaml:"text"`
	Topics     map[string]float64  `yaml:"topic_difficulty" in:"[-100,100]"` // logits
	Cells      map[string]SimCell  `yaml:"cells"`                            // benchmark cell -> population
	Experts    map[string]SimSkill `yaml:"skills"`                           // expert id (and the probe's) -> skill

	Routers map[string]SimRouter `yaml:"routers,omitempty"`          // model -> a simulated language model that routes
	Targets map[string]SimTarget `yaml:"targets,omitempty"`          // cell -> what the experts' offsets and mean tokens are solved for
	Note    string               `yaml:"note,omitempty" line:"true"` // what tables say of the simulation, without the last stop
}

// SimRouter is a simulated language model that is asked which expert should answer, or, as a teacher, for the analysis behind a choice.
// Its skill is assumed: it stands for no model.
type SimRouter struct {
	Skill     float64 `yaml:"skill" in:"[0,1]"`     // chance that it names the cheapest expert whose true success probability is at least Tau, the strongest if none has it; else it names another, drawn uniformly. Of a teacher: that it says how hard a problem is, and not another of four words
	Tau       float64 `yaml:"tau" in:"(0,1]"`       // what counts as likely to succeed
	Malformed float64 `yaml:"malformed" in:"[0,1]"` // share of answers that are no JSON object naming an expert. Of a teacher: of texts that name a model, choose another or are empty
}

// SimTarget is what fixed experts are known to reach on a cell: the data that `entrorouter calibrate` solves for.
type SimTarget struct {
	Questions  int                `yaml:"questions,omitempty" in:"[1,10000000]"` // of one pass that costs USD
	Accuracy   map[string]float64 `yaml:"accuracy,omitempty" in:"[0,100]"`       // expert id -> percent, truncated responses wrong
	USD        map[string]float64 `yaml:"usd,omitempty" in:"[0,1000000000]"`     // expert id -> dollars of one pass, output tokens only
	TokenLevel map[string]float64 `yaml:"token_level,omitempty" in:"[-20,20]"`   // expert id -> log of the uncut tokens of a problem with s = 0, where no cost is known
}

// SimTokens is the token-length law: mean[m][cell]*exp(Slope*s)/E_cell[exp(Slope*s)]*LogNormal(mean 1, Sigma),
// s = sigmoid(d/Scale). A response that reaches the expert's limit is cut there.
type SimTokens struct {
	Slope float64 `yaml:"slope" in:"[0,20]"`
	Scale float64 `yaml:"scale" in:"[0.01,1000]"`
	Sigma float64 `yaml:"sigma" in:"[0,4]"`
}

// SimText is how much of a problem its text tells a router. No data fix it, and what a router gains over a coin flip follows from it.
type SimText struct {
	Noise     float64 `yaml:"noise" in:"[0,1000]"`   // standard deviation, in logits, between difficulty and each cue: the number of steps, the size of numbers
	TopicLeak float64 `yaml:"topic_leak" in:"[0,1]"` // share of problems set in the scenery of another topic
	SizeShown float64 `yaml:"size_shown" in:"[0,1]"` // share of Choice problems whose numbers follow the difficulty at all
	NewWords  float64 `yaml:"new_words" in:"[0,1]"`  // share of Choice nuisance phrases that no Math problem uses
}

// SimCell is a population of problems: d = mu + topic difficulty + sd*z, z ~ N(0,1).
type SimCell struct {
	Mu    float64            `yaml:"mu" in:"[-100,100]"`
	SD    float64            `yaml:"sd" in:"[0,100]"`
	Floor float64            `yaml:"floor" in:"[0,1)"` // guessing
	Mix   map[string]float64 `yaml:"mix" in:"[0,1]"`   // topic -> share
}

// SimSkill is one expert: p = floor + (1-floor)*sigmoid(theta + w[topic] + offset[cell] + e - d).
type SimSkill struct {
	Theta  float64            `yaml:"theta" in:"[-100,100]"`
	W      map[string]float64 `yaml:"w,omitempty" in:"[-100,100]"`
	Offset map[string]float64 `yaml:"offset,omitempty" in:"[-100,100]"`         // solved by `entrorouter calibrate`
	Tokens map[string]float64 `yaml:"mean_tokens,omitempty" in:"[0,100000000]"` // solved: uncut mean output tokens per cell
}

// Benchmark is one entry of benchmarks.yaml: a named set of problems.
type Benchmark struct {
	Title string `yaml:"title" line:"true"`        // column head
	Split string `yaml:"split" oneof:"train test"` // train or test
	Runs  int    `yaml:"runs" in:"[1,10000]"`      // evaluation runs a problem
	Size  int    `yaml:"size" in:"[1,10000000]"`   // number of problems
	Whole int    `yaml:"-"`                        // of a test set: Size before evaluate.max_problems
	Paper string `yaml:"paper,omitempty"`          // column of the paper's tables

	File      *File      `yaml:"file,omitempty"`      // loaded from the data folder
	Generated *Generated `yaml:"generated,omitempty"` // or generated
}

// Generated describes a generated problem set.
type Generated struct {
	Cell    string `yaml:"cell"`                          // population in the simulated pool's cells
	Family  string `yaml:"family" oneof:"math choice"`    // math, or choice: unseen topics, multiple choice
	Options int    `yaml:"options,omitempty" in:"[2,26]"` // options a problem; family choice only
}

// Benchmarks is the file benchmarks.yaml.
type Benchmarks map[string]Benchmark

// Prices is a dated price list.
type Prices struct {
	Date   string                `yaml:"date"`                                  // of the listing, YYYY-MM-DD
	Basis  string                `yaml:"basis" oneof:"listed inferred assumed"` // what the numbers are; printed under tables
	Source string                `yaml:"source"`                                // where the numbers are from, and what is inferred
	Models map[string]cost.Price `yaml:"models" nothing:"none"`                 // by Expert.Model
}
