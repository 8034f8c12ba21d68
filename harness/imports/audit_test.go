package imports

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/starting"
)

// clean draws a log as it should be: models of different strength answer the same questions, harder ones less often.
func clean(r *rand.Rand, questions, models, runs int) []Row {
	var rows []Row
	for q := range questions {
		difficulty, gold := r.NormFloat64(), fmt.Sprint(1000+r.IntN(9000))
		for m := range models {
			for run := range runs {
				right := r.Float64() < 1/(1+math.Exp(difficulty-1.5*(float64(m)-1)))
				said := gold
				if !right {
					said = fmt.Sprint(10000 + r.IntN(9000))
				}
				response := strings.Repeat("so ", 20+r.IntN(200)) + fmt.Sprintf("by %d steps the answer is %s", q*100+m*10+run, said)
				rows = append(rows, Row{
					At: fmt.Sprintf("log:%d", len(rows)+1), Question: fmt.Sprint("q", q), Benchmark: []string{"sums", "products"}[q%2], Split: []string{"train", "test"}[q%4/2],
					Problem: fmt.Sprintf("What do %d boxes of %d cost at %d?", q, q+1, q*q), Golds: []string{gold}, Model: fmt.Sprint("model", m),
					Response: &response, Correct: &right, In: int64(40 + q%7), Out: int64(len(response)/4 + r.IntN(9)), USD: math.NaN(), Finish: "stop",
				})
			}
		}
	}
	return rows
}

// audited reads rows and says which checks found something.
func audited(t interface{ Fatal(...any) }, rows []Row, prices map[string]starting.Price) []Finding {
	f := Format{rows: func(_ []File, _ Options, add func(Row) error) ([]string, error) {
		for _, r := range rows {
			if err := add(r); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}}
	l, err := f.Read(context.Background(), nil, Options{CharsPerToken: 4})
	if err != nil {
		t.Fatal(err)
	}
	return l.Audit(l.Priced(prices))
}

func pricesOf(rows []Row) map[string]starting.Price {
	all := map[string]starting.Price{}
	for _, r := range rows {
		all[r.Model] = starting.Price{Price: cost.Price{In: 1, Out: 2}}
	}
	return all
}

// Of fewer than 30 questions nothing comes, which is said and nothing else.
func TestCleanLogsHaveNoFinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		questions := rapid.IntRange(2, 400).Draw(t, "questions")
		rows := clean(r, questions, rapid.IntRange(2, 5).Draw(t, "models"), rapid.IntRange(1, 3).Draw(t, "runs"))
		var want []Finding
		if questions < 30 {
			want = []Finding{{"few questions", fmt.Sprintf("the log has %d questions, too few to say whether a router pays: some hundreds are needed", questions)}}
		}
		if found := audited(t, rows, pricesOf(rows)); !slices.Equal(found, want) {
			t.Fatal(found)
		}
	})
}

// A model of which some answers are lost at random answered other questions, and nothing else is wrong.
func TestAnswersLostAtRandomAreNoSelection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := slices.DeleteFunc(clean(r, 300, 3, 1), func(x Row) bool { return x.Model == "model2" && r.Float64() < 0.4 })
		for _, f := range audited(t, rows, pricesOf(rows)) {
			if f.Check != "different questions" {
				t.Fatal(f)
			}
		}
	})
}

// say changes what a row says into another answer.
func say(r *Row, right bool) {
	answer := r.Golds[0]
	if !right {
		answer = "7"
	}
	text := strings.Replace(*r.Response, "the answer is", "we have", 1) + ", so the answer is " + answer
	r.Response, r.Correct = &text, &right
}

// byQuestion are the rows of each question, by model.
func byQuestion(rows []Row) map[string]map[string]*Row {
	all := map[string]map[string]*Row{}
	for i := range rows {
		r := &rows[i]
		if all[r.Question] == nil {
			all[r.Question] = map[string]*Row{}
		}
		if all[r.Question][r.Model] == nil {
			all[r.Question][r.Model] = r
		}
	}
	return all
}

// again has the first rows, a share of them, once more behind all of them.
func again(share float64) func([]Row) []Row {
	return func(rows []Row) []Row {
		for _, r := range rows[:int(share*float64(len(rows)))] {
			r.At = fmt.Sprintf("log:%d", len(rows)+1)
			rows = append(rows, r)
		}
		return rows
	}
}

