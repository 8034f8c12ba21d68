package stages

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

func TestEntroRouterSendsEasyToCheapAndHardToStrong(t *testing.T) {
	set, qs := routingtest.Planted(400), routingtest.Fresh(200)
	for _, params := range []string{"", "grpo: {estimator: exact}", "sft: {dropout: 0.1}"} {
		right := 0
		for i, d := range routingtest.Route(t, fit(t, build(t, "entrorouter", params), set, 1), qs) {
			want := 0
			if routingtest.Hard(i) {
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
	set, qs := routingtest.Planted(100), routingtest.Fresh(20)
	for _, kind := range []string{"sft", "entrorouter", "other"} {
		for _, decoding := range []string{"argmax", "sample"} {
			m := build(t, kind, "")
			m.With.Decoding = decoding
			fitted, loaded := routingtest.Work(3), routingtest.Work(3)
			fitted.Dir, loaded.Dir = t.TempDir(), t.TempDir()
			before, err := m.Fit(t.Context(), set, fitted)
			if err != nil {
				t.Fatal(err)
			}
			defer before.(*Router).Close()
			after, err := m.Load(t.Context(), set.Experts, fitted.Dir, loaded)
			if err != nil {
				t.Fatal(err)
			}
			defer after.(*Router).Close()
			if diff := cmp.Diff(routingtest.Route(t, before, qs), routingtest.Route(t, after, qs)); diff != "" {
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
	set, w := routingtest.Planted(20), routingtest.Work(3)
	w.Dir = t.TempDir()
	m := build(t, "sft", "")
	r, err := m.Fit(t.Context(), set, w)
	if err != nil {
		t.Fatal(err)
	}
	r.(*Router).Close()
	other := set
	other.Experts = slices.Clone(set.Experts)
	other.Experts[0].ID = "tiny"
	if _, err := m.Load(t.Context(), other.Experts, w.Dir, routingtest.Work(3)); err == nil || !strings.Contains(err.Error(), "chooses among small, medium, large, the pool is tiny, medium, large") {
		t.Errorf("error is %v", err)
	}
	if _, err := m.Load(t.Context(), set.Experts, t.TempDir(), routingtest.Work(3)); err == nil || !strings.Contains(err.Error(), "no config.json: the folder holds no finished checkpoint") {
		t.Errorf("error is %v", err)
	}
}

// Stage II starts where Stage I ends: with a rate that moves nothing the two rows are one, and the curve of the one
// begins with that of the other.
func TestBothRowsShareStageI(t *testing.T) {
	set, qs := routingtest.Planted(100), routingtest.Fresh(20)
	curve := func(kind, params string) (string, []routing.Decision) {
		w := routingtest.Work(5)
		w.Dir = t.TempDir()
		r, err := build(t, kind, params).Fit(t.Context(), set, w)
		if err != nil {
			t.Fatal(err)
		}
		defer r.(*Router).Close()
		data, err := os.ReadFile(filepath.Join(w.Dir, "curve.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data), routingtest.Route(t, r, qs)
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

// At a low temperature probabilities of the anchor are too small for a float; how far the policy is from it is a number all the same.
func TestASharpAnchorIsAFiniteWayOff(t *testing.T) {
	w := routingtest.Work(5)
	w.Dir = t.TempDir()
	r, err := build(t, "entrorouter", "anchor: {t: 0.0001, strength: 1, alpha: 0.6}").Fit(t.Context(), routingtest.Planted(100), w)
	if err != nil {
		t.Fatal(err)
	}
	defer r.(*Router).Close()
	if data, err := os.ReadFile(filepath.Join(w.Dir, "curve.csv")); err != nil || strings.Contains(string(data), "Inf") {
		t.Errorf("%v\n%s", err, data)
	}
}

func TestAblationsReachTargets(t *testing.T) {
	set := routingtest.Planted(100)
	for i := range set.SFT {
		// The probe solves what the small expert does not, so the gate decides between small and large.
		set.SFT[i].Probe, set.SFT[i].Kappa = 1, []float64{0, 0, 1}
	}
	for params, want := range map[string]int{"": 0, "targets: {gate: false}": 2} {
		d := routingtest.Route(t, fit(t, build(t, "sft", params), set, 1), routingtest.Fresh(1))[0]
		if d.Expert != want {
			t.Errorf("%q: expert %d, want %d", params, d.Expert, want)
		}
	}
}

func TestAnchorAndRewardKnobsReachTheReward(t *testing.T) {
	set := routingtest.Planted(2)
	set.RL[1].Kappa = []float64{0.2, 0.6, 0.8}
	prompts := func(params string) (reward, anchor []float64) {
		e := build(t, "entrorouter", params)
		policy, err := e.newPolicy(t.Context(), []routing.Expert{{ID: "small"}, {ID: "medium"}, {ID: "large"}}, []string{"x"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Prompts(t.Context(), policy, set, routingtest.Work(1))
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
			if math.Abs(math.Exp(anchor[m])-c.anchor[m]) > 1e-9 {
				t.Errorf("%q: logarithms of the anchor are %v, want those of %v", params, anchor, c.anchor)
				break
			}
			if want := c.task[m] + c.strength*c.t*math.Log(c.anchor[m]); math.Abs(reward[m]-want) > 1e-9 {
				t.Errorf("%q: reward of expert %d is %v, want %v", params, m, reward[m], want)
			}
		}
	}
}

func TestBalanceCutsTheProblemsOfStageII(t *testing.T) {
	set := routingtest.Planted(40)
	set.RL = append(set.RL, routingtest.Planted(80).RL[40:]...)
	set.RL = slices.DeleteFunc(set.RL, func(e routing.Example) bool { return e.Probe == 0 && e.Problem.ID > "p5" })
	for params, balanced := range map[string]bool{"": false, "reward: {balance: true}": true} {
		e := build(t, "entrorouter", params)
		policy, err := e.newPolicy(t.Context(), []routing.Expert{{ID: "a"}, {ID: "b"}, {ID: "c"}}, []string{"x"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Prompts(t.Context(), policy, set, routingtest.Work(1))
		if err != nil {
			t.Fatal(err)
		}
		if cut := len(p) < len(set.RL); cut != balanced {
			t.Errorf("%q: %d of %d problems are left", params, len(p), len(set.RL))
		}
	}
}

func TestSampledDecodingFollowsThePolicy(t *testing.T) {
	set := routingtest.Planted(100)
	m := build(t, "sft", "sft: {epochs: 1}")
	m.With.Decoding = "sample"
	r := fit(t, m, set, 1)
	const runs = 2000
	qs := make([]routing.Query, runs)
	for i := range qs {
		qs[i] = routing.Query{Problem: set.SFT[0].Problem, Run: i}
	}
	d := routingtest.Route(t, r, qs)
	share := make([]float64, 3)
	for _, x := range d {
		share[x.Expert] += 1.0 / runs
	}
	for m, p := range d[0].Prob {
		if math.Abs(share[m]-p) > 4*math.Sqrt(p*(1-p)/runs)+1e-9 {
			t.Errorf("expert %d has probability %v and answers %v of the runs", m, p, share[m])
		}
	}
	if diff := cmp.Diff(d[7:8], routingtest.Route(t, r, qs[7:8])); diff != "" {
		t.Errorf("run by run: %s", diff)
	}
}

// One step at an absurd rate leaves weights that give no number, which the loss before the step cannot show.
func TestADamagedPolicyIsAnErrorAndNoDecision(t *testing.T) {
	m := build(t, "sft", "sft: {epochs: 1, batch: 64}")
	m.SFT.LR = 1e38 // no spec may say so
	r := fit(t, m, routingtest.Planted(20), 1)
	if d, err := r.Route(t.Context(), routingtest.Fresh(1)); err == nil || !strings.Contains(err.Error(), "train it again, at a lower learning rate") {
		t.Errorf("%+v, %v", d, err)
	}
}
