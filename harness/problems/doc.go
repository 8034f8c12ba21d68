// Package problems makes and loads problem sets.
//
// Generated sets ([Generate]) hold genuine questions with an exact answer computed in Go: eight topics of
// mathematics for training and evaluation, and eight unseen topics as multiple choice for the out-of-distribution
// sets. A problem is a chain of steps, each of which uses the result of the one before. Its latent difficulty, which
// decides who solves it, also decides the number of steps and the size of the numbers, but only in part: a reader of
// the text can tell easy from hard better than by chance, and never surely.
//
// Loaded sets ([JSONL]) are files of one problem a line, checked against the checksum of their spec.
//
// Where things are: generate.go draws latents and turns them into texts; chain.go composes steps and layout.go writes
// them down, among the words of story.go; topic_*.go hold what can be asked, on the integer functions of numbers.go;
// answer.go writes golds in LaTeX, choice.go makes options, distractor.go wrong answers; jsonl.go loads files; index.go
// finds a problem by its text.
package problems
