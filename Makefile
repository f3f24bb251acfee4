# Two commands do everything: `make serve` and `make test`. Both set up what they need, without root.

VENV  := .venv
BIN   := $(VENV)/bin
PIP   := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOCKS := requirements

.DEFAULT_GOAL := help
.PHONY: help setup dev web web-check web-types chat-ui clients wheel images serve test test-docker test-kubernetes eval lint format docs
.PHONY: reader picture screens bench bench-load bench-tiers lock clean

help: ## list what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.setup ## leave a working .venv/bin/sandtable

dev: $(VENV)/.dev ## setup, plus what tests and linters need

web: $(VENV)/.setup ## build the web interface
	@$(BIN)/python scripts/build_web.py

web-check: $(VENV)/.setup ## style, types and tests of the web interface
	@$(BIN)/python scripts/check_web.py

web-types: docs ## write again what the web interface knows of the API
	@$(BIN)/python scripts/check_web.py --write-types

chat-ui: $(VENV)/.setup ## build the stock chat UI that is served at /chat/
	@$(BIN)/python scripts/build_stock_ui.py

clients: $(VENV)/.setup ## install the npm programs of others that tests run: clients, suites, an identity provider
	@$(BIN)/python scripts/install_clients.py

wheel: $(VENV)/.dev ## build the wheel in dist/, with the web interfaces in it
	@$(BIN)/python scripts/build_wheel.py

# Unchanged builds are not made again. When one cannot be built, the server serves everything else.
serve: $(VENV)/.made ## set up and serve on http://localhost:8000
	@$(BIN)/python scripts/serve.py

# Up to four processes; the tests of one file stay in one process.
ALL := --numprocesses=auto --maxprocesses=4 --dist=loadfile

test: $(VENV)/.dev ## set up and run the tests (ARGS="tests/policy -k cte" narrows them)
	$(BIN)/python scripts/pytest_twice.py $(or $(ARGS),$(ALL))

# Both start what they need (as root: a daemon, a cluster) and remove it again; SANDTABLE_TEST_DOCKER_HOST and KUBECONFIG name others.
test-docker: $(VENV)/.dev web chat-ui ## test the images, Compose and the Docker backend with a real daemon
	$(BIN)/python scripts/test_docker.py $(ARGS)

test-kubernetes: $(VENV)/.dev web chat-ui ## test the chart and the Kubernetes backend with a real cluster
	$(BIN)/python scripts/test_kubernetes.py $(ARGS)

images: $(VENV)/.dev web chat-ui ## build the container images
	$(BIN)/python scripts/build_images.py $(ARGS)

eval: $(VENV)/.dev ## measure the planner on the sealed questions and others (UPDATE=1 writes known failures, JSON=FILE totals)
	$(BIN)/python scripts/run_evals.py $(if $(UPDATE),--update) $(if $(JSON),--json "$(JSON)") $(ARGS)

# Needs a GPU and the packages of the dependency group `training` (README in training/). DATA and MODEL are folders.
WORK := build/reader
reader: $(VENV)/.dev ## train the reader again (needs DATA, MODEL, PyTorch and a GPU; see training/README.md)
	@test -n "$(DATA)" -a -n "$(MODEL)" || { echo "give DATA=folder of the public sets and MODEL=folder of bge-small-en-v1.5"; exit 2; }
	$(BIN)/python -m training.reader.vocabulary "$(MODEL)" training/domains
	$(BIN)/python -m training.reader.encoder "$(MODEL)" $(WORK)/start
	$(BIN)/python -m training.reader.prepare "$(DATA)" training/domains training/dialogues $(WORK)/examples
	$(BIN)/python -m training.reader.train $(WORK)/examples --from $(WORK)/start --out $(WORK)/trained
	$(BIN)/python -m training.reader.export $(WORK)/trained $(WORK)/made
	cp training/reader/vocabulary.txt $(WORK)/made/
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m training.reader.weigh "$(DATA)" training/domains training/dialogues $(WORK)/made --figures $(WORK)/made/weighing.json
	$(BIN)/python -m training.reader.manifest "$(DATA)" $(WORK)/trained $(WORK)/made

lint: $(VENV)/.dev ## style, layers and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/pyright

format: $(VENV)/.dev ## put the code in house style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(VENV)/.dev ## write again the pages that are generated from code
	$(BIN)/python scripts/gen_docs.py

picture: $(VENV)/.dev ## draw the README's picture from real commands
	$(BIN)/python scripts/gen_picture.py

screens: $(VENV)/.dev web ## take the README's pictures of the web interface
	$(BIN)/python scripts/gen_screens.py

bench: $(VENV)/.dev ## measure the sandbox beside its peers
	$(BIN)/python -m benchmarks

bench-load: $(VENV)/.dev ## measure a crowd, a flood and a soak at one server (ARGS="--quick" is shorter)
	$(BIN)/python -m benchmarks.load $(ARGS)

bench-tiers: $(VENV)/.dev web chat-ui ## measure one question on every backend, with a daemon and a cluster (root)
	$(BIN)/python scripts/bench_tiers.py $(ARGS)

# The lock holds for x86_64 and arm64 and every Python from 3.11 on, and names no package index.
COMPILE = $(BIN)/uv pip compile pyproject.toml --quiet --no-config --upgrade --universal --python-version 3.11 \
	--only-binary :all: --generate-hashes --no-emit-index-url --custom-compile-command 'make lock' \
	--extra models --extra postgres --extra mysql --extra python --extra jupyter --extra docker --extra kubernetes --extra reader \
	--extra mcp --extra a2a --extra ag-ui --extra oidc --extra tracing --group build

lock: $(VENV)/.dev ## resolve the dependencies again
	$(COMPILE) --output-file $(LOCKS)/runtime.lock.txt
	$(COMPILE) --group dev --constraints $(LOCKS)/runtime.lock.txt --output-file $(LOCKS)/dev.lock.txt
	$(BIN)/uv pip compile --quiet --no-config --upgrade --universal --python-version 3.11 --only-binary :all: \
		--generate-hashes --no-emit-index-url --custom-compile-command 'make lock' --no-annotate \
		--group pyproject.toml:node --constraints $(LOCKS)/dev.lock.txt --output-file $(LOCKS)/node.lock.txt
	$(BIN)/uv pip compile --quiet --no-config --upgrade --universal --python-version 3.11 --only-binary :all: \
		--generate-hashes --no-emit-index-url --custom-compile-command 'make lock' --no-annotate \
		--group pyproject.toml:go --output-file $(LOCKS)/go.lock.txt

clean: ## remove the environment and every cache
	rm -rf $(VENV) $(VENV).bootstrap build dist src/sandtable/server/_built web/app/node_modules tests/server/mcp/suite/node_modules
	rm -rf .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests scripts benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(VENV)/.made: scripts/make_venv.sh
	@echo "Setting up $(VENV)."
	@PYTHON="$(PYTHON)" sh scripts/make_venv.sh $(VENV)
	@touch $@

$(VENV)/.setup: $(VENV)/.made $(LOCKS)/runtime.lock.txt pyproject.toml
	@$(BIN)/python scripts/install.py --compile $(LOCKS)/runtime.lock.txt
	$(PIP) install --no-deps --no-build-isolation --no-index --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.setup $(LOCKS)/dev.lock.txt
	@$(BIN)/python scripts/install.py --compile $(LOCKS)/dev.lock.txt
	@touch $@
