// Row kind routellm: matrix factorisation as RouteLLM does it.

package methods

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/parallel"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// routeLLM is the matrix factorisation router of RouteLLM (Ong et al. 2024). It learns from preferences which of two
// experts answers a question better: sigmoid(s(a,x) - s(b,x)), with s(m,x) = v.(P_m * W e(x)), P_m of length 1.
// Preferences come from pass rates: of two experts the one with the larger wins; what becomes of ties is a knob.
//
// RouteLLM knows two experts. For more there are three readings:
//
//   - pair: the cheapest and the strongest; the others are never asked, nor learned from. The default, and what the
//     paper's numbers for it look like. Who the strongest is says Strongest, by the rule of targets.strongest; of a pool whose
//     cheapest is the strongest it is the dearest. The strongest is asked where its chance to win is at least the knob.
//   - ladder: from the dearest down, the first that beats the next cheaper with at least that chance; else the cheapest.
//   - argmax: the largest s(m,x) - knob*C(m), C the training mean dollars over those of the dearest.
//
// The knob is set on the training problems, never on test problems: so that the strongest (of ladder and argmax the dearest) answers Share of
// them, or by routing.Match. Share has no default in RouteLLM, where users say it.
//
// The public code embeds texts with a language model; this reads logistic's features in fewer buckets, plus one that is always 1 in
// place of the mean that such embeddings have. Its Gaussian noise on embeddings, which acts on a preference through
// the one number s(a,x) - s(b,x), is drawn as that number: the expected loss is the same. Dimensions (32 of 128) and
// epochs (30 of 100) are fewer and the rate is larger (0.003, not 0.0003), because there are fewer preferences.
//
// RouteLLM's other routers, a fine-tuned encoder and a language model that grades, are trained elsewhere: Scores names a
// file of what they say, JSON lines {"qid": id of a problem, "p": chance that the strongest wins against the cheapest}.
// Nothing is trained then, the extension is pair, and the knob is set on the training problems as ever. Its ranking by similarity is the
// kind swranking.
type routeLLM struct {
	Extension string        `yaml:"extension" oneof:"pair ladder argmax"`
	Ties      string        `yaml:"ties" oneof:"drop cheap both"`               // a tie is left out, as the source's factorisation is trained; won by the cheaper expert, as its encoder and its language model count them; or won once by each
	Share     float64       `yaml:"share,omitempty" in:"[0,1]"`                 // of training problems that go to the strongest, of a row that is not matched
	Strongest string        `yaml:"strongest,omitempty" oneof:"price accuracy"` // default: targets.strongest of the spec
	Dims      int           `yaml:"dims" in:"[1,65536]"`                        // of P_m
	Epochs    int           `yaml:"epochs" in:"[1,10000]"`                      // the weights of the epoch with the best accuracy on a held-out twentieth are kept, of equal ones the last; the source watches that accuracy and keeps the last
	Batch     int           `yaml:"batch" in:"[1,1000000]"`
	LR        float64       `yaml:"lr" in:"(0,100]"` // of Adam
	Decay     float64       `yaml:"weight_decay,omitempty" in:"[0,1000]"`
	Noise     float64       `yaml:"noise,omitempty" in:"[0,1000]"` // standard deviation of the noise on each feature, in training
	Features  spec.Features `yaml:"features"`

	Scores    string `yaml:"scores,omitempty"`        // path of the file below the data folder
	ScoresSum string `yaml:"scores_sha256,omitempty"` // its checksum; unset: whatever it is

	scores  *predict.Imported
	reading features.Reading
	fits    *predict.Fits
}

func newRouteLLM(s Setup) (routing.Method, error) {
	r := &routeLLM{Extension: "pair", Ties: "drop", Share: 0.5, Strongest: s.Spec.Targets.Strongest, Dims: 32, Epochs: 30, Batch: 64, LR: 0.003, Decay: 1e-5, Noise: 0.1, Features: s.textFeatures(spec.ReadWords, spec.ReadStructure), fits: s.Fits}
	if s.Spec.Features.Words.Buckets == 0 {
		r.Features.Words.Buckets = 256
	}
	var err error
	if r.reading, err = s.decode(r, &r.Features); err != nil {
		return nil, err
	}
	switch {
	case r.Scores == "" && r.ScoresSum != "":
		return nil, paramFault(s.Method, "scores_sha256", "set without scores; name the file")
	case r.Scores == "":
		return r, nil
	case r.Extension != "pair":
		return nil, paramFault(s.Method, "extension", "imported scores compare the strongest expert with the cheapest; want pair, got %q", r.Extension)
	}
	r.scores, r.ScoresSum, err = s.importFile("scores", r.Scores, r.ScoresSum, predict.WinLines)
	return r, err
}

func (*routeLLM) Name() string { return "routellm" }

