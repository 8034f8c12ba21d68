// Package modular tests identities by the laws of algebra: both sides are evaluated in finite fields at random elements, and
// what a law ties together is drawn together. See Compare for what equality is worth.
package modular
