"""What is shipped: entry points that exist, pins that matter, and the files of the frozen build."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("table", ["scripts", "gui-scripts"])
def test_entry_point_exists(table: str) -> None:
    module, function = PROJECT[table]["oinfer"].split(":")
    assert callable(getattr(__import__(module, fromlist=[function]), function))


def test_broken_pyside_is_pinned_out() -> None:
    (pyside,) = [r for r in map(Requirement, PROJECT["dependencies"]) if r.name == "PySide6-Essentials"]
    assert pyside.specifier.contains("6.11.3")
    assert not pyside.specifier.contains("6.12.0")


def test_command_line_starts_without_qt() -> None:
    """The engine's subcommands must work where Qt's system libraries are missing."""
    probe = "import sys, engine, engine.cli; print(*[m for m in sys.modules if m.startswith(('PySide6', 'pyqtgraph'))])"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


class FakePyInstaller:
    """Stands in for the names that PyInstaller gives a spec; keeps what the spec asked for."""

    def __init__(self) -> None:
        self.asked: dict[str, object] = {}
        self.scripts: list[str] = []
        # Names as PyInstaller lists them: destination, source, kind.
        self.binaries = [
            (name, f"/x/{name}", "BINARY")
            for name in (
                "PySide6/Qt/plugins/platforms/libqxcb.so",
                "PySide6/Qt/plugins/platforms/libqoffscreen.so",
                "PySide6/Qt/plugins/platforms/libqwayland.so",
                "PySide6/Qt/plugins/platforms/libqvnc.so",
                "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
                "PySide6/Qt/lib/libQt6OpenGL.so.6",
                "PySide6/QtOpenGL.abi3.so",
                "PySide6/Qt/lib/libQt6Network.so.6",
            )
        ]
        self.datas = [("PySide6/Qt/translations/qt_de.qm", "/x/qt_de.qm", "DATA")]

    def analysis(self, scripts: list[str], **options: object) -> SimpleNamespace:
        self.scripts, self.asked = scripts, options
        return SimpleNamespace(pure=[], scripts=scripts, binaries=self.binaries, datas=self.datas)

    def collect(self, _executable: object, binaries: list, datas: list, **_: object) -> None:
        self.collected = {name for name, _, _ in [*binaries, *datas]}


@pytest.fixture(scope="module")
def build() -> FakePyInstaller:
    fake = FakePyInstaller()
    spec = ROOT / "packaging" / "oinfer.spec"
    names = {
        "SPECPATH": str(spec.parent),
        "Analysis": fake.analysis,
        "PYZ": lambda *_: None,
        "EXE": lambda *_, **__: None,
        "COLLECT": fake.collect,
    }
    exec(compile(spec.read_text(encoding="utf-8"), spec, "exec"), names)
    return fake


def test_frozen_build_carries_resources_and_every_module(build: FakePyInstaller) -> None:
    shipped = {f"{folder}/{Path(file).name}" for file, folder in build.asked["datas"]}
    assert {"resources/models/sample_cnn.onnx", "resources/icons/oinfer.svg"} <= shipped
    assert not any(name.endswith(".py") for name in shipped)
    hidden = set(build.asked["hiddenimports"])
    for folder in ("engine", "gui"):
        for file in (ROOT / folder).rglob("*.py"):
            module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            assert module in hidden
    assert all(Path(script).is_file() for script in build.scripts)


def test_frozen_build_drops_what_no_window_needs(build: FakePyInstaller) -> None:
    assert build.collected == {
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/plugins/platforms/libqoffscreen.so",
        "PySide6/Qt/plugins/platforms/libqwayland.so",
        "PySide6/Qt/lib/libQt6OpenGL.so.6",
        "PySide6/QtOpenGL.abi3.so",
    }
