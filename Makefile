# build   the binary, for this machine
# test    all tests
# check   what has to pass before a change lands
# golden  rewrite the golden files and generated pages from what the code prints now
# bench   the figures, beside the alternatives
# dist    static binaries with checksums
# rules   the rules of redaction, from gitleaks' module
# pi      pi's own package, for the tests and figures that compare with it

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unreleased)
FUZZTIME ?= 5s
STATICCHECK ?= v0.8.2
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)
PI_DIR ?= $(CACHE)/ctxtool-pi

.PHONY: build test check golden bench dist clean rules pi

build:
	$(GO) build -o bin/ctxtool ./cmd/ctxtool

test:
	$(GO) test ./...

check:
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK) ./...
	$(GO) test -race ./...
	@set -e; for pkg in $$($(GO) list ./...); do \
		list=$$($(GO) test -list '^Fuzz' $$pkg); \
		for fuzz in $$(echo "$$list" | grep '^Fuzz' || true); do \
			echo "$$pkg $$fuzz"; $(GO) test -run '^$$' -fuzz "^$$fuzz\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
		done; \
	done

golden:
	$(GO) test ./cmd/ctxtool ./internal/check ./migrate -update

# The sessions are made once, outside the repository.
BENCH_DIR ?= $(CACHE)/ctxtool-bench
bench: build
	$(GO) run ./internal/bench -dir $(BENCH_DIR) -pi $(PI_DIR) $(BENCHFLAGS)
	CTXTOOL_BENCH_SESSION=$(BENCH_DIR)/1g.jsonl $(GO) test -run '^$$' -bench . ./sessionfmt ./replay ./internal/gen ./internal/transcript ./internal/markdown ./internal/redact ./compact

dist:
	@rm -rf dist && mkdir dist
	@set -e; for os in linux darwin windows; do for arch in amd64 arm64; do \
		out=dist/ctxtool-$(VERSION)-$$os-$$arch; [ $$os = windows ] && out=$$out.exe; \
		echo $$out; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $$out ./cmd/ctxtool; \
	done; done
	@cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

clean:
	rm -rf bin dist

GITLEAKS ?= v8.30.1
rules:
	dir=$$($(GO) mod download -json github.com/zricethezav/gitleaks/v8@$(GITLEAKS) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && \
	install -m 644 $$dir/config/gitleaks.toml internal/redact/gitleaks.toml && \
	install -m 644 $$dir/LICENSE internal/redact/gitleaks.LICENSE

# pi itself, to compare with, where npm can be had.
pi:
	npm install --prefix $(PI_DIR) --ignore-scripts --no-audit --no-fund @earendil-works/pi-coding-agent@0.87.1
