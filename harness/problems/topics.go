// The topics of both families, in their fixed order.

package problems

// mathTopics lists the topics of family Math. The order is part of every draw: append only.
func mathTopics() []*topic {
	return []*topic{arith(), algebra(), numtheory(), counting(), geometry(), seqcalc(), linalg(), logicword()}
}

// choiceTopics lists the topics of family Choice. The order is part of every draw: append only.
func choiceTopics() []*topic {
	return []*topic{physics(), chemistry(), genetics(), logic(), finance(), units(), dates(), codes()}
}
