# davit: build it, run it, test it. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: help build debug serve test test-all unit lint docs guard guard-programs guard-accept litmus identity cluster examples recordings clients deployment ops browser crash measure-faults bench bench-cluster bench-page micro fuzz fuzz-replay deb tarball image test-packages clean packages-%

SWIFT ?= swift
# SwiftPM writes the traits into the command line of each module in hash order. With random hashing, the order changes from
# build to build, and everything is compiled again.
SWIFT_BUILD := SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build
# An import that Package.swift does not declare is an error, in every build.
SWIFT_FLAGS := --explicit-target-dependency-import-check error
# The debug build also contains shares in a database, which the release build omits unless its traits are selected.
DEBUG_FLAGS := $(SWIFT_FLAGS)
ifeq ($(shell uname -s),Linux)
DEBUG_FLAGS += --traits default,S3
endif
# With cross-module optimization, small functions are inlined into other modules: 3 to 6 % fewer instructions.
RELEASE_FLAGS := $(SWIFT_FLAGS) -c release --product davit -Xswiftc -cross-module-optimization
# Apple platforms have no static standard library, because it is part of the system. The table of exported symbols, 1 MB, is
# left out, because no library looks up symbols in the program.
ifeq ($(shell uname -s),Linux)
RELEASE_FLAGS += --static-swift-stdlib -Xlinker --no-export-dynamic
endif

export DAVIT ?= $(CURDIR)/.build/release/davit
export DAVIT_DEBUG ?= $(CURDIR)/.build/debug/davit
export SWIFT SWIFT_FLAGS DEBUG_FLAGS

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 14

packages-%:
	@scripts/install-packages.sh $*

build: packages-build ## build the release binary, .build/release/davit
	$(SWIFT_BUILD) $(RELEASE_FLAGS)

debug: packages-build packages-debug ## build the debug binary, for the crash tests
	$(SWIFT_BUILD) $(DEBUG_FLAGS)

serve: build ## share a folder: make serve DIR=/some/folder [ARGS='--port 8080']
	@if [ -z "$(DIR)" ]; then echo 'missing DIR: make serve DIR=/some/folder' >&2; exit 64; fi
	exec "$(DAVIT)" serve "$(DIR)" $(ARGS)

test: packages-build packages-debug packages-guard packages-litmus packages-clients packages-deployment packages-ops packages-crash packages-cluster ## run the gate: the suites that each change must pass, with a sample of the longest ones: make test [SEED=…]
	@scripts/test.sh

test-all: packages-build packages-debug packages-guard packages-litmus packages-clients packages-deployment packages-ops packages-crash packages-cluster packages-lab packages-docs packages-identity ## run every suite in full, and also the transport tests over TLS, the build without traits, and the reference
	@scripts/test.sh --all

unit: packages-build packages-debug ## run the unit tests
	@scripts/test.sh --all unit

cluster: packages-build packages-debug packages-cluster packages-patroni ## test shares in a database: the connections to PostgreSQL, and several nodes, with a server of its own
	@scripts/cluster.sh

identity: packages-build packages-identity ## test users of other services, with the traits that are off by default
	@scripts/test.sh --all identity

lint: packages-build packages-debug packages-docs ## check formatting, structure, words, documentation and script syntax
	@scripts/test.sh lint reference

docs: packages-docs debug ## build the API reference, .build/docs/Davit.doccarchive
	@python3 scripts/reference.py build

guard: packages-guard build guard-programs ## compare system calls, allocations, instructions and shared writes of each request with the baseline
	@scripts/test.sh guard

# Programs that the guard runs in addition to davit.
guard-programs:
	$(SWIFT_BUILD) $(RELEASE_FLAGS:davit=MountedShare)

guard-accept: packages-guard build guard-programs ## update the baselines of the guard
	@python3 Tests/Guard/guard.py --accept
	@python3 Tests/Guard/instructions.py --accept
	@python3 Tests/Guard/sharing.py --accept

litmus: packages-litmus build debug ## run the WebDAV conformance suite: without an account, over TLS, with an account, with limited rights, and below a prefix
	@scripts/test.sh litmus

