// Logs of inspect_ai: a zip of samples (.eval), or one JSON file with them.

package imports

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// inspectHeader is what a log says of all its samples.
type inspectHeader struct {
	Status string `json:"status"` // success, or how the evaluation ended otherwise
	Eval   struct {
		Task    string   `json:"task"`
		Model   string   `json:"model"`
		Config  settings `json:"model_generate_config"`
		Dataset struct {
			Name string `json:"name"`
		} `json:"dataset"`
	} `json:"eval"`
	Plan struct {
		Config settings `json:"config"`
	} `json:"plan"`
}

type inspectUsage struct {
	In       int64 `json:"input_tokens"`
	Read     int64 `json:"input_tokens_cache_read"`
	Wrote    int64 `json:"input_tokens_cache_write"`
	Out      int64 `json:"output_tokens"`
	Thinking int64 `json:"reasoning_tokens"`
	Total    int64 `json:"total_tokens"`
}

// billed are the tokens that were read and written. What is in the total only was read from a cache or written to one, or it is thinking,
// which Google's models have beside their output tokens and others among them.
func (u inspectUsage) billed() (in, out int64) {
	out = u.Out + max(0, min(u.Thinking, u.Total-u.In-u.Read-u.Wrote-u.Out))
	return max(u.In, u.Total-out), out
}

type inspectSample struct {
	UUID        string            `json:"uuid"` // which a retry keeps
	ID          json.RawMessage   `json:"id"`
	Epoch       int               `json:"epoch"`
	Input       json.RawMessage   `json:"input"`
	Choices     []string          `json:"choices"`
	Target      json.RawMessage   `json:"target"`
	Attachments map[string]string `json:"attachments"`
	Output      struct {
		Choices []struct {
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
			Stop string `json:"stop_reason"`
		} `json:"choices"`
		Usage *inspectUsage `json:"usage"`
	} `json:"output"`
	Usage  map[string]inspectUsage `json:"model_usage"`
	Scores map[string]struct {
		Value json.RawMessage `json:"value"`
	} `json:"scores"`
	Error json.RawMessage `json:"error"`
}

func inspectRows(files []File, o Options, add func(Row) error) ([]string, error) {
	failed, several, twice := 0, 0, 0
	known := map[string]bool{} // by uuid
	var unfinished []string
	for _, f := range files {
		data, err := f.Data()
		if err != nil {
			return nil, err
		}
		read := inspectJSON
		if bytes.HasPrefix(data, []byte("PK")) {
			read = inspectZip
		}
		header, err := read(data, func(h inspectHeader, name string, s inspectSample) error {
			if len(s.Error) > 0 && string(s.Error) != "null" {
				failed++
				return nil
			}
			if s.UUID != "" && known[s.UUID] {
				twice++
				return nil
			}
			known[s.UUID] = true
			row, err := s.row(h, o)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if row.Opaque && row.Correct == nil {
				several++
				return nil
			}
			row.At = f.Name + ": " + name
			return add(row)
		})
		if err != nil {
			return nil, placed(f.Name, err)
		}
		if s := cmp.Or(header.Status, "success"); s != "success" {
			unfinished = append(unfinished, fmt.Sprintf("%s (%s)", f.Name, cmp.Or(spec.Plain(s), "?")))
		}
	}
	var left []string
	if failed > 0 {
		left = append(left, counted(failed, "sample")+": the log has an error in the place of an answer")
	}
	if twice > 0 {
		left = append(left, counted(twice, "sample")+": there already, with the same uuid, as after a retry")
	}
	if several > 0 {
		left = append(left, counted(several, "sample")+": several options together are right, and no single scorer says whether the answer is")
	}
	if len(unfinished) > 0 {
		left = append(left, fmt.Sprintf("what %s did not come to: %s", counted(len(unfinished), "evaluation"), strings.Join(unfinished, ", ")))
	}
	return left, nil
}

func inspectJSON(data []byte, use func(inspectHeader, string, inspectSample) error) (inspectHeader, error) {
	var log struct {
		inspectHeader
		Samples []json.RawMessage `json:"samples"`
	}
	if err := unmarshal(data, &log); err != nil {
		return log.inspectHeader, fmt.Errorf("no log of inspect_ai: %w", err)
	}
	if log.Eval.Model == "" {
		return log.inspectHeader, fmt.Errorf("no log of inspect_ai: eval.model is missing")
	}
	type numbered struct {
		name string
		inspectSample
	}
	samples := make([]numbered, len(log.Samples))
	for i, raw := range log.Samples {
		samples[i].name = fmt.Sprintf("sample %d", i+1)
		if err := unmarshal(raw, &samples[i].inspectSample); err != nil {
			return log.inspectHeader, fmt.Errorf("%s: %w", samples[i].name, err)
		}
	}
	slices.SortStableFunc(samples, func(a, b numbered) int { return cmp.Compare(a.Epoch, b.Epoch) })
	for _, s := range samples {
		if err := use(log.inspectHeader, s.name, s.inspectSample); err != nil {
			return log.inspectHeader, err
		}
	}
	return log.inspectHeader, nil
}