// Answers that agree as answers do: short ones often, long ones that a limit cut in their length alone.
func TestAnswersThatAgreeAreNotThereTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		questions := rapid.SampledFrom([]int{15, 300}).Draw(t, "questions")
		rows := clean(r, questions, 3, 2)
		for i := range rows {
			letter, right := string(rune('A'+i/6%4)), true
			switch rows[i].Model {
			case "model0": // is nearly always right, and so always where questions are few
				if right = questions == 15 || r.IntN(20) > 0; !right {
					letter = "E"
				}
				rows[i].Response, rows[i].Golds, rows[i].Correct, rows[i].Out = &letter, []string{string(rune('A' + i/6%4))}, &right, 1
			default: // says nothing but how many tokens there were, nearly always the 2048 that there may be
				rows[i].Response, rows[i].Golds, rows[i].Correct, rows[i].Out = nil, []string{string(rune('A' + i/6%4))}, &right, int64(min(2048, 400+r.IntN(20000)))
			}
		}
		for _, f := range audited(t, rows, pricesOf(rows)) {
			if f.Check == "duplicated answers" {
				t.Fatal(f)
			}
		}
	})
}

// Answers of two models agree letter by letter where their form is given and both are right, or where both refuse, and in their
// tokens where they are as long.
func TestAnswersOfAGivenFormAreNoCopies(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, answer := range map[string]func(q int, right bool) string{
		"objects": func(q int, right bool) string {
			return fmt.Sprintf(`{"boxes": %d, "pens": %d, "unit": "pens", "currency": null, "language": "en", "confidence": "high"}`, q, q*7+bit(!right)*(1+r.IntN(50)))
		},
		"labels": func(q int, right bool) string {
			return fmt.Sprintf("Category %d: contracts that concern the delivery of goods between merchants of two countries", (q+bit(!right))%6)
		},
		"refusals": func(q int, right bool) string {
			if q%5 == 0 {
				return "I'm sorry, but I can't assist with that request. If you have any other questions, feel free to ask me anytime."
			}
			return fmt.Sprintf("So we get %d, since each of these %d boxes holds as many pens as the first one of them does, %v", r.Int(), q, right)
		},
		"numbers": func(q int, right bool) string { return strings.Repeat("7", 1+q%25) + fmt.Sprint(bit(right)) },
	} {
		rows := clean(r, 80, 3, 1)
		for i := range rows {
			text := answer(i/3, *rows[i].Correct)
			rows[i].Response, rows[i].Golds, rows[i].Out = &text, nil, int64(len(text))
		}
		for _, f := range audited(t, rows, pricesOf(rows)) {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// That a column of tokens is another model's shows also where questions are so many that their answers are often as long as others.
func TestTokensOfAnotherModelAmongManyQuestions(t *testing.T) {
	rows := clean(rand.New(rand.NewPCG(1, 2)), 1500, 2, 1)
	for _, m := range byQuestion(rows) {
		m["model1"].Out = m["model0"].Out
	}
	if found := audited(t, rows, pricesOf(rows)); len(found) != 1 || found[0].Check != "copied tokens" {
		t.Error(found)
	}
}

func TestPlantedFraudsAreFound(t *testing.T) {
	of := func(model string, change func(i int, r *Row)) func([]Row) []Row {
		return func(rows []Row) []Row {
			n := 0
			for i := range rows {
				if rows[i].Model == model {
					change(n, &rows[i])
					n++
				}
			}
			return rows
		}
	}
	for name, c := range map[string]struct {
		plant func([]Row) []Row
		runs  int
		want  []string // the checks that speak
		says  string
	}{
		"a column of tokens that nobody counted": {of("model1", func(_ int, r *Row) { r.Out = 512 }), 1, []string{"constant tokens"}, "all 300 answers of model1 have 512 output tokens"},
		"answers that cost nothing":              {of("model1", func(i int, r *Row) { r.Out *= int64(bit(i%10 > 0)) }), 1, []string{"zero tokens"}, "30 of 300 answers of model1 have no output tokens"},
		"questions that cost nothing":            {of("model1", func(i int, r *Row) { r.In *= int64(bit(i%10 > 0)) }), 1, []string{"zero tokens"}, "30 of 300 answers of model1 have no input tokens"},
		"tokens of another model": {func(rows []Row) []Row {
			for _, m := range byQuestion(rows) {
				m["model2"].Out = m["model0"].Out
			}
			return rows
		}, 1, []string{"copied tokens"}, "model0 and model2 have the same number of output tokens on 300 of 300"},
		"no tokens at all": {of("model1", func(_ int, r *Row) { r.In, r.Out = unsaid, unsaid }), 1, []string{"estimated tokens"},
			"the log lacks input and output tokens of 300 of 1200 answers, and characters stand in their place, which do not count thinking that is hidden"},
		"no output tokens": {of("model1", func(_ int, r *Row) { r.Out = unsaid }), 1, []string{"estimated tokens"},
			"the log lacks output tokens of 300 of 1200 answers, and characters stand in their place, which do not count thinking that is hidden"},
		"tokens of streams": {of("model1", func(i int, r *Row) {
			if i < 40 {
				r.In = unsaid
			}
			if i < 50 {
				r.Out = unsaid
			}
		}), 1, []string{"estimated tokens"}, "the log lacks input and output tokens of up to 50 of 1200 answers, and characters"},
		"no tokens anywhere": {func(rows []Row) []Row {
			for i := range rows {
				rows[i].Out = unsaid
			}
			return rows
		}, 1, []string{"estimated tokens"}, "the log lacks output tokens, and characters stand in their place, which do not count thinking that is hidden"},
		"parts of an answer": {of("model1", func(i int, r *Row) { r.Partial, r.Opaque = i < 40, true }), 1, []string{"partial scores"},
			"40 of 1200 answers have a score between 0 and 1, which counts as wrong; --correct-from says from which score on an answer is right"},
		"no input tokens": {of("model1", func(_ int, r *Row) { r.In = unsaid }), 1, []string{"estimated tokens"},
			"the log lacks input tokens of 300 of 1200 answers, and characters of the questions stand in their place, which do not count what was sent with them"},
		"a log twice":                     {again(1), 1, []string{"duplicated answers"}, "300 of 300 further answers of model3 have text and tokens of an earlier one to the same question, such as those at log:4 and log:1204: the log has them twice, or"},
		"a part of a log twice":           {again(0.05), 1, []string{"duplicated answers"}, "15 of 15 further answers of model0"},
		"a log of several answers, twice": {again(1), 3, []string{"duplicated answers"}, "900 of 1500 further answers of model0"},
		"answers drawn without chance": {func(rows []Row) []Row {
			for i := range rows {
				rows[i].Response, rows[i].Correct, rows[i].Out = rows[i-i%8].Response, rows[i-i%8].Correct, rows[i-i%8].Out
			}
			return slices.DeleteFunc(rows, func(r Row) bool { return r.Model != "model0" })
		}, 8, []string{"duplicated answers", "one model"}, "2100 of 2100 further answers of model0"},
		"labels and tokens twice": {func(rows []Row) []Row {
			for i := range rows {
				rows[i].Response = nil
			}
			return again(1)(rows)
		}, 1, []string{"duplicated answers"}, "further answers of model2 have verdict and tokens of an earlier one"},
		"letters twice": {func(rows []Row) []Row {
			for i := range rows {
				letter := string(rune('A' + (i/4+i)%3))
				rows[i].Response, rows[i].Correct, rows[i].Golds, rows[i].Out = &letter, nil, []string{string(rune('A' + i/4%3))}, 1
			}
			return again(1)(rows)
		}, 1, []string{"duplicated answers"}, "300 of 300 further answers of model1"},
		"questions twice": {func(rows []Row) []Row {
			for i := range rows {
				if rows[i].Question == "q8" {
					rows[i].Problem = strings.ToUpper(" What do 0 boxes of 1 cost at  0?")
					rows[i].Golds = rows[0].Golds
				}
			}
			return rows
		}, 1, []string{"duplicated prompts"}, "1 pair of questions of one benchmark have the same text but for capitals and spaces, such as sums-q0 and sums-q8"},
		"a question with two golds": {func(rows []Row) []Row {
			for i := range rows {
				if rows[i].Question == "q8" {
					rows[i].Problem = rows[0].Problem
				}
			}
			return rows
		}, 1, []string{"duplicated prompts", "contradicting golds"}, "such as sums-q0 and sums-q8"},
		"a question of training in the test": {func(rows []Row) []Row {
			for i := range rows {
				if rows[i].Question == "q2" {
					rows[i].Problem, rows[i].Golds = rows[0].Problem, rows[0].Golds
				}
			}
			return rows
		}, 1, []string{"train/test overlap"}, "in two splits, such as sums-q0 and sums-q2"},
		"golds in prompts": {func(rows []Row) []Row {
			for i := range rows {
				if rows[i].Question == "q5" || rows[i].Question == "q7" {
					rows[i].Problem += " (Answer: " + rows[i].Golds[0] + ")"
				}
			}
			return rows
		}, 1, []string{"golds in prompts"}, "the text of 2 questions says its own answer, such as that of products-q5"},
		"answers that were cut": {of("model2", func(i int, r *Row) {
			if i%20 == 0 {
				r.Finish = "length"
			}
		}), 1, []string{"truncation"}, "15 of 300 answers of model2 were cut"},
		"a limit that is hidden": {of("model2", func(_ int, r *Row) { r.Out = min(r.Out, 120) }), 1, []string{"truncation"}, "exactly 120 output tokens"},
		"an oracle among the models": {func(rows []Row) []Row {
			for _, m := range byQuestion(rows) {
				say(m["model3"], *m["model0"].Correct || *m["model1"].Correct || *m["model2"].Correct)
			}
			return rows
		}, 1, []string{"answers of others"}, "model3 is right exactly where another model is"},
		"the log of a cascade": {func(rows []Row) []Row {
			all := byQuestion(rows)
			return slices.DeleteFunc(rows, func(r Row) bool { return r.Model == "model3" && *all[r.Question]["model0"].Correct })
		}, 1, []string{"different questions", "selection"}, "whether model3 has an answer depends on how model0 did"},
		"only what a model got right": {func(rows []Row) []Row {
			return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Model == "model1" && !*r.Correct })
		}, 1, []string{"different questions", "selection"}, "whether model1 has an answer depends on how"},
		"the log of a router": {func(rows []Row) []Row {
			return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Model != fmt.Sprint("model", len(r.Problem)%4) })
		}, 1, []string{"selection"}, "no question has answers of two models"},
		"models that were asked other questions": {func(rows []Row) []Row {
			return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Model == "model1" && r.Benchmark == "sums" })
		}, 1, []string{"different questions"}, "150 of 300 questions have answers of all 4 models, from model0 with 300 to model1 with 150"},
		"models that were asked as many others": {func(rows []Row) []Row {
			return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Question == "q"+strings.TrimPrefix(r.Model, "model") })
		}, 1, []string{"different questions"}, "296 of 300 questions have answers of all 4 models, and each model has answers to 299"},
		"the best of several first": {func(rows []Row) []Row {
			slices.SortStableFunc(rows, func(a, b Row) int {
				if a.Question != b.Question || a.Model != b.Model || a.Model != "model1" {
					return 0
				}
				return bit(*b.Correct) - bit(*a.Correct)
			})
			return rows
		}, 3, []string{"best first"}, "the best of several was put first"},
		"labels that are too kind": {of("model0", func(i int, r *Row) {
			if i%10 == 0 {
				kind := true
				r.Correct = &kind
			}
		}), 1, []string{"labels"}, "are right in the log alone, 0 by the verifier alone"},
		"answers of another model": {func(rows []Row) []Row {
			for _, m := range byQuestion(rows) {
				m["model1"].Response, m["model1"].Correct = m["model2"].Response, m["model2"].Correct
			}
			return rows
		}, 1, []string{"copied answers"}, "300 of 300 long answers of model1 and model2 are the same"},
		"answers that never came": {of("model1", func(i int, r *Row) {
			if i%10 == 0 {
				none, wrong := "", false
				r.Response, r.Correct, r.Out = &none, &wrong, 0
			}
		}), 1, []string{"empty answers"}, "30 of 300 answers of model1 are empty"},
		"thinking that a limit cut before an answer": {of("model1", func(i int, r *Row) {
			if i%10 == 0 {
				none, wrong := "", false
				r.Response, r.Correct, r.Finish = &none, &wrong, "length"
			}
		}), 1, []string{"truncation"}, "30 of 300 answers of model1 were cut by a limit of tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			rows := c.plant(clean(rand.New(rand.NewPCG(1, 2)), 300, 4, c.runs))
			found := audited(t, rows, pricesOf(rows))
			checks := map[string]bool{}
			said := false
			for _, f := range found {
				checks[f.Check] = true
				said = said || strings.Contains(f.Text, c.says)
				if !slices.Contains(c.want, f.Check) {
					t.Errorf("an alarm that is none: %v", f)
				}
			}
			for _, check := range c.want {
				if !checks[check] {
					t.Errorf("%s is not found; found: %v", check, found)
				}
			}
			if !said {
				t.Errorf("no finding says %q: %v", c.says, found)
			}
		})
	}
	t.Run("prices that nobody knows", func(t *testing.T) {
		rows := clean(rand.New(rand.NewPCG(1, 2)), 30, 2, 1)
		found := audited(t, rows, map[string]starting.Price{"model0": {Price: cost.Price{Out: 1}}})
		if len(found) != 1 || found[0].Check != "unknown prices" || !strings.Contains(found[0].Text, "no price of model1;") {
			t.Error(found)
		}
	})
}

