"""Imports go one way: gui → engine, and inside the engine from the session down to the data types."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# From the top down; a module may import from its own layer and from those below. Names are those under `engine.`.
LAYERS = (
    {"cli", "__main__"},
    {"session", "compare", "backend", "opening"},
    {"providers", "optimiser"},
    {"kernels", "shapes", "feeds", "checks", "costs", "export", "diff"},
    {"memory"},
    {"graph"},
    {"dims", "dtypes", "diagnostics", "errors", "agreement", "words", "writing"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
WINDOW_ONLY = {"PySide6", "shiboken6", "pyqtgraph", "gui"}
QTLESS = re.compile(r"\b(No|Knows no) Qt\b")
WITHOUT_QT = """
import importlib, sys
sys.modules.update(dict.fromkeys(("PySide6", "shiboken6", "pyqtgraph")))  # None: importing it fails
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def imports(file: Path) -> Iterator[tuple[str, bool]]:
    """Dotted names that a file imports, and whether each is imported at module level."""
    package = file.relative_to(ROOT).with_suffix("").parts[:-1]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    late = {inner for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for inner in ast.walk(node)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            yield name, node not in late


def python_files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("file", python_files("engine"), ids=lambda file: str(file.relative_to(ROOT)))
def test_engine_knows_no_window(file: Path) -> None:
    is_cli = file.relative_to(ROOT).parts[1] in {"cli", "cli.py"}
    for name, at_module_level in imports(file):
        opens_the_window = is_cli and not at_module_level and name.split(".")[0] == "gui"
        assert name.split(".")[0] not in WINDOW_ONLY or opens_the_window, f"{file} imports {name}"


@pytest.mark.parametrize("file", python_files("engine"), ids=lambda file: str(file.relative_to(ROOT)))
def test_engine_layers(file: Path) -> None:
    inside = file.relative_to(ROOT / "engine").with_suffix("").parts
    if inside == ("__init__",):
        return  # the package's face, which gathers names from every layer
    assert inside[0] in LEVEL, f"engine.{inside[0]} has no layer: add it to LAYERS where it belongs"
    for name, _ in imports(file):
        package, *rest = name.split(".")
        if package == "engine" and rest and rest[0] in LEVEL:
            assert LEVEL[rest[0]] >= LEVEL[inside[0]], f"{file} imports upwards: {name}"


def test_panes_do_not_know_each_other() -> None:
    """A pane reads the document; only the window knows all panes. Names in a pane's own folder are its own."""
    panes = ROOT / "gui" / "panes"
    for file in python_files("gui/panes"):
        own = file.relative_to(panes).parts[0].removesuffix(".py")
        for name, _ in imports(file):
            if name.startswith("gui.panes.") and own != "__init__":
                assert name.split(".")[2] == own, f"{file} imports {name}"


def test_what_says_that_it_knows_no_qt_imports_none() -> None:
    """Nor does what it imports: such modules run on any thread, and without a display."""
    told = {file: ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "" for file in python_files("gui")}
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file, doc in told.items() if QTLESS.search(doc)]
    command = [sys.executable, "-c", WITHOUT_QT, *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "gui.canvas.outline" in names
    assert done.returncode == 0, done.stderr
