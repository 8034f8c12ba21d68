// What a rule makes of an answer: other values, other lines, another pace, another end. It is written to the connection
// itself, since no response writer lets go in the middle.

package fault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/entrorouter/entrorouter/harness/experts/vllm"
)

// spoil answers a request as a rule has it.
func (h *Handler) spoil(w http.ResponseWriter, r *http.Request, q asked, rule Rule, served *Served) {
	var a *answer
	if rule.Status == 0 {
		a = h.ask(r, q, rule.Request)
	} else {
		a = h.refuse(rule, q)
	}
	served.In, served.Out = a.in, a.out
	if rule.End == Erred && !a.stream {
		a = h.refuse(Rule{Status: http.StatusInternalServerError}, q)
	}
	for i, p := range a.parts {
		a.parts[i] = rule.line(rule.edit(p, a.stream), a.stream, i == 0)
	}
	a.header.Set("Date", h.o.Clock.Now().UTC().Format(http.TimeFormat))
	for name, value := range rule.Headers {
		a.header.Set(name, h.fill(value, q))
	}

	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "a fault needs a connection of its own: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	ctx, gone := context.WithCancel(h.ctx)
	defer gone()
	defer context.AfterFunc(h.ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	h.busy.Go(func() {
		defer gone()
		io.Copy(io.Discard, conn) // until the client has gone, or we close the connection
	})
	(&writer{h: h, ctx: ctx, conn: conn, rule: rule}).play(a, served)
}

// refuse is the answer of a server that was not asked.
func (h *Handler) refuse(rule Rule, q asked) *answer {
	body := words(rule.Status, q.model)
	if rule.Body != nil {
		body = h.fill(*rule.Body, q)
	}
	a := &answer{status: rule.Status, header: http.Header{"Content-Type": {"application/json"}}, parts: [][]byte{[]byte(body)}, told: []int64{0}}
	if strings.HasPrefix(body, "<") {
		a.header.Set("Content-Type", "text/html")
	}
	return a
}

var soon = regexp.MustCompile(`\{in ([^{}]*)\}`)

// fill puts the client's key for {key} and a date of HTTP for {in 30s}.
func (h *Handler) fill(text string, q asked) string {
	text = strings.ReplaceAll(text, "{key}", q.bearer)
	return soon.ReplaceAllStringFunc(text, func(s string) string {
		d, err := time.ParseDuration(soon.FindStringSubmatch(s)[1])
		if err != nil {
			return s
		}
		return h.o.Clock.Now().Add(d).UTC().Format(http.TimeFormat)
	})
}

// words are what vLLM, or what stands before it, says with a status.
func words(status int, model string) string {
	e := vllm.Error{Status: status, Type: strings.ReplaceAll(http.StatusText(status), " ", "") + "Error", Message: http.StatusText(status)}
	switch status {
	case http.StatusOK, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return ""
	case http.StatusUnauthorized:
		return vllm.Unauthorized
	case http.StatusNotFound:
		e.Type, e.Message = vllm.NotFound, "The model `"+model+"` does not exist."
	case http.StatusBadRequest:
		e.Type, e.Message = vllm.BadRequest, "This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens. Please reduce the length of the input messages."
	case http.StatusTooManyRequests:
		e.Message = "Rate limit reached."
	case http.StatusInternalServerError:
		return "" // as when the engine is dead
	case http.StatusBadGateway:
		return "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"
	case http.StatusServiceUnavailable:
		e.Type, e.Message = "unavailable_error", "Loading model"
	}
	return string(e.JSON())
}

// edit changes the values of a body, or of one event of a stream.
func (r Rule) edit(part []byte, stream bool) []byte {
	body := data(part)
	if len(body) == 0 || body[0] != '{' || len(r.Set)+len(r.Move)+len(r.Drop) == 0 {
		return part
	}
	// there returns the path in this body, if its value is to be changed.
	there := func(path string) (string, bool) {
		if stream {
			path = strings.ReplaceAll(path, ".message", ".delta")
		}
		value := gjson.GetBytes(body, path)
		return path, !stream || value.Exists() && value.Type != gjson.Null
	}
	change := func(edited []byte, err error) {
		if err == nil {
			body = edited
		}
	}
	for _, from := range sorted(r.Move) {
		path, ok := there(from)
		value := gjson.GetBytes(body, path).Raw
		if !ok || value == "" {
			continue
		}
		value = strings.Clone(value)
		to := path[:strings.LastIndexByte(path, '.')+1] + r.Move[from]
		change(sjson.SetRawBytes(body, to, []byte(value)))
		change(sjson.SetRawBytes(body, path, []byte("null")))
	}
	for _, path := range sorted(r.Set) {
		if to, ok := there(path); ok {
			change(sjson.SetRawBytes(body, to, []byte(r.Set[path])))
		}
	}
	for _, path := range r.Drop {
		if from, ok := there(path); ok {
			change(sjson.DeleteBytes(body, from))
		}
	}
	if !stream {
		return body
	}
	return event(body)
}

const mark = "\ufeff" // of the byte order

// line writes a body, or one event of a stream, in another of the ways in which it may be written.
func (r Rule) line(part []byte, stream, first bool) []byte {
	if body := data(part); first && r.Padding > 0 && len(body) > 0 && body[0] == '{' {
		i := bytes.IndexByte(part, '{') + 1
		part = slices.Concat(part[:i], []byte(`"padding":"`), bytes.Repeat([]byte("x"), r.Padding), []byte(`",`), part[i:])
	}
	if stream && r.Tight {
		part = append([]byte("data:"), bytes.TrimPrefix(part, []byte("data: "))...)
	}
	if stream && r.Comments {
		part = append([]byte(": still at it\n\n"), part...)
	}
	if stream && r.CRLF {
		part = bytes.ReplaceAll(part, []byte("\n"), []byte("\r\n"))
	}
	if first && r.BOM {
		part = append([]byte(mark), part...)
	}
	return part
}

// writer writes a spoiled answer to its connection.
type writer struct {
	h    *Handler
	ctx  context.Context // ends when the client has gone
	conn net.Conn
	rule Rule
}

var errStopped = errors.New("the client has gone, or the server is to stop")

// play writes an answer up to where it ends, and ends it.
func (o *writer) play(a *answer, served *Served) {
	var size int
	for _, part := range a.parts {
		size += len(part)
	}
	end, complete := size, (o.rule.End == Whole || o.rule.End == Erred && !a.stream) && o.rule.Down == 0
	if !complete {
		end = o.rule.After.in(a.parts, size)
	}
	if !o.h.wait(o.ctx, o.rule.Delay) || o.ctx.Err() != nil {
		return
	}
	if o.rule.After.unit != nothing {
		served.Status = a.status
		sent, err := o.write(a, end, size, complete)
		served.Sent = a.tokens(sent, size, o.rule.End == Erred)
		if err != nil {
			return
		}
		served.Whole = complete
	}
	switch {
	case o.rule.Down > 0 && o.h.o.Listener != nil:
		o.h.o.Listener.Down() // before anybody learns of it by a reset
		o.h.busy.Go(func() {
			if o.h.wait(o.h.ctx, o.rule.Down) {
				o.h.o.Listener.Up()
			}
		})
	case o.rule.End == Reset || o.rule.Down > 0:
		reset(o.conn)
	case o.rule.End == Hang:
		<-o.ctx.Done()
	}
}

// in is how many bytes of a body lie before a point.
func (p Point) in(parts [][]byte, size int) int {
	switch p.unit {
	case octets:
		return min(p.n, size)
	case events:
		var n int
		for _, part := range parts[:min(p.n, len(parts))] {
			n += len(part)
		}
		return n
	}
	return 0
}

// tokens is how many tokens lie in the first bytes of a body. An event counts once its data are whole: some clients read it
// without the empty line that ends it. Where more is written behind these bytes its line must have ended, too.
func (a *answer) tokens(sent, size int, more bool) int64 {
	if sent == size {
		return a.out
	}
	begin, told := 0, int64(0)
	for i, part := range a.parts {
		whole := len(bytes.TrimRight(part, "\r\n"))
		if more {
			whole += bytes.IndexByte(part[whole:], '\n') + 1
		}
		if begin+whole > sent {
			break
		}
		begin += len(part)
		told = max(told, a.told[i])
	}
	return told
}

// write sends the head and a part of the body, and what says that it is complete if it is to. It returns how much of the
// body went out.
func (o *writer) write(a *answer, end, size int, complete bool) (int, error) {
	chunked := a.stream || o.rule.Split > 0
	a.header.Set("Connection", "close")
	switch _, stated := o.rule.Headers["Content-Length"]; {
	case stated:
		chunked = false
	case chunked:
		a.header.Del("Content-Length")
		a.header.Set("Transfer-Encoding", "chunked")
	case o.rule.End == Early:
		a.header.Set("Content-Length", strconv.Itoa(end))
	default:
		a.header.Set("Content-Length", strconv.Itoa(size))
	}
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 " + strconv.Itoa(a.status) + " " + http.StatusText(a.status) + "\r\n")
	a.header.Write(&head)
	head.WriteString("\r\n")
	if err := o.bytes(head.Bytes(), o.rule.Pace != nil && o.rule.Pace.Head); err != nil {
		return 0, err
	}
	sent := 0
	for _, piece := range o.rule.pieces(a.parts, end) {
		if err := o.piece(piece, chunked); err != nil {
			return sent, err
		}
		sent += len(piece)
	}
	if o.rule.End == Erred && a.stream {
		e := vllm.Error{Status: http.StatusInternalServerError, Type: vllm.InternalError, Message: "EngineCore encountered an issue. See stack trace (above) for the root cause."}
		for _, text := range []string{string(e.JSON()), "[DONE]"} {
			if err := o.piece(o.rule.line(event([]byte(text)), true, false), chunked); err != nil {
				return sent, err
			}
		}
	}
	if chunked && (complete || o.rule.End == Early || o.rule.End == Erred) {
		return sent, o.bytes([]byte("0\r\n\r\n"), o.rule.Pace != nil)
	}
	return sent, nil
}

// pieces are what of a body is written at a time: the events of a stream, or so many bytes as the rule says.
func (r Rule) pieces(parts [][]byte, end int) [][]byte {
	if r.Split > 0 {
		return slices.Collect(slices.Chunk(bytes.Join(parts, nil)[:end], r.Split))
	}
	var pieces [][]byte
	for _, part := range parts {
		part = part[:min(len(part), end)]
		if end -= len(part); len(part) > 0 {
			pieces = append(pieces, part)
		}
	}
	return pieces
}

func (o *writer) piece(b []byte, chunked bool) error {
	if chunked {
		b = slices.Concat(strconv.AppendInt(nil, int64(len(b)), 16), []byte("\r\n"), b, []byte("\r\n"))
	}
	return o.bytes(b, o.rule.Pace != nil)
}

// bytes writes to the connection, so many bytes a tick if they are to trickle.
func (o *writer) bytes(b []byte, trickle bool) error {
	for len(b) > 0 {
		n := len(b)
		if trickle {
			if !o.h.wait(o.ctx, o.rule.Pace.Every) {
				return errStopped
			}
			n = min(n, o.rule.Pace.Bytes)
		}
		if _, err := o.conn.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
