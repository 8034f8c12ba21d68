// Tokenizers without a folder, of merges that are given.

package tokenizer

// Merged is the definition of a token a byte, one for each merge, and added tokens after them.
func Merged(scheme Scheme, merges [][2]string, added ...string) Definition {
	d := Definition{Scheme: scheme, Merges: merges}
	for _, r := range letters {
		d.Tokens = append(d.Tokens, string(r))
	}
	known := map[string]bool{}
	for _, m := range merges {
		if made := m[0] + m[1]; !known[made] {
			known[made] = true
			d.Tokens = append(d.Tokens, made)
		}
	}
	for i, content := range added {
		d.Added = append(d.Added, Added{ID: int32(len(d.Tokens) + i), Content: content, Special: true})
	}
	return d
}

// Size is one more than the highest number of a token.
func (d Definition) Size() int {
	n := len(d.Tokens)
	for _, a := range d.Added {
		n = max(n, int(a.ID)+1)
	}
	return n
}
