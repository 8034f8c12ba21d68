// What types and ranges of a spec do not say: names, rows and combinations.

package spec

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// fewestResamples are those of an interval: the ends of fewer are the resamples themselves.
const fewestResamples = 10

// paperNumber is what a paper calls a table or a figure.
var paperNumber = regexp.MustCompile(`^(?:Table|Figure) [1-9][0-9]*$`)

// paperRow is a method of the paper with any further keys of its row.
var paperRow = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(/[a-z]+=[a-z0-9.-]+)*$`)

// checkExperiment reports what the types and ranges of an experiment do not say. file is its name without .yaml.
func (l *loader) checkExperiment(file string) {
	e, d := &l.out.Experiment, l.spec
	if at := d.find("name"); e.Name != "" && e.Name != file && at.file != d.file {
		d.fault(0, "name", "not set, and %q, the name of %s, is another file's; want %q", e.Name, at.file, file)
	} else if e.Name != "" && e.Name != file {
		d.faultAt("name", "%q is not the name of the file; want %q", e.Name, file)
	}
	printed, there := l.known.Paper[e.Paper]
	if l.known.Paper != nil && e.Paper != "" && !there {
		d.faultAt("paper", "%s", unknown("table of the paper", e.Paper, slices.Sorted(maps.Keys(l.known.Paper))))
	}
	paperRow := func(knob, row string) {
		switch {
		case row == "":
		case !paperRow.MatchString(row):
			d.faultAt(knob, "%q is not a row of the paper; want a method and its further keys, as in entrorouter/alpha=0.2", row)
		case there && !slices.Contains(printed, row):
			d.faultAt(knob, "%s", unknown("row of the paper's table "+e.Paper, row, printed))
		}
	}
	if e.Protocol == "split" {
		if len(e.Pools) > 1 {
			d.faultAt("pools", "protocol split takes one pool, got %d", len(e.Pools))
		}
		if _, set := d.at["test"]; !set {
			d.faultAt("test", "not set; protocol split needs the benchmarks to test on")
		}
		distinct(d, "test", e.Test)
		if e.CountInput && e.Large > 0 {
			d.faultAt("large", "the large set knows expected output tokens only; want 0 with count_input: true")
		}
	}
	if m, set := d.at["methods"]; e.Protocol != "collapse" && len(e.Methods) == 0 && !m.broken {
		d.faultAt("methods", "%s", map[bool]string{true: "must not be empty", false: "not set"}[set])
	}
	if knob, fault := e.Policy.Check(); fault != "" {
		d.faultAt("policy"+knob, "%s", fault)
	}
	if knob, fault := e.Features.Over(Features{Read: []string{ReadWords}, Characters: Characters{Longest: 16}}).Check(); fault != "" {
		d.faultAt("features"+knob, "%s", fault)
	}
	if t := e.Teacher; t != nil {
		if t.Model == "" {
			d.faultAt("teacher.model", "must not be empty")
		}
		if t.URL != "" {
			checkServer(d, "teacher.url", t.URL)
		}
		checkKey(d, "teacher.key_env", t.KeyEnv)
	}
	if w := e.Writer; w != nil {
		checkServer(d, "writer.url", w.URL)
		checkKey(d, "writer.key_env", w.KeyEnv)
	}
	l.checkCollapse()
	l.checkEnsemble()
	if n := e.Evaluate.Bootstrap; n > 0 && n < fewestResamples {
		d.faultAt("evaluate.bootstrap", "%d resamples have no interval; want at least %d, or 0 for none", n, fewestResamples)
	}
	distinct(d, "evaluate.seeds", e.Evaluate.Seeds)
	distinct(d, "folds.seeds", e.Folds.Seeds)

	rows, labels := map[string]int{}, map[string]int{}
	for i, m := range e.Methods {
		knob := fmt.Sprintf("methods[%d]", i)
		if m.ID != "" && !plainName.MatchString(m.ID) {
			d.faultAt(knob+".id", "%q is not an id; %s", m.ID, nameRule)
		}
		paperRow(knob+".paper", m.Paper)
		if first, twice := rows[m.RowID()]; twice && m.RowID() != "" {
			d.faultAt(knob, "the id %q is already that of methods[%d]; set another", m.RowID(), first)
			continue
		}
		rows[m.RowID()] = i
		if first, twice := labels[m.RowLabel()]; twice && m.RowLabel() != "" {
			d.faultAt(knob, "the label %q is already that of methods[%d]; set another", m.RowLabel(), first)
			continue
		}
		labels[m.RowLabel()] = i
	}
	for i, p := range e.PaperRows {
		knob := fmt.Sprintf("paper_rows[%d]", i)
		paperRow(knob+".paper", p.Paper)
		if e.Paper == "" {
			d.faultAt(knob, "there is no table of the paper; set paper")
		}
	}
	for i, m := range e.Methods {
		knob := fmt.Sprintf("methods[%d].match", i)
		other, ok := rows[m.Match]
		switch {
		case m.Match == "":
		case !ok:
			d.faultAt(knob, "%s", unknown("row", m.Match, slices.Sorted(maps.Keys(rows))))
		case other == i:
			d.faultAt(knob, "the row %q cannot be matched to itself", m.Match)
		case e.Methods[other].Match != "":
			d.faultAt(knob, "the row %q is itself matched; name one that is not", m.Match)
		}
		l.checkVersus(fmt.Sprintf("methods[%d].versus", i), m.Versus, i, rows)
		if m.Kappa != "" && e.Protocol == "split" {
			d.faultAt(fmt.Sprintf("methods[%d].kappa", i), "protocol split measures the labels; leave kappa out")
		}
		switch most := max(e.Train.SFT.Size, e.Train.RL.Size); {
		case m.Train == 0:
		case e.Protocol == "folds": // how many there are is known when the recording is read
		case m.Train > most:
			d.faultAt(fmt.Sprintf("methods[%d].train", i), "%d is more than the %d problems of the larger training set", m.Train, most)
		}
	}
	if again := e.Train.Again(e.Train.RL.Size); again > e.Train.SFT.Size {
		d.faultAt("train.seen", "%g of the %d problems of Stage II are %d, and Stage I has %d; want a smaller share or more problems in Stage I", e.Train.Seen, e.Train.RL.Size, again, e.Train.SFT.Size)
	}
	l.checkVersus("folds.versus", e.Folds.Versus, -1, rows)
	if id := e.Folds.Predictions; id != "" && e.Protocol != "folds" {
		d.faultAt("folds.predictions", "only protocol folds measures what rows predict; leave it out")
	} else if _, ok := rows[id]; id != "" && !ok {
		d.faultAt("folds.predictions", "%s", unknown("row", id, slices.Sorted(maps.Keys(rows))))
	}
	l.checkFiles()
	for i, o := range e.Outputs {
		if o.Number != "" && !paperNumber.MatchString(o.Number) {
			d.faultAt(fmt.Sprintf("outputs[%d].number", i), "%q is no number of the paper's; want one as in Table 1 or Figure 3", o.Number)
		}
		checkRows(d, fmt.Sprintf("outputs[%d].rows", i), o.Rows, rows)
		for j, s := range o.Series {
			checkRows(d, fmt.Sprintf("outputs[%d].series[%d].rows", i, j), s.Rows, rows)
		}
		of, known := l.known.output(o.Kind)
		if of.Protocols != nil && !slices.Contains(of.Protocols, e.Protocol) {
			d.faultAt(fmt.Sprintf("outputs[%d].kind", i), "outputs of kind %s need protocol %s, this spec has protocol %s", o.Kind, strings.Join(of.Protocols, " or "), e.Protocol)
		}
		for _, key := range o.keys() {
			if known && !slices.Contains(of.Reads, key) {
				d.faultAt(fmt.Sprintf("outputs[%d].%s", i, key), "outputs of kind %s do not read it; leave it out", o.Kind)
			}
		}
		if of.Swept && (o.Param == "" || o.Axis == "") {
			d.faultAt(fmt.Sprintf("outputs[%d]", i), "a %s needs param and axis: the number that its rows change and what to call it", o.Kind)
		}
	}
}

// checkFiles reports outputs whose files would be written over each other, or over those that every experiment has.
func (l *loader) checkFiles() {
	e := &l.out.Experiment
	taken := map[string]string{"measurements": "every experiment", "check": "every experiment", "readme": "every experiment"}
	for i, o := range e.Outputs {
		switch {
		case o.File == "":
			continue
		case !plainName.MatchString(o.File):
			l.spec.faultAt(fmt.Sprintf("outputs[%d].file", i), "%q is not a file name; %s", o.File, nameRule)
			continue
		}
		names := []string{o.File}
		if of, _ := l.known.output(o.Kind); of.Suffixes != nil {
			for _, suffix := range of.Suffixes(e) {
				names = append(names, o.File+suffix)
			}
		}
		if name, by := firstTaken(names, taken); by != "" {
			l.spec.faultAt(fmt.Sprintf("outputs[%d].file", i), "%q is already written by %s", name, by)
		}
		for _, name := range names {
			taken[strings.ToLower(name)] = "another output"
		}
	}
}

// firstTaken is the first of some names that is taken, as file systems have it to which capitals are nothing, and by whom. A last * stands for
// whatever follows.
func firstTaken(names []string, taken map[string]string) (name, by string) {
	for _, name := range names {
		stem, any := strings.CutSuffix(strings.ToLower(name), "*")
		for _, other := range slices.Sorted(maps.Keys(taken)) {
			stemToo, anyToo := strings.CutSuffix(other, "*")
			if stem == stemToo && any == anyToo || any && strings.HasPrefix(stemToo, stem) || anyToo && strings.HasPrefix(stem, stemToo) {
				return name, taken[other]
			}
		}
	}
	return "", ""
}

// keys are those that an output sets of what only some kinds read.
func (o Output) keys() (set []string) {
	for _, key := range []struct {
		name string
		set  bool
	}{{"rows", o.Rows != nil}, {"param", o.Param != ""}, {"axis", o.Axis != ""}, {"log", o.Log}, {"paper", o.Paper}, {"wide", o.Wide}, {"series", o.Series != nil}} {
		if key.set {
			set = append(set, key.name)
		}
	}
	return set
}

// Projections are the products of a layer that an adapter may change, by their names in Hugging Face folders.
var Projections = []string{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}

// Check returns the first thing that is wrong with knobs that belong together, and the knob below the policy's, as
// in .tune.last; empty: nothing.
func (p Policy) Check() (knob, fault string) {
	if p.Kind != "lm" {
		for _, k := range []struct {
			knob string
			set  bool
		}{{".model", p.Model != nil}, {".tune", p.Tune != nil}, {".rationale", p.Rationale != ""}, {".writes", p.Writes != nil}, {".max_tokens", p.MaxTokens != 0}, {".compute", p.Compute != ""}, {".checkpoint", p.Checkpoint}, {".micro_batch", p.MicroBatch != 0}} {
			if k.set {
				return k.knob, fmt.Sprintf("belongs to policies of kind lm, this one is %s", p.Kind)
			}
		}
		return "", ""
	}
	switch m := p.Model; {
	case m == nil:
		return ".model", "not set; policies of kind lm need a folder or the sizes of a fresh model"
	case m.Folder != "" && *m != (LanguageModel{Folder: m.Folder}):
		return ".model", "want a folder or the sizes of a fresh model, not both"
	case m.Folder == "" && (m.Arch == "" || m.Hidden == 0 || m.Inner == 0 || m.Layers == 0 || m.Heads == 0 || m.KVHeads == 0 || m.HeadDim == 0):
		return ".model", "a fresh model needs arch, hidden, inner, layers, heads, kv_heads and head_dim"
	}
	switch t := p.Tune; {
	case t == nil:
		return ".tune", "not set; want head, full, last: K or lora: {r, alpha, targets}"
	case (t.Part != "") && (t.Last != 0 || t.LoRA != nil) || t.Last != 0 && t.LoRA != nil || t.Part == "" && t.Last == 0 && t.LoRA == nil:
		return ".tune", "want one of head, full, last: K and lora: {r, alpha, targets}"
	case t.LoRA != nil:
		for i, name := range t.LoRA.Targets {
			switch {
			case !slices.Contains(Projections, name):
				return fmt.Sprintf(".tune.lora.targets[%d]", i), unknown("projection", name, Projections)
			case slices.Contains(t.LoRA.Targets[:i], name):
				return fmt.Sprintf(".tune.lora.targets[%d]", i), fmt.Sprintf("%s is in the list twice", name)
			}
		}
	}
	switch {
	case p.Rationale == "":
		return ".rationale", "not set; policies of kind lm need it"
	case p.MaxTokens == 0:
		return ".max_tokens", "not set; policies of kind lm need it"
	case p.Compute == "":
		return ".compute", "not set; policies of kind lm need it"
	case !p.Reasons() && p.Writes != nil:
		return ".writes", "belongs to rationale cot; leave it out"
	case p.Reasons() && p.Writes == nil:
		return ".writes", "not set; rationale cot needs writes: {tokens: N}"
	case p.Reasons() && p.Writes.TestTokens != 0 && p.Writes.TestTokens < p.Writes.Tokens:
		return ".writes.test_tokens", fmt.Sprintf("%d is less than the %d of training", p.Writes.TestTokens, p.Writes.Tokens)
	case p.Reasons() && p.Tune.LoRA == nil && p.Tune.Part != "full":
		return ".tune", "rationale cot needs lora or full: layers that are run once a text write nothing"
	}
	return "", ""
}

// checkServer reports what is no base URL of a server.
func checkServer(d *decoder, knob, text string) {
	if !BaseURL(text) {
		d.faultAt(knob, "want a base URL such as http://localhost:8000/v1, got %q", text)
	}
}

// BaseURL says whether a text is the base URL of a server: it ends in /v1, and has no query and no password.
func BaseURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && strings.HasSuffix(u.Path, "/v1")
}

// checkRows reports ids that are no row's.
func checkRows(d *decoder, knob string, ids []string, rows map[string]int) {
	distinct(d, knob, ids)
	for i, id := range ids {
		if _, ok := rows[id]; !ok {
			d.faultAt(fmt.Sprintf("%s[%d]", knob, i), "%s", unknown("row", id, slices.Sorted(maps.Keys(rows))))
		}
	}
}

// checkVersus reports rows that a row cannot be compared with. rows are the indices of all by id; self is the row's own.
func (l *loader) checkVersus(knob string, versus []string, self int, rows map[string]int) {
	if len(versus) > 0 && l.out.Experiment.Protocol != "folds" {
		l.spec.faultAt(knob, "only protocol folds measures contrasts; leave versus out")
	}
	distinct(l.spec, knob, versus)
	for i, id := range versus {
		switch row, ok := rows[id]; {
		case !ok:
			l.spec.faultAt(fmt.Sprintf("%s[%d]", knob, i), "%s", unknown("row", id, slices.Sorted(maps.Keys(rows))))
		case row == self:
			l.spec.faultAt(fmt.Sprintf("%s[%d]", knob, i), "the row %q cannot be compared with itself", id)
		}
	}
}

// checkPool reports what is wrong within one pool. d has read its file.
func (l *loader) checkPool(d *decoder, file string, p *Pool) {
	e := &l.out.Experiment
	if p.Name != "" && p.Name != file {
		d.faultAt("name", "%q is not the name of the file; want %q", p.Name, file)
	}
	if !slices.Contains([]string{"simulated", "http", "recorded"}, p.Kind) {
		return
	}
	switch {
	case p.Kind == "recorded" && e.Protocol == "split":
		l.spec.faultAt("pools", "pool %q is recorded; protocol split needs experts that can be asked", file)
	case p.Kind != "recorded" && e.Protocol == "folds":
		l.spec.faultAt("pools", "pool %q is %s; protocol folds needs recorded pools", file, p.Kind)
	}
	if e.Large > 0 && e.Protocol == "split" && (p.Kind != "simulated" || p.Mixed()) {
		l.spec.faultAt("large", "the true success probability of pool %q is not known; want 0", file)
	}
	l.checkCollapsePool(p)
	if n := len(p.Experts); n == 1 {
		d.faultAt("experts", "one expert leaves nothing to route; want at least 2")
	}
	ids := map[string]bool{}
	check := func(knob string, x *Expert) {
		checkID(d, knob+".id", x.ID, ids)
		if p.Kind == "recorded" {
			return
		}
		if x.Answers != nil {
			checkFile(d, knob+".answers", *x.Answers)
			if x.URL != "" || len(x.URLs) > 0 {
				d.faultAt(knob+".answers", "want answers or the address of a server, not both")
			}
			return
		}
		if _, set := d.at[knob+".max_tokens"]; !set {
			d.faultAt(knob+".max_tokens", "not set; pools of kind %s need the generation limit", p.Kind)
		}
		if p.SourceOf(x.ID) != Server {
			return
		}
		urls := map[string]string{"url": x.URL}
		if len(x.URLs) > 0 {
			if delete(urls, "url"); x.URL != "" {
				d.faultAt(knob+".urls", "want url or urls, not both")
			}
			for i, u := range x.URLs {
				urls[fmt.Sprintf("urls[%d]", i)] = u
			}
			distinct(d, knob+".urls", x.URLs)
		}
		for _, name := range slices.Sorted(maps.Keys(urls)) {
			checkServer(d, knob+"."+name, urls[name])
		}
		checkKey(d, knob+".key_env", x.KeyEnv)
		checkSampling(d, knob+".sampling", p.sampling(d, x, knob+".sampling"))
	}
	for i := range p.Experts {
		check(fmt.Sprintf("experts[%d]", i), &p.Experts[i])
	}
	if p.Probe != nil {
		check("probe", p.Probe)
	}
	belongs := func(key, kind string, there bool) {
		switch {
		case p.Kind == kind && !there && !d.at[key].broken:
			d.faultAt("kind", "a %s pool needs the key %q", kind, key)
		case p.Kind != kind && there:
			d.faultAt(key, "belongs to a %s pool; this one is %s", kind, p.Kind)
		}
	}
	belongs("simulation", "simulated", p.Simulation != nil)
	belongs("recorded", "recorded", p.Recorded != nil)
	if p.Kind == "recorded" {
		if p.Recorded != nil {
			checkFile(d, "recorded.queries", p.Recorded.Queries)
			checkFile(d, "recorded.outcomes", p.Recorded.Outcomes)
			if f := p.Recorded.Format; p.Recorded.Outcomes.Models != nil && f != nil && (f.Layout == "wide" || f.Keys["model"] != "") {
				d.faultAt("recorded.outcomes.models", "a line must be of one model and have it under the key model")
			}
		}
		return
	}
	if _, set := d.at["sampling"]; !set {
		d.faultAt("sampling", "not set; pools of kind %s need it", p.Kind)
	} else {
		checkSampling(d, "sampling", p.Sampling)
	}
	if p.Simulation != nil {
		checkSimulation(d, p)
	}
}

// checkSimulation reports topics, cells and skills that do not fit each other.
func checkSimulation(d *decoder, p *Pool) {
	s := p.Simulation
	topics := slices.Sorted(maps.Keys(s.Topics))
	cells := slices.Sorted(maps.Keys(s.Cells))
	for _, cell := range cells {
		var sum float64
		for _, topic := range slices.Sorted(maps.Keys(s.Cells[cell].Mix)) {
			share := s.Cells[cell].Mix[topic]
			knob := child(child("simulation.cells", cell)+".mix", topic)
			if !slices.Contains(topics, topic) {
				d.faultAt(knob, "%s", unknown("topic", topic, topics))
			}
			sum += share
		}
		if len(s.Cells[cell].Mix) > 0 && math.Abs(sum-1) > 1e-3 {
			d.faultAt(child("simulation.cells", cell)+".mix", "the shares add up to %.6g; want 1", sum)
		}
	}
	ids := map[string]bool{}
	need := func(knob string, x *Expert) {
		if p.SourceOf(x.ID) != Simulated {
			return
		}
		ids[x.ID] = true
		if _, ok := s.Experts[x.ID]; !ok && x.ID != "" && len(s.Experts) > 0 {
			d.faultAt(knob+".id", "%q has no entry in simulation.skills", x.ID)
		}
	}
	for i := range p.Experts {
		need(fmt.Sprintf("experts[%d]", i), &p.Experts[i])
	}
	if p.Probe != nil {
		need("probe", p.Probe)
	}
	experts := slices.Sorted(maps.Keys(ids))
	names := func(at, what string, m map[string]float64, known []string) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !slices.Contains(known, name) {
				d.faultAt(child(at, name), "%s", unknown(what, name, known))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Experts)) {
		at := child("simulation.skills", id)
		if !ids[id] {
			d.faultAt(at, "%s", unknown("expert", id, experts))
		}
		skill := s.Experts[id]
		names(at+".w", "topic", skill.W, topics)
		names(at+".offset", "cell", skill.Offset, cells)
		names(at+".mean_tokens", "cell", skill.Tokens, cells)
	}
	for _, cell := range slices.Sorted(maps.Keys(s.Targets)) {
		at := child("simulation.targets", cell)
		if !slices.Contains(cells, cell) {
			d.faultAt(at, "%s", unknown("cell", cell, cells))
		}
		target := s.Targets[cell]
		names(at+".accuracy", "expert", target.Accuracy, experts)
		names(at+".usd", "expert", target.USD, experts)
		names(at+".token_level", "expert", target.TokenLevel, experts)
	}
}

func checkFile(d *decoder, knob string, f File) {
	if f.SHA256 != "" && !sha256Hex.MatchString(f.SHA256) {
		d.faultAt(knob+".sha256", "want 64 hexadecimal digits, got %q", f.SHA256)
	}
	if f.Path != "" && (strings.HasPrefix(f.Path, "/") || slices.Contains(strings.Split(f.Path, "/"), "..")) {
		d.faultAt(knob+".path", "want a path below the data folder, got %q", f.Path)
	}
	if f.Models != nil && knob != "recorded.outcomes" {
		d.faultAt(knob+".models", "belongs to recorded.outcomes")
	}
	if f.Home != nil {
		checkHome(d, knob+".home", f)
	}
}

// checkPrices reports prices that are no prices and experts that have none. The probe needs none: it answers nothing.
func (l *loader) checkPrices(d *decoder, name string) {
	list := l.out.Prices
	if _, err := time.Parse(time.DateOnly, list.Date); err != nil && list.Date != "" {
		d.faultAt("date", "want a day such as 2026-01-31, got %q", list.Date)
	}
	models := slices.Sorted(maps.Keys(list.Models))
	if d.at["models"].broken || list.Models == nil {
		return
	}
	if len(models) == 0 {
		var want []string
		for _, p := range l.pooled {
			for _, x := range p.pool.Experts {
				if x.Model != "" && !slices.Contains(want, x.Model) {
					want = append(want, x.Model)
				}
			}
		}
		d.faultAt("models", "no prices yet of %s; write a line for each, such as \"NAME: {in: 0.1, out: 0.4}\", dollars per million tokens, or give them with 'entrorouter init FOLDER --price NAME=IN,OUT'", strings.Join(want, ", "))
		return
	}
	for _, p := range l.pooled {
		for i, x := range p.pool.Experts {
			if _, ok := list.Models[x.Model]; !ok && x.Model != "" {
				p.read.faultAt(fmt.Sprintf("experts[%d].model", i), "no price of %q in prices/%s.yaml%s", x.Model, name, Options(x.Model, models))
			}
		}
	}
}

// checkBenchmark reports what is wrong within one entry of benchmarks.yaml.
func (l *loader) checkBenchmark(d *decoder, name string, b Benchmark) {
	at := child("", name)
	if !plainName.MatchString(name) {
		d.faultAt(at, "%q is not a name; %s", name, nameRule)
	}
	if d.at[at+".file"].broken || d.at[at+".generated"].broken {
		return
	}
	switch {
	case (b.File == nil) == (b.Generated == nil):
		d.faultAt(at, "want one of the keys file and generated")
	case b.File != nil:
		f := *b.File
		if f.SHA256 == Unpinned {
			f.SHA256 = ""
		}
		checkFile(d, at+".file", f)
	case b.Generated.Family == "choice" && b.Generated.Options == 0:
		d.faultAt(at+".generated", "family choice needs the number of options")
	case b.Generated.Family == "math" && b.Generated.Options != 0:
		d.faultAt(at+".generated.options", "family math has no options")
	}
}

// checkUse reports a benchmark that the pool cannot answer.
func (l *loader) checkUse(knob, name string, b Benchmark) {
	for _, p := range l.pooled {
		s := p.pool.Simulation
		if p.pool.Kind != "simulated" || s == nil {
			continue
		}
		if b.Generated == nil {
			l.spec.faultAt(knob, "%q is loaded from a file; the simulated pool %q answers generated problems only", name, p.pool.Name)
			continue
		}
		cell := b.Generated.Cell
		if _, ok := s.Cells[cell]; !ok {
			l.spec.faultAt(knob, "%q is of the cell %q, which pool %s does not have%s", name, cell, p.pool.Name, Options(cell, slices.Sorted(maps.Keys(s.Cells))))
			continue
		}
		for _, x := range p.pool.Experts {
			if skill, ok := s.Experts[x.ID]; ok && skill.Tokens[cell] <= 0 {
				p.read.faultAt(child("simulation.skills", x.ID)+".mean_tokens", "none for the cell %q of %q", cell, name)
			}
		}
	}
}
