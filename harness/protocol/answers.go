// Stored answers in a file for other programs.

package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// rowGroup bounds the texts of a row group of Parquet, which is in memory while it is written, in bytes.
const rowGroup = 32 << 20

// WriteAnswers writes every stored answer of an experiment's experts, as asking.Told, into a file, a line or a row an answer,
// and returns how many there are. The name ends in .jsonl or .parquet. Nobody is asked, and the run need not be finished. The file is replaced
// whole or not at all.
func WriteAnswers(ctx context.Context, r *spec.Resolved, o steps.Options, path string) (n int, err error) {
	write := jsonLines
	switch {
	case strings.HasSuffix(path, ".parquet"):
		write = parquetRows
	case !strings.HasSuffix(path, ".jsonl"):
		return 0, fmt.Errorf("%w: %s: want a name that ends in .jsonl or .parquet", spec.ErrUsage, path)
	}
	if err := asksExperts(r); err != nil {
		return 0, err
	}
	o.Offline, o.Beside = true, true
	if _, err := os.Stat(o.Out); errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%w: there is no folder %s, so no answer is stored; run it first: entrorouter run %s", steps.ErrIncomplete, o.Out, r.Named)
	}
	run, err := newSplit(ctx, r, o)
	if err != nil {
		return 0, err
	}
	defer run.Close()
	blocks, err := run.split.blocks(ctx, true)
	if err != nil {
		return 0, err
	}
	err = store.WriteTo(path, func(w io.Writer) error {
		add, done := write(w)
		for told, err := range run.Asker.Tell(ctx, blocks) {
			if err != nil {
				return err
			}
			if err := add(told); err != nil {
				return err
			}
			n++
		}
		return done()
	})
	return n, err
}

func jsonLines(w io.Writer) (add func(asking.Told) error, done func() error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(t asking.Told) error { return enc.Encode(t) }, func() error { return nil }
}

func parquetRows(w io.Writer) (add func(asking.Told) error, done func() error) {
	rows := parquet.NewGenericWriter[asking.Told](w, parquet.Compression(&parquet.Zstd))
	size := 0
	return func(t asking.Told) error {
		if _, err := rows.Write([]asking.Told{t}); err != nil {
			return err
		}
		if size += len(t.Response) + len(t.Reasoning); size < rowGroup {
			return nil
		}
		size = 0
		return rows.Flush()
	}, rows.Close
}
