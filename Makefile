# Modules are compiled once, and not in each of the processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := examples/data/trec_eval/results.test
QRELS := examples/data/trec_eval/qrels.rel_level
CLICKS := --predictions examples/data/open_bandit/impressions.parquet --column label=click --column score=score_logistic \
	--column score=score_boosting
ANSWERS := --input answers=baseline=examples/data/rag/baseline.jsonl --input answers=candidate=examples/data/rag/candidate.jsonl \
	--column retrieved=retrieved_ids --column relevant=gold_ids

HOURS := --predictions examples/data/open_bandit/impressions.parquet --column label=click --column score=score_logistic \
	--column score=score_boosting --column "query_id=DATE_TRUNC('hour', timestamp)" --policy level=query --tolerance 1%

.PHONY: help demo test test-all fuzz mutate freeze engines docs docs-version lint bench bench-docs bench-spark release clean

help:  ## Show this help
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## /\1	/'

$(BIN)/sqlrank: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.report: $(BIN)/sqlrank
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[report]'
	@touch $@

$(VENV)/.test: $(BIN)/sqlrank
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[peers,engines,lint,docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

$(VENV)/.docs: $(BIN)/sqlrank
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,docs]'
	@touch $@

$(VENV)/.release: $(BIN)/sqlrank
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,docs,release]'
	@touch $@

demo: $(VENV)/.report  ## Evaluate real collections, show the SQL that did it, and write reports of both
	$(BIN)/sqlrank evaluate nDCG@10 MAP MRR Precision@10 Recall@100 bpref num_q num_unjudged --run $(RUN) --qrels $(QRELS)
	$(BIN)/sqlrank evaluate nDCG@10 MAP MRR Precision@10 Recall@100 --run $(RUN) --qrels $(QRELS) --per-query
	$(BIN)/sqlrank sql nDCG@10 MAP --run $(RUN) --qrels $(QRELS)
	$(BIN)/sqlrank evaluate AUC LogLoss NormalizedEntropy LiftQuality CalibrationRatio Positives $(CLICKS) --by policy
	$(BIN)/sqlrank evaluate Calibration $(CLICKS) --by policy
	$(BIN)/sqlrank compare nDCG@5 MRR Recall@5 $(ANSWERS)
	$(BIN)/sqlrank compare LogLoss Brier $(filter-out --tolerance 1%,$(HOURS)) --by campaign
	$(BIN)/sqlrank compare AUC LogLoss $(CLICKS) --by policy
	$(BIN)/sqlrank gate LogLoss Brier $(HOURS) --where "policy = 'random'"
	$(BIN)/sqlrank gate MAE $(HOURS) --where "policy = 'random'"; test $$? = 1 # this one fails
	$(BIN)/sqlrank gate LogLoss $(HOURS) --where "policy = 'bts'"; test $$? = 3 # this one is inconclusive
	@mkdir -p build
	$(BIN)/sqlrank report nDCG@5 MRR Recall@5 $(ANSWERS) --by intent -o build/rankings.html
	$(BIN)/sqlrank report $(CLICKS) --by policy -o build/predictions.html
	@echo "reports: $(CURDIR)/build/rankings.html and $(CURDIR)/build/predictions.html"

test: $(VENV)/.test  ## Run the tests of numbers, statements and calls that are not slow (three minutes)
	$(BIN)/python -m pytest -n 2 --dist loadgroup --clean-tree -m 'not slow' --ignore tests/repository

SHARE ?= 1/1

test-all: $(VENV)/.test  ## Run all tests, on every engine and beside every tool (SHARE=2/8 leaves out seven eighths of the slow ones)
	$(BIN)/python -m pytest -n 2 --dist loadgroup --clean-tree --slow-share $(SHARE)

COLLECTIONS ?= 10000
SEED ?= 1

fuzz: $(VENV)/.test  ## Compare random collections with other tools (COLLECTIONS=10000 SEED=1; a few minutes)
	$(BIN)/python -m tests.fuzz --collections $(COLLECTIONS) --seed $(SEED)

MUTANTS ?= 1/1
GENERATED ?= 0

mutate: $(VENV)/.test  ## Plant faults in the code and see that tests notice (MUTANTS=3/8 for some of them, GENERATED=100 for drawn ones)
	$(BIN)/python -m tests.mutate --jobs 2 --share $(MUTANTS) --generated $(GENERATED) --seed $(SEED)

FREEZE_BASE ?= main
SECTIONS ?=

freeze: $(VENV)/.test  ## Compare all that users can see with a commit (FREEZE_BASE=main; SECTIONS="statements calls" for some of it; five minutes)
	$(BIN)/python -m tests.freeze compare $(FREEZE_BASE) $(SECTIONS)

engines: $(VENV)/.test  ## Compare every metric on every engine: writes docs/engines.md, and the next make docs shows what agreed
	$(BIN)/python -m pytest -n 2 --dist loadgroup tests/engines/test_engines.py tests/engines/test_experiments.py tests/engines/test_mariadb.py --write-matrix

docs: $(VENV)/.test  ## Build the documentation into site/, with a page per metric (two minutes at first, then half of one)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

docs-version: $(VENV)/.docs  ## Commit the documentation of VERSION to the branch gh-pages as a folder of its own, with the switch between versions
	PATH="$(CURDIR)/$(BIN):$$PATH" NO_MKDOCS_2_WARNING=1 $(BIN)/mike deploy --update-aliases $(VERSION) latest
	$(BIN)/mike set-default latest

lint: $(VENV)/.test  ## Check style, types, and the texts of this repository, and print the size of the code and its targets
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -m 'not slow' tests/repository
	$(BIN)/python -m tests.budget

bench: $(VENV)/.bench  ## Measure speed beside other tools (about an hour)
	for name in startup loop ranking measures classification pairs comparison confidence experiments rollups functions groups; do \
		$(BIN)/python benchmarks/$$name.py || exit 1; \
	done
	$(BIN)/python -m benchmarks.studies.sketches

bench-docs: $(VENV)/.bench  ## Measure what docs/speed.md has tables of, but Spark, memory limits and scaling (half an hour on an idle machine)
	for command in "loop.py --repeat 9" "ranking.py --only peers first" "ranking.py --only lists --repeat 9" \
			"classification.py --only peers shares groups" "measures.py" "families.py --only classes" \
			"groups.py --rows 300000 --bootstraps 10" "confidence.py" "pairs.py" "ranking.py --only many long"; do \
		echo "python benchmarks/$$command" && $(BIN)/python benchmarks/$$command || exit 1; \
	done

bench-spark: $(VENV)/.bench  ## Measure the statements for Spark beside MLlib (about an hour; needs Java)
	$(BIN)/python benchmarks/spark.py

CHECKS ?= 1
WRITE ?= 0

release: $(VENV)/.release  ## Build and check the files of a release in dist/ (VERSION=1.0.0; WRITE=1 sets the version here, CHECKS=0 leaves out .ci/run)
	VENV=$(VENV) WRITE=$(WRITE) CHECKS=$(CHECKS) bash packaging/release.sh $(VERSION)

clean:  ## Remove what the other targets made
	rm -rf $(VENV) dist build site .cache
