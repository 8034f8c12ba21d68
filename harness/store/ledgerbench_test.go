//go:build unix

package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// cpu is what this process has used.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkLedger asks as a run does, with so many requests in flight that are answered at once: an attempt is begun and synced, it
// ends, and its answer of about 700 bytes is kept with its verdict.
func BenchmarkLedger(b *testing.B) {
	for _, inFlight := range []int{1, 64, 2000} {
		b.Run(fmt.Sprint(inFlight), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), rolloutsFile)
			db, err := openRollouts(b.Context(), path)
			if err != nil {
				b.Fatal(err)
			}
			commits := transactions(db)
			scope := Scope{Model: "m"}
			rows := make(chan Row)
			var workers sync.WaitGroup
			for range inFlight {
				workers.Go(func() {
					for r := range rows {
						id, err := db.Begin(context.Background(), Attempt{Scope: scope, Text: r.Text, Run: r.Run, Seed: r.Seed, Server: "http://one/v1", Most: Spent{100, 30000, 0.1}})
						if err != nil {
							b.Error(err)
							continue
						}
						db.End(Ended{ID: id, Class: AnsweredClass, Spent: Spent{r.In, r.Out, 0.01}})
						db.Keep(scope, r, "1", Verdict{Gold: r.Seed, Bucket: routing.Correct, Reason: "equal", Extracted: "3/4"}, nil)
					}
				})
			}
			r := rand.New(rand.NewPCG(1, 2))
			made := sampleRows(r, 0, 4000)
			n := 0
			used := cpu()
			for b.Loop() {
				row := made[n%len(made)]
				row.Seed += uint64(n / len(made))
				rows <- row
				n++
			}
			close(rows)
			workers.Wait()
			if err := db.Sync(b.Context()); err != nil {
				b.Fatal(err)
			}
			used = cpu() - used
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(used.Microseconds())/float64(n), "CPU-us/row")
			b.ReportMetric(float64(n)/float64(*commits), "rows/commit")
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/float64(n), "file-bytes/row")
		})
	}
}

// BenchmarkResume opens a file of a million graded rollouts without texts and reads all that a resumed run reads.
func BenchmarkResume(b *testing.B) {
	path := filepath.Join(b.TempDir(), rolloutsFile)
	db, err := openRollouts(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	const n = 1_000_000
	scope := Scope{Model: "m"}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		db.Keep(scope, Row{Text: fmt.Sprint("problem ", i/5), Run: i % 5, Seed: r.Uint64() >> 11, Finish: routing.Stop, In: 100, Out: r.Int64N(30000)},
			"1", Verdict{Gold: uint64(i), Bucket: routing.Correct, Reason: "equal", Extracted: fmt.Sprint(i % 100)}, nil)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	used := time.Duration(0)
	rounds := 0
	for b.Loop() {
		before, rows := cpu(), 0
		db, err := openRollouts(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range db.Load(b.Context(), scope, "1") {
			if err != nil {
				b.Fatal(err)
			}
			rows++
		}
		if err := db.Close(); err != nil || rows != n {
			b.Fatal(rows, err)
		}
		used += cpu() - before
		rounds++
	}
	b.ReportMetric(used.Seconds()/float64(rounds), "CPU-s/op")
}
