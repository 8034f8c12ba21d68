// Package units is the vocabulary of measurements: the units that the lines of an experiment have beside those of
// package metrics, which name what a number is. Who measures and who shows or judges agree on them here and nowhere else.
// A unit ending in -% is a percentage, one ending in -points a difference of percentages.
package units

// Units of the lines Route: a row, a benchmark or all of them, an operating point.
const (
	Tokens         = "tokens/query"        // mean output tokens of the experts that were asked
	CostShare      = "cost-share-%"        // dollars relative to the dearest expert's, which in the paper is also the strongest
	HullGain       = "hull-gain-points"    // accuracy above the hull of the fixed experts at the same cost; of a row that may answer itself: of them and the router alone
	Difference     = "difference-points"   // accuracy minus the reference row's, question by question
	Lead           = "lead-points"         // accuracy above the best coin between the reference row, its knob at any setting and the fixed experts, for the row's own money
	OtherLead      = "other-lead-points"   // the same of the reference row at its own cost, held against this row
	CostDifference = "cost-difference-%"   // cost share minus the reference row's, in the same resamples
	RouterMS       = "router-ms/query"     // milliseconds that a trained language model took to decide; in no measurement
	RouterTokens   = "router-tokens/query" // tokens that the router itself read and wrote, its own answer included; in no cost
	CallRate       = "call-rate-%"         // queries on which a row that may answer itself asked an expert
	Calls          = "calls/query"         // calls of experts by such a row
	OwnAnswers     = "own-answers-%"       // queries on which the router's own answer stood
	Retention      = "retention-%"         // accuracy relative to the strongest expert's
	SavedCost      = "saving-%"            // 100 minus the cost share
	PGR            = "pgr"                 // metrics.PGR between the cheapest and the strongest expert
	Truncated      = "truncated-%"         // answers that the token limit cut, weighted as accuracy is
	McNemar        = "mcnemar-p"           // metrics.McNemar against the reference row; benchmarks of one run
	SeedSD         = "seed-sd-points"      // standard deviation of the accuracy over training seeds
	SeedCostSD     = "seed-cost-sd-%"      // the same of the cost share
)

// Units of the lines Choice, which say how good the decisions of a row are and what they depend on. Yardsticks are made
// of the experts: a router that answers itself, or one that knows the answers and chooses in every run, may do better.
//
// In the paper's arena the oracle is right where any expert was right in that run, and the worth of the best expert in
// Regret is that of the runs at hand: with few runs both are inflated by luck. m_best comes from the profile of the test
// problems. In the large arena all three are those of the true pass rates.
const (
	OracleGap    = "oracle-gap-points"   // accuracy below the oracle's: the best expert for every question and run, whatever it costs
	Regret       = "regret-points"       // worth below that of the best expert for every question, see metrics.Regret
	RegretPrice  = "regret-price-points" // price of the strongest expert's mean dollars in Regret: metrics.ExchangeRate on the arena
	CostRegret   = "cost-regret-%"       // dollars above m_best's where both are right, relative to the strongest expert's mean dollars
	QueryEntropy = "query-entropy-nats"  // mean over questions of the entropy of the router's distribution; 0 for routers that are sure, none for those that may answer themselves
	Entropy      = "entropy-nats"        // entropy of the shares of questions that the experts get
	Information  = "information-nats"    // mutual information of the decision and m_best
	AUC          = "auc"                 // of the router's score for "the cheapest expert suffices"; of a Prediction, of the rate
	ECE          = "ece"                 // expected calibration error of the same where it is a probability, 10 bins; of a Prediction, of the rate
	Brier        = "brier"
)

// Units of the lines Curve, which say what a router with a knob can do over all its settings. Costs are fractions of the
// way from the cheapest expert's to the strongest's.
const (
	AIQ  = "aiq-%"           // metrics.AIQ between the costs of the cheapest and the strongest expert
	AUDC = "audc-%"          // metrics.AUDC
	APGR = "apgr"            // metrics.APGR
	CPT  = "cpt%d-%%"        // metrics.CPT for a percentage of PGR, in percent; none: never reached
	QNC  = "qnc-%"           // metrics.QNC in percent; none: never as good as the strongest expert
	Peak = "peak-accuracy-%" // metrics.Peak; chosen on the questions it is measured on
)

