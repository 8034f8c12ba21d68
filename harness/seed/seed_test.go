package seed

import "testing"

func TestStreamsDependOnTheirCoordinatesAlone(t *testing.T) {
	different := map[string][2]Seed{
		"boundaries between coordinates":    {Derive("ab", "c"), Derive("a", "bc")},
		"numbers":                           {Derive("a", 1), Derive("a", 2)},
		"the root":                          {Derive("a"), Seed(1).Derive("a")},
		"a number and the text of a number": {Derive(1), Derive("\x01\x00\x00\x00\x00\x00\x00\x00")},
	}
	for name, d := range different {
		if d[0] == d[1] {
			t.Errorf("%s do not matter", name)
		}
	}
	a, b := Derive("rollout", "p", 3).Rand(), Derive("rollout", "p", 3).Rand()
	for range 10 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("the same coordinates give different streams")
		}
	}
}

// Expected values from a separate implementation of FNV-1a-64 and MurmurHash3's finaliser.
func TestHash(t *testing.T) {
	for text, want := range map[string]uint64{"a": 0x82a2a958a9bece5b, "0|gsm8k-0": 0x9db4ca4a7f847c7e} {
		if got := Hash(text); got != want {
			t.Errorf("Hash(%q) = %#x, want %#x", text, got, want)
		}
	}
}

func TestUniformCoversTheUnitInterval(t *testing.T) {
	var cells [10]int
	for i := range 10_000 {
		u := Derive("u", i).Uniform()
		if u < 0 || u >= 1 {
			t.Fatalf("Uniform = %v", u)
		}
		cells[int(u*10)]++
	}
	for i, n := range cells {
		if n < 850 || n > 1150 { // five standard deviations of a binomial(10000, 0.1)
			t.Errorf("cell %d holds %d of 10000", i, n)
		}
	}
}
