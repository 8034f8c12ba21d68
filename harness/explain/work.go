// What steps cost: routers to fit, answers to ask for, time and room.

package explain

import "context"

// work adds what a step costs. An answer that a counted step asks for too costs nothing again.
func (x *explainer) work(ctx context.Context, w *Work, s *Step, counted []*Step) error {
	w.Fits += s.Fits
	if s.Asking {
		w.Routing++
	}
	takes := x.estimate(s)
	w.Seconds += takes.Seconds
	if !takes.Known {
		w.Untimed++
	}
	if s.Asks == nil {
		return nil
	}
	asked, err := s.Asks(ctx, counted)
	w.Asked = w.Asked.Add(asked)
	if asked.Tokens == 0 { // simulated
		w.Seconds += x.pace.of(answerKind, float64(asked.Rollouts), 0, false).Seconds
	}
	return err
}

// estimate is what a step takes, apart from answers that it asks for.
func (x *explainer) estimate(s *Step) Estimate {
	return x.pace.of(s.kind(), s.Amount, s.Training, s.Unpaced)
}

// Pending is a step that is to be made.
type Pending struct {
	Name    string
	Seconds float64 // about how long it takes, apart from answers that it asks for; 0: nobody knows
}

// Pending says of steps that are to be made how long they take.
func (p *Plan) Pending(todo []*Step) (all []Pending, err error) {
	if len(todo) == 0 {
		return nil, nil
	}
	x := &explainer{plan: p}
	if x.pace, err = p.pace(); err != nil {
		return nil, err
	}
	for _, s := range todo {
		all = append(all, Pending{Name: s.Name, Seconds: x.estimate(s).Seconds})
	}
	return all, nil
}
