// The promises, in the order in which a model is made: XLA, the model and its text, training, export, whole runs.

package main

import "strings"

// promise is something that language models do here.
type promise struct {
	words string
	needs []need
	shown check
}

// check is a command of a shell that succeeds if a promise holds.
type check struct {
	command string
	tests   []string // Go tests that must be among what the command prints, and pass
}

// need is what a check takes beside Go and a shell.
type need struct {
	there  string // command that succeeds where it is there
	reason string // why nothing is run where it is not
}

var (
	xla        = need{"test -x build/xla/entrorouter-xla", "make xla-cpu first"}
	smollm2    = need{"test -f build/smollm2/hf/config.json", "make smollm2 first"}
	card       = need{`nvidia-smi -L && test -f "$ENTROROUTER_PLUGIN"`, "needs a CUDA card and the path of its plugin in ENTROROUTER_PLUGIN"}
	vocabulary = need{"test -d ../shared/data/tokenizer", "needs ../shared/data beside the checkout"}
	llama      = need{"test -f build/live/installed", "make test-live first"}
	vllm       = need{"test -f build/vllm/installed", "make test-vllm first"}
	reader     = need{"false", "a reader decides"}
)

// tests are those of packages.
func tests(packages string, names ...string) check {
	return check{"go test -v -run '^(" + strings.Join(names, "|") + ")$' " + packages, names}
}

// xlaTests are tests with what make xla-cpu leaves.
func xlaTests(packages string, names ...string) check {
	c := tests("-count=1 -timeout 30m -modfile build/go.xla.mod -tags xla "+packages, names...)
	c.command = `ENTROROUTER_XLA="$PWD/build/xla" CGO_ENABLED=1 ` + c.command
	return c
}

// liveTests are tests with what make test-live or make test-vllm installs.
func liveTests(installed string, names ...string) check {
	c := tests("-count=1 -timeout 30m ./cmd/entrorouter", names...)
	c.command = installed + " " + c.command
	return c
}

const (
	withLlama = `ENTROROUTER_LIVE="$PWD/build/live"`
	withVLLM  = `ENTROROUTER_VLLM="$PWD/build/vllm"`
)

func command(text string) check { return check{command: text} }

const onXLA = `build/xla/entrorouter-xla`
const plugin = ` --plugin "$PWD/build/xla/pjrt_c_api_cpu_plugin.so"`

