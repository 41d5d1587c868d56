# Every task a person needs. Each target works as the first and only command on a new machine (packaging/bootstrap.sh
# makes the environment in .venv once, again when pyproject.toml changes).

BIN    = .venv/bin
SAMPLE = resources/models/sample_cnn.onnx
MODEL ?= $(SAMPLE)

.PHONY: help run smoke test lint fuzz bench bench-view package env clean

help:
	@echo "make run [MODEL=FILE.onnx]  open the window on a model"
	@echo "make test                   lint, types, all tests"
	@echo "make lint                   ruff and mypy only"
	@echo "make fuzz [SECONDS_OF_FUZZ=600]  open mutants of real models"
	@echo "make bench                  speed, beside ONNX Runtime"
	@echo "make bench-view             opening and drawing large graphs, beside Netron; pauses; quality of the layout"
	@echo "make package                the folder build dist/oinfer"
	@echo "make smoke                  open, run and grab the window without a display"
	@echo "make clean                  remove what was built; .venv stays"

run: display .venv/ready-run
	@$(BIN)/oinfer "$(MODEL)"

smoke: export QT_QPA_PLATFORM = offscreen
smoke: .venv/ready-run
	@mkdir -p build
	@$(BIN)/oinfer --smoke "$(MODEL)" --picture build/smoke.png

test: export QT_QPA_PLATFORM = offscreen
test: export OMP_NUM_THREADS = 2
test: export OPENBLAS_NUM_THREADS = 2
test: lint
	@$(BIN)/python -m pytest

lint: .venv/ready-test
	@$(BIN)/ruff check .
	@$(BIN)/mypy

SECONDS_OF_FUZZ ?= 600
fuzz: .venv/ready-test
	@$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS_OF_FUZZ)

bench: .venv/ready-test
	@$(BIN)/python tests/bench/run.py
	@$(BIN)/python tests/bench/opening.py

bench-view: export QT_QPA_PLATFORM = offscreen
bench-view: .venv/ready-test
	@$(BIN)/python tests/bench/view.py
	@$(BIN)/python tests/bench/beside_netron.py
	@$(BIN)/python tests/bench/pauses.py
	@$(BIN)/python tests/bench/layout_quality.py

package: .venv/ready-package
	@$(BIN)/pyinstaller --noconfirm --log-level WARN --distpath dist --workpath build/pyinstaller packaging/oinfer.spec
	@echo "dist/oinfer: $$(du -sh dist/oinfer | cut -f1)"

env: .venv/ready-test

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find engine gui resources packaging tests -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/ready-%: pyproject.toml packaging/bootstrap.sh
	@packaging/bootstrap.sh $*
	@touch $@

# A window needs somewhere to appear; Qt would only abort.
.PHONY: display
display:
	@if [ "$$(uname)" = Linux ] && [ -z "$$DISPLAY$$WAYLAND_DISPLAY$$QT_QPA_PLATFORM" ]; then \
	    echo "oinfer: no display here: log in with ssh -X, or type  make smoke  for a picture of the window without one" >&2; \
	    exit 1; \
	fi
