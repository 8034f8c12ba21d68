// Rollouts: what is stored is read and graded, what is not is asked for, and nothing is asked twice.

package asking

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// Block is so many answers of some models to every problem of a set.
type Block struct {
	Experts  []routing.Expert
	Split    routing.Split
	Problems []routing.Problem
	Runs     int
}

// Wants says whether a block has answers of a model under a split.
func (b Block) Wants(x routing.Expert, split routing.Split) bool {
	return b.Split == split && slices.ContainsFunc(b.Experts, func(y routing.Expert) bool { return x.ID == y.ID })
}

// stored returns what is stored under a scope. A scope is read once: the problem sets of an experiment share it, and
// Gather keeps it up to date.
func (a *Asker) stored(ctx context.Context, scope store.Scope) (*known, error) {
	if have, ok := a.read[scope]; ok {
		return have, nil
	}
	have := &known{rows: map[store.RolloutKey]kept{}, failed: map[store.RolloutKey]store.Failed{}}
	if a.rollouts == nil {
		return have, nil
	}
	for s, err := range a.rollouts.Load(ctx, scope, verify.Version) {
		if err != nil {
			return nil, err
		}
		k := kept{Graded{"", cost.Usage{In: s.In, Out: s.Out}}, s.Verdict.Gold, s.ID}
		if i := slices.Index(routing.Buckets[:], s.Verdict.Bucket); i >= 0 {
			k.Bucket = routing.Buckets[i] // one string for all rollouts
		}
		have.rows[s.Key] = k
	}
	var err error
	if have.failed, err = a.failures(ctx, scope); err != nil {
		return nil, err
	}
	if a.read == nil {
		a.read = map[store.Scope]*known{}
	}
	a.read[scope] = have
	return have, nil
}

// failures are the rollouts of a scope that were asked for and have no answer. What was answered is not read for them.
func (a *Asker) failures(ctx context.Context, scope store.Scope) (map[store.RolloutKey]store.Failed, error) {
	if have, ok := a.read[scope]; ok {
		return have.failed, nil
	}
	failed := map[store.RolloutKey]store.Failed{}
	if a.rollouts == nil {
		return failed, nil
	}
	for f, err := range a.rollouts.Failures(ctx, scope) {
		if err != nil {
			return nil, err
		}
		failed[f.Key] = f
	}
	return failed, nil
}

// question is one rollout to be had: a run of a text. Problems of a set that share a text share its rollouts, each
// graded against its own answer.
type question struct {
	problems []int // indices of the problems with this text
	run      int
	key      store.RolloutKey
}

// questions are the rollouts that a block has of one of its models, each once.
func (a *Asker) questions(x routing.Expert, b Block) []question {
	byText := map[store.TextKey][]int{}
	texts := make([]store.TextKey, len(b.Problems))
	for p, problem := range b.Problems {
		texts[p] = store.KeyOfText(problem.Text)
		byText[texts[p]] = append(byText[texts[p]], p)
	}
	var all []question
	for p, problem := range b.Problems {
		if of := byText[texts[p]]; of[0] == p {
			for run := range b.Runs {
				all = append(all, question{of, run, a.key(x, b.Split, problem, texts[p], run)})
			}
		}
	}
	return all
}

// key is where a rollout of a problem is stored below the scope of its expert.
func (a *Asker) key(expert routing.Expert, split routing.Split, problem routing.Problem, text store.TextKey, run int) store.RolloutKey {
	s := seed.Seed(a.plan.Spec.Experiment.Seed).Derive("rollout", string(split), problem.Text, expert.ID, run)
	return store.RolloutKey{Problem: text, Run: run, Seed: experts.WireSeed(s)}
}

// lacks says whether an answer is to be asked for: it is not stored, and it did not fail before, or asking again may help.
func (a *Asker) lacks(have *known, k store.RolloutKey) bool {
	if _, ok := have.rows[k]; ok {
		return false
	}
	f, ok := have.failed[k]
	return !ok || f.Again && a.plan.Options.Again
}

// wants are the answers that one model gives to the problems of some blocks, stored or not.
type wants struct {
	expert    routing.Expert
	scope     store.Scope
	have      *known
	questions []asked // each key once
}

// asked is one answer.
type asked struct {
	problem *routing.Problem // the first that has the text: what is stored is graded against its answer
	run     int
	key     store.RolloutKey
}

