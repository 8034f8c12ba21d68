// What steps cost that are to do: routers to fit, answers to ask for.

package explain

import "maps"

// Work is what steps cost that are to do.
type Work struct {
	Fits int `json:"fits"` // routers to fit, one a training seed or fold
	Asked
	Routing int `json:"routing,omitempty"` // fits among Fits that ask language models for every decision, which Rollouts leaves out

	Seconds float64 `json:"seconds,omitempty"` // about, without answers of servers
	Untimed int     `json:"untimed,omitempty"` // steps whose seconds nobody knows
}

func (w *Work) add(v Work) {
	w.Fits += v.Fits
	w.Routing += v.Routing
	w.Seconds += v.Seconds
	w.Untimed += v.Untimed
	w.Asked = w.Asked.Add(v.Asked)
}

// Asked is answers to ask for, with what they are expected to cost: by the mean of what the same model answered before, or, where
// Bound says so, by its token limit.
type Asked struct {
	Rollouts int     `json:"rollouts"`
	AtMost   bool    `json:"at_most,omitempty"` // Rollouts is a bound: problems that are not made yet may have answers already
	Tokens   float64 `json:"tokens,omitempty"`  // in and out
	USD      float64 `json:"usd,omitempty"`     // prompts included
	Bound    bool    `json:"bound,omitempty"`   // some model has answered nothing so far: tokens and dollars are the most it can take

	Hours   map[string]float64 `json:"hours,omitempty"`          // by model, as fast as it answered before. All are asked at the same time
	Unpaced map[string]float64 `json:"unpaced_tokens,omitempty"` // Tokens by model that has answered nothing, so that nobody knows how fast it is
}

// Longest is how many hours the slowest of the models takes whose speed is known; 0 if none is.
func (a Asked) Longest() (hours float64) {
	for _, h := range a.Hours {
		hours = max(hours, h)
	}
	return hours
}

// At is the same where servers of the models named take in and give so many tokens per second, all requests together: hours of models that
// have answered nothing.
func (a Asked) At(tokensPerSecond map[string]float64) Asked {
	hours, unpaced := maps.Clone(a.Hours), map[string]float64{}
	for model, tokens := range a.Unpaced {
		rate, ok := tokensPerSecond[model]
		if !ok {
			unpaced[model] = tokens
			continue
		}
		if hours == nil {
			hours = map[string]float64{}
		}
		hours[model] += tokens / rate / 3600
	}
	a.Hours, a.Unpaced = hours, unpaced
	return a
}

// Add returns the sum of two.
func (a Asked) Add(b Asked) Asked {
	return Asked{a.Rollouts + b.Rollouts, a.AtMost || b.AtMost, a.Tokens + b.Tokens, a.USD + b.USD, a.Bound || b.Bound, sums(a.Hours, b.Hours), sums(a.Unpaced, b.Unpaced)}
}

// sums adds numbers of the same name; nil where neither has one.
func sums(a, b map[string]float64) map[string]float64 {
	all := maps.Clone(a)
	for name, x := range b {
		if all == nil {
			all = map[string]float64{}
		}
		all[name] += x
	}
	return all
}
