// How far runs of the same question and candidate agree: what a single recorded answer is worth as a label.

package recording

// Noise says how far runs of a candidate on the same question agree, over the questions that it has several of.
type Noise struct {
	Questions int     // with two runs or more
	Runs      int     // on these
	Disagree  float64 // share of pairs of runs of a question of which one is right and one is wrong, the mean over questions
	Total     float64 // variance of the label of one run of a question drawn from these
}

// Noise compares the runs of candidate a.
func (t *Table) Noise(a int) (n Noise) {
	var right float64
	for q := range t.Queries {
		runs := t.Runs[q][a]
		k := float64(len(runs))
		if k < 2 {
			continue
		}
		p := PassRate(runs)
		n.Questions, n.Runs = n.Questions+1, n.Runs+len(runs)
		n.Disagree += 2 * p * (1 - p) * k / (k - 1) // pairs of a right and a wrong one, k p k(1-p), of k(k-1)/2
		right += p
	}
	if n.Questions > 0 {
		n.Disagree /= float64(n.Questions)
		right /= float64(n.Questions)
		n.Total = right * (1 - right)
	}
	return n
}

// Reliability is the share of the variance of a label that is between questions and not between runs of the same: of a mean of
// that many runs, by Spearman and Brown. It is below 0 where runs of a question agree less than those of any two. Not ok: no
// question has two runs, or all runs are alike.
func (n Noise) Reliability(runs float64) (share float64, ok bool) {
	if n.Questions == 0 || n.Total == 0 {
		return 0, false
	}
	one := 1 - n.Disagree/2/n.Total
	if one <= 0 {
		return one, true
	}
	return runs * one / (1 + (runs-1)*one), true
}
