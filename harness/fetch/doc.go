// Package fetch gets the files of benchmarks from where they are published, checks them, and makes of their rows the lines
// that package problems reads.
//
// What is already in the data folder is used first. What is not is downloaded to DIR/.fetch, where a download that was cut
// short goes on, checked against what the publisher and benchmarks.yaml say of it, converted, and put at its path whole or
// not at all. What came of files that nobody had pinned is recorded in DIR/fetched.yaml and holds from then on.
//
// Where things are: fetch.go and recording.go are the walks through one set; home.go knows the two hosts; download.go brings one
// file and retry.go tries again; rows.go reads formats and lines.go converts rows, both without knowing where they come from.
package fetch
