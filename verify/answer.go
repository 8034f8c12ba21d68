package verify

// Answers as trees.

import "errors"

// parse parses an answer: its formula, a second reading where commas or spaces between digits are ambiguous, or words.
func parse(s string, steps *budget, run series) ([]*node, error) {
	if len(s) > maxAnswer {
		return nil, errTooLarge
	}
	steps.spend(len(s))
	s = notation(tidy(fold(restored(s))))
	if n := phrase(s); n != nil {
		return []*node{n}, nil
	}
	if n := except(s, steps, run); n != nil {
		return []*node{n}, nil
	}
	var readings []*node
	if text, short := worded(s); text {
		readings = append(readings, &node{kind: kindText, name: normalWords(s)})
		if !short {
			return readings, nil
		}
	}
	tokens, grouped, err := lex(s, true)
	if err != nil {
		return nil, err
	}
	n, err := formula(tokens, steps, run)
	var q qualification
	switch {
	case err == nil:
		readings = append(readings, n)
	case err == errTooLarge || errors.As(err, &q) && len(readings) == 0:
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
		return []*node{n}, nil
	}
	return nil, errSyntax
}
