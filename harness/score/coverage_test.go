package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/units"
)

// coverageRounds is how many evaluations a coverage is counted over: 150, or ENTROROUTER_COVERAGE of them; then more kinds of
// evaluations are looked at. What is counted is held against what it has to be with three standard errors to spare.
func coverageRounds(t *testing.T) (n int, all bool) {
	text := os.Getenv("ENTROROUTER_COVERAGE")
	if text == "" {
		return 150, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal("ENTROROUTER_COVERAGE:", err)
	}
	return n, true
}

// population is what evaluations are drawn from: two experts that find the same questions hard, and routers that ask the
// dear one where they take a question for hard. A training shifts what a router takes for hard.
type population struct {
	mu     float64 // log odds of the dear expert on a middling question
	shift  float64 // standard deviation over trainings, in those of difficulty
	cost   float64 // dollars of the dear expert; the cheap one costs 1
	noise  float64 // of what a router takes for difficulty
	behind float64 // log odds of the cheap expert below the dear one
}

const difficultySD = 2.8 // log odds; the populations of pools/sim.yaml have 1.1 to 6.4

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// withRate sets mu so that the dear expert solves a share of the questions.
func (p population) withRate(rate float64) population {
	low, high := -20., 20.
	for range 50 {
		p.mu = (low + high) / 2
		mean, total := 0.0, 0.0
		for z := -6.; z <= 6; z += 0.01 {
			w := math.Exp(-z * z / 2)
			mean, total = mean+w*sigmoid(p.mu-difficultySD*z), total+w
		}
		if mean/total < rate {
			low = p.mu
		} else {
			high = p.mu
		}
	}
	return p
}

// question is one of a population.
type question struct {
	right [2]float64 // chance of each expert
	usd   [2]float64
	looks [2]float64 // how hard it looks to each of two routers
}

func (p population) question(rng *rand.Rand) question {
	z := rng.NormFloat64()
	q := question{right: [2]float64{sigmoid(p.mu - p.behind - difficultySD*z), sigmoid(p.mu - difficultySD*z)}}
	long := math.Exp(0.3*z + 0.35*rng.NormFloat64())
	q.usd = [2]float64{long, p.cost * long}
	for r := range q.looks {
		q.looks[r] = z + p.noise*rng.NormFloat64()
	}
	return q
}

// asks is the chance that a router asks the dear expert, over its trainings.
func (p population) asks(looks float64) float64 {
	if p.shift == 0 {
		if looks > 0 {
			return 1
		}
		return 0
	}
	return 0.5 * math.Erfc(-looks/p.shift/math.Sqrt2)
}

// truth is what evaluations estimate: of each row the accuracy in percent and the dollars per question.
func (p population) truth() map[string]metrics.Point {
	const n = 300_000
	rng := rand.New(rand.NewPCG(11, 13))
	sum := map[string]metrics.Point{}
	var cheap, dear, router, other metrics.Point
	add := func(to *metrics.Point, q question, m int, share float64) {
		to.Quality += 100 * share * q.right[m] / n
		to.Cost += share * q.usd[m] / n
	}
	for range n {
		q := p.question(rng)
		add(&cheap, q, 0, 1)
		add(&dear, q, 1, 1)
		for r, to := range []*metrics.Point{&router, &other} {
			hard := p.asks(q.looks[r])
			add(to, q, 1, hard)
			add(to, q, 0, 1-hard)
		}
	}
	sum["cheap"], sum["dear"], sum["router"], sum["other"] = cheap, dear, router, other
	return sum
}