// Code names what of the program its numbers hang on beside its knobs, and the version of that; "" is nothing. In version 2 imported scores ask
// the most accurate expert where that is the strongest.
func (r *routeLLM) Code() (name string, version int) {
	if r.Scores == "" || r.Strongest != "accuracy" {
		return "", 0
	}
	return "imported", 2
}

// shareLimit is what holds back routers whose knob is set by a share.
const shareLimit = "the strongest expert answers a share of the training questions"

func (r *routeLLM) traits() Traits {
	t := Traits{
		Limit:   shareLimit,
		Network: func(int) Network { return hashed("features.words.", r.Features.Words.Buckets, r.Dims) },
	}
	if r.Scores == "" {
		t.Allowance = Allowance{inWords(r.Features), oneOf(r.Epochs, "epochs")}
	}
	return t
}

func (r *routeLLM) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(r, train)
	if err != nil {
		return nil, err
	}
	if r.scores != nil {
		return r.useScores(ctx, examples, len(train.Experts))
	}
	c, err := predict.NewCorpus(ctx, examples, len(examples), r.reading, withConstant)
	if err != nil {
		return nil, err
	}
	experts := len(train.Experts)
	strongest := dearOfPair(c.Examples, experts, r.Strongest)
	descent := learn.Descent{Epochs: r.Epochs, Batch: r.Batch, LR: r.LR, Decay: r.Decay}
	key, err := predict.KeyOfFit(fmt.Sprintln("factors", work.Seed, r.Extension, r.Ties, strongest, r.Dims, r.Noise, descent), r.reading.Of, nil, c.Examples, func(e routing.Example) []float64 { return e.Kappa })
	if err != nil {
		return nil, err
	}
	model, err := predict.Once(r.fits, key, func() (*learn.Factors, error) {
		preferences := r.preferences(c.Examples, experts, strongest)
		model, accuracy, err := learn.FitFactors(ctx, c.Rows, routing.Questions(c.Examples), c.Width()+1, preferences, experts, r.Dims, r.Noise,
			descent, work.Seed.Derive("routellm", "weights"), work.Seed.Derive("routellm", "batches"))
		work.Log.Debug("preferences fitted to texts", "problems", len(c.Examples), "preferences", len(preferences), "accuracy", accuracy)
		return model, err
	})
	if err != nil {
		return nil, err
	}

	usd, _ := routing.Means(c.Examples, experts)
	unit := predict.DollarUnit(usd)
	price := make([]float64, experts)
	for m := range price {
		price[m] = usd[m] / unit
	}
	of := factorised{Features: c.Set, Factors: model, Price: price}
	if strongest < experts-1 {
		of.Strongest = &strongest
	}
	found, err := of.predict(ctx, routing.Texts(c.Examples))
	if err != nil {
		return nil, err
	}
	highest := make([]float64, len(found))
	for i, s := range found {
		highest[i] = r.highestKnob(s, strongest)
	}
	knobs := r.knobs()
	of.Knob = shareKnob(highest, r.Share, knobs[len(knobs)-1])
	return predict.Keep(train.Experts, work, of, r.router)
}

// Load implements Loader. Where scores are imported nothing is trained, and nothing kept.
func (r *routeLLM) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return predict.Restore(experts, from, work, func(of factorised) (_ routing.Router, err error) {
		if of.Features, err = of.Features.With(r.reading); err != nil {
			return nil, err
		}
		return r.router(of)
	})
}

// dearOfPair returns whom RouteLLM asks beside the cheapest expert: the strongest by a rule or, where that is the cheapest, the dearest.
func dearOfPair(examples []routing.Example, experts int, rule string) int {
	if strongest := routing.Strongest(examples, experts, rule); strongest > 0 {
		return strongest
	}
	return experts - 1
}

// factorised is what a fit learns.
type factorised struct {
	Features features.Set   `json:"features"`
	Factors  *learn.Factors `json:"factors"`
	Price    []float64      `json:"price"` // [M] training mean dollars over those of the strongest
	Knob     float64        `json:"knob"`  // at which the strongest answers its share

	Strongest *int `json:"strongest,omitempty"` // of the pair; nil: the dearest
}

// withConstant reads texts, with one feature more that is always 1.
func withConstant(of features.Set, ctx context.Context, texts []string) ([]policy.Row, error) {
	rows, err := of.Rows(ctx, texts)
	for i := range rows {
		rows[i].IDs, rows[i].Values = append(rows[i].IDs, int32(of.Width())), append(rows[i].Values, 1)
	}
	return rows, err
}

// predict has s(m,x) for pass rates.
func (f factorised) predict(ctx context.Context, texts []string) ([]predict.Scores, error) {
	rows, err := withConstant(f.Features, ctx, texts)
	if err != nil {
		return nil, err
	}
	return parallel.Map(ctx, len(rows), func(i int) predict.Scores { return predict.Scores{Pass: f.Factors.Scores(rows[i]), USD: f.Price} })
}

