// Parses an answer.

package formula

// Answers as trees.

import (
	"errors"
	"strings"
)

// Parse parses an answer: its formula, a second reading where commas or spaces between digits are ambiguous, or words.
func Parse(s string, steps *Budget, run series) ([]*Node, error) {
	if len(s) > MaxAnswer {
		return nil, ErrTooLarge
	}
	steps.Spend(len(s))
	s = notation(Tidy(Fold(Restored(s))))
	if parts := labelledParts(s); parts != nil {
		return parsedParts(parts, steps, run)
	}
	spoken := NormalWords(s)
	if n := phrase(spoken); n != nil {
		return []*Node{n}, nil
	}
	if n := except(s, steps, run); n != nil {
		return []*Node{n}, nil
	}
	if n := quantified(s, steps, run); n != nil {
		return []*Node{n}, nil
	}
	var readings []*Node
	if text, short := worded(s, spoken); text {
		readings = append(readings, &Node{Kind: KindText, Name: spoken, Args: listed(UnwrapText(s))})
		if !short {
			return readings, nil
		}
	}
	tokens, grouped, err := lex(s, true)
	if err != nil {
		return nil, err
	}
	n, err := formula(tokens, steps, run)
	var q Qualification
	switch {
	case err == nil:
		readings = append(readings, n)
		if n.Kind == KindList && n.Name == "and" && len(n.Args) == 2 && mixed(n.Args[0], n.Args[1], token{kind: tokenNumber}) { // 3 and 1/4
			readings = append(readings, Apply(KindAdd, n.Args...))
		}
	case err == ErrTooLarge || errors.As(err, &q) && len(readings) == 0:
		return nil, err
	}
	if grouped {
		if tokens, _, err = lex(s, false); err == nil {
			if n, err := formula(tokens, steps, run); err == nil {
				readings = append(readings, n)
			}
		}
	}
	if len(readings) > 0 {
		return readings, nil
	}
	if n := words(s); n != nil {
		return []*Node{n}, nil
	}
	return nil, ErrSyntax
}

func Integer(s string) (int64, bool) {
	negative := strings.HasPrefix(s, "-")
	if negative {
		s = s[1:]
	}
	if s == "" || len(s) > 18 {
		return 0, false
	}
	var n int64
	for i := 0; i < len(s); i++ {
		if !Digit(s[i]) {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
