package methods

import "testing"

func TestAllowancesAreTheValuesOfTheSpec(t *testing.T) {
	const all = "structure, n-grams of 1 to 2 words in 4096 buckets, n-grams of 2 to 5 characters in 16384 buckets"
	for _, c := range []struct{ kind, params, reads, chooses string }{
		{"logistic", "", "structure, n-grams of 1 to 2 words in 4096 buckets", "one of 7 penalties"},
		{"logistic", "{l2: [1], features: {read: [characters, words, structure]}}", all, ""},
		{"difficulty", "l2: [3, 1, 3]", "structure, n-grams of 1 to 2 words in 4096 buckets", "one of 2 penalties"},
		{"bag", "features: {read: [words], words: {buckets: 64, ngrams: 1}}", "words in 64 buckets", "one of 7 penalties"},
		{"knn", "", "n-grams of 1 to 2 words in 4096 buckets", "one of 5 numbers of neighbours"},
		{"cluster", "", "n-grams of 1 to 2 words in 4096 buckets", ""},
		{"routellm", "epochs: 20", "structure, n-grams of 1 to 2 words in 256 buckets", "one of 20 epochs"},
		{"routellm", "scores: s.jsonl", "", ""},
		{"forc", "pihat: p.jsonl", "", ""},
		{"knn", "features: {read: [vectors], vectors: {file: v.npz}}", "vectors of v.npz", "one of 5 numbers of neighbours"},
		{"sft", "", "counts of structure, words in 64 buckets", ""},
		{"entrorouter", "{validate: {weight_decay: [1, 2, 3]}, features: {read: [vectors], vectors: {model: e5, url: 'http://a/v1'}}}", "vectors of e5", "one of 3 weight decays"},
		{"entroplus", "validate: {weight_decay: [1, 2]}", "counts of structure, words in 64 buckets, its text regression structure, n-grams of 1 to 2 words in 4096 buckets", "one of 2 weight decays and one of 7 penalties"},
		{"entroplus", "prior: 0", "counts of structure, words in 64 buckets", ""},
		{"mean", "of: [{name: logistic}, {name: bag}]", "what the rows that it averages read", "what they choose"},
		{"mixture", "", "", ""},
		{"benchmark", "", "", ""},
		{"fixed", "expert: cheapest", "", ""},
	} {
		s := setup(t, c.kind, c.params)
		if a := RowTraits(s.Method, s.Spec).Allowance; a != (Allowance{c.reads, c.chooses}) {
			t.Errorf("%s, %s: %+v", c.kind, c.params, a)
		}
	}
}
