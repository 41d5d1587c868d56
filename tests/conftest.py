"""Fixtures and rules for every test: no display, no settings of the user touched, slow tests last."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before anything imports Qt. A display is used only where the caller asked for one.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # tests import ONNX Runtime by themselves too

# The same examples every time, at whatever speed: a test fails by a change, not by chance. `make fuzz` looks further.
settings.register_profile("oinfer", derandomize=True, deadline=None, database=None,
                          suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
settings.load_profile("oinfer")

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of material beside the repository (models, expected outputs); the test is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the material in {SHARED.name}/ beside the repository, which is not here")
    return SHARED


def _gpu_missing() -> str | None:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver on this machine"
    return None if importlib.util.find_spec("cupy") else "CuPy is not installed"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this machine lacks the hardware for, with the reason, and run slow tests after all others."""
    absent = {"gpu": _gpu_missing(), "mac": None if sys.platform == "darwin" else "not macOS"}
    for item in items:
        for marker, reason in absent.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.fixture(scope="session", autouse=True)
def _user_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The user's own settings, caches and logs are out of reach, of this process and of those that tests start."""
    home = tmp_path_factory.mktemp("user")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(home / name.removeprefix("XDG_").lower()))
        yield


@pytest.fixture(autouse=True)
def _fresh_settings(request: pytest.FixtureRequest) -> None:
    """Each test that uses Qt starts from empty settings in a folder of its own."""
    if "qapp" not in request.fixturenames:
        return
    from PySide6.QtCore import QSettings, QStandardPaths

    QStandardPaths.setTestModeEnabled(True)
    folder = str(request.getfixturevalue("tmp_path"))
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    for form in (QSettings.Format.IniFormat, QSettings.Format.NativeFormat):
        QSettings.setPath(form, QSettings.Scope.UserScope, folder)