// wants returns the answers of some blocks by model and scope, in the order of the blocks.
func (a *Asker) wants(ctx context.Context, blocks []Block) ([]*wants, error) {
	type source struct {
		scope  store.Scope
		expert string
	}
	by := map[source]*wants{}
	wanted := map[*wants]map[store.RolloutKey]bool{}
	var all []*wants
	for _, b := range blocks {
		for _, x := range b.Experts {
			of := source{a.Scope(x, b.Split), x.ID}
			m := by[of]
			if m == nil {
				have, err := a.stored(ctx, of.scope)
				if err != nil {
					return nil, err
				}
				m = &wants{expert: x, scope: of.scope, have: have}
				by[of], wanted[m] = m, map[store.RolloutKey]bool{}
				all = append(all, m)
			}
			for _, q := range a.questions(x, b) {
				if !wanted[m][q.key] {
					wanted[m][q.key] = true
					m.questions = append(m.questions, asked{&b.Problems[q.problems[0]], q.run, q.key})
				}
			}
		}
	}
	return all, nil
}

// lacking are the answers that are to be asked for.
func (a *Asker) lacking(m *wants) (todo []asked) {
	for _, q := range m.questions {
		if a.lacks(m.have, q.key) {
			todo = append(todo, q)
		}
	}
	return todo
}

// row is the row of an answer that is yet to come.
func (q asked) row() store.Row {
	return store.Row{Text: q.problem.Text, Run: q.run, Seed: q.key.Seed}
}

// Gather asks for all answers of some blocks that are neither stored nor known not to be had, of all models at the same time.
// A request that fails is kept as such and ends no other. What was answered is kept whatever happens; Unanswered says
// what was not.
func (a *Asker) Gather(ctx context.Context, blocks []Block) error {
	all, err := a.wants(ctx, blocks)
	if err != nil {
		return err
	}
	var todo []queue
	var mu sync.Mutex // of what is known
	for _, m := range all {
		lacking, have := a.lacking(m), m.have
		if len(lacking) == 0 {
			continue
		}
		if a.plan.Options.Offline {
			return fmt.Errorf("%w: %d of %d rollouts of %s are not stored and --offline forbids asking for them", steps.ErrIncomplete, len(lacking), len(m.questions), m.expert.ID)
		}
		q := queue{expert: m.expert, shortest: lacking[0].problem, longest: lacking[0].problem}
		for _, ask := range lacking {
			if err := ctx.Err(); err != nil {
				return err
			}
			if n := len(ask.problem.Text); n < len(q.shortest.Text) {
				q.shortest = ask.problem
			} else if n > len(q.longest.Text) {
				q.longest = ask.problem
			}
			q.requests = append(q.requests, request{
				scope: m.scope, row: ask.row(),
				prompt: experts.Prompt(m.expert.Sampling.Prompt, ask.problem.Text),
				grade:  func(c experts.Completion) store.Verdict { return Grade(*ask.problem, c.Text, c.Finish) },
				kept: func(c experts.Completion, v store.Verdict, id store.RolloutID) {
					mu.Lock()
					defer mu.Unlock()
					have.rows[ask.key] = kept{Graded{v.Bucket, c.Usage}, v.Gold, id}
					delete(have.failed, ask.key)
				},
				before: have.failed[ask.key].Class,
				failed: func(f *experts.Failure, again bool) {
					mu.Lock()
					defer mu.Unlock()
					have.failed[ask.key] = store.Failed{Key: ask.key, Class: string(f.Class), Error: f.Error(), Again: again}
				},
			})
		}
		todo = append(todo, q)
	}
	if todo == nil {
		return nil
	}
	for i := range todo {
		q := &todo[i]
		own, _ := a.pool.Own(q.expert.ID)
		var err error
		if a.pool.SourceOf(q.expert.ID) != spec.Answered {
			if q.pool, err = a.experts(ctx); err == nil {
				err = a.client.Room(ctx, q.expert.ID, planned(q.expert, q.shortest), planned(q.expert, q.longest))
			}
		} else if a.plan.Options.Data == "" {
			err = fmt.Errorf("%w: the answers of expert %s are read from %s; say in which folder with --data DIR", spec.ErrUsage, own.ID, own.Answers.Path)
		} else {
			q.answers, err = experts.LoadAnswers(ctx, a.plan.Options.Data, *own.Answers, own.ID)
		}
		if err != nil {
			return err
		}
	}
	had := 0
	for _, m := range all {
		a.rollouts.Want(m.scope, len(m.questions))
		had += len(m.questions)
	}
	asked := map[string]bool{} // one may be wanted for several sets of questions
	for _, q := range todo {
		asked[q.expert.ID] = true
	}
	what := fmt.Sprintf("asking %d models", len(asked))
	if len(asked) == 1 {
		what = "asking " + todo[0].expert.ID
	}
	for _, q := range todo {
		had -= len(q.requests)
	}
	if had > 0 {
		what += fmt.Sprintf(" (answers that are stored: %d)", had)
		a.plan.Options.Log.Info("going on", "answers that are there", had)
	}
	if err := a.gather(ctx, what, todo); err != nil {
		return err
	}
	return cmp.Or(a.sayRepeated(ctx, all), a.sayCounted(ctx, all))
}