// Units that protocol folds adds. Gains are points of accuracy above the best mixture of fixed experts at the same
// cost, taken inside each test fold and averaged over folds and partitions.
const (
	MeanGain      = "mean-gain-points"           // over 19 budgets; routers with a knob only
	MeanLead      = "mean-gain-lead-points"      // mean gain above the greatest of all other rows that compete and have another knob
	FoldsSD       = "partition-sd-points"        // standard deviation over partitions of the mean gain, of the hull gain for rows without a knob
	LeadBenchmark = "lead-over-benchmark-points" // as lead-points, over the benchmark-identity router
	GainAt        = "gain-at-%d%%-points"        // at a share of the dearest expert's cost
	QualityAt     = "accuracy-at-%d%%-%%"        // likewise

	// Of a contrast between two rows, paired: in the same resamples, as difference-points, cost-difference-%, lead-points and
	// other-lead-points, for which the other row is the reference.
	MeanDifference = "mean-gain-difference-points" // of two rows with a knob
)

// Budgets are the shares of the dearest expert's cost, in percent, of GainAt and QualityAt.
func Budgets() []int { return []int{25, 50, 75} }

// Levels are the percentages of CPT.
func Levels() []int { return []int{50, 80} }

// Units of the lines Recorded, of an expert whose answers were recorded; beside Truncated, of those that are scored.
const (
	Repeated     = "repeated-questions" // questions that were asked more than once
	Disagreement = "disagreement-%"     // of these, pairs of runs of which one is right and one is wrong
	Reliability  = "reliability"        // of these, the share of the variance of one run's label that is between questions
)

// Units of the comparison of the sweep with its closed form. A cell is silent if fewer than SilentRate of its episodes
// have a call after training, on the mean over seeds.
const (
	CellsBelow       = "cells-below"        // no number of calls pays
	CellsBelowSilent = "cells-below-silent" // of these, silent
	CellsAbove       = "cells-above"        // some number of calls pays
	CellsAboveSilent = "cells-above-silent" // of these, silent all the same
	SilentRate       = 0.05
)

// Units of the lines Prediction, of a row that predicts pass rates and an expert, over recorded questions; beside AUC and ECE, of the
// predicted rate.
const (
	LogLoss           = "log-loss-nats"            // mean of metrics.LogLoss
	LogLossDifference = "log-loss-difference-nats" // the same minus that of the row that spec.Folds.Predictions names
)

// Share is the unit of routing shares: percent of a stratum's questions that go to one expert.
const Share = "share-%"

// Unanswered is the name of lines that say how many questions of a benchmark are scored for nobody, since some model did not
// answer them; with a key expert, how many of these that model did not answer.
const (
	Unanswered    = "Unanswered"
	LostQuestions = "lost-questions"
)

// SweepName is the name of lines that hold one setting of a router's knob: its key knob tells them apart.
const SweepName = "Sweep"

// Units of the calibration of pass rates.
const (
	EstimatedRate = "estimate-%"    // mean estimate of the problems in a bin
	TrueRate      = "true-%"        // mean true success probability of them; low and high are their 10th and 90th percentiles
	WrongBest     = "wrong-best-%"  // share of problems whose m_best by the estimates is not m_best by the truth
	TooCheapBest  = "too-cheap-%"   // those whose m_best is cheaper than the true one
	TooDearBest   = "too-dear-%"    // those whose m_best is dearer than the true one
	RateError     = "rmse-points"   // root of the mean squared error of an expert's estimates
	RateBias      = "bias-points"   // mean of estimate minus truth
	MeasuredRate  = "measured"      // value of the key estimate: successes over rollouts
	ShrunkRate    = "shrunk"        // the same shrunk to a text regression, as EntroRouter+ does
	RateBin       = "Calibration"   // lines: keys estimate, expert and bin
	RateBest      = "Best"          // lines: key estimate; or key samples, the expectation with that many rollouts
	RateErrors    = "EstimateError" // lines: keys estimate and expert
)

// Units of training curves.
const (
	Loss       = "loss"          // of Stage I, in nats a problem, weighted
	AnchorKL   = "anchor-kl"     // KL(policy || anchor), in nats
	ZeroGroups = "zero-groups-%" // share of prompts whose rollouts all got one reward: they teach nothing
)

// CurvePoints is how many points of a stage are kept at most: steps are averaged over windows of equal length.
const CurvePoints = 50

// Units of the collapse figure.
const (
	PolicyEntropy = "entropy-nats"        // of the first action
	RewardUnit    = "reward"              // an episode
	ThresholdOnce = "threshold-one-call"  // assimilation below which one call does not pay
	ThresholdAny  = "threshold-any-calls" // the same with as many calls as allowed
	Disagreements = "disagreements"       // between the grid and the closed form
)

// NoRegion is the number of experts for whom the effective trust region, searched on a grid, is empty whatever the policy
// and the width.
const NoRegion = "experts-without-region"
