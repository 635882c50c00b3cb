# Everything a person or CI types. `make` alone lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# Settings of the local cluster; the program reads them from the environment.
export TRAWL_HOME WORKERS NODES
ifdef PORT_BASE
export TRAWL_LOCAL_PORT_BASE := $(PORT_BASE)
endif

# Said before npm fails in words of its own.
NODE_CHECK := const [a, b] = process.versions.node.split(".").map(Number); if (a < 20 || (a === 20 && b < 19)) { console.error(`Node $${process.versions.node} is too old: Trawl needs 20.19 or newer.`); process.exit(1) }

TRAWL := node dist/program/main.js
SOURCES := $(shell find src test config/examples -name node_modules -prune -o -name '*.ts' -print 2>/dev/null) tsconfig.json

.PHONY: help setup build cluster-up cluster-down cluster-status cluster-clean observe test check types lint eslint prettier format docs chaos chaos-mutants bench

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo '  Settings: WORKERS=n  NODES=1|3  TRAWL_HOME=folder  PORT_BASE=4222'

setup: node_modules/.package-lock.json ## Install what the project needs (no root)
	@sh nats/get-nats-server.sh > /dev/null

node_modules/.package-lock.json: package-lock.json
	@node -e '$(NODE_CHECK)'
	npm ci --no-audit --no-fund
	@touch $@

build: dist/.built ## Compile to dist/

dist/.built: node_modules/.package-lock.json $(SOURCES)
	npx --no-install tsc --build
	@node dist/src/bundle/write-program.js
	@touch $@

cluster-up: setup build ## Start the local cluster
	@$(TRAWL) up

cluster-status: build ## Show every actor
	@$(TRAWL) status

cluster-down: build ## Drain and stop the local cluster; its data stays
	@$(TRAWL) down

cluster-clean: build ## Stop the local cluster and remove its data
	@$(TRAWL) down --clean

observe: build ## Run Prometheus on the local cluster, until Ctrl-C
	@$(TRAWL) observe

test: setup build ## Run the tests
	@sh test/run.sh dist/test/e2e/*.js dist/test/integration/*.js dist/test/unit/*.js

check: types ## Types, lint, format, tests and a short chaos run: what CI runs
	@$(MAKE) --no-print-directory -j2 lint
	@$(MAKE) --no-print-directory test
	@SEED=$${SEED:-1} $(MAKE) --no-print-directory chaos

types: setup build

lint: eslint prettier

eslint: setup
	npx --no-install eslint .

prettier: setup
	npx --no-install prettier --check --log-level warn .

format: setup ## Rewrite the source in the house format
	npx --no-install prettier --write --log-level warn .

docs: build ## Rewrite the generated parts of README.md and config/
	node dist/src/config/write-readme-table.js
	node dist/src/dashboards/write-dashboards.js
	npx --no-install prettier --write --log-level warn config/grafana/dashboards

chaos: setup build ## Kill servers and actors under load; SEED=n repeats a run
	@sh test/run.sh dist/test/chaos/*.js

chaos-mutants: setup build ## Prove that the chaos test finds planted bugs
	@sh test/run.sh dist/test/chaos/mutants/*.js

bench: setup build ## Measure beside others; WHAT=queue|fetch|submit|egress|priority|scale|recovery|start|publish|ledger|parse|autoscale, QUICK=1 only proves that it runs
	@sh test/bench/run.sh
