// Package spec holds every knob of an experiment: its type, unit, default and source in the paper, and the
// strict YAML reader that reports all faults of a file at once.
//
// Defaults live in one place: experiments/base.yaml, which every spec is based on. A knob that a finished spec
// leaves unset is a fault, not a zero.
package spec

import (
	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/cost"
)

// Experiment is one file under experiments/: a table or figure.
type Experiment struct {
	Name  string `yaml:"name"`            // also the name of its folder under results/runs
	Base  string `yaml:"base,omitempty"`  // file the rest is laid over; one level only
	Title string `yaml:"title"`           // caption
	Paper string `yaml:"paper,omitempty"` // table of results/paper printed beside ours ("main")

	Protocol string   `yaml:"protocol"` // split: train set and test sets; folds: cross-validation on recorded outcomes
	Pools    []string `yaml:"pools"`    // files pools/<name>.yaml; several only with protocol folds
	Prices   string   `yaml:"prices"`   // file prices/<name>.yaml

	Seed       uint64 `yaml:"seed"`        // root of every random stream except the training seeds
	CUnit      string `yaml:"c_unit"`      // C(m): usd_per_mtok (output price) or normalised (price / dearest of the pool)
	CountInput bool   `yaml:"count_input"` // dollars include input tokens; the paper's formula counts output only

	Train Train    `yaml:"train"`
	Test  []string `yaml:"test"`  // benchmarks, in printing order
	Large int      `yaml:"large"` // problems a benchmark of the set scored by the true success probability; 0: none

	Profile  Profile  `yaml:"profile"`
	Targets  Targets  `yaml:"targets"`
	Anchor   Anchor   `yaml:"anchor"`
	Reward   Reward   `yaml:"reward"`
	Policy   Policy   `yaml:"policy"`
	SFT      SFT      `yaml:"sft"`
	GRPO     GRPO     `yaml:"grpo"`
	Folds    Folds    `yaml:"folds"`
	Evaluate Evaluate `yaml:"evaluate"`

	Methods []Method `yaml:"methods"`
	Outputs []Output `yaml:"outputs"`
}

// Train names the training problems of both stages (appendix B).
type Train struct {
	SFT Draw `yaml:"sft"`
	RL  Draw `yaml:"rl"`
}

// Draw takes the first Size problems of a benchmark.
type Draw struct {
	Benchmark string `yaml:"benchmark"`
	Size      int    `yaml:"size"`
}

// Profile is how pass rates are measured (section 3.2, appendix B).
type Profile struct {
	Rollouts    int `yaml:"rollouts"`    // N, rollouts an expert and problem; paper: 5
	Concurrency int `yaml:"concurrency"` // requests in flight
}

// Targets is Stage I (equations 1 to 4, appendix B).
type Targets struct {
	Tau        float64 `yaml:"tau"`         // reliability threshold; paper: 0.8
	K          int     `yaml:"k"`           // size of M_topk; paper: 2
	Gate       bool    `yaml:"gate"`        // the probe's gate g(x)
	Soft       bool    `yaml:"soft"`        // false: one-hot on m_best
	HardWeight float64 `yaml:"hard_weight"` // weight of problems that only the strongest solves; paper: two rationales, so 2
}

// Anchor is pi_ref (equations 6 and 7). Only beta/T acts under GRPO, so the knob is the ratio.
type Anchor struct {
	Strength float64 `yaml:"strength"` // beta/T; 0 removes the anchor; not in the paper
	T        float64 `yaml:"t"`        // temperature; beta = strength*T; not in the paper
	Alpha    float64 `yaml:"alpha"`    // cost sensitivity; paper: 0.6
}

// Reward is r(m,x) of Stage II (equation 9, appendices C.1 and C.2).
type Reward struct {
	Kind           string  `yaml:"kind"`            // performance, or sparse for the ablation
	Fail           float64 `yaml:"fail"`            // R_fail; paper: -3
	Gamma          float64 `yaml:"gamma"`           // floor of the decay; paper: 0.2
	Clamp          float64 `yaml:"clamp"`           // R_succ in the risk zone; paper: 0.6
	StrongestKappa string  `yaml:"strongest_kappa"` // one: kappa(strongest)=1, as the paper; measured
	Balance        bool    `yaml:"balance"`         // cut the cheapest class to the size of the second largest (appendix B)
}

