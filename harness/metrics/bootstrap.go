// Resampling of questions and McNemar's test.

package metrics

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/entrorouter/entrorouter/harness/crash"
)

// Resample calls visit for each of b bootstrap resamples of the questions, stratified: of a stratum of n questions n-1 are
// drawn, and each drawn one weighs n/(n-1), so that every stratum keeps its size and the variance of a mean over resamples is
// the unbiased one; n draws would make it too small by the factor (n-1)/n (Rao and Wu 1988).
// strata is [P], the stratum of each question (its benchmark, or the subject within one); visit must not keep
// the slice. Each resample depends on seed and strata alone, so methods, folds and statistics that read the
// same weights are compared in pairs.
//
// This is the question bootstrap of routing results: runs are averaged inside a question before, so what is
// resampled is the question, not the rollout. Trained routers are held fixed; the spread of trainings comes in with
// Evidence. A stratum of one question contributes no variance at all.
//
// Runs are not resampled a second time inside a question. The spread of the questions' means already holds the noise of
// their runs: its expectation is the variance between questions plus that within one over the number of runs. A second
// level would count the noise of runs twice (Davison and Hinkley 1997, section 3.8, resample the highest level alone),
// and with one run a question it would have nothing to draw from.
//
// It ends early when stop is closed, which may be nil.
func Resample(strata []int, b int, seed uint64, stop <-chan struct{}, visit func(weights []float64)) {
	order := make([]int, len(strata))
	for p := range order {
		order[p] = p
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(strata[x], strata[y]) })
	rng := rand.New(rand.NewPCG(seed, 0))
	weights := make([]float64, len(strata))
	for range b {
		select {
		case <-stop:
			return
		default:
		}
		clear(weights)
		for from := 0; from < len(order); {
			to := from + 1
			for to < len(order) && strata[order[to]] == strata[order[from]] {
				to++
			}
			members := order[from:to]
			if n := len(members); n == 1 {
				weights[members[0]] = 1
			} else {
				for range n - 1 {
					weights[members[rng.IntN(n)]] += float64(n) / float64(n-1)
				}
			}
			from = to
		}
		visit(weights)
	}
}

// abreast is how many resamples a statistic is given at once: what it reads of the questions, waiting for memory, it reads for all of them.
const abreast = 8

// BootstrapParallel evaluates a vector of statistics on the sample itself (all weights 1) and on b resamples, on all cores,
// which call stat at the same time. What it returns does not depend on their number.
// A statistic is given the weights [P] of some resamples and fills out[r][0:k] from weights[r]; it must be a function of the weights
// alone and must not keep them. The rows of the result are statistics: point is [k], samples is [k][b]. The difference of two
// statistics is one more statistic: compute it inside, or subtract two rows of samples, which share their weights. When stop is closed,
// it returns soon and without samples; nil: it goes on to the end.
func BootstrapParallel(stop <-chan struct{}, strata []int, b int, seed uint64, k int, stat func(weights, out [][]float64)) (point []float64, samples [][]float64) {
	point, samples = bootstrap(stop, strata, b, seed, k, runtime.GOMAXPROCS(0), stat)
	select {
	case <-stop:
		return point, make([][]float64, k) // no intervals of what is there
	default:
		return point, samples
	}
}

func bootstrap(stop <-chan struct{}, strata []int, b int, seed uint64, k, workers int, stat func(weights, out [][]float64)) (point []float64, samples [][]float64) {
	point = make([]float64, k)
	stat([][]float64{slices.Repeat([]float64{1}, len(strata))}, [][]float64{point})
	samples = matrix(k, b)
	type draw struct {
		weights [][]float64
		from    int // resample
	}
	drawn, free := make(chan draw), make(chan [][]float64, 2*workers)
	for range 2 * workers {
		free <- matrix(abreast, len(strata))
	}
	var g sync.WaitGroup
	for range workers {
		g.Go(func() {
			defer crash.Exit()
			out := matrix(abreast, k)
			for d := range drawn {
				stat(d.weights, out[:len(d.weights)])
				for r := range d.weights {
					for i, x := range out[r] {
						samples[i][d.from+r] = x
					}
				}
				free <- d.weights[:abreast]
			}
		})
	}
	next := draw{weights: (<-free)[:0]}
	Resample(strata, b, seed, stop, func(weights []float64) {
		n := len(next.weights)
		next.weights = next.weights[:n+1]
		copy(next.weights[n], weights)
		if n+1 == abreast {
			drawn <- next
			next = draw{(<-free)[:0], next.from + abreast}
		}
	})
	if len(next.weights) > 0 {
		drawn <- next
	}
	close(drawn)
	g.Wait()
	return point, samples
}

func matrix(rows, columns int) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, columns)
	}
	return m
}

// WeightedMean returns sum(weights*column)/sum(weights), both [P]: with the weights of Resample the micro
// average (each question counts once, whatever its benchmark), NaN if all weights are 0. It panics if the
// lengths differ.
func WeightedMean(column, weights []float64) float64 {
	if len(column) != len(weights) {
		panic(fmt.Sprintf("metrics: %d values with %d weights", len(column), len(weights)))
	}
	sum, total := 0.0, 0.0
	for p, w := range weights {
		sum += w * column[p]
		total += w
	}
	return sum / total
}

// McNemar returns the exact two-sided p-value of McNemar's test on one run of two methods: b questions that
// only the first answered right, c that only the second did (McNemar 1947; the exact binomial form). Questions
// on which both agree say nothing and are left out. It is 1 if b+c is 0. It panics if a count is negative.
func McNemar(b, c int) float64 {
	if b < 0 || c < 0 {
		panic(fmt.Sprintf("metrics: negative count in McNemar(%d, %d)", b, c))
	}
	n, k := b+c, min(b, c)
	tail := 0.0
	for i := range k + 1 {
		tail += math.Exp(combin.LogGeneralizedBinomial(float64(n), float64(i)) - float64(n)*math.Ln2)
	}
	return min(1, 2*tail)
}
