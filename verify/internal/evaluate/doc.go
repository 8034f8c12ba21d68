// Package evaluate gives expressions values: exact rationals (Exact), integers too large to write out by residues, doubles with
// bounds of their errors (Sketch), and disks of any precision that hold the number (Numeric). A value that does not exist,
// takes more than the budget or follows a convention is an error of its own.
package evaluate
