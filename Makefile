# Everything works from a clean clone: each target first installs and builds what it needs.
SHELL := /bin/bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH):/usr/sbin

# Directories too: their times change when a source is added or removed.
SOURCES := $(shell find ts-src/resty ts-src/types) tstl.json package-lock.json scripts/build scripts/local-functions.cjs
SIM_SOURCES := $(shell find ts-src/sim) tstl.sim.json scripts/build-sim

# Not the tsx command: between Ctrl-C and a program that is busy for 60 ms stopping what it started, it kills the program.
RUN_TS := node --import tsx

.DEFAULT_GOAL := help
.PHONY: help install build check-fresh format clean
.PHONY: lint lint-eslint lint-types lint-core lint-format lint-luacheck lint-config
.PHONY: test test-unit test-nginx test-docker bench bench-pick simulate simulate-check demo demo-docker up down

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## install missing Debian and npm packages
	@scripts/install-deps

build: .build/built .build/sim-built ## compile ts-src/ to lua-out/, and the simulator to .build/sim-lua/

.build/built: $(SOURCES) | install
	@scripts/build
	@touch $@

.build/sim-built: $(SIM_SOURCES) .build/built
	@scripts/build-sim
	@touch $@

check-fresh: | install ## fail when lua-out/ is not what ts-src/ compiles to
	@scripts/build --check

lint: lint-eslint lint-types lint-core lint-format lint-luacheck lint-config check-fresh ## all checks (make -k lint: even after one failed)

lint-eslint: | install ## eslint, with types
	@eslint .

lint-types: | install ## types of the Node.js side, specs and scripts
	@tsc -p tsconfig.json

lint-core: | install ## core/ is plain TypeScript: no Lua, no nginx, no Node.js
	@tsc -p tsconfig.core.json

lint-format: | install ## prettier
	@prettier --log-level warn --check "**/*.{ts,js,json}"

lint-luacheck: | install ## luacheck, on compiled and hand-written Lua
	@luacheck --quiet lua-out $(wildcard nginx) docker spec scripts

lint-config: | install ## the configuration reference agrees with the schema
	@tsx scripts/config-reference.ts --check

format: | install ## repair what eslint can repair, rewrite ts, js and json as prettier has it
	-@eslint --fix .
	@prettier --log-level warn --write "**/*.{ts,js,json}"

# scripts/test builds first: the total is printed even when that fails.
test: ## all tests; last line of the output: N passed, N failed
	@scripts/test lua node nginx docker

test-unit: ## specs on the compiled Lua and on Node.js
	@scripts/test lua node

test-nginx: ## specs against real nginx processes
	@scripts/test nginx

test-docker: ## specs in containers
	@scripts/test docker

# SCENARIO, STRATEGY and PEER are lists; SKIP_MISSING=1 goes on without gateways that are not installed.
bench: build ## measure against other gateways on real nginx (SCENARIO=… STRATEGY=… PEER=… REPEATS=… SECONDS=… JSON=1)
	@$(if $(SKIP_MISSING),:,AX_INSTALL_ONLY=bench scripts/install-deps)
	@$(RUN_TS) ts-src/node/bench/bench.ts $(if $(SCENARIO),--scenario "$(SCENARIO)") \
	  $(if $(STRATEGY),--strategy "$(STRATEGY)") $(if $(PEER),--peer "$(PEER)") $(if $(REPEATS),--repeats "$(REPEATS)") \
	  $(if $(SECONDS),--seconds "$(SECONDS)") $(if $(SKIP_MISSING),--skip-missing) $(if $(JSON),--json)

bench-pick: build ## measure one pick: every strategy, 10 to 10,000 nodes
	@"$$(scripts/find-luajit)" spec/bench/pick.lua

# SCENARIO and STRATEGY are lists; SCENARIO also takes paths of files.
simulate: build ## compare strategies in virtual time (SCENARIO=… STRATEGY=… SEEDS=…)
	@$(RUN_TS) ts-src/node/sim/simulate.ts $(if $(SCENARIO),--scenario "$(SCENARIO)") \
	  $(if $(STRATEGY),--strategy "$(STRATEGY)") $(if $(SEEDS),--seeds "$(SEEDS)")

simulate-check: build ## the reference case on real nginx and in the simulator, side by side
	@$(RUN_TS) ts-src/node/sim/check.ts

demo: build ## gateway and six backends under load, compared with nginx's own policies
	@$(RUN_TS) ts-src/node/demo/demo.ts

demo-docker: ## the same in containers (PORT=…, MEASURE_S=…)
	@scripts/demo-docker

up: build ## start the demo gateway and leave it running (PORT=…, STRATEGY=…)
	@$(RUN_TS) ts-src/node/demo/up.ts $(if $(PORT),--port "$(PORT)") $(if $(STRATEGY),--strategy "$(STRATEGY)")

down: | install ## stop what `make up` started
	@$(RUN_TS) ts-src/node/demo/down.ts

clean: ## remove build products, after stopping what `make up` started; node_modules/ and lua-out/ stay
	@if [ -e .build/demo.json ]; then $(MAKE) --no-print-directory down; fi
	@rm -rf .build