// arena draws questions and answers. Every benchmark is of the same population.
func (p population) arena(rng *rand.Rand, benchmarks []book.Benchmark) (a *book.Arena, questions []question) {
	a = &book.Arena{Pool: "pool", Name: metrics.PaperArena, Experts: []routing.Expert{{ID: "cheap"}, {ID: "dear"}}}
	for _, b := range benchmarks {
		for range int(b.Pass) {
			q := p.question(rng)
			questions = append(questions, q)
			for range b.Runs {
				var outcomes []routing.Outcome
				for m := range q.right {
					o := routing.Outcome{USD: q.usd[m] * math.Exp(0.35*rng.NormFloat64()-0.35*0.35/2), Bucket: routing.Wrong}
					if rng.Float64() < q.right[m] {
						o.Correct, o.Bucket = 1, routing.Correct
					}
					outcomes = append(outcomes, o)
				}
				a.Outcomes = append(a.Outcomes, outcomes)
			}
		}
		a.Add(b, make([]routing.Problem, int(b.Pass)))
	}
	return a, questions
}

// evaluation draws questions, answers and trainings.
func (p population) evaluation(rng *rand.Rand, trainings int, benchmarks []book.Benchmark) *Sample {
	a, questions := p.arena(rng, benchmarks)
	s := &Sample{Arena: a, Reference: "router", Resampling: Resampling{Resamples: 300, Confidence: 0.95, Seed: seed.Seed(rng.Uint64())}}
	s.rows = []Row{decided(s, Row{ID: "cheap"}, a.Always(0)), decided(s, Row{ID: "dear"}, a.Always(1))}
	for r, id := range []string{"router", "other"} {
		var of [][]routing.Decision
		for range trainings {
			shift := p.shift * rng.NormFloat64()
			decisions := make([]routing.Decision, len(a.Queries))
			for i := range decisions {
				if questions[a.Question[i]].looks[r]+shift > 0 {
					decisions[i].Expert = 1
				}
			}
			of = append(of, decisions)
		}
		s.rows = append(s.rows, decided(s, Row{ID: id}, of...))
	}
	return s
}

// aim is a number of a row and what it is in the population.
type aim struct {
	row, unit string
	is        float64
	wide      bool // it may cover more than 96%: what stands in TestIntervalsCover says why
}

// coverages counts how often intervals of evaluations cover. What is aimed at and not known is the mean over evaluations.
func coverages(t *testing.T, rounds int, aims []aim, benchmark string, evaluate func(*rand.Rand) []metrics.Measurement) {
	rng := rand.New(rand.NewPCG(5, 6))
	covered, missing := make([]float64, len(aims)), make([]int, len(aims))
	found := make([][]metrics.Value, len(aims))
	for range rounds {
		lines := evaluate(rng)
		for i, x := range aims {
			v, ok := measured(t, lines, x.row, benchmark, "").Value(x.unit)
			if !ok || !v.Bounded {
				missing[i]++
			}
			found[i] = append(found[i], v)
		}
	}
	for i, x := range aims {
		if math.IsNaN(x.is) {
			x.is = 0
			for _, v := range found[i] {
				x.is += v.Number / float64(rounds)
			}
		}
		for _, v := range found[i] {
			if v.Bounded && v.Low <= x.is && x.is <= v.High {
				covered[i] += 1 / float64(rounds)
			}
		}
		least, most := 0.94-3*math.Sqrt(0.94*0.06/float64(rounds)), 0.96+3*math.Sqrt(0.96*0.04/float64(rounds))
		if x.wide {
			most = 1
		}
		text := fmt.Sprintf("%-6s %-22s %8.3f: %5.1f%% covered, without an interval %d of %d", x.row, x.unit, x.is, 100*covered[i], missing[i], rounds)
		if covered[i] < least || covered[i] > most+1e-9 || missing[i] > 0 {
			t.Errorf("%s; it has to be %.1f%% to %.1f%%", text, 100*least, 100*most)
		} else {
			t.Log(text)
		}
	}
}

