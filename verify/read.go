package verify

// read parses an answer with its sums and products of terms that go on.
func read(s string, steps *budget) ([]*node, error) { return parse(s, steps, pattern) }
