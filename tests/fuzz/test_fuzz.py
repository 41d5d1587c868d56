"""A short run of the fuzzer with a fixed seed, and that it would notice what it looks for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent / "run.py"


def fuzz(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(RUN), "--workers", "1", *options], capture_output=True, text=True,
                          env={**os.environ, **environment})  # fmt: skip


@pytest.mark.slow
def test_no_mutant_of_a_fixed_seed_is_a_fault(shared: Path) -> None:
    done = fuzz("--seed", "tests", "--start", "0", "--count", "600")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    counted = re.search(r"([\d,]+) mutants .*: ([\d,]+) opened, ([\d,]+) refused", done.stdout)
    assert counted is not None
    assert int(counted[1]) == 600


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("raise KeyError('boom')", "KeyError: 'boom'"),
        ("open('/etc/hostname').close()", "opened outside the folder: ['/etc/hostname']"),
        ("x = bytearray(1200 << 20); x[:] = b'x' * len(x)", "MiB"),
        ("t = time.process_time()\nwhile time.process_time() < t + 5.2: pass", "s of CPU time"),
        ("os._exit(3)", "the process ended"),
    ],
)
def test_each_kind_of_fault_is_noticed(harm: str, told: str) -> None:
    done = fuzz("--seed", "harm", "--start", "0", "--count", "1", OINFER_FUZZ_HARM=harm)
    assert done.returncode == 1
    assert told in done.stdout
