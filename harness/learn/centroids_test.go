package learn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
)

func TestKMeansFindsGroupsThatAreApart(t *testing.T) {
	rows := make([]policy.Row, 60)
	for i := range rows { // three groups on axes of their own, with a little of a fourth
		rows[i] = policy.Row{IDs: []int32{int32(i % 3), 3}, Values: []float32{0.995, 0.1}}
	}
	for s := range uint64(20) {
		c, err := KMeans(t.Context(), rows, 4, 3, rand.New(rand.NewPCG(s, 1)))
		if err != nil || c.K != 3 {
			t.Fatalf("%d groups, %v", c.K, err)
		}
		members, err := c.Members(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range members {
			if g != members[i%3] {
				t.Fatalf("seed %d: rows %d and %d are in groups %d and %d", s, i, i%3, g, members[i%3])
			}
		}
		if members[0] == members[1] || members[1] == members[2] || members[0] == members[2] {
			t.Fatalf("seed %d: groups %v", s, members[:3])
		}
	}
	c, err := KMeans(t.Context(), rows[:2], 4, 9, rand.New(rand.NewPCG(1, 1)))
	if err != nil || c.K != 2 {
		t.Fatalf("two rows make %d groups: %v", c.K, err)
	}
	if members, err := c.Members(t.Context(), rows); err != nil || members[0] == members[1] {
		t.Errorf("two rows are in groups %v: %v", members, err)
	}
}

// Of a long row with itself the cosine is 1 to rounding only, which makes it no seed of another group.
func TestKMeansMakesNoMoreGroupsThanThereAreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var rows []policy.Row
	for range 5 {
		row, x := policy.Row{}, normals(r, 60)
		for id, v := range x {
			row.IDs, row.Values = append(row.IDs, int32(id)), append(row.Values, float32(v/norm(x)))
		}
		rows = append(rows, row, row)
	}
	c, err := KMeans(t.Context(), rows, 60, 32, r)
	if err != nil || c.K != 5 {
		t.Errorf("5 rows, each twice, make %d groups: %v", c.K, err)
	}
}

// Where k-means has settled every group's direction is that of the sum of its rows.
func TestKMeansEndsWhereItSettles(t *testing.T) {
	const width = 8
	r := rand.New(rand.NewPCG(4, 2))
	rows := make([]policy.Row, 40)
	for i := range rows {
		x := normals(r, width)
		for id, v := range x {
			rows[i].IDs, rows[i].Values = append(rows[i].IDs, int32(id)), append(rows[i].Values, float32(v/norm(x)))
		}
	}
	c, err := KMeans(t.Context(), rows, width, 4, r)
	if err != nil {
		t.Fatal(err)
	}
	members, err := c.Members(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	for g := range c.K {
		var of []policy.Row
		for i, m := range members {
			if m == g {
				of = append(of, rows[i])
			}
		}
		sum := denseSum(of, width)
		for id, v := range sum {
			if got := float64(c.Directions[id*c.K+g]); math.Abs(got-v/norm(sum)) > 1e-6 {
				t.Errorf("group %d of %d rows: number %d of its direction is %v, of their sum's %v", g, len(of), id, got, v/norm(sum))
			}
		}
	}
}
