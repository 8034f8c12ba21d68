// How one expert of a pool is sampled, and knobs whose value a server reads.

package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// sent are the knobs that Sampling.LeaveOut may name.
var sent = []string{"temperature", "top_p", "top_k", "min_p", "seed"}

// SamplingOf is how one of the pool's experts, or its probe, is asked: the pool's sampling, over it what the expert sets
// for itself. The error is Faults.
func (p *Pool) SamplingOf(x *Expert) (Sampling, error) {
	d := newDecoder("")
	s := p.sampling(d, x, "sampling")
	return s, d.faults.err()
}

// Own returns a member of the pool as its file has it, by its id.
func (p *Pool) Own(id string) (Expert, bool) {
	if p.Probe != nil && p.Probe.ID == id {
		return *p.Probe, true
	}
	i := slices.IndexFunc(p.Experts, func(x Expert) bool { return x.ID == id })
	if i < 0 {
		return Expert{}, false
	}
	return p.Experts[i], true
}

// Source says who answers for a member.
type Source string

// These are all sources.
const (
	Simulated Source = "simulation"
	Server    Source = "server"  // of a pool of kind http, or of another with an address
	Answered  Source = "answers" // a file of what it answered elsewhere
	Recording Source = "recording"
)

// SourceOf says who answers for a member of the pool.
func (p *Pool) SourceOf(id string) Source {
	switch x, _ := p.Own(id); {
	case p.Kind == "recorded":
		return Recording
	case x.Answers != nil:
		return Answered
	case p.Kind == "http" || x.URL != "" || len(x.URLs) > 0:
		return Server
	}
	return Simulated
}

// Beside are the members of a simulated pool for which somebody else answers.
func (p *Pool) Beside(source Source) (ids []string) {
	if p.Kind != "simulated" {
		return nil
	}
	all := p.Experts
	if p.Probe != nil {
		all = append(slices.Clone(all), *p.Probe)
	}
	for _, x := range all {
		if p.SourceOf(x.ID) == source {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// Mixed says whether the pool is simulated and somebody else answers for some member.
func (p *Pool) Mixed() bool { return p.Beside(Server) != nil || p.Beside(Answered) != nil }

// sampling reads what an expert sets for itself, where at is the path of that knob.
func (p *Pool) sampling(d *decoder, x *Expert, at string) Sampling {
	s := p.Sampling
	if x.Sampling.Kind != 0 {
		d.value(&x.Sampling, reflect.ValueOf(&s).Elem(), at, false)
	}
	return s
}

// checkSampling reports what the types of a sampling do not say.
func checkSampling(d *decoder, at string, s Sampling) {
	if s.Prompt != "" && strings.Count(s.Prompt, "{problem}") != 1 {
		d.faultAt(at+".prompt", "want a template with one {problem}, got %q", s.Prompt)
	}
	if texts := s.Stop.texts(); s.Stop != "" && (len(texts) == 0 || slices.Contains(texts, "")) {
		d.faultAt(at+".stop", "want a text or a list of texts, got %s", s.Stop)
	}
	if s.TemplateKwargs != "" && !strings.HasPrefix(string(s.TemplateKwargs), "{") {
		d.faultAt(at+".chat_template_kwargs", "want names and values, got %s", s.TemplateKwargs)
	}
	if s.LeaveOut == "" {
		return
	}
	texts := s.LeaveOut.texts()
	if len(texts) == 0 {
		d.faultAt(at+".leave_out", "want a list of names, got %s", s.LeaveOut)
	}
	for i, name := range texts {
		if !slices.Contains(sent, name) {
			d.faultAt(fmt.Sprintf("%s.leave_out[%d]", at, i), "%s", unknown("field", name, sent))
		}
	}
}
