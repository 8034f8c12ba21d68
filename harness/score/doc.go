// Package score turns decisions and outcomes into measurements. It reads no file, asks nobody and knows no step: a Sample
// is the test questions with what every row decided about them, Folds the same inside the test folds of a recording.
//
//	Sample, Folds -> a list of Statistics -> one bootstrap -> metrics.Measurement
//
// A number is one entry in a list (route.go, choice.go, difficulty.go, folds.go): its unit, its decimals, whom it is
// about, and a function of a view, which is the subject under the weights of one resample. Nothing else knows where it
// stands. Its unit has a row in results/README.md.
//
// A number that is not defined on the sample, such as a share of nothing, is left out and its line says why
// (metrics.Measurement.Undefined). One that some resamples do not define has no interval.
package score
