"""No test can fail by chance: none measures time, or waits with a limit of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
EXEMPT = {Path(__file__), TESTS / "fuzz" / "test_fuzz.py"}  # the fuzzer's limit is of processor time, and tried there
FILES = sorted(file for file in TESTS.rglob("test_*.py") if file not in EXEMPT)

CLOCKS = re.compile(r"perf_counter|process_time|thread_time|time\.time\(|time\.monotonic\(")
LIMITS = re.compile(r"(?:wait\w*|communicate|subprocess\.run)\([^\n]*\btimeout=(?!PATIENCE)")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_time_is_left_to_the_benchmarks(file: Path) -> None:
    """tests/counting.py counts calls; `make bench` measures seconds; pytest's own limit ends what hangs."""
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if CLOCKS.search(line) or LIMITS.search(line)] == []
