package cost

import "testing"

func TestDollarsCountInputOnlyWhenAsked(t *testing.T) {
	p := Price{In: 0.2, Out: 0.8}
	u := Usage{In: 1000}.Add(Usage{In: 1000, Out: 500_000})
	if got := p.USD(u, false); got != 0.4 {
		t.Errorf("output only: %v", got)
	}
	if got := p.USD(u, true); got != 0.4+0.0004 {
		t.Errorf("with input: %v", got)
	}
}
