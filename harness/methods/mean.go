// Row kind mean: what other rows expect of the experts, averaged.

package methods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// mean averages the pass rates and dollars that two or more rows expect of the experts on a question, each with the same say, and picks
// argmax_m p(m) - mu*usd(m), mu being its knob, as they do. Every row is fitted as it would be alone.
//
// The exported fields are its recipe.
type mean struct {
	Of []averaged `yaml:"of"`
}

// averaged is a row in a mean.
type averaged struct {
	Name   string         `yaml:"name"`
	Method routing.Method `yaml:"params"`
}

func newMean(s Setup, build builder) (routing.Method, error) {
	var params struct {
		Of []member `yaml:"of"`
	}
	if err := spec.DecodeParams(s.Method, &params); err != nil {
		return nil, err
	}
	return meanOf(s, "of", params.Of, build)
}

// member is a row of a mean as params have it.
type member struct {
	Name   string    `yaml:"name"` // kind of row
	Params yaml.Node `yaml:"params,omitempty"`
}

// meanOf is the mean of the rows that a parameter names.
func meanOf(s Setup, param string, rows []member, build builder) (*mean, error) {
	if len(rows) < 2 {
		return nil, paramFault(s.Method, param, "%d rows; a mean is of two at least", len(rows))
	}
	m := &mean{}
	for i, row := range rows {
		at := fmt.Sprintf("%s[%d]", param, i)
		of := s
		of.Method = spec.Method{Name: row.Name, Params: row.Params, File: s.Method.File, Line: s.Method.Params.Line, Path: s.Method.Path + ".params." + at}
		method, err := build(of)
		if errors.Is(err, errUnknown) {
			return nil, paramFault(s.Method, at+".name", "%v", err)
		}
		if err != nil {
			return nil, err
		}
		if !TraitsOf(method).weighs {
			return nil, paramFault(s.Method, at+".name", "row kind %s, set so, does not weigh pass rates against dollars that it expects, so there is nothing to average; want logistic, bag, difficulty or knn without guard", row.Name)
		}
		m.Of = append(m.Of, averaged{row.Name, method})
	}
	return m, nil
}

func (*mean) Name() string { return "mean" }

func (*mean) traits() Traits {
	return Traits{Allowance: Allowance{Reads: "what the rows that it averages read", Chooses: "what they choose"}, weighs: true}
}

// memberDir is where the fit of a member leaves what it learned.
func memberDir(dir string, i int) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, fmt.Sprintf("of-%d", i))
}

func (m *mean) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(m, train)
	if err != nil {
		return nil, err
	}
	routing.InHashOrder(examples)
	var of average
	of.USD, _ = routing.Means(examples, len(train.Experts))
	routers, err := m.each(work, func(method routing.Method, _ int, work routing.Work) (routing.Router, error) {
		return method.Fit(ctx, train, work)
	})
	if err != nil {
		return nil, err
	}
	return predict.Keep(train.Experts, work, of, m.router(routers))
}

// Load implements Loader.
func (m *mean) Load(ctx context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	routers, err := m.each(work, func(method routing.Method, i int, work routing.Work) (routing.Router, error) {
		return method.(Loader).Load(ctx, experts, memberDir(from, i), work)
	})
	if err != nil {
		return nil, err
	}
	return predict.Restore(experts, from, work, m.router(routers))
}

// each makes the router of every row, each with a folder of its own.
func (m *mean) each(work routing.Work, get func(method routing.Method, i int, work routing.Work) (routing.Router, error)) (routers []predict.Rates, err error) {
	for i, of := range m.Of {
		own := work
		if own.Dir = memberDir(work.Dir, i); own.Dir != "" {
			if err := os.Mkdir(own.Dir, 0o777); err != nil {
				return nil, err
			}
		}
		r, err := get(of.Method, i, own)
		if err != nil {
			return nil, fmt.Errorf("method mean: %w", err)
		}
		routers = append(routers, r.(predict.Rates))
	}
	return routers, nil
}

// average is what a fit learns beside what its rows do.
type average struct {
	USD []float64 `json:"usd"` // [M] means on the training problems
}

// router weighs the mean of what routers expect.
func (m *mean) router(of []predict.Rates) func(average) (routing.Router, error) {
	return func(learned average) (routing.Router, error) {
		usd := learned.USD
		return predict.NewUtility(len(usd), predict.DollarUnit(usd), func(ctx context.Context, texts []string) ([]predict.Scores, error) {
			all := make([]predict.Scores, len(texts))
			for i := range all {
				all[i] = predict.Scores{Pass: make([]float64, len(usd)), USD: make([]float64, len(usd))}
			}
			for _, r := range of {
				found, err := r.Expects(ctx, texts)
				if err != nil {
					return nil, err
				}
				for i, s := range found {
					for k := range usd {
						all[i].Pass[k] += s.Pass[k] / float64(len(of))
						all[i].USD[k] += s.USD[k] / float64(len(of))
					}
				}
			}
			return all, nil
		}), nil
	}
}