// Intervals cover what they are said to cover. Some cover more: of rates near 1 and of differences of rows that hardly differ,
// because there are few values that they can have; of rows of several trainings, because what trainings and questions do
// together is in the spread of both.
func TestIntervalsCover(t *testing.T) {
	rounds, all := coverageRounds(t)
	type kind struct {
		questions, runs, trainings int
		rate, shift                float64
	}
	kinds := []kind{{30, 16, 1, 0.5, 0}, {30, 16, 1, 0.97, 0}, {40, 1, 1, 0.97, 0}, {83, 8, 1, 0.97, 0}, {30, 16, 2, 0.5, 1}, {40, 4, 3, 0.9, 0.5}}
	if all {
		kinds = append(kinds, kind{30, 16, 1, 0.9, 0}, kind{30, 1, 1, 0.97, 0}, kind{40, 4, 1, 0.5, 0}, kind{40, 4, 1, 0.9, 0}, kind{40, 4, 1, 0.97, 0},
			kind{83, 8, 1, 0.5, 0}, kind{83, 1, 1, 0.97, 0}, kind{500, 1, 1, 0.5, 0}, kind{500, 1, 1, 0.97, 0}, kind{500, 1, 1, 0.99, 0}, kind{500, 1, 3, 0.97, 0.5},
			kind{40, 4, 3, 0.5, 0.5}, kind{83, 8, 3, 0.9, 0.5}, kind{83, 8, 10, 0.9, 0.5})
	}
	for _, c := range kinds {
		t.Run(fmt.Sprintf("%d questions x %d, %d trainings, rate %v", c.questions, c.runs, c.trainings, c.rate), func(t *testing.T) {
			t.Parallel()
			p := population{shift: c.shift, cost: 6, noise: 1, behind: 1.5}.withRate(c.rate)
			is := p.truth()
			near, several := c.rate > 0.8, c.trainings > 1
			coverages(t, rounds, []aim{
				{"dear", metrics.Accuracy, is["dear"].Quality, near},
				{"cheap", metrics.Accuracy, is["cheap"].Quality, near},
				{"router", metrics.Accuracy, is["router"].Quality, near || several},
				{"router", metrics.USD, float64(c.questions) * is["router"].Cost, several},
				{"other", units.Difference, is["other"].Quality - is["router"].Quality, true},
				{"cheap", units.Difference, is["cheap"].Quality - is["router"].Quality, near || several},
			}, "b", func(rng *rand.Rand) []metrics.Measurement {
				return p.evaluation(rng, c.trainings, []book.Benchmark{{Name: "b", Runs: c.runs, Pass: float64(c.questions)}}).Route()
			})
		})
	}
}

func TestIntervalsOfAveragesCover(t *testing.T) {
	rounds, all := coverageRounds(t)
	type kind struct {
		trainings   int
		rate, shift float64
	}
	kinds := []kind{{1, 0.8, 0}, {3, 0.8, 0.5}}
	if all {
		kinds = append(kinds, kind{10, 0.8, 0.5})
	}
	for _, c := range kinds {
		t.Run(fmt.Sprintf("%d trainings", c.trainings), func(t *testing.T) {
			t.Parallel()
			p := population{shift: c.shift, cost: 6, noise: 1, behind: 1.5}.withRate(c.rate)
			is := p.truth()
			hull := metrics.UpperHull([]metrics.Point{is["cheap"], is["dear"]})
			several := c.trainings > 1
			coverages(t, rounds, []aim{
				{"dear", metrics.Accuracy, is["dear"].Quality, false},
				{"router", metrics.Accuracy, is["router"].Quality, several},
				{"router", units.Retention, 100 * is["router"].Quality / is["dear"].Quality, several},
				{"router", units.CostShare, 100 * is["router"].Cost / is["dear"].Cost, several},
				{"router", units.HullGain, hull.Gain(is["router"]), several},
				{"other", units.Lead, metrics.UpperHull([]metrics.Point{is["cheap"], is["dear"], is["router"]}).Gain(is["other"]), several},
				{"other", units.Difference, is["other"].Quality - is["router"].Quality, several},
			}, metrics.Average, func(rng *rand.Rand) []metrics.Measurement {
				return p.evaluation(rng, c.trainings, []book.Benchmark{{Name: "x", Runs: 8, Pass: 30}, {Name: "y", Runs: 1, Pass: 120}, {Name: "z", Runs: 4, Pass: 83}}).Route()
			})
		})
	}
}

