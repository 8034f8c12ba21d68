// Package problems makes and loads problem sets.
//
// Generated sets ([Generate]) hold genuine questions with an exact answer computed in Go: eight topics of
// mathematics for training and evaluation, and eight unseen topics as multiple choice for the out-of-distribution
// sets. A problem is a chain of steps, each of which uses the result of the one before; its latent difficulty decides
// the number of steps and the size of the numbers only in part, so that a reader of the text can tell easy from hard
// about as well as a router can on real questions, and no better.
//
// Loaded sets ([JSONL]) are files of one problem a line, checked against the checksum of their spec.
//
// Where things are: generate.go draws latents and turns them into texts; chain.go composes steps; one file a topic
// (topic_*.go) holds what can be asked; story.go holds the words around it; answer.go writes golds in LaTeX;
// distractor.go makes wrong answers; jsonl.go loads files; index.go finds a problem by its text.
package problems