// Policy is the trainable network.
type Policy struct {
	Kind    string `yaml:"kind"`    // compact
	Buckets int    `yaml:"buckets"` // hashed n-gram buckets
	NGrams  int    `yaml:"ngrams"`  // longest word n-gram hashed
	Hidden  int    `yaml:"hidden"`  // units of the shared layer
}

// SFT is Stage I training (appendix C).
type SFT struct {
	Epochs      int     `yaml:"epochs"`       // paper: 5
	Batch       int     `yaml:"batch"`        // not in the paper
	LR          float64 `yaml:"lr"`           // Adam; the paper's 2e-5 is for a 4B language model
	WarmUp      float64 `yaml:"warm_up"`      // share of the steps; paper: 0.1
	WeightDecay float64 `yaml:"weight_decay"` // decoupled; not in the paper
	Dropout     float64 `yaml:"dropout"`      // on the shared layer; not in the paper
}

// GRPO is Stage II training (appendix C; VeRL where the paper is silent).
type GRPO struct {
	Estimator   string  `yaml:"estimator"` // sampled, as the paper; exact: the expectation over the policy
	Steps       int     `yaml:"steps"`     // paper: 40
	Batch       int     `yaml:"batch"`     // prompts a step; paper: 128
	Group       int     `yaml:"group"`     // rollouts a prompt; paper: 16
	LR          float64 `yaml:"lr"`
	ClipLow     float64 `yaml:"clip_low"`
	ClipHigh    float64 `yaml:"clip_high"`
	DualClip    float64 `yaml:"dual_clip"`
	StdNorm     bool    `yaml:"std_norm"` // divide advantages by the group's sample standard deviation + 1e-6
	Epochs      int     `yaml:"epochs"`   // passes over each batch; 1 is exactly on-policy
	WeightDecay float64 `yaml:"weight_decay"`
}

// Folds is the cross-validation of protocol folds.
type Folds struct {
	K     int      `yaml:"k"`
	Seeds []uint64 `yaml:"seeds"` // one partition each
	Kappa string   `yaml:"kappa"` // k5: own sample and the 4 nearest models outside the pool; 01: the one sample
	Probe string   `yaml:"probe"` // model of the recording that plays the probe
}

// Evaluate is how fitted routers are scored.
type Evaluate struct {
	Seeds      []uint64 `yaml:"seeds"`      // training seeds, one fit each
	Decoding   string   `yaml:"decoding"`   // argmax (temperature 0) or sample
	Bootstrap  int      `yaml:"bootstrap"`  // resamples of the questions
	Confidence float64  `yaml:"confidence"` // of every interval, e.g. 0.95
}

// Method is one row.
type Method struct {
	Name   string    `yaml:"name"`            // kind, one of the list in package methods
	Label  string    `yaml:"label,omitempty"` // row label; default: the name
	Match  string    `yaml:"match,omitempty"` // label of the row whose mean dollars on the training problems this row's knob is set to
	Params yaml.Node `yaml:"params,omitempty"`
}

// Output is one rendered table or figure.
type Output struct {
	Kind string `yaml:"kind"` // table, routing-distribution
	File string `yaml:"file"` // base name under figures/
}

// Pool is a file under experiments/pools.
type Pool struct {
	Name     string   `yaml:"name"`
	Kind     string   `yaml:"kind"` // simulated, http, recorded
	Sampling Sampling `yaml:"sampling"`
	Experts  []Expert `yaml:"experts"`
	Probe    *Expert  `yaml:"probe,omitempty"` // weak model outside the pool: the gate

	Simulation *Simulation `yaml:"simulation,omitempty"` // kind simulated
	Recorded   *Recorded   `yaml:"recorded,omitempty"`   // kind recorded
}

// Sampling is how experts are asked.
type Sampling struct {
	Temperature float64 `yaml:"temperature"`
	TopP        float64 `yaml:"top_p"`
	TopK        int     `yaml:"top_k"`
	Prompt      string  `yaml:"prompt"` // template of the user message with {problem}
}

