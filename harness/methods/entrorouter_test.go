package methods

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestEntroRouterSendsEasyToCheapAndHardToStrong(t *testing.T) {
	set, qs := planted(400), fresh(200)
	for _, params := range []string{"", "grpo: {estimator: exact}", "sft: {dropout: 0.1}"} {
		right := 0
		for i, d := range route(t, fit(t, build(t, "entrorouter", params), set, 1), qs) {
			want := 0
			if isHard(i) {
				want = 2
			}
			if d.Expert == want {
				right++
			}
		}
		if right < 190 {
			t.Errorf("%q: %d of 200 queries go to the cheapest expert that solves them", params, right)
		}
	}
}

func TestALoadedPolicyIsTheFittedOne(t *testing.T) {
	set, qs := planted(100), fresh(20)
	for _, kind := range []string{"sft", "entrorouter", "entroplus"} {
		for _, decoding := range []string{"argmax", "sample"} {
			s := setup(t, kind, "")
			s.Spec.Evaluate.Decoding = decoding
			m, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			fitted, loaded := work(3), work(3)
			fitted.Dir, loaded.Dir = t.TempDir(), t.TempDir()
			before, err := m.Fit(t.Context(), set, fitted)
			if err != nil {
				t.Fatal(err)
			}
			defer before.(*policyRouter).Close()
			after, err := m.(Loader).Load(t.Context(), set.Experts, fitted.Dir, loaded)
			if err != nil {
				t.Fatal(err)
			}
			defer after.(*policyRouter).Close()
			if diff := cmp.Diff(route(t, before, qs), route(t, after, qs)); diff != "" {
				t.Errorf("%s, %s: %s", kind, decoding, diff)
			}
			for _, name := range []string{"checkpoint/config.json", "checkpoint/weights.safetensors", "curve.csv"} {
				want, err := os.ReadFile(filepath.Join(fitted.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(filepath.Join(loaded.Dir, name)); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: a loaded router leaves another %s than its fit: %v", kind, name, err)
				}
			}
		}
	}
}

func TestAPolicyOfAnotherPoolIsNotLoaded(t *testing.T) {
	set, w := planted(20), work(3)
	w.Dir = t.TempDir()
	m := build(t, "sft", "")
	r, err := m.Fit(t.Context(), set, w)
	if err != nil {
		t.Fatal(err)
	}
	r.(*policyRouter).Close()
	other := set
	other.Experts = slices.Clone(set.Experts)
	other.Experts[0].ID = "tiny"
	if _, err := m.(Loader).Load(t.Context(), other.Experts, w.Dir, work(3)); err == nil || !strings.Contains(err.Error(), "chooses among small, medium, large, the pool is tiny, medium, large") {
		t.Errorf("error is %v", err)
	}
	if _, err := m.(Loader).Load(t.Context(), set.Experts, t.TempDir(), work(3)); err == nil || !strings.Contains(err.Error(), "no config.json: the folder holds no finished checkpoint") {
		t.Errorf("error is %v", err)
	}
}

func TestARunHasOneBackend(t *testing.T) {
	for _, kind := range []string{"sft", "entrorouter", "entroplus"} {
		build(t, kind, "policy: {backend: go}")
		if _, err := New(setup(t, kind, "policy: {backend: xla}")); err == nil || !strings.Contains(err.Error(), "params.policy.backend: a run has one backend; set policy.backend of the experiment, which is go here") {
			t.Errorf("%s: error is %v", kind, err)
		}
	}
}

// Stage II starts where Stage I ends: with a rate that moves nothing the two rows are one, and the curve of the one
// begins with that of the other.
func TestBothRowsShareStageI(t *testing.T) {
	set, qs := planted(100), fresh(20)
	curve := func(kind, params string) (string, []routing.Decision) {
		w := work(5)
		w.Dir = t.TempDir()
		r, err := build(t, kind, params).Fit(t.Context(), set, w)
		if err != nil {
			t.Fatal(err)
		}
		defer r.(*policyRouter).Close()
		data, err := os.ReadFile(filepath.Join(w.Dir, "curve.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data), route(t, r, qs)
	}
	one, sft := curve("sft", "")
	two, still := curve("entrorouter", "grpo: {lr: 1.0e-30}")
	_, moved := curve("entrorouter", "")
	if !strings.HasPrefix(two, one) || len(two) == len(one) {
		t.Error("the curve of entrorouter does not go on from that of sft")
	}
	if n := strings.Count(two, "\ngrpo,"); n != 10 || strings.Contains(one, "grpo") {
		t.Errorf("%d steps of Stage II, want 10, and none in the row without it", n)
	}
	same := true
	for i := range sft {
		if !slices.Equal(sft[i].Prob, still[i].Prob) {
			t.Errorf("query %d: %v after Stage I, %v with a Stage II that stands still", i, sft[i].Prob, still[i].Prob)
		}
		same = same && slices.Equal(sft[i].Prob, moved[i].Prob)
	}
	if same {
		t.Error("Stage II changes nothing")
	}
}

func TestParamsChangeWhatTheyNameAndNothingElse(t *testing.T) {
	plain := func(m routing.Method) (out map[string]map[string]any) {
		data, err := spec.Canonical(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, kind := range []string{"sft", "entrorouter"} {
		want, got := plain(build(t, kind, "")), plain(build(t, kind, "targets: {gate: false}"))
		if got["targets"]["gate"] != false || want["targets"]["gate"] != true {
			t.Errorf("%s: gate is %v by default, %v in the ablation", kind, want["targets"]["gate"], got["targets"]["gate"])
		}
		got["targets"]["gate"] = true
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the ablation changes more:\n%s", kind, diff)
		}
	}
	s := setup(t, "entrorouter", "targets: {gate: false}")
	if _, err := New(s); err != nil || !s.Spec.Targets.Gate {
		t.Errorf("the ablation changes the experiment: %+v, %v", s.Spec.Targets, err)
	}
}

func TestAblationsReachTargets(t *testing.T) {
	set := planted(100)
	for i := range set.SFT {
		// The probe solves what the small expert does not, so the gate decides between small and large.
		set.SFT[i].Probe, set.SFT[i].Kappa = 1, []float64{0, 0, 1}
	}
	for params, want := range map[string]int{"": 0, "targets: {gate: false}": 2} {
		d := route(t, fit(t, build(t, "sft", params), set, 1), fresh(1))[0]
		if d.Expert != want {
			t.Errorf("%q: expert %d, want %d", params, d.Expert, want)
		}
	}
}

func TestAnchorAndRewardKnobsReachTheReward(t *testing.T) {
	set := planted(2)
	set.RL[1].Kappa = []float64{0.2, 0.6, 0.8}
	prompts := func(params string) (reward, anchor []float64) {
		e := build(t, "entrorouter", params).(*entroRouter)
		policy, err := e.newPolicy(t.Context(), []routing.Expert{{ID: "small"}, {ID: "medium"}, {ID: "large"}}, []string{"x"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.prompts(t.Context(), policy, set, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(p) != 2 || p[1].ID != "p1" {
			t.Fatalf("prompts %+v", p)
		}
		return p[1].Reward, p[1].Anchor
	}
	// By hand, with the strongest always right. C = .1, .4, 1; m_best is large; mu = kappa - alpha*C.
	task := []float64{0.2*0.6 - 0.8*3, 0.6*0.6 - 0.4*3, 1}
	softmax := func(x ...float64) []float64 {
		sum := 0.0
		for i := range x {
			x[i] = math.Exp(x[i])
			sum += x[i]
		}
		for i := range x {
			x[i] /= sum
		}
		return x
	}
	for params, c := range map[string]struct {
		strength, t float64
		anchor      []float64
		task        []float64
	}{
		"":                              {1, .25, softmax(.14/.25, .36/.25, .4/.25), task},
		"anchor: {strength: 0}":         {0, .25, softmax(.14/.25, .36/.25, .4/.25), task},
		"anchor: {strength: 3}":         {3, .25, softmax(.14/.25, .36/.25, .4/.25), task},
		"anchor: {alpha: 0.2}":          {1, .25, softmax(.18/.25, .52/.25, .8/.25), task},
		"anchor: {alpha: 1, t: 1}":      {1, 1, softmax(.1, .2, 0), task},
		"reward: {kind: sparse}":        {1, .25, softmax(.14/.25, .36/.25, .4/.25), []float64{0, 0, 1}},
		"reward: {fail: 0, clamp: 0.5}": {1, .25, softmax(.14/.25, .36/.25, .4/.25), []float64{.1, .3, 1}},
		"reward: {strongest_kappa: measured}": {1, .25, softmax(.14/.25, .36/.25, .2/.25),
			[]float64{task[0], task[1], 0.8 - 0.2*3}},
		"targets: {tau: 0.6}": {1, .25, softmax(.14/.25, .36/.25, .4/.25),
			[]float64{task[0], 0.6 - 0.4*3, 1 - 0.6/0.9*0.8}},
	} {
		reward, anchor := prompts(params)
		for m := range reward {
			if math.Abs(anchor[m]-c.anchor[m]) > 1e-9 {
				t.Errorf("%q: anchor %v, want %v", params, anchor, c.anchor)
				break
			}
			if want := c.task[m] + c.strength*c.t*math.Log(c.anchor[m]); math.Abs(reward[m]-want) > 1e-9 {
				t.Errorf("%q: reward of expert %d is %v, want %v", params, m, reward[m], want)
			}
		}
	}
}

func TestBalanceCutsTheProblemsOfStageII(t *testing.T) {
	set := planted(40)
	set.RL = append(set.RL, planted(80).RL[40:]...)
	set.RL = slices.DeleteFunc(set.RL, func(e routing.Example) bool { return e.Probe == 0 && e.Problem.ID > "p5" })
	for params, balanced := range map[string]bool{"": false, "reward: {balance: true}": true} {
		e := build(t, "entrorouter", params).(*entroRouter)
		policy, err := e.newPolicy(t.Context(), []routing.Expert{{ID: "a"}, {ID: "b"}, {ID: "c"}}, []string{"x"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.prompts(t.Context(), policy, set, 1)
		if err != nil {
			t.Fatal(err)
		}
		if cut := len(p) < len(set.RL); cut != balanced {
			t.Errorf("%q: %d of %d problems are left", params, len(p), len(set.RL))
		}
	}
}

func TestSampledDecodingFollowsThePolicy(t *testing.T) {
	set := planted(100)
	s := setup(t, "sft", "sft: {epochs: 1}")
	s.Spec.Evaluate.Decoding = "sample"
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	r := fit(t, m, set, 1)
	const runs = 2000
	qs := make([]routing.Query, runs)
	for i := range qs {
		qs[i] = routing.Query{Problem: set.SFT[0].Problem, Run: i}
	}
	d := route(t, r, qs)
	share := make([]float64, 3)
	for _, x := range d {
		share[x.Expert] += 1.0 / runs
	}
	for m, p := range d[0].Prob {
		if math.Abs(share[m]-p) > 4*math.Sqrt(p*(1-p)/runs)+1e-9 {
			t.Errorf("expert %d has probability %v and answers %v of the runs", m, p, share[m])
		}
	}
	sameDecisions(t, "run by run", route(t, r, qs[7:8]), d[7:8])
}

// One step at an absurd rate leaves weights that give no number, which the loss before the step cannot show.
func TestADamagedPolicyIsAnErrorAndNoDecision(t *testing.T) {
	m := build(t, "sft", "sft: {epochs: 1, batch: 64}")
	m.(*entroRouter).SFT.LR = 1e38 // no spec may say so
	r := fit(t, m, planted(20), 1)
	if d, err := r.Route(t.Context(), fresh(1)); err == nil || !strings.Contains(err.Error(), "train it again") {
		t.Errorf("%+v, %v", d, err)
	}
}

// Where the words tell the experts apart a policy that is held near 0 loses; where they tell nothing, one that learns
// them by heart does.
func TestTheWeightDecayIsChosenOnProblemsThatAreHeldOut(t *testing.T) {
	const grid = "validate: {weight_decay: [0.001, 30]}\nsft: {epochs: 40}\ngrpo: {estimator: exact, steps: 60}\ntargets: {hard_weight: 1}"
	for _, kind := range []string{"sft", "entrorouter"} {
		validated := func(set routing.TrainSet) float64 {
			chosen, err := build(t, kind, grid).(*entroRouter).validated(t.Context(), set, work(1))
			if err != nil {
				t.Fatal(err)
			}
			if chosen.SFT.WeightDecay != chosen.GRPO.WeightDecay {
				t.Errorf("%s: %v in Stage I, %v in Stage II", kind, chosen.SFT.WeightDecay, chosen.GRPO.WeightDecay)
			}
			return chosen.SFT.WeightDecay
		}
		set := planted(200)
		if got := validated(set); got != 0.001 {
			t.Errorf("%s: weight decay %v where the words tell, want 0.001", kind, got)
		}
		// Each expert alone solves a third of the problems, whatever the words: what is learned by heart is wrong on those
		// held out.
		wrong := planted(300)
		for i := range wrong.SFT {
			for _, x := range []*routing.Example{&wrong.SFT[i], &wrong.RL[i]} {
				x.Kappa, x.Probe = oneHot(3, i/2%3), 0
			}
		}
		if got := validated(wrong); kind == "sft" && got != 30 { // a wrong guess costs Stage II no more than no guess
			t.Errorf("%s: weight decay %v where the words tell nothing, want 30", kind, got)
		}
		if e, err := build(t, kind, "sft: {weight_decay: 7}").(*entroRouter).validated(t.Context(), set, work(1)); err != nil || e.SFT.WeightDecay != 7 {
			t.Errorf("%s: %+v, %v with nothing to choose from", kind, e, err)
		}
	}
	both := planted(100)
	both.RL = append(planted(50).RL, planted(150).RL[100:]...) // half of it is of Stage I, as in the paper
	if kept, held := holdOutOfBoth(both); slices.ContainsFunc(kept.Examples(), func(x routing.Example) bool {
		return slices.ContainsFunc(held.RL, func(y routing.Example) bool { return x.Problem.ID == y.Problem.ID })
	}) || len(held.RL) != 20 {
		t.Errorf("%d problems are held out of Stage II, want 20, and none of them kept in a stage", len(held.RL))
	}
	_, err := build(t, "entrorouter", "validate: {weight_decay: [1, 50]}").Fit(t.Context(), planted(100), work(1))
	if err == nil || !strings.Contains(err.Error(), "a weight decay of 50 at a learning rate of 0.02") {
		t.Errorf("a decay that turns weights around: %v", err)
	}
	_, err = build(t, "entrorouter", "validate: {weight_decay: [1, 10]}").Fit(t.Context(), planted(4), work(1))
	if err == nil || !strings.Contains(err.Error(), "4 training problems are too few to hold a fifth of them out; give it more, or leave validate out of the spec") {
		t.Errorf("too few problems: %v", err)
	}
	_, err = build(t, "entrorouter", grid).Fit(t.Context(), planted(4), work(1))
	if err == nil || !strings.Contains(err.Error(), "4 training problems are too few") {
		t.Errorf("four problems: %v", err)
	}
}