// Examples before a question say answers, and now and then by chance its own.
func TestExamplesInPromptsAreNoGolds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rows := clean(r, 300, 2, 1)
	golds := map[string]string{}
	for i := range rows {
		if golds[rows[i].Question] == "" {
			golds[rows[i].Question] = fmt.Sprint(r.IntN(10))
		}
		rows[i].Golds, rows[i].Correct = []string{golds[rows[i].Question]}, nil
		rows[i].Problem = "1 + 1? Answer: 2\n3 + 4? Answer: 7\n" + rows[i].Problem + " Answer:"
	}
	for _, f := range audited(t, rows, pricesOf(rows)) {
		if f.Check == "golds in prompts" {
			t.Error(f)
		}
	}
}

func TestPricesAreInferredWhereTheyExplainEveryBill(t *testing.T) {
	p := cost.Price{In: 0.05, Out: 0.4}
	in, out, usd := []int64{100, 200, 50, 10}, []int64{10, 400, 90, 4000}, []float64(nil)
	for k := range in {
		usd = append(usd, p.USD(cost.Usage{In: in[k], Out: out[k]}, true))
	}
	if got, ok := infer(in, out, usd); !ok || got != p {
		t.Error(got, ok)
	}
	usd[2] *= 1.5
	if got, ok := infer(in, out, usd); ok {
		t.Error("a bill that no price explains: ", got)
	}
	if got, ok := infer(in[:2], out[:2], usd[:2]); ok {
		t.Error("two bills are explained by any prices: ", got)
	}
}

