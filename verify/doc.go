// Package verify decides whether the response of a language model gives the same answer as the ground truth.
//
//	v := verify.Key{Gold: []string{`\frac12`}}.Grade(`so the probability is \boxed{0.5}`)
//	v.Outcome // verify.OutcomeEqual
//
// It imports nothing of the rest of this project, calls no other program and needs no computer algebra system. A
// verdict depends on its input alone: never on time, load, map order or goroutines. All functions are safe for
// concurrent use.
//
// # Verdicts
//
// A verdict is equal, different or unknown, with a reason code, the text that was extracted, the normal forms of both
// sides, the rule that decided and the kind of proof. Unknown means that the answer could not be read, or that neither equality nor
// difference could be shown within the limits; it is never silently "wrong". No answer at all is different with the
// reason ReasonNoAnswer.
//
// # Where the answer is looked for
//
// Only what follows the last </think>, or the mark that another family of models puts there, counts; a response that
// starts to think and never stops has no answer. The rest is divided into formulas, by their delimiters or, where there
// are none, by their tokens, and words; an answer is one or several whole formulas, never a part between two blanks. In
// this order:
//
//   - The last \boxed or \fbox: spaced, without braces around one token, nested, or without its closing brace. Boxes
//     with nothing but separators, "and" or "or" between them are one list. An empty last box is no answer, nor is one
//     that ends inside a group where the text was cut.
//   - The last announcement: "the answer is", "Answer:", "####", a JSON field "answer", in some twenty languages. The
//     formula that stands there, or the one of that sentence that it names by "is". An expression in unknowns, "our answer
//     is (A+B)/2", has the value that the text gives it later: "so that (A+B)/2 = 5".
//   - A last sentence that says that there is too little to go by, whatever numbers it mentions.
//   - Nothing, if the text breaks off after a word that ends no sentence, or in a sentence that has no formula.
//   - A list of bullets; else the formula that the text ends with, with the values that are listed before it, and its
//     unit and number words. It stands in no question, supposition or reference, is not denied, and is not merely the
//     reason or place of another, or what it counts: "the minimum is -4 at x = 2", "there are 12 ways to arrange 4 books". A
//     formula that cannot be read is unknown; no number inside it is taken.
//   - If the ground truth is words, a short response or the last sentence, without its formulas.
//
// What the text says of an answer after it counts, by one rule for boxes, announcements, formulas and choices: an answer
// that is called wrong is none, and one that is taken back gives way to the next; one that another is offered beside
// ("or maybe 6") is different from either.
//
// Where running text ends with E = c, its answer is c if the text says what E is, the question asks for E, or its
// unknowns have been found before; a chain ends in its last member.
//
// A box or bare answer that holds a sentence is treated in the same way, and so is a ground truth that is a solution.
// What stands beside a value may be a unit, a noun, a number word, which has its value (5 million, 5 squared, 5 thirds),
// a reason, or a clause about the names in it. A condition, a denial, a doubt, a bound, a comparison ("5 less than the
// total") or another value makes the answer different, as refusals do ("cannot be determined"). The words are in
// words.txt.
//
// # What is read
//
// LaTeX as models write it, plain text such as sqrt(2)/2 or x**2, and Unicode (signs, super- and subscripts, vulgar
// fractions, roots, digits of every script; invisible and bidirectional characters are dropped).
//
//	list      = relation [ "or more" | "or less" ] { ("," | ";" | "and" | "or" | `\\`) relation }
//	relation  = sides of = < > <= >= != ~ in => ..., the last of an implication counts; f(x,..) = expression;
//	            "at least" | "no more than" | "over" | "is greater than" ... expression;
//	            [expression "is"] "between" sum "and" sum [ "inclusive" | "exclusive" ]
//	expression= sum { (\cup | \cap | \setminus) sum } | sum ":" sum
//	sum       = term { ("+" | "-" | \pm | \mp) term }, also with an ellipsis: 1+2+\cdots+n
//	term      = factor { ("*" | "/" | mod | juxtaposition) factor } [unit] { "by" term } | number ("R" | "remainder") number
//	factor    = atom { "^" argument | "!" | "%" | degrees | "'" | "_" base }
//	atom      = number | name | function | \frac | \sqrt | \binom | \sum | \prod | ( ) [ ] { } \{ \} | |x| | floors |
//	            matrix | text
//
// Numbers: integers, decimals, thousands separators (1,000 1{,}000 1\,000 1 000; read both as one number and as a list
// where that is ambiguous), mixed numbers (by no other fraction: 100 \frac12 \frac45 is 40), exponents, repeating decimals,
// English numerals, bases as subscripts or "base 2", 1.5k and 1M where the ground truth is a number.
// Units: some 160 names, prefixes, and their products of powers, converted within a dimension, J as N m. Ohms and millionths have their
// Greek letters behind a number. A letter that a gap sets off, as in the
// ground truths 5 m and 9.8 m/s^2, is a unit if the question has no such variable.
// Functions: roots, powers, logarithms, trigonometric and hyperbolic functions and inverses, factorials, binomials,
// floor, ceiling, gcd, lcm, mod, min, max, absolute value, determinants, finite sums and products. e and i are the
// constants; other letters are variables. Implicit multiplication binds like explicit: 1/2x is x/2.
//
// Not read, and therefore unknown unless the texts agree: integrals, limits and infinite series without their value,
// piecewise definitions, sentences that describe a set. Not solved: inequalities of a higher degree, equations against
// their solutions, a congruence against x=3k+1, sets of integers against inequalities.
//
// # How it is decided
//
// Verdict.Proof names the weakest proof that a verdict rests on, and Verdict.Error bounds the probability that chance made
// it wrong.
//
//   - exact: rational arithmetic; or values in intervals that do not meet, at a point or as constants. Precision rises up
//     to 8,000 bits until they do not meet.
//   - algebraic: numbers made of + - * / and radicals agree to more bits than the separation bound of Burnikel et al. asks
//     for, where that is at most 6,000.
//   - modular: the same at random points of four fields of about 2^61 elements, in which roots of unity, square roots of
//     numbers, powers, logarithms and factorials keep their laws, and what has no law, such as sin 1, is a random element.
//     Values that differ there are different for certain if nothing but rational functions, pi and square roots of numbers
//     took part. They agree by chance with probability at most the product of degree/2^60 over the fields.
//   - piecewise: as modular, for every pattern of the signs of absolute values, maxima, minima and roots.
//   - probable: no proof. Constants agree to 256 bits and twice as many as the numbers that are written, and the
//     values on the way, have together. Expressions agree at 7 real or 12 integer points at least, and at one of every
//     cell that was found. Points have all scales: powers of two, both signs, around and beyond every number of both
//     sides, at and around the breakpoints of abs, max, min, sign, floor, ceil, mod, gcd, binom, roots and logarithms.
//     Numbers beyond doubles, or a cell whose values are out of reach, make it unknown. The policy "proved" makes
//     probable equality unknown.
//
// Expressions differ if they do at one point, whatever they do at others. Roots are real: sqrt(x^2) is |x|; with i on one
// side both are complex. Variables of factorials, binomials, gcd and (-1)^n are integers. Expressions of which one has real
// values where the other has none are different, if their complex values differ as well: ln(x^2) is not 2 ln x, e^(ln x) is
// x. Of several variables one at most is taken as negative for that: ln(ab) is ln a + ln b. Single points, such as x=1 in
// (x^2-1)/(x-1), do not count.
//
// Values too large to write out are compared by bounds on their logarithms and by residues modulo five primes of 31 bits,
// which is probable: 10^(10^10) is different from 10^(10^10)+1. Remainders and common divisors of huge powers are computed
// by modular powers and by exponents.
//
// The random points are derived from the pair itself, and the fields are fixed. The error probability is that of chance,
// not of an adversary who solves for them.
//
// # Policy
//
// The default, math-verify-2025, follows Math-Verify 0.8 where that is right. Policies returns the switches: renaming of
// parameters, conversion of units, rounding, missing bases and units, vectors as tuples. Conventions returns what is
// fixed:
//
//   - percent: 20% is 0.2. Against a gold without a sign, 20% counts as 20 only if the question asks for a percentage.
//   - tuple: A tuple is no set. (1,2) is a pair against a pair and an interval against an interval or inequality. A
//     comma list equals a set, ignoring order, and a tuple, in order. Parts with labels, (a) 5, (b) 6, are a tuple.
//   - set: Sets in braces ignore repetition; lists count it. "10, 11 or 12" is a list and not 10.
//   - plus-minus: \pm stands for both values, and so do +/- and a leading +-.
//   - assignment: x=5 against 5 compares the values; x=5 and y=5 are different. In a chain the last exact value
//     counts, and a chain that contradicts itself is different. m+n=17 and 17 are equal: several unknowns do not
//     follow from one value, so that it was asked for. xy=5, |x|=5, 5=5, a+3z=0 and x=5 mod 7 are not 5 or 0: they
//     leave the unknowns open or say nothing. A ground truth xy=6 accepts 6. y=1, x=2 is
//     (2,1).
//   - equation: Equations are equal up to a factor, inequalities up to a positive one. A gold interval accepts the
//     inequality solved for one variable, not an unsolved one.
//   - family: A constant C of an antiderivative and the integer of angles such as pi/4+2k*pi may have another name, and so
//     may a parameter whose clause (k \in Z) one side leaves out. x^2+C is x^2+5+C, and with k \in Z on either side 3k+1 is
//     3n-2.
//   - noun: Nouns are not compared: 5 apples is 5. 90° is 90 and pi/2.
//   - name: A point or quantity may carry its name: P(1,2) is (1,2), P(A|B)=1/2 and \lim a_n=1/2 are 1/2. C(5,2), _5C_2
//     and C_5^2 are selections, P(5,2) and A_5^2 arrangements. phi is the golden ratio where it is the only name on both
//     sides and no function is applied to it.
//   - logarithm: \log without a base is natural, or decimal if that makes both sides equal.
//   - decimal-comma: 3,14 and 1.234,5 are decimals in an answer against a gold that is one number; a gold 3,14 is a list,
//     and so are 2,0 and 3, 14.
//   - ratio: Ratios are equal up to a factor; 1:2 is 1/2.
//   - words: Words are compared without case, articles and punctuation. A sentence gives what it says about its subject
//     ("the graph is an ellipse"); one that merely holds the gold is different.
//   - choice: Multiple choice: the letter that is declared last, or the text of an option. Letters beyond the options,
//     and the English words "a" and "I", are none.
//   - restatement: An expression copied from the question instead of its value is different, if the question is known.
//
// # Limits
//
// One answer: 32 KiB, 8,192 tokens, 200 levels of nesting, integers of 65,536 bits, sums of 20,000 terms, collections of
// 4,096 elements, determinants of 64 rows, a million steps of about ten nanoseconds. Beyond them the verdict is unknown. Responses of any length
// are scanned once, from the end, without being copied.
package verify