var promises = []promise{
	// XLA.
	{"go test ./... starts no Python, no compiler and no XLA: the tests that need them skip", nil,
		command(`! ENTROROUTER_XLA= go test -v -run '^TestXLA' ./... | grep -e '^--- PASS' -e '^FAIL'`)},
	{"XLA on the CPU computes what Go computes: a tiny decoder in float32 to 1e-5 and in bfloat16, through both codes that go-xla chooses by a plugin's name", []need{xla},
		command(onXLA + " gpu-check" + plugin + " --shapes tiny --rows 4 --tokens 64 --python ''")},
	{"a difference is relative, and zero is compared with nothing", nil,
		tests("./harness/gpucheck", "TestADifferenceIsRelativeAndZeroComparesNothing", "TestABackendAgreesWithItself", "TestRenamedGivesTheOtherCode")},
	{"PyTorch trains the same step", []need{xla},
		xlaTests("./harness/gpucheck", "TestXLAPyTorchTrainsTheSameStep")},
	{"the tables of smoke on XLA are those of the Go backend", []need{xla},
		xlaTests("./harness", "TestXLASmokeHasTheTablesOfTheGoBackend")},
	{"what training takes on an H200 is compiled without one and without a weight: LoRA on 4B below 16 GiB, outputs in place", []need{xla},
		xlaTests("./harness/programs", "TestXLAProgramsAreThoseOfACard", "TestXLAProgramsWriteInPlace", "TestXLAQwen34BAdaptersFitBelow16GiB")},
	{"go.mod replaces nothing", nil,
		command(`! go mod edit -json | grep -e '"New"'`)},
	{"what only a card can tell travels to one in parts of at most 60 MiB", []need{xla},
		command(`make gpu-day && for part in build/gpu-day/part*; do test "$(du -sm $part | cut -f1)" -le 60 || exit 1; done`)},
	{"a card computes what Go computes, and trains shapes of 0.6B, 1.7B and 4B at a known speed", []need{card},
		command(`make gpu-check PJRT="$ENTROROUTER_PLUGIN"`)},
	{"a card trains lm-tiny by both stages and decides as Go does, and trains the layers of Qwen3-0.6B", []need{card},
		command(`make gpu-day && python3 build/gpu-day/part3/part3.py build/lm-accept/card --plugin "$ENTROROUTER_PLUGIN"`)},
	{"make says in a sentence what XLA or SmolLM2 lack", nil,
		tests("./cmd/lm-accept", "TestMakeSaysWhatIsMissing")},

	// The model and its text.
	{"config.json of Qwen3 and Llama in old and new keys; what would be computed wrongly is refused by name", nil,
		tests("./harness/lm", "TestConfigsOfOldAndNewFoldersAreRead", "TestAModelThatWouldBeComputedWronglyIsRefused", "TestAHeadStoredBesideItsEmbeddingMustBeIt")},
	{"weights in several files, bfloat16 kept", nil,
		tests("./harness/safetensors ./harness/lm", "TestShardsAreReadAsOne", "TestEveryHalfAndBrainFloatWidensExactly", "TestAFolderWrittenIsReadAsTheSameModel")},
	{"logits, loss, every gradient and cached generation are those of transformers; padding and company change nothing", nil,
		tests("./harness/lm", "TestLogitsAreThoseOfTransformers", "TestLossAndEveryGradientAreThoseOfTransformers", "TestCachedGenerationIsThatOfTransformersAndOfAWholePass", "TestPaddingBatchAndOrderChangeNothing")},
	{"the same on XLA", []need{xla},
		xlaTests("./harness/lm", "TestLogitsAreThoseOfTransformers", "TestLossAndEveryGradientAreThoseOfTransformers", "TestCachedGenerationIsThatOfTransformersAndOfAWholePass", "TestPaddingBatchAndOrderChangeNothing")},
	{"tokens of Qwen are the published vectors", nil,
		tests("./harness/tokenizer", "TestPublishedVectorsOfQwen")},
	{"text survives its tokens, fuzzed", nil,
		command(`go test -run '^$' -fuzz '^FuzzTextSurvivesItsTokens$' -fuzztime 10s -fuzzminimizetime 10x ./harness/tokenizer`)},
	{"both ways to cut a text, added tokens, chat templates", nil,
		tests("./harness/tokenizer", "TestTextsAreCutAsTheSchemesSay", "TestScannersCutAsTheRegularExpressions", "TestAddedTokensAreFoundFirstAndTheLongestOfThem", "TestChatTemplatesAreRenderedAsTransformersDoes")},
	{"10,000 texts have the tokens of transformers, Qwen and small vocabularies", []need{xla},
		xlaTests("./harness/tokenizer", "TestXLATokensOfQwenAreThoseOfTransformers", "TestXLATokensOfSmallVocabulariesAreThoseOfTransformers", "TestXLAChatOfQwenIsThatOfTransformers")},
	{"the same with SmolLM2", []need{xla, smollm2},
		xlaTests("./harness/tokenizer", "TestXLATokensOfSmolLM2AreThoseOfTransformers", "TestXLAChatOfSmolLM2IsThatOfTransformers")},
	{"10 MB of text a second become tokens on a core: the best of twenty tries, since others may want the core", []need{vocabulary},
		command(`go test ./harness/tokenizer -run '^$' -bench Encode/whole -cpu 1 -count 20 -benchtime 5x | awk '{for (i = 2; i <= NF; i++) if ($i == "MB/s" && $(i-1) > best) best = $(i-1)} END {print best " MB/s"; exit best < 10}'`)},
	{"GGUF files become Hugging Face folders: F32, F16, BF16, Q8_0, Q4_0, Q4_1", nil,
		tests("./harness/gguf/...", "TestStoredValuesBecomeFloats", "TestAFolderHasWhatTheFileSays", "TestWhatIsNotUnderstoodIsNamed")},
	{"small models of both architectures are what transformers makes of the same GGUF file", []need{xla},
		xlaTests("./harness/gguf/convert", "TestXLASmallModelsAreWhatTransformersMakesOfTheSameFile")},
	{"SmolLM2-135M is what transformers makes of the same GGUF file", []need{xla, smollm2},
		xlaTests("./harness/gguf/convert", "TestXLASmolLM2IsWhatTransformersMakesOfTheSameFile")},

	// Training.
	{"pool and problem are data in the chat format; labels are single tokens; head, last, lora and full have short forms in a spec", nil,
		tests("./harness/lm ./harness/spec", "TestAProblemIsDataInTheChatFormat", "TestThePromptShowsThePoolAndEndsWhereTheLabelIsExpected", "TestFaultsOfLanguageModelPoliciesAreNamed", "TestALanguageModelAndItsTuningHaveShortForms")},
	{"each tuning moves its weights and no others", nil,
		tests("./harness/lm", "TestEachTuningMovesItsWeightsAndNoOthers", "TestTrainingMovesNoStateOfAFrozenLayer", "TestBeforeTrainingEveryTuningChoosesAsTheModel")},
	{"soft cross entropy and GRPO, sampled and exact, have the gradients of their formulas and learn a rule", nil,
		tests("./harness/train ./harness/lm", "TestLossGradients", "TestSurrogateAndItsGradient", "TestSFTStepsAreThoseOfAPlainTrainer", "TestGRPOMovesMassToTheBestExpert", "TestBothStagesLearnAPlantedRule")},
	{"masters in float32 over bfloat16, no decay on norms, batches in parts, layers computed again backwards: no loss moves", nil,
		tests("./harness/train ./harness/lm", "TestDecayActsOnTheWeightsThatThePolicySays", "TestABatchInPartsIsTheBatch", "TestCheckpointsOfLayersChangeNoLoss", "TestBFloat16PoliciesTrain")},
	{"frozen layers are run once a text, whatever its company", nil,
		tests("./harness/lm", "TestHiddenStatesDependOnTheTextAlone")},
	{"what a frozen model made of texts outlives a run, and is computed again where it was damaged", nil,
		tests("./harness/lm ./harness", "TestStatesOfTextsOutliveARunAndDamage", "TestAFrozenModelReadsRecordedQuestionsOnce")},
	{"a training that is stopped goes on to the same bits, and a run to the same bytes", nil,
		tests("./harness/train ./harness", "TestATrainingThatIsStoppedGoesOnToTheSameBits", "TestADamagedStateIsNoBeginning", "TestAStateOfAnotherVersionIsNoBeginning", "TestALanguageModelThatIsStoppedGoesOnToTheSameBytes")},
	{"progress has loss, time of the step, tokens per second, memory and the time left on one line", nil,
		tests("./harness/train", "TestProgressIsToldOnOneLine")},
	{"a linear head on a frozen model is called that and supports no verdict; a router's tokens and milliseconds stand in a table", nil,
		tests("./harness", "TestALinearHeadOnAFrozenModelSaysSo", "TestMillisecondsOfRoutersStandInTheTableAlone")},
	{"the loops of both stages are read from top to bottom and begin with what is not the paper's", []need{reader},
		command("go doc ./harness/train.Conduct.SFT; go doc ./harness/train.Conduct.GRPO")},

	// Export.
	{"a trained model is exported, read again and decides the same, here and behind a server", nil,
		tests("./harness/lm ./harness", "TestAnExportedModelDecidesTheSame", "TestAdaptersAreWrittenAsPEFTLaysThemOut", "TestAnExportedRowDecidesTheSameHereAndBehindAServer")},
	{"transformers loads it with no key missing and scores labels alike, PEFT the adapters", []need{xla},
		xlaTests("./harness/lm", "TestXLATransformersLoadsAnExportAndScoresTheLabelsAlike", "TestXLAPEFTLoadsTheAdapters")},
	{"llama.cpp serves it and route asks it; llama.cpp writes what SmolLM2 writes here", []need{llama},
		liveTests(withLlama, "TestLiveExportedRouterIsAskedBehindTheServer", "TestLiveGenerationIsThatOfTheServer")},
	{"so does vLLM, which also writes for a training that sends it adapters", []need{vllm},
		liveTests(withVLLM, "TestLiveExportedRouterIsAskedBehindTheServer", "TestLiveGenerationIsThatOfTheServer", "TestLiveWriter")},

	// Whole runs.
	{"lm-tiny is trained by SFT and GRPO, measured and exported on the Go backend within ten minutes", nil,
		command(fresh + " && timeout 600 sh -c 'go run ./cmd/entrorouter run lm-tiny --out build/lm-accept/go --figures build/lm-accept/figures && go run ./cmd/entrorouter export lm-tiny --out build/lm-accept/go --hf build/lm-accept/hf'")},
	{"a small language model decides on XLA as on the Go backend", []need{xla},
		xlaTests("./harness", "TestXLAALanguageModelDecidesAsOnTheGoBackend")},
	{"lm-tiny is trained and measured on XLA", []need{xla},
		command(fresh + ` && printf 'name: lm-tiny-xla\nbase: lm-tiny.yaml\npolicy: {backend: xla}\n' >build/lm-accept/lm-tiny-xla.yaml && ` + onXLA + " run build/lm-accept/lm-tiny-xla.yaml" + plugin + " --out build/lm-accept/xla --figures build/lm-accept/figures")},
	{"SmolLM2-135M is trained by SFT and GRPO, its last layer tuned, and measured", []need{xla, smollm2},
		command(fresh + " && " + onXLA + " run lm-smollm2" + plugin + " --out build/lm-accept/smollm2 --figures build/lm-accept/figures")},
	{"a benchmark prints step time, tokens per second and share of the fastest products: Go", nil,
		command(stepTime)},
	{"the same: Go with vector instructions", nil,
		command("GOEXPERIMENT=simd " + stepTime)},
	{"the same: XLA on the CPU", []need{xla},
		command(`ENTROROUTER_XLA="$PWD/build/xla" CGO_ENABLED=1 ` + stepTimeOn + "xla -modfile build/go.xla.mod -tags xla" + printsShare)},
}

// fresh makes an empty folder for whole runs.
const fresh = "rm -rf build/lm-accept && mkdir -p build/lm-accept"

const (
	stepTimeOn  = "go test ./harness/gpucheck -run '^$' -bench TrainingStep/"
	printsShare = ` | grep -e 'peak-%.*tokens/s'`
	stepTime    = stepTimeOn + "go" + printsShare
)