func (r *routeLLM) router(of factorised) (routing.Router, error) {
	strongest := len(of.Price) - 1
	if of.Strongest != nil {
		strongest = *of.Strongest
	}
	router := predict.NewRouter(len(of.Price), r.knobs(), of.predict, func(s predict.Scores, knob float64) int { return r.choose(s, strongest, knob) })
	router.SetKnob(of.Knob)
	return router, nil
}

func (r *routeLLM) knobs() []float64 {
	if r.Extension == "argmax" {
		return predict.UtilityKnobs()
	}
	return winKnobs()
}

// useScores is Fit with imported scores.
func (r *routeLLM) useScores(ctx context.Context, examples []routing.Example, experts int) (routing.Router, error) {
	knobs := winKnobs()
	strongest := dearOfPair(examples, experts, r.Strongest)
	router := predict.NewRouter(experts, knobs, r.scores.Predict, func(s predict.Scores, knob float64) int {
		if s.Pass[0] >= knob {
			return strongest
		}
		return 0
	})
	router.KeyByID()
	found, err := r.scores.Predict(ctx, routing.ProblemIDs(examples))
	if err != nil {
		return nil, fmt.Errorf("method routellm: %w", err)
	}
	highest := make([]float64, len(found))
	for i, s := range found {
		highest[i] = s.Pass[0]
	}
	router.SetKnob(shareKnob(highest, r.Share, knobs[len(knobs)-1]))
	return router, nil
}

// winKnobs is a sweep of a threshold on a chance to win, lowest first: 0, where the strongest always answers, the
// values at which its logit is -8, -7.9 to 8, and 2, where it never does.
func winKnobs() []float64 {
	knobs := chanceKnobs()
	slices.Reverse(knobs)
	knobs[len(knobs)-1] = 2
	return knobs
}

// choose reads s(m,x) from pass.
func (r *routeLLM) choose(s predict.Scores, strongest int, knob float64) int {
	switch r.Extension {
	case "argmax":
		return predict.Utility(s.Pass, s.USD, knob, 1)
	case "ladder":
		for m := len(s.Pass) - 1; m > 0; m-- {
			if beats(s.Pass, m, m-1) >= knob {
				return m
			}
		}
		return 0
	default:
		if beats(s.Pass, strongest, 0) >= knob {
			return strongest
		}
		return 0
	}
}

// beats is the chance that expert a's answer is preferred to b's (Bradley and Terry).
func beats(s []float64, a, b int) float64 { return learn.Sigmoid(s[a] - s[b]) }

// highestKnob is the largest knob at which the strongest expert answers.
func (r *routeLLM) highestKnob(s predict.Scores, strongest int) float64 {
	switch r.Extension {
	case "argmax":
		strongest := len(s.Pass) - 1
		highest := math.Inf(1)
		for m := range strongest {
			if saved := s.USD[strongest] - s.USD[m]; saved > 0 {
				highest = min(highest, (s.Pass[strongest]-s.Pass[m])/saved)
			} else if s.Pass[m] > s.Pass[strongest] {
				return math.Inf(-1)
			}
		}
		return highest
	case "ladder":
		return beats(s.Pass, len(s.Pass)-1, max(len(s.Pass)-2, 0))
	default:
		return beats(s.Pass, strongest, 0)
	}
}

// shareKnob is the quantile of highest that leaves a share of it, to the nearest question, at or above the knob, and more where questions
// tie there; nothing is above never. A share that no knob reaches gives 0, the dearest setting.
func shareKnob(highest []float64, share, never float64) float64 {
	sorted := slices.Clone(highest)
	slices.Sort(sorted)
	count := int(math.Round(share * float64(len(sorted))))
	if count == 0 {
		return never
	}
	return min(max(sorted[len(sorted)-count], 0), never)
}

// preferences returns those of every question, in the order of the examples: of the cheapest and the strongest
// expert, or of all pairs for the extensions that use all experts.
func (r *routeLLM) preferences(examples []routing.Example, experts, strongest int) []learn.Preference {
	var all []learn.Preference
	for i, e := range examples {
		for a := range experts {
			for b := a + 1; b < experts; b++ { // a is cheaper
				switch {
				case r.Extension == "pair" && (a != 0 || b != strongest):
				case e.Kappa[a] == e.Kappa[b] && r.Ties == "both":
					all = append(all, learn.Preference{Row: i, Winner: a, Loser: b}, learn.Preference{Row: i, Winner: b, Loser: a})
				case e.Kappa[a] > e.Kappa[b], e.Kappa[a] == e.Kappa[b] && r.Ties == "cheap":
					all = append(all, learn.Preference{Row: i, Winner: a, Loser: b})
				case e.Kappa[a] < e.Kappa[b]:
					all = append(all, learn.Preference{Row: i, Winner: b, Loser: a})
				}
			}
		}
	}
	return all
}
