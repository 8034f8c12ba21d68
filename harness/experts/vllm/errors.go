// Refusals in the words of vLLM, and how a body is sent.

package vllm

import (
	"net/http"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
)

// Types of errors.
const (
	BadRequest    = "BadRequestError"
	NotFound      = "NotFoundError"
	InternalError = "InternalServerError"
)

// Unauthorized is the body of status 401, whose error is a text and not an object.
const Unauthorized = `{"error":"Unauthorized"}`

// Error is a refusal. Its JSON is that of vLLM, whose code is a number.
type Error struct {
	Status  int
	Type    string
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// JSON is the body of the response, or what an event of a stream says.
func (e *Error) JSON() []byte {
	b := wire.AppendJSON([]byte(`{"error":{"message":`), e.Message)
	b = wire.AppendJSON(append(b, `,"type":`...), e.Type)
	b = strconv.AppendInt(append(b, `,"param":null,"code":`...), int64(e.Status), 10)
	return append(b, "}}"...)
}

// Write sends the response.
func (e *Error) Write(w http.ResponseWriter) { writeJSON(w, e.Status, e.JSON()) }

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}
