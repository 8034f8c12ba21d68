// What routers read of a text.

package spec

import (
	"cmp"
	"fmt"
	"slices"
)

// Features say what a router reads of a text: parts, side by side, of which every one but structure has length 1 in every text.
// Rows have defaults of their own for what is not set.
type Features struct {
	Read       []string   `yaml:"read,omitempty"`       // the parts, each once: words, characters, structure (lengths, numbers, symbols), vectors
	Words      Words      `yaml:"words,omitempty"`      // words, LaTeX commands, symbols; of a number how long it is
	Characters Characters `yaml:"characters,omitempty"` // in lower case; of a digit that it is one
	Vectors    Vectors    `yaml:"vectors,omitempty"`    // of a language model or another program
}

// Words are hashed n-grams of words.
type Words struct {
	Buckets int `yaml:"buckets,omitempty" in:"[1,4194304]"` // hashed n-gram buckets
	NGrams  int `yaml:"ngrams,omitempty" in:"[1,16]"`       // longest n-gram hashed
}

// Characters are hashed n-grams of characters.
type Characters struct {
	Buckets  int `yaml:"buckets,omitempty" in:"[1,4194304]"` // hashed n-gram buckets
	Shortest int `yaml:"shortest,omitempty" in:"[1,16]"`     // n-gram hashed, in characters
	Longest  int `yaml:"longest,omitempty" in:"[1,16]"`      // n-gram hashed, in characters
}

// Vectors are those of texts in a file, by a model behind an OpenAI-compatible server, or of the language model that is the policy.
type Vectors struct {
	File   string `yaml:"file,omitempty"`   // path below the data folder: .npz with ids and vectors, or JSON lines {"id": of a problem, "vector": its numbers}; texts in place of ids
	SHA256 string `yaml:"sha256,omitempty"` // of the file, or of frozen; unset: whatever it is

	Frozen bool `yaml:"frozen,omitempty"` // in place of a file: what the language model of policy, as published, makes of its prompt, the state that its head reads

	Model    string `yaml:"model,omitempty"`    // in place of a file: as its server knows it
	Revision string `yaml:"revision,omitempty"` // of the model's weights; others under the same name need another, or what one has said is taken for the other's
	URL      string `yaml:"url,omitempty"`      // base URL of the server, ending in /v1
	KeyEnv   string `yaml:"key_env,omitempty"`  // environment variable that holds the key of that server; unset: none is sent
}

// The parts of a row.
const (
	ReadWords      = "words"
	ReadCharacters = "characters"
	ReadStructure  = "structure"
	ReadVectors    = "vectors"
)

// Reads says whether a part is read.
func (f Features) Reads(part string) bool { return slices.Contains(f.Read, part) }

// Over returns the features with what is not set as in others.
func (f Features) Over(others Features) Features {
	if f.Read == nil {
		f.Read = others.Read
	}
	f.Words = Words{cmp.Or(f.Words.Buckets, others.Words.Buckets), cmp.Or(f.Words.NGrams, others.Words.NGrams)}
	f.Characters = Characters{
		cmp.Or(f.Characters.Buckets, others.Characters.Buckets), cmp.Or(f.Characters.Shortest, others.Characters.Shortest), cmp.Or(f.Characters.Longest, others.Characters.Longest),
	}
	f.Vectors = cmp.Or(f.Vectors, others.Vectors)
	return f
}

// Only returns the features without settings of parts that are not read, the parts in the order of rows: two specs that read the
// same have equal features.
func (f Features) Only() Features {
	var only Features
	for _, part := range []string{ReadStructure, ReadWords, ReadCharacters, ReadVectors} {
		if f.Reads(part) {
			only.Read = append(only.Read, part)
		}
	}
	if f.Reads(ReadWords) {
		only.Words = f.Words
	}
	if f.Reads(ReadCharacters) {
		only.Characters = f.Characters
	}
	if f.Reads(ReadVectors) {
		only.Vectors = f.Vectors
	}
	return only
}

// Check returns the knob below features and what is wrong with it; no fault: empty.
func (f Features) Check() (knob, fault string) {
	known := []string{ReadWords, ReadCharacters, ReadStructure, ReadVectors}
	for i, part := range f.Read {
		switch {
		case !slices.Contains(known, part):
			return fmt.Sprintf(".read[%d]", i), unknown("part", part, known)
		case slices.Contains(f.Read[:i], part):
			return fmt.Sprintf(".read[%d]", i), fmt.Sprintf("%s is there already", part)
		}
	}
	switch {
	case len(f.Read) == 0:
		return ".read", "nothing is read; name at least one of words, characters, structure, vectors"
	case f.Reads(ReadCharacters) && f.Characters.Shortest > f.Characters.Longest:
		return ".characters.shortest", fmt.Sprintf("%d is more than longest, which is %d", f.Characters.Shortest, f.Characters.Longest)
	case f.Reads(ReadVectors) && f.Vectors.File == "" && f.Vectors.Model == "" && !f.Vectors.Frozen:
		return ".vectors.file", "not set; name a file of vectors, or the model and url of a server, or set frozen where policy is a language model"
	case !f.Reads(ReadVectors) && f.Vectors != Vectors{}:
		return ".vectors", "set and not read; add vectors to read"
	case f.Vectors.Frozen && f.Vectors != Vectors{Frozen: true, SHA256: f.Vectors.SHA256}:
		return ".vectors.frozen", "set beside a file or what a server is asked for; leave one of them out"
	case f.Vectors.File == "" && !f.Vectors.Frozen && f.Vectors.SHA256 != "":
		return ".vectors.sha256", "set without file; name the file"
	case f.Vectors.File != "" && f.Vectors != Vectors{File: f.Vectors.File, SHA256: f.Vectors.SHA256}:
		return ".vectors.file", "set beside what a server is asked for; leave one of them out"
	case f.Vectors.Model != "" && f.Vectors.URL == "":
		return ".vectors.url", "not set; give the base URL of the server that has the model, ending in /v1"
	}
	return "", ""
}
