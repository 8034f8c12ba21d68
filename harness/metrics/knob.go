// What a router with a knob gets and pays at every setting, under any weights of the questions.

package metrics

import "slices"

// KnobCurve is what a router with a knob gets and pays at every setting, as a function of the weights of the questions.
// A question changes a few times along some hundred settings, so changes are what is kept.
type KnobCurve struct {
	quality, cost []float64 // [P] at the first setting
	changes       []change
	settings      int
}

type change struct {
	question, setting int32
	by                Point
}

// NewKnobCurve starts with what each question [P] gets and costs at the first of the settings.
func NewKnobCurve(settings int, first []Point) *KnobCurve {
	c := &KnobCurve{quality: make([]float64, len(first)), cost: make([]float64, len(first)), settings: settings}
	for p, at := range first {
		c.quality[p], c.cost[p] = at.Quality, at.Cost
	}
	return c
}

// Change says that from a setting on a question gets and costs more by so much.
func (c *KnobCurve) Change(question, setting int, by Point) {
	c.changes = append(c.changes, change{int32(question), int32(setting), by})
}

// First returns what every question gets and costs at the first setting, [P].
func (c *KnobCurve) First() (quality, cost []float64) { return c.quality, c.cost }

// Under fills curve [J] with the points of all settings, in their order, under weights [P] that sum to 1. first is that of the
// first setting, which many routers share.
func (c *KnobCurve) Under(first Point, weights []float64, curve []Point) {
	clear(curve)
	curve[0] = first
	for _, x := range c.changes {
		w, at := weights[x.question], &curve[x.setting]
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
	return c.settings == o.settings && slices.Equal(c.quality, o.quality) && slices.Equal(c.cost, o.cost) && slices.Equal(c.changes, o.changes)
}

// Settings returns the number of settings.
func (c *KnobCurve) Settings() int { return c.settings }

// At returns what every question gets and costs at one setting, [P].
func (c *KnobCurve) At(setting int) []Point {
	at := make([]Point, len(c.quality))
	for p := range at {
		at[p] = Point{Quality: c.quality[p], Cost: c.cost[p]}
	}
	for _, x := range c.changes {
		if int(x.setting) <= setting {
			at[x.question].Cost += x.by.Cost
			at[x.question].Quality += x.by.Quality
		}
	}
	return at
}