// Lines in another order are the same log: the same lines of a recording, and the same findings of the same number.
func TestTheOrderOfLinesIsNoMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := clean(r, rapid.IntRange(1, 12).Draw(t, "questions"), 3, 1)
		for i := range rows { // some say no split, were cut or are of another model
			switch r.IntN(6) {
			case 0:
				rows[i].Split = ""
			case 1:
				rows[i].Finish = "length"
			case 2:
				rows[i].Model = "rest"
			}
		}
		read := func() (lines []string, checks map[string]int) {
			f := Format{rows: func(_ []File, _ Options, add func(Row) error) ([]string, error) {
				for _, x := range rows {
					if err := add(x); err != nil {
						return nil, err
					}
				}
				return nil, nil
			}}
			l, err := f.Read(t.Context(), nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			queries, outcomes, err := l.Lines()
			if err != nil {
				t.Fatal(err)
			}
			checks = map[string]int{}
			for _, found := range l.Audit(nil) {
				checks[found.Check]++
			}
			lines = strings.Split(string(queries)+string(outcomes), "\n")
			slices.Sort(lines)
			return lines, checks
		}
		seen := map[string]bool{} // one answer of each model to a question, since the first is scored
		rows = slices.DeleteFunc(rows, func(x Row) bool {
			key := x.Question + " " + x.Model
			twice := seen[key]
			seen[key] = true
			return twice
		})
		lines, checks := read()
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if again, others := read(); !slices.Equal(lines, again) || !maps.Equal(checks, others) {
			t.Fatalf("%q, %v\n%q, %v", lines, checks, again, others)
		}
	})
}
