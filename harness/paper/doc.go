// Package paper holds a paper to its own numbers and to measurements.
//
// # Claims
//
// A claim is a sentence with a number or a comparison in it, and the formula that recomputes it from the paper's own
// tables. It holds if the printed number can be the recomputed one, given that both it and the cells it comes from
// are rounded; it is a mismatch if it cannot; it has the wrong unit if it can in another unit alone, whose formula the
// claim has as its slip; it is not checkable if no table holds what it is made of, or if the sentence prints nothing that
// a number could contradict.
//
// The tolerance is half a unit of the last printed digit of the claim, plus what rounding can have hidden in the cells:
// each may lie anywhere within half a unit of its own last digit, though no cost below 0 and no percentage above 100,
// and the combination that moves the result most counts. A claim about rows that were drawn at random states the
// sampling noise it is allowed besides ("allow").
//
// Formulas:
//
//	98.3, 1e-3                          numbers
//	+ - * / ( )                         arithmetic
//	accuracy(table, row, benchmark)     a printed cell, in percent; benchmark avg is the printed average
//	usd(table, row, benchmark)          a printed cell: dollars of one pass; avg: dollars per query
//	cell(table, row, benchmark, unit)   a printed cell in any unit, such as apgr; not on measurements
//	mean(table, row[, benchmark...])    accuracy averaged over questions, from the cells, without the printed average
//	total(table, row[, benchmark...])   dollars of one pass over the benchmarks
//	query(table, row[, benchmark...])   dollars per question, from the cells
//	retention(table, row, strongest)    mean in percent of the strongest expert's
//	saving(table, row, strongest)       by how many percent total is below the strongest expert's
//	gain(table, row, fixed...)          points of mean above the hull of the rows named after it, at the same query;
//	                                    an expert of another table is written table:row
//	lead(table, row[, row...])          the least by which the row is more accurate than any other on any benchmark,
//	                                    the rows named after it left out
//	share(table, row, stratum, expert)  percent of a stratum's questions that go to an expert: on measurements alone
//	min(x, ...), max(x, ...)
//	x > y, >=, <, <=, joined by and     a comparison: it holds if it can be true of the unrounded numbers
//	                                    (of several parts the one nearest to failing is printed)
//
// Names are those of the measurement files: usd(alpha, entrorouter/alpha=0.6, aime25).
//
// Two checks run over every table: every printed average is recomputed from its cells, where the table has them, and
// every printed percentage is tried as k/(questions x runs) for whole k (the granularity test of Brown and Heathers
// 2017). Averages are over questions, or over benchmarks, each of which counts as much, if all of a table are. A folder of tables without a list of claims gets these alone. On our measurements, where a line has counts of
// answers and is a mean over training seeds, both are sharper; the documentation of Measurements.CheckTables says what
// is tried and what is left out.
//
// Three more run where the list of claims asks for them, since a folder of tables does not say what they need:
//
//   - A row that several tables print (repeated) has the same cells in all of them, to the digits of the coarser one. Of
//     cells that differ the one is named that most others contradict. Averages are compared where they are over the same
//     benchmarks.
//   - The cost of an expert (costs), divided by its price, is a number of tokens per question: above 0, within the limit of an
//     answer, and not further from the other experts' than a stated factor, since they answer the same questions. With the
//     right prices that puts them in order of cost as well. A row that asks one of them each time costs no less than the
//     cheapest and no more than the dearest. A uniform choice costs their mean, give or take two standard errors of so many
//     draws; lengths are taken to spread as much as their mean, which is more than they do. Prices that were inferred from
//     the same costs can tell a cell that leaves the others, and not that all are wrong by one factor.
//   - Every row and column adds up to its control total (totals), which was read from the paper and not from the files. It
//     is what finds an error of transcription that nothing in the paper contradicts: a cell that was mistyped moves one row
//     and one column, which name it.
//
// # Claims on our measurements
//
// A claim with the key ours is evaluated on every simulated and recorded scale that has its rows, or on the scales that
// it names where it means nothing on others; its formula may be another one there (share). It gets one of the five
// verdicts of orderings:
//
//   - A printed number is confirmed if our whole interval lies within a margin of it, which the claim states with its reason;
//     it is refuted if all of it lies outside; otherwise the verdict is inconclusive. Without a margin the number itself would have to
//     be hit: then ever more seeds would refute every claim, however near it is.
//   - A comparison is judged as an ordering is. One with several parts (and; above the greatest, or below the least, of
//     several numbers; a lead) is confirmed if every part is, and refuted if one is; the least favourable part is the
//     one that is printed. Parts about rows that a scale does not have are left out.
//   - What needs a language model or an assumption is untestable here or assumed, as for orderings.
//   - A number without a printed one to be held against has no verdict.
//
// Retention, saving, hull gain and the difference of two rows have the interval that the measurements give them, question
// by question. Retention on recorded answers is made of the paired difference to the strongest expert and of that expert's
// accuracy, and saving of both rows' costs where the strongest is not the dearest. A printed number that a router has because it always asks one expert
// is that expert's: it is inconclusive where it would be confirmed. Whatever else a formula makes of measured numbers has the interval of independent errors: each number in turn
// goes to the ends of its own interval, and what that moves the result by is added in quadrature, to either side (MOVER).
// That is too wide for numbers of the same questions wherever they are subtracted or divided. The spread over training
// seeds is added as for orderings: the t interval of the result seed by seed.
//
// # Orderings
//
// An ordering is a sentence that puts one row above another, or says that they are level. On measurements it gets one
// of five verdicts, by the interval of the difference:
//
//	confirmed           the interval lies on the side that the sentence names; for a level, inside its margin
//	refuted             it lies on the other side; for a level, outside the margin
//	inconclusive        anything else: it covers 0, or is 0 from end to end, as that of two routers that decide alike (printed as
//	                    level); there is no interval; a row was trained once; or a router that would confirm the sentence always asks
//	                    the strongest expert
//	untestable here     the sentence is about what a component does to a fine-tuned language model (soft supervision,
//	                    gate, anchor). A small classifier has no language-model drift to be protected from: what it
//	                    shows is printed beside the verdict and decides nothing
//	assumed             the order follows from a stated parameter (the assimilation probability, the skill of a router
//	                    LLM, the calibration of simulated experts) and not from a measurement
//
// A missing measurement has no verdict: its cell says "not run".
//
// A file of orderings may say why a number of one simulated pool decides nothing (one-pool): what a router gains there
// follows from knobs that nobody measured. Then claims and orderings on simulated scales are assumed. Which of two rows that learn
// (learners) is ahead no knob fixes: on one pool that is inconclusive, and verdicts are given on scales of
// kind ensemble, which hold many pools over which those knobs vary. There the sign of the number counts, pool by pool: a
// sentence is confirmed if it is true on at least 95% of the pools, refuted if on at most 5%, and else inconclusive. Such a
// scale names the rows that it is asked about; a sentence about a row that the calibration fixes, such as an expert, is not among them.
//
// Many verdicts are given at once, each at 95%, so that a few fall by chance. Where a difference with an interval decides,
// the verdict has a p value: twice the least tail at which the interval, made in the same way with other quantiles, would
// still decide; it is no less than 0.001, since resamples and seeds are few. Two adjusted values stand beside it: Holm's,
// within a section on one scale, and Benjamini and Hochberg's, over all orderings and scales, which supposes positive
// dependence. They change no verdict. Beside them stand the difference that would have been told with 80% power, which is how far the
// interval goes from the number at a tail of 2.5% and at one of 20% together, on the side where that is more, and the number of
// questions that both rows were scored on.
// Rows that are level, single trainings, verdicts at equal cost beside an accuracy and claims have none of it, and are not among
// the verdicts that are adjusted for. Rows that always ask the strongest, and trade-offs in which neither row leads or both do, have p 1:
// they might have decided, and leaving them out for what came of them would flatter the others.
//
// On simulated scales and recorded answers the difference is the paired one if one of the rows is the row that
// measurements take differences from; otherwise the two intervals are combined as those of independent numbers (MOVER,
// Zou and Donner 2008), which for rows on the same questions is too wide rather than too narrow. Intervals
// of measurements hold the spread over questions and that over training seeds. Where lines of single seeds tell the second
// it is taken out of them first, and that of the differences seed by seed is put in its place: a t interval, combined with the
// rest as independent errors are, by the root of the sum of squares on each side. Three seeds make wide intervals, since the
// quantile is 4.3. Partitions of recorded answers are no such seeds: the intervals as they were measured hold the bound of
// metrics.MeanOfPartitions. A p value tells it from the error of questions, and goes by Student's t of the partitions for it; where no line
// tells what partitions add (costs, and leads over a row that is not the reference) the whole interval does, which makes p too great rather
// than too small. All of this supposes that measurements have the confidence 0.95, as in the built-in specs.
//
// A row that trains nothing has lines of single seeds on recorded answers too, one for each partition of the questions. It
// is known by its accuracy, which is the same in all of them.
//
// A row that was trained once on a scale of simulated or recorded answers says nothing about another training: its
// verdicts are inconclusive, and its numbers are marked "trained once", with the interval over questions. It is known by
// lines of one seed, or in what 'run' wrote by the lack of any; rows that have the same accuracy under several seeds
// elsewhere train nothing and are judged, as those are that the list of orderings calls seedless. A row that was trained
// more than once is judged by the mean over its trainings.
//
// On the scales training and environment no question was drawn: low and high of a measurement there are the least and the
// most over training seeds, which make no interval. The difference has the t interval of the differences seed by seed,
// also between two steps of one row; with fewer than two seeds on either side it has none and is inconclusive. So it is of
// what language models go through in training on recorded answers, where folds are the trainings; the variance is that of
// metrics.MeanOfPartitions, since they share what they learn from.
//
// Accuracy can be bought. Beside the verdict on an accuracy stands the one at equal cost (EqualCost): whether the row that is to be
// above lies, at its own cost, above what one would have for the same money without it: the best coin between the other
// row, at any setting of its knob, and the fixed experts, and the router alone where either row may answer itself. The interval is made
// in the same way, from the lead that measurements hold, and no other number is read for it; where they hold none it is blank.
// Two rows may each lead over the other, each at its own cost. Which of two rows has the better trade-off (metric: equal-cost) is the one that
// leads where it stands, if the other does not; the number is the greater of both leads, with a minus if it is the second row's. Hull gains of
// two rows, each at its own cost, are not compared at all. A router that spends at least 99% of what the strongest expert does is that
// expert: where it would confirm that it is more accurate, and leads at no equal cost, the verdict is inconclusive, in claims as in orderings.
// Nobody who takes a hundredth of the money elsewhere moves accuracy by much more than a point, which is what the paper's sentences call
// level. A sentence about an expert itself (experts) is judged as it stands.
//
// Who the strongest expert is, the main rows of recorded answers measure; the paper takes the dearest, and counts it as always right in Stage II. What it
// says of its router is therefore judged twice on a pool: on the main rows, and on scales whose rows follow its rule. A scale states the sentences about
// rows that it names, and one with a rule none about two experts.
//
// # Digest
//
// The digest is a line for each of the sentences that a reader comes for: its list says which claims and orderings stand
// behind a line. Of several the least favourable verdict counts, and a line is assumed or untestable here if one of them is.
// Recorded answers give, for each, the number of pools with each verdict, simulated scales the last one that has it.
// Beside every printed number stand its margin and ours.
package paper