// sayRepeated warns of models that give the same text again and again where they are to draw: a server that leaves seeds or the
// temperature unread, or a proxy that remembers answers, gives pass rates of fewer samples than they seem.
func (a *Asker) sayRepeated(ctx context.Context, all []*wants) error {
	drawn := slices.DeleteFunc(slices.Clone(all), func(m *wants) bool {
		return m.expert.Sampling.Temperature == 0 && m.expert.Sampling.LeaveOut == ""
	})
	return a.sayMany(ctx, drawn, a.rollouts.Repeated, "repeated", "answers repeat another one to the same problem, byte for byte: does the server read seed and temperature?")
}

// sayCounted warns of models whose servers do not say how many tokens answers have.
func (a *Asker) sayCounted(ctx context.Context, all []*wants) error {
	return a.sayMany(ctx, all, a.rollouts.Counted, "counted here", "the server does not say how many tokens answers have, or says what cannot be: they are taken for four bytes each, and dollars follow from that")
}

// few is the share of a model's answers that something may be true of before it is said.
const few = 0.005

// sayMany warns of models with more than a few answers that count finds among all of theirs, under what those are called.
func (a *Asker) sayMany(ctx context.Context, all []*wants, count func(context.Context, store.Scope) (answers, found int64, err error), called, text string) error {
	for _, m := range all {
		n, found, err := count(ctx, m.scope)
		if err != nil {
			return err
		}
		if float64(found) > few*float64(n) {
			a.plan.Options.Log.Warn(text, "expert", m.expert.ID, "split", m.scope.Split, called, found, "of", n)
		}
	}
	return nil
}

// Ask returns the graded rollouts of one model of a block, [len(problems)][runs], after Gather. What is stored but not graded
// by this verifier against this answer is graded from its text. What is not to be had is Unanswered.
func (a *Asker) Ask(ctx context.Context, x routing.Expert, b Block) ([][]Graded, error) {
	b.Experts = []routing.Expert{x}
	if err := a.Gather(ctx, []Block{b}); err != nil {
		return nil, err
	}
	scope := a.Scope(x, b.Split)
	have, err := a.stored(ctx, scope)
	if err != nil {
		return nil, err
	}
	out := make([][]Graded, len(b.Problems))
	for p := range out {
		out[p] = make([]Graded, b.Runs)
	}
	ungraded := map[store.RolloutID]question{}
	for _, q := range a.questions(x, b) {
		s, ok := have.rows[q.key]
		if !ok {
			s.Bucket = routing.Unanswered
		}
		for _, p := range q.problems {
			out[p][q.run] = s.Graded
			if ok && (s.Bucket == "" || s.gold != store.GoldKey(b.Problems[p])) {
				ungraded[s.id] = q
			}
		}
	}
	return out, a.regrade(ctx, scope, ungraded, b.Problems, have, out)
}

func planned(x routing.Expert, p *routing.Problem) experts.Planned {
	return experts.Planned{Problem: p.ID, Prompt: experts.Prompt(x.Sampling.Prompt, p.Text)}
}

// Unanswered is a digest of the answers of a block that were asked for and are not to be had; empty if there are none. Those
// that may be had when asked again count only if all do.
func (a *Asker) Unanswered(ctx context.Context, b Block, all bool) (string, error) {
	if len(b.Problems) == 0 {
		return "", nil
	}
	digest := sha256.New()
	found := false
	for _, x := range b.Experts {
		failed, err := a.failures(ctx, a.Scope(x, b.Split))
		if err != nil {
			return "", err
		}
		if len(failed) == 0 {
			continue
		}
		for _, q := range a.questions(x, b) {
			if f, ok := failed[q.key]; ok && (all || !f.Again) {
				found = true
				fmt.Fprintf(digest, "%s %x %d %d\n", x.ID, q.key.Problem, q.run, q.key.Seed)
			}
		}
	}
	if !found {
		return "", nil
	}
	return hex.EncodeToString(digest.Sum(nil)[:8]), nil
}

