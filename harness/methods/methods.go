// Package methods holds the rows of the tables: a file a kind, which says at its top "Row kind ...", and a line for it in
// list, which has all that others need to know of it. What rows learn with is in package learn, what they read of texts in
// package features, how they route by predictions in package predict, how a policy is
// trained in package stages, one that asks several experts in package rounds. The other files
// here are what several rows share:
//
//	methods.go        the list
//	setup.go          what a method is built from, small change
//	reading.go        what a row reads beside its training problems, checked
//	allowance.go      what rows that learn from texts are allowed to read and to choose, in words
//	starts.go         what entroplus starts from
//	policies.go       rows that train a policy by package stages (sft, entrorouter, entroplus)
//	taught.go         and that may have a teacher, or a server that writes for them
//	network.go        what of a row is trained, in numbers that say what a run of it takes
//	rounds.go         rows that ask several experts (routerr1, xrouter)
//	served.go         and those whose policy is behind a server, which plays in package multiround
//	traits.go         what others ask of a row that its kind does not say
//
// A new method is a file and a line in list.
package methods

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// kind is one method that a spec can name, with everything that tables, figures and protocols need to know of it: no
// other package names one.
type kind struct {
	name    string
	says    string // what it is, in a few words
	section string // heading of its rows in tables
	marker  int    // of its row in figures, from 0; no two are alike; or unmarked
	also    []mark // markers of further rows of the kind

	seeded    bool // the fit or its decisions depend on the training seed
	self      bool // the router may answer problems itself
	fixed     bool // a row is one expert, which is always asked
	alone     bool // the router answers every problem itself, asking nobody
	knob      bool // its routers are routing.Frontiers, for some parameters at least
	rates     bool // its routers are routing.Predictors, for some parameters at least
	policy    bool // its routers have a distribution over the experts of their own, and stand on their curve where training put them
	hindsight bool // it decides by the answers themselves
	asks      bool // the router is a language model that is asked for its decision
	blind     bool // it never looks at a training problem

	chosen string // a sentence: which of its defaults were chosen on recorded answers, and what that means; empty: none were
	build  builder
}

// unmarked are kinds that figures have by name, as fixed experts, or whose rows have ids and markers of their own: there are no more
// markers than report.Looks.
const unmarked = -1

// mark is the marker of a row that is not the first of its kind.
type mark struct {
	row    string // id
	marker int
}

// Headings of the rows of tables.
const (
	underHeuristics     = "Heuristic"
	underRouters        = "Routers"
	underLanguageModels = "LLM-as-a-router"
	underMultiRound     = "Multi-round"
	underOurs           = "EntroRouter"
	underYardsticks     = "Yardsticks"
)

// Rows that others are measured against, where a spec has them.
const (
	ReferenceRow = "entrorouter" // differences are taken from it
	BenchmarkRow = "benchmark"   // leads are taken over it
)

// list is every kind. Markers 0 to 12 have been given so that rows whose curves stand side by side have colours of their
// own; a new kind takes the next number that is free.
func list() []kind {
	return []kind{
		{name: "random", says: "an expert at random, all equally often", section: underHeuristics, marker: 1, also: []mark{{"random-expected", 13}}, seeded: true, blind: true, build: newRandom},
		{name: "fixed", says: "one expert, always", section: underHeuristics, marker: unmarked, fixed: true, blind: true, build: newFixed},
		{name: "self", says: "the router answers every problem itself", section: underHeuristics, marker: 22, self: true, alone: true, blind: true, build: newSelf},
		{name: "oracle", says: "the cheapest expert that is right, known in hindsight", section: underYardsticks, marker: 14, also: []mark{{"oracle-kappa", 18}}, hindsight: true, blind: true, build: newOracle},
		{name: "mixture", says: "the best coin flip between two experts at each cost", section: underYardsticks, marker: 10, knob: true, build: newMixture},
		{name: "benchmark", says: "the best expert for each benchmark", section: underYardsticks, marker: 2, knob: true, rates: true, build: newBenchmark},
		{name: "logistic", says: "logistic regression of success and of cost on the text", section: underRouters, marker: 4, knob: true, rates: true, build: newLogistic},
		{name: "knn", says: "what experts did on the nearest training problems", section: underRouters, marker: 5, also: []mark{{"knn-guard", 26}}, knob: true, rates: true, build: newKNN},
		{name: "bag", says: "a bag of embeddings, trained to predict success", section: underRouters, marker: 12, seeded: true, knob: true, rates: true, chosen: bagChosen, build: newBag},
		{name: "difficulty", says: "pass rates from one predicted difficulty", section: underRouters, marker: 9, knob: true, rates: true, chosen: difficultyChosen, build: newDifficulty},
		{name: "cluster", says: "the best expert for each cluster of texts", section: underRouters, marker: 6, seeded: true, knob: true, build: newCluster},
		{name: "forc", says: "FORC: predicted success, under a budget", section: underRouters, marker: 8, also: []mark{{"forc-matched", 15}, {"forc-cost", 16}}, knob: true, rates: true, build: newFORC},
		{name: "routellm", says: "RouteLLM: a preference between a cheap and a dear expert", section: underRouters, marker: 7, also: []mark{{"routellm-11", 17}, {"routellm-ties", 27}}, seeded: true, knob: true, build: newRouteLLM},
		{name: "swranking", says: "RouteLLM's similarity-weighted ranking", section: underRouters, marker: 21, knob: true, build: newSWRanking},
		{name: "mean", says: "the mean of several learners", section: underRouters, marker: 24, seeded: true, knob: true, rates: true, build: ofOthers(newMean)},
		{name: "llmrouter", says: "a language model that is asked for its choice", section: underLanguageModels, marker: 23, asks: true, build: newLLMRouter},
		{name: "sft", says: "EntroRouter after Stage I", section: underOurs, marker: 3, seeded: true, knob: true, policy: true, build: newSFT},
		{name: ReferenceRow, says: "EntroRouter, both stages", section: underOurs, marker: 0, also: []mark{{"entrorouter-01", 19}, {"entrorouter-exact", 28}}, seeded: true, knob: true, policy: true, build: newEntroRouter},
		{name: "entroplus", says: "EntroRouter+ (ours): Stage II, which can start from plain learners", section: underOurs, marker: 11, seeded: true, knob: true, policy: true, build: ofOthers(newEntroPlus)},
		{name: "routerr1", says: "Router-R1: calls experts in rounds", section: underMultiRound, marker: unmarked, also: []mark{{"router-r1", 20}}, seeded: true, self: true, build: byPolicy(newServedRouterR1, newRouterR1)},
		{name: "xrouter", says: "xRouter: calls experts in rounds, at a price", section: underMultiRound, marker: 25, seeded: true, self: true, build: byPolicy(newServedXRouter, newXRouter)},
	}
}

