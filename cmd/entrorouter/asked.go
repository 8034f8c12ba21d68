// Answers that are to be asked for, in words.

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/entrorouter/entrorouter/harness/explain"
)

// askedText says how many answers are to be asked for, and what they are expected to cost.
func askedText(a explain.Asked) string {
	most := func(is bool) string {
		if is {
			return "at most "
		}
		return ""
	}
	if a.Tokens == 0 {
		return fmt.Sprintf("%s%d (simulated)", most(a.AtMost), a.Rollouts)
	}
	takes := ""
	if h := a.Longest(); h > 0 {
		takes = ", " + hoursText(h)
		if len(a.Unpaced) > 0 {
			takes += " without " + strings.Join(slices.Sorted(maps.Keys(a.Unpaced)), ", ") + ", whose speed is not known"
		}
	}
	return fmt.Sprintf("%s%d (%s%s tokens, $%.2f%s)", most(a.AtMost), a.Rollouts, most(a.Bound || a.AtMost), rounded(a.Tokens), a.USD, takes)
}

// takesText says about how long work takes, answers included as far as the speed of their models is known.
func takesText(w explain.Work) string {
	seconds := w.Seconds + w.Longest()*3600
	text := "about " + hoursText(seconds/3600)
	if seconds < 100 {
		text = fmt.Sprintf("about %.0f s", max(1, seconds))
	}
	var without []string
	if len(w.Unpaced) > 0 {
		without = append(without, "answers of models whose speed is not known")
	}
	if w.Untimed > 0 {
		without = append(without, counted(w.Untimed, "1 step", "%d steps")+" that nobody knows the time of")
	}
	if without != nil {
		text += " without " + strings.Join(without, " and ")
	}
	return text
}

// hoursText writes hours in two digits as a person does.
func hoursText(h float64) string {
	switch {
	case h < 2:
		return counted(max(1, int(math.RoundToEven(h*60))), "1 minute", "%d minutes")
	case h < 9.95:
		return fmt.Sprintf("%.1f hours", h)
	}
	two, _ := strconv.ParseFloat(strconv.FormatFloat(h, 'e', 1, 64), 64) // what it wrote
	return message.NewPrinter(language.English).Sprintf("%d hours", int64(two))
}

// rounded writes a number of tokens with a unit.
func rounded(n float64) string {
	switch {
	case n >= 999.5e6:
		return fmt.Sprintf("%.3gG", n/1e9)
	case n >= 999.5e3:
		return fmt.Sprintf("%.3gM", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.3gk", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}