// MayBeHad counts the answers of some blocks that failed and may be had when asked for again, each once.
func (a *Asker) MayBeHad(ctx context.Context, blocks ...Block) (int, error) {
	type answer struct {
		scope store.Scope
		key   store.RolloutKey
	}
	counted := map[answer]bool{}
	for _, b := range blocks {
		for _, x := range b.Experts {
			scope := a.Scope(x, b.Split)
			failed, err := a.failures(ctx, scope)
			if err != nil {
				return 0, err
			}
			if len(failed) == 0 {
				continue
			}
			for _, q := range a.questions(x, b) {
				if failed[q.key].Again {
					counted[answer{scope, q.key}] = true
				}
			}
		}
	}
	return len(counted), nil
}

// Failing says whether some answer of the models of a block, to whatever problem, is not to be had.
func (a *Asker) Failing(ctx context.Context, b Block) (bool, error) {
	for _, x := range b.Experts {
		failed, err := a.failures(ctx, a.Scope(x, b.Split))
		if err != nil || len(failed) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// Usual is what an answer of a model takes: on average of those that are stored, of problems of whatever split. If there are
// none, Measured is false, tokens are the most that one can take, its prompt guessed, and the seconds are not known.
type Usual struct {
	In, Out  float64 // tokens
	Seconds  float64
	Measured bool
}

// Usual is what an answer of a model takes.
func (a *Asker) Usual(ctx context.Context, x routing.Expert) (u Usual, err error) {
	n, paced := 0.0, 0.0
	for _, split := range []routing.Split{routing.Train, routing.Strata, routing.Test} {
		have, err := a.stored(ctx, a.Scope(x, split))
		if err != nil {
			return u, err
		}
		for _, k := range have.rows {
			u.In, u.Out, n = u.In+float64(k.Usage.In), u.Out+float64(k.Usage.Out), n+1
		}
		if len(have.rows) == 0 {
			continue
		}
		if seconds, ok, err := a.rollouts.Pace(ctx, a.Scope(x, split)); err != nil {
			return u, err
		} else if ok {
			u.Seconds, paced = u.Seconds+seconds, paced+1
		}
	}
	if n == 0 {
		return Unmeasured(x), nil
	}
	return Usual{u.In / n, u.Out / n, u.Seconds / max(1, paced), true}, nil
}

// Unmeasured is the most that an answer of a model takes, its prompt apart.
func Unmeasured(x routing.Expert) Usual {
	return Usual{In: frame, Out: float64(cmp.Or(x.MaxTokens, longest))}
}

// Times is what so many answers take and cost, prompts included.
func (u Usual) Times(n int, p cost.Price) (tokens, usd float64) {
	return float64(n) * (u.In + u.Out), float64(n) * (u.In*p.In + u.Out*p.Out) / 1e6
}

// Missing counts the answers of a block that are to be asked for, but for those that others want too.
func (a *Asker) Missing(ctx context.Context, b Block, others ...Block) (n int, err error) {
	for _, x := range b.Experts {
		have, err := a.stored(ctx, a.Scope(x, b.Split))
		if err != nil {
			return 0, err
		}
		counted := map[store.RolloutKey]bool{}
		for _, o := range others {
			if o.Wants(x, b.Split) {
				for _, q := range a.questions(x, o) {
					counted[q.key] = true
				}
			}
		}
		for _, q := range a.questions(x, b) {
			if a.lacks(have, q.key) && !counted[q.key] {
				n++
			}
		}
	}
	return n, nil
}

// Grade grades a response.
func Grade(p routing.Problem, response string, finish routing.Finish) store.Verdict {
	v := store.Verdict{Gold: store.GoldKey(p)}
	if finish == routing.Length {
		v.Bucket, v.Reason = routing.Truncated, string(routing.Length)
		return v
	}
	decided := p.Key().Grade(response)
	v.Bucket, v.Reason, v.Extracted = routing.BucketOf(decided), decided.Reason, decided.Extracted
	return v
}

// regrade grades the stored rollouts that have no verdict of this verifier on this answer.
func (a *Asker) regrade(ctx context.Context, scope store.Scope, ungraded map[store.RolloutID]question, problems []routing.Problem, have *known, out [][]Graded) error {
	if len(ungraded) == 0 {
		return nil
	}
	task := a.plan.Options.Progress.Start("grading again", len(ungraded))
	defer task.Done()
	var verdicts []store.Verdict
	for got, err := range a.rollouts.Responses(ctx, scope) {
		if err != nil {
			return err
		}
		q, ok := ungraded[got.ID]
		if !ok {
			continue
		}
		for k, p := range q.problems {
			v := Grade(problems[p], got.Response, got.Finish)
			out[p][q.run].Bucket = v.Bucket
			if v.Rollout = got.ID; k == 0 {
				verdicts = append(verdicts, v)
				have.rows[q.key] = kept{out[p][q.run], v.Gold, got.ID}
			}
		}
		task.Add(1)
	}
	return a.rollouts.PutVerdicts(ctx, verify.Version, verdicts)
}

// Answer is a stored rollout with its text, or the failure in its place.
type Answer struct {
	Prompt string // the message that was sent
	store.Stored
	Response  string
	Reasoning string        // thinking that was sent apart
	Verdict   store.Verdict // of the present verifier
	Failed    *store.Failed // nil: it was answered; else there is only the prompt
}

// Given is what an expert answered under a split, as it was stored when it was read.
type Given struct {
	asker  *Asker
	expert routing.Expert
	split  routing.Split
	stored map[store.RolloutKey]store.Stored
	failed map[store.RolloutKey]store.Failed
}

// Given reads what an expert answered under a split.
func (a *Asker) Given(ctx context.Context, x routing.Expert, split routing.Split) (*Given, error) {
	have, err := a.load(ctx, a.Scope(x, split), verify.Version)
	if err != nil {
		return nil, err
	}
	failed, err := a.failures(ctx, a.Scope(x, split))
	return &Given{a, x, split, have, failed}, err
}

// Verdicts are those of the present verifier on the answers to a problem, a run each, without a look at the answers: empty where there
// is none, or one by another right answer to the same text.
func (g *Given) Verdicts(p routing.Problem, runs int) []store.Verdict {
	of := make([]store.Verdict, runs)
	text, gold := store.KeyOfText(p.Text), store.GoldKey(p)
	for run := range of {
		if v := g.stored[g.asker.key(g.expert, g.split, p, text, run)].Verdict; v.Gold == gold {
			of[run] = v
		}
	}
	return of
}

// To reads the answers to a problem, a run each. One that is neither stored nor known not to be had is an error.
func (g *Given) To(ctx context.Context, p routing.Problem, runs int) ([]Answer, error) {
	var out []Answer
	a, prompt := g.asker, experts.Prompt(g.expert.Sampling.Prompt, p.Text)
	for run := range runs {
		key := a.key(g.expert, g.split, p, store.KeyOfText(p.Text), run)
		s, ok := g.stored[key]
		if f, failed := g.failed[key]; failed && !ok {
			out = append(out, Answer{Prompt: prompt, Failed: &f})
			continue
		}
		if !ok {
			return nil, fmt.Errorf("%w: the rollout of %s on problem %s, run %d, is gone from rollouts.db in %s; %s", steps.ErrIncomplete, g.expert.ID, p.ID, run, a.plan.Options.Out, a.again())
		}
		response, reasoning, err := a.rollouts.Texts(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, Answer{Prompt: prompt, Stored: s, Response: response, Reasoning: reasoning, Verdict: Grade(p, response, s.Finish)})
	}
	return out, nil
}

// Answered returns to which of some test problems a rollout of the pool is the answer; ok is false if to none.
func (a *Asker) Answered(ctx context.Context, rollout store.RolloutID, problems []routing.Problem) (p routing.Problem, ok bool, err error) {
	if a.rollouts == nil {
		return p, false, fmt.Errorf("%w: rollouts.db is gone from %s; put it back, or %s", steps.ErrIncomplete, a.plan.Options.Out, a.again())
	}
	byText := map[store.TextKey]routing.Problem{}
	for _, p := range problems {
		byText[store.KeyOfText(p.Text)] = p
	}
	for _, x := range a.pool.Members() {
		have, err := a.load(ctx, a.Scope(x, routing.Test), "")
		if err != nil {
			return p, false, err
		}
		for k, s := range have {
			if p, ok := byText[k.Problem]; ok && s.ID == rollout {
				return p, true, nil
			}
		}
	}
	return p, false, nil
}

// again says how answers are made again that are gone.
func (a *Asker) again() string {
	return "remove stages/outcomes and stages/measure there and run the experiment again: entrorouter run " + a.plan.Spec.Named
}

// load reads the rollouts of a scope by key, with the verdicts of a version of the verifier.
func (a *Asker) load(ctx context.Context, scope store.Scope, verifier string) (map[store.RolloutKey]store.Stored, error) {
	out := map[store.RolloutKey]store.Stored{}
	if a.rollouts == nil {
		return out, nil
	}
	for s, err := range a.rollouts.Load(ctx, scope, verifier) {
		if err != nil {
			return nil, err
		}
		out[s.Key] = s
	}
	return out, nil
}
