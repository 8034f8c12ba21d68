// Package formula reads answers as trees: numbers, expressions, collections, relations, quantities with their units, and
// words.
//
// It knows LaTeX as models write it, plain text and Unicode, and what words beside a value do to it (words.txt). It
// compares nothing: how terms with an ellipsis go on, which takes comparing, is a function that its caller passes in.
// Work is counted in the steps of a Budget, and no answer is larger than the limits that are constants here.
package formula
