// What a server says about itself: models, counts of tokens, metrics.

package vllm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
)

// list is the list of models.
func list(models []Model) []byte {
	b := []byte(`{"object":"list","data":[`)
	for i, m := range models {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendJSON(append(b, `{"object":"model","created":0,"owned_by":"entrorouter","id":`...), m.Name)
		if m.Window > 0 {
			b = strconv.AppendInt(append(b, `,"max_model_len":`...), int64(m.Window), 10)
		}
		b = append(b, '}')
	}
	return append(b, `]}`...)
}

// tokenized is a prompt in tokens, for a model with a window of so many. A token is four bytes and its number is those bytes as a
// little-endian integer.
func tokenized(prompt string, window int) []byte {
	b := strconv.AppendInt([]byte(`{"count":`), tokens(prompt), 10)
	b = strconv.AppendInt(append(b, `,"max_model_len":`...), int64(window), 10)
	b = append(b, `,"tokens":[`...)
	for part := range slices.Chunk([]byte(prompt), 4) {
		var id int64
		for k, c := range part {
			id |= int64(c) << (8 * k)
		}
		b = append(strconv.AppendInt(b, id, 10), ',')
	}
	if prompt != "" {
		b = b[:len(b)-1]
	}
	return append(b, `],"token_strs":null}`...)
}

// counts are what /metrics says of one model.
type counts struct {
	running  atomic.Int64
	mu       sync.Mutex
	in, out  int64            // tokens
	finished map[string]int64 // responses by why they ended
}

func newCounts() *counts {
	return &counts{finished: map[string]int64{"stop": 0, "length": 0, "abort": 0}}
}

func (c *counts) add(choices []choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in += choices[0].in
	for _, choice := range choices {
		c.out += choice.out
		c.finished[choice.finish]++
	}
}

// metrics is what dashboards for vLLM begin with, in the text format of Prometheus: all is the counts of each model. Nothing ever waits here.
func metrics(models []Model, all []*counts) (b []byte) {
	family := func(name, kind, help string, values func(*counts) map[string]int64) {
		b = fmt.Appendf(b, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, kind)
		for i, m := range models {
			of := values(all[i])
			for _, label := range slices.Sorted(maps.Keys(of)) {
				b = fmt.Appendf(b, "vllm:%s{engine=\"0\",%smodel_name=%q} %d\n", name, label, m.Name, of[label])
			}
		}
	}
	one := func(n int64) map[string]int64 { return map[string]int64{"": n} }
	for _, c := range all {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	family("num_requests_running", "gauge", "Number of requests in model execution batches.", func(c *counts) map[string]int64 { return one(c.running.Load()) })
	family("num_requests_waiting", "gauge", "Number of requests waiting to be processed.", func(*counts) map[string]int64 { return one(0) })
	family("prompt_tokens_total", "counter", "Number of prefill tokens processed.", func(c *counts) map[string]int64 { return one(c.in) })
	family("generation_tokens_total", "counter", "Number of generation tokens processed.", func(c *counts) map[string]int64 { return one(c.out) })
	family("request_success_total", "counter", "Count of successfully processed requests.", func(c *counts) map[string]int64 {
		labelled := map[string]int64{}
		for why, n := range c.finished {
			labelled[fmt.Sprintf("finished_reason=%q,", why)] = n
		}
		return labelled
	})
	return b
}
