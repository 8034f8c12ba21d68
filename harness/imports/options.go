// What is known of a log beside its files.

package imports

// Options are what a log does not say by itself.
type Options struct {
	Model         string            // of every answer, where the log does not say
	Benchmark     string            // of every question, where the log does not say
	Keys          map[string]string // key of Format.Keys -> what the files call it
	Problems      *Problems         // questions and golds; nil: the log has them
	Keep          bool              // what was published stands; otherwise the verifier's word does, where it has one
	CharsPerToken float64           // tokens that the log lacks are characters over this; 0: they must be there
	CorrectFrom   float64           // a score from here on is right
}
