// Batches: what a run would ask for is written to files, others ask for it, and what they bring is kept as if it had been asked.
//
// The files are those of OpenAI's batch API, which vllm run-batch reads and writes as well: a line a request, a line a result.

package asking

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/folder"
	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// customID names an answer within all experiments: it stands for the scope, the text of the problem, the run and the seed. It has 48
// letters, digits, hyphens and underscores, which every batch API takes.
type customID [36]byte

func (q asked) id(scope store.Scope) (id customID) {
	params, err := json.Marshal(scope)
	if err != nil { // a temperature that is no number, which no spec has
		panic(err)
	}
	sum := sha256.Sum256(params)
	b := append(id[:0], sum[:8]...)
	b = append(b, q.key.Problem[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(q.run))
	binary.BigEndian.AppendUint64(b, q.key.Seed)
	return id
}

func (id customID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// request is what an expert is asked.
func (m *wants) request(q asked) experts.Request {
	x := m.expert
	return experts.Request{
		Expert: x.ID, Prompt: experts.Prompt(x.Sampling.Prompt, q.problem.Text), Seed: seed.Seed(q.key.Seed), Sampling: x.Sampling, MaxTokens: x.MaxTokens,
	}
}

// Exported is what of one expert was written to files.
type Exported struct {
	Expert   string
	Requests int
	Shards   int
	Tokens   float64 // expected, in and out
	USD      float64 // expected, prompts included, at the prices of the spec
	Bound    bool    // nothing was answered so far: tokens and dollars are the most it can take
}

// Export writes the answers of some blocks that Gather would ask for into a folder, which must be empty or not there yet:
// EXPERT-0001.jsonl and so on, of so many lines at most. The folder holds all of them or is not made. Where nothing is missing none is made.
func (a *Asker) Export(ctx context.Context, blocks []Block, dir string, lines int) (out []Exported, err error) {
	all, err := a.wants(ctx, blocks)
	if err != nil {
		return nil, err
	}
	err = folder.Make(dir, func(temporary string) error {
		out, err = a.export(ctx, all, temporary, lines)
		return err
	})
	if errors.Is(err, errComplete) {
		return nil, nil
	}
	return out, err
}

// errComplete says that every answer is there.
var errComplete = errors.New("nothing is missing")

// export writes the answers of some blocks that are missing into a folder.
func (a *Asker) export(ctx context.Context, all []*wants, dir string, lines int) (out []Exported, err error) {
	for _, e := range experts.Endpoints(a.pool.Pool, a.pool.Members()) {
		x := Exported{Expert: e.ID}
		var requests []line
		for _, m := range all {
			if m.expert.ID == e.ID {
				for _, q := range a.lacking(m) {
					requests = append(requests, line{m, q})
				}
			}
		}
		if x.Requests = len(requests); x.Requests == 0 {
			continue
		}
		usual, err := a.Usual(ctx, e.Expert)
		if err != nil {
			return nil, err
		}
		x.Tokens, x.USD = usual.Times(x.Requests, e.Price)
		x.Bound = !usual.Measured
		for shard := range slices.Chunk(requests, lines) {
			x.Shards++
			path := filepath.Join(dir, fmt.Sprintf("%s-%04d.jsonl", e.ID, x.Shards))
			if err := store.WriteTo(path, func(w io.Writer) error { return writeShard(ctx, w, e, shard) }); err != nil {
				return nil, err
			}
		}
		out = append(out, x)
	}
	if out == nil {
		return nil, errComplete
	}
	return out, nil
}

// line is a request of a shard.
type line struct {
	*wants
	asked
}

func writeShard(ctx context.Context, w io.Writer, e experts.Endpoint, shard []line) error {
	for _, l := range shard {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, `{"custom_id":"%s","method":"POST","url":"/v1/chat/completions","body":%s}`+"\n", l.id(l.scope), e.Body(l.request(l.asked))); err != nil {
			return err
		}
	}
	return nil
}

// Imported counts the results that files hold.
type Imported struct {
	Answered int // answers that are new
	Failed   int // failures that are new
	Known    int // results that were stored already, or that another line of the files stands for
}

// result is a line of a file of results. Hosted services say so in error where a request was not carried out; vLLM puts there
// what an HTTP server has as its body.
type result struct {
	CustomID string `json:"custom_id"`
	Response *struct {
		Status int             `json:"status_code"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error json.RawMessage `json:"error"`
}

// null says that a field is not there or null.
func null(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// read reads the result of a request.
func (r *result) read(e experts.Endpoint, q experts.Request) (experts.Completion, experts.Attempt, error) {
	said := r.Error
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(said, &body) != nil || body.Error == nil {
		said = append(append([]byte(`{"error":`), said...), '}')
	}
	switch {
	case r.Response == nil || r.Response.Status == 0:
		a, err := e.Unanswered(q, said)
		return experts.Completion{}, a, err
	case null(r.Response.Body) && !null(r.Error):
		return e.Reply(q, r.Response.Status, said)
	}
	return e.Reply(q, r.Response.Status, r.Response.Body)
}

// miscounted says why an answer cannot have the tokens that are counted for it, by the bounds that answers over HTTP have. A server that
// is asked is borne with, and its tokens are counted here; a file can be corrected.
func (r *result) miscounted(maxTokens int) error {
	var body struct {
		Usage struct {
			Out float64 `json:"completion_tokens"`
		} `json:"usage"`
	}
	if !r.answered() || json.Unmarshal(r.Response.Body, &body) != nil { // what is no answer is a failure
		return nil
	}
	if out := body.Usage.Out; out < 0 || maxTokens > 0 && out > 2*float64(maxTokens)+1024 {
		return fmt.Errorf("completion_tokens is %v, and max_tokens %d: correct the line, or take it out", out, maxTokens)
	}
	return nil
}

// answered says that a result is meant to be an answer.
func (r *result) answered() bool {
	return r.Response != nil && r.Response.Status == http.StatusOK && !null(r.Response.Body) && null(r.Error)
}

// expected is an answer that may be imported.
type expected struct {
	line
	at   int64 // number of the line that counts, over all files; 0: none
	full bool  // the line is an answer
}

// Import reads files of results of requests that Export wrote, in whatever order, and keeps what is new in them as Gather would have: answers
// graded, attempts with what they are billed, failures with their class. An answer that is stored stays; so does a failure
// that failed alike before. All files are read before anything is kept: a line that is no result, or that is of no answer of these
// blocks, is an error that names it, and nothing is kept then.
func (a *Asker) Import(ctx context.Context, blocks []Block, files []string) (n Imported, err error) {
	all, err := a.wants(ctx, blocks)
	if err != nil {
		return n, err
	}
	expecting := map[customID]*expected{}
	responsive := map[*wants]bool{} // there is some answer of this expert
	for _, m := range all {
		responsive[m] = len(m.have.rows) > 0
		for _, q := range m.questions {
			expecting[q.id(m.scope)] = &expected{line: line{m, q}}
		}
	}
	// Which line counts of those with the same id: the first answer, or else the last failure.
	results := 0
	err = eachResult(ctx, files, func(at int64, r *result) error {
		results++
		x := expecting[parseID(r.CustomID)]
		if x == nil {
			return fmt.Errorf("custom_id %.80q is of no answer that spec %s wants; was the spec, its sampling or its data changed since the export?", r.CustomID, a.plan.Spec.Experiment.Name)
		}
		if err := r.miscounted(x.expert.MaxTokens); err != nil {
			return err
		}
		if !x.full {
			x.at, x.full = at, r.answered()
		}
		responsive[x.wants] = responsive[x.wants] || r.answered()
		return nil
	})
	if err != nil {
		return n, err
	}
	if err := a.startRun(ctx); err != nil {
		return n, err
	}
	for _, m := range all {
		a.rollouts.Want(m.scope, len(m.questions))
	}
	endpoints := map[string]experts.Endpoint{}
	for _, e := range experts.Endpoints(a.pool.Pool, a.pool.Members()) {
		endpoints[e.ID] = e
	}
	show := a.plan.Options.Progress.Start("importing results", results)
	defer show.Done()
	err = eachResult(ctx, files, func(at int64, r *result) error {
		show.Add(1)
		x := expecting[parseID(r.CustomID)]
		if x == nil {
			return errors.New("this line was another one a moment ago; import a file once it is finished")
		}
		_, stored := x.have.rows[x.key]
		if stored || x.at != at {
			n.Known++
			return nil
		}
		q := x.request(x.asked)
		c, attempt, err := r.read(endpoints[x.expert.ID], q)
		row := x.row()
		begun := attemptOf(x.expert, x.scope, row, len(q.Prompt))
		begun.Server = "batch"
		ended := store.Ended{Class: string(attempt.Class), Error: attempt.Error, Spent: spent(x.expert.Price, attempt.Usage), Estimated: attempt.Estimated}
		var failure *experts.Failure
		switch {
		case err == nil:
			n.Answered++
			row.Response, row.Reasoning, row.Finish, row.In, row.Out = c.Text, c.Reasoning, c.Finish, c.Usage.In, c.Usage.Out
			return a.rollouts.ImportAnswer(begun, ended, row, verify.Version, Grade(*x.problem, c.Text, c.Finish))
		case !errors.As(err, &failure):
			return err
		}
		f := store.RolloutFailure{Text: row.Text, Run: row.Run, Seed: row.Seed, Class: string(failure.Class), Error: failure.Error(), Again: failure.Again || !responsive[x.wants]}
		if was, ok := x.have.failed[x.key]; ok && was.Class == f.Class && was.Error == f.Error {
			n.Known++
			return nil
		}
		if n.Failed++; n.Failed == 1 {
			a.plan.Options.Log.Warn("a request failed", "err", failure)
		}
		return a.rollouts.ImportFailure(begun, ended, f)
	})
	a.read = nil // what was known is out of date
	if err := errors.Join(err, a.rollouts.Sync(context.WithoutCancel(ctx))); err != nil {
		return n, err
	}
	return n, a.sayCounted(ctx, all)
}

// parseID reads a custom id; of what is none it makes one that no answer has.
func parseID(text string) (id customID) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && len(raw) == len(id) {
		return customID(raw)
	}
	return id
}

// eachResult reads files of results line by line. Lines are counted over all files, from 1. What goes wrong is said with the name of the
// file and the number of the line in it.
func eachResult(ctx context.Context, files []string, do func(at int64, r *result) error) error {
	all := int64(0)
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = func() error {
			defer f.Close()
			b := bufio.NewReaderSize(f, 1<<20)
			for at := 1; ; at++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				text, err := b.ReadBytes('\n')
				if err != nil && !errors.Is(err, io.EOF) {
					return fmt.Errorf("%s:%d: %w", path, at, err)
				}
				all++
				if at == 1 {
					text = bytes.TrimPrefix(text, []byte("\ufeff")) // a byte order mark, as some editors leave it
				}
				if text := bytes.TrimSpace(text); len(text) > 0 {
					r := &result{}
					fault := json.Unmarshal(text, r)
					switch {
					case fault != nil && errors.Is(err, io.EOF):
						fault = errors.New("the last line ends in the middle: was the batch stopped? Run its shard again, or remove the line")
					case fault != nil:
						fault = fmt.Errorf("not a line of batch results (%w)", lines.Worded(fault))
					case r.Response == nil && null(r.Error):
						fault = errors.New("holds neither a response nor an error: is this the file of results and not the shard of requests?")
					default:
						fault = do(all, r)
					}
					if fault != nil {
						return fmt.Errorf("%s:%d: %w", path, at, fault)
					}
				}
				if err != nil {
					return nil
				}
			}
		}()
		if err != nil {
			return err
		}
	}
	return nil
}
