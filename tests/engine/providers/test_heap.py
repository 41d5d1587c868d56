"""The heap keeps what runs free: a second run of the same size faults no pages in."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, resource
import numpy as np
from engine.providers.heap import keep_freed_memory

PR_SET_THP_DISABLE = 41  # with huge pages there would be few faults to count
ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    held = [np.ones(1 << 18, np.float32) for _ in range(32)]  # 32 MiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

if keep_freed_memory():
    print(faults(), faults())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc has the knob")
def test_a_second_run_pays_for_no_pages() -> None:
    out = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
    if not out:
        pytest.skip("this C library has no mallopt")
    first, second = map(int, out.split())
    assert first > 1000
    assert second < first / 10
