"""The Accelerate stand-in, compiled once."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("accelerate_standin.c")


@dataclass(slots=True)
class Standin:
    """The compiled library: its path, and what it saw."""

    path: str
    library: ctypes.CDLL

    def calls(self, name: str) -> int:
        return int(self.library.standin_calls(name.encode()))


@pytest.fixture(scope="session")
def _compiled(tmp_path_factory: pytest.TempPathFactory) -> Standin:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler on this machine to build the Accelerate stand-in")
    path = tmp_path_factory.mktemp("accelerate") / "libaccelerate_standin.so"
    command = [compiler, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", str(SOURCE), "-o", str(path), "-lm"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(path))
    library.standin_problem.restype = ctypes.c_char_p
    return Standin(str(path), library)


@pytest.fixture
def accelerate(_compiled: Standin) -> Iterator[Standin]:
    """The stand-in, its counters at zero; after the test no call may have had a wrong argument."""
    _compiled.library.standin_reset()
    yield _compiled
    assert _compiled.library.standin_problem() == b""
