package sim

// What the tests of this package share: the committed pools, problems for them, and a client of a served pool.

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/entrorouter/entrorouter/harness/experts/internal/fixture"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"

	"go.uber.org/goleak"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

const (
	simFile    = "../../../experiments/pools/sim.yaml"
	heteroFile = "../../../experiments/pools/sim-hetero.yaml"
	priceFile  = "../../../experiments/prices/paper-novita.yaml"
)

// problemSet is n generated-looking problems with integer answers on the cells of sim.yaml.
func problemSet(n int) (map[uint64]routing.Problem, map[uint64]routing.Latent, []routing.Problem) {
	problems, latents := map[uint64]routing.Problem{}, map[uint64]routing.Latent{}
	var all []routing.Problem
	r := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		p := routing.Problem{ID: fmt.Sprint("p", i), Text: fmt.Sprintf("Problem %d: \"what\" is $%d + %d$\\,?\n<b>é</b>", i, r.IntN(1000), r.IntN(1000)), Gold: []string{strconv.Itoa(r.IntN(100_000))}}
		h := routing.TextHash(p.Text)
		problems[h] = p
		latents[h] = routing.Latent{Cell: "HMMT", Topic: "algebra", Difficulty: -0.85 + 1.59*r.NormFloat64()}
		all = append(all, p)
	}
	return problems, latents, all
}

func offByOne(gold string, _ []string, r *rand.Rand) string {
	n, _ := strconv.Atoi(gold)
	return strconv.Itoa(n + 1 + r.IntN(9))
}

func simulated(t testing.TB, n int) (*Pool, spec.Pool, []routing.Problem) {
	t.Helper()
	pool, members := fixture.Load(t, simFile, priceFile)
	problems, latents, all := problemSet(n)
	s, err := New(pool, members, 7, func(h uint64) (routing.Problem, routing.Latent, bool) {
		p, ok := problems[h]
		return p, latents[h], ok
	}, offByOne)
	if err != nil {
		t.Fatal(err)
	}
	return s, pool, all
}

// loopback serves a pool and returns the HTTP pool that asks it.
func loopback(t testing.TB, pool experts.Pool, o experts.HTTPOptions) *experts.HTTP {
	t.Helper()
	s := httptest.NewServer(NewServer(pool, vllm.Options{Log: quiet}))
	t.Cleanup(s.Close)
	return asking(t, pool, experts.Endpoint{URL: s.URL + "/v1"}, o)
}

// inside is where a pool answers in this process.
func inside(pool experts.Pool) experts.Endpoint {
	return experts.Endpoint{URL: Address, Handler: NewServer(pool, vllm.Options{Log: quiet})}
}

// asking returns the HTTP pool that asks a pool at an address, for whole answers.
func asking(t testing.TB, pool experts.Pool, at experts.Endpoint, o experts.HTTPOptions) *experts.HTTP {
	t.Helper()
	o.Log = quiet
	var endpoints []experts.Endpoint
	for _, e := range pool.Experts() {
		endpoints = append(endpoints, experts.Endpoint{Expert: e, URL: at.URL, Handler: at.Handler, Whole: true})
	}
	h, err := experts.NewHTTP(endpoints, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}