// Expert is one LLM. Its price is looked up by Model in the experiment's price file.
type Expert struct {
	ID        string  `yaml:"id"`
	Model     string  `yaml:"model"`
	Revision  string  `yaml:"revision,omitempty"`
	Params    float64 `yaml:"params,omitempty"` // billions
	MaxTokens int     `yaml:"max_tokens"`
	URL       string  `yaml:"url,omitempty"` // base URL ending in /v1; kind http
}

// Recorded names the files of a recorded pool, below the data folder.
type Recorded struct {
	Queries      File   `yaml:"queries"`
	Outcomes     File   `yaml:"outcomes"`
	PromptTokens int    `yaml:"prompt_tokens"` // instruction tokens added to every question's input
	Note         string `yaml:"note,omitempty"`
}

// File is a data file with its checksum, source and licence.
type File struct {
	Path    string `yaml:"path"`
	SHA256  string `yaml:"sha256"`
	Source  string `yaml:"source"`
	Licence string `yaml:"licence"`
}

// Simulation is the multi-topic item-response model of the simulated pool. Which parameters are data and which
// are choices is written in experiments/pools/sim.yaml.
type Simulation struct {
	ResidualSD float64             `yaml:"residual_sd"` // of e, per expert and question, logits
	Tokens     SimTokens           `yaml:"tokens"`
	Topics     map[string]float64  `yaml:"topic_difficulty"` // logits
	Cells      map[string]SimCell  `yaml:"cells"`            // benchmark cell -> population
	Experts    map[string]SimSkill `yaml:"skills"`           // expert id (and the probe's) -> skill
}

// SimTokens is the token-length law: mean[m][cell]*exp(Slope*s)/E_cell[exp(Slope*s)]*LogNormal(mean 1, Sigma),
// s = sigmoid(d/Scale). A response that reaches the expert's limit is cut there.
type SimTokens struct {
	Slope float64 `yaml:"slope"`
	Scale float64 `yaml:"scale"`
	Sigma float64 `yaml:"sigma"`
}

// SimCell is a population of problems: d = mu + topic difficulty + sd*z, z ~ N(0,1).
type SimCell struct {
	Mu    float64            `yaml:"mu"`
	SD    float64            `yaml:"sd"`
	Floor float64            `yaml:"floor"` // guessing
	Mix   map[string]float64 `yaml:"mix"`   // topic -> share
}

// SimSkill is one expert: p = floor + (1-floor)*sigmoid(theta + w[topic] + offset[cell] + e - d).
type SimSkill struct {
	Theta  float64            `yaml:"theta"`
	W      map[string]float64 `yaml:"w"`
	Offset map[string]float64 `yaml:"offset"`      // solved by `entrorouter calibrate`
	Tokens map[string]float64 `yaml:"mean_tokens"` // solved: uncut mean output tokens a cell
}

// Benchmark is one entry of benchmarks.yaml: a named set of problems.
type Benchmark struct {
	Title string `yaml:"title"`           // column head
	Split string `yaml:"split"`           // train or test
	Runs  int    `yaml:"runs"`            // evaluation runs a problem
	Size  int    `yaml:"size"`            // number of problems
	Paper string `yaml:"paper,omitempty"` // column of the paper's tables

	File      *File      `yaml:"file,omitempty"`      // loaded from the data folder
	Generated *Generated `yaml:"generated,omitempty"` // or generated
}

// Generated describes a generated problem set.
type Generated struct {
	Cell    string `yaml:"cell"`    // population in the simulated pool's cells
	Family  string `yaml:"family"`  // math, or choice: unseen topics, multiple choice
	Options int    `yaml:"options"` // number of options of family choice
}

// Benchmarks is the file benchmarks.yaml.
type Benchmarks map[string]Benchmark

// Prices is a dated price list.
type Prices struct {
	Date   string                `yaml:"date"`   // of the listing, YYYY-MM-DD
	Source string                `yaml:"source"` // where the numbers are from, and what is inferred
	Models map[string]cost.Price `yaml:"models"` // by Expert.Model
}