func inspectZip(data []byte, use func(inspectHeader, string, inspectSample) error) (h inspectHeader, err error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return h, errors.New("no log of inspect_ai: not a valid zip file; was it cut short?")
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor())
	for _, name := range []string{"header.json", "_journal/start.json"} { // an evaluation that did not end has no header
		f, err := z.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = decode(f, &h)
			f.Close()
		}
		if err != nil {
			return h, fmt.Errorf("%s: %w", name, err)
		}
		if name != "header.json" {
			h.Status = "started"
		}
		break
	}
	if h.Eval.Model == "" {
		return h, fmt.Errorf("no log of inspect_ai: its header names no model")
	}
	slices.SortStableFunc(z.File, func(a, b *zip.File) int { return cmp.Compare(epochOf(a.Name), epochOf(b.Name)) })
	for _, f := range z.File {
		if path.Dir(f.Name) != "samples" || path.Ext(f.Name) != ".json" {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return h, fmt.Errorf("%s: %w", f.Name, err)
		}
		var s inspectSample
		err = decode(r, &s)
		r.Close()
		if err != nil {
			return h, fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := use(h, f.Name, s); err != nil {
			return h, err
		}
	}
	return h, nil
}

// inEpoch is the end of a sample's name.
var inEpoch = regexp.MustCompile(`_epoch_(\d+)\.json$`)

// epochOf is the epoch that the name of a sample says. Samples lie in a log in the order in which they ended, and of several answers the
// first is scored: it would be the quickest one.
func epochOf(name string) int {
	if m := inEpoch.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits; more than any are the last epoch
		return n
	}
	return 0
}

// mostSample is more bytes than any sample has: a zip may hold more than fits in memory.
const mostSample = 256 << 20

func decode(r io.Reader, into any) error {
	data, err := io.ReadAll(io.LimitReader(r, mostSample+1))
	if err != nil {
		return err
	}
	if len(data) > mostSample {
		return fmt.Errorf("more than %d bytes", mostSample)
	}
	return unmarshal(data, into)
}

func (s inspectSample) row(h inspectHeader, o Options) (Row, error) {
	r := Row{Benchmark: o.Benchmark, Model: h.Eval.Model, Options: s.Choices, In: unsaid, Out: unsaid, USD: math.NaN()}
	r.Benchmark = cmp.Or(r.Benchmark, path.Base(h.Eval.Task))
	id, ok := textOf(s.ID)
	if !ok {
		return r, fmt.Errorf("the sample has no id")
	}
	r.Question = id
	var err error
	if r.Problem, err = s.input(); err != nil {
		return r, err
	}
	var golds []string
	if gold, ok := textOf(s.Target); ok {
		golds = []string{gold}
	} else if err := json.Unmarshal(s.Target, &golds); err != nil {
		return r, fmt.Errorf("target is neither a text nor a list of texts")
	}
	for _, g := range golds {
		if g = strings.TrimSpace(g); g != "" {
			r.Golds = append(r.Golds, g)
		}
	}
	r.Opaque = len(s.Choices) > 0 && len(r.Golds) > 1 // all of them together are right, and a gold is one
	r.Settings = h.Eval.Config.all()
	maps.Copy(r.Settings, h.Plan.Config.all())
	if len(s.Output.Choices) > 0 {
		text := content(s.Output.Choices[0].Message.Content)
		r.Response, r.Finish = &text, s.Output.Choices[0].Stop
	}
	usage := s.Output.Usage
	if all, ok := s.Usage[h.Eval.Model]; ok { // every call of the sample, not the last one only
		usage = &all
	}
	if usage != nil {
		r.In, r.Out = usage.billed()
	}
	if len(s.Scores) == 1 { // of several nobody knows which one counts
		for _, score := range s.Scores {
			r.Correct, r.Partial = judged(score.Value, o.CorrectFrom)
		}
	}
	return r, nil
}

// input is the question: a text, or what the user says last.
func (s inspectSample) input() (string, error) {
	text, ok := textOf(s.Input)
	if !ok {
		var messages []message
		if err := json.Unmarshal(s.Input, &messages); err != nil {
			return "", fmt.Errorf("input is neither a text nor a list of messages")
		}
		text = said(messages)
	}
	if key, ok := strings.CutPrefix(text, "attachment://"); ok {
		text = s.Attachments[key]
	}
	return text, nil
}

// judged reads a score: C, I, P for one half or N for no answer, a truth value, or a number, which goes from 0 to 1, and further where from
// does. nil: it is none that says right or wrong. partial: it is wrong, since nobody said from which part on an answer is right.
func judged(raw json.RawMessage, from float64) (correct *bool, partial bool) {
	var right bool
	var number float64
	switch text, ok := textOf(raw); {
	case string(raw) == "null":
		return nil, false
	case json.Unmarshal(raw, &right) == nil:
	case json.Unmarshal(raw, &number) == nil:
		if number < 0 || number > 1 && from <= 1 {
			return nil, false
		}
		right = number >= from
		partial = from == 1 && number > 0 && !right
	case ok && text == "P":
		return judged(json.RawMessage("0.5"), from)
	case ok && (text == "C" || text == "I" || text == "N"):
		right = text == "C"
	default:
		return nil, false
	}
	return &right, partial
}
