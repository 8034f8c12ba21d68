// Values of the metadata, asked for by key.

package convert

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/gguf"
)

// keys are the metadata of a file, and the first of what was asked for that they do not have.
type keys struct {
	of  *gguf.File
	err error
}

// get returns a value of the metadata.
func get[T any](k *keys, key string) T {
	v, ok := k.of.Metadata[key].(T)
	switch {
	case ok || k.err != nil:
	case k.of.Metadata[key] == nil:
		k.err = fmt.Errorf("the file does not say %s", key)
	default:
		k.err = fmt.Errorf("%s is of type %T, not %T", key, k.of.Metadata[key], v)
	}
	return v
}
