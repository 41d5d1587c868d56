"""The heap keeps what runs free: a second run of the same size faults no pages in."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import resource
import numpy as np
from engine.providers.heap import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    held = [np.ones(1 << 18, np.float32) for _ in range(32)]  # 32 MiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

if keep_freed_memory():
    print(faults(), faults())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc has the knob")
def test_a_second_run_pays_for_no_pages() -> None:
    out = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60).stdout
    if not out:
        pytest.skip("this C library has no mallopt")
    first, second = map(int, out.split())
    assert first > 1000
    assert second < 100
