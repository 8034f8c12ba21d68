// What a router with a knob chooses at every setting.

package book

import "slices"

// Sweep is what a router with a knob chooses on a list of queries at every setting, dearest first. A choice changes a few
// times along some hundred settings, so changes are what is kept.
type Sweep struct {
	Queries  []Swept
	Settings int
}

// Swept is one query's choices.
type Swept struct {
	Problem string
	Run     int
	First   int // expert at the first setting
	Turns   []Turn
}

// Turn says that from a setting on another expert is chosen.
type Turn struct{ Setting, Expert int }

// At returns the choice at a setting.
func (q Swept) At(setting int) int {
	expert := q.First
	for _, t := range q.Turns {
		if t.Setting > setting {
			break
		}
		expert = t.Expert
	}
	return expert
}

// Until returns the first setting at which an expert is chosen; settings, the number of them, if it never is.
func (q Swept) Until(expert, settings int) int {
	if q.First == expert {
		return 0
	}
	if k := slices.IndexFunc(q.Turns, func(t Turn) bool { return t.Expert == expert }); k >= 0 {
		return q.Turns[k].Setting
	}
	return settings
}
