// The knobs of a training, and what it is carried out with.

package rounds

import (
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// Training trains a policy that asks experts, one after the other, or answers itself, by reinforcement learning in the environment of
// package theory. The environment is built from the training problems: of each, the measured pass rates of the probe, which plays the
// router, and of the experts, and the experts' measured mean dollars. What it cannot take from anywhere is how often a router uses what an
// expert tells it. That is one number, the assimilation, and every row that follows from it has to be labelled so.
//
// The policy is a network of one hidden layer or a language model, see Decoder. The network sees how many calls have been made and of whom
// last, and of the text one number for the router and for each expert: the logit of its pass rate by a logistic regression on the text,
// fitted to the problems of Stage I. The reinforcement learning runs on those of Stage II.
//
// Of the answers that a router has seen, the one stands whose author has the highest mean pass rate on the training
// problems, the router among them; which answer to a problem is right it does not know. A call that is not assimilated
// takes a share of the router's own rate, see theory.Environment. When a trained policy routes, coins for assimilation
// are thrown by problem, run and call; that share is not thrown but scored by its expectation. A second call of an expert
// gets the answer of the first, which is all that recorded outcomes hold, and is paid again.
type Training struct {
	Name     string // names streams of random numbers, and the training in errors
	Horizon  int    // calls at most
	Selects  bool   // an expert's answer may be handed over as it is
	Reward   theory.Reward
	Learning theory.Training             // without cold start, log and seed
	Unit     func(usd []float64) float64 // dollars -> the unit of the reward's costs; usd are the mean dollars of a call [M]
	Decoding string                      // sample, or the likeliest move
	Anchor   *spec.Anchor                // on the first move, the router among the experts, free and with its own pass rate; nil: none

	Assimilation float64 // probability that the router uses what an expert tells it
	Distraction  float64 // share of its own rate that a call takes whose answer it does not use
	ColdStart    float64 // probability of asking before the reinforcement learning, in every state
	FormatFail   float64 // probability that a call is malformed

	Penalty float64         // of the regressions that a network sees
	Texts   *features.Texts // what fits have read; nil: no memory
	Fits    *predict.Fits   // regressions that were fitted; nil: no memory
	Decoder *Decoder        // nil: a small network
}
