package methods

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// logistic is the plain utility router that every learned router has to beat: for each expert one L2-penalised
// logistic regression of the pass rate and one ridge regression of the logarithm of the dollars, on the same text
// features as the compact policy. It picks argmax_m p(m) - mu*usd(m), and mu is its knob.
type logistic struct {
	L2   float64 `yaml:"l2" in:"(0,inf)"`             // penalty 1/2*L2*|w|^2 on the summed log loss; the bias is free
	Cost string  `yaml:"cost" oneof:"predicted mean"` // dollars of a question: predicted from the text, or the training mean

	policy spec.Policy
}

func newLogistic(s Setup) (routing.Method, error) {
	l := &logistic{L2: 10, Cost: "predicted", policy: s.Spec.Policy}
	return l, spec.DecodeParams(s.Method, l)
}

func (l *logistic) Name() string { return "logistic" }

func (l *logistic) Fit(ctx context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	examples := train.Examples()
	texts, ids := make([]string, len(examples)), make([]string, len(train.Experts))
	for i, e := range examples {
		texts[i] = e.Problem.Text
	}
	for m, e := range train.Experts {
		ids[m] = e.ID
	}
	features, err := lm.NewCompact(l.policy, ids, texts)
	if err != nil {
		return nil, err
	}
	rows, err := features.Encode(texts)
	if err != nil {
		return nil, err
	}
	width := 0
	for _, r := range rows {
		for _, id := range r.IDs {
			width = max(width, int(id)+1)
		}
	}
	r := &utilityRouter{features: features, cache: map[string]scores{}}
	usd, _ := means(examples, len(ids))
	r.unit = usd[len(usd)-1]
	y := make([]float64, len(examples))
	for m := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i, e := range examples {
			y[i] = e.Kappa[m]
		}
		w, err := regress(rows, y, width, l.L2, logLoss)
		if err != nil {
			return nil, fmt.Errorf("method logistic: pass rate of %s: %w", ids[m], err)
		}
		r.correct = append(r.correct, w)
		if l.Cost == "mean" {
			r.usd = append(r.usd, linear{bias: math.Log(usd[m])})
			continue
		}
		for i, e := range examples {
			y[i] = math.Log(max(e.USD[m], r.unit*1e-6))
		}
		w, err = regress(rows, y, width, l.L2, squaredLoss)
		if err != nil {
			return nil, fmt.Errorf("method logistic: dollars of %s: %w", ids[m], err)
		}
		// exp of a mean of logarithms is not a mean: rescale so that the training dollars come out.
		var got float64
		for _, row := range rows {
			got += math.Exp(w.at(row)) / float64(len(rows))
		}
		w.bias += math.Log(usd[m] / got)
		r.usd = append(r.usd, w)
	}
	return r, nil
}

// linear is a linear function of a sparse row.
type linear struct {
	weight []float64
	bias   float64
}

func (l linear) at(r lm.Row) float64 {
	z := l.bias
	for k, id := range r.IDs {
		if int(id) < len(l.weight) {
			z += l.weight[id] * float64(r.Values[k])
		}
	}
	return z
}

// logLoss is the cross-entropy of sigmoid(z) with a pass rate y in [0,1], and its derivative in z.
func logLoss(z, y float64) (loss, slope float64) {
	return math.Max(z, 0) - z*y + math.Log1p(math.Exp(-math.Abs(z))), sigmoid(z) - y
}

func squaredLoss(z, y float64) (loss, slope float64) { return (z - y) * (z - y) / 2, z - y }

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// regress minimises sum_i loss(w.x_i + b, y_i) + l2/2*|w|^2 with L-BFGS.
func regress(rows []lm.Row, y []float64, width int, l2 float64, loss func(z, y float64) (float64, float64)) (linear, error) {
	// Func and Grad are asked at the same point one after the other: compute both once.
	last := make([]float64, width+1)
	last[0] = math.NaN()
	grad := make([]float64, width+1)
	var value float64
	eval := func(x []float64) {
		same := true
		for i, v := range x {
			if v != last[i] {
				same = false
				break
			}
		}
		if same {
			return
		}
		copy(last, x)
		l := linear{weight: x[:width], bias: x[width]}
		value = 0
		for i, w := range l.weight {
			value += l2 / 2 * w * w
			grad[i] = l2 * w
		}
		grad[width] = 0
		for i, row := range rows {
			v, g := loss(l.at(row), y[i])
			value += v
			grad[width] += g
			for k, id := range row.IDs {
				grad[id] += g * float64(row.Values[k])
			}
		}
	}
	p := optimize.Problem{
		Func: func(x []float64) float64 { eval(x); return value },
		Grad: func(g, x []float64) { eval(x); copy(g, grad) },
	}
	settings := &optimize.Settings{
		MajorIterations:   200,
		GradientThreshold: 1e-6 * float64(len(rows)),
		Converger:         &optimize.FunctionConverge{Relative: 1e-8, Iterations: 3},
	}
	res, err := optimize.Minimize(p, make([]float64, width+1), settings, &optimize.LBFGS{})
	if err != nil && (res == nil || math.IsNaN(res.F)) {
		return linear{}, err
	}
	return linear{weight: res.X[:width], bias: res.X[width]}, nil
}

// utilityRouter picks argmax_m p(m) - mu*usd(m)/unit.
type utilityRouter struct {
	features lm.Policy
	correct  []linear // [M] logit of the pass rate
	usd      []linear // [M] logarithm of the dollars
	unit     float64  // mean dollars of the strongest in training

	cache map[string]scores // by text: a sweep asks for the same questions again and again
}

type scores struct{ correct, usd []float64 }

func (r *utilityRouter) Knobs() []float64 { return utilityKnobs() }

// Route ignores the price: knob 0.
func (r *utilityRouter) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return r.RouteAt(ctx, queries, 0)
}

func (r *utilityRouter) RouteAt(ctx context.Context, queries []routing.Query, mu float64) ([]routing.Decision, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var texts []string
	for _, q := range queries {
		if _, ok := r.cache[q.Problem.Text]; !ok {
			r.cache[q.Problem.Text] = scores{}
			texts = append(texts, q.Problem.Text)
		}
	}
	rows, err := r.features.Encode(texts)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		s := scores{make([]float64, len(r.correct)), make([]float64, len(r.correct))}
		for m := range r.correct {
			s.correct[m] = sigmoid(r.correct[m].at(row))
			s.usd[m] = math.Exp(r.usd[m].at(row))
		}
		r.cache[texts[i]] = s
	}
	return decide(queries, len(r.correct), func(_ int, q routing.Query) int {
		s := r.cache[q.Problem.Text]
		return utility(s.correct, s.usd, mu, r.unit)
	}), nil
}
