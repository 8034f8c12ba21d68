// Package cost counts tokens and turns them into dollars.
package cost

// Usage is what one or more completions consumed. Out includes reasoning tokens, which providers bill as output.
type Usage struct {
	In, Out int64 // tokens
}

// MaxTokens is more than a model of today reads or writes at once, and few enough that no sum of them overflows.
const MaxTokens = 10_000_000

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage { return Usage{In: u.In + v.In, Out: u.Out + v.Out} }

// Price is in USD per million tokens.
type Price struct {
	In  float64 `yaml:"in" in:"[0,1000000]"`
	Out float64 `yaml:"out" in:"[0,1000000]"`
}

// USD returns the dollars of a usage. The paper's cost formula (section 2.1) counts output tokens only;
// countInput adds the input tokens, as a provider's bill does.
func (p Price) USD(u Usage, countInput bool) float64 {
	d := p.Out * float64(u.Out)
	if countInput {
		d += p.In * float64(u.In)
	}
	return d / 1e6
}
