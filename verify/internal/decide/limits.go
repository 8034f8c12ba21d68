// The limits of comparing, besides those of reading and evaluating, and what its work is charged.

package decide

const maxSigns = 4 // independent ± signs expanded

const costCompare = 8 // comparing two nodes before any arithmetic, in steps
