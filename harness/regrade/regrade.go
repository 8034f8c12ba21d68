// Package regrade grades stored answers by the present verifier and tells which verdicts move. A run grades stored answers again by
// itself when the verifier has another version; this tells beforehand what that will change, and writes nothing.
package regrade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// Report is what the present verifier makes of the stored answers of a folder.
type Report struct {
	Verifier string         `json:"verifier"` // version
	Answers  int            `json:"answers"`  // graded again
	Before   map[string]int `json:"before"`   // of these, by the version that had graded them
	Ungraded int            `json:"ungraded"` // stored answers without a verdict: the choices of language models that route
	Unplaced int            `json:"unplaced"` // stored answers that were graded against a ground truth of no finished run
	Groups   []Group        `json:"groups"`
	Moved    []Moved        `json:"moved"` // in the order in which the answers were stored
}

// Group counts the answers of one model to one benchmark.
type Group struct {
	Benchmark string        `json:"benchmark"`
	Split     routing.Split `json:"split"`
	Model     string        `json:"model"`
	Answers   int           `json:"answers"`
	Moved     int           `json:"moved"`
	Correct   [2]int        `json:"correct"` // before and now
}

// Moved is an answer that the present verifier puts into another bucket.
type Moved struct {
	Rollout  int64    `json:"rollout"` // number of the answer in rollouts.db
	Problem  string   `json:"problem"`
	Model    string   `json:"model"`
	Gold     []string `json:"gold"`
	Verifier string   `json:"verifier"` // version of the verdict before
	Before   Verdict  `json:"before"`
	Now      Verdict  `json:"now"`
}

// Verdict is a verdict and what was read.
type Verdict struct {
	Bucket    routing.Bucket `json:"bucket"`
	Reason    string         `json:"reason"`
	Extracted string         `json:"extracted"`
}

// Folder grades every stored answer of a folder of runs again and compares with the last verdict that another version of
// the verifier gave, or, where there is none, this one. Where the folder is none of runs, or has no answers, the error wraps spec.ErrUsage.
func Folder(ctx context.Context, dir string) (*Report, error) {
	if !book.IsStore(dir) {
		return nil, fmt.Errorf("%w: %s is no folder of runs; name one that a run has stored in, --out of run", spec.ErrUsage, dir)
	}
	byText, err := storedProblems(dir)
	if err != nil {
		return nil, err
	}
	rollouts, err := store.ReadRollouts(ctx, filepath.Join(dir, "rollouts.db"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s holds no rollouts.db, so that there are no answers to grade; name another folder", spec.ErrUsage, dir)
	}
	if err != nil {
		return nil, err
	}
	defer rollouts.Close()
	type group struct {
		benchmark string
		split     routing.Split
		model     string
	}
	groups := map[group]*Group{}
	out := &Report{Verifier: verify.Version, Before: map[string]int{}, Groups: []Group{}, Moved: []Moved{}}
	for g, err := range rollouts.Graded(ctx, verify.Version) {
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(byText[g.Key.Problem], func(p routing.Problem) bool { return store.GoldKey(p) == g.Verdict.Gold })
		switch {
		case g.Verifier == "":
			out.Ungraded++
			continue
		case i < 0:
			out.Unplaced++
			continue
		}
		p := byText[g.Key.Problem][i]
		k := group{p.Benchmark, g.Scope.Split, g.Scope.Model}
		if groups[k] == nil {
			groups[k] = &Group{Benchmark: k.benchmark, Split: k.split, Model: k.model}
		}
		of, now := groups[k], asking.Grade(p, g.Response, g.Finish)
		out.Answers++
		out.Before[g.Verifier]++
		of.Answers++
		for j, bucket := range []routing.Bucket{g.Verdict.Bucket, now.Bucket} {
			if bucket == routing.Correct {
				of.Correct[j]++
			}
		}
		if now.Bucket == g.Verdict.Bucket {
			continue
		}
		of.Moved++
		out.Moved = append(out.Moved, Moved{
			Rollout: int64(g.ID), Problem: p.ID, Model: g.Scope.Model, Gold: p.Gold, Verifier: g.Verifier,
			Before: Verdict{g.Verdict.Bucket, g.Verdict.Reason, g.Verdict.Extracted},
			Now:    Verdict{now.Bucket, now.Reason, now.Extracted},
		})
	}
	for _, of := range groups {
		out.Groups = append(out.Groups, *of)
	}
	slices.SortFunc(out.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Benchmark, b.Benchmark), cmp.Compare(a.Split, b.Split), cmp.Compare(a.Model, b.Model))
	})
	return out, nil
}

// storedProblems reads the problems of all finished runs of a folder by their text. Problems of one text have different
// answers.
func storedProblems(dir string) (map[store.TextKey][]routing.Problem, error) {
	s := store.OpenReadOnly(dir)
	experiments, err := s.Experiments()
	if err != nil {
		return nil, err
	}
	var sets []store.Key
	for _, name := range experiments {
		steps, err := s.ReadIndex(name)
		if err != nil {
			return nil, err
		}
		for _, step := range steps {
			if step.Key.Stage == "problems" && !slices.Contains(sets, step.Key) {
				sets = append(sets, step.Key)
			}
		}
	}
	byText := map[store.TextKey][]routing.Problem{}
	for _, key := range sets {
		entry, _, err := s.Find(key)
		if err != nil {
			return nil, fmt.Errorf("the problems of %s: %w; run its experiment there again", key, err)
		}
		problems, _, err := book.ReadProblems(entry)
		if err != nil {
			return nil, err
		}
		for _, p := range problems {
			k := store.KeyOfText(p.Text)
			if !slices.ContainsFunc(byText[k], func(q routing.Problem) bool { return store.GoldKey(q) == store.GoldKey(p) }) {
				byText[k] = append(byText[k], p)
			}
		}
	}
	return byText, nil
}
