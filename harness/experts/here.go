// A server inside the process.

package experts

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
)

// here carries requests to a handler of this process: what it is sent and what it sends are those of a server elsewhere, and nothing is
// written to a connection.
type here struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper. It returns once the handler has, with the whole answer.
func (t here) RoundTrip(r *http.Request) (*http.Response, error) {
	w := written{header: http.Header{}}
	t.handler.ServeHTTP(&w, r.WithContext(r.Context())) // which may change the request that it is given
	r.Body.Close()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	status := cmp.Or(w.status, http.StatusOK)
	return &http.Response{
		Status: fmt.Sprint(status, " ", http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// written is what a handler answers. It implements http.ResponseWriter.
type written struct {
	header http.Header
	status int // 0: none was written
	body   bytes.Buffer
}

func (w *written) Header() http.Header { return w.header }

func (w *written) WriteHeader(status int) { w.status = cmp.Or(w.status, status) }

func (w *written) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
