// Package decide compares answers that package formula has read: numbers, expressions, collections, sets, relations,
// quantities and words.
//
// A Comparer holds what one verdict needs: the steps that are left, the policy, the tolerance, and the evidence for what
// it found. Its methods are a recursion over both trees, from the conventions of answers down to the proofs of identities.
package decide