// Kinds returns the names a spec may use, in the order of the list.
func Kinds() []string {
	var names []string
	for _, k := range list() {
		names = append(names, k.name)
	}
	return names
}

// Says is what a kind of methods is, in a few words; empty: there is no such kind.
func Says(name string) string { return named(name).says }

// Marked are the ids of the rows with markers of their own, the same in every figure, by marker from 0. A row without an
// id has that of its kind. The first is EntroRouter's, which nothing else gets.
func Marked() []string {
	var all []mark
	for _, k := range list() {
		if k.marker != unmarked {
			all = append(all, mark{k.name, k.marker})
		}
		all = append(all, k.also...)
	}
	slices.SortFunc(all, func(a, b mark) int { return a.marker - b.marker })
	rows := make([]string, len(all))
	for i, m := range all {
		rows[i] = m.row
	}
	return rows
}

// Seeded says whether a kind of method gives another router for another training seed.
func Seeded(name string) bool { return named(name).seeded }

// AnswersItself says whether routers of a kind may answer problems themselves: scoring them needs the answers of the
// model that plays the router.
func AnswersItself(name string) bool { return named(name).self }

// Fixed says whether a row of a kind is one expert that is always asked.
func Fixed(name string) bool { return named(name).fixed }

// Alone says whether routers of a kind answer every problem themselves and ask nobody.
func Alone(name string) bool { return named(name).alone }

// Knob says whether the routers of a kind of method have a knob: whether they are routing.Frontiers, for some of its
// parameters at least.
func Knob(name string) bool { return named(name).knob }

// NoCurve says why a row of a kind that is trained has no curve; empty if it has one or is not trained. A language model that is asked
// has one: what it says, mixed with always asking the dearest and the cheapest expert.
func NoCurve(name string) string {
	if k := named(name); k.self && !k.alone {
		return "what a call costs is weighed while the router is trained and it answers itself, so other dollars take another training"
	}
	return ""
}

// PredictsRates says whether the routers of a kind of method predict pass rates: whether they are routing.Predictors, for some of its
// parameters at least.
func PredictsRates(name string) bool { return named(name).rates }

// Policy says whether routers of a kind decide by a distribution over the experts that was trained: a score, which a choice by a
// knob is not.
func Policy(name string) bool { return named(name).policy }

// Section returns the heading under which tables have the rows of a kind.
func Section(name string) string { return named(name).section }

// Hindsight says whether a kind decides by the answers themselves, as no router can.
func Hindsight(name string) bool { return named(name).hindsight }

// AsksForDecisions says whether a router of a kind is a language model that is asked for every decision.
func AsksForDecisions(name string) bool { return named(name).asks }

// TrainsNothing says whether a kind decides alike whatever it is trained on.
func TrainsNothing(name string) bool {
	k := named(name)
	return k.fixed || k.alone || k.hindsight
}

// Blind says whether a kind never looks at a training problem: an experiment of such rows alone has none measured.
func Blind(name string) bool { return named(name).blind }

// Chosen returns which defaults of a kind were chosen on recorded answers, and what that means, as a sentence; empty if
// none were.
func Chosen(name string) string { return named(name).chosen }

// named returns the kind of that name; an unknown one has none of the traits.
func named(name string) kind {
	for _, k := range list() {
		if k.name == name {
			return k
		}
	}
	return kind{}
}

// New builds the method that a spec names. Unknown names and parameters are errors.
func New(s Setup) (routing.Method, error) {
	if k := named(s.Method.Name); k.build != nil {
		return k.build(s)
	}
	return nil, fmt.Errorf("%w %q; known: %v", errUnknown, s.Method.Name, Kinds())
}

// RowTraits returns the traits of a row of a spec. A row that cannot be made has none, and loading the spec has said why.
func RowTraits(row spec.Method, x *spec.Experiment) (t Traits) {
	if method, err := New(Setup{Method: row, Spec: x}); err == nil {
		t = TraitsOf(method)
	}
	return t
}

// ofOthers is how a row is built that is made of other rows.
func ofOthers(build func(Setup, builder) (routing.Method, error)) builder {
	return func(s Setup) (routing.Method, error) { return build(s, New) }
}
