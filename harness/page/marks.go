// Marks: signs of their own form for verdicts on sentences and answers, so that nothing depends on colour.

package page

import "github.com/entrorouter/entrorouter/harness/paper"

// mark is a verdict as a sign of its own form, so that it does not depend on colour.
type mark struct{ Word, Sign, Class string }

// kind is a mark and what it means.
type kind struct {
	mark
	Means string
}

// kinds are the verdicts, with the signs of the README's table.
var kinds = []kind{
	{mark{paper.Confirmed, paper.Sign(paper.Confirmed), "yes"}, "the interval lies where the sentence says"},
	{mark{paper.Refuted, paper.Sign(paper.Refuted), "no"}, "the interval lies on the other side"},
	{mark{paper.Inconclusive, paper.Sign(paper.Inconclusive), "open"}, "the interval does not decide, both rows are level, or the better one always asks the strongest expert"},
	{mark{paper.Assumed, paper.Sign(paper.Assumed), "given"}, "it follows from a number of the simulation that was put in"},
	{mark{paper.Untestable, paper.Sign(paper.Untestable), "given"}, "about what a part does to a language model in fine-tuning"},
	{mark{paper.NotRun, "…", "none"}, "there is no measurement"},
	{mark{paper.Holds, paper.Sign(paper.Holds), "yes"}, "of the paper's own tables: the printed number follows from them"},
	{mark{paper.Mismatch, paper.Sign(paper.Mismatch), "no"}, "of the paper's own tables: it does not"},
	{mark{paper.WrongUnit, paper.Sign(paper.WrongUnit), "no"}, "of the paper's own tables: it does in another unit"},
	{mark{paper.NotCheckable, paper.Sign(paper.NotCheckable), "open"}, "of the paper's own tables: no table has what it is made of"},
}

// markOf is the sign of a verdict; nothing of none.
func markOf(verdict string) mark {
	if verdict == paper.NotStated {
		return mark{}
	}
	for _, k := range kinds {
		if k.Word == verdict {
			return k.mark
		}
	}
	return mark{verdict, paper.Sign(paper.Inconclusive), "open"}
}
