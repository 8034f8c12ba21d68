// What a router with a knob gets and pays at every setting, under any weights of the questions.

package metrics

import "slices"

// KnobCurve is what a router with a knob gets and pays at every setting, as a function of the weights of the questions.
// A question changes a few times along some hundred settings, so changes are what is kept.
type KnobCurve struct {
	first    []Point // [P] at the first setting
	changes  []change
	settings int
}

type change struct {
	question, setting int32
	by                Point
}

// NewKnobCurve starts with what each question [P] gets and costs at the first of the settings.
func NewKnobCurve(settings int, first []Point) *KnobCurve {
	return &KnobCurve{first: first, settings: settings}
}

// Change says that from a setting on a question gets and costs more by so much.
func (c *KnobCurve) Change(question, setting int, by Point) {
	c.changes = append(c.changes, change{int32(question), int32(setting), by})
}

// Under fills curve [J] with the points of all settings, in their order, under weights [P] that sum to 1.
func (c *KnobCurve) Under(weights []float64, curve []Point) {
	clear(curve)
	for p, at := range c.first {
		curve[0].Cost += weights[p] * at.Cost
		curve[0].Quality += weights[p] * at.Quality
	}
	for _, x := range c.changes {
		w := weights[x.question]
		if w == 0 { // a resample leaves out a third of the questions
			continue
		}
		at := &curve[x.setting]
		at.Cost += w * x.by.Cost
		at.Quality += w * x.by.Quality
	}
	for j := 1; j < len(curve); j++ {
		curve[j].Cost += curve[j-1].Cost
		curve[j].Quality += curve[j-1].Quality
	}
}

// Same says whether another router gets and pays the same at every setting.
func (c *KnobCurve) Same(o *KnobCurve) bool {
	return c.settings == o.settings && slices.Equal(c.first, o.first) && slices.Equal(c.changes, o.changes)
}

// Settings returns the number of settings.
func (c *KnobCurve) Settings() int { return c.settings }

// At returns what every question gets and costs at one setting, [P].
func (c *KnobCurve) At(setting int) []Point {
	at := slices.Clone(c.first)
	for _, x := range c.changes {
		if int(x.setting) <= setting {
			at[x.question].Cost += x.by.Cost
			at[x.question].Quality += x.by.Quality
		}
	}
	return at
}