// Partitions of the same questions are no independent trainings. The router here learns from the other folds how hard a question
// has to look, by which of two looks, and so with what questions it learns from.
func TestIntervalsOverPartitionsCover(t *testing.T) {
	rounds, all := coverageRounds(t)
	const questions, folds = 120, 5
	p := population{cost: 6, noise: 1, behind: 1.5}.withRate(0.7)
	numbers := []int{3}
	if all {
		numbers = append(numbers, 5)
	}
	for _, partitions := range numbers {
		t.Run(fmt.Sprintf("%d partitions", partitions), func(t *testing.T) {
			t.Parallel()
			unknown := math.NaN()
			coverages(t, rounds, []aim{
				{"router", metrics.Accuracy, unknown, true},
				{"router", units.CostShare, unknown, true},
				{"router", units.HullGain, unknown, true},
				{"dear", units.Difference, unknown, true},
			}, metrics.BothStrata, func(rng *rand.Rand) []metrics.Measurement {
				a, drawn := p.arena(rng, []book.Benchmark{{Name: "b", Runs: 1, Pass: questions}})
				f := &Folds{Arena: a, Reference: "router", Whole: true, Resampling: Resampling{Resamples: 300, Confidence: 0.95, Seed: seed.Seed(rng.Uint64())}}
				for k := range partitions {
					of := make([]int, questions)
					for i, q := range rng.Perm(questions) {
						of[q] = i % folds
					}
					decisions := make([]routing.Decision, questions)
					for fold := range folds {
						router, from := learned(a, drawn, of, fold)
						for q := range decisions {
							if of[q] == fold && drawn[q].looks[router] > from {
								decisions[q].Expert = 1
							}
						}
					}
					training := book.Training{Seed: uint64(k), Fold: of}
					f.Add("dear", training, a.Always(1), nil)
					f.Add("router", training, decisions, nil)
				}
				return f.Measure(metrics.BothStrata)
			})
		})
	}
}

// learned is which look a router goes by, and from where on it asks the dear expert: best on the questions outside of a fold,
// where an answer is worth eight dollars of the cheap expert.
func learned(a *book.Arena, drawn []question, of []int, fold int) (router int, from float64) {
	best := math.Inf(-1)
	for r := range drawn[0].looks {
		for x := -2.; x <= 2; x += 0.25 {
			worth := 0.0
			for q, outcomes := range a.Outcomes {
				m := 0
				if drawn[q].looks[r] > x {
					m = 1
				}
				if of[q] != fold {
					worth += 8*outcomes[m].Correct - outcomes[m].USD
				}
			}
			if worth > best {
				best, router, from = worth, r, x
			}
		}
	}
	return router, from
}

// A rate of 1 is no certainty, nor are two rows that were right on every question though they asked different experts; two
// rows that ask alike have no difference.
func TestTheEndsOfRates(t *testing.T) {
	b := []book.Benchmark{{Name: "b", Runs: 2, Pass: 30}}
	s := population{mu: 100, cost: 6, noise: 1}.evaluation(rand.New(rand.NewPCG(1, 1)), 2, b)
	lines := s.Route()
	v, _ := measured(t, lines, "dear", "b", "").Value(metrics.Accuracy)
	if v.Number != 100 || v.High != 100 || v.Low > 90 || v.Low < 85 { // the rule of three says 90, Wilson 89
		t.Errorf("all of 30 right: %+v", v)
	}
	v, _ = measured(t, lines, "cheap", "b", "").Value(units.Difference)
	if v.Number != 0 || !(v.Low < -2 && v.High > 2) {
		t.Errorf("all right by other experts: %+v", v)
	}
	s.rows[0] = s.rows[2]
	s.rows[0].ID = "same"
	if v, _ := measured(t, s.Route(), "same", "b", "").Value(units.Difference); !v.Bounded || v.Low != 0 || v.High != 0 {
		t.Errorf("two rows that decide alike: %+v", v)
	}
}