examples: packages-clients debug ## test the programs in Examples with curl
	@scripts/test.sh examples

recordings: packages-clients build ## replay recorded sessions of many clients, record each replay, and replay those recordings
	@scripts/test.sh recordings

clients: packages-clients packages-lab build debug ## test all clients, including gvfs, LibreOffice, mounts and backups, which `make test` omits
	@scripts/test.sh --all clients

browser: build ## test the browser page in Chromium
	@scripts/test.sh --all browser

deployment: packages-deployment build ## test davit behind nginx, Caddy and Apache, with sockets of a service manager, and its logs
	@scripts/test.sh deployment

ops: packages-ops build debug ## test health checks, metrics, --run-as, --sandbox, the systemd units, the guides and the announcement
	@scripts/test.sh --all ops

crash: packages-crash build debug ## kill the server at every step of every change
	@scripts/test.sh --all crash

measure-faults: build ## measure the rates, delays and errors of fault rules with a client
	@python3 Tests/Faults/measure.py

bench: packages-bench $(if $(PROFILE),packages-profile) build ## compare davit with nginx, lighttpd and Apache: make bench [ROWS=get64,lock] [ROUNDS=5] [DOC=1] [PROFILE=1]
	$(SWIFT_BUILD) $(RELEASE_FLAGS:davit=Website)
	$(SWIFT_BUILD) $(RELEASE_FLAGS:davit=Uploads)
	@python3 bench/bench.py --davit "$(DAVIT)" $(if $(ROWS),--rows $(ROWS)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(MERGE),--merge) \
	    $(if $(PROFILE),--profile) $(if $(DOC),--markdown docs/performance.md)

bench-cluster: packages-bench packages-cluster ## benchmark shares in a database against folders, pgbench and rclone: make bench-cluster [ROWS=get64,lock1] [ROUNDS=5] [DOC=1]
	$(SWIFT_BUILD) $(RELEASE_FLAGS) --traits default,S3 --scratch-path .build/cluster
	@python3 bench/cluster.py --davit .build/cluster/release/davit $(if $(ROWS),--rows $(ROWS)) $(if $(ROUNDS),--rounds $(ROUNDS)) \
	    $(if $(DOC),--markdown docs/performance.md)

bench-page: packages-browser build ## benchmark the browser page in Chromium: make bench-page [ROUNDS=5] [DOC=1]
	@"$$(scripts/browser-python.sh)" bench/browser-page.py --davit "$(DAVIT)" $(if $(ROUNDS),--rounds $(ROUNDS)) \
	    $(if $(DOC),--markdown docs/performance.md)
	@"$$(scripts/browser-python.sh)" bench/browser-upload.py --davit "$(DAVIT)" $(if $(ROUNDS),--rounds $(ROUNDS)) \
	    $(if $(DOC),--markdown docs/performance.md)

micro: packages-build packages-guard ## benchmark parsers and writers against bench/micro.json: make micro [ACCEPT=1]
	$(SWIFT_BUILD) $(RELEASE_FLAGS:davit=DavitBenchmarks)
	@python3 bench/micro.py $(if $(ACCEPT),--accept)

fuzz: packages-build ## test each parser with input that libFuzzer generates: make fuzz [SECONDS=600] [TARGETS='head chunked'] [GROW=1]
	@scripts/fuzz.sh $(if $(GROW),--grow) $(or $(SECONDS),600) $(TARGETS)

# The program that runs the fuzz targets in `make test`, without libFuzzer.
fuzz-replay:
	$(SWIFT_BUILD) $(RELEASE_FLAGS:davit=FuzzReplay)

deb: packages-packaging build ## build the Debian packages in .build/packages
	@scripts/make-packages.sh deb

tarball: packages-packaging build ## build an archive with the program, its manual pages and units in .build/packages
	@scripts/make-packages.sh tarball

image: packages-packaging build ## build a container image in .build/packages; requires root
	@scripts/make-packages.sh image

test-packages: packages-packaging build ## install the Debian packages on a new system and run its service, run the container image; requires root
	@scripts/test.sh packages

clean: ## remove build products
	rm -rf .build bench-results
